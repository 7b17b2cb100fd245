"""SS204: a seed source that cures the wait and changes the default generator, found in a file."""

from __future__ import annotations

from collections.abc import Iterator

from seedstall.knowledge.egd import EgdFault
from seedstall.model.finding import Confidence, Disposition, Finding, Severity
from seedstall.model.rule import rule
from seedstall.model.settings import Settings
from seedstall.model.verdict import Cause
from seedstall.rules.lint import line
from seedstall.rules.lint.seedvalue import SeedValue, seed_values

_FAULTS = (EgdFault.CHANGES_DEFAULT, EgdFault.CASE, EgdFault.BLANK)


@rule("SS204", "default-algorithm-changed")
def default_algorithm_changed(settings: Settings) -> Iterator[Finding]:
    """A file sets a seed source that cures the wait, and makes another generator the default.

    ## What it detects
    ``file:/dev/./urandom``, ``file:///dev/urandom``, capitals, a blank or a carriage return at the end, on JDK 8 and
    later.

    ## Why it matters
    It cures the stall. But the JDK compares literally: such a value makes SHA1PRNG (8) or DRBG (9 and later) the
    default generator instead of NativePRNG. Where the JDK is 6 or 7 the ``/./`` form is the right one.

    ## Fix
    ``file:/dev/urandom`` on JDK 8 and later.
    """
    for seen in seed_values(settings):
        if seen.problem is not None and seen.problem.fault in _FAULTS and not seen.windows:
            yield _found(seen)


def _carriage(text: str) -> tuple[str, ...]:
    if "\r" not in text:
        return ()
    return (
        "the file has Windows line ends, and a shell takes the carriage return for part of the value",
    )


def _found(seen: SeedValue) -> Finding:
    assert seen.problem is not None  # noqa: S101 - asked before
    known = line.version(seen.span) is not None
    shown = seen.text.encode("unicode_escape").decode("ascii", "replace")
    new = line.better("", seen.span)
    where = line.on_which(seen.span) if known else "on JDK 8 and later; on 6 and 7 it is right"
    return line.made(
        seen.file,
        seen.start,
        message=f"{seen.setting}={shown}, which changes the default generator",
        does=f"{seen.setting}={shown}: {seen.problem.message} ({where})",
        cause=Cause.HARMFUL_FIX,
        severity=Severity.NOTE,
        confidence=Confidence.CONFIRMED if known else Confidence.POSSIBLE,
        fixes=line.corrected(
            seen.file,
            seen.edits(new),
            f"{seen.setting}={new}",
            Disposition.SAFE if known else Disposition.REVIEW,
        ),
        notes=(*_carriage(seen.text), *line.unknown_note(seen.span)),
    )
