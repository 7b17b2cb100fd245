"""SS208: strong generators that are seeded by themselves."""

from __future__ import annotations

from collections.abc import Iterator

from seedstall.model.finding import Confidence, Disposition, Finding, Severity
from seedstall.model.rule import rule
from seedstall.model.settings import Settings
from seedstall.model.verdict import Cause
from seedstall.rules.lint import line
from seedstall.rules.lint.strong import StrongList, is_fips_software, strong_lists

RIGHT = "NativePRNGBlocking:SUN"


@rule("SS208", "strong-algorithms-loop")
def strong_algorithms_loop(settings: Settings) -> Iterator[Finding]:
    """``securerandom.strongAlgorithms`` names the provider that takes its own seed from it.

    ## What it detects
    A first usable entry of a FIPS provider in software: ``DEFAULT:BCFIPS``, ``NONCEANDIV:BCFIPS``.

    ## Why it matters
    Such a provider cannot make entropy: it asks ``getInstanceStrong()`` for a seed, which asks the provider, which
    asks again: a StackOverflowError or an endless wait while the provider is set up (bcgit/bc-java#1800, #1873). It
    looks like a stall for want of entropy and is none.

    ## Fix
    ``securerandom.strongAlgorithms=NativePRNGBlocking:SUN``, or a generator of hardware.
    """
    for strong in strong_lists(settings):
        found = _looping(strong)
        if found is not None:
            yield _found(strong, *found)


def _looping(strong: StrongList) -> tuple[str, str] | None:
    """The entry that loops, where none that works stands before it."""
    for algorithm, provider in strong.entries:
        if is_fips_software(provider):
            return algorithm, provider
        absent = strong.providers and provider and provider not in strong.providers
        if not absent:
            return None
    return None


def _found(strong: StrongList, algorithm: str, provider: str) -> Finding:
    known = provider.upper().startswith("BCFIPS")
    return line.made(
        strong.file,
        strong.start,
        message=f"{line.STRONG}={strong.entry.value.text}, which points to itself",
        does=(
            f"{line.STRONG} names {algorithm}:{provider}, and {provider} takes its own seed from getInstanceStrong():"
            " setting it up calls itself without end, on JDK 8 and later"
        ),
        cause=Cause.PROVIDER_CONFIG,
        severity=Severity.ERROR if known else Severity.WARNING,
        confidence=Confidence.CONFIRMED if known else Confidence.POSSIBLE,
        fixes=line.corrected(
            strong.file, strong.edits(RIGHT), f"{line.STRONG}={RIGHT}", Disposition.REVIEW
        ),
        notes=(
            "adding entropy does not help: no device is read",
            "NativePRNGBlocking reads /dev/random: on an old kernel feed the pool",
        ),
    )
