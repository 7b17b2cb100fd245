"""Units against systemd itself: `systemd --test` prints what it made of them."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.machine import IN_CI

from seedstall.parse.edit import unit
from seedstall.parse.edit.unit import Unit, quoted, set_egd, words

RIGHT = "file:/dev/urandom"
OPTION = f"-Djava.security.egd={RIGHT}"
MANAGER = Path("/usr/lib/systemd/systemd")
NOBODY = 65534

START = "ExecStart=/bin/true\n"
UNITS = {
    "quotes": '[Service]\nEnvironment="A=x \\"y\\" \\\\z" B=1 \'C=d e\' D=a\\x41b "E=q\'q" F=a"b c"d\n'
    + START,
    "resets": "[Service]\nEnvironment=A=1 B=2\nEnvironment=\nEnvironment=C=3\nExecStart=/bin/a\nExecStart=\n"
    + START,
    "again": "[Service]\nEnvironment=A=1\nEnvironment=A=2 \\\n# a comment\n  B=3\n" + START,
    "sections": f"[Unit]\nEnvironment=A=1\n[Service]\n; c\nEnvironment=B=2\n{START}[Install]\nEnvironment=C=3\n",
    "backslashes": "[Service]\nEnvironment=A=a\\\\\nEnvironment=B=2\nEnvironment=C=c\\\\\\\n D=4\n"
    + START,
    "blanks": '[Service]\n  Environment =  A=1   "B= 2 " \nExecStart=/bin/true -Da=b\n',
}
EDITED = {
    "[Service]\nExecStart=/bin/true\n": {"JAVA_TOOL_OPTIONS": OPTION},
    '[Service]\nEnvironment="JAVA_TOOL_OPTIONS=-Xmx1g -Da=\\"b\\""\nExecStart=/bin/true\n': {
        "JAVA_TOOL_OPTIONS": f'-Xmx1g -Da="b" {OPTION}'
    },
    "[Service]\nEnvironment=A=1 \\\n  B=2\nExecStart=/bin/true": {
        "A": "1",
        "B": "2",
        "JAVA_TOOL_OPTIONS": OPTION,
    },
    "[Service]\nExecStart=/bin/true\nEnvironment=A=1 \\": {"A": "1", "JAVA_TOOL_OPTIONS": OPTION},
    "[Service]\nExecStart=/bin/true\nEnvironment=A=1 \\\n": {"A": "1", "JAVA_TOOL_OPTIONS": OPTION},
    "[Service]\nEnvironment=A=a\\\\\nExecStart=/bin/true\n": {
        "A": "a\\",
        "JAVA_TOOL_OPTIONS": OPTION,
    },
    '[Unit]\nDescription=x\n[Service]\nEnvironment="JAVA_OPTS=-a -Djava.security.egd=file:/dev/random -b"\n'
    "ExecStart=/bin/true\n[Install]\n": {"JAVA_OPTS": f"-a {OPTION} -b"},
}
COMMAND = "[Service]\nExecStart=/bin/true -Djava.security.egd=file:/dev/random -jar x.jar\n"


def by_systemd(units: dict[str, str], folder: Path) -> dict[str, tuple[dict[str, str], list[str]]]:
    """The environment and the commands of each unit, with the drop-ins that lie in *folder*.

    systemd refuses to test as root, so nobody runs it, on a copy that nobody may read: pytest's own directories are
    root's alone.
    """
    if not MANAGER.exists():
        assert not IN_CI, f"{MANAGER} is lacking (package systemd)"
        pytest.skip(f"no {MANAGER}")
    for name, text in units.items():
        (folder / f"t-{name}.service").write_text(text, "utf-8")
    services = " ".join(f"t-{name}.service" for name in units)
    (folder / "t-all.target").write_text(f"[Unit]\nWants={services}\n", "utf-8")
    with tempfile.TemporaryDirectory(dir="/tmp") as shown:
        Path(shown).chmod(0o755)
        shutil.copytree(folder, f"{shown}/units")
        Path(shown, "units").chmod(0o755)
        printed = _tested(Path(shown, "units"))
    found: dict[str, tuple[dict[str, str], list[str]]] = {}
    for block in printed.split("-> Unit ")[1:]:
        match = re.match(r"t-(\w+)\.service:", block)
        if match:
            pairs = re.findall(r"^\t\tEnvironment: (\w+)=(.*)$", block, re.MULTILINE)
            commands = re.findall(r"Command Line: (.*)$", block, re.MULTILINE)
            found[match[1]] = dict(pairs), commands
    assert set(found) == set(units), printed[-2000:]
    return found


def _tested(units: Path) -> str:
    become = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    return subprocess.run(
        [
            *(become if os.getuid() == 0 else ()),
            *(MANAGER, "--test", "--system", "--unit=t-all.target"),
        ],
        env={
            "SYSTEMD_UNIT_PATH": f"{units}:",
            "SYSTEMD_LOG_TARGET": "console",
            "PATH": os.environ["PATH"],
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
        check=False,
    ).stdout


def ours(text: str) -> Unit:
    made = Unit()
    made.take("x", text.encode())
    return made


def test_units_read_as_systemd_reads_them(tmp_path: Path) -> None:
    edited = {
        f"edited{n}": set_egd(t.encode(), RIGHT).content.decode() for n, t in enumerate(EDITED)
    }
    command = set_egd(COMMAND.encode(), RIGHT).content.decode()
    theirs = by_systemd({**UNITS, **edited, "command": command}, tmp_path)
    for name, text in {**UNITS, **edited}.items():
        assert {n: g.value for n, g in ours(text).environment.items()} == theirs[name][0], name
        assert [s.value for s in ours(text).starts] == theirs[name][1], name
    for number, expected in enumerate(EDITED.values()):
        assert theirs[f"edited{number}"][0] == expected
    assert theirs["command"] == ({}, [f"/bin/true {OPTION} -jar x.jar"])


@pytest.mark.parametrize("text", [*EDITED, COMMAND])
def test_the_edit_is_idempotent_and_keeps_the_rest(text: str) -> None:
    made = set_egd(text.encode(), RIGHT).content
    assert set_egd(made, RIGHT).content == made
    kept = [line for line in text.splitlines() if "egd" not in line]
    assert [line for line in made.decode().splitlines() if line in kept] == kept
    crlf = text.replace("\n", "\r\n").encode()
    assert set_egd(crlf, RIGHT).content.count(b"\r\n") >= crlf.count(b"\r\n")


def test_a_comment_and_other_sections_set_nothing() -> None:
    text = "[Unit]\n[Service]\n#Environment=A=-Djava.security.egd=x\nExecStartPre=/bin/a -Djava.security.egd=x\n"
    made = set_egd(text.encode(), RIGHT).content.decode()
    assert "ExecStartPre=/bin/a -Djava.security.egd=x\n" in made
    assert f'Environment="JAVA_TOOL_OPTIONS={OPTION}"\n' in made


def test_what_is_no_service_is_left_alone() -> None:
    with pytest.raises(ValueError, match=r"no \[Service\] section"):
        set_egd(b"[Unit]\nDescription=x\n", RIGHT)


def test_percent_signs_are_specifiers() -> None:
    made = set_egd(b"[Service]\nExecStart=/bin/true\n", "file:/a%20b").content
    assert b"file:/a%%20b" in made


@given(st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=40))
def test_what_is_quoted_is_one_word(value: str) -> None:
    assert words(quoted("A", value)) == [f"A={value}"]


def test_a_line_feed_is_in_no_value() -> None:
    with pytest.raises(ValueError, match="control characters"):
        quoted("A", "a\nb")


@given(st.binary(max_size=100))
def test_any_bytes(data: bytes) -> None:
    list(unit.lines(data))
    with suppress(ValueError):
        set_egd(data, RIGHT)
