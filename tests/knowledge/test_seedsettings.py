"""Names set in the belief that they choose the seed source, and names that only look alike."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seedstall.knowledge.seedsettings import slip


@pytest.mark.parametrize(
    "name",
    [
        "java.security.edg",
        "java.security.egb",
        "java.security.eg",
        "java.security.egdd",
        "java.securty.egd",
        "java.secuirty.egd",
        "javax.security.egd",
        "java.security.EGD",
        "Java.Security.Egd",
        "java-security.egd",
        "securerandom.source",
        "SecureRandom.source",
        "java.security.securerandom.source",
        "java.securerandom.source",
        "securerandom.strongAlgorithms",
    ],
)
def test_slips_are_found(name: str) -> None:
    found = slip(name)
    assert found is not None
    assert found.name == name
    assert found.why


@pytest.mark.parametrize(
    "name",
    [
        "java.security.egd",
        "java.security.debug",
        "java.security.policy",
        "java.security.manager",
        "java.security.properties",
        "java.security.krb5.kdc",
        "java.util.secureRandomSeed",
        "java.security.auth",
        "org.example.secureRandom.provider",
        "securerandom.drbg.config",
        "egd",
        "",
    ],
)
def test_names_of_their_own_are_left_alone(name: str) -> None:
    assert slip(name) is None


def test_the_reason_says_where_it_belongs() -> None:
    found = slip("securerandom.source")
    assert found is not None
    assert "security property" in found.why
    assert "java.security.properties" in found.why


@given(st.text())
def test_any_name_is_answered(name: str) -> None:
    slip(name)


def test_a_long_name_is_quick() -> None:
    start = time.monotonic()
    slip("java.security." * 100_000)
    assert time.monotonic() - start < 1
