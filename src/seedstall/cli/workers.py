"""Many cases at once: as many processes as there are processors, each case told whatever becomes of the others.

Processes are forked before any thread is started, so that each has what its parent had, without importing it anew. A
worker that dies (the out-of-memory killer, a crash of the interpreter) takes one case with it and is replaced. Ctrl-C
reaches the parent alone, which ends its workers and tells what is known by then.
"""

from __future__ import annotations

import os
import signal
import sys
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import TYPE_CHECKING, NamedTuple

from seedstall.cli.app import Interrupted
from seedstall.model.finding import Finding, Fired
from seedstall.model.report import Failure, Report

if TYPE_CHECKING:
    from collections.abc import Generator

_DEATH_OF_PARENT = 1
"""``PR_SET_PDEATHSIG`` of prctl(2)."""

Told = Report | Failure


class Worker(NamedTuple):
    """A process, and our end of the pipe to it."""

    process: BaseProcess
    pipe: Connection


class SideBySide:
    """Looks at cases by number, several at a time; ``told`` has what is known."""

    def __init__(
        self, names: Sequence[str], look: Callable[[int], Told], workers: int | None = None
    ) -> None:
        """Look at the cases called *names* by *look*, which gets a case's number."""
        self._names = names
        self._look = look
        self._count = max(1, min(workers or available(), len(names)))
        self._context = get_context("fork")
        self._workers: list[Worker] = []
        self._busy: dict[Connection, int] = {}
        self.told: dict[int, Told] = {}
        self.interrupted: Interrupted | None = None

    def run(self, done: Callable[[int], None] = lambda _: None) -> None:
        """Look at all of them, or as many as there is time for; *done* is told how many were."""
        todo = deque(range(len(self._names)))
        try:
            for _ in range(self._count):
                self._start()
            while todo or self._busy:
                self._give(todo)
                for pipe in wait(list(self._busy)):
                    if isinstance(pipe, Connection):
                        self._take(pipe)
                done(len(self.told))
        except Interrupted as interrupt:
            self.interrupted = interrupt
        finally:
            self._end()

    def _start(self) -> None:
        ours, theirs = self._context.Pipe()
        # A worker that held another's pipe open would keep it from seeing that we are gone.
        close = [ours, *(worker.pipe for worker in self._workers)]
        process = self._context.Process(
            target=_work, args=(theirs, close, self._look, self._names), daemon=True
        )
        process.start()
        theirs.close()
        self._workers.append(Worker(process, ours))

    def _give(self, todo: deque[int]) -> None:
        for worker in list(self._workers):
            if todo and worker.pipe not in self._busy:
                number = todo.popleft()
                self._busy[worker.pipe] = number
                try:
                    worker.pipe.send(number)
                except OSError:
                    self._take(worker.pipe)

    def _take(self, pipe: Connection) -> None:
        number = self._busy.pop(pipe)
        try:
            told, explained = pipe.recv()
        except (EOFError, OSError):
            self.told[number] = self._lost(pipe, number)
            self._start()
        else:
            self.told[number] = _with_explained(told, explained)

    def _lost(self, pipe: Connection, number: int) -> Failure:
        """The case of a worker that died."""
        worker = next(w for w in self._workers if w.pipe is pipe)
        self._workers.remove(worker)
        pipe.close()
        worker.process.join()
        code = worker.process.exitcode or 0
        how = f"by {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"
        name = self._names[number]
        return Failure(
            target=name,
            error=f"the process that read it ended {how}",
            hint="out of memory? name that file alone to see",
        )

    def _end(self) -> None:
        for worker in self._workers:
            worker.process.kill()
        for worker in self._workers:
            worker.process.join()
            worker.pipe.close()
        self._workers.clear()


def available() -> int:
    """Processors that we may use."""
    return len(os.sched_getaffinity(0))


def _work(
    pipe: Connection, close: Sequence[Connection], look: Callable[[int], Told], names: Sequence[str]
) -> None:
    """A worker's life: a number comes, what was found goes, until nobody is there any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    for other in close:
        other.close()
    _end_with_parent()
    while True:
        try:
            which: int = pipe.recv()
        except (EOFError, OSError):
            return
        try:
            told = look(which)
        except Exception as error:  # noqa: BLE001 - one case must not hide the others
            told = Failure(target=names[which], error=f"{type(error).__name__}: {error}")
        try:
            pipe.send((told, _explained(told)))
        except OSError:
            return


def _end_with_parent() -> None:
    """Have the kernel end us with our parent, however it ends."""
    import ctypes  # noqa: PLC0415 - 2-5 ms

    ctypes.CDLL(None).prctl(_DEATH_OF_PARENT, signal.SIGKILL, 0, 0, 0)


def _findings(told: Told) -> list[Finding]:
    outcomes = told.outcomes if isinstance(told, Report) else ()
    return [finding for o in outcomes if isinstance(o, Fired) for finding in o.findings]


def _explained(told: Told) -> dict[int, str]:
    """`Report.explained` by place: a finding's identity is another one in another process."""
    if isinstance(told, Failure):
        return {}
    by_id = {id(finding): place for place, finding in enumerate(_findings(told))}
    return {by_id[key]: code for key, code in told.explained.items() if key in by_id}


def _with_explained(told: Told, by_place: dict[int, str]) -> Told:
    if isinstance(told, Failure):
        return told
    from dataclasses import replace  # noqa: PLC0415 - see above

    findings = _findings(told)
    return replace(told, explained={id(findings[place]): c for place, c in by_place.items()})


@contextmanager
def progress(total: int, *, wanted: bool) -> Generator[Callable[[int], None]]:
    """A bar on a terminal's stderr; nothing where it is none, or not *wanted*."""
    if not wanted or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console  # noqa: PLC0415 - typer brings it; 40 ms
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn  # noqa: PLC0415

    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=total)
        yield lambda done: bar.update(task, completed=done)
