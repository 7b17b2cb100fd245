"""What lint says of an option, asked of real JVMs: whether it starts with it, and what the property is then."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest
from tests.lint_by_hand import corrected, findings, linted
from tests.live.rig import JDKS_SINCE_9
from tests.machine import java_of

pytestmark = pytest.mark.jvm
RIGHT = "-Djava.security.egd=file:/dev/urandom"


# Options are refused alike on neighbours: 17 and 25 stand for 11 and 21 too.
@pytest.fixture(params=JDKS_SINCE_9[1::2])
def any_java(request: pytest.FixtureRequest) -> Path:
    """Each JDK's java in turn."""
    found = java_of(request.param)
    if not found.exists():
        pytest.skip(f"needs JDK {request.param}: make jvms")
    return found


def settings_of(java: Path, words: list[str]) -> tuple[int, str]:
    """The exit code with these options, and the value of java.security.egd that the JVM took."""
    ran = subprocess.run(
        [java, "-XshowSettings:properties", *words, "-version"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    rows = [row.partition("=") for row in ran.stderr.splitlines() if "java.security.egd" in row]
    return ran.returncode, next(
        (v.strip() for k, _, v in rows if k.strip() == "java.security.egd"), ""
    )


def words_of(text: str) -> list[str]:
    return shlex.split(text)[1:-2]


STOPPING = [
    "-Djava.security.egd = file:/dev/urandom",
    "-Djava.security.egd= file:/dev/urandom",
    "-D java.security.egd=file:/dev/urandom",
    "“-Djava.security.egd=file:/dev/urandom”",
    "\u2013Djava.security.egd=file:/dev/urandom",
    "--Djava.security.egd=file:/dev/urandom",
    "-djava.security.egd=file:/dev/urandom",
    "java.security.egd=file:/dev/urandom",
    "--java.security.egd=file:/dev/urandom",
    "-J-Djava.security.egd=file:/dev/urandom",
]
IGNORED = [
    "-Djava.security.edg=file:/dev/urandom",
    "-DJava.Security.Egd=file:/dev/urandom",
    "-Djava.security.egd:file:/dev/urandom",
    "-Dsecurerandom.source=file:/dev/urandom",
]


def test_a_malformed_option_keeps_the_program_from_starting(any_java: Path) -> None:
    for option in STOPPING:
        ((code, finding),) = findings(linted({"start.sh": f"java {option} -jar app.jar"}, jdk="17"))

        assert code == "SS205", option
        assert settings_of(any_java, option.split(" "))[0] != 0, option
        assert settings_of(any_java, words_of(corrected(finding))) == (0, "file:/dev/urandom"), (
            option
        )


def test_a_setting_that_is_ignored_sets_nothing(any_java: Path) -> None:
    for option in IGNORED:
        ((code, finding),) = findings(linted({"start.sh": f"java {option} -jar app.jar"}, jdk="17"))

        assert code == "SS203", option
        assert settings_of(any_java, option.split(" ")) == (0, ""), option
        assert settings_of(any_java, words_of(corrected(finding))) == (0, "file:/dev/urandom"), (
            option
        )


def test_what_lint_calls_right_is(any_java: Path) -> None:
    assert findings(linted({"start.sh": f"java {RIGHT} -jar app.jar"}, jdk="17")) == []
    assert settings_of(any_java, [RIGHT]) == (0, "file:/dev/urandom")
