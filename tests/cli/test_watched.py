"""What may be said of a watch on the command line."""

from __future__ import annotations

import os

import pytest
from tests.machine import Seedstall

from seedstall.cli.watched import seconds_of
from seedstall.model.errors import UsageError


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("", None), ("10", 10), ("10s", 10), ("500ms", 0.5), ("2m", 120), ("1.5s", 1.5), ("1h", 3600)],
)
def test_times(text: str, seconds: float | None) -> None:
    assert seconds_of("--for", text) == seconds


@pytest.mark.parametrize(
    "text", ["s", "x", "10x", "-1", "0", "1e9", "inf", "nan", "10 s", "1.2.3", "9" * 40, "۳", "."]
)
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        seconds_of("--for", text)


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("run", "--", "no-such-command-of-ours"), 127, "command not found"),
        (("diagnose", "--wait-for", "1", str(os.getpid())), 2, "--wait NAME"),
        (
            ("run", "-o", "/no/such/folder/x", "-q", "--", "true"),
            0,
            "hint: name a file in a folder",
        ),
        (("run", "--until-file", "x", "--", "true"), 2, "--until"),
        (("run", "--for", "ten", "--", "true"), 2, "is no time"),
        (("run",), 2, "COMMAND"),
        (
            ("diagnose", "--wait", "no program is called so", "--wait-for", "0.2"),
            3,
            "no JVM came up",
        ),
        (("diagnose", "--for", "1", __file__), 2, "samples a running JVM"),
        (("run", "-q", "sh", "-c", "exit 3", "--", "-x"), 3, "no JVM came up"),
    ],
)
def test_usage(seedstall: Seedstall, arguments: tuple[str, ...], code: int, said: str) -> None:
    done = seedstall(*arguments)
    assert done.returncode == code, done.stderr
    assert said in done.stderr
    assert done.stdout == ""


def test_our_own_code_where_asked_for(seedstall: Seedstall) -> None:
    assert seedstall("run", "-q", "--exit-verdict", "--", "sh", "-c", "exit 3").returncode == 4
