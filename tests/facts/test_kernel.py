from __future__ import annotations

import pytest

from seedstall.facts.kernel import crng_state, kernel_random, pool_level
from seedstall.model.evidence import Ask, Missing, Ref, Space, Unavailable, Why
from seedstall.model.kernel import BlockingModel, Certainty, KernelRandom, PoolState
from seedstall.model.log import ServerLog
from seedstall.model.tasks import KernelTask, Tasks
from seedstall.source import probe
from seedstall.source.base import Held, Recorder

DIRECTORY = "proc/sys/kernel/random"
A7 = "boot_id entropy_avail poolsize read_wakeup_threshold urandom_min_reseed_secs uuid write_wakeup_threshold"
B6 = "boot_id entropy_avail poolsize urandom_min_reseed_secs uuid write_wakeup_threshold"


def at(path: str, ask: Ask = Ask.CONTENT) -> Ref:
    return Ref(Space.KERNEL, path, ask)


def host(
    release: str,
    files: str = "",
    more: dict[Ref, bytes | Why] | None = None,
    **values: int,
) -> dict[Ref, bytes | Why]:
    """A host's readings as a live source gives them."""
    held: dict[Ref, bytes | Why] = {
        at("proc/sys/kernel/osrelease"): f"{release}\n".encode(),
        at("proc/sys/crypto/fips_enabled"): Why.ABSENT,
        at("proc/lrng_type"): Why.ABSENT,
    }
    if files:
        names = files.split()
        held[at(DIRECTORY, Ask.LIST)] = b"".join(n.encode() + b"\0" for n in names)
    for name, value in values.items():
        held[at(f"{DIRECTORY}/{name}")] = f"{value}\n".encode()
    held.update(more or {})
    return held


# As captured on booted kernels: 4.15.0-193 (a JVM hung) and 6.8.0-31.
POOL = host(
    "4.15.0-193-generic",
    A7,
    entropy_avail=54,
    poolsize=4096,
    read_wakeup_threshold=64,
    write_wakeup_threshold=896,
)
NO_POOL = host("6.8.0-31-generic", B6, entropy_avail=256, poolsize=256, write_wakeup_threshold=256)
BOOT_LOG = (
    b"[    0.000000] Linux version 4.15.0-193-generic (buildd@x) #204-Ubuntu SMP\n"
    b"[    0.000000] random: get_random_bytes called from start_kernel+0x99/0x500 with crng_init=0\n"
    b"[    4.434223] random: fast init done\n"
)


def test_a_kernel_with_the_pool() -> None:
    kernel = kernel_random(Held(POOL))

    assert kernel.model is BlockingModel.BLOCKING_POOL
    assert kernel.certainty is Certainty.HIGH
    assert kernel.state is PoolState.AT_RISK
    assert (kernel.entropy_avail, kernel.poolsize, kernel.read_wakeup) == (54, 4096, 64)
    assert kernel.release == "4.15.0-193-generic"
    assert kernel.row == 4


def test_a_kernel_without_it() -> None:
    kernel = kernel_random(Held(NO_POOL))

    assert kernel.model is BlockingModel.UNTIL_INIT
    assert kernel.state is PoolState.READY
    assert not kernel.from_release_only


@pytest.mark.parametrize("held", [POOL, NO_POOL])
def test_few_files_are_read(held: dict[Ref, bytes | Why]) -> None:
    source = Recorder(Held(held))
    kernel_random(source)

    assert len(source.readings) < 15
    assert at("dmesg") not in source.readings
    assert at("proc/kallsyms") not in source.readings


def test_the_release_that_the_user_says() -> None:
    kernel = kernel_random(Held({at("proc/sys/kernel/osrelease"): b"3.10.0-957.el7"}))

    assert kernel.from_release_only
    assert kernel.model is BlockingModel.BLOCKING_POOL
    assert kernel.state is PoolState.UNKNOWN


def test_a_flavours_release_alone_is_unknown_and_still_a_fact() -> None:
    kernel = kernel_random(Held({at("proc/sys/kernel/osrelease"): b"4.15.0-1139-aws\n"}))

    assert kernel.model is BlockingModel.UNKNOWN
    assert kernel.can_block is None
    assert kernel.row == 22


def test_nothing_at_all_is_unavailable() -> None:
    with pytest.raises(Unavailable) as raised:
        kernel_random(Held({}))

    assert raised.value.missing.why is Why.NOT_COLLECTED
    assert "--kernel" in raised.value.missing.detail


def test_files_that_may_not_be_read_are_denied() -> None:
    with pytest.raises(Unavailable) as raised:
        kernel_random(Held({at(DIRECTORY, Ask.LIST): Why.DENIED}))

    assert raised.value.missing.why is Why.DENIED


def test_files_found_one_by_one_say_nothing_by_what_is_not_collected() -> None:
    """A capture without a listing: the sign was not collected, which is not absent."""
    held = host("4.15.0-1139-aws", entropy_avail=3, poolsize=4096, write_wakeup_threshold=896)

    assert kernel_random(Held(held)).model is BlockingModel.UNKNOWN


def test_files_found_one_by_one_decide_where_the_sign_was_looked_for() -> None:
    held = host("4.15.0-1139-aws", entropy_avail=3, poolsize=4096, write_wakeup_threshold=896)
    held[at(f"{DIRECTORY}/read_wakeup_threshold")] = Why.ABSENT

    assert kernel_random(Held(held)).model is BlockingModel.UNTIL_INIT


def test_a_masked_proc_leaves_the_probe() -> None:
    held = host("4.15.0-1139-aws")
    for answer, model in (
        (b"0", BlockingModel.UNTIL_INIT),
        (b"EINVAL", BlockingModel.BLOCKING_POOL),
    ):
        assert kernel_random(Held({**held, probe.INSECURE: answer})).model is model
    assert kernel_random(Held({**held, probe.INSECURE: b"EPERM"})).model is BlockingModel.UNKNOWN


def test_kallsyms_are_the_last_resort() -> None:
    held = host(
        "4.15.0-1139-aws", more={at("proc/kallsyms"): b"0 b blocking_pool\n0 t random_read\n"}
    )

    assert kernel_random(Held(held)).model is BlockingModel.BLOCKING_POOL


def test_garbage_in_a_count_does_not_hide_the_model() -> None:
    held = {**POOL, at(f"{DIRECTORY}/entropy_avail"): b"\xff\xfe many"}
    kernel = kernel_random(Held(held))

    assert kernel.model is BlockingModel.BLOCKING_POOL
    assert kernel.entropy_avail is None
    assert kernel.state is PoolState.UNKNOWN


def test_the_log_and_the_age_are_asked_where_the_files_leave_it_open() -> None:
    early = host(
        "5.15.0-25-generic", B6, entropy_avail=2, poolsize=4096, write_wakeup_threshold=896
    )

    def state(more: dict[Ref, bytes | Why]) -> PoolState:
        return kernel_random(Held({**early, **more})).state

    assert state({}) is PoolState.UNKNOWN
    assert state({at("dmesg"): b"[    0.9] random: crng init done\n"}) is PoolState.READY
    assert state({at("proc/uptime"): b"86400.0 1.0\n"}) is PoolState.READY
    assert (
        state({at("proc/uptime"): b"86400.0 1.0\n", at("proc/cpuinfo"): b"flags : fpu\n"})
        is PoolState.UNKNOWN
    )
    assert state({at("proc/uptime"): b"2.0 1.0\n", at("dmesg"): BOOT_LOG}) is PoolState.NOT_READY
    assert state({probe.POLL: b"5"}) is PoolState.READY
    assert state({probe.POLL: b"4"}) is PoolState.NOT_READY


def test_gvisor_by_its_log() -> None:
    held = host("4.4.0", "boot_id uuid", more={at("dmesg"): b"[    0.0] Starting gVisor...\n"})

    assert kernel_random(Held(held)).model is BlockingModel.NEVER


def test_a_kernel_log_alone_names_the_release() -> None:
    kernel = kernel_random(Held({at("dmesg"): BOOT_LOG}))

    assert kernel.release == "4.15.0-193-generic"
    assert kernel.model is BlockingModel.BLOCKING_POOL


def test_fips_mode_of_rhel_8() -> None:
    held = host(
        "4.18.0-553.el8_10.x86_64",
        A7,
        entropy_avail=3,
        poolsize=4096,
        more={at("proc/sys/crypto/fips_enabled"): b"1\n"},
    )

    assert kernel_random(Held(held)).model is BlockingModel.NEVER


def test_lrng_even_where_it_may_not_be_read() -> None:
    held = {**NO_POOL, at("proc/lrng_type"): Why.DENIED}

    assert "LRNG" in kernel_random(Held(held)).special


def test_a_container_is_told_on_a_kernel_with_the_pool() -> None:
    held = {
        **POOL,
        at("proc/2/comm"): Why.ABSENT,
        at(".dockerenv", Ask.STAT): b"100755 0 0 1 0 0 0",
    }

    assert any("container (Docker)" in s for s in kernel_random(Held(held)).special)


def test_pool_level() -> None:
    level = pool_level(Held({}), kernel_random(Held(POOL)))

    assert (level.bits, level.threshold, level.state) == (54, 64, PoolState.AT_RISK)


@pytest.mark.parametrize(
    ("held", "why"),
    [
        (NO_POOL, Why.ABSENT),
        ({at("proc/sys/kernel/osrelease"): b"4.15.0-1139-aws"}, Why.NOT_COLLECTED),
        ({at("proc/sys/kernel/osrelease"): b"3.10.0-957.el7"}, Why.NOT_COLLECTED),
    ],
)
def test_no_pool_level_without_a_pool_a_model_or_a_count(
    held: dict[Ref, bytes | Why], why: Why
) -> None:
    with pytest.raises(Unavailable) as raised:
        pool_level(Held({}), kernel_random(Held(held)))

    assert raised.value.missing.why is why


def crng(held: dict[Ref, bytes | Why], tasks: Tasks | None = None) -> tuple[bool, str]:
    source = Held(held)
    state = crng_state(source, kernel_random(source), tasks)
    return state.ready, state.told_by


def test_the_probe_tells_whether_the_generator_is_seeded() -> None:
    assert crng({**POOL, probe.NONBLOCK: b"0"})[0] is True
    assert crng({**POOL, probe.NONBLOCK: b"EAGAIN"})[0] is False


def test_a_thread_in_getrandom_tells_that_it_is_not() -> None:
    task = KernelTask(tid=7, inner_tid=7, comm="java", wchan="__x64_sys_getrandom")

    assert crng(POOL, Tasks((task,))) == (False, "task/7/wchan")


def test_a_thread_in_the_pool_tells_nothing_of_the_generator() -> None:
    task = KernelTask(tid=7, inner_tid=7, comm="java", wchan="_random_read.part.37")

    assert crng(
        {**POOL, at("dmesg"): BOOT_LOG + b"[    9.0] random: crng init done\n"}, Tasks((task,))
    ) == (
        True,
        "dmesg",
    )


def test_the_log_since_boot_tells() -> None:
    assert crng({**POOL, at("dmesg"): BOOT_LOG}) == (False, "dmesg")
    ready = BOOT_LOG + b"[  138.555846] crng init done\n"
    assert crng({**POOL, at("dmesg"): ready}) == (True, "dmesg")


def test_the_models_state_tells() -> None:
    assert crng(NO_POOL)[0] is True


def test_a_log_that_lost_its_beginning_tells_nothing() -> None:
    for log in (b"[ 9999.0] usb 1-1: new device\n", b""):
        with pytest.raises(Unavailable) as raised:
            crng({**POOL, at("dmesg"): log})
        assert raised.value.missing.why is Why.TRUNCATED


def test_a_log_of_a_kernel_that_never_logs_it_tells_nothing() -> None:
    log = b"[    0.000000] Linux version 2.6.32-754.el6.x86_64 (mockbuild@x)\n"
    held = host("2.6.32-754.el6.x86_64", A7, entropy_avail=9, more={at("dmesg"): log})
    with pytest.raises(Unavailable):
        crng(held)


def test_a_log_that_may_not_be_read_is_denied() -> None:
    with pytest.raises(Unavailable) as raised:
        crng({**POOL, at("dmesg"): Why.DENIED})

    assert isinstance(raised.value.missing, Missing)
    assert raised.value.missing.why is Why.DENIED
    assert isinstance(kernel_random(Held(POOL)), KernelRandom)


def test_the_release_in_a_tomcat_log_speaks_where_nothing_else_does() -> None:
    kernel = kernel_random(Held({}), ServerLog(os_release="3.10.0-957.el7.x86_64"))

    assert kernel.model is BlockingModel.BLOCKING_POOL
    assert "server's log" in kernel.reason


SAID = Ref(Space.KERNEL, "proc/sys/kernel/osrelease")


@pytest.mark.parametrize(
    ("given", "told", "conflicts"),
    [
        ("3.10.0-957.el7.x86_64", "6.18.5-amd64", True),
        ("5.10.0", "5.1.0", True),
        ("6.18.5", "3.10.0-957.el7.x86_64\x1b[2J", True),
        ("3.10", "3.10.0-957.el7.x86_64", False),
        ("3.10.0-1160.el7", "3.10.0-957.el7.x86_64", False),
        ("3.10.0-957.el7.x86_64", "", False),
        ("3.10.0-957.el7.x86_64", "unknown", False),
    ],
)
def test_a_release_that_was_given_against_the_log(
    given: str, told: str, *, conflicts: bool
) -> None:
    kernel = kernel_random(Held({SAID: given.encode()}), ServerLog(os_release=told))

    assert kernel.release == given, "what a person says stands"
    assert bool(kernel.conflict) == conflicts
    if conflicts:
        assert given in kernel.conflict
        assert told.partition("\x1b")[0] in kernel.conflict
        assert "\x1b" not in kernel.conflict


def test_the_hosts_own_files_are_believed_before_a_log() -> None:
    kernel = kernel_random(Held(NO_POOL), ServerLog(os_release="3.10.0-957.el7.x86_64"))

    assert kernel.model is BlockingModel.UNTIL_INIT
    assert not kernel.conflict
