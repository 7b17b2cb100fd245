"""A text report on a terminal: folded to its width, marked, and nothing lost."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.machine import CHECKOUT

from seedstall.render.terminal import NARROWEST, coloured, fold

GOLDEN = sorted(CHECKOUT.glob("fixtures/*/report.txt"))
COMMAND = (
    "    seedstall fix /srv/a/very/long/path/to/a/dump.txt --surface tomcat-setenv > setenv.patch"
)
REPORT = f"""\
stalled (blocking-seed, confirmed): "main" waits in read of /dev/random to seed SHA1PRNG for Tomcat session ids

evidence
  /proc/8712/task/8713/syscall                      read 0x28 0x7fa3671fa0d0 0x14, state S
  memory                                            "main" nid=0x2209 RUNNABLE
        at sun.security.provider.SecureRandom$SeederHolder.<clinit>
  short  what was seen there, in many words, so that it has to be folded somewhere on the line

what to do
  at the next start: -Djava.security.egd=file:/dev/urandom (as root, review; within seconds)
{COMMAND}
  or  seedstall fix /srv/a/very/long/path/to/a/dump.txt --surface java-opts
"""


@pytest.mark.parametrize("width", [20, 40, 50, 60, 80, 120])
def test_words_are_all_there_in_their_order(width: int) -> None:
    assert fold(REPORT, width).split() == REPORT.split()


@pytest.mark.parametrize("width", [40, 60, 80])
def test_only_what_is_typed_and_single_words_are_longer(width: int) -> None:
    for line in fold(REPORT, width).splitlines():
        one_word = len(line.split()) == 1
        assert len(line) <= width or one_word or "seedstall fix" in line or " at " in line, line


def test_what_is_typed_stays_one_line() -> None:
    assert COMMAND in fold(REPORT, 40).splitlines()


def test_a_place_stands_above_what_was_seen_on_a_narrow_terminal() -> None:
    lines = fold(REPORT, 50).splitlines()

    at = lines.index("  /proc/8712/task/8713/syscall")
    assert lines[at + 1] == "    read 0x28 0x7fa3671fa0d0 0x14, state S"


def test_a_short_place_keeps_its_column() -> None:
    lines = fold(REPORT, 80).splitlines()

    at = next(n for n, line in enumerate(lines) if line.startswith("  short"))
    assert lines[at + 1].startswith("         ")
    assert lines[at + 1].strip()


def test_what_fits_is_as_it_was() -> None:
    assert fold(REPORT, 200) == REPORT
    assert fold(REPORT, NARROWEST - 1) == REPORT
    assert fold(REPORT, 0) == REPORT


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.parent.name)
def test_every_report_says_the_same_in_sixty_columns(path: Path) -> None:
    text = path.read_text("utf-8")

    assert fold(text, 60).split() == text.split()
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured(text)) == text


def test_the_answer_and_the_heads_are_marked() -> None:
    lines = coloured(REPORT).splitlines()

    assert lines[0].startswith("\x1b[1;31mstalled (blocking-seed, confirmed)\x1b[0m: ")
    assert "\x1b[1mevidence\x1b[0m" in lines
    assert coloured("dump.txt: clear: x\n") == "dump.txt: \x1b[1;32mclear\x1b[0m: x\n"
    assert coloured("note: unknown: x\n") == "note: unknown: x\n"
    assert coloured("  evidence\n") == "  evidence\n"


@given(st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"])), st.integers(0, 100))
def test_any_line_keeps_its_letters(line: str, width: int) -> None:
    folded = fold(line + "\n", width)

    assert "".join(folded.split()) == "".join(line.split())
    assert coloured(line + "\n").endswith(line[-5:] + "\n")
