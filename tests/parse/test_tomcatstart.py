"""What Tomcat says of itself at its start, in every language and layout."""

from __future__ import annotations

import tarfile
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seedstall.parse.tomcatstart import last_start

FIXTURES = Path(__file__).parent.parent.parent / "fixtures"
LANGUAGES = ("cs", "de", "en", "es", "fr", "ja", "ko", "pt", "ru", "zh")


@pytest.fixture(scope="module")
def logs() -> dict[str, bytes]:
    """Tomcat 10.1 on JDK 17 in ten languages."""
    found: dict[str, bytes] = {}
    with tarfile.open(FIXTURES / "tomcat-logs.tar.xz") as archive:
        for member in archive:
            file = archive.extractfile(member)
            if file is not None:
                found[member.name.rpartition("/")[2]] = file.read()
    return found


@pytest.mark.parametrize("language", LANGUAGES)
def test_real_logs_in_every_language(logs: dict[str, bytes], language: str) -> None:
    start = last_start(logs[f"tomcat10-{language}.log"])
    assert start is not None
    assert (start.jvm_version, start.jvm_line) == ("17.0.15+6-Debian-1deb12u1", 8)
    assert start.java_home == "/usr/lib/jvm/java-17-openjdk-amd64"
    assert start.os_release.startswith("6.18.")
    assert len(start.options) == 19
    assert start.options[0][1] == 12
    assert ("-Dcatalina.base=/srv/tomcat", 28) in start.options


def test_a_log_without_them(logs: dict[str, bytes]) -> None:
    assert last_start(logs["out.noscheme.txt"]) is None
    assert last_start(b"") is None


OLD = """\
Jan 05, 2017 3:14:15 PM org.apache.catalina.startup.VersionLoggerListener log
INFO: Server version:        Apache Tomcat/7.0.70
Jan 05, 2017 3:14:15 PM org.apache.catalina.startup.VersionLoggerListener log
INFO: OS Version:            2.6.32-642.el6
Jan 05, 2017 3:14:15 PM org.apache.catalina.startup.VersionLoggerListener log
INFO: Architecture:          amd64
Jan 05, 2017 3:14:15 PM org.apache.catalina.startup.VersionLoggerListener log
INFO: Java Home:             /opt/jdk1.7.0_80/jre
Jan 05, 2017 3:14:15 PM org.apache.catalina.startup.VersionLoggerListener log
INFO: JVM Version:           1.7.0_80-b15
Jan 05, 2017 3:14:15 PM org.apache.catalina.startup.VersionLoggerListener log
INFO: Command line argument: -Djava.security.egd=file:/dev/urandom
"""


def test_the_two_line_format_of_7() -> None:
    start = last_start(OLD.encode())
    assert start is not None
    assert (start.jvm_version, start.jvm_line) == ("1.7.0_80-b15", 10)
    assert start.os_release == "2.6.32-642.el6"
    assert start.options == (("-Djava.security.egd=file:/dev/urandom", 12),)


def test_the_last_start_counts() -> None:
    start = last_start((OLD + "other\n" + OLD.replace("urandom", "./urandom")).encode())
    assert start is not None
    assert start.options == (("-Djava.security.egd=file:/dev/./urandom", 25),)


def test_only_options_left() -> None:
    start = last_start("\n".join(OLD.splitlines()[-2:]).encode())
    assert start is not None
    assert (start.jvm_version, start.java_home) == ("", "")
    assert len(start.options) == 1


@given(st.binary(max_size=100), st.binary(max_size=100))
def test_any_bytes_are_taken(one: bytes, other: bytes) -> None:
    last_start(one + b"VersionLoggerListener.log " + other + b"VersionLoggerListener log\n" + one)


def test_long_hostile_logs_are_quick() -> None:
    start = time.monotonic()
    last_start(b"VersionLoggerListener" * 400_000)
    last_start(b"VersionLoggerListener.log a: -x\n" * 300_000)
    last_start(b"VersionLoggerListener log\n" * 300_000)
    assert time.monotonic() - start < 10
