"""From what was named on the command line to cases: which sources make one case, and what may be touched."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from seedstall import rules
from seedstall.cli.console import say
from seedstall.effect.attach import Attacher
from seedstall.engine.case import Known
from seedstall.engine.diagnosis import diagnose_case
from seedstall.engine.host import Roots, host_facts
from seedstall.model.errors import NoSuchTargetError, SeedstallError, UsageError
from seedstall.model.evidence import Missing, Ref, Space, Why
from seedstall.model.report import Action, Failure, Report
from seedstall.source import detect, host, inputs
from seedstall.source.base import Combined, Source
from seedstall.source.detect import Kind, Target

if TYPE_CHECKING:
    from seedstall.source.gathered import Gathered

MANY = 16
"""Files, each a case, that are worth a process for each processor: starting one takes as long as a small file."""
ASKED_AT_ONCE = 3
"""JVMs that one command attaches to unasked."""
SEVERAL = 2


@dataclass(frozen=True, slots=True)
class Said:
    """What the user says that does not stand in the evidence."""

    kernel: str = ""
    jdk: str = ""
    egd: str = ""
    sysroot: str = ""
    """Of a core: where the files of its host lie."""

    def words(self) -> str:
        """The same as options for a shell."""
        said = (
            ("--kernel", self.kernel),
            ("--jdk", self.jdk),
            ("--egd", self.egd),
            ("--sysroot", self.sysroot),
        )
        return "".join(f" {option} {shlex.quote(value)}" for option, value in said if value)

    def source(self) -> Source:
        """The same as readings."""
        return inputs.given(kernel=self.kernel, jdk=self.jdk, egd=self.egd)


@dataclass(frozen=True, slots=True)
class Touch:
    """What may be done to a live target."""

    attach: bool = True
    dry_run: bool = False
    timeout_s: float = 5.0
    insist: bool = False
    """``--attach``: also where several JVMs are meant, and before its memory is read."""
    memory: bool = True
    """Whether its memory may be read."""


@dataclass(frozen=True, slots=True)
class Planned:
    """One case: what it is called, where it is read, and how it may be asked."""

    target: str
    source: Source
    attacher: Attacher | None = None
    words: str = ""
    pid: int | None = None
    """Of a live process."""
    failure: Failure | None = None
    """Why it cannot be looked at: of several, one that cannot does not stop the others."""
    report: Report | None = None
    """Of a script: looked at already, to know whether it is a case at all."""
    live: host.HostSource | None = None
    memory: bool = False
    """Whether the memory of a live process may be read."""
    attach_first: bool = False
    known: Known | None = None
    """Facts of the host that many JVMs share."""
    bundle: Gathered | None = None
    """Of what was gathered elsewhere: opened when it is first read."""
    named: bool = True
    """False for a JVM that was found, below a process or with ``--all``: should it end, nobody asked about it."""

    def actions(self) -> tuple[Action, ...]:
        """What was done to the target so far."""
        asked = self.attacher.actions if self.attacher is not None else ()
        return (*_memory_read(self.live), *asked)


def _memory_read(live: host.HostSource | None) -> Iterator[Action]:
    if live is not None and live.pid is not None and live.memory_reads:
        size, reads = live.memory_bytes, live.memory_reads
        yield Action(
            what=f"read memory of {live.pid}: {size} bytes in {reads} reads, no pause", pid=live.pid
        )


@dataclass(frozen=True, slots=True)
class Plan:
    """All cases of one command. ``many`` is whether they are reported as several."""

    cases: tuple[Planned, ...]
    many: bool = False
    notices: tuple[str, ...] = field(default=())

    @property
    def come_and_go(self) -> bool:
        """Whether some may end while we look and then are no case."""
        return any(not case.named for case in self.cases)


def plan(
    named: Sequence[str],
    said: Said,
    touch: Touch,
    *,
    every_jvm: bool = False,
    one_case: bool = False,
    scripts_too: bool = True,
) -> Plan:
    """The cases that the named targets make. Without *scripts_too* a script leads to its JVMs and is no case itself.

    Raises:
        NoSuchTargetError: a target is not there, or a process is no JVM and has none below it.
    """
    targets = [detect.resolve(name) for name in named]
    folders = [t for t in targets if t.kind is Kind.DIRECTORY]
    handed = [t for t in targets if t.kind in (Kind.FILE, Kind.STDIN)]
    cores = [t for t in targets if t.kind is Kind.CORE]
    bundles = [t for t in targets if t.kind is Kind.BUNDLE]
    trees = [t for t in targets if t.kind is Kind.TREE]
    alone: list[Target] = []
    for folder in folders:
        below = detect.files_below(folder, bundles=True)
        if one_case or len(targets) > 1:
            handed += [t for t in below if t.kind is Kind.FILE]
            bundles += [t for t in below if t.kind is Kind.BUNDLE]
            trees += [t for t in below if t.kind is Kind.TREE]
            cores += [t for t in below if t.kind is Kind.CORE]
        else:
            alone += below
    if said.sysroot and not (cores or any(t.kind is Kind.CORE for t in alone)):
        raise UsageError("--sysroot is of a core, and none is named", "name the core file")
    beside = (inputs.InputSource(handed), said.source())
    pids, scripts, notices = _jvms(
        [t for t in targets if t.kind is Kind.PID], beside if scripts_too else None
    )
    pids += [p for p in host.all_jvms() if p not in pids] if every_jvm else []
    if len(pids) > ASKED_AT_ONCE and not touch.insist:
        # A PID of init or of a session leads to every JVM below it: nobody asked to signal them all.
        touch = replace(touch, attach=False)
        notices.append(f"{len(pids)} JVMs: none of them is attached to (--attach does)")
    found = _all_live(pids, beside, touch, said, alone=not handed)
    named_pids = {t.pid for t in targets}
    found = [replace(case, named=case.pid in named_pids) for case in found]
    found += scripts
    found += [_captured(t, handed, said) for t in trees]
    found += [case for t in bundles for case in _gathered(t, handed, said)]
    found += [_of_core(t, handed, said) for t in cores]
    if handed and not found:
        found.append(_read(handed, said))
    found += [case for t in alone for case in _of_many(t, said)]
    if not found:
        message = f"nothing to look at in {' '.join(named) or 'this host: no JVM runs here'}"
        raise NoSuchTargetError(message)
    return Plan(
        tuple(found),
        many=every_jvm or bool(alone) or len(found) > 1,
        notices=tuple(notices),
    )


def _jvms(
    targets: Sequence[Target], beside: Sequence[Source] | None
) -> tuple[list[int], list[Planned], list[str]]:
    """The JVMs meant: a named one itself, or those below a script, a wrapper or a build tool.

    Besides the scripts that are held up themselves, before there is a JVM or beside it; none without *beside*.
    """
    pids: list[int] = []
    scripts: list[Planned] = []
    notices: list[str] = []
    for target in targets:
        script = None
        try:
            found = detect.jvms_of(target)
        except NoSuchTargetError:
            script = _script(target, beside)
            if script is None:
                raise
            found = ()
        if found and found != (target.pid,) and target.pid is not None:
            script = _script(target, beside)
            notices.append(
                f"{target.pid} ({host.command(target.pid)}) is not a JVM itself;"
                f" below it: {', '.join(map(str, found))}"
            )
        pids += [pid for pid in found if pid not in pids]
        scripts += [script] if script is not None else []
    return pids, scripts, notices


def _script(target: Target, beside: Sequence[Source] | None) -> Planned | None:
    """A process that is no JVM, as a case, if something is found that holds it up; it is read once and for all."""
    if target.pid is None or beside is None:
        return None
    source = Combined(host.HostSource(target.pid, memory_too=False), *beside)
    report = diagnose_case(source, target.name, chosen=rules.OF_SCRIPTS)
    if report.verdict.finding is None:
        return None
    return Planned(target.name, source, memory=False, report=report)


def _read(targets: Sequence[Target], said: Said) -> Planned:
    """Files handed over, as one case."""
    source = Combined(inputs.InputSource(targets), said.source())
    return Planned(" ".join(t.name for t in targets), source, words=_words(targets, said))


def _words(targets: Sequence[Target], said: Said) -> str:
    """The targets as words for a shell; what came by standard input is gone, and is called FILE."""
    names = ("FILE" if t.name == "-" else shlex.quote(t.name) for t in targets)
    return " ".join(names) + said.words()


def _captured(target: Target, handed: Sequence[Target], said: Said) -> Planned:
    """A captured tree with its own logs, and whatever was handed over beside it."""
    texts = inputs.InputSource([*detect.logs_of(target), *handed])
    source = Combined(detect.tree(target), texts, said.source())
    return Planned(target.name, source, words=_words([target, *handed], said))


def _of_core(target: Target, handed: Sequence[Target], said: Said) -> Planned:
    """A core, and whatever was handed over beside it. What the user says of the kernel goes before the core's hint."""
    core = detect.core(target, said.sysroot)
    source = Combined(said.source(), core, inputs.InputSource(handed))
    return Planned(target.name, source, words=_words([target, *handed], said))


def _gathered(target: Target, handed: Sequence[Target], said: Said) -> list[Planned]:
    """What was gathered elsewhere, a case for each JVM in it, and whatever was handed over beside it."""
    from seedstall.source import gathered  # noqa: PLC0415 - only for bundles

    texts = inputs.InputSource(handed)
    found = gathered.opened(target.path, target.member)
    typed = target.name == target.path  # and not by a pipe, which is gone
    names = [one.name if typed and len(found) > 1 else target.name for one in found]
    return [
        Planned(
            one.name,
            Combined(one, texts, said.source()),
            words=_words([replace(target, name=name), *handed], said),
            bundle=one,
        )
        for one, name in zip(found, names, strict=True)
    ]


def _of_many(target: Target, said: Said) -> list[Planned]:
    """A file of a folder, as a case of its own; of a bundle each JVM in it."""
    try:
        if target.kind is Kind.BUNDLE:
            return _gathered(target, [], said)
        if target.kind is Kind.TREE:
            return [_captured(target, [], said)]
        return [_of_core(target, [], said) if target.kind is Kind.CORE else _read([target], said)]
    except SeedstallError as error:
        failed = Failure(target=target.name, error=str(error), hint=error.hint)
        return [Planned(target.name, Combined(), failure=failed)]


def _live(pid: int, beside: Sequence[Source], touch: Touch, said: Said) -> Planned:
    attacher = Attacher(pid, timeout_s=touch.timeout_s, dry_run=touch.dry_run, tell=say)
    live = host.HostSource(
        pid, attacher.ask if touch.attach else None, memory_too=touch.memory and not touch.dry_run
    )
    first = (inputs.given(first="attach"),) if touch.insist else ()
    source = Combined(live, *beside, *first)
    words = f"{pid}{said.words()}"
    return Planned(
        str(pid),
        source,
        attacher if touch.attach else None,
        words,
        pid=pid,
        live=live,
        memory=touch.memory,
        attach_first=touch.insist,
    )


def _all_live(
    pids: Sequence[int], beside: Sequence[Source], touch: Touch, said: Said, *, alone: bool
) -> list[Planned]:
    """The JVMs, each as a case; of several without a file beside them, what they share is found once."""
    found = [_live(pid, beside, touch, said) for pid in pids]
    if len(found) < SEVERAL or not alone:
        return found
    known, roots = host_facts(Combined(host.HostSource(), *beside)), Roots()
    return [replace(case, known=known, source=roots.shared(case.source)) for case in found]


def all_looked_at(
    chosen: Plan, *, detailed: bool = True, bar: bool = False
) -> list[Report | Failure]:
    """The report of each case; *detailed* as in `diagnose_case`. *bar* shows how far it is, on a terminal.

    Of many files, those by an interruption: fewer than were planned.

    JVMs come and go: of those that were found and not named, one that has ended is no case.

    Raises:
        NoSuchTargetError: all of them have ended.
    """
    if len(chosen.cases) >= MANY and all(map(_is_text, chosen.cases)):
        return _side_by_side(chosen, detailed=detailed, bar=bar)
    told: list[Report | Failure] = []
    ended: list[str] = []
    for case in chosen.cases:
        report = looked_at(case, detailed=detailed)
        if not case.named and _has_ended(case, report):
            ended.append(case.target)
        else:
            told.append(report)
        if case.live is not None:
            case.live.close()
    if ended:
        say(f"ended while we looked: {', '.join(ended)}")
    if ended and not told:
        raise NoSuchTargetError("every JVM ended while we looked", "name the PID of one that stays")
    return told


def _is_text(case: Planned) -> bool:
    """Whether it is read from files alone."""
    return case.pid is None and case.live is None and case.attacher is None


def _side_by_side(chosen: Plan, *, detailed: bool, bar: bool) -> list[Report | Failure]:
    """Many files, on all processors; what is known where it is interrupted."""
    from seedstall.cli.workers import SideBySide, progress  # noqa: PLC0415 - multiprocessing takes 20 ms

    cases = chosen.cases
    run = SideBySide([c.target for c in cases], lambda n: looked_at(cases[n], detailed=detailed))
    with progress(len(cases), wanted=bar) as done:
        run.run(done)
    told = [run.told[number] for number in sorted(run.told)]
    if run.interrupted is not None and not told:
        raise run.interrupted
    return told


def _has_ended(case: Planned, report: Report | Failure) -> bool:
    """Whether nothing can be said of it because it is gone; what was seen of it before counts all the same."""
    if case.live is None or (isinstance(report, Report) and report.verdict.finding is not None):
        return False
    reading = case.live.read(Ref(Space.PROCESS, "cmdline"))
    return isinstance(reading, Missing) and reading.why is Why.VANISHED


def looked_at(case: Planned, *, detailed: bool = True) -> Report | Failure:
    """The report of one case; of several, one that fails does not stop the others."""
    if case.report is not None:
        return case.report
    if case.failure is not None:
        return case.failure
    try:
        return diagnose_case(
            case.source,
            case.target,
            actions=case.actions,
            words=case.words,
            known=case.known,
            detailed=detailed,
        )
    except SeedstallError as error:
        return Failure(target=case.target, error=str(error), hint=error.hint)
    finally:
        if case.bundle is not None:
            case.bundle.close()


def would_do(chosen: Plan) -> Iterator[str]:
    """With ``--dry-run``: every signal, file and socket that would be used on the targets."""
    for case in chosen.cases:
        reads = f"read its memory (/proc/{case.pid}/mem), which stops and changes nothing"
        if case.memory and case.attach_first:
            yield f"{case.target}: only where it does not answer: would {reads}"
        elif case.memory:
            yield f"{case.target}: would {reads}"
            if case.attacher is not None:
                yield f"{case.target}: only where that does not show every stack:"
        elif case.attacher is None:
            yield f"{case.target}: nothing but reads of /proc and files"
        if case.attacher is None:
            continue
        answer = case.source.read(Ref(Space.ATTACH, "threaddump"))
        if isinstance(answer, Missing) and not case.attacher.actions:
            yield f"{case.target}: would not attach: {answer.detail or answer.why}"
        for action in case.attacher.actions:
            yield f"{action.pid}: would {action.what}"
