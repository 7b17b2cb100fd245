"""What a series of trials says: the sentence, the exit code's ground, and what must be told beside the table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from seedstall.knowledge.egd import STRONG_NONBLOCKING, EgdFault, egd_problem
from seedstall.knowledge.seeding import behaviour, effective_source
from seedstall.model.jdk import JdkVersion
from seedstall.model.kernel import KernelRandom
from seedstall.model.seeding import Device, Instance, Operation
from seedstall.model.trial import (
    FIX,
    PRESENT,
    STRONG,
    Account,
    Outcome,
    Question,
    Series,
    Setting,
    Trial,
    Use,
)
from seedstall.model.verdict import Status
from seedstall.parse.jdkversion import jdk_version

STRONG_OPTION = f"securerandom.strongAlgorithms={STRONG_NONBLOCKING}"
USES = (
    Use(Instance.DEFAULT, Operation.NEXT_BYTES),
    Use(Instance.DEFAULT, Operation.GENERATE_SEED),
    Use(Instance.SHA1PRNG, Operation.NEXT_BYTES),
    Use(Instance.DRBG, Operation.NEXT_BYTES),
    Use(Instance.STRONG, Operation.NEXT_BYTES),
)
"""What programs do: UUIDs and TLS; ThreadLocalRandom and old SSH libraries; Tomcat and jarsigner; DRBG; and those that
ask for the strong one."""
EVERY_USE = tuple(
    dict.fromkeys(
        (
            *USES,
            Use(Instance.DEFAULT, Operation.SET_SEED),
            Use(Instance.STRONG, Operation.GENERATE_SEED),
            Use(Instance.SHA1PRNG, Operation.GENERATE_SEED),
            Use(Instance.NATIVE_PRNG, Operation.GENERATE_SEED),
        )
    )
)
WAITS = (Outcome.BLOCKS, Outcome.DELAYED)
FAULTY = (*WAITS, Outcome.THROWS)
OPEN = (Outcome.FAILED, Outcome.NOT_COVERED)


def questions(settings: Sequence[Setting], uses: Sequence[Use]) -> tuple[Question, ...]:
    """The cells: each use under each setting; the strong list for the strong instance alone."""
    return tuple(
        Question(use, setting.name)
        for setting in settings
        for use in uses
        if setting.name != STRONG or use.instance is Instance.STRONG
    )


def told(settings: Sequence[Setting], series: Series) -> tuple[Setting, ...]:
    """The settings with the present one in words, where only the JVM itself could say what it is."""
    said = next((t.said for t in series.trials if t.said and t.question.setting == PRESENT), None)
    source = (said or {}).get("source")
    words = f"securerandom.source={source}" if source else "no securerandom.source"
    words = words if said is not None else "the JDK's own"
    return tuple(s if s.words else s._replace(words=words) for s in settings)


def account(
    series: Series,
    settings: Sequence[Setting],
    *,
    asked_for: Sequence[Use] = (),
    kernel: KernelRandom | None = None,
) -> Account:
    """Judge the trials. *asked_for* are the uses that the user named: else the strong instance does not count.

    No value of egd reaches getInstanceStrong(), so hardly any JVM could ever be proven: programs that want it are few.
    """
    known = {setting.name: setting for setting in settings}
    counted = [
        t for t in series.trials if asked_for or t.question.use.instance is not Instance.STRONG
    ]
    before = [t for t in counted if t.question.setting == PRESENT]
    after, fix = _with_the_fix(counted, known)
    differences = tuple(d for t in series.trials if (d := difference(t, known[t.question.setting])))
    strong = [t for t in series.trials if t.question.use.instance is Instance.STRONG]
    notes = (
        *_strong_note(strong, counts=bool(asked_for)),
        *_changed_default(series),
        *_poor_sources(series, settings),
        *_lacking(series),
        *_kernel_note(kernel, counted),
    )
    besides = not asked_for and any(
        t.outcome is Outcome.BLOCKS for t in strong if t.question.setting == PRESENT
    )
    present = f"with the present setting ({known[PRESENT].words})"
    sentence = _sentence(present, before, fix, after, besides=besides)
    return Account(
        f"{sentence}: {_measured(series)}", _status([*before, *after]), notes, differences
    )


def _with_the_fix(counted: Sequence[Trial], known: dict[str, Setting]) -> tuple[list[Trial], str]:
    """What was tried with the fix, and the fix in words: of the strong instance the list is the fix, and no egd."""
    after = [
        t
        for t in counted
        if t.question.setting == (STRONG if t.question.use.instance is Instance.STRONG else FIX)
    ]
    egd = any(t.question.setting == FIX for t in after)
    listed = any(t.question.setting == STRONG for t in after)
    words = [known[FIX].words] if egd else []
    return after, " and ".join([*words, STRONG_OPTION] if listed else words)


def _status(trials: Sequence[Trial]) -> Status:
    if any(t.outcome in FAULTY for t in trials):
        return Status.AT_RISK
    if any(t.outcome in OPEN for t in trials) or not any(
        t.outcome is Outcome.GOES_ON for t in trials
    ):
        return Status.UNKNOWN
    return Status.CLEAR


# --- the sentence -----------------------------------------------------------------------------------------------------


def _sentence(
    present: str, before: Sequence[Trial], fix: str, after: Sequence[Trial], *, besides: bool
) -> str:
    """The answer. *besides* is whether the strong instance, which does not count, waits."""
    still = [t for t in after if t.outcome in FAULTY]
    waiting = [t for t in before if t.outcome in FAULTY]
    if not waiting:
        but = " but getInstanceStrong()" if besides else ""
        worse = f"; with {fix} {_what_waits(still)}" if still else ""
        return f"{present} {_nothing_waits(before, but)}{worse}"
    told = f"{present} {_what_waits(waiting)}"
    if not after:
        return told
    uses = {t.question.use for t in waiting}
    if still:
        end = "still" if all(t.question.use in uses for t in still) else "as well"
        return f"{told}; with {fix} {_what_waits(still)} {end}"
    if any(t.outcome in OPEN for t in after if t.question.use in uses):
        return f"{told}; with {fix} it could not be measured"
    return f"{told}; with {fix} {'it does' if len(waiting) == 1 else 'they do'} not"


def _what_waits(waiting: Sequence[Trial]) -> str:
    blocks = [t for t in waiting if t.outcome is Outcome.BLOCKS]
    delayed = [t for t in waiting if t.outcome is Outcome.DELAYED]
    failing = [t for t in waiting if t.outcome is Outcome.THROWS]
    parts: list[str] = []
    if failing:
        verb = "fails" if len(failing) == 1 else "fail"
        parts.append(f"{_names(failing)} {verb} ({failing[0].why.partition(':')[0]})")
    if blocks:
        one = len(blocks) == 1
        parts.append(
            f"{_names(blocks)} {'reads' if one else 'read'} /dev/random and {'blocks' if one else 'block'}"
        )
    if delayed:
        longest = max(t.ms or 0 for t in delayed) / 1000
        one = len(delayed) == 1
        parts.append(
            f"{_names(delayed)} {'takes' if one else 'take'} {longest:.1f} s in the threaded seeder"
            " (no device is read: more entropy would not help)"
        )
    return " and ".join(parts)


def _names(trials: Sequence[Trial]) -> str:
    names = [str(t.question.use) for t in trials]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _nothing_waits(trials: Sequence[Trial], but: str) -> str:
    going = [t for t in trials if t.outcome is Outcome.GOES_ON]
    left = [t for t in trials if t.outcome in OPEN]
    if not going:
        return "nothing could be measured"
    told = f"nothing{but} waits for /dev/random"
    return f"{told} that could be tried (not {_names(left)})" if left else told


def _measured(series: Series) -> str:
    said = next((t.said for t in series.trials if t.said), None)
    java = said.get("java", "") if said else ""
    on = f" on {java}" if java else ""
    return f"measured{on} in {series.seconds:.1f} s"


# --- beside the table -------------------------------------------------------------------------------------------------


def _strong_note(strong: Sequence[Trial], *, counts: bool) -> Iterator[str]:
    outcome = {t.question.setting: t.outcome for t in strong}
    if Outcome.BLOCKS not in (outcome.get(PRESENT), outcome.get(FIX)):
        return
    cured = outcome.get(STRONG)
    end = {
        Outcome.GOES_ON: f"with {STRONG_OPTION} it does not, which was tried",
        Outcome.BLOCKS: f"with {STRONG_OPTION}, appended, it blocks, too: is security.overridePropertiesFile off?",
    }.get(cured or Outcome.NOT_COVERED, f"only {STRONG_OPTION} would cure it")
    aside = "" if counts else ". It does not count here unless --only strong names it"
    yield f"getInstanceStrong() blocks whatever java.security.egd says; {end}{aside}"


def _changed_default(series: Series) -> Iterator[str]:
    algorithms = {
        t.question.setting: t.algorithm
        for t in series.trials
        if t.question.use.instance is Instance.DEFAULT and t.algorithm
    }
    before, after = algorithms.get(PRESENT), algorithms.get(FIX)
    if before and after and before != after:
        yield f"new SecureRandom() is {before} now, and {after} with the fix"


def _poor_sources(series: Series, settings: Sequence[Setting]) -> Iterator[str]:
    """What a seed source is that delays or breaks, and one that holds no randomness: that is quick, and no seed."""
    jdk = next((v for t in series.trials if (v := version_of(t)) is not None), None)
    poor = {
        t.question.setting for t in series.trials if t.outcome in (Outcome.DELAYED, Outcome.THROWS)
    }
    for setting in settings:
        told = next(
            (t.said for t in series.trials if t.said and t.question.setting == setting.name), None
        )
        source = setting.egd or setting.source or (told or {}).get("source") or ""
        if setting.name == STRONG or not source:
            continue
        problem = egd_problem(source, jdk)
        if problem is None:
            continue
        if setting.name in poor or problem.fault is EgdFault.NO_RANDOMNESS:
            yield f"{setting.name}: {source}: {problem.message}"


def _lacking(series: Series) -> Iterator[str]:
    """Providers of the program's own. Of the JDK's a small image lacks some, and then its program does, too."""
    told = next((t.said["lacking"] for t in series.trials if t.said and t.said.get("lacking")), "")
    lacking = [n for n in told.split(",") if n and not n.startswith(_OF_THE_JDK)]
    if lacking:
        yield (
            f"java.security names providers that this java has not itself: {', '.join(lacking)}. A program that brings"
            " them may get another generator than was measured here."
        )


_OF_THE_JDK = ("Sun", "Jdk", "XMLDSig", "Apple", "sun.", "com.sun.")


def _kernel_note(kernel: KernelRandom | None, counted: Sequence[Trial]) -> Iterator[str]:
    if kernel is None or not any(t.outcome is Outcome.BLOCKS for t in counted):
        return
    release = kernel.release or "this kernel"
    if kernel.can_block is True:
        yield f"this host's kernel ({release}) does block: what blocks here will block there when the pool is low"
    elif kernel.can_block is False:
        yield (
            f"this host's own kernel ({release}) does not block once it is booted: here the setting costs nothing;"
            " on one before 5.6 it does"
        )
    else:
        yield f"whether this host's own kernel ({release}) blocks is not known: seedstall kernel"


def version_of(trial: Trial) -> JdkVersion | None:
    """The JDK, by its own word."""
    if not trial.said or not trial.said.get("java"):
        return None
    try:
        return jdk_version(f"java.version={trial.said['java']}")
    except ValueError:
        return None


def difference(trial: Trial, setting: Setting) -> str:
    """Where a trial and the tables disagree, in one line; ``""`` where they agree or cannot be compared.

    Under an egd that names our FIFO the source is another string, and a file nobody knows: nothing is compared.
    """
    jdk = version_of(trial)
    if (
        trial.outcome in (*OPEN, Outcome.THROWS)
        or jdk is None
        or trial.said is None
        or setting.name == STRONG
    ):
        return ""
    said = trial.said
    egd = said.get("egd")
    if egd is not None and egd != setting.egd:
        return ""
    use = trial.question.use
    source = effective_source(egd, said.get("source"))
    table = behaviour(jdk, source, use.instance, use.operation, strong=said.get("strong"))
    if table.doubt or (table.device is Device.UNKNOWN):
        return ""
    seen = (trial.algorithm.removeprefix("NativePRNG"), trial.device)
    # Only the two devices are watched: a file of the configuration's own is neither.
    device = Device.NONE if table.device is Device.OTHER else table.device
    expected = (str(table.algorithm or "").removeprefix("NativePRNG"), device)
    if seen == expected:
        return ""
    return (
        f"{use}, {setting.words}: measured {trial.algorithm} reading {trial.device}, while seedstall's table for JDK"
        f" {jdk} says {table.algorithm or 'no such generator'} reading {table.device}"
    )
