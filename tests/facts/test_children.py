"""What a program started and what that waits for: hand-made readings, and real programs on real descriptors."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests import facts_by_hand as by_hand

from seedstall.facts.children import script_wait, started_programs, waiting_children
from seedstall.facts.process import jvm_process
from seedstall.model.evidence import Ask, Got, Missing, Reading, Ref, Space, Unavailable, Why
from seedstall.model.standing import Place, Standing, Standings
from seedstall.model.tasks import FileKind, ScriptWait
from seedstall.model.verdict import Cause
from seedstall.source.base import Held, Source
from seedstall.source.host import HostSource

ELF_64 = b"\x7fELF\x02\x01\x01" + b"\0" * 9 + b"\x02\x00\x3e\x00" + b"\0" * 44
JVM = b"7f25-7f26 r-xp 00000000 fe:00 2155521    /opt/jdk/lib/server/libjvm.so\n"
SHELL = b"7f25-7f26 r-xp 00000000 fe:00 2155521    /bin/dash\n"


def process(path: str, ask: Ask = Ask.CONTENT) -> Ref:
    return Ref(Space.PROCESS, path, ask)


def kernel(path: str, ask: Ask = Ask.CONTENT) -> Ref:
    return Ref(Space.KERNEL, path, ask)


def stat(pid: int, state: bytes = b"S", parent: int = 1) -> bytes:
    return b"%d (gpg) %s %d 0 0 0 -1 0 0 0 0 0 12 34 0 0 20 0 2 0 1000 0 0\n" % (pid, state, parent)


def call(number: int, first: int) -> bytes:
    return b"%d 0x%x 0x7fff0e8fe360 0x14 0x0 0x0 0x0 0x7fff0e8fe348 0x441b7d\n" % (number, first)


def child(pid: int, syscall: bytes, fds: dict[int, bytes] | None = None) -> dict[Ref, bytes | Why]:
    return {
        kernel(f"proc/{pid}/stat"): stat(pid),
        kernel(f"proc/{pid}/syscall"): syscall,
        kernel(f"proc/{pid}/exe-header"): ELF_64,
        kernel(f"proc/{pid}/wchan"): b"0",
        kernel(f"proc/{pid}/cmdline"): b"gpg\0--gen-key\0",
        kernel(f"proc/{pid}/maps"): SHELL,
        **{kernel(f"proc/{pid}/fd/{n}", Ask.LINK): link for n, link in (fds or {}).items()},
    }


TARGET: dict[Ref, bytes | Why] = {
    process("task", Ask.LIST): b"1\x00",
    process("task/1/children"): b"50 51 x ",
    process("maps"): JVM,
    process("stat"): stat(1),
    process("cmdline"): b"sh\0/opt/start.sh\0",
}
DEVICE = {3: b"/dev/random"}


def tids(readings: dict[Ref, bytes | Why]) -> list[tuple[int | None, int]]:
    return [(t.pid, t.tid) for t in waiting_children(Held(readings)).tasks]


def test_children_are_read_by_their_own_names() -> None:
    readings = TARGET | child(50, call(318, 1)) | {kernel("proc/51/stat"): Why.VANISHED}
    readings[kernel("proc/50/task/50/children")] = b"50 50 "
    assert tids(readings) == [(50, 50)], "once, whatever the files say"


def test_a_thread_of_a_child_may_be_the_one_that_waits() -> None:
    readings = TARGET | child(50, call(202, 0), DEVICE)
    readings |= {
        kernel("proc/50/task", Ask.LIST): b"50\x0052\x00",
        kernel("proc/50/task/52/stat"): stat(52),
        kernel("proc/50/task/52/syscall"): call(0, 3),
    }
    assert tids(readings) == [(50, 52)]


@pytest.mark.parametrize(
    ("syscall", "waits"),
    [
        (call(0, 3), True),
        (call(0, 4), False),
        (call(23, 4), True),  # select(4, ...): descriptor 3 is the highest
        (call(270, 4), True),
        (call(270, 5), False),
        (call(270, 0), False),
        (call(270, 1 << 30), False),
        (call(7, 4), False),  # poll: its first argument is an address
    ],
)
def test_gpg_waits_in_a_select_before_it_reads(syscall: bytes, *, waits: bool) -> None:
    readings = TARGET | child(50, syscall, {**DEVICE, 4: b"/dev/null"})
    assert bool(tids(readings)) == waits


def test_a_jvm_below_a_jvm_is_known_as_one() -> None:
    readings = TARGET | child(50, call(0, 3), DEVICE) | {kernel("proc/50/maps"): JVM}
    found = waiting_children(Held(readings))
    assert (found.jvms, found.script) == ((50,), ())


def test_the_jvms_below_a_script_are_left_out_with_all_they_started() -> None:
    readings = TARGET | child(50, call(0, 3), DEVICE) | {kernel("proc/50/maps"): JVM}
    readings |= child(52, call(0, 3), DEVICE)
    readings |= {process("maps"): SHELL, kernel("proc/50/task/50/children"): b"52"}
    assert tids(readings) == []
    readings |= child(51, call(0, 3), DEVICE)
    found = waiting_children(Held(readings))
    assert [t.pid for t in found.tasks] == [51]
    assert found.script == ("sh", "/opt/start.sh")


def test_children_that_cannot_be_listed_are_not_called_none() -> None:
    for listed in (b"1\0", Why.DENIED):
        with pytest.raises(Unavailable):
            waiting_children(Held({process("task", Ask.LIST): listed}))


def test_a_kernel_without_such_lists_is_asked_for_parents() -> None:
    """CONFIG_PROC_CHILDREN is younger than the kernels that block: 2.6.32 has neither."""
    readings = TARGET | child(50, call(0, 3), DEVICE) | child(60, call(0, 3), DEVICE)
    readings |= {
        process("task/1/children"): Why.ABSENT,
        kernel("proc", Ask.LIST): b"1\x0050\x0060\x0070\x00self\x00",
        kernel("proc/1/stat"): stat(1, parent=0),
        kernel("proc/50/stat"): stat(50, parent=1),
        kernel("proc/60/stat"): stat(60, parent=50),
        kernel("proc/70/stat"): Why.VANISHED,
    }
    assert tids(readings) == [(50, 50), (60, 60)]


@pytest.mark.parametrize("size", [5_000, 50_000])
def test_a_swarm_of_children_is_bounded(size: int) -> None:
    readings = TARGET | {process("task/1/children"): b"50 " * size}
    readings |= child(50, call(0, 3), DEVICE)
    readings[kernel("proc/50/task/50/children")] = b" ".join(b"%d" % n for n in range(size))
    start = time.perf_counter()
    assert tids(readings) == [(50, 50)]
    assert time.perf_counter() - start < 1


# --- live ------------------------------------------------------------------------------------------------------------


def until(condition: Callable[[], object]) -> None:
    end = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


@contextmanager
def script(text: str, shell: str = "sh") -> Iterator[HostSource]:
    program = subprocess.Popen(
        [shell, "-c", text, "sh"], process_group=0, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
    )
    try:
        with HostSource(program.pid) as source:
            yield source
    finally:
        os.killpg(program.pid, signal.SIGKILL)
        program.wait()
        assert program.stdin is not None
        program.stdin.close()


@pytest.fixture
def device(tmp_path: Path) -> Iterator[Path]:
    """A device that gives nothing: a FIFO of that name."""
    fifo = tmp_path / "dev/random"
    fifo.parent.mkdir()
    os.mkfifo(fifo)
    keep = os.open(fifo, os.O_RDWR)
    yield fifo
    os.close(keep)


@pytest.mark.parametrize(
    ("program", "name"),
    [
        ("sleep 60 & sh -c 'head -c 20 {}; true'; true", "head"),
        ("dd if={} bs=1 count=1; true", "dd"),
        ("KEY=$(head -c 16 {} | od -An); true", "head"),
        ("{python} -c 'import select; f=open(\"{}\"); select.select([f],[],[])'; true", "python"),
    ],
)
def test_a_child_that_waits_for_random_bytes_is_found(
    device: Path, program: str, name: str
) -> None:
    """A script's gpg or openssl, some levels down."""
    with script(program.format(device, python=sys.executable)) as source:
        until(lambda: waiting_children(source).tasks)
        (found,) = waiting_children(source).tasks
    assert found.comm.startswith(name)
    assert found.state == "S"
    assert found.file is not None
    assert (found.file.path, found.file.kind) == (str(device), FileKind.FIFO)


def test_without_children_none_waits() -> None:
    with script("read x") as source:
        assert waiting_children(source).tasks == ()


def waited(source: Source) -> ScriptWait | Missing:
    try:
        return script_wait(source, jvm_process(source))
    except Unavailable as error:
        return error.missing


SLEEP = "sleep 61"


@pytest.mark.parametrize(
    ("text", "shells", "depth"),
    [
        (f"{SLEEP}; true", ("sh", "bash"), 1),
        (f"X=$({SLEEP}); true", ("sh", "bash"), 1),
        (f"sh -c 'timeout --foreground 60 sh -c \"{SLEEP}; true\"; true'; true", ("sh",), 4),
    ],
)
def test_a_script_leads_to_what_it_waits_for(
    text: str, shells: tuple[str, ...], depth: int
) -> None:
    for shell in shells:
        with script(text, shell) as source:
            looks: list[ScriptWait | Missing] = []

            def asleep() -> bool:
                look = waited(source)
                looks.append(look)  # noqa: B023 - the same
                at = look.chain[-1] if isinstance(look, ScriptWait) else None
                return _last(look) == ("sleep", "61") and at is not None and bool(at.task.syscall)

            until(asleep)
            found = looks[-1]
        assert isinstance(found, ScriptWait)
        assert len(found.chain) == depth
        assert found.others == 0
        call = found.chain[-1].task.syscall
        assert call is not None
        assert call.name == "clock_nanosleep"
        assert found.chain[-1].age_ms is not None


def _last(found: ScriptWait | Missing) -> tuple[str, ...]:
    return found.chain[-1].argv if isinstance(found, ScriptWait) else ()


def test_one_that_reads_its_input_waits_for_nothing_it_started() -> None:
    """Its input is a pipe here, as that of ``$(command)`` is."""
    with script(f"{SLEEP} & read x; true") as source:
        until(lambda: _reads_its_input(source))
        found = waited(source)
    assert isinstance(found, Missing)
    assert "does not wait" in found.detail


def _reads_its_input(source: HostSource) -> bool:
    reading = source.read(process("syscall"))
    return isinstance(reading, Got) and reading.value.startswith((b"0 0x0 ", b"63 0x0 "))


def test_a_jvm_is_no_script_and_one_below_it_is_not_overlooked() -> None:
    shell: dict[Ref, bytes | Why] = {
        process("status"): _status(),
        process("task/1/stat"): stat(1),
        process("task/1/syscall"): call(61, 50),
        process("exe-header"): ELF_64,
        process("maps"): SHELL,
    }
    readings = TARGET | shell | child(50, call(230, 0))
    readings[process("task/1/children")] = b"50"
    found = waited(Held(readings))
    assert isinstance(found, ScriptWait)
    assert found.chain[-1].argv == ("gpg", "--gen-key")
    for maps in (process("maps"), kernel("proc/50/maps")):
        none = waited(Held({**readings, maps: JVM}))
        assert isinstance(none, Missing)
        assert none.why is Why.ABSENT
    none = waited(Held({**readings, process("maps"): Why.DENIED}))
    assert isinstance(none, Missing)
    assert none.why is Why.DENIED


def _status() -> bytes:
    return b"Name:\tsh\nTgid:\t1\nPid:\t1\nUid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\n"


def test_a_reading_is_never_taken_for_another_processs() -> None:
    asked: list[Ref] = []

    class Spy:
        def read(self, ref: Ref) -> Reading[bytes]:
            asked.append(ref)
            return Held(TARGET | child(50, call(0, 3), DEVICE)).read(ref)

    waiting_children(Spy())
    assert not [r for r in asked if r.space is Space.PROCESS and "50" in r.path]


def test_what_it_started_is_named_the_last_one_first() -> None:
    readings = TARGET | child(50, call(0, 3), DEVICE) | child(51, call(230, 0))
    readings[kernel("proc/51/stat")] = stat(51).replace(b" 1000 0 0", b" 2000 0 0")
    waits = Standings((Standing(by_hand.thread(), Place(Cause.CHILD, "waits", "waitFor")),))
    found = started_programs(Held(readings), waits).programs
    assert [one.pid for one in found] == [51, 50]
    assert found[1].argv == ("gpg", "--gen-key")
    with pytest.raises(Unavailable, match="no thread of the start waits"):
        started_programs(Held(readings), Standings())
