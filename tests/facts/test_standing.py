from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import pytest
from tests import facts_by_hand as by_hand

from seedstall.facts.standing import debugged, standings, work_shares
from seedstall.model.evidence import Ask, Missing, Ref, Space, Unavailable, Why
from seedstall.model.jvm import JvmOption, Launch, OptionOrigin
from seedstall.model.standing import Standings
from seedstall.model.tasks import KernelTask, OpenFile, Syscall, Tasks
from seedstall.model.threads import Frame, JavaThread, LockAct, LockLine, ThreadDump, ThreadDumps
from seedstall.model.verdict import Cause
from seedstall.model.waits import SeedEvidence, SeedWait
from seedstall.source.base import Held

NOTHING = Held({})
MAIN = Frame("com.example.Main", "main")
CONNECT = (Frame("sun.nio.ch.Net", "connect0"), Frame("java.net.Socket", "connect"), MAIN)


def thread(
    name: str, *frames: Frame, locks: tuple[LockLine, ...] = (), **rest: object
) -> JavaThread:
    return JavaThread(name, frames or (MAIN,), locks, nid=len(name), **rest)  # type: ignore[arg-type]


def found(*threads: JavaThread, seeds: SeedEvidence | None = None, **dump: object) -> Standings:
    dumps = ThreadDumps((ThreadDump("d.txt", threads, **dump),))  # type: ignore[arg-type]
    return standings(NOTHING, dumps, None, seeds)


def waits_for(address: str) -> LockLine:
    return LockLine(LockAct.WAITING_TO_LOCK, "java.lang.Object", address)


def holds(address: str) -> LockLine:
    return LockLine(LockAct.LOCKED, "java.lang.Object", address)


def test_main_is_the_start() -> None:
    (one,) = found(thread("other", *CONNECT), thread("main", *CONNECT)).standings
    assert one.thread.name == "main"
    assert one.root.cause is Cause.CONNECT


@pytest.mark.parametrize("name", ["localhost-startStop-1", "Catalina-utility-2", "restartedMain"])
def test_threads_that_do_a_starts_work_count_as_well(name: str) -> None:
    (one,) = found(thread(name, *CONNECT)).standings
    assert one.thread.name == name


def test_a_worker_without_work_does_not() -> None:
    idle = (
        Frame("jdk.internal.misc.Unsafe", "park"),
        Frame("java.util.concurrent.ThreadPoolExecutor", "getTask"),
    )
    assert found(thread("Catalina-utility-2", *idle), thread("x")).standings == ()


def test_a_start_that_is_over_is_said_to_be() -> None:
    idle = thread(
        "main", Frame("java.lang.Object", "wait"), Frame("org.eclipse.jetty.server.Server", "join")
    )
    assert "idles" in found(idle).started
    assert "ended" in found(thread("DestroyJavaVM")).started
    with pytest.raises(Unavailable):
        standings(NOTHING, ThreadDumps(()), None, None)


def test_the_owner_of_the_lock_is_the_cause() -> None:
    main = thread("main", MAIN, locks=(waits_for("0x1"),), state="BLOCKED")
    middle = thread("middle", MAIN, locks=(holds("0x1"), waits_for("0x2")), state="BLOCKED")
    owner = thread("owner", *CONNECT, locks=(holds("0x2"),))
    (one,) = found(main, middle, owner).standings
    assert one.owner == owner
    assert one.root.cause is Cause.CONNECT


def test_an_owner_in_a_place_without_a_name_leaves_the_lock_the_cause() -> None:
    main = thread("main", MAIN, locks=(waits_for("0x1"),), state="BLOCKED")
    owner = thread("owner", Frame("java.lang.Thread", "sleep"), MAIN, locks=(holds("0x1"),))
    (one,) = found(main, owner).standings
    assert one.root.cause is Cause.CONTENTION


def test_a_circle_of_initialisers_that_the_jvm_does_not_report() -> None:
    def of(name: str, own: str, other: str) -> JavaThread:
        lock = LockLine(LockAct.CLASS_INIT, other)
        return thread(name, Frame(own, "<clinit>"), MAIN, locks=(lock,))

    main, second = of("main", "a.Left", "a.Right"), of("second", "a.Right", "a.Left")
    (one,) = found(main, second).standings
    assert one.circle == ("main", "second")
    assert found(main, second, deadlocks=(("main", "second"),)).standings == (), "told as such"


def test_who_waits_for_a_seeding_thread_is_left_to_the_seeding_rules() -> None:
    seeding = replace(by_hand.thread("worker"), locks=(holds("0x1"),))
    main = thread("main", MAIN, locks=(waits_for("0x1"),), state="BLOCKED")
    assert found(main, seeding).standings == ()
    assert found(by_hand.thread("main")).standings == ()
    sleeping = thread("main", Frame("java.lang.Thread", "sleep"), MAIN)
    assert found(sleeping, seeds=SeedEvidence(waits=(SeedWait(),))).standings == ()


def test_whom_the_kernel_shows_in_the_device_is_left_to_the_seeding_rules() -> None:
    """Code of the program's own that reads /dev/random: no frame of it is a generator's."""
    own = thread("main", Frame("java.io.FileInputStream", "read0"), MAIN)
    read = SeedWait(task=replace(by_hand.task(), inner_tid=own.nid or 0))
    assert len(found(own).standings) == 1
    assert found(own, seeds=SeedEvidence(waits=(read,))).standings == ()


@pytest.mark.parametrize("damage", [{"complete": False}, {"unread": 1}])
def test_a_damaged_dump_gives_no_place_without_a_name(damage: dict[str, Any]) -> None:
    sleeping = thread("main", Frame("java.lang.Thread", "sleep"), MAIN)
    assert len(found(sleeping).standings) == 1
    assert found(sleeping, **damage).standings == ()
    assert len(found(thread("main", *CONNECT), **damage).standings) == 1


def test_what_is_left_of_a_generator_is_no_other_cause() -> None:
    left = thread("main", Frame("java.security.SecureRandom", "nextBytes"), MAIN)
    read = thread("main", Frame("java.io.FileInputStream", "readBytes"))
    assert found(left).standings == found(read).standings == ()


# --- live -------------------------------------------------------------------------------------------------------------

TCP = b"""  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 0700000A:1538 02 00000001:00000000 01:00000019 00000003     0        0 777 1 0
   1: 0100007F:1F91 0800000A:0050 01 00000000:00000000 00:00000000 00000000     0        0 888 1 0
"""


def live(call: Syscall, file: OpenFile | None = None) -> tuple[Held, Tasks]:
    task = KernelTask(4, 4, "java", "S", syscall=call, file=file, cpu_ms=9_000)
    held: dict[Ref, bytes | Why] = {
        Ref(Space.PROCESS, "net/tcp"): TCP,
        Ref(Space.PROCESS, "fd", Ask.LIST): b"5\x006\x00",
        Ref(Space.PROCESS, "fd/5", Ask.LINK): b"socket:[777]",
        Ref(Space.PROCESS, "fd/6", Ask.LINK): b"socket:[888]",
        Ref(Space.PROCESS, "task/4/schedstat"): b"9000000000 2000000000 17\n",
    }
    return Held(held), Tasks((task,), age_ms=12_000)


def test_the_far_end_is_told_by_the_jvms_own_sockets() -> None:
    source, tasks = live(Syscall(7, "poll", (0, 1, 2)))
    dumps = ThreadDumps((ThreadDump("d", (thread("main", *CONNECT),)),))
    (one,) = standings(source, dumps, tasks, None).standings
    assert one.on == "10.0.0.7:5432", "the one that is still being made"


def test_the_file_of_a_write_is_told_by_the_call() -> None:
    source, tasks = live(Syscall(1, "write", (6, 2, 3)))
    frames = (Frame("java.io.FileOutputStream", "writeBytes"), MAIN)
    dumps = ThreadDumps((ThreadDump("d", (thread("main", *frames),)),))
    (one,) = standings(source, dumps, tasks, None).standings
    assert one.on == "a socket whose other end does not empty it, descriptor 6"


def test_its_work_is_told_with_what_it_queued() -> None:
    source, tasks = live(Syscall(7, "poll", ()))
    dumps = ThreadDumps((ThreadDump("d", (thread("main", Frame("a.B", "spin"), MAIN),)),))
    (one,) = standings(source, dumps, tasks, None).standings
    assert (one.busy_ms, one.queued_ms, one.alive_ms) == (9_000, 2_000, 12_000)


def test_the_same_place_in_two_dumps() -> None:
    def at(elapsed: float) -> ThreadDump:
        main = thread("main", *CONNECT, elapsed_ms=elapsed, cpu_ms=50.0)
        return ThreadDump("d", (main,), vm="vm")

    (one,) = standings(NOTHING, ThreadDumps((at(1_000), at(9_000))), None, None).standings
    assert (one.dumps_seen, one.since_ms) == (2, 8_000)


# --- the collector, the debugger -------------------------------------------------------------------------------------


def test_the_collectors_part_of_the_work() -> None:
    threads = (thread("main", cpu_ms=100.0), thread("GC Thread#0", cpu_ms=900.0))
    dumps = ThreadDumps((ThreadDump("d", threads),))
    shares = work_shares(NOTHING, Missing(Why.NOT_COLLECTED), dumps)
    assert (shares.collector_ms, shares.total_ms, shares.collector_share) == (900, 1000, 0.9)
    with pytest.raises(Unavailable):
        work_shares(
            NOTHING, Missing(Why.NOT_COLLECTED), ThreadDumps((ThreadDump("d", threads[:1]),))
        )
    with pytest.raises(Unavailable):
        work_shares(NOTHING, Missing(Why.DENIED), Missing(Why.DENIED))


@pytest.mark.parametrize(
    ("option", "waits"),
    [
        ("-agentlib:jdwp=transport=dt_socket,server=y,address=*:5005", True),
        ("-Xrunjdwp:transport=dt_socket,server=y,suspend=y", True),
        ("-agentlib:jdwp=transport=dt_socket,server=y,suspend=n", False),
        ("-agentlib:jdwp=transport=dt_socket,server=y,onthrow=java.lang.Error,launch=x", False),
        ("-agentlib:hprof=cpu=samples", False),
        ("-Dx=-agentlib:jdwp=suspend=y", False),
    ],
)
def test_an_agent_that_waits_is_told_by_its_options(option: str, waits: bool) -> None:  # noqa: FBT001
    launch = Launch("java", (JvmOption(option, OptionOrigin.COMMAND_LINE, "cmdline[1]"),))
    task = KernelTask(9, 9, "JDWP Transport ", syscall=Syscall(43, "accept", (4,)))
    told = debugged(NOTHING, launch, Missing(Why.REFUSED), Tasks((task,)))
    assert bool(told.option) == waits
    assert told.suspended == waits


def test_a_program_that_runs_does_not_wait_for_its_debugger() -> None:
    option = JvmOption("-agentlib:jdwp=transport=dt_socket,server=y", OptionOrigin.COMMAND_LINE)
    launch = Launch("java", (option,))
    running = ThreadDumps((ThreadDump("d", (thread("main", *CONNECT),)),))
    waiting = ThreadDumps((ThreadDump("d", (JavaThread("main"),)),))
    nothing = Missing(Why.NOT_COLLECTED)
    assert not debugged(NOTHING, launch, running, nothing).suspended
    assert debugged(NOTHING, launch, waiting, nothing).suspended


# --- what is no other cause, and what is no stall --------------------------------------------------------------------

PARK = Frame("jdk.internal.misc.Unsafe", "park")
AWAIT = Frame("java.util.concurrent.CountDownLatch", "await")
ACCEPT = (Frame("sun.nio.ch.Net", "accept"), Frame("java.net.ServerSocket", "accept"))


def test_a_main_that_waits_while_others_accept_is_a_servers() -> None:
    main = thread("main", PARK, AWAIT, MAIN)
    acceptor = thread("acceptor", *ACCEPT, Frame("com.example.Server", "run"))
    up = found(main, acceptor)
    assert up.standings == ()
    assert "accept connections" in up.started
    management = thread("RMI TCP Accept-0", *ACCEPT, Frame("sun.rmi.transport.tcp.X", "run"))
    assert len(found(main, management).standings) == 1, "a port of the JVM's own says nothing"
    assert len(found(thread("main", *CONNECT), acceptor).standings) == 1, "a wait with a name"


def test_a_library_that_the_provider_list_starts_is_no_seed() -> None:
    start = Frame("sun.security.pkcs11.wrapper.PKCS11", "C_Initialize")
    list_ = Frame("sun.security.jca.ProviderList", "getService")
    generator = Frame("java.security.SecureRandom", "<init>")
    (one,) = found(thread("main", start, list_, generator, MAIN)).standings
    assert one.root.cause is Cause.NATIVE_INIT


def test_a_name_look_up_of_an_old_seeder_is_no_seed() -> None:
    lookup = Frame("java.net.Inet4AddressImpl", "lookupAllHostAddr")
    seeder = Frame("sun.security.provider.SeedGenerator", "getSystemEntropy")
    generator = Frame("sun.security.provider.SecureRandom", "engineNextBytes")
    (one,) = found(thread("main", lookup, seeder, generator, MAIN)).standings
    assert one.root.cause is Cause.DNS


@pytest.mark.parametrize(("fd", "of_input"), [(0, True), (6, False)])
def test_a_read_of_the_standard_input_is_known(fd: int, of_input: bool) -> None:  # noqa: FBT001
    source, tasks = live(Syscall(0, "read", (fd, 2, 3)))
    frames = (Frame("java.io.FileInputStream", "readBytes"), MAIN)
    dumps = ThreadDumps((ThreadDump("d", (thread("main", *frames),)),))
    (one,) = standings(source, dumps, tasks, None).standings
    assert one.of_input == of_input


def test_an_idle_worker_pasted_alone_is_nobodys_start() -> None:
    idle = thread("exec-1", PARK, Frame("java.util.concurrent.ThreadPoolExecutor", "getTask"))
    assert found(idle).standings == ()


def test_a_dump_of_many_initialisers_is_read_in_time() -> None:
    init = Frame("a.X", "<clinit>")
    many = [thread(f"t{n}", *([MAIN] * 40), init) for n in range(2_000)]
    lock = LockLine(LockAct.CLASS_INIT, "a.X")
    waiting = [thread(f"Catalina-utility-{n}", locks=(lock,)) for n in range(20)]
    began = time.process_time()
    found(*waiting, *many)
    assert time.process_time() - began < 3


FUTURE = Frame("java.util.concurrent.FutureTask", "get")


def test_the_one_thread_that_is_waited_for_most_likely() -> None:
    main = thread("main", PARK, FUTURE, MAIN)
    worker = thread("pool-1-thread-1", *CONNECT)
    (one,) = found(main, worker).standings
    assert one.owner == worker
    assert one.likely
    assert one.root.cause is Cause.CONNECT
    for others in (
        [thread("a", *CONNECT), thread("b", *CONNECT)],
        [thread("d", *CONNECT, daemon=True)],
        [thread("x")],
    ):
        (alone,) = found(main, *others).standings
        assert alone.owner is None
        assert alone.root.cause is Cause.WAITING
    asleep = thread("main", Frame("java.lang.Thread", "sleep"), MAIN)
    assert found(asleep, worker).standings[0].owner is None


def test_two_threads_that_load_a_library_and_a_class_before_17() -> None:
    load = Frame("java.lang.ClassLoader", "loadLibrary0")
    main = thread(
        "main", load, Frame("a.X", "<clinit>"), MAIN, locks=(waits_for("0x1"),), state="BLOCKED"
    )
    native = thread(
        "second",
        Frame("java.lang.ClassLoader$NativeLibrary", "load"),
        MAIN,
        locks=(holds("0x1"),),
        state="RUNNABLE",
        activity="in Object.wait()",
    )
    (one,) = found(main, native).standings
    assert one.circle == ("main", "second")
