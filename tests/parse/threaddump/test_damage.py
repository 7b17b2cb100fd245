"""What paste buffers, browsers, mail programs and log collectors do to a dump: the same threads must come out.

Each real dump times each kind of damage. Two inputs of the kind that nine other tools were tried on stand at the end.
"""

import gzip
import html
import json
import quopri
import re
import textwrap
from collections.abc import Callable

import pytest
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
LOG = "30-Nov-2026 14:21:18.123 INFO [exec-1] com.foo.Bar.baz request (x) done"


def each(change: Callable[[int, str], str]) -> Callable[[str], str]:
    return lambda text: "".join(change(i, line) + "\n" for i, line in enumerate(text.split("\n")))


def docker(number: int, line: str) -> str:
    time = f"2026-11-30T14:21:{number % 60:02}.123456789Z"
    return json.dumps({"log": line + "\n", "stream": "stdout", "time": time})


def wrapped(text: str, width: int) -> str:
    """As a mail program breaks lines: at blanks, the indentation of the rest lost."""
    return "\n".join(
        "\n".join(textwrap.wrap(line, width, break_long_words=False)) if len(line) > width else line
        for line in text.split("\n")
    )


def chopped(text: str, width: int) -> str:
    """As a terminal breaks lines: wherever they come to *width*."""
    return "\n".join(
        line[at : at + width]
        for line in text.split("\n")
        for at in range(0, max(1, len(line)), width)
    )


DAMAGE: dict[str, Callable[[str], str | bytes]] = {
    "none": lambda s: s,
    "CRLF": lambda s: s.replace("\n", "\r\n"),
    "CR": lambda s: s.replace("\n", "\r"),
    "CR CR LF": lambda s: s.replace("\n", "\r\r\n"),
    "UTF-16 with mark": lambda s: s.encode("utf-16"),
    "UTF-16 LE": lambda s: s.encode("utf-16-le"),
    "UTF-16 BE": lambda s: s.encode("utf-16-be"),
    "byte order mark": lambda s: b"\xef\xbb\xbf" + s.encode(),
    "indentation lost": each(lambda _, line: line.lstrip()),
    "indented": each(lambda _, line: " " * 8 + line),
    "HTML": html.escape,
    "HTML twice": lambda s: html.escape(html.escape(s)),
    "<br/> for line ends": lambda s: html.escape(s).replace("\n", "<br/>"),
    "<br /> at line ends": lambda s: html.escape(s).replace("\n", "<br />\n"),
    "<pre>": lambda s: f"<html><body><pre>{html.escape(s)}</pre></body></html>",
    "<p> around lines": each(lambda _, line: f"<p>{html.escape(line)}</p>"),
    "e-mail protection": lambda s: re.sub(r"\(java\.base@[\d.]+/", "([email protected]/", s),
    "e-mail protection in HTML": lambda s: re.sub(
        r"\(java\.base@[\d.]+/",
        '(<a href="/cdn-cgi/l/email-protection">[email&#160;protected]</a>/',
        s,
    ),
    "doubled at": each(lambda i, line: line.replace("\tat ", "\tat at ") if i % 3 == 0 else line),
    "lock ids eaten": lambda s: re.sub(r"<0x[0-9a-f]+>", "<>", s),
    "lock ids gone": lambda s: re.sub(r"<0x[0-9a-f]+>", "", s),
    "quoted": each(lambda _, line: f"> {line}"),
    "quoted twice": each(lambda _, line: f"> > {line}"),
    "gutter": each(lambda i, line: f"{i + 1:5} {line}"),
    "gutter with colon": each(lambda i, line: f"{i + 1}: {line}"),
    "gutter with tab": each(lambda i, line: f"{i + 1}\t{line}"),
    "CRI": each(lambda i, line: f"2026-11-30T14:21:{i % 60:02}.{i * 7919:09}Z stdout F {line}"),
    "journald": each(lambda i, line: f"Nov 30 14:21:{i % 60:02} host java[4711]: {line}"),
    "docker-compose": each(lambda _, line: f"tomcat-1  | {line}"),
    "ISO times": each(lambda i, line: f"2026-11-30T14:21:{i % 60:02}.{i % 1000:03}+01:00 {line}"),
    "times in brackets": each(
        lambda i, line: f"[2026-11-30T14:21:{i % 60:02}.{i % 1000:03}Z] {line}"
    ),
    "maven": each(lambda _, line: f"[INFO] {line}"),
    "ant": each(lambda _, line: f"     [java] {line}"),
    "docker's JSON": each(docker),
    "a string in JSON": lambda s: json.dumps({"id": 1, "dump": s}),
    "opening quotes lost": lambda s: re.sub(r'^"', "", s, flags=re.MULTILINE),
    "curled quotes": lambda s: re.sub(r'^"([^"\n]*)"', "\u201c\\1\u201d", s, flags=re.MULTILINE),
    "no-break spaces": lambda s: s.replace("\t", "\u00a0\u00a0"),
    "double spacing": lambda s: s.replace("\n", "\n\n"),
    "blank lines lost": lambda s: re.sub(r"\n\n+", "\n", s),
    "blanks in blank lines": lambda s: s.replace("\n\n", "\n \n"),
    "log lines between": each(lambda i, line: f"{line}\n{LOG}" if i % 5 == 4 else line),
    "prose around": lambda s: f"I saw this:\n\n{s}\nWhat can I do?\n",
    "fenced": lambda s: f"```\n{s}```\n",
    "a thread a line": lambda s: re.sub(r"\s*\n\s+(?=at |- |java)", " ", s),
    "wrapped at blanks": lambda s: wrapped(s, 72),
    "wrapped and quoted": lambda s: re.sub("(?m)^", "> ", wrapped(s, 76)),
    "broken at a column": lambda s: chopped(s, 80),
    "quoted-printable": lambda s: quopri.encodestring(s.encode()),
    "Markdown's escapes": lambda s: re.sub(r"([$_<>#])", r"\\\1", s),
    "blanks around $": lambda s: s.replace("$", " $ "),
    "at lost": lambda s: s.replace("\tat ", "\t"),
    "colours": each(lambda _, line: f"\x1b[32m{line}\x1b[0m"),
    "frames folded": lambda s: re.sub(r"(?m)^(\tat .{30,}?)\(", "\\1(\n", s),
}

OTHER_LINES = (
    "a string in JSON",
    "wrapped at blanks",
    "wrapped and quoted",
    "broken at a column",
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


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize("which", DUMPS)
def test_the_same_threads_come_out(which: str, damage: str) -> None:
    whole = DUMPS[which]
    hurt = DAMAGE[damage](whole)

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
    "cri-prefix.txt": (str(DAMAGE["CRI"](J17.decode())).encode(), 316, 1),
    "journald.txt": (str(DAMAGE["journald"](J17.decode())).encode(), 316, 1),
    "compose-prefix.txt": (str(DAMAGE["docker-compose"](J17.decode())).encode(), 316, 1),
    "docker-json.txt": (str(DAMAGE["docker's JSON"](J17.decode())).encode(), 316, 1),
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
