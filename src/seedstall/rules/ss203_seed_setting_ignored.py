"""SS203: a setting meant to cure the stall that does nothing here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from seedstall.knowledge.egd import EgdFault, egd_problem
from seedstall.knowledge.products import BY_KEY
from seedstall.knowledge.seeding import right_egd
from seedstall.knowledge.seedsettings import CARRIERS, EGD, slip
from seedstall.model.finding import Confidence, Evidence, Finding, Fix, Severity
from seedstall.model.jdk import JdkVersion
from seedstall.model.jvm import Launch, Product
from seedstall.model.kernel import KernelRandom
from seedstall.model.redact import redact, visible
from seedstall.model.rule import rule
from seedstall.model.security import FipsSetup, SeedSettings
from seedstall.model.seeding import Algorithm, Instance, SeedRole, SeedSetting, SeedSource
from seedstall.model.verdict import Cause, Status
from seedstall.model.waits import SeedEvidence
from seedstall.rules import seed_remedies as remedies
from seedstall.rules.seed_account import Surroundings

MAX_FINDINGS = 20
EXTRA = "java.security.properties"


class _Case(NamedTuple):
    """What all checks look at."""

    settings: SeedSettings
    jdk: JdkVersion | None
    product: Product | None
    seeds: SeedEvidence | None
    fips: FipsSetup | None
    harmless: bool
    """The kernel's device does not block, and no thread waits: nothing is lost by a setting without effect."""

    @property
    def launch(self) -> Launch | None:
        """The command line."""
        return self.settings.launch

    @property
    def source(self) -> SeedSource | None:
        """The effective seed source."""
        return self.settings.source

    @property
    def explicit(self) -> bool:
        """Whether somebody set the effective source on a command line or in a variable."""
        return self.source is not None and self.source.setting in (
            SeedSetting.EGD,
            SeedSetting.GIVEN,
        )

    @property
    def cured(self) -> bool:
        """Whether the source that counts is known not to block: what is lost beside it is a leftover."""
        if self.source is None or self.source.assumed or self.jdk is None:
            return False
        return _cures(self.source.value, self.jdk)


class _Ignored(NamedTuple):
    """One setting of no effect."""

    text: str
    place: str
    why: str
    severity: Severity = Severity.WARNING
    confidence: Confidence = Confidence.LIKELY
    cause: Cause = Cause.INEFFECTIVE_FIX
    strong: bool = False


@rule("SS203", "seed-setting-ignored")
def seed_setting_ignored(
    settings: SeedSettings,
    jdk: JdkVersion | None,
    product: Product | None,
    kernel: KernelRandom | None,
    seeds: SeedEvidence | None,
    fips: FipsSetup | None = None,
) -> Iterator[Finding]:
    """A setting that is meant to choose the seed source, and that has no effect.

    ## What it detects
    ``-Djava.security.egd`` behind the main class or the jar (a program argument then); ``java.security.edg`` and other
    slips of the pen; ``-Dsecurerandom.source`` (a security property, no system property); ``file:/dev/urandom`` on
    JDK 6 and 7, which read ``/dev/random`` all the same; the flag in a variable that this JVM was not handed
    (``JAVA_OPTS``) or passes over (``JDK_JAVA_OPTIONS`` before 9; on 8 more than 1023 bytes or 64 options); the flag
    beaten by another; any value where the wait is ``getInstanceStrong()``'s; a properties file that is not there.

    ## Why it matters
    The stall stays, and everybody believes it cured.

    ## Fix
    The flag in the place where this program's JVM flags persist, with the value that is right for its JDK.
    """
    waits = seeds is not None and any(w.role is SeedRole.READING for w in seeds.waits)
    harmless = kernel is not None and kernel.can_block is False and not waits
    case = _Case(settings, jdk, product, seeds, fips, harmless)
    checks = (_misplaced, _misnamed, _without_effect, _not_handed_over, _beaten, _strong, _files)
    count = 0
    for check in checks:
        for ignored in check(case):
            if count < MAX_FINDINGS:
                yield _finding(ignored, case)
            count += 1


def _name_of(word: str) -> str:
    """The property that a ``-Dname=value`` sets; ``""`` for another word."""
    return word[2:].partition("=")[0] if word.startswith("-D") else ""


def _meant(word: str) -> bool:
    """Whether a word is meant to choose the seed source."""
    name = _name_of(word)
    return bool(name) and (name == EGD or slip(name) is not None)


def _misplaced(case: _Case) -> Iterator[_Ignored]:
    launch = case.launch
    if launch is None:
        return
    for word in launch.misplaced:
        if not _meant(word):
            continue
        if launch.tool:
            why = f"{launch.tool} hands only what begins with -J to its JVM: write -J{word}"
            yield _Ignored(word, "command line", why)
        elif _reads_d(case):
            why = (
                "the program sets this property itself once it runs: it counts only if nothing has asked for random"
                " bytes by then"
            )
            yield _Ignored(word, "command line", why, Severity.NOTE, Confidence.POSSIBLE)
        else:
            after = launch.jar or launch.main_class or launch.module
            why = f"it stands behind {after}, so it is an argument of the program and no option of the JVM"
            yield _Ignored(word, "command line", why)


def _reads_d(case: _Case) -> bool:
    row = BY_KEY.get(case.product.key) if case.product is not None else None
    return row is not None and row.reads_d


def _misnamed(case: _Case) -> Iterator[_Ignored]:
    for option in case.launch.options if case.launch is not None else ():
        found = slip(_name_of(option.text)) if option.text.startswith("-D") else None
        if found is not None:
            why = f"{found.name} {found.why}"
            yield _Ignored(option.text, option.place, why)


def _without_effect(case: _Case) -> Iterator[_Ignored]:
    """``file:/dev/urandom`` on 6 and 7; ``file:/dev/random`` on 8 and later, which is what holds anyway."""
    if case.source is None or not case.explicit or case.jdk is None:
        return
    problem = egd_problem(case.source.value, case.jdk)
    if problem is not None and problem.fault is EgdFault.NO_EFFECT:
        text = f"-D{EGD}={case.source.value}"
        yield _Ignored(text, case.source.place, problem.message)


def _not_handed_over(case: _Case) -> Iterator[_Ignored]:
    """The flag in a variable that nobody put on this command line, or that the JVM passes over."""
    variables, launch = case.settings.environment, case.launch
    if variables is None or launch is None or launch.truncated or launch.unread_files:
        return
    passed_over = dict(launch.ignored)
    for name, why in passed_over.items():
        for word in _flags(variables.get(name, "")):
            if not _arrived(word, launch):
                yield _Ignored(word, f"environ {name}", why)
    for name in CARRIERS:
        for word in _flags(variables.get(name, "")):
            if not _arrived(word, launch):
                why = f"no JVM reads {name}, and what started this one did not pass it on"
                yield _Ignored(word, f"environ {name}", why)


def _flags(text: str) -> list[str]:
    """The words of a variable that set the seed source."""
    if EGD not in text and "securerandom" not in text.lower():
        return []
    return [word.strip("\"'") for word in text.split() if _meant(word.strip("\"'"))][:MAX_FINDINGS]


def _arrived(word: str, launch: Launch) -> bool:
    return any(option.text == word for option in launch.options) or word in launch.misplaced


def _beaten(case: _Case) -> Iterator[_Ignored]:
    """Another ``-Djava.security.egd`` than the one that counts."""
    source, launch = case.source, case.launch
    if source is None or launch is None or source.setting is not SeedSetting.EGD:
        return
    told: set[str] = set()
    for option in launch.options:
        value = option.text.partition("=")[2]
        if _name_of(option.text) != EGD or value in (source.value, "") or value in told:
            continue
        told.add(value)
        cures = _cures(value, case.jdk) and not _cures(source.value, case.jdk)
        why = f"{source.value!r} at {source.place} is stronger"
        severity = Severity.WARNING if cures else Severity.NOTE
        yield _Ignored(option.text, option.place, why, severity)


def _cures(value: str, jdk: JdkVersion | None) -> bool:
    problem = egd_problem(value, jdk, readable=True)
    return problem is None or problem.cures is True


def _strong(case: _Case) -> Iterator[_Ignored]:
    """``java.security.egd`` while a thread waits in what ignores it."""
    if case.source is None or not case.explicit or case.seeds is None:
        return
    for wait in case.seeds.waits:
        stack = wait.stack
        if wait.role is not SeedRole.READING or stack is None:
            continue
        if stack.instance is Instance.STRONG or stack.algorithm is Algorithm.NATIVE_PRNG_BLOCKING:
            why = (
                "getInstanceStrong() and NativePRNGBlocking read /dev/random whatever it says;"
                " securerandom.strongAlgorithms chooses their device"
            )
            text = f"-D{EGD}={case.source.value}"
            yield _Ignored(text, case.source.place, why, strong=True)
            return


def _files(case: _Case) -> Iterator[_Ignored]:
    """What the merge of the security properties found."""
    properties = case.settings.properties
    if properties is None:
        return
    option = case.launch.last_property(EXTRA) if case.launch else None
    place = option.place if option is not None else properties.master
    text = option.text if option is not None else properties.master
    if properties.fatal:
        yield _Ignored(text, place, properties.fatal, cause=Cause.PROVIDER_CONFIG)
    for problem in properties.problems:
        yield _Ignored(text, place, problem, confidence=Confidence.POSSIBLE)


def _finding(ignored: _Ignored, case: _Case) -> Finding:
    text = visible(redact(ignored.text))[:200]
    why, place = visible(ignored.why), visible(ignored.place)
    breaks = ignored.cause is not Cause.INEFFECTIVE_FIX
    severity = ignored.severity
    if not _matters(ignored, case):
        severity = min(severity, Severity.NOTE)
    does = "breaks the providers" if breaks else "has no effect here"
    return Finding(
        message=f"a setting that {does}: {text}",
        sentence=f"{text} ({place}) {does}: {why}",
        cause=ignored.cause,
        status=Status.AT_RISK if severity >= Severity.WARNING else Status.CLEAR,
        severity=severity,
        confidence=ignored.confidence,
        evidence=(Evidence(origin=place, excerpt=text),),
        fixes=_fixes(ignored, case),
        notes=tuple(_notes(ignored, case)),
    )


def _matters(ignored: _Ignored, case: _Case) -> bool:
    """Whether anything is lost by its having no effect: not where the device never blocks, nor beside a cure."""
    if ignored.strong or ignored.cause is not Cause.INEFFECTIVE_FIX:
        return True
    return not case.harmless and not case.cured


def _fixes(ignored: _Ignored, case: _Case) -> tuple[Fix, ...]:
    if ignored.strong:
        around = Surroundings(fips=case.fips)
        return () if remedies.strong_refused(None, around) else (remedies.strong(),)
    if ignored.cause is not Cause.INEFFECTIVE_FIX:
        return ()
    if not _matters(ignored, case):
        if not ignored.text.startswith("-D"):
            return ()
        why = "this kernel's /dev/random does not block" if case.harmless else "it is a leftover"
        return (remedies.remove_flag(ignored.text, ignored.place, f"it does nothing, and {why}"),)
    return remedies.egd_fixes(None, case.jdk, case.product)


def _notes(ignored: _Ignored, case: _Case) -> Iterator[str]:
    if ignored.cause is not Cause.INEFFECTIVE_FIX:
        yield f"append with a single equals sign (-D{EXTRA}=FILE) instead of replacing the whole file"
    elif ignored.strong:
        return
    elif case.harmless:
        yield "on this kernel /dev/random does not block after boot: the setting is not needed and can go"
    elif case.cured and case.source is not None:
        yield f"the source that counts, {visible(case.source.value)!r}, does not block: this is a leftover"
    else:
        yield right_egd(case.jdk).why
        if case.product is not None and case.product.flags:
            name = visible(case.product.title)[:60]
            yield f"where the JVM flags of {name} persist: {case.product.flags}"
