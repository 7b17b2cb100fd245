"""The table of JVMs: the answer first, what is not known never as "fine", hostile names shown and not obeyed."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import jsonschema
import pytest
from inline_snapshot import snapshot

from seedstall.model.jdk import VmFamily
from seedstall.model.listing import ListedJvm, Listing, Unread
from seedstall.model.seeding import Risk
from seedstall.model.verdict import Cause, Status
from seedstall.render import listing as render
from seedstall.render.schema import schema

FINE = ListedJvm(
    pid=77,
    vm=VmFamily.HOTSPOT,
    told_by="maps",
    status=Status.CLEAR,
    cause=Cause.NONE,
    sentence="not entropy: none of its 25 threads waits for random bytes",
    risk=Risk.CANNOT_BLOCK,
    risk_why="this kernel's /dev/random does not block after boot",
    uid=1000,
    user="anna",
    age_ms=3_720_000,
    jdk="21.0.8",
    vendor="Debian",
    program="app.jar",
    in_container=False,
    seed_source="file:/dev/random",
    seed_place="java.security:156",
)
HUNG = replace(
    FINE,
    pid=8712,
    user="tomcat",
    age_ms=125_000,
    jdk="1.8.0_352",
    program="Apache Tomcat",
    product="tomcat",
    in_container=True,
    container="4f1d2c3b4f1d",
    runtime="Docker",
    status=Status.STALLED,
    cause=Cause.BLOCKING_SEED,
    sentence="thread 8713 has waited at least 21.4 s in read of /dev/random",
    risk=Risk.WILL_BLOCK,
    since_ms=21_400,
)
DARK = replace(
    FINE,
    pid=9001,
    told_by="name",
    status=Status.UNKNOWN,
    sentence="what its threads wait in may not be seen: run as root",
    risk=Risk.UNKNOWN,
    jdk="",
    vendor="",
    seed_source=None,
    in_container=None,
    unread=(Unread(what="jdk", why="denied: run as root"),),
)
STOPPED = replace(FINE, pid=5, status=Status.STALLED, cause=Cause.STOPPED, sentence="it is stopped")


def listed(*jvms: ListedJvm, **more: object) -> Listing:
    return Listing(jvms=jvms, processes=200, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("found", "line"),
    [
        (listed(), "no JVM was found"),
        (
            listed(unseen=(("denied", 3),)),
            "no JVM was found among the processes that could be seen",
        ),
        (listed(hidden=True), "no JVM was found among the processes that could be seen"),
        (listed(FINE), "1 JVM, and it does not wait for random bytes"),
        (listed(FINE, FINE), "none of 2 JVMs waits for random bytes"),
        (listed(HUNG, FINE), "1 of 2 JVMs waits for random bytes: 8712 (Apache Tomcat)"),
        (
            listed(HUNG, replace(HUNG, pid=8, program=""), DARK),
            "2 of 3 JVMs wait for random bytes: 8712 (Apache Tomcat), 8; of 1 it is not known",
        ),
        (
            listed(FINE, DARK),
            "the one JVM that could be looked at does not wait for random bytes; of 1 more it is not known",
        ),
        (
            listed(FINE, FINE, DARK),
            "none of the 2 JVMs that could be looked at waits for random bytes; of 1 more it is not known",
        ),
        (listed(DARK), "1 JVM, and it is not known whether it waits for random bytes"),
        (
            listed(STOPPED, FINE),
            "none of 2 JVMs waits for random bytes; 5 is held up otherwise (other:stopped)",
        ),
    ],
)
def test_the_first_line_is_the_answer(found: Listing, line: str) -> None:
    assert render.headline(found) == line
    assert render.text(found, quiet=True) == f"{line}\n"
    assert render.text(found).startswith(f"{line}\n")


def test_many_stalled_are_counted_and_not_all_named() -> None:
    line = render.headline(listed(*(replace(HUNG, pid=n) for n in range(1, 10))))
    assert line.startswith("9 of 9 JVMs wait")
    assert line.endswith("and 3 more")


def test_the_table() -> None:
    found = listed(FINE, HUNG, DARK, unseen=(("denied: run as root", 41),), ended=1)
    assert render.text(found) == snapshot("""\
1 of 3 JVMs waits for random bytes: 8712 (Apache Tomcat); of 1 it is not known

 PID  USER     AGE  STALLED    PROGRAM        RISK          SEED SOURCE       JDK               CONTAINER
8712  tomcat  2m05  yes 21s    Apache Tomcat  will block    file:/dev/random  1.8.0_352 Debian  Docker 4f1d2c3b4f1d
  77  anna    1h02  no         app.jar        cannot block  file:/dev/random  21.0.8 Debian     -
9001  anna    1h02  not known  app.jar        not known     ?                 ?                 ?

8712: thread 8713 has waited at least 21.4 s in read of /dev/random
    seedstall diagnose 8712

not known of 9001: what its threads wait in may not be seen: run as root

note: 41 more processes could not be looked at: whether a JVM is among them is not known (denied: run as root)
note: what some map may not be read: they are listed because they are called java
note: 1 JVM ended while it was looked at
""")


def test_a_terminal_sees_the_stalled_ones_first() -> None:
    many = [replace(FINE, pid=n) for n in range(100, 160)]
    lines = render.text(listed(*many, HUNG), screen=(50, 10)).splitlines()
    assert len(lines) == 10
    assert max(map(len, lines)) <= 50
    head = next(n for n, line in enumerate(lines) if "STALLED" in line)
    assert lines[head + 1].lstrip().startswith("8712")
    assert lines[-1].endswith("more lines than this terminal has")


@pytest.mark.parametrize("columns", [20, 40, 60, 80, 100, 120, 250])
def test_a_terminal_is_never_too_narrow_for_it(columns: int) -> None:
    wide = replace(
        HUNG,
        sentence="thread 8713 has waited at least 21.4 s in read of /dev/random " * 3,
        program="p" * 300,
        user="u" * 40,
    )
    found = listed(FINE, wide, DARK, unseen=(("denied: run as root", 41),), ended=1)
    told = render.text(found, screen=(columns, 0))
    typed = f"    seedstall diagnose {wide.pid}"
    # A word of its own is never cut in two: it could not be copied.
    lines = [line for line in told.splitlines() if line != typed and " " in line.strip()]
    assert max(map(len, lines)) <= columns
    assert typed in told.splitlines(), "what is to be typed is whole"
    assert " ".join(told.split()).count("21.4 s") == 3, "a sentence is folded, not cut"
    assert "yes 21s" in told or columns < 40


def test_a_terminal_says_which_columns_it_has_no_room_for() -> None:
    found = listed(FINE, HUNG)
    narrow = render.text(found, screen=(80, 0))
    assert "JDK, CONTAINER" in narrow
    assert "no room" not in render.text(found, screen=(200, 0))
    assert render.text(found, screen=(200, 0)) == render.text(found), "piped it is the same"


def test_hostile_names_are_shown_and_secrets_masked() -> None:
    evil = replace(
        FINE, program="a\x1b[31m\n\u202e", user="x\ty", container="\x07", in_container=True
    )
    secret = replace(FINE, sentence="-Dpassword=hunter2", status=Status.STALLED)
    for text in (render.text(listed(evil)), render.prometheus(listed(evil))):
        assert "\\x1b[31m" in text
        assert not set(text) & set("\x1b\x07\u202e\t")
    assert "hunter2" not in render.text(listed(secret))
    assert "hunter2" not in render.json(listed(secret))
    assert "hunter2" in render.json(listed(secret), redacted=False)


def test_a_name_of_any_length_is_cut() -> None:
    long = replace(FINE, program="p" * 10_000, jdk="j" * 10_000, user="u" * 10_000)
    assert max(map(len, render.text(listed(long, long)).splitlines())) < 400


@pytest.mark.parametrize("one_line", [True, False])
def test_the_json_is_what_the_schema_says(*, one_line: bool) -> None:
    found = listed(FINE, HUNG, DARK, replace(FINE, seed_source=""), unseen=(("denied", 2),))
    text = render.json(found, one_line=one_line)
    told = json.loads(text)
    jsonschema.validate(told, schema())
    assert (text.count("\n") == 1) == one_line
    assert told["waiting"] == [8712]
    assert [jvm["stalled"] for jvm in told["jvms"]] == [False, True, None, False]
    assert told["jvms"][2]["unread"] == [{"what": "jdk", "why": "denied: run as root"}]
    assert told["jvms"][3]["seed"]["source"] == ""
    assert told["jvms"][2]["seed"]["source"] is None


SAMPLE = re.compile(
    r'[a-z_]+(?:\{[a-z]+="(?:[^"\\\n]|\\\\|\\"|\\n)*"(?:,[a-z]+="(?:[^"\\\n]|\\\\|\\"|\\n)*")*\})? [0-9.]+'
)


def test_prometheus_takes_every_line() -> None:
    evil = replace(HUNG, program='a"b\\c\n', user="\u202e")
    text = render.prometheus(listed(FINE, evil, DARK, unseen=(('denied: "x"', 2),)))
    families: list[str] = []
    for line in text.splitlines():
        if line.startswith("#"):
            _, kind, name, _ = line.split(" ", 3)
            families += [name] if kind == "HELP" else []
            assert families[-1] == name, "HELP and TYPE stand together"
        else:
            assert SAMPLE.fullmatch(line), line
            assert line.startswith(families[-1])
    assert len(families) == len(set(families))
    assert 'seedstall_jvm_stalled{pid="8712"' in text
    assert 'seedstall_jvm_stalled{pid="9001"' not in text, "what was not seen is absent, not 0"


def test_prometheus_own_parser_reads_it() -> None:
    parser = pytest.importorskip("prometheus_client.parser")
    evil = replace(HUNG, program='a"b\\c\n')
    text = render.prometheus(listed(FINE, evil, DARK, unseen=(('denied: "x"', 2),)))
    read = {f.name: f for f in parser.text_string_to_metric_families(text)}
    assert all(f.documentation and f.type in ("gauge", "counter") for f in read.values())
    stalled = {s.labels["pid"]: s.value for s in read["seedstall_jvm_stalled"].samples}
    assert stalled["8712"] == 1
    assert "9001" not in stalled


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        (None, "?"),
        (0, "0s"),
        (59_999, "59s"),
        (60_000, "1m00"),
        (599_000, "9m59"),
        (600_000, "10m"),
        (3_600_000, "1h00"),
        (172_799_000, "47h59"),
        (172_800_000, "2d"),
    ],
)
def test_ages(ms: int | None, text: str) -> None:
    assert render.age(ms) == text
