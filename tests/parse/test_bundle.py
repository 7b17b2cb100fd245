"""A bundle's head and manifest: what is written is what is read, and what a hostile one says is taken for its word."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seedstall.model.bundle import Head, place
from seedstall.model.evidence import Ask, Missing, Ref, Space, Why
from seedstall.parse import bundle

names = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0/"), min_size=1)


def test_a_head_comes_back() -> None:
    told = Head(
        1,
        "seedstall 1",
        8712,
        "2026-11-30T22:50:11Z",
        "secrets",
        anonymised=True,
        did=("a", "b"),
        others={"k": "v"},
    )
    assert bundle.head(bundle.head_text(told)) == told


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "does not say"),
        (b"seedstall-bundle\tx\n", "does not say"),
        (b"seedstall-bundle 1\n", "does not say"),
        (b"seedstall-bundle\t2\n", "version 2, and this seedstall reads 1"),
        (b"seedstall-bundle\t99999999999999\n", "does not say"),
    ],
)
def test_what_is_no_head(data: bytes, why: str) -> None:
    with pytest.raises(bundle.NoBundleError, match=why):
        bundle.head(data)


@pytest.mark.parametrize("pid", [b"-1", b"x", b"99999999999", "\u0665".encode(), b""])
def test_a_pid_that_is_none(pid: bytes) -> None:
    assert bundle.head(b"seedstall-bundle\t1\npid\t" + pid + b"\n").pid is None


def test_lines_as_a_shell_writes_them() -> None:
    told = bundle.manifest(
        b"proc/1/exe\tlink\t/opt/a\\tb\\\\c\\x\r\n"
        b"proc/1/fd\tlist\t0/1/2/..\n"
        b"root/dev/random\tstat\t20666 1 8 5 0 0 0\n"
        b"root/dev/x\tstat\trwxr-xr-x\n"
        b"proc/1/maps\tdenied\tneeds root\n"
        b"proc/1/ns/mnt\tlink:denied\n"
        b"no tab\n\n"
        b"a\tsome-word\tx\n"
    )
    assert told.answers == {
        ("proc/1/exe", Ask.LINK): b"/opt/a\tb\\c\\x",
        ("proc/1/fd", Ask.LIST): b"0\x001\x002\0",
        ("root/dev/random", Ask.STAT): b"20666 1 8 5 0 0 0",
    }
    assert {key: missing.why for key, missing in told.missing.items()} == {
        ("proc/1/maps", None): Why.DENIED,
        ("proc/1/ns/mnt", Ask.LINK): Why.DENIED,
    }


def test_why_something_is_missing() -> None:
    told = bundle.manifest(
        b"proc/sys/kernel/random\tlist\tpoolsize/uuid\nproc/sys/crypto\tabsent\t\nroot/x\tdenied\tno\n"
        b"proc/1/task/9\tvanished\t\n"
    )

    def why(path: str, ask: Ask = Ask.CONTENT) -> Why | None:
        found = bundle.reason(told, path, ask)
        return found[0] if found is not None else None

    assert why("proc/sys/kernel/random/entropy_avail") is Why.ABSENT, "the list lacks it"
    assert why("proc/sys/kernel/random/entropy_avail/x") is Why.ABSENT
    assert why("proc/sys/kernel/random/uuid") is None, "it is there, and was not read"
    assert why("proc/sys/crypto/fips_enabled") is Why.ABSENT
    assert why("root/x/y", Ask.LINK) is Why.DENIED
    assert why("proc/1/task/9/stat") is Why.VANISHED
    assert why("etc/os-release") is None


@given(
    st.lists(names, min_size=1, max_size=5),
    st.binary(max_size=50).map(lambda b: b.replace(b"\0", b"")),
    st.sampled_from((Ask.LINK, Ask.CONTENT)),
)
def test_every_line_comes_back(parts: list[str], text: bytes, ask: Ask) -> None:
    path = "/".join(part for part in parts if part.strip("\r")) or "x"
    if ask is Ask.LINK:
        if text.endswith(b"\r"):
            return
        line = bundle.answer_line(path, ask, text)
        assert bundle.manifest(line).answers == {(path, ask): text}
    else:
        missing = Missing(Why.TIMED_OUT, (), text.decode("latin-1").rstrip("\r"))
        (found,) = bundle.manifest(bundle.missing_line(path, ask, missing)).missing.values()
        assert (found.why, found.detail) == (Why.TIMED_OUT, missing.detail)


@given(st.binary(max_size=300))
def test_escapes_come_back(data: bytes) -> None:
    spelled = bundle.escaped(data)
    assert bundle.unescaped(spelled) == data
    assert b"\t" not in spelled
    assert b"\n" not in spelled


@given(st.binary(max_size=2000))
def test_any_bytes(data: bytes) -> None:
    bundle.manifest(data)
    bundle.unescaped(data)
    with contextlib.suppress(bundle.NoBundleError):
        bundle.head(data)


@pytest.mark.parametrize(
    ("ref", "path"),
    [
        (Ref(Space.KERNEL, "proc/version"), "proc/version"),
        (Ref(Space.PROCESS, "task/9/stat"), "proc/7/task/9/stat"),
        (Ref(Space.ROOT, "/opt/x"), "root/opt/x"),
        (Ref(Space.ATTACH, "threaddump"), "jvm/threaddump.txt"),
        (Ref(Space.ATTACH, "agentProperties"), None),
        (Ref(Space.INPUT, "catalina.out"), "logs/catalina.out"),
        (Ref(Space.INPUT, "../x"), None),
        (Ref(Space.INPUT, "", Ask.LIST), None),
        (Ref(Space.ROOT, "opt/../x"), None),
        (Ref(Space.MEMORY, "0+1"), None),
    ],
)
def test_where_a_reading_lies(ref: Ref, path: str | None) -> None:
    assert place(ref, 7) == path
