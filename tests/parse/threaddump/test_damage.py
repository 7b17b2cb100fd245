"""What paste buffers, browsers, mail programs and log collectors do to a dump: the same threads must come out.

Each real dump times each kind of damage. Two inputs of the kind that nine other tools were tried on stand at the end.
"""

import gzip
import html
import re

import pytest
from tests.damage import DAMAGE, LOG, WRAPPINGS, Change, each, wrapped
from tests.texts import archive, live

from seedstall.model.threads import ThreadDump
from seedstall.parse.packed import unpacked
from seedstall.parse.threaddump import thread_dumps

DUMPS = {
    "tomcat 17": live("tomcat10-jdk17-hang.txt").decode(),
    "jarsigner 8": live("jarsigner-jdk8-hang.txt").decode(),
    "contention 25": archive("live/local17-25")["L-jdk25-many/jcmd.txt"].decode(),
    "deadlock 17": live("jdk17-316-threads.txt").decode(),
    "deadlock 25": live("jdk25-315-threads.txt").decode(),
}
CHANGES: dict[str, Change] = {
    **{
        name: WRAPPINGS[name]
        for name in (
            *("none", "CRLF", "CR", "CR CR LF", "UTF-16 with mark", "UTF-16 LE", "UTF-16 BE"),
            *(
                "byte order mark",
                "HTML",
                "HTML twice",
                "<br/> for line ends",
                "<br /> at line ends",
            ),
            *("<pre>", "<p> around lines", "quoted", "quoted twice", "gutter", "gutter with colon"),
            *("gutter with tab", "CRI", "journalctl", "docker-compose", "ISO times"),
            *("times in brackets", "maven", "ant", "docker's JSON", "a string in JSON"),
            *("log lines between", "prose around", "fenced", "quoted-printable"),
            *("Markdown's escapes", "colours"),
        )
    },
    **{
        name: DAMAGE[name]
        for name in (
            *("indentation lost", "indented", "e-mail protection", "e-mail protection in HTML"),
            *("doubled at", "lock ids eaten", "lock ids gone", "opening quotes lost"),
            *("curled quotes", "no-break spaces", "double spacing", "blank lines lost"),
            *("blanks in blank lines", "a thread a line", "wrapped at 72", "broken at column 80"),
            *("blanks around $", "at lost", "frames folded"),
        )
    },
    "wrapped and quoted": lambda s: re.sub("(?m)^", "> ", wrapped(76)(s)),
}

OTHER_LINES = (
    "a string in JSON",
    "wrapped at 72",
    "wrapped and quoted",
    "broken at column 80",
    "no-break spaces",
    "Markdown's escapes",
    "blanks around $",
)
"""Where a name is not found in its line as it is."""


def seen(dumps: tuple[ThreadDump, ...]) -> list[object]:
    """All that a verdict rests on."""
    return [
        (
            (d.vm, d.taken_at, d.deadlocks, d.complete, d.unread),
            [
                (
                    (t.name, t.nid, t.state, t.activity, t.daemon, t.cpu_ms, t.elapsed_ms, t.cut),
                    [(f.class_name, f.method, f.location) for f in t.frames],
                    [(k.act, k.class_name, k.depth) for k in t.locks],
                )
                for t in d.threads
            ],
        )
        for d in dumps
    ]


@pytest.mark.parametrize("damage", CHANGES)
@pytest.mark.parametrize("which", DUMPS)
def test_the_same_threads_come_out(which: str, damage: str) -> None:
    whole = DUMPS[which]
    hurt = CHANGES[damage](whole)

    dumps = thread_dumps(hurt, "x")

    assert seen(dumps) == seen(thread_dumps(whole, "x"))
    if isinstance(hurt, str) and damage not in OTHER_LINES:
        lines = [html.unescape(html.unescape(line)) for line in re.split("\r\r\n|\r\n|\n|\r", hurt)]
        for thread in dumps[0].threads:
            assert thread.name in lines[thread.line - 1]
            assert all(f.method in lines[f.line - 1] for f in thread.frames if f.line)


def test_a_lock_id_in_odd_letters_still_tells_locks_apart() -> None:
    cyrillic = DUMPS["deadlock 17"].replace("<0x", "<0\u0445")

    (dump,) = thread_dumps(cyrillic, "x")

    addresses = {lock.address for thread in dump.threads for lock in thread.locks}
    assert len(addresses) > 5
    assert all(a is None or a.startswith("0\u0445") for a in addresses)


def test_lost_spaces_of_prefixes_are_no_matter_of_their_first_line() -> None:
    """The prefix is learned from the dump; other lines of the file need not have it."""
    text = "start.sh: starting\n" + each(lambda _, line: f"web-0 app {line}")(DUMPS["tomcat 17"])

    (dump,) = thread_dumps(text, "x")

    assert len(dump.threads) == 22
    assert dump.complete


def test_a_log_line_is_no_prefix() -> None:
    text = (
        "".join(f"12:00:0{i % 10} [main] INFO a.b.C - x\n" for i in range(500)) + DUMPS["tomcat 17"]
    )

    (dump,) = thread_dumps(text, "x")

    assert dump.complete
    assert dump.threads[0].line == 512


# ---------------------------------------------------------------- the inputs that other tools were tried on

J17, J25 = live("jdk17-316-threads.txt"), live("jdk25-315-threads.txt")
AROUND = (LOG + "\n").encode() * 50
OTHERS: dict[str, tuple[bytes, int, int]] = {
    "plain17.txt": (J17, 316, 1),
    "jstack25.txt": (J25, 315, 1),
    "kill3-jdk25.log": (AROUND + J25 + AROUND, 315, 1),
    "dump_to_file25.json": (live("jdk25-dump-to-file.json"), 303, 1),
    "dump_to_file25.plain": (live("jdk25-dump-to-file.txt"), 303, 1),
    "catalina-around.txt": (AROUND + J17 + AROUND + J17 + AROUND, 632, 2),
    "interleaved.txt": (
        each(lambda i, line: f"{line}\n{LOG}" if i % 40 == 39 else line)(J17.decode()).encode(),
        316,
        1,
    ),
    "cri-prefix.txt": (str(CHANGES["CRI"](J17.decode())).encode(), 316, 1),
    "journald.txt": (str(CHANGES["journalctl"](J17.decode())).encode(), 316, 1),
    "compose-prefix.txt": (str(CHANGES["docker-compose"](J17.decode())).encode(), 316, 1),
    "docker-json.txt": (str(CHANGES["docker's JSON"](J17.decode())).encode(), 316, 1),
    "crlf.txt": (J17.replace(b"\n", b"\r\n"), 316, 1),
    "utf16.txt": (J17.decode().encode("utf-16"), 316, 1),
    "gz.txt.gz": (gzip.compress(J17), 316, 1),
    "no-banner.txt": (J17[J17.index(b'"') :], 316, 1),
    "nulls-in-name.txt": (
        J17.replace(b'"http', b'"ht\0tp').replace(b'"dead-', b'"de\0ad-'),
        316,
        1,
    ),
}


@pytest.mark.parametrize("name", OTHERS)
def test_threads_and_dumps_are_counted_right(name: str) -> None:
    data, threads, count = OTHERS[name]

    dumps = thread_dumps(unpacked(data), name)

    assert (sum(len(d.threads) for d in dumps), len(dumps)) == (threads, count)
    if "dump_to_file" not in name:
        assert all(d.deadlocks for d in dumps)
