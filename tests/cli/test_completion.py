"""Completion, by the shells themselves: the script is loaded, a line is completed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from seedstall.cli.app import COMMANDS
from seedstall.knowledge.surfaces import SURFACES


def run(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "seedstall", *words],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A PATH on which the program is found by its name."""
    folder = tmp_path_factory.mktemp("bin")
    program = folder / "seedstall"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m seedstall "$@"\n')
    program.chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"


def shell(name: str, *words: str, path: str, home: Path) -> list[str]:
    if shutil.which(name) is None:
        assert "CI" not in os.environ, f"{name} is to be installed there"
        pytest.skip(f"no {name} here")
    told = subprocess.run(
        [name, *words],
        env=os.environ | {"PATH": path, "HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert told.stderr == ""
    return told.stdout.splitlines()


BASH = """eval "$(seedstall --show-completion bash)"
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_seedstall_completion seedstall
printf '%s\\n' "${COMPREPLY[@]}"
complete -p seedstall"""


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ([""], list(COMMANDS)),
        (["di"], ["diagnose"]),
        (["--sh"], ["--show-completion"]),
        (["diagnose", "--fo"], ["--for", "--format"]),
        (["diagnose", "--format", ""], ["text", "json", "markdown", "html"]),
        (["diagnose", "--format", "=", "j"], ["json"]),  # as bash parts --format=j
        (["diagnose", "--format", "="], ["text", "json", "markdown", "html"]),
        (["diagnose", ""], [""]),  # nothing of ours: -o default then offers files
        (["fix", "--surface", ""], [s.name for s in SURFACES]),
        (["explain", "SS101"], ["SS101"]),
        (["explain", "blocking-s"], ["blocking-seed"]),
        (["bench", ""], ["kernel", "jvm"]),
    ],
)
def test_bash(words: list[str], wanted: list[str], path: str, tmp_path: Path) -> None:
    *found, registered = shell(
        "bash", "--norc", "-c", BASH, "-", "seedstall", *words, path=path, home=tmp_path
    )

    assert found == wanted
    assert registered == "complete -o default -F _seedstall_completion seedstall"


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("seedstall di", "diagnose"),
        ("seedstall diagnose --format m", "markdown"),
        ("seedstall fix --surface docker", "docker"),
    ],
)
def test_fish(line: str, wanted: str, path: str, tmp_path: Path) -> None:
    script = "seedstall --show-completion fish | source; complete -C $argv[1]"

    found = shell("fish", "--no-config", "-c", script, line, path=path, home=tmp_path)

    assert wanted in [offer.partition("\t")[0] for offer in found]


ZSH = """compdef() { print -r -- "compdef $*" }
_arguments() { print -r -- "$1" }
_files() { print files }
eval "$(seedstall --show-completion zsh)"
words=("$@") CURRENT=$#
_seedstall_completion"""


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (["di"], '"diagnose":'),
        (["diagnose", "--format", "m"], '"markdown"'),
        (["diagnose", "x"], "files"),
    ],
)
def test_zsh(words: list[str], wanted: str, path: str, tmp_path: Path) -> None:
    # What zsh's completion functions are handed: they run in its line editor alone.
    registered, *found = shell(
        "zsh", "-f", "-c", ZSH, "-", "seedstall", *words, path=path, home=tmp_path
    )

    assert registered == "compdef _seedstall_completion seedstall"
    assert wanted in "".join(found)


def test_another_shell_is_refused_with_those_that_there_are() -> None:
    told = run("--show-completion", "tcsh")

    assert told.returncode == 2
    assert all(name in told.stderr for name in ("bash", "zsh", "fish"))
