import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.texts import archive, live, post, probes, tomcat_logs

from seedstall.parse.observation import observations


def seen(text: bytes | str) -> list[tuple[str, int, int | None, int | None, str]]:
    return [(o.kind, o.line, o.value, o.ms, o.text) for o in observations(text, "x").items]


# ---------------------------------------------------------------- the posts


def test_a_stalled_tomcat_told_in_a_post() -> None:
    assert seen(post("000")) == [
        ("program-ms", 56, None, 210_635, "java Random"),
        ("program-ms", 57, None, 81, "java Random"),
        ("strace-random-read", 82, None, None, "unfinished"),
    ]


def test_a_healthy_host_told_in_a_post() -> None:
    assert seen(post("001")) == [
        ("dd-random", 10, None, 138, "782 MB/s"),
        ("dd-urandom", 11, None, 137, "771 MB/s"),
        ("entropy-avail", 12, 256, None, ""),
        ("entropy-avail", 13, 256, None, ""),
        ("entropy-avail", 25, 256, None, ""),
    ]


def test_a_benchmark_mail() -> None:
    items = seen(post("002"))

    assert items[0] == ("kernel-release", 7, None, None, "3.13.0-36-generic")
    assert [
        (text, value, ms) for kind, _, value, ms, text in items if kind == "prng-benchmark"
    ] == [
        ("NativePRNG", 1, 125),
        ("NativePRNG", 2, 297),
        ("NativePRNG", 4, 698),
        ("SHA1PRNG", 1, 21),
        ("SHA1PRNG", 2, 30),
        ("SHA1PRNG", 4, 45),
        ("AESCounterRNG", 1, 19),
        ("AESCounterRNG", 2, 25),
        ("AESCounterRNG", 4, 38),
    ]
    reads = [(value, ms, text) for kind, _, value, ms, text in items if kind.startswith("dd-")]
    assert len(reads) == 8
    assert {kind for kind, *_ in items if kind.startswith("dd-")} == {"dd-urandom"}
    assert reads[0] == (1_000_000_000, 71_471, "14.0 MB/s")
    assert reads[-1] == (1_000_000_000, 354_961, "2.8 MB/s")


def test_a_dry_pool_and_its_cure_told_in_a_post() -> None:
    assert seen(post("004")) == [
        ("dd-random", 18, 6, 115_772, "0.0 kB/s"),
        ("entropy-avail", 24, 55, None, ""),
        ("dd-random", 40, 78, 0, "1.1 MB/s"),
        ("entropy-avail", 46, 3000, None, ""),
    ]
    (first, *_) = observations(post("004"), "mail").items
    assert first.origin == "mail"
    assert first.excerpt == "6 bytes (6 B) copied, 115.772 s, 0.0 kB/s"


def test_other_texts_hold_no_measurement() -> None:
    for text in (*probes().values(), live("tomcat10-jdk17-hang.txt"), tomcat_logs()["out.en.txt"]):
        assert seen(text) == []


# ---------------------------------------------------------------- dd

COMMAND = "$ dd if=/dev/random bs=1k count=1\n0+1 records in\n0+1 records out\n"


@pytest.mark.parametrize(
    "figures",
    [
        "6 bytes (6 B) copied, 115.772 s, 0.0 kB/s",
        "6 bytes (6 B) copied, 115,772 s, 0,0 kB/s",
        "6 bytes copied, 115.772 s, 0.0 kB/s",
        "6 bytes (6B) copied, 115.772 seconds, 0B/s",
        "6 bytes transferred in 115.772 secs (0 bytes/sec)",
        "6 Bytes kopiert, 115,772 s, 0,0 kB/s",
        "6 octets (6 B) copi\u00e9s, 115,772 s, 0,0 kB/s",
        "6\u5b57\u8282(6 B)\u5df2\u590d\u5236\uff0c115.772 \u79d2\uff0c0.0 kB/\u79d2",
    ],
)
def test_dd_in_several_languages(figures: str) -> None:
    ((kind, line, value, ms, _),) = seen(COMMAND + figures + "\n")

    assert (kind, line, value, ms) == ("dd-random", 4, 6, 115_772)


def test_dd_of_another_device_is_none_of_ours() -> None:
    figures = "6 bytes (6 B) copied, 115.772 s, 0.0 kB/s\n"
    assert seen(f"{COMMAND}\n$ dd if=/dev/zero of=x\n{figures}") == []
    assert seen(figures) == []
    assert seen(f"{COMMAND}{figures}$ dd if=/dev/zero of=x\n{figures}") == [
        ("dd-random", 4, 6, 115_772, "0.0 kB/s")
    ]


def test_zsh_names_the_command_below_the_figures() -> None:
    figures = "1000 bytes (1.0 kB) copied, 7.5 s, 0.1 kB/s\n"
    below = "dd if=/dev/random of=/dev/null  0.00s user 7.50s system 100% cpu 7.50 total\n"

    assert [
        kind for kind, *_ in seen(figures + below + figures + below.replace("random", "urandom"))
    ] == [
        "dd-random",
        "dd-urandom",
    ]


# ---------------------------------------------------------------- counts


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("kernel.random.entropy_avail = 55", 55),
        ("/proc/sys/kernel/random/entropy_avail:55", 55),
        ("entropy_avail=9", 9),
        ("$ cat /proc/sys/kernel/random/entropy_avail\n55\n", 55),
        ("`cat /proc/sys/kernel/random/entropy_avail`\n 55", 55),
        ("watch cat /proc/sys/kernel/random/entropy_avail\n\n55\n", 55),
        ("entropy_avail showed values around 55.", 55),
        ("entropy_avail tr\u01b0\u1edbc: 256", 256),
        ("the entropy_avail is only 8 on that node", 8),
    ],
)
def test_entropy(text: str, value: int) -> None:
    assert [(kind, found) for kind, _, found, _, _ in seen(text)] == [("entropy-avail", value)]


@pytest.mark.parametrize(
    "text",
    [
        "cat /proc/sys/kernel/random/poolsize        # 256 = new; 4096 = old",
        'echo "poolsize : $(cat /proc/sys/kernel/random/poolsize)  (256 = new, 4096 = old)"',
        'echo "avail: $(cat /proc/sys/kernel/random/entropy_avail)"',
        "if entropy_avail is below 200 you are in trouble",
        "entropy_avail should be above 1000",
        "make sure that entropy_avail is at least 1000",
        "watch entropy_avail\nand then wait",
        "entropy_avail < 200",
        "entropy_avail fell by 50%",
        "hikari.poolsize: 20",
        "entropy_avail: 12345678",
        "since kernel 5.18 it is constant",
    ],
)
def test_advice_and_commands_are_no_measurements(text: str) -> None:
    assert seen(text) == []


def test_a_loop_prints_many() -> None:
    assert [v for _, _, v, _, _ in seen("while :; do cat entropy_avail; done\n")] == []
    text = "# cat /proc/sys/kernel/random/entropy_avail\n12\n9\n3\nnothing\n4\n"
    assert [(line, value) for _, line, value, _, _ in seen(text)] == [(2, 12), (3, 9), (4, 3)]


def test_pool_sizes() -> None:
    assert seen("$ cat /proc/sys/kernel/random/poolsize\n4096\nkernel.random.poolsize = 256") == [
        ("poolsize", 2, 4096, None, ""),
        ("poolsize", 3, 256, None, ""),
    ]


# ---------------------------------------------------------------- strace


def test_an_strace_with_y() -> None:
    for name, text in archive("live/local17-25").items():
        if name.endswith("strace.txt"):
            assert seen(text) == [("strace-random-read", 3, None, None, "unfinished")], name


def test_reads_are_joined_with_their_open_and_their_end() -> None:
    text = (
        '[pid 12] openat(AT_FDCWD, "/dev/random", O_RDONLY) = 4\n'
        '[pid 12] openat(AT_FDCWD, "/dev/urandom", O_RDONLY|O_CLOEXEC) = 5\n'
        '[pid 12] read(5, "x"..., 20) = 20 <0.000012>\n'
        "[pid 12] read(4,  <unfinished ...>\n"
        '[pid 13] read(4, "abc", 3) = 3 <0.000456>\n'
        '[pid 12] <... read resumed> "x"..., 20) = 20 <306.153082>\n'
        "[pid 12] close(4) = 0\n"
        "[pid 12] read(4, 0x7f, 8192) = 0\n"
    )

    assert seen(text) == [
        ("strace-random-read", 4, 20, 306_153, ""),
        ("strace-random-read", 5, 3, 0, ""),
    ]


def test_a_descriptor_whose_open_is_not_shown_says_nothing() -> None:
    text = '158 15:15:12.502337 read(22, ""..., 14) = 6 <306.153082>\n'
    assert seen(text) == [("strace-read", 1, 22, 306_153, "")]
    assert seen('open("/dev/random", O_RDONLY) = 22\n' + text) == [
        ("strace-random-read", 2, 6, 306_153, "")
    ]


# ---------------------------------------------------------------- releases, programs, seeders


@pytest.mark.parametrize(
    ("text", "release"),
    [
        ("$ uname -r\n3.10.0-957.el7.x86_64\n", "3.10.0-957.el7.x86_64"),
        (
            "Linux web01 3.10.0-957.el7.x86_64 #1 SMP Thu Nov 8 23:39:32 UTC 2018",
            "3.10.0-957.el7.x86_64",
        ),
        ("OS is Linux 3.13.0-36-generic #63-Ubuntu SMP", "3.13.0-36-generic"),
        ("[    0.000000] Linux version 4.4.0-210-generic (buildd@x) (gcc)", "4.4.0-210-generic"),
        ("Kernel: 4.18.0-305.el8.x86_64", "4.18.0-305.el8.x86_64"),
        ("CentOS 7, kernel 3.10.0-957.el7.", "3.10.0-957.el7"),
    ],
)
def test_releases(text: str, release: str) -> None:
    assert [(kind, found) for kind, _, _, _, found in seen(text)] == [("kernel-release", release)]


@pytest.mark.parametrize(
    "text",
    [
        "before kernel 4.15.0-194 it blocked",
        "fixed in kernel 5.6.0-rc1",
        "from kernel 5.6 on",
        "kernel 5.6.7 does not block",
        "uname -r\n",
        "uname -r\nprints the release",
    ],
)
def test_boundaries_are_no_releases(text: str) -> None:
    assert seen(text) == []


def test_times_that_a_program_prints() -> None:
    assert seen("$ java -cp . Random\nstart\n210635 ms\n") == [
        ("program-ms", 3, None, 210_635, "java -cp . Random")
    ]
    assert seen("it took\n210635 ms\n") == []


def test_a_log_that_names_the_threaded_seeder() -> None:
    assert [(kind, line) for kind, line, *_ in seen(tomcat_logs()["out.noscheme.txt"])] == [
        ("threaded-seeder", 13),
        ("threaded-seeder", 16),
    ]
    assert seen("provider: Using default threaded seed generator\n") == [
        ("threaded-seeder", 1, None, None, "Using default threaded seed generator")
    ]


# ---------------------------------------------------------------- any input

WORDS = [
    *(
        "dd if=/dev/random ",
        "6 bytes (6 B) copied, ",
        "1.5 s",
        ", 1 kB/s",
        "/dev/random 12 ms 3 MB/s",
    ),
    *("entropy_avail", " is ", "55", "\n", "uname -r\n", "Linux 3.10.0-957 #1", "kernel 4.4.0-1 "),
    *("read(4, ", "<unfinished ...>", 'openat(x, "/dev/random", 0) = 4', ") = 3 <0.1>", "[pid 3]"),
    *("<... read resumed>", "close(4) = 0", "$ java x\n", "12 ms\n"),
    *("NativePRNG ", "average=1,2", " ns ", "2 threads"),
]


@settings(deadline=None, max_examples=300)
@given(st.lists(st.sampled_from(WORDS) | st.text(max_size=4), max_size=40).map("".join))
def test_any_text(text: str) -> None:
    lines = text.split("\n")
    for item in observations(text, "x").items:
        assert item.line >= 1
        if not (set("\r<\0\\\u00ad") | set(map(chr, range(0x200B, 0x2070)))) & set(text):
            assert item.excerpt in lines[item.line - 1] or lines[item.line - 1] == ""


def test_a_long_text_is_read_quickly() -> None:
    text = (post("000") + post("001") + post("002") + post("004")) * 100

    start = time.process_time()
    observations(text, "x")

    assert time.process_time() - start < 4
