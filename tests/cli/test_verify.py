from __future__ import annotations

import os
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from seedstall.cli import subject
from seedstall.cli import verify as command
from seedstall.effect.experiment import Subject
from seedstall.model.errors import NoSuchTargetError, SeedstallError, UsageError
from seedstall.model.jvm import JvmOption, Launch, OptionOrigin
from seedstall.model.trial import FIX, PRESENT, STRONG

app = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
app.command()(command.verify)


@pytest.mark.parametrize(
    ("arguments", "error", "told"),
    [
        (("1", "--java", "/usr/bin/java"), UsageError, "contradicts"),
        (("nine",), UsageError, "is no PID"),
        (("٣",), UsageError, "is no PID"),
        (("--sysroot", "/"), UsageError, "--sysroot without --java"),
        (("--java", "/no/such/java"), NoSuchTargetError, "no java program"),
        (("--java", "java", "--sysroot", "/no/such/root"), NoSuchTargetError, "no such directory"),
        ((str(os.getpid()),), NoSuchTargetError, "is not a JVM"),
        (("--java", "/usr/bin/java", "--egd", "a\nb"), UsageError, "control character"),
        (("--java", "/usr/bin/java", "--set-egd", "\0"), UsageError, "control character"),
    ],
)
def test_what_it_cannot_do_is_said(
    arguments: tuple[str, ...], error: type[SeedstallError], told: str
) -> None:
    result = CliRunner().invoke(app, list(arguments))
    assert isinstance(result.exception, error)
    assert told in str(result.exception)


def a_java(folder: Path) -> Path:
    program = folder / "bin/java"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    return program


def test_a_named_java_is_tried_as_it_is_and_with_the_right_value(tmp_path: Path) -> None:
    program = a_java(tmp_path)
    with subject.of_java(tmp_path, None, None, None) as chosen:
        assert chosen.subject.java == str(program)
        assert [(s.name, s.egd) for s in chosen.settings] == [
            (PRESENT, None),
            (FIX, "file:/dev/urandom"),
            (STRONG, "file:/dev/urandom"),
        ]


def test_what_is_set_already_is_not_tried_twice(tmp_path: Path) -> None:
    a_java(tmp_path)
    with subject.of_java(tmp_path, None, "file:/dev/urandom", None) as chosen:
        assert [(s.name, s.egd) for s in chosen.settings] == [
            (PRESENT, "file:/dev/urandom"),
            (STRONG, "file:/dev/urandom"),
        ]


def test_a_value_that_was_said_is_proven(tmp_path: Path) -> None:
    a_java(tmp_path)
    with subject.of_java(tmp_path, None, None, "file:/dev/./urandom") as chosen:
        assert chosen.settings[1].egd == "file:/dev/./urandom"
        assert chosen.settings[1].words == "-Djava.security.egd=file:/dev/./urandom"


def test_options_of_the_shell_are_left_out_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a_java(tmp_path)
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-Djava.security.egd=file:/x -Dpassword=hunter2")
    with subject.of_java(tmp_path, None, None, None) as chosen:
        (note,) = chosen.notes
        assert note.startswith("JAVA_TOOL_OPTIONS of this shell sets java.security.egd: not used")
        assert "hunter2" not in note
        assert "JAVA_TOOL_OPTIONS" not in chosen.subject.environment()


@pytest.mark.parametrize(
    ("given", "charset"),
    [
        ({"LANG": "de_DE.ISO-8859-1"}, "de_DE.ISO-8859-1"),
        ({"LANG": "C", "LC_ALL": "", "LC_CTYPE": "C.UTF-8"}, "C.UTF-8"),
        ({"LANG": "C", "LC_ALL": "tr_TR.UTF-8", "LC_CTYPE": "C"}, "tr_TR.UTF-8"),
        ({}, "C"),
    ],
)
def test_paths_are_read_in_the_targets_character_set_and_messages_in_english(
    given: dict[str, str], charset: str
) -> None:
    env = Subject("java", env={**given, "JAVA_TOOL_OPTIONS": "-Dx"}).environment()
    assert (env["LC_CTYPE"], env["LANG"]) == (charset, "C")
    assert "LC_ALL" not in env
    assert "JAVA_TOOL_OPTIONS" not in env


def test_what_chooses_the_providers_goes_along_and_nothing_else() -> None:
    """Else a JVM in a FIPS mode would be tried with the providers of one that is in none."""
    words = (
        "-Xmx8g",
        "-Dcom.redhat.fips=true",
        "-Dcom.redhat.fips=false",
        "-Dcom.sun.management.jmxremote.port=9999",
        "-javaagent:/x.jar",
        "-Dsemeru.customprofile=OpenJCEPlusFIPS",
        "-Djava.security.disableSystemPropertiesFile",
    )
    launch = Launch("java", tuple(JvmOption(word, OptionOrigin.COMMAND_LINE) for word in words))
    assert list(subject._provider_options(launch)) == [
        "-Dcom.redhat.fips=false",
        "-Djava.security.disableSystemPropertiesFile=",
        "-Dsemeru.customprofile=OpenJCEPlusFIPS",
    ]
    assert list(subject._provider_options(None)) == []


def test_what_the_host_refuses_is_said_in_a_sentence() -> None:
    with (
        pytest.raises(SeedstallError, match="refused a process or file that is needed: Too many"),
        subject.refused_by_the_host(),
    ):
        raise OSError(24, "Too many open files")


def test_a_path_in_another_root_is_not_looked_for_in_ours(tmp_path: Path) -> None:
    with subject.of_java(Path("usr/bin/java"), tmp_path, None, None) as chosen:
        assert chosen.subject.java == "/usr/bin/java"
        assert chosen.subject.root == tmp_path.resolve()
