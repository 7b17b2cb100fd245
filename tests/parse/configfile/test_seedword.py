from __future__ import annotations

import time

import pytest

from seedstall.model.settings import Damage, Placed, placed
from seedstall.parse.configfile.seedword import (
    EGD,
    PROPERTIES,
    SOURCE,
    STRONG,
    meant,
    meant_security,
    seed_word,
    seed_words,
)
from seedstall.parse.configfile.words import split


def word(text: str) -> Placed:
    return placed(text, 0, len(text))


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("java.security.egd", EGD),
        ("java.security.edg", EGD),
        ("java.secuirty.egd", EGD),
        ("jav.security.egd", EGD),
        ("Java.Security.EGD", EGD),
        ("java.security.egdd", EGD),
        ("securerandom.source", EGD),
        ("java.security.securerandom.source", EGD),
        ("securerandom.strongAlgorithms", STRONG),
        ("java.security.properties", PROPERTIES),
        ("java.security.propertes", PROPERTIES),
        ("java.security.policy", ""),
        ("java.security.debug", ""),
        ("java.security.manager", ""),
        ("java.security.acl", ""),
        ("java.util.secureRandomSeed", ""),
        ("com.example.egd", ""),
        ("", ""),
    ],
)
def test_what_a_name_was_meant_for(name: str, expected: str) -> None:
    assert meant(name) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("securerandom.source", SOURCE),
        ("securerandom.sources", SOURCE),
        ("java.security.egd", SOURCE),
        ("securerandom.strongalgorithms", STRONG),
        ("securerandom.drbg.config", ""),
        ("security.provider.1", ""),
    ],
)
def test_what_a_name_in_a_security_file_was_meant_for(name: str, expected: str) -> None:
    assert meant_security(name) == expected


@pytest.mark.parametrize(
    ("text", "damage", "value"),
    [
        ("-Djava.security.egd=file:/dev/urandom", Damage.NONE, "file:/dev/urandom"),
        ("-J-Djava.security.egd=file:/dev/urandom", Damage.NONE, "file:/dev/urandom"),
        ("-Djava.security.egd=", Damage.NONE, ""),
        ("-Djava.security.egd", Damage.NONE, None),
        ("-Djava.security.egd=${SEED}", Damage.NONE, None),
        ("-Djava.security.edg=file:/dev/urandom", Damage.NAME, "file:/dev/urandom"),
        ("-Dsecurerandom.strongAlgorithms=DRBG:SUN", Damage.NAME, "DRBG:SUN"),
        ("-Djava.security.egd:file:/dev/urandom", Damage.COLON, "file:/dev/urandom"),
        ("“-Djava.security.egd=file:/dev/urandom”", Damage.QUOTES, "file:/dev/urandom"),
        ("\u2013Djava.security.egd=file:/dev/urandom", Damage.DASH, "file:/dev/urandom"),
        ("--Djava.security.egd=file:/dev/urandom", Damage.EXTRA_DASH, "file:/dev/urandom"),
        ("-djava.security.egd=file:/dev/urandom", Damage.SMALL_D, "file:/dev/urandom"),
        ("java.security.egd=file:/dev/urandom", Damage.NO_DASH, "file:/dev/urandom"),
        ("--java.security.egd=file:/dev/urandom", Damage.NO_DASH, "file:/dev/urandom"),
        ("-Djava.security.egd = file:/dev/urandom", Damage.BLANKS, "file:/dev/urandom"),
        (
            "-Xmx1g\u00a0-Djava.security.egd=file:/dev/urandom",
            Damage.NO_BREAK_SPACE,
            "file:/dev/urandom",
        ),
    ],
)
def test_an_option_and_what_is_wrong_with_it(text: str, damage: Damage, value: str | None) -> None:
    found = seed_word(word(text))

    assert found is not None
    assert (damage, value) == (found.damage, found.value.text if found.value else None)


@pytest.mark.parametrize(
    "text",
    [
        "-Djava.security.policy=/etc/policy",
        "-Djava.security.auth.login.config=file:/etc/jaas",
        "-Dapp.random.source=/dev/urandom",
        "-Djava.security.edg=yes",
        "-Dsecurerandom.sources=1",
        "java.security.egd",
        "/etc/java.security",
        "-Xlog:security",
        "--add-exports=java.base/sun.security.provider=ALL-UNNAMED",
        "",
    ],
)
def test_a_stranger_is_left_alone(text: str) -> None:
    assert seed_word(word(text)) is None


@pytest.mark.parametrize(
    ("text", "tail"),
    [
        ("-Djava.security.egd = file:/dev/urandom x", 2),
        ("-Djava.security.egd =file:/dev/urandom x", 1),
        ("-Djava.security.egd= file:/dev/urandom x", 1),
        ("-Djava.security.egd file:/dev/urandom x", 1),
        ("-D java.security.egd=file:/dev/urandom x", 1),
    ],
)
def test_an_option_torn_by_blanks_is_one(text: str, tail: int) -> None:
    (found,) = seed_words(split(word(text)))

    assert found.damage is Damage.BLANKS
    assert found.value is not None
    assert (found.value.text, len(found.tail)) == ("file:/dev/urandom", tail)


def test_an_empty_value_before_another_option_is_not_torn() -> None:
    (found,) = seed_words(split(word("-Djava.security.egd= -Xmx1g /dev/urandom")))

    assert (found.damage, found.tail) == (Damage.NONE, ())


def test_long_names_cost_no_time() -> None:
    began = time.process_time()
    for _ in range(100):
        seed_word(word("-Djava.security." + "egd" * 20_000 + "=file:/dev/urandom"))

    assert time.process_time() - began < 1
