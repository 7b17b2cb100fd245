import pytest

from seedstall.knowledge.callers import FUNCTIONS, PROGRAMS, Caller, caller_of, is_jdk
from seedstall.model.seeding import Instance

RANDOM = ["java.util.Random.nextInt"]
ALL = (*PROGRAMS, *FUNCTIONS)


def frame_of(row: Caller) -> str:
    """A whole ``class.method`` that the row is meant for."""
    return row.frame + ("X.run" if row.frame.endswith(".") else ".run")


@pytest.mark.parametrize("row", ALL, ids=lambda row: row.frame)
def test_row_is_found(row: Caller) -> None:
    found = caller_of([*RANDOM, frame_of(row), "com.example.App.main"])
    assert found.words == row.words
    assert found.product == row.product
    assert found.asks_for == row.asks_for
    assert found.frame in (frame_of(row), "com.example.App.main")


def test_no_row_hides_behind_another() -> None:
    """The first row that matches wins: a more general one before it would make it unreachable."""
    for table in (PROGRAMS, FUNCTIONS):
        for i, row in enumerate(table):
            assert not any(row.frame.startswith(earlier.frame) for earlier in table[:i]), row.frame


TOMCAT = [
    "java.util.Random.nextInt",
    "org.apache.catalina.util.SessionIdGeneratorBase.createSecureRandom",
    "org.apache.catalina.util.SessionIdGeneratorBase.getRandomBytes",
    "org.apache.catalina.util.StandardSessionIdGenerator.generateSessionId",
    "org.apache.catalina.session.ManagerBase.startInternal",
]
JARSIGNER = [
    "java.math.BigInteger.randomBits",
    "java.math.BigInteger.<init>",
    "sun.security.pkcs.PKCS7.generateTimestampToken",
    "sun.security.pkcs.PKCS7.generateSignedData",
    "sun.security.tools.jarsigner.TimestampedSigner.generateSignedData",
    "sun.security.tools.jarsigner.SignatureFile$Block.<init>",
    "sun.security.tools.jarsigner.Main.main",
]


def test_tomcat_and_jarsigner_as_their_dumps_show_them() -> None:
    tomcat = caller_of(TOMCAT)
    assert (tomcat.words, tomcat.product) == ("Tomcat session ids", "tomcat")
    assert tomcat.frame == TOMCAT[1]
    assert tomcat.asks_for is Instance.SHA1PRNG
    jarsigner = caller_of(JARSIGNER)
    assert (jarsigner.words, jarsigner.product) == ("jarsigner's time-stamp nonce", "jarsigner")
    assert ".jarsigner." in jarsigner.frame


def test_a_program_goes_before_a_function_and_a_function_before_a_detail() -> None:
    log4j = caller_of(
        ["java.util.UUID.randomUUID", "org.apache.logging.log4j.core.util.UuidUtil.<clinit>"]
    )
    assert log4j.words == "Log4j's UUIDs"
    nonce = caller_of([*JARSIGNER[:4], "com.example.Sign.run"])
    assert (nonce.words, nonce.frame) == ("a time-stamp nonce", "com.example.Sign.run")


def test_a_container_far_out_did_not_ask() -> None:
    outer = [f"com.example.Layer{i}.call" for i in range(12)]
    found = caller_of(["java.util.UUID.randomUUID", *outer, "weblogic.security.service.X.run"])
    assert (found.words, found.product, found.frame) == ("UUID.randomUUID", "", outer[0])


def test_a_function_behind_the_programs_own_frame_did_not_ask() -> None:
    found = caller_of(
        ["com.example.Tokens.next", "javax.net.ssl.X509KeyManager.choose", "sun.security.ssl.X.y"]
    )
    assert (found.words, found.frame) == ("", "com.example.Tokens.next")


def test_libraries_below_other_packages() -> None:
    found = caller_of(["io.grpc.netty.shaded.io.netty.util.internal.ThreadLocalRandom$1.run"])
    assert found.words == "Netty's ThreadLocalRandom"
    assert caller_of(["com.acme.oracle.net.Thing.run"]).words == ""


def test_only_the_jdk() -> None:
    found = caller_of(["java.util.UUID.randomUUID", "java.lang.Thread.run"])
    assert (found.words, found.frame) == ("UUID.randomUUID", "java.util.UUID.randomUUID")
    assert caller_of([]) == ("", "", "", None)
    assert is_jdk("java.lang.String.length")
    assert not is_jdk("javax.servlet.http.HttpServlet.service")
