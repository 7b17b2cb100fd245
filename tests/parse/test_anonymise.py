"""Other names: the same everywhere, and none where it would change what the evidence says."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seedstall.parse.anonymise import Anonymiser

KEPT = [
    "at java.security.SecureRandom.nextBytes(SecureRandom.java:468)",
    "\tat java.base@17.0.9/java.io.FileInputStream.readBytes(Native Method)",
    '"http-nio-8080-exec-1" #31 daemon prio=5 tid=0x00007f0a nid=0x1b waiting on condition  [0x00007f3a]',
    "/usr/lib/jvm/java-17-openjdk-amd64/lib/server/libjvm.so",
    "-Djava.security.egd=file:/dev/./urandom",
    "/dev/random",
    "Server version name: Apache Tomcat/10.1.18",
    "openjdk version 11.0.13.1 2021",
    "30-Nov-2026 12:30:45.123 INFO [main]",
    "127.0.0.1 ::1 0.0.0.0",
    "0::/kubepods.slice/kubepods-burstable.slice",
    "12:cpu,cpuacct:/docker/0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
    "com.example.Foo@1a2b3c and 5/6 of text/html",
]


@pytest.mark.parametrize("line", KEPT)
def test_what_says_nothing_of_whose_it_is_stays(line: str) -> None:
    assert Anonymiser(["app1.acme.com"], ["joe"]).text(line) == line
    assert Anonymiser(["app1.acme.com"], ["root"]).file("logs/x", line.encode()) == line.encode()


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("app1 says: app1.acme.com up", "host1 says: host1.host2.com up"),
        ("com.acme.pay.Main", "com.host2.pay.Main"),
        ("joe /home/joe/x", "user1 /home/user1/x"),
        ("/opt/acme-pay/lib/pay-1.2.jar", "/opt/name1/lib/name2.jar"),
        ("file:/opt/acme-pay/x /opt/acme-pay", "file:/opt/name1/x /opt/name1"),
        ("10.1.2.3:5432 10.1.2.3 10.1.2.4", "198.18.0.1:5432 198.18.0.1 198.18.0.2"),
        ("fe80::1234 and [fe80::1234]:80", "2001:db8::1 and [2001:db8::1]:80"),
        ("00:1a:2B:3c:4d:5e", "02:00:00:00:00:01"),
        ("mail joe@acme.com", "mail mail1@host2.com"),
        ("http://pay.acme.com/shop-x/y", "http://pay.host2.com/name1/y"),
        ("db7.acme.internal failed", "host3.host2.internal failed"),
        ("/tmp/hsperfdata_joe/7", "/tmp/hsperfdata_user1/7"),
        ("/data1/old.jar (deleted)", "/name1/name2.jar (deleted)"),
    ],
)
def test_other_names(line: str, shown: str) -> None:
    names = Anonymiser(["app1.acme.com"], ["joe", "root"])
    if "pay.acme" in line:
        shown = shown.replace("pay.", "host3.")
    assert names.text(line) == shown
    assert names.text(line) == shown, "and again"


def test_the_same_name_in_every_file() -> None:
    names = Anonymiser(["app1"], ["joe"])
    link = names.link(b"/opt/acme pay/jdk-17/bin/java")
    assert names.member("root/opt/acme pay/jdk-17/release") == "root/opt/name1/jdk-17/release"
    assert link == b"/opt/name1/jdk-17/bin/java"
    maps = b"7f0-7f1 r-xp 0 fe:00 12      /opt/acme pay/jdk-17/lib/server/libjvm.so\n7f2-7f3 rw-p 0 00:00 0\n"
    assert names.file("proc/1/maps", maps) == maps.replace(b"acme pay", b"name1")
    argv = b"/opt/acme pay/jdk-17/bin/java\0-jar\0pay.jar\0"
    assert b"pay.jar" not in names.file("proc/1/cmdline", argv)
    assert names.names(b"hsperfdata_joe\0zeta-app\0") == b"hsperfdata_user1\0name3\0"


def test_addresses_of_sockets_in_hex() -> None:
    names = Anonymiser()
    assert names.text("10.1.2.3") == "198.18.0.1"
    table = b"   0: 0100007F:1F90 0302010A:1538 01 00000000:00000000\n"
    assert names.file("proc/1/net/tcp", table) == table.replace(b"0302010A", b"010012C6")


def test_a_binary_file_keeps_every_byte_in_its_place() -> None:
    data = b"\xca\xfe\0\0" + b"-Dhome=/opt/acme-pay -Djava.security.egd=file:/dev/urandom\0app1\0"
    shown = Anonymiser(["app1"]).file("root/tmp/hsperfdata_x/7", data)
    assert len(shown) == len(data)
    assert b"acme" not in shown
    assert b"app1" not in shown
    assert b"-Djava.security.egd=file:/dev/urandom" in shown


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("APP1 says App1_8080.log", "host1 says host1_8080.log"),
        ("by berta.mueller, Berta.Mueller-x", "by user1, user1-x"),
        ("ora7.acme.com:1521 up", "host3.host2.com:1521 up"),
        ("x.eu.acme.com up", "x.eu.host2.com up"),
        ("myapp1x app12", "myapp1x app12"),
    ],
)
def test_known_names_in_other_spellings(line: str, shown: str) -> None:
    names = Anonymiser(["app1.acme.com"], ["berta.mueller"])
    assert names.text(line) == shown


@pytest.mark.parametrize("own", [["db.liquibase.example"], []])
def test_a_stranger_s_url_renames_no_class(own: list[str]) -> None:
    """A log that names https://www.liquibase.example must not hide liquibase's own frames from the rules."""
    names = Anonymiser(own)
    names.learn("logs/x", b"see https://www.liquibase.example/x\n")
    frame = "\tat liquibase.lockservice.StandardLockService.waitForLock(StandardLockService.java:1)"
    assert (names.text(frame) == frame) is not bool(own)


def test_what_one_file_tells_is_renamed_in_those_before_it() -> None:
    names = Anonymiser()
    names.learn("proc/7/mountinfo", b"1 2 0:3 / /x rw - nfs4 filer7:/export rw\n")
    names.learn("logs/x", "GET http://pay7.acme.com/\n".encode("utf-16"))
    assert names.text("filer7 pay7") == "host1 host2"


def test_names_that_threads_and_programs_gave_themselves() -> None:
    names = Anonymiser(["zeus.acme-corp.net"])
    assert names.file("proc/7/stat", b"7 (zeus (x) run) S 1 1") == b"7 (host1 (x) run) S 1 1"
    assert names.file("proc/7/task/8/status", b"Name:\tzeus-1\nState:\tS\n") == (
        b"Name:\thost1-1\nState:\tS\n"
    )
    assert names.file("proc/7/task/8/sched", b"zeus-1 (8, #threads: 2)\n---\n") == (
        b"host1-1 (8, #threads: 2)\n---\n"
    )
    assert names.file("proc/7/comm", b"poller acme-cor\n") == b"poller host2\n", "cut at 15 bytes"
    assert names.file("proc/version", b"Linux version 4.1 (root@zeus) x\n") == (
        b"Linux version 4.1 (root@host1) x\n"
    )


def test_a_host_of_two_letters_by_itself() -> None:
    assert Anonymiser().file("proc/sys/kernel/hostname", b"vm\n") == b"host1\n"


@pytest.mark.parametrize(
    "unit", ["a/", "/a", "a.", "1.", ":a", "a@", "a-", "://a", "/.", "x.jar/", "%"]
)
def test_hostile_texts_take_no_time(unit: str) -> None:
    names = Anonymiser(["app1.acme.com"], ["joe"])
    data = (unit * (100_000 // len(unit))).encode()
    began = time.process_time()
    names.file("logs/x", data)
    names.file("proc/1/cmdline", data)
    assert time.process_time() - began < 20


@given(
    st.binary(max_size=400), st.sampled_from(("logs/x", "proc/1/cmdline", "proc/1/maps", "root/x"))
)
def test_any_bytes(data: bytes, path: str) -> None:
    Anonymiser(["host"], ["joe"]).file(path, data)
