"""The help: nothing is cut, every example is one that the program takes, every exit code is one of the contract."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

import pytest
import typer
from tests.cli.test_completion import run
from typer.main import get_command

from seedstall.cli.app import COMMANDS, application
from seedstall.cli.console import Exit
from seedstall.cli.examples import EXAMPLES, exit_codes
from seedstall.knowledge.surfaces import BY_NAME

EVERY = [(name, line) for name, lines in EXAMPLES.items() for line in lines]


def test_the_list_of_commands_is_whole_in_a_narrow_terminal() -> None:
    told = run("--help", COLUMNS="60").stdout

    assert "..." not in told.replace("[ARGS]...", "")
    words = " ".join(told.split())
    assert (
        "List every JVM of this host, all users' and in containers, with its seed source and whether it waits."
        in words
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_ends_with_examples_and_exit_codes(command: str) -> None:
    told = run(command, "--help").stdout
    _, _, below = told.partition("\nExamples:\n")

    examples, _, codes = below.partition("\n\nExit codes:\n")
    assert [line.strip() for line in examples.splitlines()] == list(EXAMPLES[command])
    assert [int(line.split()[0]) for line in codes.splitlines()] == [*exit_codes(command)]
    assert "exit codes:" not in told.lower().partition("options:")[0], "told once, below"


def test_every_command_has_examples_of_its_own() -> None:
    assert set(EXAMPLES) == {"", *COMMANDS}
    for name, lines in EXAMPLES.items():
        assert 3 <= len(lines) <= 5, name
        assert all(len(line) <= 78 for line in lines)
        assert not name or all(f"seedstall {name}" in line for line in lines)


def called(line: str) -> Iterator[list[str]]:
    """The arguments of each call of ours in a shell's line."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars="|<>")
    lexer.whitespace_split = True
    words = list(lexer)
    parts: list[list[str]] = [[]]
    for word in words:
        if word in {"|", "<", ">"}:
            parts.append([])
        else:
            parts[-1].append(word)
    return (part[1:] for part in parts if part[:1] == ["seedstall"])


@pytest.mark.parametrize(("name", "line"), EVERY, ids=[line for _, line in EVERY])
def test_the_program_takes_every_example(name: str, line: str) -> None:
    program = get_command(application())
    context = typer.Context(program, info_name="seedstall")
    if line.startswith("eval "):
        assert run(*line.removesuffix(')"').split()[2:]).stdout
        return
    calls = list(called(line))
    assert calls
    for command, *words in calls:
        assert not name or command == name
        found = program.get_command(context, command)  # type: ignore[attr-defined]
        with found.make_context(command, words, parent=context) as made:
            assert not made.params.get("surface") or made.params["surface"] in BY_NAME


def test_diagnose_names_every_exit_code_of_the_contract() -> None:
    assert list(exit_codes("diagnose")) == list(Exit)


def test_what_the_exit_codes_say_is_so() -> None:
    assert run("diagnose", "--no-such").returncode == Exit.USAGE
    assert run("diagnose", "/no/such/file").returncode == Exit.NO_TARGET
    assert run("dump", "999999999").returncode == Exit.NO_TARGET
    assert run("kernel", "--kernel", "4.19.0").returncode in {Exit.FOUND, Exit.UNKNOWN}
    assert run("lint", "/no/such/file").returncode == Exit.NO_TARGET
    assert run("fix", "/no/such/file", "--surface", "docker").returncode == Exit.NO_TARGET
    assert run("explain").returncode == Exit.CLEAR
