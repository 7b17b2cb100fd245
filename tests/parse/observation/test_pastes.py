"""What programs print that look at a machine or a process: descriptors, stacks, times, limits, the kernel's log."""

# ruff: noqa: E501 - lines of logs and traces stand as they are printed

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seedstall.parse.observation import observations


def seen(text: str) -> list[tuple[str, int | None, int | None, str]]:
    return [(o.kind, o.value, o.ms, o.text) for o in observations(text, "x").items]


@pytest.mark.parametrize(
    ("text", "number", "path"),
    [
        ("lr-x------ 1 root root 64 Nov 30 14:21 4 -> /dev/random", 4, "/dev/random"),
        ("lr-x------ 1 root root 64 Nov 30 14:21 5 -> /dev/urandom", 5, "/dev/urandom"),
        ("java    1234 root   22r   CHR    1,8      0t0 1030 /dev/random", 22, "/dev/random"),
        ("java 1234 1240 java root 23u CHR 1,9 0t0 1033 /dev/urandom", 23, "/dev/urandom"),
        ("java    1234 root   22r  FIFO  0,13      0t0 1030 /dev/random", 22, "/dev/random (FIFO)"),
    ],
)
def test_descriptors(text: str, number: int, path: str) -> None:
    assert seen(text) == [("open-descriptor", number, None, path)]


@pytest.mark.parametrize(
    "text",
    [
        "lrwxrwxrwx 1 root root 64 Nov 30 14:21 /dev/random -> /dev/urandom",
        "ln -s /dev/urandom /dev/random",
        "java 1234 root mem REG 8,1 1234 5 /usr/lib/libc.so /dev/random.txt",
        "the JVM holds /dev/random open as 22r",
    ],
)
def test_no_descriptors(text: str) -> None:
    assert seen(text) == []


@pytest.mark.parametrize(
    ("text", "pool", "symbol"),
    [
        (
            "[<0>] _random_read.part.0+0x9b/0x240\n[<0>] vfs_read+0x9d/0x190",
            1,
            "_random_read.part.0",
        ),
        ("[<ffffffff813b9ee2>] random_read+0x1a2/0x260", 1, "random_read"),
        (" 1234  1240 S    _random_read.part.35 java", 1, "_random_read.part.35"),
        (
            "root 1234 1240 1 0 14:21 ? S 00:00:00 wait_for_random_bytes java",
            0,
            "wait_for_random_bytes",
        ),
        ("# cat /proc/1234/task/1240/wchan\n_random_read[root@web1 ~]#", 1, "_random_read"),
        (
            "    schedule+1\n    random_read+389\n    vfs_read+157\n, java, 4711]: 115772",
            1,
            "random_read",
        ),
        ("318 0x7ffd92a0ad10 0x10 0x0 0x0 0x5b7ae0 0x0 0x7ffd92a0aa48 0x442c29", 0, "getrandom"),
    ],
)
def test_threads_in_the_kernels_wait(text: str, pool: int, symbol: str) -> None:
    assert seen(text) == [("kernel-wait", pool, None, symbol)]


@pytest.mark.parametrize(
    "text",
    [
        "It sleeps in random_read, which calls wait_for_random_bytes.",
        "random_read_wait and random_read_wakeup_bits in kallsyms",
        "static ssize_t random_read(struct file *file, char __user *buf)",
        " 1234  1240 S    futex_wait_queue_me java",
        "[<0>] urandom_read+0x9b/0x240",
        "202 0x7ffd92a0ad10 0x10 0x0 0x0 0x5b7ae0 0x0 0x7ffd92a0aa48 0x442c29",
        "running",
    ],
)
def test_no_threads_in_it(text: str) -> None:
    assert seen(text) == []


def test_a_read_by_its_number() -> None:
    assert seen("0 0x4 0x7fff0e8fe360 0x200 0x0 0x0 0x5b7ae0 0x7fff0e8fe348 0x441b7d\n") == [
        ("proc-read", 4, None, "")
    ]


@pytest.mark.parametrize(
    ("text", "wall", "cpu", "command"),
    [
        (
            "$ time java -jar a.jar\nstarted\n\nreal    2m3.456s\nuser    0m1.200s\nsys     0m0.100s\n",
            123_456,
            1300,
            "java -jar a.jar",
        ),
        ("real\t0m10,500s\nuser\t0m9,000s\nsys\t0m1,000s\n", 10_500, 10_000, ""),
        ("$ time -p java x\nreal 123.45\nuser 1.20\nsys 0.10\n", 123_450, 1300, "java x"),
        (
            "java -jar a.jar  1.20s user 0.10s system 1% cpu 2:03.45 total\n",
            123_450,
            1300,
            "java -jar a.jar",
        ),
        ("1.20user 0.10system 2:03.45elapsed 1%CPU (0avgtext+0avgdata 4k)\n", 123_450, 1300, ""),
        (
            '\tCommand being timed: "java x"\n\tUser time (seconds): 1.20\n\tSystem time (seconds): 0.10\n\tElapsed (wall clock) time (h:mm:ss or m:ss): 2:03.45\n',
            123_450,
            1300,
            "java x",
        ),
    ],
)
def test_wall_clock_against_cpu(text: str, wall: int, cpu: int, command: str) -> None:
    assert seen(text) == [("wall-cpu", cpu, wall, command)]


@pytest.mark.parametrize(
    ("command", "size"),
    [
        ("head -c 20 /dev/random | od -x", 20),
        ("od -N 16 /dev/random", 16),
        ("cat /dev/random", None),
    ],
)
def test_a_timed_read_of_the_device(command: str, size: int | None) -> None:
    text = f"$ time {command}\n0000000 1234\n\nreal 1m13.456s\nuser 0m0.001s\nsys 0m0.002s\n"

    assert seen(text) == [("dd-random", size, 73_456, "")]


def test_a_timed_dd_tells_its_figures_itself() -> None:
    text = "$ time dd if=/dev/random of=/dev/null bs=16 count=1\n6 bytes (6 B) copied, 3 s, 0.0 kB/s\nreal 0m3.1s\nuser 0m0.0s\nsys 0m0.0s\n"

    assert [kind for kind, *_ in seen(text)] == ["dd-random"]


@pytest.mark.parametrize(
    "text",
    [
        "nr_periods 1000\nnr_throttled 950\nthrottled_time 123456789000\n",
        "usage_usec 12\nuser_usec 9\nsystem_usec 3\nnr_periods 1000\nnr_throttled 950\nthrottled_usec 123456789\nnr_bursts 0\n",
    ],
)
def test_a_cpu_limit(text: str) -> None:
    assert seen(text) == [("cpu-throttled", 95, 123_456, "")]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("[  754.123456] random: crng init done", ("crng-ready", None, 754_123, "crng init done")),
        (
            "Nov 30 14:21:18 web1 kernel: random: crng init done",
            ("crng-ready", None, None, "crng init done"),
        ),
        (
            "[    4.1] random: java: uninitialized urandom read (16 bytes read)",
            ("urandom-early", 16, None, "java"),
        ),
        (
            "[    4.1] random: nonblocking pool is initialized",
            ("crng-ready", None, None, "nonblocking pool is initialized"),
        ),
    ],
)
def test_the_kernels_log(text: str, found: tuple[str, int | None, int | None, str]) -> None:
    assert seen(text) == [found]


def test_daemons() -> None:
    status = (
        "\u25cf rngd.service - Hardware RNG Entropy Gatherer Daemon\n   Loaded: loaded (x)\n"
        "   Active: failed (Result: exit-code) since Mon\n"
        "\u25cf haveged.service - Entropy Daemon\n     Active: active (running) since Mon\n"
    )

    assert seen(status) == [
        ("feeder-state", 0, None, "rngd: failed"),
        ("feeder-state", 1, None, "haveged: active (running)"),
    ]
    assert seen("rngd: can't open any entropy source")[0][:2] == ("feeder-state", 0)
    assert seen("systemctl enable --now rngd.service") == []


UUID = "0d1a3f5e-1111-2222-3333-444455556666"


@pytest.mark.parametrize(
    ("values", "found"),
    [
        ("12\n4096\n64\n60", [("entropy-avail", 12), ("poolsize", 4096), ("read-wakeup", 64)]),
        ("12\n4096\n64", [("entropy-avail", 12), ("poolsize", 4096), ("read-wakeup", 64)]),
        ("256\n256\n60", [("entropy-avail", 256), ("poolsize", 256)]),
    ],
)
def test_all_files_at_once(values: str, found: list[tuple[str, int]]) -> None:
    text = f"$ cat /proc/sys/kernel/random/*\n{UUID}\n{values}\n{UUID}\n128\n"

    assert [(kind, value) for kind, value, *_ in seen(text)] == found


def test_files_with_their_names() -> None:
    text = "==> /proc/sys/kernel/random/entropy_avail <==\n55\n\n==> /proc/sys/kernel/random/read_wakeup_threshold <==\n64\n"
    assert [(kind, value) for kind, value, *_ in seen(text)] == [
        ("entropy-avail", 55),
        ("read-wakeup", 64),
    ]
    text = "/proc/sys/kernel/random/entropy_avail:55\n/proc/sys/kernel/random/read_wakeup_threshold:64\n"
    assert [(kind, value) for kind, value, *_ in seen(text)] == [
        ("entropy-avail", 55),
        ("read-wakeup", 64),
    ]


def test_watch_prints_a_date_behind_the_command() -> None:
    head = "Every 2.0s: cat /proc/sys/kernel/random/entropy_avail"
    for rest in ("          Mon Nov 30 14:21:18 2026", "    web1: Mon Nov 30 14:21:18 2026"):
        assert seen(f"{head}{rest}\n\n55\n") == [("entropy-avail", 55, None, "")]


@pytest.mark.parametrize("word", ["entropy", "entrophy"])
def test_netty(word: str) -> None:
    text = f"10:00:00 WARN i.n.u.i.ThreadLocalRandom - Failed to generate a seed from SecureRandom within 3 seconds. Not enough {word}?"
    assert seen(text) == [("netty-seed-late", 3, None, "")]


WORDS = [
    *(
        "real ",
        "0m1.0s\n",
        "user ",
        "sys ",
        "1.0s user 1.0s system 1% cpu ",
        "2:03.4 total",
        "Elapsed (wall clock) time",
    ),
    *(
        "random_read",
        "+0x1",
        "wchan\n",
        "1 2 S ",
        "random: crng init done",
        "[  1.000000] ",
        "rngd.service - ",
        "Active: x",
    ),
    *(
        "nr_periods 1\n",
        "nr_throttled 1\n",
        "throttled_usec 1\n",
        f"{UUID}\n",
        "12\n",
        "0 0x4 0x1",
        " 0x1",
        "4 -> /dev/random\n",
    ),
]


@settings(deadline=None, max_examples=300)
@given(st.lists(st.sampled_from(WORDS) | st.text(max_size=3), max_size=40).map("".join))
def test_any_text(text: str) -> None:
    for item in observations(text, "x").items:
        assert item.line >= 1
