"""SS533: the set-up of the security providers turns in a circle."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from seedstall.model.evidence import Missing, Unavailable
from seedstall.model.finding import Confidence, Evidence, Finding, Severity
from seedstall.model.incident import IncidentKind, Incidents
from seedstall.model.redact import visible
from seedstall.model.rule import rule
from seedstall.model.security import FipsProvider, FipsSetup
from seedstall.model.threads import JavaThread, ThreadDump, ThreadDumps
from seedstall.model.verdict import Cause, Status
from seedstall.rules import incident_account
from seedstall.rules import seed_remedies as remedies

TURNS = 3
"""A strong generator that is got while one is got, while one is got: no set-up does that on purpose."""
_GOT = ("java.security.SecureRandom.getInstanceStrong", "java.security.SecureRandom.getDefaultPRNG")


@rule("SS533", "provider-recursion")
def provider_recursion(
    dumps: ThreadDumps | Missing, incidents: Incidents | Missing, fips: FipsSetup | None = None
) -> Iterator[Finding]:
    """A security provider asks for the generator that it is to provide.

    ## What it detects
    A stack in which ``SecureRandom.getInstanceStrong`` (or the default generator's choice) stands within itself,
    three times or more; in a log, ``No strong SecureRandom impls available``.

    ## Why it matters
    ``securerandom.strongAlgorithms`` that names a provider whose own set-up seeds from ``getInstanceStrong``
    (BCFIPS is one) never comes to an end. No entropy is involved.

    ## Fix
    ``securerandom.strongAlgorithms=NativePRNGNonBlocking:SUN`` or another generator that needs none, in
    ``java.security``.
    """
    if isinstance(dumps, Missing) and isinstance(incidents, Missing):
        raise Unavailable(dumps)
    turning = _turning(dumps) if isinstance(dumps, ThreadDumps) else None
    line = incidents.of(IncidentKind.NO_STRONG) if isinstance(incidents, Incidents) else None
    if turning is None and line is None:
        return
    evidence: list[Evidence] = []
    if turning is not None:
        thread, dump, frame, times = turning
        evidence.append(
            Evidence(
                origin=f"{dump.origin}:{thread.line}" if thread.line else dump.origin,
                excerpt=f'"{visible(thread.name)[:80]}" has {frame} {times} times in its stack',
            )
        )
    if line is not None:
        evidence.append(incident_account.evidence(line))
    finding = Finding(
        message="a provider set-up that needs itself",
        sentence=(
            "the security providers' set-up turns in a circle: a strong generator is asked for while one is being made"
            if turning is not None
            else "no strong generator can be had: securerandom.strongAlgorithms names none that this JVM has"
        ),
        cause=Cause.PROVIDER_CONFIG,
        status=Status.STALLED if turning is not None else Status.ENDED,
        severity=Severity.ERROR,
        confidence=Confidence.CONFIRMED if turning is not None else Confidence.LIKELY,
        evidence=tuple(evidence),
        fixes=(remedies.strong(_value(turning, fips)),),
        notes=(f"securerandom.strongAlgorithms={_value(turning, fips)} in java.security ends it",),
    )
    yield (
        finding
        if turning is not None or line is None
        else incident_account.weighed(finding, [line])
    )


def _value(turning: tuple[JavaThread, ThreadDump, str, int] | None, fips: FipsSetup | None) -> str:
    """For BCFIPS its makers name the blocking generator (bcgit/bc-java#1800); NonBlocking is none of its sources."""
    frames = turning[0].frames if turning is not None else ()
    theirs = any("bouncycastle" in f.class_name and "ips" in f.class_name for f in frames)
    listed = fips is not None and fips.provider is FipsProvider.BOUNCY_CASTLE
    return "NativePRNGBlocking:SUN,DRBG:SUN" if theirs or listed else remedies.NONBLOCKING


def _turning(dumps: ThreadDumps) -> tuple[JavaThread, ThreadDump, str, int] | None:
    for dump in dumps.dumps[-1:]:
        for thread in dump.threads:
            counts = Counter(f.name for f in thread.frames if f.name in _GOT)
            for frame, times in counts.most_common(1):
                if times >= TURNS:
                    return thread, dump, frame, times
    return None
