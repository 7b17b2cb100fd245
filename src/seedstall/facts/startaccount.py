"""Where the time of a watched start went, from its samples.

The question is what the program's start waited for, so one thread counts: the one that runs ``main``. While that one
waits for other threads, what those do is what it waits for: a seeding thread, a connection, work on a CPU. A thread of
the virtual machine's own (compiler, housekeeping) is nobody whom ``main`` waits for; the collector's threads are.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TypedDict

from seedstall.knowledge import syscalls
from seedstall.knowledge.callers import is_jdk
from seedstall.knowledge.kernel import waits_for_random
from seedstall.knowledge.vmthreads import OF_COLLECTOR, OF_MACHINE, SEEDER
from seedstall.model.recording import (
    OUTSIDE,
    RUNNING,
    UNSEEN,
    WCHAN,
    Counters,
    Place,
    Recording,
    SampledProcess,
    SampledThread,
    Span,
    is_random,
)
from seedstall.model.samples import Doing, Ending, SampledWait, Share, StartSamples, Stretch
from seedstall.model.tasks import FileKind, OpenFile
from seedstall.model.threads import JavaThread, ThreadDumps
from seedstall.parse import sockets

LEAST_WAIT_MS = 20
"""Waits for random bytes shorter than that are reads caught on their way."""
SAME_WAIT_MS = 60
"""Between two reads of one seeding there is no longer time than that: a read that got a part of its bytes."""

_FINEST = 500
"""Parts of the watched time: what one of them went to most stands for it in the time line."""
_TIMES_SHOWN = 50
_WAITS = (Doing.WAITING, Doing.SLEEPING)
_WAITED_FOR = (Doing.RANDOM, Doing.CONNECT, Doing.DNS, Doing.DISK)
_FUTEX_WAITS = frozenset((0, 6, 9, 11, 13))
"""FUTEX_WAIT, LOCK_PI, WAIT_BITSET, WAIT_REQUEUE_PI, LOCK_PI2 (linux/futex.h)."""


class _Line:
    """Spans of one thread in their order: those of a time are found without walking over all."""

    def __init__(self, spans: list[Span]) -> None:
        self.spans = spans
        self._starts = [span.since_ms for span in spans]

    def within(self, since: int, until: int) -> list[Span]:
        first = max(0, bisect_right(self._starts, since) - 1)
        return self.spans[first : bisect_left(self._starts, until)]


@dataclass(slots=True)
class _Piece:
    """A span of the thread that counts, taken apart."""

    span: Span
    cpu: float
    queued: float
    blocked: float


def account(told: Recording, dumps: ThreadDumps | None = None) -> StartSamples:
    """Where the time of *told* went; *dumps* name the threads, and the code that waited."""
    sheet = _Sheet(told, dumps)
    return StartSamples(
        watched_ms=told.watched_ms,
        from_start=told.from_start,
        ending=told.ending,
        exit_code=told.exit_code,
        target=told.target,
        samples=told.samples,
        cost=told.own_cpu_us / (told.watched_ms * 1000) if told.watched_ms else 0.0,
        table=sheet.table(),
        waits=sheet.waits(),
        visible=any(span.call != UNSEEN or span.place >= 0 for span in told.spans),
        jvm=sheet.jvm is not None,
        last=sheet.last(),
        dumped=told.dumped_ms is not None,
        **_counted(told.counters),
        threaded_ms=sheet.threaded_ms(),
        stale=sheet.moved_on(),
        line=sheet.line(),
    )


class _Sheet:
    """The account while it is drawn up."""

    def __init__(self, told: Recording, dumps: ThreadDumps | None) -> None:
        self._told = told
        jvms = [p for p in told.processes if p.jvm]
        self.jvm = max(jvms, key=lambda p: p.until_ms - p.since_ms, default=None)
        self._threads = {t.tid: t for t in told.threads}
        self._machines = {p.pid: p.machine for p in told.processes}
        self._names = {p.pid: p.name for p in told.processes}
        self._spans: dict[int, list[Span]] = {}
        for span in told.spans:
            self._spans.setdefault(span.tid, []).append(span)
        last = dumps.dumps[-1] if dumps is not None and dumps.dumps else None
        self._java = {t.nid: t for t in last.threads if t.nid is not None} if last else {}
        self._main = self._find_main()
        self._lines = {tid: _Line(spans) for tid, spans in self._spans.items()}
        self._kinds: dict[Doing, list[_Line]] = {}
        for tid, spans in self._spans.items():
            self._sort(tid, spans)
        ours = (
            [t for t in self._of(self.jvm) if t.tid in self._lines] if self.jvm is not None else []
        )
        apart = (self._main, self.jvm.pid if self.jvm is not None else -1)
        self._collectors = [t.tid for t in ours if t.comm.startswith(OF_COLLECTOR)]
        self._workers = [
            t.tid for t in ours if not t.comm.startswith(OF_MACHINE) and t.tid not in apart
        ]
        self._sums: dict[Doing, dict[tuple[int, str], float]] = {}

    # --- who is who --------------------------------------------------------------------------------------------------

    def _of(self, process: SampledProcess) -> list[SampledThread]:
        return [t for t in self._threads.values() if t.pid == process.pid]

    def _find_main(self) -> int:
        """By the dump; else the first thread that java's launcher starts (`sampling.main_thread`)."""
        if self.jvm is None:
            return -1
        threads = sorted(self._of(self.jvm), key=lambda t: (t.started, t.tid))
        named = [
            t for t in threads if (java := self._java_of(t)) is not None and java.name == "main"
        ]
        if named:
            return named[0].tid
        second = next((t.tid for t in threads if t.tid != self.jvm.pid), None)
        if second is None or self._threads[second].comm.startswith(OF_MACHINE):
            return self.jvm.pid
        return second if self._ran_us(second) >= self._ran_us(self.jvm.pid) else self.jvm.pid

    def _ran_us(self, tid: int) -> int:
        return sum(span.cpu_us for span in self._spans.get(tid, []))

    def _java_of(self, thread: SampledThread) -> JavaThread | None:
        inside = self.jvm is not None and thread.pid == self.jvm.pid
        return self._java.get(thread.inner_tid) if inside else None

    def _name(self, tid: int) -> str:
        thread = self._threads.get(tid)
        if thread is None:
            return ""
        java = self._java_of(thread)
        if java is not None and java.name:
            return java.name
        if tid == self._main and tid >= 0:
            return "main"
        return thread.comm

    # --- what a span is ----------------------------------------------------------------------------------------------

    def _call(self, span: Span) -> str:
        thread = self._threads.get(span.tid)
        machine = self._machines.get(thread.pid, "x86_64") if thread is not None else "x86_64"
        return syscalls.wait_of(machine, span.call) if span.call >= 0 else ""

    def _place(self, span: Span) -> Place | None:
        return self._told.places[span.place] if 0 <= span.place < len(self._told.places) else None

    def _doing(self, span: Span) -> Doing:
        name, place = self._call(span), self._place(span)
        if name == "getrandom" or (name in syscalls.READS and place and is_random(place)):
            return Doing.RANDOM
        if span.state in _BY_STATE:
            return _BY_STATE[span.state]
        if place is not None and (told := _of_place(place)) is not None:
            return told
        if name == "futex":
            return _of_futex(span)
        if name in syscalls.READS:
            socket = place is not None and place.kind == FileKind.SOCKET
            return Doing.NETWORK if socket else Doing.READ
        return _BESIDE.get(span.call) or _BY_CALL.get(name, Doing.OTHER)

    def _where(self, span: Span) -> str:
        """``read of /dev/random (fd 4)``, ``connect to 10.0.0.7:5432``."""
        name, place = self._call(span), self._place(span)
        if place is not None and place.kind == WCHAN:
            return f"the kernel's {place.path}"
        if not name or name == "futex":
            return ""
        if place is None:
            return name
        if place.peer:
            return f"{name} to {place.peer}"
        what = place.kind if place.path.partition(":")[0] in ("socket", "pipe") else place.path
        return f"{name} of {what} (fd {place.fd})"

    # --- the table ---------------------------------------------------------------------------------------------------

    def table(self) -> tuple[Share, ...]:
        """Where the watched time went; the largest share first."""
        end = self._told.watched_ms
        begin = self.jvm.since_ms if self.jvm is not None else end
        self._before_jvm(begin)
        last = begin
        for piece in self._pieces(begin, end):
            self._enter(piece)
            last = max(last, piece.span.until_ms)
        if last < end and last > begin:
            self._add(Doing.OTHER, end - last, -1, "after the JVM had ended")
        self._split_queue()
        return self._shares(end)

    def line(self) -> tuple[Stretch, ...]:
        """What the thread that counts did, in the order of time."""
        end = self._told.watched_ms
        if self.jvm is None or end <= 0:
            return ()
        parts: list[dict[Doing, float]] = [{} for _ in range(_FINEST)]
        for piece in self._pieces(self.jvm.since_ms, end):
            self._part_out(piece, parts, end / _FINEST)
        stretches: list[Stretch] = []
        for index, part in enumerate(parts):
            since, until = (round(end * at / _FINEST) for at in (index, index + 1))
            if not part or since == until:
                continue
            doing = max(part, key=part.__getitem__)
            if stretches and (stretches[-1].doing, stretches[-1].until_ms) == (doing, since):
                since = stretches.pop().since_ms
            stretches.append(Stretch(since, until, doing))
        return tuple(stretches)

    def _part_out(self, piece: _Piece, parts: list[dict[Doing, float]], width: float) -> None:
        span = piece.span
        length = max(1, span.until_ms - span.since_ms)
        went = {Doing.CPU: piece.cpu, Doing.QUEUED: piece.queued, self._doing(span): piece.blocked}
        for index in range(
            int(span.since_ms / width), min(_FINEST, int(span.until_ms / width) + 1)
        ):
            low, high = max(span.since_ms, index * width), min(span.until_ms, (index + 1) * width)
            for doing, ms in went.items():
                if high > low and ms > 0:
                    parts[index][doing] = parts[index].get(doing, 0.0) + ms * (high - low) / length

    def last(self) -> Doing | None:
        """What the thread that counts did at the end."""
        spans = self._spans.get(self._main, [])
        if not spans or self._told.ending is Ending.EXIT:
            return None
        now = spans[-1]
        if now.until_ms < self._told.watched_ms - SAME_WAIT_MS:
            return None
        return Doing.CPU if now.call == RUNNING else self._doing(now)

    def threaded_ms(self) -> int | None:
        """The life of the threaded seeder's thread, by its name."""
        lives = [
            spans[-1].until_ms - spans[0].since_ms
            for tid, spans in self._spans.items()
            if tid in self._threads and self._threads[tid].comm.startswith(SEEDER)
        ]
        return max(lives, default=None)

    def moved_on(self) -> bool:
        """Whether it has left the place in which the dump that was taken meanwhile shows it."""
        spans, dumped = self._spans.get(self._main, []), self._told.dumped_ms
        return dumped is not None and (self.last() is None or spans[-1].since_ms > dumped)

    def _add(self, doing: Doing, ms: float, tid: int, where: str) -> None:
        if ms > 0:
            row = self._sums.setdefault(doing, {})
            row[tid, where] = row.get((tid, where), 0.0) + ms

    def _before_jvm(self, begin: int) -> None:
        """The way to the JVM: a script, and what that waited for."""
        window = [(0, begin)] if begin > 0 else []
        for span in self._others_in(Doing.RANDOM, 0, begin):
            taken, window = _cut(window, span.since_ms, span.until_ms)
            self._add(Doing.RANDOM, taken, span.tid, self._where(span))
        left = sum(until - since for since, until in window)
        before = [p for p in self._told.processes if not p.jvm and p.since_ms < begin]
        # The last one started is what the others wait for.
        leaf = max(
            before,
            key=lambda p: (min(begin, p.until_ms) - p.since_ms > begin / 2, p.since_ms),
            default=None,
        )
        self._add(Doing.LAUNCH, left, leaf.pid if leaf else -1, leaf.name if leaf else "")

    def _sort(self, tid: int, spans: list[Span]) -> None:
        """Keep what other threads did that ``main`` may have waited for, by kind."""
        if tid == self._main or tid not in self._threads:
            return
        by_kind: dict[Doing, list[Span]] = {}
        for span in spans:
            by_kind.setdefault(self._doing(span), []).append(span)
        for kind in _WAITED_FOR:
            if kind in by_kind:
                self._kinds.setdefault(kind, []).append(_Line(by_kind[kind]))

    def _others_in(self, doing: Doing, since: int, until: int) -> Iterator[Span]:
        for line in self._kinds.get(doing, []):
            yield from line.within(since, until)

    def _pieces(self, begin: int, end: int) -> list[_Piece]:
        """The time line of the thread that counts: the process's first thread until ``main`` is there, and after it."""
        if self.jvm is None:
            return []
        pieces: list[_Piece] = []
        at = begin
        for span, since, until in self._time_line(begin, end):
            low, high = max(since, at), min(until, end)
            if high <= low:
                continue
            part = (high - low) / max(1, span.until_ms - span.since_ms)
            cpu = min(high - low, span.cpu_us / 1000 * part)
            queued = span.queued_us / 1000 * part
            cut = span._replace(since_ms=low, until_ms=high)
            pieces.append(_Piece(cut, cpu, queued, high - low - cpu - queued))
            at = high
        _settle(pieces)
        return pieces

    def _time_line(self, begin: int, end: int) -> Iterator[tuple[Span, int, int]]:
        """The spans that count, each with the time it counts for."""
        main = self._spans.get(self._main, [])
        first = main[0].since_ms if main else end
        last = main[-1].until_ms if main else end
        leader = self._lines.get(self.jvm.pid) if self.jvm is not None else None
        before = leader.within(begin, first) if leader is not None else []
        yield from ((s, s.since_ms, min(s.until_ms, first)) for s in before)
        yield from ((s, s.since_ms, s.until_ms) for s in main)
        after = leader.within(last, end) if leader is not None else []
        yield from ((s, max(s.since_ms, last), s.until_ms) for s in after)

    def _enter(self, piece: _Piece) -> None:
        span = piece.span
        self._add(Doing.CPU, piece.cpu, span.tid, "")
        self._add(Doing.QUEUED, piece.queued, span.tid, "")
        doing = self._doing(span)
        if doing in _WAITS and piece.blocked > 0:
            self._enter_wait(piece, doing)
        else:
            self._add(doing, piece.blocked, span.tid, self._where(span))

    def _enter_wait(self, piece: _Piece, doing: Doing) -> None:
        """While it waits for others: what they do is what it waits for."""
        span = piece.span
        length = span.until_ms - span.since_ms
        window = [(span.since_ms, span.until_ms)]
        part = piece.blocked / max(1, length)
        for kind in _WAITED_FOR:
            for other in self._others_in(kind, span.since_ms, span.until_ms):
                taken, window = _cut(window, other.since_ms, other.until_ms)
                self._add(kind, taken * part, other.tid, self._where(other))
        left = sum(until - since for since, until in window) * part
        for kind, most in (
            (Doing.CPU, self._work(span, collector=False)),
            (Doing.GC, self._work(span, collector=True)),
        ):
            ms = min(left, sum(most.values()))
            total = sum(most.values())
            for tid, used in most.items():
                self._add(kind, used * ms / total, tid, "")
            left -= ms
        self._add(doing, left, span.tid, self._where(span))

    def _work(self, during: Span, *, collector: bool) -> dict[int, float]:
        """The CPU time, in ms, of the JVM's other threads in that time."""
        found: dict[int, float] = {}
        for tid in self._collectors if collector else self._workers:
            spans = self._lines[tid].within(during.since_ms, during.until_ms)
            if (used := sum(_share_of(span, during) for span in spans)) > 0:
                found[tid] = used
        return found

    def _split_queue(self) -> None:
        """What its control group's limit held back is not queueing for a CPU that others use."""
        values = [value for _, value in self._told.throttled]
        held = (values[-1] - values[0]) / 1000 if len(values) > 1 else 0.0
        queued = self._sums.get(Doing.QUEUED, {})
        total = sum(queued.values())
        if held <= 0 or total <= 0:
            return
        part = min(1.0, held / total)
        for (tid, where), ms in list(queued.items()):
            queued[tid, where] = ms * (1 - part)
            self._add(Doing.THROTTLED, ms * part, tid, where)

    def _shares(self, end: int) -> tuple[Share, ...]:
        total = sum(ms for row in self._sums.values() for ms in row.values())
        scale = end / total if total > end > 0 else 1.0
        if total < end - 1:
            self._add(Doing.UNSEEN, end - total, -1, "")
        shares: list[Share] = []
        for doing, row in self._sums.items():
            ms = round(sum(row.values()) * scale)
            if ms > 0:
                (tid, where), _ = max(row.items(), key=lambda item: item[1])
                shares.append(self._share(doing, ms, tid, where))
        return tuple(sorted(shares, key=lambda share: -share.ms))

    def _share(self, doing: Doing, ms: int, tid: int, where: str) -> Share:
        thread = self._threads.get(tid)
        frame, caller = self._frames(tid, doing)
        return Share(
            doing=doing,
            ms=ms,
            thread=self._name(tid),
            tid=tid if thread is not None else None,
            inner_tid=thread.inner_tid if thread is not None else None,
            where=where,
            frame=frame,
            caller=caller,
        )

    def _frames(self, tid: int, doing: Doing) -> tuple[str, str]:
        """The Java frames of the dump, if that was taken while this thread did this."""
        thread = self._threads.get(tid)
        java = self._java_of(thread) if thread is not None else None
        if java is None or not java.frames:
            return "", ""
        at = self._told.watched_ms if self._told.dumped_ms is None else self._told.dumped_ms
        then = self._lines[tid].within(at - SAME_WAIT_MS, at + SAME_WAIT_MS)
        if not any(
            self._doing(s) is doing or (doing is Doing.CPU and s.call == RUNNING) for s in then
        ):
            return "", ""
        return java.frames[0].name, next(
            (f.name for f in java.frames if not is_jdk(f.class_name)), ""
        )

    # --- waits for random bytes --------------------------------------------------------------------------------------

    def waits(self) -> tuple[SampledWait, ...]:
        """The threads that waited for random bytes, longest first."""
        found: list[SampledWait] = []
        for tid, spans in self._spans.items():
            reads = [s for s in spans if self._doing(s) is Doing.RANDOM]
            thread = self._threads.get(tid)
            if reads and thread is not None:
                wait = self._wait(thread, reads, spans[-1])
                if wait.ms >= LEAST_WAIT_MS:
                    found.append(wait)
        return tuple(sorted(found, key=lambda wait: -wait.ms)[:100])

    def _wait(self, thread: SampledThread, reads: list[Span], last: Span) -> SampledWait:
        groups: list[list[Span]] = []
        for span in reads:
            if groups and span.since_ms - groups[-1][-1].until_ms <= SAME_WAIT_MS:
                groups[-1].append(span)
            else:
                groups.append([span])
        now = groups[-1]
        lengths = [_length(self._call(s), s) for s in now]
        ended = self._ended_in(now[-1], last)
        place = self._place(now[-1])
        seen = place is not None and place.kind != WCHAN
        file = OpenFile(place.fd, place.path, FileKind(place.kind)) if seen and place else None
        return SampledWait(
            tid=thread.tid,
            inner_tid=thread.inner_tid,
            name=self._name(thread.tid),
            ms=round(sum(map(_blocked, reads))),
            last_ms=now[-1].until_ms - now[0].since_ms,
            over=not ended
            and (
                self._told.ending is Ending.EXIT
                or last is not now[-1]
                or last.until_ms < self._told.watched_ms - SAME_WAIT_MS
            ),
            ended=ended,
            call=self._call(now[-1]),
            file=file,
            lengths=tuple(
                n for n, before in zip(lengths, [-1, *lengths], strict=False) if n != before
            ),
            count=sum(sum(map(_blocked, group)) >= LEAST_WAIT_MS for group in groups),
            jvm=self.jvm is not None and thread.pid == self.jvm.pid,
            spans=tuple((g[0].since_ms, g[-1].until_ms) for g in groups[:_TIMES_SHOWN]),
        )

    def _ended_in(self, now: Span, last: Span) -> bool:
        """Whether the JVM ended in that wait.

        One that is seen in it to the end may still have left it, where all ended well (exit code 0): between the last
        look and the end there is time enough for that.
        """
        thread = self._threads.get(last.tid)
        if self.jvm is None or thread is None or thread.pid != self.jvm.pid or last is not now:
            return False
        if last.until_ms < self.jvm.until_ms - SAME_WAIT_MS:
            return False
        match self._told.ending:
            case Ending.KILLED:
                return True
            case Ending.EXIT:
                return bool(self._told.exit_code)
            case _:
                gone = self.jvm.until_ms < self._told.watched_ms - SAME_WAIT_MS
                return gone and self._told.exit_code != 0


def _counted(counters: tuple[Counters, ...]) -> _Counted:
    """What the JVM's own counts say: its last ones, less the first."""
    if not counters:
        return {"major_faults": 0, "read_kib": None, "rss_kib": 0}
    first, last = counters[0], counters[-1]
    seen = first.read_bytes >= 0 and last.read_bytes >= 0
    return {
        "major_faults": max(0, last.major_faults - first.major_faults),
        "read_kib": max(0, last.read_bytes - first.read_bytes) // 1024 if seen else None,
        "rss_kib": last.rss_kib,
    }


class _Counted(TypedDict):
    major_faults: int
    read_kib: int | None
    rss_kib: int


def _of_wchan(name: str) -> Doing:
    """By the kernel function it sleeps in, which is less than a system call tells."""
    if waits_for_random(name) is not None:
        return Doing.RANDOM
    return next((doing for start, doing in _BY_WCHAN if name.startswith(start)), Doing.OTHER)


# Names of 2.6.32 to 6.18 (futex_do_wait, hrtimer_nanosleep, inet_csk_accept, sk_wait_data, ...).
_BY_WCHAN = (
    ("futex", Doing.WAITING), ("hrtimer_nanosleep", Doing.SLEEPING), ("do_nanosleep", Doing.SLEEPING),
    ("ep_poll", Doing.ACCEPT), ("inet_csk_accept", Doing.ACCEPT), ("poll_schedule", Doing.NETWORK),
    ("do_sys_poll", Doing.NETWORK), ("do_select", Doing.NETWORK), ("sk_wait", Doing.NETWORK),
    ("tcp_recvmsg", Doing.NETWORK), ("wait_woken", Doing.NETWORK), ("inet_stream_connect", Doing.CONNECT),
    ("inet_wait_for_connect", Doing.CONNECT), ("__inet_stream_connect", Doing.CONNECT), ("do_wait", Doing.CHILD),
    ("pipe_read", Doing.READ), ("anon_pipe_read", Doing.READ), ("fifo_pipe_read", Doing.READ),
    ("pipe_wait", Doing.READ), ("io_schedule", Doing.DISK), ("folio_wait", Doing.DISK),
    ("wait_on_page", Doing.DISK), ("do_signal_stop", Doing.STOPPED),
)  # fmt: skip


def _of_place(place: Place) -> Doing | None:
    """What a wait channel, or the other end of a socket tells: a connection being made, a question to a name server."""
    if place.kind == WCHAN:
        return _of_wchan(place.path)
    if (place.protocol, place.peer_state) == ("tcp", sockets.SYN_SENT):
        return Doing.CONNECT
    return Doing.DNS if place.protocol == "udp" and place.peer.endswith(":53") else None


def _of_futex(span: Span) -> Doing:
    """Of a wait for another thread, or for a time: its fourth argument is the time-out."""
    if len(span.args) < 4 or span.args[1] & 0x7F not in _FUTEX_WAITS:  # noqa: PLR2004
        return Doing.OTHER
    return Doing.SLEEPING if span.args[3] else Doing.WAITING


_BY_STATE = {"T": Doing.STOPPED, "t": Doing.STOPPED, "D": Doing.DISK}
_BESIDE = {RUNNING: Doing.OTHER, OUTSIDE: Doing.OTHER, UNSEEN: Doing.UNSEEN}
_BY_CALL = {
    **dict.fromkeys(("recvfrom", "recvmsg", "sendto", "poll", "ppoll", "select", "pselect6"), Doing.NETWORK),
    **dict.fromkeys(("accept", "accept4", "epoll_wait", "epoll_pwait", "epoll_pwait2"), Doing.ACCEPT),
    **dict.fromkeys(("nanosleep", "clock_nanosleep", "restart_syscall", "pause"), Doing.SLEEPING),
    **dict.fromkeys(("wait4", "waitid", "waitpid"), Doing.CHILD),
    **dict.fromkeys(("fsync", "fdatasync"), Doing.DISK),
    "connect": Doing.CONNECT,
}  # fmt: skip


def _length(call: str, span: Span) -> int:
    at = 1 if call == "getrandom" else 2
    return span.args[at] if len(span.args) > at else 0


def _blocked(span: Span) -> float:
    return max(0.0, span.until_ms - span.since_ms - (span.cpu_us + span.queued_us) / 1000)


def _settle(pieces: list[_Piece]) -> None:
    """Put right what spans cannot know.

    The count of queueing is written when a thread gets its CPU: what is longer than the span it was found in
    belongs to those before. And a thread found running between waits was in the wait before it for the rest.
    """
    for before, piece in zip(reversed([None, *pieces[:-1]]), reversed(pieces), strict=True):
        if piece.blocked >= 0:
            continue
        over, piece.blocked = -piece.blocked, 0.0
        piece.queued -= over
        if before is not None:
            before.queued += over
            before.blocked -= over
    for before, piece in pairwise(pieces):
        if piece.span.call == RUNNING and before.span.call != RUNNING and piece.blocked > 0:
            before.blocked += piece.blocked
            piece.blocked = 0.0


def _share_of(span: Span, during: Span) -> float:
    """The CPU time of *span*, in ms, that falls into *during*."""
    overlap = min(span.until_ms, during.until_ms) - max(span.since_ms, during.since_ms)
    if overlap <= 0:
        return 0.0
    return span.cpu_us / 1000 * overlap / max(1, span.until_ms - span.since_ms)


def _cut(
    window: list[tuple[int, int]], since: int, until: int
) -> tuple[int, list[tuple[int, int]]]:
    """Take a time out of a window of times: how much of it was there, and what is left."""
    taken = 0
    left: list[tuple[int, int]] = []
    for low, high in window:
        a, b = max(low, since), min(high, until)
        if a >= b:
            left.append((low, high))
            continue
        taken += b - a
        left += [(x, y) for x, y in ((low, a), (b, high)) if x < y]
    return taken, left
