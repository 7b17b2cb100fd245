"""SS201: a seed source that waits for entropy, found in a file."""

from __future__ import annotations

from collections.abc import Iterator

from seedstall.knowledge.egd import EgdFault
from seedstall.model.finding import Confidence, Disposition, Finding, Severity
from seedstall.model.kernel import KernelRandom
from seedstall.model.rule import rule
from seedstall.model.settings import Settings
from seedstall.model.verdict import Cause
from seedstall.rules.lint import line
from seedstall.rules.lint.seedvalue import SeedValue, seed_values


@rule("SS201", "seed-source-will-block")
def seed_source_will_block(settings: Settings, kernel: KernelRandom | None) -> Iterator[Finding]:
    """A file sets a seed source that makes even ``new SecureRandom()`` read ``/dev/random``.

    ## What it detects
    ``file:///dev/random``, ``file:/dev/./random`` and the like, in ``-Djava.security.egd`` or
    ``securerandom.source``; on JDK 6 and 7 ``file:/dev/random`` too. With ``--kernel`` of a blocking kernel also the
    plain ``file:/dev/random``.

    ## Why it matters
    Only the exact string ``file:/dev/random`` keeps NativePRNG, which draws from ``/dev/urandom``. Any other spelling
    makes SHA1PRNG (up to 8) or DRBG (9 and later) the default generator, seeded from ``/dev/random``: session ids,
    UUIDs and TLS wait wherever that device blocks, which it does on kernels before 5.6.

    ## Fix
    ``file:/dev/urandom`` on JDK 8 and later, ``file:/dev/./urandom`` on 6 and 7.
    """
    for seen in seed_values(settings):
        problem = seen.problem
        if problem is None or seen.windows:
            continue
        if problem.fault is EgdFault.DEFAULT_BLOCKS:
            yield _found(seen, kernel, problem.message)
        elif (
            problem.fault is EgdFault.NO_EFFECT
            and seen.text.endswith("/random")
            and kernel is not None
            and kernel.can_block
        ):
            yield _found(seen, kernel, f"seeds from /dev/random, which blocks on {kernel.release}")


def _found(seen: SeedValue, kernel: KernelRandom | None, why: str) -> Finding:
    blocks = kernel.can_block if kernel is not None else None
    where = {
        True: f"; it blocks on {kernel.release if kernel else ''}",
        False: f"; on {kernel.release if kernel else ''} it does not block after boot",
        None: "; it blocks on kernels before 5.6",
    }[blocks]
    which = line.on_which(seen.span)
    return line.made(
        seen.file,
        seen.start,
        message=f"{seen.setting}={seen.text}, which makes the default generator wait",
        does=f"{seen.setting}={seen.text} {why}{where} ({which})",
        cause=Cause.BLOCKING_SEED,
        severity=Severity.NOTE if blocks is False else Severity.WARNING,
        confidence=Confidence.CONFIRMED if blocks else Confidence.LIKELY,
        fixes=line.corrected(
            seen.file,
            seen.edits(line.better(seen.text, seen.span)),
            "seed from /dev/urandom",
            Disposition.REVIEW,
        ),
        notes=line.unknown_note(seen.span),
    )
