"""The manual pages: as the program would write them, and such that no formatter stumbles over them."""

from __future__ import annotations

import os
import runpy
import shutil
import subprocess
import tomllib

import pytest
from tests.machine import CHECKOUT

MADE = runpy.run_path(str(CHECKOUT / "scripts/manpages.py"))
FOLDER = CHECKOUT / "docs/man"


def test_they_are_current() -> None:
    assert sorted(MADE["stale"]()) == [], "make man writes them"


def mandoc(*words: str, text: str | None = None) -> str:
    if shutil.which("mandoc") is None:
        assert "CI" not in os.environ, "mandoc is to be installed there"
        pytest.skip("no mandoc here")
    told = subprocess.run(
        ["mandoc", *words], input=text, capture_output=True, text=True, timeout=60, check=False
    )
    assert told.returncode == 0, told.stdout + told.stderr
    return told.stdout


def test_mandoc_warns_of_none() -> None:
    assert mandoc("-T", "lint", "-W", "warning", *map(str, sorted(FOLDER.glob("*.1")))) == ""


def test_an_example_can_be_copied_out_of_a_page() -> None:
    shown = mandoc("-T", "utf8", str(FOLDER / "seedstall-lint.1"))

    assert "seedstall lint 'java -Djava.security.egd=file:/dev/urandom -jar app.jar'" in shown
    assert "seedstall lint . --format sarif" in shown


@pytest.mark.parametrize(
    "text",
    [
        ".TH evil",
        "'so /etc/passwd",
        r"\fBbold\fP \n \*[x] C:\new",
        '-x --long `a\' "b" ^~',
        "naïve ☃ \t x",
    ],
)
def test_text_is_never_a_request(text: str) -> None:
    page = f".TH X 1 2026-01-01\n.SH NAME\nx \\- y\n.SH DESCRIPTION\n{MADE['text_line'](text)}\n"

    assert text.replace("\t", "").split()[0] in mandoc("-T", "utf8", text=page)
    assert mandoc("-T", "lint", "-W", "warning", text=page) == ""


def test_they_are_in_the_wheel() -> None:
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text("utf-8"))

    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel["shared-data"] == {"docs/man": "share/man/man1"}
