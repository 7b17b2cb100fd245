"""SS202: the seed source is a URL that the JDK cannot use."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from seedstall.knowledge.egd import EgdFault, EgdProblem, egd_problem
from seedstall.knowledge.seeding import right_egd
from seedstall.knowledge.seedsettings import EGD
from seedstall.model.finding import Confidence, Evidence, Finding, Fix, Severity
from seedstall.model.jdk import JdkVersion
from seedstall.model.jvm import Product
from seedstall.model.kernel import KernelRandom
from seedstall.model.redact import redact, visible
from seedstall.model.rule import rule
from seedstall.model.security import KnownSource, SeedFile
from seedstall.model.seeding import SeedSetting, SeedSource
from seedstall.model.verdict import Cause, Status
from seedstall.rules import seed_account as account
from seedstall.rules import seed_remedies as remedies

BROKEN = frozenset(
    (EgdFault.QUOTED, EgdFault.NO_SCHEME, EgdFault.NO_HANDLER, EgdFault.NO_SUCH_FILE)
)
"""No bytes come from there: the threaded seeder takes over."""
DANGEROUS = frozenset((EgdFault.REFUSED, EgdFault.NO_RANDOMNESS))
DEPENDS = frozenset((EgdFault.REMOTE, EgdFault.RELATIVE, EgdFault.OTHER_DEVICE))
"""Broken if nothing is at the other end."""
DEVICES = ("/dev/random", "/dev/urandom")
"""If one of these is missing, the device is what is wrong, not the URL: SS303 says so."""


@rule("SS202", "seed-url-broken")
def seed_url_broken(
    known: KnownSource,
    file: SeedFile | None,
    jdk: JdkVersion | None,
    product: Product | None,
    kernel: KernelRandom | None = None,
) -> Iterator[Finding]:
    """The seed source cannot be opened, or gives nothing random.

    ## What it detects
    An effective seed source without ``file:`` before the path (``/dev/urandom``), with quotation marks in it, of an
    unknown scheme, that names a file which is not there in the JVM's own root, or none at all; also one that the JDK
    refuses (``file://dev/urandom``), and a file or device that gives the same bytes every time.

    ## Why it matters
    The JDK says nothing and falls back to its threaded seeder: 5.0-5.8 s (SHA1PRNG) or 8.0-8.7 s (DRBG) at every start,
    on every kernel, and more entropy does not help. ``file://dev/urandom`` leaves a JDK from 8 on without any
    SecureRandom.

    ## Fix
    ``-Djava.security.egd=file:/dev/urandom`` (``file:/dev/./urandom`` on JDK 6 and 7), without quotation marks.
    """
    for finding in _findings(known.source, file, jdk):
        yield replace(finding, fixes=_fixes(known.source, jdk, product, kernel))


def _fixes(
    source: SeedSource,
    jdk: JdkVersion | None,
    product: Product | None,
    kernel: KernelRandom | None,
) -> tuple[Fix, ...]:
    """A flag that no start needs on this kernel goes; what stands in a file, or is needed, is put right."""
    if kernel is not None and kernel.can_block is False and source.setting is SeedSetting.EGD:
        why = "this kernel's /dev/random does not block, and the JDK's own default is well"
        return (remedies.remove_flag(f"-D{EGD}={source.value}", source.place, why),)
    return remedies.egd_fixes(None, jdk, product)


def _findings(
    source: SeedSource, file: SeedFile | None, jdk: JdkVersion | None
) -> Iterator[Finding]:
    if source.value == "":
        yield _finding("no seed source is set, so the JDK takes its threaded seeder", source, jdk)
        return
    readable = _readable(file)
    problem = egd_problem(source.value, jdk, readable=readable)
    if file is not None and file.path in DEVICES and readable is False:
        return
    if file is not None and file.there and file.kind == "a file":
        yield _fixed_bytes(file, source, jdk)
    elif problem is not None:
        yield from _of_problem(problem, source, file, jdk)


def _readable(file: SeedFile | None) -> bool | None:
    return file.readable if file is not None else None


def _of_problem(
    problem: EgdProblem,
    source: SeedSource,
    file: SeedFile | None,
    jdk: JdkVersion | None,
) -> Iterator[Finding]:
    text = f"the seed source {visible(redact(source.value))!r} ({visible(source.place)}): {problem.message}"
    if problem.fault in DANGEROUS:
        yield _finding(text, source, jdk, cause=Cause.HARMFUL_FIX, file=file)
    elif problem.fault in BROKEN:
        yield _finding(text, source, jdk, file=file)
    elif problem.fault in DEPENDS:
        readable = _readable(file)
        if readable is False:
            yield _finding(text, source, jdk, file=file)
        elif readable is None:
            yield _finding(text, source, jdk, severity=Severity.NOTE, file=file)


def _fixed_bytes(file: SeedFile, source: SeedSource, jdk: JdkVersion | None) -> Finding:
    what = (
        "is empty: seeding ends in an InternalError"
        if file.empty
        else "is a plain file: every start takes the same bytes as its seed, and keys can be guessed"
    )
    text = f"the seed source {visible(redact(source.value))!r} ({visible(source.place)}): {visible(file.path)} {what}"
    return _finding(text, source, jdk, cause=Cause.HARMFUL_FIX, file=file)


def _finding(
    sentence: str,
    source: SeedSource,
    jdk: JdkVersion | None,
    *,
    cause: Cause = Cause.THREADED_SEED,
    severity: Severity = Severity.WARNING,
    file: SeedFile | None = None,
) -> Finding:
    around = account.Surroundings(source=source)
    sure = severity is Severity.WARNING
    return Finding(
        message="a seed source that the JDK cannot use",
        sentence=sentence,
        cause=cause,
        status=Status.AT_RISK,
        severity=severity,
        confidence=Confidence.LIKELY if sure else Confidence.POSSIBLE,
        evidence=(*account.source_evidence(around), *_looked_at(file)),
        notes=(right_egd(jdk).why,),
    )


def _looked_at(file: SeedFile | None) -> Iterator[Evidence]:
    if file is None:
        return
    if not file.there:
        state = "not there"
    elif file.readable is False:
        state = f"{file.kind}, not readable for the JVM's user"
    else:
        state = file.kind
    yield Evidence(origin=visible(file.path), excerpt=f"{state} (in the JVM's own root)")
