"""SS210: a strong generator of a provider that is not there."""

from __future__ import annotations

from collections.abc import Iterator

from seedstall.model.finding import Confidence, Disposition, Finding, Severity
from seedstall.model.rule import rule
from seedstall.model.settings import Settings
from seedstall.model.verdict import Cause
from seedstall.rules.lint import line
from seedstall.rules.lint.strong import NONBLOCKING, StrongList, is_fips_software, strong_lists

NSS = "PKCS11:SunPKCS11-NSS-FIPS"
_FLAGS = ("-Dcom.redhat.fips=true", "-Dsemeru.fips=true")


@rule("SS210", "strong-algorithm-unavailable")
def strong_algorithm_unavailable(settings: Settings) -> Iterator[Finding]:
    """``securerandom.strongAlgorithms`` names a generator whose provider is not among those in force.

    ## What it detects
    Entries of providers that the file's own list (``security.provider.N``) lacks; ``NativePRNGNonBlocking:SUN`` in a
    JDK built for FIPS, whose ``fips.provider.N`` list lacks SUN, or where FIPS mode is switched on in another file
    handed over (in that mode Red Hat's and Semeru's SUN has no SecureRandom at all); an empty list.

    ## Why it matters
    ``getInstanceStrong()`` throws NoSuchAlgorithmException (quarkusio/quarkus#40665, keycloak/keycloak#15721).

    ## Fix
    In FIPS mode ``PKCS11:SunPKCS11-NSS-FIPS``, which NSS seeds itself; else a generator of a provider that is listed.
    """
    fips_on = _fips_mode(settings)
    for strong in strong_lists(settings):
        if not strong.entries:
            yield _found(
                strong,
                "is empty: getInstanceStrong() finds nothing",
                "NativePRNGBlocking:SUN",
                sure=True,
            )
        elif _all_absent(strong, strong.providers):
            why = f"names providers that the file does not list ({', '.join(strong.providers[:8])})"
            yield _found(
                strong, f"{why}: getInstanceStrong() throws NoSuchAlgorithmException", "", sure=True
            )
        elif strong.entries[0][0].lower() == NONBLOCKING.lower():
            yield from _in_fips_mode(strong, fips_on)


def _fips_mode(settings: Settings) -> str:
    """The option that switches FIPS mode on, in any of the files."""
    for file in settings.files:
        for variable in file.variables:
            for flag in _FLAGS:
                if flag in variable.value.text:
                    return flag
        for command in file.commands:
            for word in command.words:
                if word.text in _FLAGS:
                    return word.text
    return ""


def _all_absent(strong: StrongList, listed: tuple[str, ...]) -> bool:
    if not listed or any("." in p for p in listed):
        return False  # a provider given by its class may have any name
    # SunPKCS11 is called after its configuration, and FIPS mode brings it from elsewhere.
    return all(p and p not in listed and not p.startswith("SunPKCS11") for _, p in strong.entries)


def _in_fips_mode(strong: StrongList, fips_on: str) -> Iterator[Finding]:
    listed = strong.fips
    if listed and "SUN" not in listed:
        yield _found(
            strong,
            "is of the provider SUN, which fips.provider.N lacks: in FIPS mode getInstanceStrong() throws"
            " NoSuchAlgorithmException",
            NSS,
            sure=True,
        )
    elif fips_on:
        yield _found(
            strong,
            f"is not there under {fips_on}: in FIPS mode the provider SUN has no SecureRandom, and getInstanceStrong()"
            " throws NoSuchAlgorithmException",
            NSS,
            sure=True,
        )
    elif listed or any(is_fips_software(p) for p in strong.providers):
        yield _found(
            strong,
            "is not FIPS-compliant, and in FIPS mode Red Hat's JDK (whose file this is) has no SecureRandom in SUN",
            NSS if listed else "NativePRNGBlocking:SUN",
            sure=False,
        )


def _found(strong: StrongList, why: str, new: str, *, sure: bool) -> Finding:
    value = strong.entry.value.text or "(empty)"
    return line.made(
        strong.file,
        strong.start,
        message=f"{line.STRONG}={value}, which is not available",
        does=f"{line.STRONG}={value} {why}",
        cause=Cause.PROVIDER_CONFIG,
        severity=Severity.WARNING if sure else Severity.NOTE,
        confidence=Confidence.LIKELY if sure else Confidence.POSSIBLE,
        fixes=line.corrected(
            strong.file, strong.edits(new), f"{line.STRONG}={new}", Disposition.REVIEW
        )
        if new
        else (),
    )
