"""SS202: a seed source that the JDK cannot open, found in a file."""

from __future__ import annotations

from collections.abc import Iterator

from seedstall.knowledge.egd import EgdFault
from seedstall.knowledge.seedsource import Target, destination, is_special
from seedstall.model.finding import Confidence, Disposition, Finding, Severity
from seedstall.model.rule import rule
from seedstall.model.settings import Settings
from seedstall.model.verdict import Cause
from seedstall.rules.lint import line
from seedstall.rules.lint.seedvalue import SeedValue, seed_values

_KINDS: dict[EgdFault, tuple[Cause, Severity, Confidence]] = {
    EgdFault.REFUSED: (Cause.PROVIDER_CONFIG, Severity.ERROR, Confidence.CONFIRMED),
    EgdFault.NO_RANDOMNESS: (Cause.HARMFUL_FIX, Severity.ERROR, Confidence.CONFIRMED),
    EgdFault.QUOTED: (Cause.THREADED_SEED, Severity.WARNING, Confidence.CONFIRMED),
    EgdFault.NO_SCHEME: (Cause.THREADED_SEED, Severity.WARNING, Confidence.CONFIRMED),
    EgdFault.NO_HANDLER: (Cause.THREADED_SEED, Severity.WARNING, Confidence.CONFIRMED),
    EgdFault.NO_SUCH_FILE: (Cause.THREADED_SEED, Severity.WARNING, Confidence.LIKELY),
    EgdFault.RELATIVE: (Cause.THREADED_SEED, Severity.WARNING, Confidence.LIKELY),
    EgdFault.REMOTE: (Cause.THREADED_SEED, Severity.NOTE, Confidence.POSSIBLE),
    EgdFault.OTHER_DEVICE: (Cause.THREADED_SEED, Severity.NOTE, Confidence.POSSIBLE),
}


@rule("SS202", "seed-url-broken")
def seed_url_broken(settings: Settings) -> Iterator[Finding]:
    """A file sets a seed source that the JDK cannot open.

    ## What it detects
    No ``file:`` before the path, a misspelled device (``file:/dev/.urandom``), quotation marks inside the value, a
    host in the URL (``file://dev/urandom``), ``/dev/zero``; on Windows every spelling of the devices but the two
    exact ones.

    ## Why it matters
    The JDK falls back to its threaded seeder: 5.0 to 5.8 s (SHA1PRNG) or 8.0 to 8.7 s (DRBG) at every start, on every
    kernel, and no entropy cures it. A host in the URL leaves JDK 8 and later without any SecureRandom.

    ## Fix
    ``file:/dev/urandom`` on JDK 8 and later, ``file:/dev/./urandom`` on 6 and 7. On Windows leave the setting out.
    """
    for seen in seed_values(settings):
        if seen.windows and _lost_on_windows(seen):
            yield _on_windows(seen)
        elif (
            seen.problem is not None
            and seen.problem.fault in _KINDS
            and destination(seen.text).target is not Target.RANDOM_LIKE
        ):
            yield _found(seen)


def _found(seen: SeedValue) -> Finding:
    assert seen.problem is not None  # noqa: S101 - asked before
    fault = seen.problem.fault
    cause, severity, confidence = _KINDS[fault]
    if fault is EgdFault.REFUSED and line.old_only(seen.span):
        cause, severity = Cause.THREADED_SEED, Severity.WARNING
    new = line.better(seen.text, seen.span, windows=seen.windows)
    sure = severity >= Severity.WARNING
    return line.made(
        seen.file,
        seen.start,
        message=f"{seen.setting}={seen.text}, which cannot be opened"
        if sure
        else f"{seen.setting}={seen.text}",
        does=f"{seen.setting}={seen.text}: {seen.problem.message} ({line.on_which(seen.span)})",
        cause=cause,
        severity=severity,
        confidence=confidence,
        fixes=line.corrected(
            seen.file, seen.edits(new), f"{seen.setting}={new}", line.disposition(seen.span)
        )
        if sure
        else (),
        notes=line.unknown_note(seen.span) if sure else (),
    )


def _lost_on_windows(seen: SeedValue) -> bool:
    """Windows knows the two strings themselves (and asks its own generator); every other path is a file it has not."""
    ends = destination(seen.text).target
    return not is_special(seen.text) and ends not in (Target.EMPTY, Target.REMOTE)


def _on_windows(seen: SeedValue) -> Finding:
    new = line.better(seen.text, seen.span, windows=True)
    return line.made(
        seen.file,
        seen.start,
        message=f"{seen.setting}={seen.text} on Windows",
        does=(
            f"{seen.setting}={seen.text} names a file that Windows does not have, and is not one of the two strings"
            f" that the JDK takes for its own generator there: it falls back to the threaded seeder, 5 to 9 s at every"
            f" start (JDK-8293326; {line.on_which(seen.span)})"
        ),
        cause=Cause.THREADED_SEED,
        confidence=Confidence.LIKELY,
        fixes=line.corrected(seen.file, seen.edits(new), f"{seen.setting}={new}", Disposition.SAFE),
        notes=("Windows has no /dev/random that blocks: the setting can go",),
    )
