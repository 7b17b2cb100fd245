"""Whether the JVM's security providers are set up for FIPS: by its merged security properties and its options.

RHEL's builds put the list ``fips.provider.N`` in the place of ``security.provider.N`` where the system's crypto policy
is FIPS (before 2021) or the kernel is in FIPS mode (since), ``security.useSystemPropertiesFile`` is true, and neither
``-Dcom.redhat.fips=false`` nor ``-Djava.security.disableSystemPropertiesFile=true`` is given (Red Hat's
``java.security.SystemConfigurator``).
"""

from __future__ import annotations

import re

from seedstall.facts.host import kernel_ref
from seedstall.facts.jdk import rooted
from seedstall.model.evidence import Got
from seedstall.model.jvm import Launch
from seedstall.model.security import FipsProvider, FipsSetup, SecurityProperties, SecuritySetting
from seedstall.source.base import Source

FIPS_ENABLED = "proc/sys/crypto/fips_enabled"
POLICY = "/etc/crypto-policies/config"
USE_SYSTEM = "security.useSystemPropertiesFile"
MOST_PROVIDERS = 100
SUN = ("SUN", "sun.security.provider.Sun")
_HYBRID = re.compile(r"\bHYBRID\b")


def fips_setup(source: Source, properties: SecurityProperties, launch: Launch | None) -> FipsSetup:
    """The FIPS module that comes first in the JVM's provider list, and whether SUN is in it.

    What a program adds by ``Security.insertProviderAt`` does not stand in any file.
    """
    kernel = _kernel(source)
    prefix = "fips.provider." if _red_hat(source, properties, launch, kernel=kernel) else ""
    listed = _providers(properties, prefix or "security.provider.")
    words = [setting.effective.split(None, 1) for setting in listed]
    sun = any(word and word[0] in SUN for word in words) if listed else None
    for setting in listed:
        if (provider := _fips(setting.effective)) is not FipsProvider.NONE:
            hybrid = _HYBRID.search(setting.effective) is not None
            return FipsSetup(provider, setting.place, sun, kernel, hybrid)
    return FipsSetup(FipsProvider.NONE, "", sun, kernel)


def _kernel(source: Source) -> bool:
    reading = source.read(kernel_ref(FIPS_ENABLED))
    return isinstance(reading, Got) and reading.value[:2].strip() == b"1"


def _red_hat(
    source: Source, properties: SecurityProperties, launch: Launch | None, *, kernel: bool
) -> bool:
    if "fips.provider.1" not in properties.settings or properties.value(USE_SYSTEM) != "true":
        return False
    if launch is not None and (
        launch.property_value("com.redhat.fips") not in (None, "true")
        or launch.property_value("java.security.disableSystemPropertiesFile") == "true"
    ):
        return False
    reading = source.read(rooted(POLICY))
    policy = reading.value[:4096].splitlines() if isinstance(reading, Got) else []
    return kernel or any(line.strip() == b"FIPS" for line in policy)


def _providers(properties: SecurityProperties, prefix: str) -> list[SecuritySetting]:
    """Numbered from 1 without a gap, as ``sun.security.jca.ProviderList`` reads them."""
    found: list[SecuritySetting] = []
    for number in range(1, MOST_PROVIDERS):
        setting = properties.settings.get(f"{prefix}{number}")
        if setting is None:
            break
        found.append(setting)
    return found


def _fips(provider: str) -> FipsProvider:
    """``SunPKCS11 ${java.home}/conf/security/nss.fips.cfg``, ``...BouncyCastleFipsProvider C:HYBRID;ENABLE{All};``."""
    name, _, argument = provider.strip().partition(" ")
    name = name.rpartition(".")[2]
    if name in ("BouncyCastleFipsProvider", "BCFIPS"):
        return FipsProvider.BOUNCY_CASTLE
    if name.startswith("SunPKCS11") and "fips" in (name + argument).casefold():
        return FipsProvider.NSS
    if name.startswith("OpenJCEPlusFIPS"):
        return FipsProvider.OPENJCEPLUS
    return FipsProvider.IBM if name == "IBMJCEFIPS" else FipsProvider.NONE


PROVIDERS = (fips_setup,)
