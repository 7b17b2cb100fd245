"""What lint says of an option, asked of real JVMs: whether it starts with it, and what the property is then."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tests.lint_by_hand import corrected, findings, linted
from tests.machine import java_of

pytestmark = pytest.mark.jvm
RIGHT = "-Djava.security.egd=file:/dev/urandom"


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
    return ran.returncode, next((v.strip() for k, _, v in rows if k.strip() == "java.security.egd"), "")


def words_of(text: str) -> list[str]:
    return text.removeprefix("java ").removesuffix(" -jar app.jar").split(" ")


STOPPING = [
    "-Djava.security.egd = file:/dev/urandom",
    "-Djava.security.egd= file:/dev/urandom",
    "-D java.security.egd=file:/dev/urandom",
    "“-Djava.security.egd=file:/dev/urandom”",
    "–Djava.security.egd=file:/dev/urandom",
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


@pytest.mark.parametrize("feature", [11, 17, 21, 25])
def test_a_malformed_option_keeps_the_program_from_starting(feature: int):
    java = java_of(feature)
    for option in STOPPING:
        ((code, finding),) = findings(linted({"start.sh": f"java {option} -jar app.jar"}, jdk="17"))

        assert code == "SS205", option
        assert settings_of(java, option.split(" "))[0] != 0, option
        assert settings_of(java, words_of(corrected(finding))) == (0, "file:/dev/urandom"), option


@pytest.mark.parametrize("feature", [11, 17, 21, 25])
def test_a_setting_that_is_ignored_sets_nothing(feature: int):
    java = java_of(feature)
    for option in IGNORED:
        ((code, finding),) = findings(linted({"start.sh": f"java {option} -jar app.jar"}, jdk="17"))

        assert code == "SS203", option
        assert settings_of(java, option.split(" ")) == (0, ""), option
        assert settings_of(java, words_of(corrected(finding))) == (0, "file:/dev/urandom"), option


def test_what_lint_calls_right_is():
    assert findings(linted({"start.sh": f"java {RIGHT} -jar app.jar"}, jdk="17")) == []
    assert settings_of(java_of(17), [RIGHT]) == (0, "file:/dev/urandom")
