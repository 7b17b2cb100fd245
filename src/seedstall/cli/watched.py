"""A watched JVM as a case: what is read of it while it lives, the one dump of its stall, and the report in the end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from seedstall.cli.cases import Plan, Said
from seedstall.effect.attach import Attacher
from seedstall.effect.watch import Goal, watch_running
from seedstall.engine.diagnosis import case_of, diagnose_case
from seedstall.facts.samples import SAMPLES
from seedstall.model.errors import NoSuchTargetError, UsageError
from seedstall.model.evidence import Ask, Got, Missing, Reading, Ref, Space, Why
from seedstall.model.jdk import JdkVersion
from seedstall.model.jvm import Launch, Product
from seedstall.model.redact import visible
from seedstall.model.report import Action, Report
from seedstall.model.seeding import SeedSource
from seedstall.parse.samples import recorded
from seedstall.source import arrival
from seedstall.source.base import Combined, Held, Source
from seedstall.source.host import HostSource
from seedstall.source.kept import Kept

_UNITS = (("ms", 0.001), ("s", 1.0), ("m", 60.0), ("min", 60.0), ("h", 3600.0))
FIRST_S = 10.0
"""How long a JVM that was waited for is watched, where nothing else was said."""
LONGEST_S = 30 * 24 * 3600.0
_EARLY = (
    *(Ref(Space.PROCESS, name) for name in ("cmdline", "environ", "maps", "stat", "status", "exe-header", "cgroup")),
    *(Ref(Space.PROCESS, name, Ask.LINK) for name in ("exe", "cwd", "root")),
)  # fmt: skip
"""What a JVM's settings are known by: read at its first sight, for one that has ended when we come to it."""


def seconds_of(option: str, text: str) -> float | None:
    """What ``10``, ``10s``, ``500ms`` or ``2m`` means; ``None`` where nothing was said.

    Raises:
        UsageError: it is no time.
    """
    if not text:
        return None
    number = text.rstrip("abcdefghijklmnopqrstuvwxyz")
    unit = text[len(number) :] or "s"
    factor = dict(_UNITS).get(unit)
    whole, _, part = number.partition(".")
    digits = whole + part
    if factor is None or not digits.isascii() or not digits.isdigit() or len(digits) > 12:  # noqa: PLR2004
        raise UsageError(f"{option}: {text[:40]!r} is no time", "such as 10, 10s, 500ms or 2m")
    seconds = float(number) * factor
    if not 0 < seconds <= LONGEST_S:
        raise UsageError(f"{option}: {text[:40]!r} is out of range", "more than 0, at most 30 days")
    return seconds


def sampled(plan: Plan, seconds: float, *, from_start: bool = False) -> Plan:
    """The same cases, each live one with samples of so long a time.

    Raises:
        UsageError: none of them is a running process.
    """
    live = [case.pid for case in plan.cases if case.pid is not None]
    if not live:
        message = "--for samples a running JVM, and none is named"
        raise UsageError(message, "name its PID")
    told = dict(zip(live, watch_running(live, seconds, from_start=from_start), strict=True))
    cases = (
        case
        if case.pid is None
        else replace(case, source=Combined(Held({SAMPLES: recorded(told[case.pid])}), case.source))
        for case in plan.cases
    )
    return replace(plan, cases=tuple(cases))


def awaited(name: str, seconds: float | None, tell: Callable[[str], None]) -> str:
    """The PID of a JVM that somebody else launches.

    Raises:
        NoSuchTargetError: none came up in time.
    """

    def ready(there: tuple[int, ...]) -> None:
        if there:
            tell(f"running already, and not meant by --wait: {', '.join(map(str, there))}")
        tell(f"waiting for a JVM whose command line holds {visible(name)!r}")

    pid = arrival.await_jvm(name, seconds, ready)
    if pid is None:
        message = f"no JVM came up in time whose command line holds {name!r}"
        raise NoSuchTargetError(
            message, "its main class, jar or script; --wait-for gives it longer"
        )
    return str(pid)


class Watched:
    """One watch's JVM. `found` and `stalled` are called meanwhile."""

    def __init__(
        self, said: Said, goal: Goal, *, attach: bool, timeout_s: float, tell: Callable[[str], None]
    ) -> None:
        """Nobody is there yet."""
        self._said = said
        self._goal = goal
        self._attach = attach
        self._timeout_s = timeout_s
        self._tell = tell
        self._asking = False
        self._pid: int | None = None
        self._attacher: Attacher | None = None
        self._source: Source = HostSource(None)
        self.evidence: Source = self._source
        """All that the report is made of, once it is."""
        self._kept: Kept | None = None

    @property
    def pid(self) -> int | None:
        """The JVM that was found."""
        return self._pid

    def found(self, pid: int) -> None:
        """A JVM is there: what its settings are known by is read at once, since it may end at any time."""
        self._pid = pid
        self._attacher = Attacher(pid, timeout_s=self._timeout_s, tell=self._tell)
        live = HostSource(pid, self._ask, memory_too=False)
        live.read(Ref(Space.ROOT, "etc", Ask.STAT))  # opens its root, which then stays
        self._kept = Kept(live)
        self._kept.keep(*_EARLY)
        self._source = self._kept

    def stalled(self, pid: int) -> None:
        """It stands still: one thread dump, behind every guard; and its settings, since it has time now."""
        if self._kept is None or pid != self._pid:
            return
        if self._attach:
            self._asking = True
            try:
                self._kept.read(Ref(Space.ATTACH, "threaddump"))
            finally:
                self._asking = False
        case = case_of(self._whole(b""))
        for kind in (JdkVersion, Launch, SeedSource, Product):
            case.get(kind)

    def _ask(self, command: str) -> Reading[bytes]:
        ref = Ref(Space.ATTACH, command)
        if not self._attach:
            return Missing(Why.REFUSED, (ref,), "the JVM was not to be asked")
        if not self._asking or self._attacher is None:
            return Missing(
                Why.REFUSED, (ref,), "no stall was seen, so no thread dump was asked for"
            )
        return self._attacher.ask(command)

    def _whole(self, recording: bytes) -> Source:
        held = Held({SAMPLES: recording} if recording else {})
        return Combined(held, self._source, self._said.source())

    def actions(self) -> tuple[Action, ...]:
        """What was done to it."""
        return self._attacher.actions if self._attacher is not None else ()

    def _release(self) -> str:
        """Of a JVM that has ended, the commands are for its next start, whose pid nobody knows: its JDK is enough."""
        if self._said.jdk:
            return ""
        jdk = case_of(self._whole(b"")).value(JdkVersion)
        return f"--jdk {jdk}" if jdk is not None else "--jdk VERSION"

    def report_of(self, watch: Callable[[Watched], bytes]) -> Report:
        """Watch, and say what was seen."""
        recording = watch(self)
        alive = isinstance(self._source.read(Ref(Space.PROCESS, "task", Ask.LIST)), Got)
        pid = str(self._pid) if self._pid is not None else "PID"
        words = (pid if alive else self._release()) + self._said.words()
        self.evidence = self._whole(recording)
        return diagnose_case(self.evidence, pid, actions=self.actions, words=words)
