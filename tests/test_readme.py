"""What the README says of rules, commands and exit codes is what the program has."""

from __future__ import annotations

import re
from pathlib import Path

from seedstall.cli.app import COMMANDS
from seedstall.cli.console import Exit
from seedstall.rules import ALL

README = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")


def test_every_rule_stands_in_the_table_with_its_first_line() -> None:
    rows = re.findall(r"^\| (SS\d{3}) \| `([\w-]+)` \| (.+) \|$", README, re.MULTILINE)

    assert rows == [(r.code, r.name, r.page.splitlines()[0]) for r in ALL]


def test_every_command_stands_in_the_table() -> None:
    assert re.findall(r"^\| `seedstall (\w+)", README, re.MULTILINE) == list(COMMANDS)


def test_the_exit_codes_are_told() -> None:
    line = next(line for line in README.splitlines() if line.startswith("Exit codes:"))

    assert {int(n) for n in re.findall(r"\b\d+\b", line)} == {int(e) for e in Exit}
