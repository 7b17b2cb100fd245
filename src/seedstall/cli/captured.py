"""What ``seedstall capture`` reads and writes: the takes of one JVM, as one bundle."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from seedstall import __version__
from seedstall.cli.console import say
from seedstall.effect import capture as effect
from seedstall.effect.attach import Attacher
from seedstall.effect.capture import Bundle, Take, Watchdog
from seedstall.engine import recording
from seedstall.model.bundle import MEMORY_DUMP, Head
from seedstall.model.errors import NoSuchTargetError
from seedstall.model.evidence import Got, Missing, Reading, Ref, Space, Why
from seedstall.model.redactfile import redacted
from seedstall.model.threads import ThreadDump
from seedstall.source.base import Source
from seedstall.source.host import HostSource

_GRACE_S = 0.5
"""How much longer than the time for reading a single read may take before it is given up."""
_SHOWN = 12


@dataclass(frozen=True, slots=True)
class Manner:
    """What may be touched, and what becomes of what was read."""

    attach: bool = True
    memory: bool = True
    redacted: bool = True
    anonymised: bool = False
    logs: tuple[tuple[str, bytes, bool], ...] = ()
    """Texts handed over: their name, their content, and whether that is all of it."""


class Captured:
    """One capture. What was read by the time that is over is written all the same."""

    def __init__(
        self,
        pid: int | None,
        manner: Manner,
        write: Callable[[bytes], None],
        held: Source | None = None,
    ) -> None:
        """Know what to capture, and who writes it: the live process *pid*, or what *held* holds of it."""
        self._pid = pid
        self._held = held
        self._manner = manner
        self._write = write
        self._began = time.time()
        self._attacher: Attacher | None = None
        self._sources: list[HostSource] = []
        self._takes: list[Take] = []
        self._size = 0
        self._cut_short = False

    def run(self, takes: int, interval_s: float, seconds: float) -> None:
        """Read, and write: all within *seconds*, and the intervals between the takes.

        Raises:
            NoSuchTargetError: the process had ended before anything was read.
            SeedstallError: it cannot be written.
        """
        seconds += interval_s * (takes - 1)
        end = time.monotonic() + seconds - min(effect.WRITING_S, seconds / 2)
        attach_s = min(5.0, seconds / 4)
        if self._manner.attach and self._held is None and self._pid is not None:
            self._attacher = Attacher(self._pid, timeout_s=attach_s, tell=say)
        watchdog = Watchdog(end + _GRACE_S, self._give_up)
        try:
            for number in range(takes):
                if number and not self._waited(interval_s, end):
                    break
                self._take(end, attach_s)
        finally:
            watchdog.stop()
        self._refuse_nothing()
        self._save()

    def _waited(self, seconds: float, end: float) -> bool:
        """Whether there is time for a further take, after that pause, and somebody to look at."""
        if time.monotonic() + seconds >= end:
            return False
        time.sleep(seconds)
        return not self._is_gone()

    def _take(self, end: float, attach_s: float) -> None:
        asked = self._attacher.ask if self._attacher is not None else None

        def attach(command: str) -> Reading[bytes]:
            if asked is None or time.monotonic() + attach_s > end:
                ref = Ref(Space.ATTACH, command)
                return Missing(Why.TIMED_OUT, (ref,), "too little time was left to ask the JVM")
            return asked(command)

        if self._held is not None:
            take = effect.take(self._held, end)
        else:
            memory = self._manner.memory
            live = HostSource(self._pid, attach if asked is not None else None, memory_too=memory)
            self._sources.append(live)
            take = effect.take(live, end)
        self._takes.append(take)
        first = len(self._takes) == 1
        ask = recording.ask_everything if first else recording.ask_again
        dump = ask(take.recorder)
        if first and self._pid is not None:
            from seedstall.remedy.survey import survey  # noqa: PLC0415 - the places of fix: read last

            survey(take.recorder, str(self._pid), self._pid)
        if isinstance(dump, ThreadDump):
            take.memory_dump = _text(dump)
        elif dump is not None:
            take.recorder.readings[MEMORY_DUMP] = Missing(dump.why, (MEMORY_DUMP,), dump.detail)

    def _is_gone(self) -> bool:
        with HostSource(self._pid) as now:
            reading = now.read(Ref(Space.PROCESS, "cmdline"))
        return isinstance(reading, Missing) and reading.why is Why.VANISHED

    def _refuse_nothing(self) -> None:
        """A bundle of a process that had ended is none."""
        known = self._takes[0].readings()
        maps = known.get(Ref(Space.PROCESS, "maps"))
        if isinstance(maps, Missing) and maps.why is Why.VANISHED:
            raise NoSuchTargetError(f"process {self._pid} ended before it was looked at")

    def _give_up(self) -> None:
        """A read does not come to an end: what is known is written, and that is the end of us."""
        self._cut_short = True
        try:
            self._save()
            for line in self.told(""):
                say(line)
        except BaseException as error:  # noqa: BLE001 - the last thing that this process does
            say(f"error: {error}")
            os._exit(1)
        os._exit(0)

    # --- what is written ---------------------------------------------------------------------------------------------

    def _save(self) -> None:
        known = [take.readings() for take in self._takes]
        names = effect.other_names(known[0]) if self._manner.anonymised else None
        bundle = Bundle(self._head(), self._shown(), names)
        for readings in known:
            bundle.learn(readings)
        bundle.learn({}, (data for _, data, _ in self._manner.logs))
        for number, (take, readings) in enumerate(zip(self._takes, known, strict=True), 1):
            bundle.add_take(number, readings, take.memory_dump)
        for name, data, _ in self._manner.logs:
            bundle.add_log(name, data)
        stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(self._began))
        pid = f"{self._pid}-" if self._pid is not None else ""
        data = effect.packed(bundle, f"seedstall-{pid}{stamp}", self._began)
        self._size = len(data)
        self._write(data)

    def _shown(self) -> effect.Shown:
        if self._manner.redacted:
            return redacted
        return lambda _, data: data

    def _head(self) -> Head:
        others = {"by-uid": str(os.geteuid()), "takes": str(len(self._takes))}
        if self._cut_short:
            others["cut-short"] = "a read did not come to an end in time"
        return Head(
            tool=f"seedstall {__version__}",
            pid=self._pid,
            taken=time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self._began)),
            redacted="secrets" if self._manner.redacted else "none",
            anonymised=self._manner.anonymised,
            did=tuple(self._did()),
            others=others,
        )

    def _did(self) -> Iterator[str]:
        size = sum(source.memory_bytes for source in self._sources)
        reads = sum(source.memory_reads for source in self._sources)
        if reads:
            yield f"read memory of {self._pid}: {size} bytes in {reads} reads, no pause"
        for action in self._attacher.actions if self._attacher is not None else ():
            yield action.what

    def told(self, output: str) -> Iterator[str]:
        """For people: what was written, and what it lacks."""
        known = [take.readings() for take in self._takes]
        got = sum(map(effect.got_of, known))
        times = f", {len(known)} takes" if len(known) > 1 else ""
        where = f"{output}: " if output and output != "-" else ""
        pid = f" of {self._pid}" if self._pid is not None else ""
        yield f"{where}{self._size >> 10} KiB, {got} readings{pid}{times}"
        for line in self._did():
            yield f"done to {self._pid}: {line}"
        lacks = sorted(set(_lacks(known[0])))
        for line in lacks[:_SHOWN]:
            yield f"not in it: {line}"
        if len(lacks) > _SHOWN:
            yield f"not in it: {len(lacks) - _SHOWN} more, see manifest.tsv in it"
        for name, _, whole in self._manner.logs:
            if not whole:
                yield f"in part: {name}, its last {effect.MOST_OF_LOG >> 20} MiB"


def _lacks(readings: effect.Readings) -> Iterator[str]:
    """What could not be had, though it may be there."""
    for ref, reading in readings.items():
        if isinstance(reading, Got) or reading.why in (Why.ABSENT, Why.NOT_COLLECTED):
            continue
        if ref.space is Space.PROCESS and ref.path.startswith(("task/", "fd/")):
            folder = ref.path.partition("/")[0]
            yield f"{folder}/*, {reading.why}: {reading.detail}".rstrip(": ")
        else:
            yield f"{ref}, {reading.why}: {reading.detail}".rstrip(": ")


def _text(dump: ThreadDump) -> str:
    """The dump as text; its secrets go with those of all files."""
    from seedstall.render.threads import dump_text  # noqa: PLC0415 - only where memory was read

    return dump_text(dump, redacted=False)
