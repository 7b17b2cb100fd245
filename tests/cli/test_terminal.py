"""What a terminal is shown: its width, colours only where wanted, and its own encoding."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

DUMP = """\
2026-11-30 14:16:16
Full thread dump OpenJDK 64-Bit Server VM (17.0.15+6 mixed mode, sharing):

"m\u00e4in \u4e3b" #1 prio=5 os_prio=0 cpu=1050.39ms elapsed=8.21s tid=0x00007f07c4018f90 nid=0x2456 runnable  [0x1000]
   java.lang.Thread.State: RUNNABLE
\tat java.io.FileInputStream.readBytes(java.base@17.0.15/Native Method)
\tat java.io.FileInputStream.read(java.base@17.0.15/FileInputStream.java:276)
\tat java.io.FilterInputStream.read(java.base@17.0.15/FilterInputStream.java:132)
\tat sun.security.provider.SeedGenerator$URLSeedGenerator.getSeedBytes(java.base@17.0.15/SeedGenerator.java:544)
\tat sun.security.provider.SeedGenerator.generateSeed(java.base@17.0.15/SeedGenerator.java:144)
\tat sun.security.provider.SecureRandom$SeederHolder.<clinit>(java.base@17.0.15/SecureRandom.java:211)
\tat sun.security.provider.SecureRandom.engineNextBytes(java.base@17.0.15/SecureRandom.java:229)
\tat java.security.SecureRandom.nextBytes(java.base@17.0.15/SecureRandom.java:758)
\tat com.example.Main.main(Main.java:5)
"""
PLAIN = {
    k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "TERM")
}


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    path = tmp_path / "dump.txt"
    path.write_text(DUMP, "utf-8")
    return path


def on_a_terminal(*arguments: object, **environment: str) -> bytes:
    """What ``seedstall ARGUMENTS`` writes to a terminal, line ends as it wrote them."""
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "seedstall", *map(str, arguments)]
    with subprocess.Popen(
        command, stdout=theirs, stdin=subprocess.DEVNULL, env=PLAIN | environment
    ):
        os.close(theirs)
        data = b""
        try:
            while piece := os.read(ours, 65536):
                data += piece
        except OSError:  # EIO: the other end is closed
            pass
    os.close(ours)
    return data.replace(b"\r\n", b"\n")


def piped(*arguments: object, **environment: str) -> bytes:
    command = [sys.executable, "-m", "seedstall", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, env=PLAIN | environment, check=False)
    assert done.returncode == 10, done.stderr
    return done.stdout


def test_a_terminal_gets_its_width_and_colours(dump: Path) -> None:
    told = on_a_terminal("diagnose", dump, COLUMNS="50", TERM="xterm")

    assert told.startswith(b"\x1b[1;31mstalled")
    assert b"\x1b[1mevidence\x1b[0m" in told
    first = re.sub(r"\x1b\[[\d;]*m", "", told.decode()).splitlines()[0]
    assert 30 < len(first) <= 50


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_colours_are_kept_from_who_wants_none(dump: Path, environment: dict[str, str]) -> None:
    told = on_a_terminal("diagnose", dump, COLUMNS="50", **({"TERM": "xterm"} | environment))

    assert b"\x1b" not in told
    assert told.startswith(b"stalled (blocking-seed")


def test_a_pipe_gets_neither_unless_colours_are_forced(dump: Path) -> None:
    plain = piped("diagnose", dump, COLUMNS="40")

    assert b"\x1b" not in plain
    assert max(map(len, plain.splitlines())) > 80
    forced = piped("diagnose", dump, FORCE_COLOR="1")
    assert forced.startswith(b"\x1b[1;31mstalled")


@pytest.mark.parametrize(
    ("encoding", "name"),
    [
        ("cp1252", b"m\xe4in \\u4e3b"),
        ("cp437", b"m\x84in \\u4e3b"),
        ("ascii", b"m\\xe4in \\u4e3b"),
        ("utf-16-le", '"m\u00e4in \u4e3b"'.encode("utf-16-le")),
    ],
)
def test_what_a_console_has_no_letter_for_is_shown_by_its_number(
    dump: Path, encoding: str, name: bytes
) -> None:
    assert name in piped("diagnose", dump, PYTHONIOENCODING=encoding, PYTHONUTF8="0")


@pytest.mark.parametrize("form", ["json", "markdown", "html"])
def test_other_forms_are_utf_8_whatever_the_console_reads(dump: Path, form: str) -> None:
    told = piped("diagnose", dump, "--format", form, PYTHONIOENCODING="cp1252", PYTHONUTF8="0")

    assert "m\u00e4in" in told.decode("utf-8") or "m\\u00e4in" in told.decode("utf-8")


@pytest.mark.parametrize(
    "encoding", ["utf-16", "utf-16-le", "utf-16-be", "cp1252", "cp437", "utf-8-sig"]
)
def test_a_dump_that_a_windows_console_wrote(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "dump.txt"
    path.write_bytes(DUMP.replace("\u4e3b", "x").replace("\n", "\r\n").encode(encoding))

    assert piped("diagnose", path).startswith(b"stalled (blocking-seed")


def test_a_name_that_is_no_utf_8(tmp_path: Path) -> None:
    path = os.fsencode(tmp_path) + b"/d\xfcmp.txt"
    with open(path, "w", encoding="utf-8") as file:  # noqa: PTH123 - pathlib takes no bytes
        file.write(DUMP)

    told = piped("diagnose", os.fsdecode(path), "--kernel", "3.10.0-957.el7.x86_64")

    assert told.startswith(b"stalled (blocking-seed")
    assert b"d\\udcfcmp.txt" in told
