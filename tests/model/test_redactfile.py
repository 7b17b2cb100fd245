"""Secrets out of whole files: what leaves the machine in a bundle."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seedstall.model.redactfile import redacted
from seedstall.parse import procfs
from seedstall.parse.hsperf import hsperf_strings


def test_arguments_keep_their_number() -> None:
    data = b"java\0-Ddb.password=a b c\0-Djava.security.egd=file:/dev/urandom\0-storepass\0geheim\0App\0"
    assert procfs.cmdline(redacted("proc/7/cmdline", data)) == (
        "java",
        "-Ddb.password=*****",
        "-Djava.security.egd=file:/dev/urandom",
        "-storepass",
        "*****",
        "App",
    )
    assert redacted("takes/2/proc/7/cmdline", data) == redacted("proc/7/cmdline", data)


@pytest.mark.parametrize(
    ("variable", "shown"),
    [
        (b"DB_PASSWORD=x y", b"DB_PASSWORD=*****"),
        (b"WHATEVER=x", b"WHATEVER=*****"),
        (b"EMPTY=", b"EMPTY="),
        (b"PWD=/opt/x", b"PWD=/opt/x"),
        (b"JAVA_OPTS=-Xmx1g -Dtoken=x", b"JAVA_OPTS=-Xmx1g -Dtoken=*****"),
        (
            b"MY_SETTINGS=-Djava.security.egd=file:/dev/./urandom",
            b"MY_SETTINGS=-Djava.security.egd=file:/dev/./urandom",
        ),
        (b"CATALINA_HOME=/opt/tomcat", b"CATALINA_HOME=/opt/tomcat"),
        (b"JAVA_SECRET=x", b"JAVA_SECRET=*****"),
    ],
)
def test_variables(variable: bytes, shown: bytes) -> None:
    assert redacted("proc/7/environ", b"A=\0" + variable + b"\0") == b"A=\0" + shown + b"\0"


def test_properties_lose_the_whole_value() -> None:
    data = b"#Mon\njavax.net.ssl.keyStorePassword=a b c\njava.home=/opt/jdk\n"
    assert redacted("jvm/properties.txt", data) == (
        b"#Mon\njavax.net.ssl.keyStorePassword=*****\njava.home=/opt/jdk\n"
    )


def test_what_the_kernel_writes_stays_as_it_is() -> None:
    for path in (
        "proc/7/stat",
        "proc/7/task/9/comm",
        "proc/sys/kernel/random/poolsize",
        "probe/poll",
    ):
        assert redacted(path, b"9 (token:x) S\n") == b"9 (token:x) S\n"


def test_a_binary_file_keeps_every_byte_in_its_place() -> None:
    data = b"\xca\xfe\0\0-Dapi.token=ge heim -Xmx1g\0url=jdbc://me:pw@db/x\0rest"
    shown = redacted("root/tmp/hsperfdata_app/7", data)
    assert shown == b"\xca\xfe\0\0-Dapi.token=******* -Xmx1g\0url=jdbc://**:**@db/x\0rest"
    with pytest.raises(ValueError, match="hsperfdata"):
        hsperf_strings(shown)


def test_lines_of_logs() -> None:
    assert redacted("logs/x", b"INFO password: geheim\nat a.B(C.java:1)\n") == (
        b"INFO password: *****\nat a.B(C.java:1)\n"
    )


KEY = "-----BEGIN RSA PRIVATE KEY-----\nMIIEgeheim0AAAAAA\ngeheim=\n-----END RSA PRIVATE KEY-----\n"
LOG = f"INFO password=geheim\n{KEY}After it.\n" + "and more\n" * 50


@pytest.mark.parametrize("coding", ["utf-8", "utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("zeros", [0, 3000, 30_001])
def test_a_log_is_a_text_however_it_is_written(coding: str, zeros: int) -> None:
    """With a BOM or without, and with the NUL bytes that copytruncate leaves."""
    shown = redacted("logs/x", b"\0" * zeros + LOG.encode(coding))
    plain = shown.replace(b"\0", b"")
    assert b"geheim" not in plain
    assert b"After it.\nand more" in plain
    assert shown.count(b"\n") == LOG.count("\n"), "its lines stay where they are"


def test_a_key_that_never_ends_takes_no_evidence_with_it() -> None:
    data = KEY.partition("geheim=")[0] + "x INFO\n\tat a.B.c(D.java:1)\n"
    assert b"\tat a.B.c(D.java:1)" in redacted("logs/x", data.encode())


def test_a_secret_before_a_long_text_in_a_binary_file() -> None:
    data = b"\xca\xfe\xc0\xc0\0\0token=geheim " + b"x" * 900 + b"\0"
    shown = redacted("root/tmp/hsperfdata_app/7", data)
    assert len(shown) == len(data)
    assert b"geheim" not in shown


@pytest.mark.parametrize("unit", [b"password=", b"-Dtoken=a ", b"x://a:b@", b"\0token=", b"a" * 9])
def test_hostile_files_take_no_time(unit: bytes) -> None:
    data = unit * (100_000 // len(unit))
    began = time.process_time()
    for path in ("logs/x", "proc/1/cmdline", "proc/1/environ", "jvm/properties.txt"):
        redacted(path, data)
    assert time.process_time() - began < 10


@given(
    st.binary(max_size=500),
    st.sampled_from(("logs/x", "proc/1/cmdline", "proc/1/environ", "root/x")),
)
def test_any_bytes(data: bytes, path: str) -> None:
    redacted(path, data)
