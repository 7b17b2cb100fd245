"""Looking at processes again and again: what is seen, and what it costs."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from seedstall.facts.startaccount import account
from seedstall.model.evidence import Ask, Got, Missing, Ref, Space, Why
from seedstall.model.recording import RUNNING, Recording, SampledProcess, is_random
from seedstall.model.samples import Doing, Ending
from seedstall.source import arrival, sampling
from seedstall.source.base import Held
from seedstall.source.family import Family, children_of
from seedstall.source.kept import Kept
from seedstall.source.sampling import (
    MAX_SPANS,
    SHORTEST_MS,
    Journal,
    Pace,
    ProcessSampler,
    recording_of,
)

SAYS = "import sys\nprint('up', flush=True)\n"


@pytest.fixture
def started() -> Iterator[list[subprocess.Popen[bytes]]]:
    processes: list[subprocess.Popen[bytes]] = []
    yield processes
    for process in processes:
        process.kill()
        process.communicate()


def start(
    started: list[subprocess.Popen[bytes]], text: str, *arguments: str
) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        [sys.executable, "-c", SAYS + text, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    started.append(process)
    assert process.stdout is not None
    assert process.stdout.readline() == b"up\n"
    return process


def watched(pid: int, seconds: float) -> Recording:
    """As a JVM would be watched, whose main thread is its first."""
    journal, pace = Journal(), Pace()
    zero = time.monotonic()
    sampler = ProcessSampler(pid, journal, 0, jvm=True)
    samples = 0
    while time.monotonic() - zero < seconds:
        assert sampler.look(int((time.monotonic() - zero) * 1000))
        samples += 1
        time.sleep(pace.after_look())
    now = int((time.monotonic() - zero) * 1000)
    sampler.close(now)
    return recording_of(
        journal,
        watched_ms=now,
        ending=Ending.TIME,
        samples=samples,
        own_cpu_us=pace.own_cpu_us,
        from_start=False,
    )


def test_a_read_of_what_stands_for_the_random_device(
    started: list[subprocess.Popen[bytes]], tmp_path: Path
) -> None:
    """A read that gets a part of its bytes is the same wait; the length tells how it gets on."""
    (tmp_path / "dev").mkdir()
    fifo = tmp_path / "dev/random"
    os.mkfifo(fifo)
    writer = os.open(fifo, os.O_RDWR)
    text = (
        "import os\nf = os.open(sys.argv[1], os.O_RDONLY)\nn = 20\n"
        "while n: n -= len(os.read(f, n))\nsys.stdin.read()"
    )
    process = start(started, text, str(fifo))
    journal = Journal()
    sampler = ProcessSampler(process.pid, journal, 0, jvm=True)
    for at in range(0, 600, 100):
        assert sampler.look(at)
        if at == 300:
            os.write(writer, b"abcdef")
        time.sleep(0.05)
    assert sampler.seeding_ms(600) >= 500, "the same wait, though it got some of its bytes"
    sampler.close(600)
    os.close(writer)
    told = account(
        recording_of(
            journal, watched_ms=600, ending=Ending.TIME, samples=6, own_cpu_us=1, from_start=False
        )
    )
    (wait,) = told.waits
    assert wait.lengths == (20, 14)
    assert wait.file is not None
    assert wait.file.path == str(fifo)
    assert is_random(journal.places[0])
    assert told.ms(Doing.RANDOM) >= 500


def test_sleep_work_and_their_cost(started: list[subprocess.Popen[bytes]]) -> None:
    sleeps = account(watched(start(started, "sys.stdin.read()").pid, 0.6))
    assert sleeps.table[0].doing is Doing.READ
    assert sleeps.table[0].where.startswith("read of fifo (fd 0")
    works = account(watched(start(started, "while True: pass").pid, 1.0))
    assert works.ms(Doing.CPU, Doing.QUEUED) > 0.7 * works.watched_ms
    assert works.last is Doing.CPU
    # A hundredth of a core from one second on (the credit for the first looks is 4 ms); noise doubles it at worst.
    assert works.cost < 0.02


def test_of_very_many_idle_threads_each_has_its_turn(
    started: list[subprocess.Popen[bytes]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """2,000 threads of a pool: a look at all of them takes 17 ms, of which no percent of a core is made."""
    monkeypatch.setattr(sampling, "MANY", 10)
    text = (
        "import threading, time\n"
        "for _ in range(40): threading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n"
        "print('up', flush=True)\ntime.sleep(60)"
    )
    process = subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE)
    started.append(process)
    assert process.stdout is not None
    process.stdout.readline()
    sampler = ProcessSampler(process.pid, Journal(), 0, jvm=False)
    seen: list[list[int]] = []
    whole = sampler._thread

    def counted(tid: int, now_ms: int) -> None:
        seen[-1].append(tid)
        whole(tid, now_ms)

    monkeypatch.setattr(sampler, "_thread", counted)
    for look in range(12):
        seen.append([])
        assert sampler.look(look * 20)
    assert len(seen[0]) == 41, "all are new"
    last = seen[-5:]
    assert max(map(len, last)) <= 12, "a fifth of them, and the first thread"
    assert {tid for tids in last for tid in tids} == set(seen[0]), "all have their turn"
    assert all(process.pid in tids for tids in last)
    sampler.close(240)


def test_a_connection_that_is_not_answered(started: list[subprocess.Popen[bytes]]) -> None:
    """A listener whose queue is full does not answer: the packets are dropped."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        port = listener.getsockname()[1]
        fillers = [socket.socket() for _ in range(4)]
        for one in fillers:
            one.settimeout(0)
            one.connect_ex(("127.0.0.1", port))
        text = "import socket\nsocket.socket().connect(('127.0.0.1', int(sys.argv[1])))"
        process = start(started, text, str(port))
        # The kernel's table of sockets is no snapshot: where many come and go, one may be missing in a look.
        told = account(watched(process.pid, 0.8))
        for _ in range(4):
            if told.table[0].where == f"connect to 127.0.0.1:{port}":
                break
            told = account(watched(process.pid, 0.8))
        for one in fillers:
            one.close()
    assert told.table[0].doing is Doing.CONNECT
    assert told.table[0].where == f"connect to 127.0.0.1:{port}"


def test_only_its_own_socket_makes_it_listen(started: list[subprocess.Popen[bytes]]) -> None:
    with socket.socket() as ours:
        ours.bind(("127.0.0.1", 0))
        ours.listen()
        text = (
            "import socket\ns = socket.socket()\ns.bind(('127.0.0.1', 0))\ns.listen()\n"
            "print(s.getsockname()[1], flush=True)\nsys.stdin.read()"
        )
        process = start(started, text)
        assert process.stdout is not None
        theirs = int(process.stdout.readline())
        sampler = ProcessSampler(process.pid, Journal(), 0, jvm=True)
        assert sampler.listens(theirs)
        assert not sampler.listens(ours.getsockname()[1])
        sampler.close(1)


def test_a_process_that_ends_is_told(started: list[subprocess.Popen[bytes]]) -> None:
    process = start(started, "sys.stdin.read()")
    journal = Journal()
    sampler = ProcessSampler(process.pid, journal, 0, jvm=False)
    assert sampler.look(0)
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert not sampler.look(100), "a zombie"
    sampler.close(100)
    process.wait()
    (told,) = journal.processes
    assert (told.pid, told.jvm, told.until_ms) == (process.pid, False, 100)
    assert isinstance(told, SampledProcess)


def test_a_process_that_is_not_there_is_an_error() -> None:
    with pytest.raises(FileNotFoundError):
        ProcessSampler(2**22 + 1, Journal(), 0, jvm=False)


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


def test_children_and_theirs_are_followed_and_no_descriptor_is_lost(
    started: list[subprocess.Popen[bytes]],
) -> None:
    text = (
        "import subprocess\np = subprocess.Popen(['sleep', '60'])\nprint(p.pid, flush=True)\n"
        "sys.stdin.read()\np.kill()"
    )
    process = start(started, text)
    assert process.stdout is not None
    child = int(process.stdout.readline())
    assert child in children_of(process.pid)
    before = descriptors()
    journal = Journal()
    family = Family(journal)
    family.add(process.pid, 0)
    family.look(0)
    family.look(100)
    family.close(200)
    assert {p.pid for p in journal.processes} == {process.pid, child}
    assert family.jvm is None
    assert descriptors() == before
    process.communicate(b"")


def test_spans_say_what_ran(started: list[subprocess.Popen[bytes]]) -> None:
    told = watched(start(started, "while True: pass").pid, 0.5)
    running = [span for span in told.spans if span.call == RUNNING]
    assert running
    assert sum(span.cpu_us for span in running) > 0


def test_a_long_watch_looks_less_and_less_often() -> None:
    pace = Pace()
    pace.thin_out(MAX_SPANS)
    assert pace.shortest_ms == SHORTEST_MS
    pace.thin_out(MAX_SPANS + 1)
    assert pace.shortest_ms == 2 * SHORTEST_MS
    pace.thin_out(3 * MAX_SPANS + 1)
    assert pace.shortest_ms == 8 * SHORTEST_MS


def test_nobody_comes_up_in_time() -> None:
    began = time.thread_time()
    ready: list[tuple[int, ...]] = []
    assert arrival.await_jvm("no program is called so", 0.5, ready.append) is None
    assert ready == [()]
    assert time.thread_time() - began < 0.1


def test_what_a_process_told_outlives_it_but_not_its_threads() -> None:
    cmdline = Ref(Space.PROCESS, "cmdline")
    tasks = Ref(Space.PROCESS, "task", Ask.LIST)
    contents: dict[Ref, bytes | Why] = {cmdline: b"java\0", tasks: b"1\0"}
    kept = Kept(Held(contents))
    kept.keep(cmdline, tasks)
    contents.update({cmdline: Why.VANISHED, tasks: Why.VANISHED})
    assert kept.read(cmdline) == Got(b"java\0", (cmdline,))
    assert isinstance(kept.read(tasks), Missing)
    contents[cmdline] = Why.DENIED
    assert isinstance(kept.read(cmdline), Missing), (
        "what is refused now is not answered from memory"
    )
