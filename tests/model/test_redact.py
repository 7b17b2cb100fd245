from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seedstall.model.redact import MASK, redact, redact_argv, secret_name, visible


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("jarsigner -storepass hunter2 -keystore a.jks x.jar", "hunter2"),
        ("jarsigner -storepass 'hunter 2' x.jar", "hunter 2"),
        ("-Djavax.net.ssl.keyStorePassword=hunter2", "hunter2"),
        ("-Ddb.password=hunter2 -Dx=y", "hunter2"),
        ('-Ddb.password="hunter 2" -Dx=y', "hunter 2"),
        ("SPRING_DATASOURCE_PASSWORD=hunter2", "hunter2"),
        ("--api-key=hunter2", "hunter2"),
        ("-Daws.secretAccessKey=hunter2", "hunter2"),
        ("password: hunter2", "hunter2"),
        ("jdbc:postgresql://joe:hunter2@db:5432/x", "hunter2"),
        ("https://joe:hunter2@repo.example/x", "hunter2"),
        ("-Dauth.token=hunter2", "hunter2"),
        ("-keypass hunter2", "hunter2"),
        ("jdbc:oracle:thin:scott/hunter2@db:1521/X", "hunter2"),
        ("redis://:hunter2@db/1", "hunter2"),
        ("Authorization: Basic aHVudGVyMg==", "aHVudGVyMg"),
        ("proxy-authorization: Bearer hunter2", "hunter2"),
        ("sent Bearer hunter2-hunter2 to", "hunter2"),
        ("<password>hunter2</password>", "hunter2"),
        ('{"password":"hunter2","a":1}', "hunter2"),
        ("{'db.token' : 'hunter2'}", "hunter2"),
        ("run --password hunter2 -x", "hunter2"),
        ("Cookie: JSESSIONID=hunter2", "hunter2"),
        ("key AKIAIOSFODNN7EXAMPLE used", "AKIAIOSFODNN7EXAMPLE"),
        ("x eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ4In0.hunter2", "hunter2"),
        ("https://ghp_0123456789hunter20123456789@github.com/x", "hunter2"),
        (r"-----BEGIN PRIVATE KEY-----\nhunter2\n-----END PRIVATE KEY-----", "hunter2"),
        ("-J-Dkey.passphrase=hunter2", "hunter2"),
        ("password: 12345", "12345"),
        ("password:12345", "12345"),
        ("db.password:12345", "12345"),
        ("token=12345", "12345"),
        ("x/db_token=12345", "12345"),
        ("password.txt: 12345", "12345"),
        ("db.password.main:12345678", "12345678"),
        ("secret.key:12ab", "12ab"),
        ("secret_log.txt:12 token=hunter2", "hunter2"),
        ("secret_log.txt:12:token=hunter2", "hunter2"),
    ],
)
def test_secrets_are_masked(text: str, secret: str) -> None:
    shown = redact(text)

    assert secret not in shown
    assert MASK in shown


@pytest.mark.parametrize(
    "text",
    [
        "-Djava.security.egd=file:/dev/./urandom",
        "-Djava.security.properties=/etc/x.properties",
        "/proc/8712/task/8713/syscall  read 0x16 0x7f5c 0x14, state S",
        'stalled (blocking-seed, confirmed): "main" has waited in read of /dev/random',
        "seedstall fix 8712 --surface tomcat-setenv > setenv.patch",
        "at sun.security.provider.SecureRandom$SeederHolder.<clinit>",
        "https://timestamp.example/tsa",
        "x/secret_log.txt:12",
        "secret_log.txt:12  Creation of SecureRandom instance",
        "password_reset.log:12 text",
        "Bearer authentication is set up",
        "at com.acme.Token.get(Token.java:12)",
        "java -Dtoken -Xmx1g",
        "(/var/log/secret_log.txt:7): seeds are read from a URL",
        "/etc/passwd:7: no such user",
        "logs/token:7:3 text",
        "password_reset.log.2026-11-30:12.",
    ],
)
def test_evidence_is_not_masked(text: str) -> None:
    assert redact(text) == text


def test_the_word_after_a_password_option_is_masked() -> None:
    argv = ("jarsigner", "-storepass", "hunter2", "-keypass", "-x", "a.jar")

    assert redact_argv(argv) == ("jarsigner", "-storepass", MASK, "-keypass", MASK, "a.jar")


def test_names_of_secrets() -> None:
    assert secret_name("DB_PASSWORD")
    assert secret_name("server.ssl.key-store-password")
    assert not secret_name("JAVA_TOOL_OPTIONS")


def test_control_and_bidi_characters_are_shown() -> None:
    assert visible("a\x1b[31mb\u202ec\r") == "a\\x1b[31mb\\u202ec\\x0d"
    assert visible("スレッド é") == "スレッド é"


@given(st.text(max_size=300))
def test_any_text_is_redacted_without_error_and_made_printable(text: str) -> None:
    redact(text)
    assert visible(text).replace("\u3000", "").replace("\u00a0", "").isprintable()


@pytest.mark.parametrize(
    "unit",
    [
        "-Dpassword",
        "password=",
        "a://b:c",
        "-storepass ",
        "'",
        "x.y-",
        "secret.txt:1 ",
        "/secret:1 ",
        "secret.txt:1",
    ],
)
def test_time_grows_with_the_input_not_its_square(unit: str) -> None:
    def cost(n: int) -> float:
        text = unit * n
        start = time.process_time()
        redact(text)
        return time.process_time() - start

    small, large = min(cost(4000) for _ in range(5)), min(cost(32000) for _ in range(5))
    assert large < max(small, 0.001) * 30, (small, large)


def test_the_argument_behind_a_secret_s_name_goes_unless_it_is_an_option() -> None:
    argv = ("java", "--db-token", "hunter2", "--password", "-Djava.security.egd=file:/dev/random")
    assert redact_argv(argv) == (*argv[:2], MASK, *argv[3:])
