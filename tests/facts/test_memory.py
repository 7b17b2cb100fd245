"""Threads and stacks out of memory, on the recorded memory of real JVMs."""

from __future__ import annotations

import random
import threading
import time
import tracemalloc
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import pytest
from tests.live.owndump import compared
from tests.memoryimages import RELEASES, Image, image

from seedstall.facts.inputs import thread_dumps_of_case
from seedstall.facts.memory import memory_dump
from seedstall.model.evidence import Ask, Got, Missing, Reading, Ref, Space, Unavailable, Why
from seedstall.model.threads import LockAct, ThreadDump
from seedstall.parse.hotspot.machine import Machine
from seedstall.parse.hotspot.memory import Pages, SpentError, spelled
from seedstall.parse.hotspot.symbols import Exported
from seedstall.parse.threaddump import thread_dumps
from seedstall.parse.vmstructs import tables
from seedstall.source.base import Recorder, Source

EVERY = pytest.mark.parametrize("feature", RELEASES)


def own_dump(held: Image) -> ThreadDump:
    (dump,) = thread_dumps(held.threads, "attach")
    return dump


@EVERY
def test_every_thread_and_frame_is_as_the_jvm_itself_says(feature: int) -> None:
    held = image(feature)
    dump = memory_dump(held)
    found = compared(dump, own_dump(held))
    assert found.differences == []
    assert found.threads > 50
    assert found.frames > 1700
    assert dump.complete
    assert dump.unread == 0
    assert dump.origin == "memory"
    assert dump.jdk is not None
    assert dump.jdk.feature == feature


@EVERY
def test_who_waits_for_a_lock_and_who_holds_it(feature: int) -> None:
    threads = {thread.name: thread for thread in memory_dump(image(feature)).threads}
    waits = threads["mix-3"].locks
    assert [(w.act, w.class_name) for w in waits] == [(LockAct.WAITING_TO_LOCK, "java.lang.Object")]
    held = {(lock.act, lock.class_name, lock.address) for lock in threads["main"].locks}
    assert (LockAct.LOCKED, "java.lang.Object", waits[0].address) in held
    (parked,) = threads["mix-4"].locks
    assert parked.act is LockAct.PARKING
    assert parked.class_name == "java.util.concurrent.locks.ReentrantLock$NonfairSync"
    assert (LockAct.OWNED, parked.class_name, parked.address) in held


@EVERY
def test_which_class_a_thread_waits_to_be_initialised(feature: int) -> None:
    threads = {thread.name: thread for thread in memory_dump(image(feature)).threads}
    (wait,) = threads["initialiser too"].locks
    assert (wait.act, wait.class_name) == (LockAct.CLASS_INIT, "Mix$Late")


def test_names_of_all_alphabets_are_read() -> None:
    names = {thread.name for thread in memory_dump(image(17)).threads}
    assert "näme \u2603" in names


# --- circles ---------------------------------------------------------------------------------------------------------


def wait_for_each_other(held: Image) -> list[int]:
    """Let main, whose lock mix-3 waits for, wait for a lock of mix-3's; the ids of the two."""
    main, waiter = (
        next(t for t in memory_dump(held).threads if t.name == name) for name in ("main", "mix-3")
    )
    pages = Pages(held.memory())
    told = tables(pages, Exported(pages, base_of(held)))
    pending = told.offset("JavaThread._current_pending_monitor", "Thread._current_pending_monitor")
    monitor, other = word_at(held, waiter.address + pending), 0x1000
    held.pages[other] = bytes(4096)
    put(held, other, held.read_span(monitor, 256))
    put(held, other + told.offset("ObjectMonitor._owner"), waiter.address.to_bytes(8, "little"))
    put(held, main.address + pending, other.to_bytes(8, "little"))
    return [thread.nid or 0 for thread in (main, waiter)]


@pytest.mark.parametrize(("state", "step", "found"), [("S", 0, 1), ("S", 1, 0), ("R", 0, 0)])
def test_a_circle_of_threads_that_ran_meanwhile_is_none(state: str, step: int, found: int) -> None:
    """Two threads that take turns at two locks make one, at times: each link stood, but no two together."""
    held = image(17)
    ids = wait_for_each_other(held)
    looks = 0

    class Live:
        def read(self, ref: Ref) -> Reading[bytes]:
            nonlocal looks
            if ref.path not in [f"task/{nid}/status" for nid in ids]:
                return held.read(ref)
            looks += step
            said = f"State:\t{state}\nvoluntary_ctxt_switches:\t{looks}\nnonvoluntary_ctxt_switches:\t0\n"
            return Got(said.encode(), (ref,))

    assert len(memory_dump(Live()).deadlocks) == found


def test_a_thousand_waiters_look_for_their_owner_once(monkeypatch: pytest.MonkeyPatch) -> None:
    held = image(17)
    machine = Machine(Pages(held.memory()), base_of(held))
    waiter = next(t for t in memory_dump(held).threads if t.name == "mix-3").address
    machine.monitors.among(machine.threads.all())
    looks: list[int] = []
    bounds = machine.threads.stack_bounds

    def counted(thread: int) -> tuple[int, int]:
        looks.append(thread)
        return bounds(thread)

    monkeypatch.setattr(machine.threads, "stack_bounds", counted)
    owners = {machine.monitors.wanted_by(waiter) for _ in range(1000)}
    assert len(owners) == 1
    assert len(looks) <= len(machine.threads.all())


def test_a_compiled_frame_whose_debug_information_is_not_there_yet_is_not_taken_for_one_method(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Code was being written when we first saw its page: the methods inlined there would be missed, silently."""
    whole = {t.name: t for t in memory_dump(image(17)).threads}

    def no_place(_places: bytes, _wanted: int, *, exact: bool) -> None:
        del exact

    decode = "seedstall.parse.hotspot.codecache._decode_offset"
    monkeypatch.setattr(decode, no_place)
    threads = memory_dump(image(17)).threads
    assert any("no debug information" in thread.note for thread in threads)
    for thread in threads:
        assert thread.cut or thread.frames == whole[thread.name].frames


def test_a_thread_that_had_just_begun_is_looked_at_again() -> None:
    """Its JavaThread lay in a page that we had read before it was there."""
    held = image(17)
    machine = Machine(Pages(held.memory()), base_of(held))
    last = machine.threads.all()[-1]
    told = tables(machine.pages, Exported(machine.pages, base_of(held)))
    at = last + told.offset("JavaThread._osthread", "Thread._osthread")
    whole, reads = word_at(held, at), 0

    class Beginning:
        def read(self, ref: Ref) -> Reading[bytes]:
            nonlocal reads
            if ref == Ref(Space.MEMORY, spelled(at & -4096, 4096)):
                reads += 1
                put(held, at, (whole if reads > 1 else 0).to_bytes(8, "little"))
            return held.read(ref)

    dump = memory_dump(Beginning())
    assert reads > 1
    assert dump.complete
    assert last in [thread.address for thread in dump.threads]


# --- what cannot be had ----------------------------------------------------------------------------------------------


def test_the_reason_of_a_denied_memory_is_the_reason() -> None:
    held = image(17)

    class Denied:
        def read(self, ref: Ref) -> Reading[bytes]:
            if ref.space is Space.MEMORY:
                return Missing(Why.DENIED, (ref,), "run as root")
            return held.read(ref)

    with pytest.raises(Unavailable) as caught:
        memory_dump(Denied())
    assert caught.value.missing.why is Why.DENIED
    assert caught.value.missing.detail == "run as root"


@pytest.mark.parametrize(
    ("maps", "words"),
    [
        (b"", "no libjvm.so is mapped"),
        (b"7f00-7f01 r-xp 00000000 08:01 5 /opt/j9/lib/libj9vm29.so\n", "OpenJ9"),
        (
            b"7f00-7f01 r--p 00000000 08:01 5 /opt/jdk/lib/server/libjvm.so\n",
            "no libjvm.so is mapped",
        ),
    ],
)
def test_another_virtual_machine_is_told(maps: bytes, words: str) -> None:
    held = image(17)
    held.maps = maps
    with pytest.raises(Unavailable, match=words):
        memory_dump(held)


def with_text(held: Image, old: bytes, new: bytes) -> Image:
    assert len(old) == len(new)
    for at, page in held.pages.items():
        if old in page:
            held.pages[at] = page.replace(old, new)
    return held


@pytest.mark.parametrize("other", [b"23", b"12", b"26"])
def test_a_release_nobody_compared_is_not_guessed_at(other: bytes) -> None:
    held = with_text(image(17), b"17.0.9+9", other + b".0.9+9")
    with pytest.raises(Unavailable, match=f"this is JDK {other.decode()}"):
        memory_dump(held)


def test_a_jvm_for_another_machine_is_refused() -> None:
    held = image(17)
    base = int(held.maps.split(b"-")[0], 16)
    page = bytearray(held.pages[base])
    page[18] = 183
    held.pages[base] = bytes(page)
    with pytest.raises(Unavailable, match="a 64-bit JVM for aarch64"):
        memory_dump(held)


def test_a_jvm_of_this_moment_has_no_tables_yet() -> None:
    held = image(17)
    base = int(held.maps.split(b"-")[0], 16)
    held.pages = {at: page for at, page in held.pages.items() if at == base}
    with pytest.raises(Unavailable, match="being loaded"):
        memory_dump(held)


@pytest.mark.parametrize("feature", [8, 17, 25])
def test_a_thread_that_runs_java_code_has_no_stack_and_counts_as_unread(feature: int) -> None:
    held = image(feature)
    running(held, "mix-0")
    dump = memory_dump(held)
    (thread,) = [t for t in dump.threads if t.name == "mix-0"]
    assert thread.frames == ()
    assert thread.cut
    assert "runs Java code" in thread.note
    assert dump.unread == 1


def running(held: Image, name: str) -> int:
    """Make a thread look like one that runs Java code; its stack pointer before."""
    address = next(t.address for t in memory_dump(held).threads if t.name == name)
    anchor, state = offsets(held)
    sp = word_at(held, address + anchor)
    put(held, address + anchor, bytes(24))
    put(held, address + state, (8).to_bytes(4, "little"))
    return sp


def offsets(held: Image) -> tuple[int, int]:
    pages = Pages(held.memory())
    told = tables(pages, Exported(pages, base_of(held)))
    return told.offset("JavaThread._anchor"), told.offset("JavaThread._thread_state")


def put(held: Image, address: int, data: bytes) -> None:
    for index, byte in enumerate(data):
        at = address + index
        page = bytearray(held.pages[at & -4096])
        page[at & 4095] = byte
        held.pages[at & -4096] = bytes(page)


def test_a_stopped_process_gives_its_registers() -> None:
    held = image(17)
    before = next(t for t in memory_dump(held).threads if t.name == "mix-0")
    sp = running(held, "mix-0")
    held.files = {
        "stat": b"1 (java) T 0" + b" 0" * 40,
        f"task/{before.nid}/syscall": b"-1 %#x %#x\n" % (sp, word_at(held, sp - 8)),
    }
    (found,) = [t for t in memory_dump(held).threads if t.name == "mix-0"]
    assert "guess" in found.note
    assert found.cut
    assert [f.name for f in found.frames][-3:] == [f.name for f in before.frames][-3:]


def word_at(held: Image, address: int) -> int:
    return int.from_bytes(held.read_span(address, 8), "little")


STATUS = b"""Name:\tx\nState:\tS\nTgid:\t9\nPid:\t%d\nPPid:\t1\nTracerPid:\t0
Uid:\t0\t0\t0\t0\nGid:\t0\t0\t0\t0\nNSpid:\t%d\t%d\nThreads:\t1\n"""


def test_a_thread_without_a_name_is_called_by_its_comm_in_a_pid_namespace_too() -> None:
    held = image(17)
    thread = next(t for t in memory_dump(held).threads if t.name == "mix-0")
    machine = Machine(Pages(held.memory()), base_of(held))
    name = machine.heap.place(machine.threads.object_of(thread.address), "java.lang.Thread", "name")
    assert name is not None
    put(held, name, bytes(4))

    class Inside:
        def read(self, ref: Ref) -> Reading[bytes]:
            answers = {
                Ref(Space.PROCESS, "status"): STATUS % (9, 9, 1),
                Ref(Space.PROCESS, "task", Ask.LIST): b"4711\0",
                Ref(Space.PROCESS, "task/4711/status"): STATUS % (4711, 4711, thread.nid or 0),
                Ref(Space.PROCESS, "task/4711/comm"): b"outer\n",
            }
            return Got(answers[ref], (ref,)) if ref in answers else held.read(ref)

    (found,) = [t for t in memory_dump(Inside()).threads if t.nid == thread.nid]
    assert found.name == "outer"
    assert found.frames == thread.frames
    assert found.state == "", (
        "what has no name is no thread any more: nothing else is believed of it"
    )


def base_of(held: Image) -> int:
    return int(held.maps.split(b"-")[0], 16)


def test_reading_through_a_recorder_keeps_no_memory() -> None:
    recorder = Recorder(image(17))
    memory_dump(recorder)
    assert all(ref.space is not Space.MEMORY for ref in recorder.readings)
    assert Ref(Space.MEMORY, "") in recorder.origins


# --- hostile memory --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("feature", RELEASES)
def test_damaged_memory_neither_hangs_nor_crashes_nor_grows(feature: int) -> None:
    """Bytes of tables, code cache, heap and stacks flipped: an answer or a reason, in bounded time and space."""
    chance = random.Random(feature)  # noqa: S311 - damage, not a secret
    started = time.monotonic()
    tracemalloc.start()
    try:
        for turn in range(3):
            held = image(feature)
            damage(held, chance, share=(0.02, 0.2, 1.0)[turn % 3])
            try:
                dump = memory_dump(held, time_s=2.0)
            except Unavailable:
                continue
            assert len(dump.threads) < 1000
            assert sum(len(t.frames) for t in dump.threads) < 300_000
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 256 << 20
    assert time.monotonic() - started < 60


def damage(held: Image, chance: random.Random, share: float) -> None:
    """Flip bytes in a *share* of the pages: numbers, pointers, or whole words of all ones."""
    for at in held.pages:
        if chance.random() < share:
            page = bytearray(held.pages[at])
            for _ in range(chance.randrange(1, 8)):
                place = chance.randrange(0, 4096, 8)
                page[place : place + 8] = chance.choice(
                    (
                        b"\xff" * 8,
                        bytes(8),
                        chance.randbytes(8),
                        bytes(page[place : place + 7]) + b"\x7f",
                    )
                )
            held.pages[at] = bytes(page)


def test_names_without_end_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """A page that is a long name from each of its bytes on: no memory of the target's is needed for any number."""
    monkeypatch.setattr("seedstall.parse.hotspot.memory.MAX_KEPT", 1 << 20)
    held = image(17)
    machine = Machine(Pages(held.memory()), base_of(held))
    held.pages |= dict.fromkeys(range(0x100000, 0x110000, 4096), b"A" * 4096)
    with pytest.raises(SpentError, match="names are longer"):
        list(map(machine.klasses.symbol, range(0x100000, 0x108000)))
    machine.forget()
    assert len(machine.klasses.symbol(0x100000)) == 4096


def test_stacks_without_end_are_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("seedstall.facts.memory.MAX_SHOWN", 10_000)
    dump = memory_dump(image(17))
    assert dump.threads
    assert not dump.complete
    assert dump.unread > 10


def test_a_read_that_never_returns_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    held = image(17)
    never = threading.Event()

    class Stuck:
        def read(self, ref: Ref) -> Reading[bytes]:
            if ref.space is Space.MEMORY and held.reads > 30:
                never.wait()
            return held.read(ref)

    monkeypatch.setattr("seedstall.facts.memory.GRACE_S", 0.1)
    with pytest.raises(Unavailable, match="did not come") as caught:
        memory_dump(Stuck(), time_s=0.1)
    assert caught.value.missing.why is Why.TIMED_OUT
    never.set()


def test_the_time_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock that goes on 2 ms with each read: the walk takes some 700."""
    held = image(17)
    clock = SimpleNamespace(monotonic=lambda: held.reads * 0.002)
    monkeypatch.setattr("seedstall.facts.memory.time", clock)
    dump = memory_dump(held, time_s=0.6)
    assert not dump.complete
    assert dump.unread > 10
    assert len(dump.threads) > 1
    with pytest.raises(Unavailable) as caught:
        memory_dump(image(17), time_s=-1)
    assert caught.value.missing.why is Why.TIMED_OUT


# --- memory and attach together --------------------------------------------------------------------------------------


class Both:
    """A live JVM: its memory, and what its attach protocol answers; what was asked is kept."""

    def __init__(self, held: Image, answer: bytes | Missing, first: str = "") -> None:
        self.held = held
        self.answer = answer
        self.first = first
        self.asked: list[Space] = []

    def read(self, ref: Ref) -> Reading[bytes]:
        if ref == Ref(Space.INPUT, "given/first") and self.first:
            return Got(self.first.encode(), (ref,))
        if (
            ref.space in (Space.ATTACH, Space.MEMORY)
            and ref.path
            and self.asked[-1:] != [ref.space]
        ):
            self.asked.append(ref.space)
        if ref.space is Space.ATTACH:
            return self.answer if isinstance(self.answer, Missing) else Got(self.answer, (ref,))
        return self.held.read(ref)


NO_INPUT = Missing(Why.NOT_COLLECTED)
NOT_ASKED = Missing(Why.REFUSED, (Ref(Space.ATTACH, "threaddump"),), "it would end itself")


def test_a_jvm_whose_memory_shows_all_is_not_asked() -> None:
    both = Both(image(17), image(17).threads)
    (dump,) = thread_dumps_of_case(both, NO_INPUT).dumps
    assert dump.origin == "memory"
    assert both.asked == [Space.MEMORY]


def test_a_jvm_whose_memory_does_not_show_all_is_asked() -> None:
    held = image(17)
    running(held, "mix-0")
    both = Both(held, held.threads)
    (dump,) = thread_dumps_of_case(both, NO_INPUT).dumps
    assert dump.origin == "attach"
    assert both.asked == [Space.MEMORY, Space.ATTACH]


def handed(dump: ThreadDump, _source: Source) -> ThreadDump:
    return dump


def test_a_jvm_whose_own_dump_would_show_no_more_is_not_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of a virtual thread the JVM's own dump has nothing, and of a deep stack 1024 frames."""
    threads = memory_dump(image(21)).threads
    deep = replace(threads[0], cut=True, note="x", frames=threads[0].frames * 1024)
    virtual = replace(threads[1], cut=True, note="x", virtual=True)
    for thread, asked in ((deep, False), (virtual, False), (replace(virtual, virtual=False), True)):
        dump = ThreadDump("memory", (thread,), vm="x", complete=True, unread=1)
        monkeypatch.setattr("seedstall.facts.memory.memory_dump", partial(handed, dump))
        both = Both(image(21), image(21).threads)
        thread_dumps_of_case(both, NO_INPUT)
        monkeypatch.undo()
        assert (Space.ATTACH in both.asked) is asked


def test_where_the_jvm_may_not_be_asked_the_part_is_taken() -> None:
    held = image(17)
    running(held, "mix-0")
    (dump,) = thread_dumps_of_case(Both(held, NOT_ASKED), NO_INPUT).dumps
    assert (dump.origin, dump.unread) == ("memory", 1)


def test_with_attach_first_the_jvm_is_asked_at_once_and_its_memory_only_without_an_answer() -> None:
    both = Both(image(17), image(17).threads, "attach")
    (dump,) = thread_dumps_of_case(both, NO_INPUT).dumps
    assert dump.origin == "attach"
    assert both.asked == [Space.ATTACH]
    both = Both(image(17), NOT_ASKED, "attach")
    (dump,) = thread_dumps_of_case(both, NO_INPUT).dumps
    assert dump.origin == "memory"
    assert both.asked == [Space.ATTACH, Space.MEMORY]


def test_where_neither_gives_a_dump_both_reasons_are_told() -> None:
    held = image(17)
    held.maps = b""
    with pytest.raises(Unavailable) as caught:
        thread_dumps_of_case(Both(held, NOT_ASKED), NO_INPUT)
    assert caught.value.missing.why is Why.REFUSED
    assert "it would end itself" in caught.value.missing.detail
    assert "no libjvm.so is mapped" in caught.value.missing.detail
