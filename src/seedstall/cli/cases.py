"""From what was named on the command line to cases: which sources make one case, and what may be touched."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from seedstall.effect.attach import Attacher
from seedstall.engine.diagnosis import diagnose_case
from seedstall.model.errors import NoSuchTargetError, SeedstallError
from seedstall.model.evidence import Missing, Ref, Space
from seedstall.model.report import Failure, Report
from seedstall.source import detect, host, inputs
from seedstall.source.base import Combined, Source
from seedstall.source.detect import Kind, Target

ASKED_AT_ONCE = 3
"""JVMs that one command attaches to unasked."""


@dataclass(frozen=True, slots=True)
class Said:
    """What the user says that does not stand in the evidence."""

    kernel: str = ""
    jdk: str = ""
    egd: str = ""

    def words(self) -> str:
        """The same as options for a shell."""
        said = (("--kernel", self.kernel), ("--jdk", self.jdk), ("--egd", self.egd))
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
    """``--attach``: also where several JVMs are meant."""


@dataclass(frozen=True, slots=True)
class Planned:
    """One case: what it is called, where it is read, and how it may be asked."""

    target: str
    source: Source
    attacher: Attacher | None = None
    words: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """All cases of one command. ``many`` is whether they are reported as several."""

    cases: tuple[Planned, ...]
    many: bool = False
    notices: tuple[str, ...] = field(default=())


def plan(
    named: Sequence[str],
    said: Said,
    touch: Touch,
    *,
    every_jvm: bool = False,
    one_case: bool = False,
) -> Plan:
    """The cases that the named targets make.

    Raises:
        NoSuchTargetError: a target is not there, or a process is no JVM and has none below it.
    """
    targets = [detect.resolve(name) for name in named]
    files = [t for t in targets if t.kind in (Kind.FILE, Kind.STDIN)]
    folders = [t for t in targets if t.kind is Kind.DIRECTORY]
    handed = list(files)
    alone: list[Target] = []
    for folder in folders:
        (handed if one_case or len(targets) > 1 else alone).extend(detect.files_below(folder))
    trees = [t for t in targets if t.kind is Kind.TREE]
    pids, notices = _jvms([t for t in targets if t.kind is Kind.PID])
    pids += [p for p in host.all_jvms() if p not in pids] if every_jvm else []
    beside = (inputs.InputSource(handed), said.source())
    if len(pids) > ASKED_AT_ONCE and not touch.insist:
        # A PID of init or of a session leads to every JVM below it: nobody asked to signal them all.
        touch = replace(touch, attach=False)
        notices.append(f"{len(pids)} JVMs: none of them is attached to (--attach does)")
    found = [_live(pid, beside, touch, said) for pid in pids]
    found += [_captured(t, handed, said) for t in trees]
    if handed and not found:
        found.append(_read(handed, said))
    found += [_read([t], said) for t in alone]
    if not found:
        message = f"nothing to look at in {' '.join(named) or 'this host: no JVM runs here'}"
        raise NoSuchTargetError(message)
    return Plan(
        tuple(found), many=every_jvm or bool(alone) or len(found) > 1, notices=tuple(notices)
    )


def _jvms(targets: Sequence[Target]) -> tuple[list[int], list[str]]:
    """The JVMs meant: a named one itself, or those below a script, a wrapper or a build tool."""
    pids: list[int] = []
    notices: list[str] = []
    for target in targets:
        found = detect.jvms_of(target)
        if found != (target.pid,) and target.pid is not None:
            notices.append(
                f"{target.pid} ({host.command(target.pid)}) is not a JVM itself;"
                f" below it: {', '.join(map(str, found))}"
            )
        pids += [pid for pid in found if pid not in pids]
    return pids, notices


def _read(targets: Sequence[Target], said: Said) -> Planned:
    """Files handed over, as one case."""
    source = Combined(inputs.InputSource(targets), said.source())
    return Planned(" ".join(t.name for t in targets), source, words=_words(targets, said))


def _words(targets: Sequence[Target], said: Said) -> str:
    """The targets as words for a shell; what came by standard input is gone, and is called FILE."""
    names = ("FILE" if t.kind is Kind.STDIN else shlex.quote(t.name) for t in targets)
    return " ".join(names) + said.words()


def _captured(target: Target, handed: Sequence[Target], said: Said) -> Planned:
    """A captured tree with its own logs, and whatever was handed over beside it."""
    texts = inputs.InputSource([*detect.logs_of(target), *handed])
    source = Combined(detect.tree(target), texts, said.source())
    return Planned(target.name, source, words=_words([target, *handed], said))


def _live(pid: int, beside: Sequence[Source], touch: Touch, said: Said) -> Planned:
    attacher = Attacher(pid, timeout_s=touch.timeout_s, dry_run=touch.dry_run)
    source = Combined(host.HostSource(pid, attacher.ask if touch.attach else None), *beside)
    words = f"{pid}{said.words()}"
    return Planned(str(pid), source, attacher if touch.attach else None, words)


def looked_at(case: Planned) -> Report | Failure:
    """The report of one case; of several, one that fails does not stop the others."""
    attacher = case.attacher
    try:
        return diagnose_case(
            case.source,
            case.target,
            actions=(lambda: attacher.actions) if attacher else tuple,
            words=case.words,
        )
    except SeedstallError as error:
        return Failure(target=case.target, error=str(error), hint=error.hint)


def would_do(chosen: Plan) -> Iterator[str]:
    """With ``--dry-run``: every signal, file and socket that would be used on the targets."""
    for case in chosen.cases:
        if case.attacher is None:
            yield f"{case.target}: nothing but reads of /proc and files"
            continue
        answer = case.source.read(Ref(Space.ATTACH, "threaddump"))
        if isinstance(answer, Missing) and not case.attacher.actions:
            yield f"{case.target}: would not attach: {answer.detail or answer.why}"
        for action in case.attacher.actions:
            yield f"{action.pid}: would {action.what}"
