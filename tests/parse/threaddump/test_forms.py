"""Every form of one real stall tells what HotSpot's own text of the same JVM tells."""

from __future__ import annotations

import re

import pytest
from tests.parse.threaddump import forms

from seedstall.model.seeding import SeedRole
from seedstall.model.threads import LockAct
from seedstall.parse.threaddump import thread_dumps

COUNTS = {
    "actuator.json": rb'"threadName"',
    "boot1.json": rb'"threadName"',
    "info.txt": rb'(?m)^".*" (?:daemon )?(?:prio=\d+ )?Id=\d+ [A-Z_]+',
    "visualvm.txt": rb'(?m)^".*" - Thread t@',
    "jhsdb.txt": rb'(?m)^".*" #\d',
    "jhsdb-locks.txt": rb'(?m)^".*" #\d',
    "jhsdb-mixed.txt": rb"(?m)^-{17} \d+ -{17}$",
    "to-file.json": rb'"tid"',
    "to-file.txt": rb'(?m)^#\d+ "',
    "jstack.txt": rb'(?m)^".*tid=',
    "jstack-l.txt": rb'(?m)^".*tid=',
    "kill-3.txt": rb'(?m)^".*tid=',
    "thread-print.txt": rb'(?m)^".*tid=',
    "thread-print-l-e.txt": rb'(?m)^".*tid=',
}
"""What each form has once for each thread: an independent count."""
CASES = [
    (stall, name) for stall in forms.STALLS for name in sorted(forms.files(stall)) if name in COUNTS
]


@pytest.mark.parametrize(("stall", "name"), CASES)
def test_threads_dumps_and_lines(stall: str, name: str) -> None:
    text = forms.files(stall)[name]

    (dump,) = thread_dumps(text, name)

    assert len(dump.threads) == len(re.findall(COUNTS[name], text))
    lines = text.decode().split("\n")
    for thread in dump.threads:
        named = thread.name.removeprefix("Thread ").replace('"', '\\"' if "json" in name else '"')
        below = name == "jhsdb-mixed.txt"  # a line with the kernel's id stands above the name
        assert named in "\n".join(lines[thread.line - 1 : thread.line + below]), thread.name
        for frame in thread.frames:
            if frame.line:
                assert frame.method in lines[frame.line - 1]


@pytest.mark.parametrize(("stall", "name"), CASES)
def test_seeding_threads_are_those_of_hotspots_text(stall: str, name: str) -> None:
    expected = forms.seeding(forms.jstack(stall))
    assert [role for _, role, _, _ in expected].count(SeedRole.READING) == 2

    (dump,) = thread_dumps(forms.files(stall)[name], name)
    found = forms.seeding(dump)

    if name == "jhsdb-mixed.txt":  # native frames hide a blocked thread's Java frames
        assert found == [one for one in expected if one[1] is SeedRole.READING]
    elif name == "info.txt":  # eight frames: who asked is below them
        assert [one[:3] for one in found] == [one[:3] for one in expected]
        assert all(mine[3] in ("", theirs[3]) for mine, theirs in zip(found, expected, strict=True))
    else:
        assert found == expected


@pytest.mark.parametrize(("stall", "name"), CASES)
def test_the_jvms_own_threads_keep_their_java_ids(stall: str, name: str) -> None:
    ids = {t.name: t.java_id for t in forms.java_threads(forms.jstack(stall))}
    (dump,) = thread_dumps(forms.files(stall)[name], name)

    for thread in dump.threads:
        if thread.java_id is not None and thread.name in ids:
            assert ids[thread.name] == thread.java_id


@pytest.mark.parametrize("stall", [s for s in forms.STALLS if s.endswith("deadlock")])
@pytest.mark.parametrize("name", ["jhsdb.txt", "jhsdb-locks.txt", "jhsdb-mixed.txt", "kill-3.txt"])
def test_a_deadlock_is_told_and_its_names_are_no_threads(stall: str, name: str) -> None:
    text = forms.files(stall).get(name)
    if text is None:
        return  # the agent's tools are there for one JDK only

    (dump,) = thread_dumps(text, name)

    assert [sorted(cycle) for cycle in dump.deadlocks] == [["dead-a", "dead-b"]]
    assert [t.name for t in dump.threads].count("dead-a") == 1


@pytest.mark.parametrize("stall", forms.STALLS)
@pytest.mark.parametrize("of", ["openj9", "ibm 6"])
def test_a_javacore_tells_the_same(stall: str, of: str) -> None:
    hotspot = forms.jstack(stall)
    text = forms.javacore(stall, old=of == "ibm 6")

    (dump,) = thread_dumps(text, "javacore.txt")

    expected = forms.java_threads(hotspot)
    assert [(t.name, t.nid, len(t.frames)) for t in dump.threads] == [
        (t.name, t.nid, len(t.frames)) for t in expected
    ]
    assert forms.seeding(dump) == forms.seeding(hotspot)
    assert (dump.taken_at, dump.process) == ("2026-11-30 20:05:30.417", 16868)
    assert dump.complete
    assert dump.jdk is not None
    assert hotspot.jdk is not None
    assert dump.jdk.feature == hotspot.jdk.feature
    assert [set(cycle) for cycle in dump.deadlocks] == [set(cycle) for cycle in hotspot.deadlocks]
    lines = text.split("\n")
    for thread in dump.threads:
        assert f'"{thread.name}"' in lines[thread.line - 1]


@pytest.mark.parametrize("stall", forms.STALLS)
def test_the_agent_of_jdk_8_has_kernel_ids_for_names(stall: str) -> None:
    hotspot = forms.jstack(stall)
    (dump,) = thread_dumps(forms.agent8(stall), "jstack-F.txt")

    expected = forms.java_threads(hotspot)
    assert [(t.nid, len(t.frames)) for t in dump.threads] == [
        (t.nid, len(t.frames)) for t in expected
    ]
    names = {f"Thread {t.nid}": t.name for t in expected}
    found = sorted((names[name], *rest) for name, *rest in forms.seeding(dump))
    assert found == [tuple(one) for one in forms.seeding(hotspot)]
    assert dump.complete
    assert dump.jdk is not None
    assert (dump.jdk.feature, dump.jdk.update, dump.process) == (8, 504, 4242)


@pytest.mark.parametrize("stall", forms.STALLS)
def test_jconsoles_window_tells_the_same(stall: str) -> None:
    hotspot = forms.jstack(stall)
    (dump,) = thread_dumps(forms.jconsole(stall), "jconsole.txt")

    assert forms.seeding(dump) == forms.seeding(hotspot)
    assert len(dump.threads) == len(forms.java_threads(hotspot))
    assert not dump.lists_all


def test_locks_are_told_apart() -> None:
    """``ThreadInfo`` says "waiting on" of a parked thread, too."""
    for name in ("info.txt", "actuator.json", "visualvm.txt", "jhsdb.txt", "thread-print.txt"):
        (dump,) = thread_dumps(forms.files("jdk17")[name], name)
        acts = {t.name: {k.act for k in t.locks} for t in dump.threads}
        assert acts["parked"] == {LockAct.PARKING}, name
        assert acts["blocked"] == {LockAct.WAITING_TO_LOCK}, name
        assert LockAct.WAITING_ON in acts["waiter"], name
        assert LockAct.LOCKED in acts["holder"], name


def test_the_same_stacks_thrown_are_no_threads() -> None:
    text = forms.files("jdk17")["exceptions.txt"]
    assert text.count(b"\tat ") > 50

    assert thread_dumps(text, "x") == ()


def test_an_agent_that_failed_gives_no_thread() -> None:
    assert thread_dumps(forms.files("jdk8")["jstack-F.txt"], "x") == ()


def test_forms_mixed_in_one_file_in_their_order() -> None:
    held = forms.files("jdk17")
    order = (
        "jhsdb.txt",
        "kill-3.txt",
        "info.txt",
        "actuator.json",
        "visualvm.txt",
        "thread-print.txt",
    )
    text = b"\nsome words between\n\n".join(
        [
            forms.javacore("jdk25").encode(),
            *(held[n] for n in order),
            forms.files("jdk25")["to-file.txt"],
        ]
    )

    dumps = thread_dumps(text, "x")

    assert [d.form for d in dumps] == [
        "javacore",
        "jhsdb jstack",
        "",
        "ThreadInfo",
        "threaddump JSON",
        "VisualVM",
        "",
        "Thread.dump_to_file",
    ]
    alone = [len(thread_dumps(held[n], "x")[0].threads) for n in order]
    assert [len(d.threads) for d in dumps][1:-1] == alone
    for dump in dumps:
        assert len(forms.seeding(dump)) == 4
    lines = text.decode().split("\n")
    for dump in dumps:
        for thread in dump.threads:
            assert thread.name.replace('"', '\\"') in lines[thread.line - 1].replace(
                '"', '\\"'
            ).replace("\\\\", "\\")


def test_behind_a_log_collectors_prefix() -> None:
    for name in ("info.txt", "visualvm.txt", "jhsdb.txt"):
        text = forms.files("jdk17")[name].decode()
        lines = text.split("\n")
        prefixed = "\n".join(f"web-1  | {line}" for line in lines)
        (dump,) = thread_dumps(prefixed, "x")
        (plain,) = thread_dumps(text, "x")
        assert forms.seeding(dump) == forms.seeding(plain), name
        assert len(dump.threads) == len(plain.threads), name
