"""Watching a JVM start, or run for a while: samples until an end that was asked for, one thread dump of a stall."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from seedstall.effect.launch import Launched, Signals
from seedstall.effect.passthrough import LogFile, Passthrough
from seedstall.facts.process import jvm_process
from seedstall.model.evidence import Unavailable
from seedstall.model.recording import Recording
from seedstall.model.samples import Ending
from seedstall.source.family import Family
from seedstall.source.host import HostSource
from seedstall.source.sampling import LONGEST_MS, Journal, Pace, ProcessSampler, recording_of

RANDOM_STALL_MS = 500
"""A wait for random bytes that has lasted so long is a stall."""
OTHER_STALL_MS = 3000
"""Any other wait of the main thread: later, since only one dump is taken and a seeding stall may still come."""
DRAIN_S = 0.1


@dataclass(frozen=True, slots=True)
class Goal:
    """What ends the watch, besides the program's end."""

    output: Passthrough | None = None
    log: LogFile | None = None
    port: int | None = None
    seconds: float | None = None
    words: str = ""

    @property
    def ends(self) -> bool:
        """Whether an end was asked for."""
        return bool(self.words) or self.seconds is not None

    def reached(self, jvm: ProcessSampler | None, now_ms: int) -> Ending | None:
        """Which end has come; ``None`` for none yet."""
        if self.output is not None and self.output.seen:
            return Ending.UNTIL
        if self.log is not None and self.log.says():
            return Ending.UNTIL
        if self.port is not None and jvm is not None and jvm.listens(self.port):
            return Ending.PORT
        if self.seconds is not None and now_ms >= self.seconds * 1000:
            return Ending.TIME
        return None


class Watch:
    """One watch, from its zero (now) to its end.

    *found* is called with the pid of each JVM that is followed, *stalled* once, with that of the first to stand still.
    """

    def __init__(
        self,
        goal: Goal,
        *,
        stalled: Callable[[int], None],
        found: Callable[[int], None],
        age_ms: int = 0,
    ) -> None:
        """Begin; its zero lies *age_ms* back, where the JVM has run for so long already."""
        self._goal = goal
        self._stalled = stalled
        self._found = found
        self._zero = time.monotonic() - age_ms / 1000
        self._journal = Journal()
        self._pace = Pace()
        self.family = Family(self._journal)
        self._known: int | None = None
        self._dumped_ms: int | None = None
        self._samples = 0

    @property
    def now_ms(self) -> int:
        """Milliseconds since its zero."""
        return int((time.monotonic() - self._zero) * 1000)

    def look(self, adopted: tuple[int, ...] = ()) -> Ending | None:
        """Take one sample; whether an end has come that was asked for."""
        now = self.now_ms
        self.family.look(now, adopted)
        self._samples += 1
        self._pace.thin_out(len(self._journal.spans))
        jvm = self.family.jvm
        if jvm is not None and jvm.pid != self._known:
            self._known = jvm.pid
            self._aside(lambda: self._found(jvm.pid))
        ending = self._goal.reached(jvm, now)
        if ending is None and jvm is not None and self._dumped_ms is None and _stalls(jvm, now):
            self._dumped_ms = now
            self._aside(lambda: self._stalled(jvm.pid))
        return ending

    def _aside(self, call: Callable[[], None]) -> None:
        """What is no sample is not counted as one's cost."""
        self._pace.count()
        call()
        self._pace.skip()

    def pause_s(self) -> float:
        """How long to wait until the next sample."""
        return self._pace.after_look()

    def end(self, ending: Ending, exit_code: int | None = None) -> Recording:
        """What was recorded."""
        now = self.now_ms
        self.family.close(now)
        return recording_of(
            self._journal,
            watched_ms=now,
            ending=ending,
            samples=self._samples,
            own_cpu_us=self._pace.own_cpu_us,
            from_start=True,
            exit_code=exit_code,
            target=self._goal.words,
            dumped_ms=self._dumped_ms,
        )


def _stalls(jvm: ProcessSampler, now_ms: int) -> bool:
    return jvm.seeding_ms(now_ms) >= RANDOM_STALL_MS or jvm.still_ms(now_ms) >= OTHER_STALL_MS


def watch_start(
    child: Launched, signals: Signals, watch: Watch, tell: Callable[[str], None], *, orphans: bool
) -> Recording:
    """Sample *child* and what it starts to the watch's end; signals are passed on meanwhile.

    With *orphans* the watch goes on when the command has ended and has left somebody behind: its JVM, or what will
    become it.
    """
    watch.family.add(child.pid, 0)
    while True:
        adopted = child.left() if orphans else ()
        ending = watch.look(adopted)
        jvm = watch.family.jvm
        child.jvm_pid = jvm.pid if jvm is not None else None
        child.reap()
        if ending is None and child.interrupted:
            ending = Ending.TIME
        if ending is None and child.status is not None and (child.alone or not orphans):
            ending = Ending.KILLED if child.killed else Ending.EXIT
        if ending is not None:
            return watch.end(ending, child.exit_code)
        wait_and_pass_on(child, signals, watch.pause_s(), tell)


def wait_and_pass_on(
    child: Launched, signals: Signals, seconds: float | None, tell: Callable[[str], None]
) -> None:
    """Wait so long (or for a signal), and pass on what comes."""
    end = None if seconds is None else time.monotonic() + seconds
    while True:
        info = signals.wait(None if end is None else max(0.0, end - time.monotonic()))
        if info is None:
            return
        if info.si_signo != signal.SIGCHLD:
            word = child.pass_on(info)
            if word:
                tell(word)
        child.reap()
        if child.status is not None or end is None:
            return


def see_it_out(child: Launched, signals: Signals, tell: Callable[[str], None]) -> int:
    """Wait for the command's end, and pass signals on until then: its exit code."""
    child.reap()
    while child.status is None:
        wait_and_pass_on(child, signals, None, tell)
    return child.exit_code or 0


def drain(output: Passthrough, child: Launched, signals: Signals) -> None:
    """Let the rest of the output through; Ctrl-C ends that."""
    while not output.ended(DRAIN_S):
        info = signals.wait(0)
        if info is not None and info.si_signo != signal.SIGCHLD:
            child.pass_on(info)
            if child.interrupted:
                return


def watch_running(pids: Sequence[int], seconds: float, *, from_start: bool) -> list[Recording]:
    """Sample processes that run already, together, for so long or to each one's end."""
    ages = [_age_ms(pid) if from_start else 0 for pid in pids]
    watches = [
        Watch(Goal(seconds=seconds + age / 1000), stalled=_nothing, found=_nothing, age_ms=age)
        for age in ages
    ]
    told: dict[int, Recording] = {}
    for watch, pid in zip(watches, pids, strict=True):
        watch.family.add(pid, 0 if from_start else watch.now_ms, jvm=True)
    while len(told) < len(watches):
        pause = LONGEST_MS / 1000
        for at, watch in enumerate(watches):
            if at in told:
                continue
            ending = watch.look()
            if ending is None and watch.family.jvm is None:
                ending = Ending.EXIT
            if ending is not None:
                told[at] = replace(watch.end(ending), from_start=from_start, dumped_ms=None)
            else:
                # Each pays for itself: together they take no more than one may.
                pause = min(pause, watch.pause_s() * len(watches))
        time.sleep(pause if len(told) < len(watches) else 0)
    return [told[at] for at in range(len(watches))]


def _age_ms(pid: int) -> int:
    with HostSource(pid) as source:
        try:
            return jvm_process(source).age_ms or 0
        except (Unavailable, ValueError):
            return 0


def _nothing(_pid: int) -> None:
    return None
