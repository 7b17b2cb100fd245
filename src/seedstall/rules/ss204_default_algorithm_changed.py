"""SS204: a seed source that cures the stall and changes the default generator with it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from seedstall.knowledge.seeding import (
    behaviour,
    default_algorithm,
    right_egd,
    shipped_source,
)
from seedstall.knowledge.seedsettings import EGD
from seedstall.model.finding import Confidence, Disposition, Finding, Fix, Severity
from seedstall.model.jdk import LAST_ONE_DOT, JdkVersion
from seedstall.model.jvm import Product
from seedstall.model.kernel import KernelRandom
from seedstall.model.redact import redact, visible
from seedstall.model.rule import rule
from seedstall.model.security import KnownSource, SeedFile
from seedstall.model.seeding import Device, Instance, Operation, SeedSetting, SeedSource
from seedstall.model.verdict import Cause, Status
from seedstall.rules import seed_account as account
from seedstall.rules import seed_remedies as remedies


@rule("SS204", "default-algorithm-changed")
def default_algorithm_changed(
    known: KnownSource,
    jdk: JdkVersion,
    file: SeedFile | None,
    product: Product | None,
    kernel: KernelRandom | None = None,
) -> Iterator[Finding]:
    """The spelling of the seed source makes another generator the default.

    ## What it detects
    On JDK 8 and later an effective seed source that is neither ``file:/dev/random`` nor ``file:/dev/urandom`` to the
    letter, and that can be read: ``file:/dev/./urandom``, ``file:///dev/urandom``, capitals, a trailing blank. Not on 6
    and 7, where the change is the cure.

    ## Why it matters
    It does cure the stall. But ``new SecureRandom()`` is then SHA1PRNG on 8 and DRBG from 9 on instead of NativePRNG:
    it is seeded once and not fed again, threads share its lock, and a compliance list may name another algorithm.

    ## Fix
    ``-Djava.security.egd=file:/dev/urandom``: from JDK 8 on the plain form works (JDK-6425477) and keeps NativePRNG.
    """
    source = known.source
    if jdk.feature < LAST_ONE_DOT:
        return
    now = default_algorithm(jdk, source.value)
    usual = default_algorithm(jdk, shipped_source(jdk))
    if now is usual:
        return
    if file is not None and file.kind in ("a file", "a FIFO", "a socket"):
        return
    readable = file.readable if file is not None else None
    told = behaviour(jdk, source.value, Instance.DEFAULT, Operation.NEXT_BYTES, readable=readable)
    # Broken ones and fixed files are SS202's, those that block SS201's.
    if told.algorithm is not now or told.device not in (Device.URANDOM, Device.OTHER):
        return
    around = account.Surroundings(source=source, jdk=jdk)
    yield Finding(
        message=f"{now} as the default generator instead of {usual}",
        sentence=(
            f"the seed source {visible(redact(source.value))!r} ({visible(source.place)}) does not block, and"
            f" makes {now} the default generator of JDK {jdk.feature} instead of {usual}"
        ),
        cause=Cause.HARMFUL_FIX,
        status=Status.CLEAR,
        severity=Severity.NOTE,
        confidence=Confidence.POSSIBLE if told.doubt else Confidence.LIKELY,
        evidence=tuple(account.source_evidence(around)),
        fixes=_fixes(source, jdk, kernel, product, now=str(now), usual=str(usual)),
        notes=(right_egd(jdk).why, *filter(None, (told.doubt,))),
    )


def _fixes(
    source: SeedSource,
    jdk: JdkVersion,
    kernel: KernelRandom | None,
    product: Product | None,
    *,
    now: str,
    usual: str,
) -> tuple[Fix, ...]:
    """Where the kernel's device does not block, the flag can go; a line of a file is put right, and so it is elsewhere.

    Either way the default generator changes back: a person decides.
    """
    if kernel is not None and kernel.can_block is False and source.setting is SeedSetting.EGD:
        why = f"this kernel's /dev/random does not block, and it makes {now} the default instead of {usual}"
        return (remedies.remove_flag(f"-D{EGD}={source.value}", source.place, why),)
    return tuple(
        replace(fix, disposition=Disposition.REVIEW)
        for fix in remedies.egd_fixes(None, jdk, product)
    )
