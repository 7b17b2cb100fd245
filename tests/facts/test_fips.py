from __future__ import annotations

import pytest

from seedstall.facts.fips import fips_setup
from seedstall.model.evidence import Ref, Space, Why
from seedstall.model.jvm import JvmOption, Launch, OptionOrigin
from seedstall.model.security import FipsProvider, FipsSetup, SecurityProperties
from seedstall.parse import security
from seedstall.source.base import Held, Source

KERNEL = Ref(Space.KERNEL, "proc/sys/crypto/fips_enabled")
POLICY = Ref(Space.ROOT, "etc/crypto-policies/config")
PLAIN = "security.provider.1=SUN\nsecurity.provider.2=SunRsaSign\n"
RED_HAT = f"""{PLAIN}security.useSystemPropertiesFile=true
fips.provider.1=SunPKCS11 ${{java.home}}/conf/security/nss.fips.cfg
fips.provider.2=SUN
fips.provider.3=SunEC
"""
BOUNCY = """security.provider.1=org.bouncycastle.jcajce.provider.BouncyCastleFipsProvider
security.provider.2=org.bouncycastle.jsse.provider.BouncyCastleJsseProvider fips:BCFIPS
security.provider.3=SUN
"""


def read(text: str) -> SecurityProperties:
    return security.security_properties(
        "/jdk/conf/security/java.security",
        text.encode(),
        lambda _: (_ for _ in ()).throw(AssertionError),
        jdk=None,
        extra=None,
        directory="/",
        variables={},
    )


def setup(text: str, source: Source | None = None, *options: str) -> FipsSetup:
    given = tuple(JvmOption(o, OptionOrigin.COMMAND_LINE) for o in options)
    return fips_setup(source or Held({}), read(text), Launch("java", given))


def test_no_fips() -> None:
    found = setup(PLAIN)
    assert (found.provider, found.sun, found.active) == (FipsProvider.NONE, True, False)
    assert setup("a=b\n").sun is None
    assert setup("security.provider.1=SunJCE\n").sun is False


@pytest.mark.parametrize("held", [{KERNEL: b"1\n"}, {POLICY: b"# comment\nFIPS\n"}])
def test_red_hats_list_takes_the_place_of_the_other(held: dict[Ref, bytes | Why]) -> None:
    found = setup(RED_HAT, Held(held))
    assert (found.provider, found.place) == (
        FipsProvider.NSS,
        "/jdk/conf/security/java.security:4",
    )


@pytest.mark.parametrize(
    ("text", "held", "option"),
    [
        (RED_HAT, {}, ""),
        (RED_HAT, {POLICY: b"DEFAULT\n"}, ""),
        (RED_HAT, {POLICY: b"FIPS:OSPP\n"}, ""),
        (RED_HAT, {KERNEL: b"1\n"}, "-Dcom.redhat.fips=false"),
        (RED_HAT, {KERNEL: b"1\n"}, "-Djava.security.disableSystemPropertiesFile=true"),
        (RED_HAT.replace("File=true", "File=false"), {KERNEL: b"1\n"}, ""),
        (PLAIN, {KERNEL: b"1\n"}, ""),  # another maker's JDK on such a host
    ],
)
def test_where_it_does_not(text: str, held: dict[Ref, bytes | Why], option: str) -> None:
    found = setup(text, Held(held), *([option] if option else []))
    assert found.provider is FipsProvider.NONE
    assert found.kernel == (KERNEL in held)


def test_bouncy_castle_and_its_hybrid_chain() -> None:
    found = setup(BOUNCY)
    assert (found.provider, found.sun, found.hybrid) == (FipsProvider.BOUNCY_CASTLE, True, False)
    assert setup(BOUNCY.replace("FipsProvider\n", "FipsProvider C:HYBRID;ENABLE{All};\n")).hybrid


@pytest.mark.parametrize(
    ("line", "provider"),
    [
        ("BCFIPS", FipsProvider.BOUNCY_CASTLE),
        ("com.ibm.crypto.plus.provider.OpenJCEPlusFIPS", FipsProvider.OPENJCEPLUS),
        ("OpenJCEPlusFIPS", FipsProvider.OPENJCEPLUS),
        ("com.ibm.crypto.fips.provider.IBMJCEFIPS", FipsProvider.IBM),
        ("SunPKCS11-NSS-FIPS", FipsProvider.NSS),
        ("SunPKCS11 /etc/softhsm.cfg", FipsProvider.NONE),
        ("org.bouncycastle.jce.provider.BouncyCastleProvider", FipsProvider.NONE),
        ("", FipsProvider.NONE),
    ],
)
def test_providers(line: str, provider: FipsProvider) -> None:
    assert setup(f"security.provider.1={line}\nsecurity.provider.2=SUN\n").provider is provider
