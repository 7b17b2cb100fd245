"""What pasted system calls, kernel stacks and times give as a verdict, alone and joined across inputs."""

# ruff: noqa: E501 - lines of logs and traces stand as they are printed

import pytest

from seedstall.engine.diagnosis import diagnose_case
from seedstall.model.evidence import Ask, Ref, Space
from seedstall.model.finding import Confidence
from seedstall.model.report import Report
from seedstall.model.verdict import Cause, Status
from seedstall.source.base import Held

OPENED = 'openat(AT_FDCWD, "/dev/random", O_RDONLY) = 4\n'
LSOF = "java    1234 root   22r   CHR    1,8      0t0 1030 /dev/random\n"


def report(*texts: str) -> Report:
    held = {Ref(Space.INPUT, f"{i}.txt"): text.encode() for i, text in enumerate(texts)}
    names = "".join(f"{i}.txt\0" for i in range(len(texts)))
    found = diagnose_case(Held({**held, Ref(Space.INPUT, "", Ask.LIST): names.encode()}), "x")
    assert [o for o in found.outcomes if type(o).__name__ == "Crashed"] == []
    return found


def test_a_read_that_took_two_minutes_is_slow_with_its_cost() -> None:
    verdict = report(OPENED + '[pid 12] read(4, "abcdef", 20) = 6 <115.772>\n').verdict

    assert (verdict.status, verdict.cause, verdict.cost_ms) == (
        Status.SLOW,
        Cause.BLOCKING_SEED,
        115_772,
    )
    assert verdict.confidence is Confidence.LIKELY


def test_reads_of_one_thread_add_up_and_those_of_two_overlap() -> None:
    text = OPENED + "".join(
        f'[pid {pid}] read(4, "ab", 8) = 8 <{took}>\n'
        for pid, took in ((12, 2.0), (12, 3.0), (13, 4.0))
    )

    assert report(text).verdict.cost_ms == 5000


def test_a_trace_that_ends_in_the_read_is_a_stall() -> None:
    text = f"12 14:00:00.000000 {OPENED}12 14:00:01.000000 read(4,  <unfinished ...>\n13 14:03:01.000000 futex(0x7) = 0\n"
    verdict = report(text).verdict

    assert (verdict.status, verdict.cause, verdict.since_ms) == (
        Status.STALLED,
        Cause.BLOCKING_SEED,
        180_000,
    )


def test_on_a_kernel_that_does_not_block_it_may_be_on_its_way() -> None:
    text = (
        "Linux version 6.8.0-31-generic (x) #31-Ubuntu SMP\n"
        + OPENED
        + "read(4,  <unfinished ...>\n"
    )

    assert report(text).verdict.confidence is Confidence.POSSIBLE


@pytest.mark.parametrize(
    ("trace", "listing"),
    [
        ("[pid 1240] read(22,  <unfinished ...>\n", LSOF),
        ('[pid 1240] read(22, "", 20) = 6 <115.0>\n', LSOF),
        ("0 0x16 0x7fff0e8fe360 0x200 0x0 0x0 0x5b7ae0 0x7fff0e8fe348 0x441b7d\n", LSOF),
    ],
)
def test_a_number_is_joined_with_what_lsof_says_of_it(trace: str, listing: str) -> None:
    verdict = report(trace, listing).verdict

    assert verdict.cause is Cause.BLOCKING_SEED
    assert verdict.status in (Status.STALLED, Status.SLOW)
    assert report(trace).verdict.cause is Cause.NONE
    assert report(trace, listing.replace("22r", "23r")).verdict.cause is Cause.NONE
    assert (
        report(
            trace, listing + listing.replace("1,8", "1,9").replace("/random", "/urandom")
        ).verdict.cause
        is Cause.NONE
    )


def kernel(found: Report) -> dict[str, object]:
    told = found.facts["kernel"]
    assert isinstance(told, dict)
    return told


def test_an_open_descriptor_alone_proves_nothing() -> None:
    assert report(LSOF).verdict.status is Status.UNKNOWN
    assert report(LSOF).verdict.cause is Cause.NONE


def test_a_thread_in_the_pools_wait() -> None:
    verdict = report("[<0>] _random_read.part.0+0x9b/0x240\n[<0>] vfs_read+0x9d/0x190\n").verdict

    assert (verdict.status, verdict.cause) == (Status.STALLED, Cause.BLOCKING_SEED)


def test_waits_for_the_first_seeding_are_another_cause() -> None:
    assert (
        report('x(1) = 0\ngetrandom("ab", 16, 0) = 16 <12.5>\n').verdict.cause
        is Cause.CRNG_NOT_READY
    )
    late = report("[  754.123456] random: crng init done\n").verdict
    assert (late.status, late.cause) == (Status.UNKNOWN, Cause.CRNG_NOT_READY)


def test_one_thread_is_said_to_be_one() -> None:
    text = 'execve("/usr/bin/java") = 0\nread(3, "", 8) = 8\nread(3, "", 8) = 8\nclose(3) = 0\nfutex(0x7,'
    verdict = report(text).verdict

    assert verdict.status is Status.UNKNOWN
    assert "one thread only" in verdict.sentence


@pytest.mark.parametrize(
    ("user", "word"), [("0m1.200s", "it waited"), ("2m1.000s", "it worked and did not wait")]
)
def test_wall_clock_against_cpu(user: str, word: str) -> None:
    verdict = report(
        f"$ time java -jar a.jar\n\nreal 2m3.456s\nuser {user}\nsys 0m0.100s\n"
    ).verdict

    assert (verdict.status, verdict.cause) == (Status.UNKNOWN, Cause.NONE)
    assert word in verdict.sentence


def test_half_of_both_says_nothing() -> None:
    assert "waited" not in report("real 2m3.456s\nuser 1m1.000s\nsys 0m0.100s\n").verdict.sentence


def test_a_cpu_limit() -> None:
    verdict = report("nr_periods 1000\nnr_throttled 950\nthrottled_usec 123456789\n").verdict
    assert (verdict.status, verdict.cause) == (Status.SLOW, Cause.CPU_THROTTLED)
    assert (
        report("nr_periods 1000\nnr_throttled 9\nthrottled_usec 12345678\n").verdict.cause
        is Cause.NONE
    )


def test_netty_is_a_note() -> None:
    text = "Failed to generate a seed from SecureRandom within 3 seconds. Not enough entropy?"
    verdict = report(text).verdict

    assert (verdict.status, verdict.cause, verdict.confidence) == (
        Status.UNKNOWN,
        Cause.BLOCKING_SEED,
        Confidence.POSSIBLE,
    )
    assert "a full heap" in verdict.sentence


def test_the_kernel_of_a_ticket_is_known() -> None:
    slow = OPENED + 'read(4, "abcdef", 20) = 6 <115.772>\n'
    told = report("$ uname -r\n3.10.0-957.el7.x86_64\n" + slow)
    assert kernel(told)["release"] == "3.10.0-957.el7.x86_64"
    told = report(
        "kernel.random.read_wakeup_threshold = 64\nkernel.random.entropy_avail = 9\n" + slow
    )
    assert (kernel(told)["model"], kernel(told)["entropy_avail"]) == (
        "blocking-pool",
        9,
    )
    two = report("$ uname -r\n3.10.0-957.el7.x86_64\n$ uname -r\n6.8.0-31-generic\n" + slow)
    assert "missing" in kernel(two)


HEADER = "# uptime_s\tentropy_avail_bits\tphase\tjvm_pid\tblocked_tid\tstate\twchan\n"
QUIET = "5.28\t50\tboot\t-\t-\t-\t-\n"
WAITING = "10.5\t57\tquiet\t153\t161\tS\t_random_read.part.37\n"


def test_a_table_of_samples_says_what_its_last_row_does() -> None:
    """A wait that is over is no stall; without a reader that waits, a table of entropy is none either."""
    over = report(HEADER + QUIET + WAITING * 3 + QUIET).verdict
    assert (over.status, over.cause) == (Status.SLOW, Cause.BLOCKING_SEED)
    assert "in 3 rows of a table" in over.sentence
    assert report(HEADER + QUIET + WAITING * 3).verdict.status is Status.STALLED
    assert report(HEADER + WAITING + "10.6\t5").verdict.status is Status.STALLED
    assert report(HEADER + QUIET * 9).verdict.status is Status.UNKNOWN
    assert (
        report("uptime_s\tentropy_avail_bits\n" + "5.2\t0\n" * 9).verdict.status is Status.UNKNOWN
    )
