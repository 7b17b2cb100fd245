# ruff: noqa: E501 - the report as it is printed

from __future__ import annotations

from inline_snapshot import snapshot
from tests.lint_by_hand import linted

from seedstall.render.lint import render

TEXT = """JAVA_HOME=/usr/lib/jvm/java-17-openjdk
CATALINA_OPTS="$CATALINA_OPTS -Djava.security.edg=file:/dev/urandom"
CATALINA_OPTS="$CATALINA_OPTS -Djava.security.egd=file:/dev/./urandom"
"""


def test_the_answer_comes_first_then_each_line_as_it_is_and_should_be() -> None:
    assert render(linted({"setenv.sh": TEXT, "x.bin": b"\0"})) == snapshot(
        """\
at-risk (ineffective-fix, confirmed): setenv.sh:2: java.security.edg is not the property that the JDK reads, java.security.egd: it has no effect, on every JDK

setenv.sh:2: warning: SS203 seed-setting-ignored (confirmed)
    CATALINA_OPTS="$CATALINA_OPTS -Djava.security.edg=file:/dev/urandom"
  java.security.edg is not the property that the JDK reads, java.security.egd: it has no effect, on every JDK
  corrected:
    CATALINA_OPTS="$CATALINA_OPTS -Djava.security.egd=file:/dev/urandom"

setenv.sh:3: note: SS204 default-algorithm-changed (confirmed)
    CATALINA_OPTS="$CATALINA_OPTS -Djava.security.egd=file:/dev/./urandom"
  java.security.egd=file:/dev/./urandom: not spelled file:/dev/urandom, so the default generator is DRBG instead of NativePRNG; it does cure the wait (on JDK 17: /usr/lib/jvm/java-17-openjdk)
  corrected:
    CATALINA_OPTS="$CATALINA_OPTS -Djava.security.egd=file:/dev/urandom"

not looked at
  x.bin: it holds NUL bytes: no text
"""
    )


def test_quiet_is_the_first_line_and_verbose_names_the_files() -> None:
    report = linted({"setenv.sh": TEXT})

    assert render(report, quiet=True).count("\n") == 1
    assert "looked at setenv.sh: shell script, 2 seed settings\n" in render(report, verbose=1)


def test_control_characters_are_shown() -> None:
    text = render(linted({"a\x1b[31m.sh": "X='-Djava.security.edg=file:/dev/urandom\x1b[0m'\n"}))

    assert "\x1b" not in text


def test_many_findings_are_cut_short() -> None:
    report = linted({"a.sh": "X='-Djava.security.edg=file:/dev/urandom'\n" * 300})

    assert "and 100 more findings (--format json has them all)" in render(report)
