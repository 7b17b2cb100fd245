from __future__ import annotations

import csv
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seedstall.knowledge.kernel import KernelEvidence, crng_ready, decide, waits_for_random
from seedstall.model.kernel import BlockingModel, Certainty, PoolState

POOL, INIT = BlockingModel.BLOCKING_POOL, BlockingModel.UNTIL_INIT
NEVER, UNKNOWN = BlockingModel.NEVER, BlockingModel.UNKNOWN

A6 = frozenset(
    [
        "boot_id",
        "entropy_avail",
        "poolsize",
        "read_wakeup_threshold",
        "uuid",
        "write_wakeup_threshold",
    ]
)
A7 = A6 | {"urandom_min_reseed_secs"}
B6 = A7 - {"read_wakeup_threshold"}
B7U = B6 | {"fips_random"}
G2 = frozenset(("boot_id", "uuid"))

LAB = list(
    csv.DictReader(
        Path(__file__).with_name("kernel-lab.tsv").read_text().splitlines(), delimiter="\t"
    )
)


def row_of(release: str) -> dict[str, str]:
    return next(row for row in LAB if row["uname_r"] == release)


def truth(row: dict[str, str]) -> BlockingModel:
    return POOL if row["devrandom_drain"] == "BLOCKS" else INIT


def test_the_table_of_booted_kernels_is_whole() -> None:
    assert len(LAB) == 35
    assert {row["devrandom_drain"] for row in LAB} == {"BLOCKS", "no-block"}


def files_of(row: dict[str, str], entropy: str) -> KernelEvidence:
    wakeup = row["read_wakeup"]
    return KernelEvidence(
        release=row["uname_r"],
        version=row["uname_v"],
        files=frozenset(row["files"].split()),
        entropy_avail=int(entropy),
        poolsize=int(row["poolsize"]),
        read_wakeup=int(wakeup) if wakeup != "-" else None,
        write_wakeup=int(row["write_wakeup"]),
    )


@pytest.mark.parametrize("row", LAB, ids=lambda row: row["uname_r"])
def test_booted_kernels_by_their_files(row: dict[str, str]) -> None:
    for entropy in (row["entropy_at_boot_no_rdrand"], row["entropy_at_boot_rdrand"]):
        kernel = decide(files_of(row, entropy))

        assert kernel.model is truth(row)
        assert kernel.certainty is Certainty.HIGH
        assert kernel.row == (4 if truth(row) is POOL else 5 if row["poolsize"] == "256" else 6)
        assert not kernel.from_release_only
        if truth(row) is POOL:
            assert kernel.state is PoolState.AT_RISK
        else:
            assert kernel.state is not PoolState.AT_RISK


@pytest.mark.parametrize("row", LAB, ids=lambda row: row["uname_r"])
def test_booted_kernels_by_their_files_without_a_release(row: dict[str, str]) -> None:
    kernel = decide(files_of(row, "0")._replace(release="", version=""))

    assert kernel.model is truth(row)


@pytest.mark.parametrize("row", LAB, ids=lambda row: row["uname_r"])
def test_booted_kernels_by_their_release_are_right_or_unknown(row: dict[str, str]) -> None:
    for version in ("", row["uname_v"]):
        kernel = decide(KernelEvidence(release=row["uname_r"], version=version))

        assert kernel.model in (truth(row), UNKNOWN)
        assert kernel.from_release_only
        if not row["uname_r"].endswith("azure"):
            assert kernel.model is truth(row)  # of the 35, only the flavour's is not told


@pytest.mark.parametrize("row", LAB, ids=lambda row: row["uname_r"])
def test_booted_kernels_by_the_probe(row: dict[str, str]) -> None:
    answer = {"ok": "0", "EINVAL": "EINVAL"}[row["GRND_INSECURE"]]

    bare = decide(KernelEvidence(insecure=answer))
    named = decide(KernelEvidence(insecure=answer, release=row["uname_r"]))

    assert bare.model is truth(row)
    assert named.model is truth(row)
    assert named.certainty is Certainty.HIGH
    assert not named.from_release_only


@pytest.mark.parametrize("row", LAB, ids=lambda row: row["uname_r"])
def test_booted_kernels_after_init_by_poll(row: dict[str, str]) -> None:
    seen = files_of(row, "2")._replace(poll=int(row["poll_revents_after_init"]))

    kernel = decide(seen)

    assert kernel.state is (PoolState.AT_RISK if truth(row) is POOL else PoolState.READY)


@pytest.mark.parametrize("row", LAB, ids=lambda row: row["uname_r"])
def test_wait_channels_of_booted_kernels(row: dict[str, str]) -> None:
    if row["wchan_blocked"] != "-":
        assert waits_for_random(row["wchan_blocked"]) == "pool"
    if row["wchan_early_getrandom0"] not in ("-", "0"):
        assert waits_for_random(row["wchan_early_getrandom0"]) == "crng"


def test_read_wakeup_must_be_looked_for_to_be_absent() -> None:
    seen = KernelEvidence(files=B6, whole=False, poolsize=4096, entropy_avail=2)

    assert decide(seen).model is UNKNOWN
    assert decide(seen._replace(whole=True)).model is INIT


# The test rows of facts/kernel.md, section 12.
SEC_12 = [
    (
        1,
        KernelEvidence(
            release="2.6.32-754.35.1.el6.x86_64",
            files=A6,
            poolsize=4096,
            read_wakeup=64,
            write_wakeup=128,
            entropy_avail=150,
        ),
        POOL,
        PoolState.LOW,
    ),
    (
        2,
        KernelEvidence(
            release="3.10.0-514.el7.x86_64",
            files=A6,
            poolsize=4096,
            read_wakeup=64,
            write_wakeup=128,
            entropy_avail=48,
        ),
        POOL,
        PoolState.AT_RISK,
    ),
    (
        3,
        KernelEvidence(
            release="3.10.0-1160.59.1.el7.x86_64",
            files=A7,
            poolsize=4096,
            read_wakeup=64,
            write_wakeup=3072,
            entropy_avail=3150,
        ),
        POOL,
        PoolState.OK,
    ),
    (4, files_of(row_of("4.4.0-210-generic"), "0"), POOL, PoolState.AT_RISK),
    (5, files_of(row_of("4.15.0-193-generic"), "0"), POOL, PoolState.AT_RISK),
    (6, files_of(row_of("4.15.0-194-generic"), "256"), INIT, PoolState.READY),
    (
        7,
        KernelEvidence(
            release="4.18.0-553.66.1.el8_10.x86_64",
            files=A7,
            poolsize=4096,
            read_wakeup=64,
            write_wakeup=896,
            entropy_avail=3400,
            fips=False,
        ),
        POOL,
        PoolState.OK,
    ),
    (
        8,
        KernelEvidence(
            release="4.18.0-553.66.1.el8_10.x86_64",
            files=A7,
            poolsize=4096,
            read_wakeup=64,
            write_wakeup=896,
            entropy_avail=3,
            fips=True,
        ),
        NEVER,
        PoolState.OK,
    ),
    (
        9,
        files_of(row_of("5.4.0-125-generic"), "2")._replace(
            messages=("crng done (trusting CPU's manufacturer)",),
        ),
        POOL,
        PoolState.AT_RISK,
    ),
    (10, files_of(row_of("5.4.0-126-generic"), "256"), INIT, PoolState.READY),
    (
        11,
        files_of(row_of("5.6.0-1007-oem"), "2")._replace(messages=("crng init done",)),
        INIT,
        PoolState.READY,
    ),
    (
        12,
        files_of(row_of("5.15.0-25-generic"), "2")._replace(uptime_s=86_400.0),
        INIT,
        PoolState.READY,
    ),
    (
        13,
        KernelEvidence(
            release="5.14.0-162.6.1.el9_1.x86_64",
            files=B6,
            poolsize=256,
            write_wakeup=256,
            entropy_avail=37,
            uptime_s=3 * 86_400.0,
        ),
        INIT,
        PoolState.READY,
    ),
    (
        14,
        files_of(row_of("6.8.0-31-generic"), "9")._replace(uptime_s=1.0, messages=()),
        INIT,
        PoolState.NOT_READY,
    ),
    (15, KernelEvidence(release="4.19.0-gvisor", files=G2), NEVER, PoolState.OK),
    (
        16,
        KernelEvidence(
            release="4.14.203-156.332.amzn2.x86_64",
            files=A7,
            poolsize=4096,
            read_wakeup=64,
            write_wakeup=896,
            entropy_avail=30,
        ),
        POOL,
        PoolState.AT_RISK,
    ),
    (
        17,
        KernelEvidence(
            release="5.4.17-2036.101.2.el7uek.x86_64",
            files=A7,
            poolsize=4096,
            read_wakeup=64,
            entropy_avail=19,
        ),
        POOL,
        PoolState.AT_RISK,
    ),
    (
        18,
        KernelEvidence(
            release="5.4.17-2136.330.7.1.el8uek.x86_64",
            files=B7U,
            poolsize=256,
            entropy_avail=256,
        ),
        INIT,
        PoolState.READY,
    ),
    (19, files_of(row_of("5.10.0-46-amd64"), "256"), INIT, PoolState.READY),
    (
        20,
        KernelEvidence(
            release="6.18.44-fc-v509",
            files=B6,
            poolsize=256,
            write_wakeup=256,
            entropy_avail=256,
            hwrng="virtio_rng.0",
            hwrng_quality=1024,
        ),
        INIT,
        PoolState.READY,
    ),
    (
        21,
        KernelEvidence(
            release="5.15.26-xanmod1",
            files=B6,
            poolsize=256,
            entropy_avail=0,
            lrng="DRNG name: ChaCha20 DRNG\nLRNG minimally seeded: true\nLRNG fully seeded: true\n",
        ),
        INIT,
        PoolState.READY,
    ),
    (22, KernelEvidence(release="4.15.0-1139-aws"), UNKNOWN, PoolState.UNKNOWN),
]


@pytest.mark.parametrize(
    ("seen", "model", "state"),
    [case[1:] for case in SEC_12],
    ids=[f"row {case[0]}" for case in SEC_12],
)
def test_rows_of_section_12(seen: KernelEvidence, model: BlockingModel, state: PoolState) -> None:
    kernel = decide(seen)

    assert kernel.model is model
    assert kernel.state is state
    assert kernel.reason


def test_all_22_rows_are_here() -> None:
    assert [case[0] for case in SEC_12] == list(range(1, 23))


def test_each_row_names_itself() -> None:
    rows = {case[0]: decide(case[1]).row for case in SEC_12}

    assert rows[8] == 3
    assert rows[15] == 1
    assert rows[21] == 2
    assert rows[22] == 22
    assert rows[7] == 4
    assert (rows[6], rows[11]) == (5, 6)


def test_special_circumstances_are_named() -> None:
    def special(n: int) -> str:
        return "; ".join(decide({c[0]: c[1] for c in SEC_12}[n]).special)

    assert special(8) == "FIPS mode"
    assert special(15) == "gVisor"
    assert special(21) == "LRNG"
    assert special(7) == ""
    assert "WSL 2" in decide(KernelEvidence(release="5.10.16.3-microsoft-standard-WSL2")).special
    assert "WSL 1" in decide(KernelEvidence(release="4.4.0-19041-Microsoft")).special


def test_rhel8_without_a_word_on_fips_says_what_it_would_change() -> None:
    seen = KernelEvidence(release="4.18.0-553.el8_10.x86_64", files=A7, entropy_avail=3000)

    assert any("FIPS mode not known" in s for s in decide(seen).special)


def test_fips_does_not_save_kernels_before_8_3() -> None:
    for release in ("4.18.0-193.el8.x86_64", "3.10.0-1160.el7.x86_64", "5.4.0-1026-fips"):
        kernel = decide(KernelEvidence(release=release, files=A7, fips=True, entropy_avail=3))

        assert kernel.model is POOL
        assert "FIPS mode" in kernel.special


# Captures that hold a part of the directory (sosreport takes boot_id alone) say nothing by what they lack.
@pytest.mark.parametrize(
    "files",
    [
        frozenset(("boot_id",)),
        frozenset(("boot_id", "uuid")),
        frozenset(("entropy_avail",)),
        frozenset(("entropy_avail", "poolsize")),
    ],
)
def test_partial_captures_are_no_evidence(files: frozenset[str]) -> None:
    kernel = decide(KernelEvidence(release="3.10.0-957.el7.x86_64", files=files, poolsize=4096))

    assert kernel.model is POOL
    assert kernel.row == 12
    assert kernel.from_release_only
    assert decide(KernelEvidence(files=frozenset(("entropy_avail",)))).model is UNKNOWN


def test_a_poolsize_of_256_alone_rules_out_the_pool() -> None:
    kernel = decide(
        KernelEvidence(files=frozenset(("poolsize",)), poolsize=256, release="4.19.0-x")
    )

    assert (kernel.model, kernel.certainty, kernel.row) == (INIT, Certainty.MEDIUM, 5)


def test_files_win_over_the_version() -> None:
    """The same "4.15.0", and a 5.4 that kept its pool."""
    back_ported = decide(KernelEvidence(release="4.15.0-1139-aws", files=B6, poolsize=256))
    kept = decide(KernelEvidence(release="5.15.0-custom", files=A7, entropy_avail=3))

    assert back_ported.model is INIT
    assert kept.model is POOL


def test_an_old_kernel_without_the_sign_says_why_it_is_less_sure() -> None:
    kernel = decide(KernelEvidence(release="4.4.302-vendor", files=B6, poolsize=4096))

    assert (kernel.model, kernel.certainty, kernel.row) == (INIT, Certainty.MEDIUM, 7)
    assert "before 5.6" in kernel.reason


def test_gvisor_by_each_of_its_signs() -> None:
    assert decide(KernelEvidence(release="4.19.0-gvisor")).model is NEVER
    assert decide(KernelEvidence(messages=("Starting gVisor...",), release="4.4.0")).model is NEVER
    assert decide(KernelEvidence(files=G2, release="4.4.0")).model is NEVER
    assert decide(KernelEvidence(files=G2)).certainty is Certainty.MEDIUM
    assert (
        decide(KernelEvidence(version="#1 SMP Sun Jan 10 15:06:54 PST 2016", release="4.4.0")).model
        is NEVER
    )
    assert decide(KernelEvidence(release="4.4.0")).model is UNKNOWN


def test_a_filters_answer_to_the_probe_is_no_evidence() -> None:
    for answer in ("EPERM", "ENOSYS", "?"):
        assert decide(KernelEvidence(insecure=answer)).model is UNKNOWN
        named = decide(KernelEvidence(insecure=answer, release="6.8.0-31-generic"))
        assert named.model is INIT
        assert named.from_release_only


def test_wsl1_is_not_judged_by_the_probe() -> None:
    kernel = decide(KernelEvidence(release="4.4.0-19041-Microsoft", insecure="EINVAL"))

    assert (kernel.model, kernel.row) == (NEVER, 8)


def test_files_and_probe_that_disagree_are_said_to() -> None:
    faked = decide(KernelEvidence(release="6.8.0", files=A7, insecure="0", entropy_avail=3))

    assert faked.model is POOL
    assert faked.certainty is Certainty.LOW
    assert "GRND_INSECURE" in faked.reason


def test_symbols_decide_where_nothing_else_does() -> None:
    def by(*names: str) -> BlockingModel:
        return decide(KernelEvidence(symbols=frozenset(names))).model

    assert by("blocking_pool", "random_read") is POOL
    assert by("random_read_iter") is INIT
    assert by("random_read") is INIT
    assert by() is UNKNOWN


@pytest.mark.parametrize(
    ("release", "entropy", "state"),
    [
        ("4.15.0-193-generic", 63, PoolState.AT_RISK),
        ("4.15.0-193-generic", 64, PoolState.LOW),
        ("4.15.0-193-generic", 199, PoolState.LOW),
        ("4.15.0-193-generic", 200, PoolState.OK),
        ("5.4.0-125-generic", 127, PoolState.AT_RISK),  # the CRNG takes the first 128
        ("5.4.0-125-generic", 128, PoolState.LOW),
        ("", 64, PoolState.LOW),
    ],
)
def test_borders_of_the_pools_state(release: str, entropy: int, state: PoolState) -> None:
    seen = KernelEvidence(release=release, files=A7, entropy_avail=entropy, read_wakeup=64)

    assert decide(seen).state is state


def test_a_raised_threshold_raises_the_border() -> None:
    seen = KernelEvidence(files=A7, entropy_avail=300, read_wakeup=512)

    assert decide(seen).state is PoolState.AT_RISK


def test_a_pool_whose_count_was_not_had() -> None:
    seen = KernelEvidence(files=A7)

    assert decide(seen).state is PoolState.UNKNOWN
    assert decide(seen._replace(poll=4)).state is PoolState.AT_RISK
    assert decide(seen._replace(poll=5)).state is PoolState.UNKNOWN


def test_a_low_count_never_alarms_without_the_pool() -> None:
    for release in ("5.8.0-63-generic", "5.18.0", "5.14.0-284.11.1.el9_2.x86_64"):
        for entropy in (0, 2, 255):
            for uptime in (None, 5.0, 1e6):
                for poolsize in (256, 4096):
                    seen = KernelEvidence(
                        release=release,
                        files=B6,
                        poolsize=poolsize,
                        entropy_avail=entropy,
                        uptime_s=uptime,
                    )
                    assert decide(seen).state not in (PoolState.AT_RISK, PoolState.LOW)
                    if uptime == 1e6:
                        assert decide(seen).state is PoolState.READY


def test_a_count_that_falls_at_every_reseed_does_not_mean_not_seeded() -> None:
    seen = KernelEvidence(files=B6, poolsize=256, entropy_avail=0, uptime_s=60.0)

    assert decide(seen._replace(release="6.8.0-31-generic")).state is PoolState.NOT_READY
    for release in ("5.18.0", "5.14.0-162.6.1.el9_1.x86_64"):
        assert decide(seen._replace(release=release)).state is PoolState.UNKNOWN


def test_a_cpu_without_a_cycle_counter_may_wait_for_long() -> None:
    seen = KernelEvidence(files=B6, poolsize=256, entropy_avail=10, uptime_s=4000.0)

    assert decide(seen).state is PoolState.READY
    assert decide(seen._replace(cycle_counter=False)).state is PoolState.UNKNOWN


def test_poll_tells_whether_it_is_ready() -> None:
    seen = KernelEvidence(release="6.8.0", files=B6, poolsize=256, entropy_avail=9)

    assert decide(seen._replace(poll=4)).state is PoolState.NOT_READY
    assert decide(seen._replace(poll=1)).state is PoolState.READY
    assert decide(seen._replace(poll=5)).state is PoolState.READY


def test_lines_that_say_it_is_seeded() -> None:
    assert crng_ready(("fast init done", "crng init done")) == "crng init done"
    assert crng_ready(("crng done (trusting CPU's manufacturer)",))
    assert crng_ready(("crng reseeded due to virtual machine fork",))
    assert crng_ready(("nonblocking pool is initialized",))
    assert not crng_ready(("fast init done", "java: uninitialized urandom read (8 bytes read)"))
    assert not crng_ready(None)


def test_feeders() -> None:
    ran = decide(KernelEvidence(release="3.10.0-1160.el7.x86_64", files=A7, write_wakeup=1024))
    fed = decide(
        KernelEvidence(
            release="4.15.0-193-generic", files=A7, write_wakeup=896, hwrng="virtio_rng.0"
        )
    )
    tpm = decide(KernelEvidence(release="4.18.0-80.el8.x86_64", files=A7, hwrng="tpm-rng-0"))

    assert ran.feeders == ("haveged has run since boot (write_wakeup_threshold 1024)",)
    assert fed.feeders == ("virtio_rng.0 (fed by the kernel)",)
    assert tpm.feeders == ("tpm-rng-0 (needs a daemon)",)
    assert decide(KernelEvidence(files=B6, poolsize=256, write_wakeup=1024)).feeders == ()


def test_nothing_is_not_known() -> None:
    kernel = decide(KernelEvidence())

    assert (kernel.model, kernel.row, kernel.can_block) == (UNKNOWN, 13, None)
    assert decide(KernelEvidence(release="el7")).reason == "'el7' is no kernel release"


@pytest.mark.parametrize(
    ("symbol", "waits"),
    [
        ("random_read", "pool"),  # 2.6.32, 3.10
        ("_random_read", "pool"),
        ("_random_read.part.35", "pool"),
        ("_random_read.part.0", "pool"),
        ("_random_read.isra.3.part.4", "pool"),
        ("._random_read", "pool"),  # ppc64 ELFv1
        ("random_read_iter", "crng"),
        ("wait_for_random_bytes", "crng"),
        ("wait_for_random_bytes.part.0", "crng"),
        ("crng_wait_ready", "crng"),
        ("SyS_getrandom", "crng"),
        ("sys_getrandom", "crng"),
        ("__x64_sys_getrandom", "crng"),
        ("__arm64_sys_getrandom", "crng"),
        ("__s390x_sys_getrandom", "crng"),
        ("__se_sys_getrandom", "crng"),
        ("urandom_read", "crng"),
        ("urandom_read_nowarn", "crng"),
        ("0", None),
        ("", None),
        ("futex_wait_queue_me", None),
        ("pipe_read", None),
        ("anon_pipe_read", None),
        ("random_readahead", None),
        ("x_random_read", None),
        ("hrtimer_nanosleep", None),
        ("__x64_sys_getrandomize", None),
        ("_random_read.part.", "pool"),
    ],
)
def test_wait_channels(symbol: str, waits: str | None) -> None:
    assert waits_for_random(symbol) == waits


@given(symbol=st.text(max_size=400))
def test_any_symbol_is_recognised_or_not(symbol: str) -> None:
    assert waits_for_random(symbol) in ("pool", "crng", None)


@pytest.mark.parametrize("piece", [".part", ".part.0", "__a_", "urandom_read", "_"])
def test_a_long_symbol_takes_no_time(piece: str) -> None:
    begin = time.perf_counter()
    for start in ("", "__", "_random_read", "urandom_read"):
        for times in (1, 20, 100_000):
            waits_for_random(start + piece * times)
    assert time.perf_counter() - begin < 0.5
