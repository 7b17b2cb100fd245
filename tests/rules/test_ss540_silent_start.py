"""A start with one long silence in its log: told, unless seeding explains it."""

import pytest
from tests.texts import tomcat_logs

from seedstall.model.finding import Finding, Severity
from seedstall.model.verdict import Cause, Status
from seedstall.parse.serverlog import server_log
from seedstall.rules.ss540_silent_start import silent_start

BANNER = "  :: Spring Boot ::                (v2.7.5)\n"


def boot(silence: int, total: float) -> str:
    minutes, seconds = divmod(2 + silence, 60)
    return (
        f"{BANNER}14:00:00 INFO [main] a.B one\n14:00:02 INFO [main] a.B connecting\n"
        f"14:{minutes:02}:{seconds:02} INFO [main] a.B Started App in {total} seconds (JVM running for {total})\n"
    )


def findings(text: bytes | str) -> list[Finding]:
    return list(silent_start(server_log(text, "x")))


@pytest.mark.parametrize(("silence", "severity"), [(6, Severity.NOTE), (35, Severity.WARNING)])
def test_a_long_silence_is_told_with_what_stood_around_it(silence: int, severity: Severity) -> None:
    (found,) = findings(boot(silence, silence + 3))

    assert (found.cause, found.status, found.severity) == (Cause.WAITING, Status.SLOW, severity)
    assert found.evidence[0].origin == "x:3"
    assert "connecting" in found.sentence
    assert found.startup_ms == (silence + 3) * 1000


@pytest.mark.parametrize(
    "text", [boot(3, 5), boot(10, 100), "14:00:00 INFO a.B x\n14:10:00 INFO a.B y\n", ""]
)
def test_short_ones_small_parts_and_logs_without_a_start(text: str) -> None:
    assert findings(text) == []


def test_a_seeding_line_explains_it() -> None:
    for name, text in tomcat_logs().items():
        assert findings(text) == [], name


def test_the_same_log_without_the_seeding_line() -> None:
    text = (
        tomcat_logs()["tomcat10-en.log"]
        .replace(b"14:28:3", b"14:29:3")
        .replace(b"[5687]", b"[65687]")
    )
    kept = b"".join(line for line in text.splitlines(keepends=True) if b"SessionIdGen" not in line)

    (found,) = findings(kept)

    assert "TldScanner" in found.evidence[0].excerpt
