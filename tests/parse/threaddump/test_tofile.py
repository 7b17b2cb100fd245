from hypothesis import given
from hypothesis import strategies as st
from tests.texts import archive, live

from seedstall.model.threads import LockAct
from seedstall.parse.threaddump import thread_dumps


def test_text_and_json_give_the_same_threads() -> None:
    (text,) = thread_dumps(live("jdk25-dump-to-file.txt"), "x")
    (data,) = thread_dumps(live("jdk25-dump-to-file.json"), "x")

    assert len(text.threads) == len(data.threads) == 303
    assert [(t.name, t.state) for t in text.threads][:100] == [
        (t.name, t.state) for t in data.threads
    ][:100]
    assert text.jdk == data.jdk
    assert data.jdk is not None
    assert data.jdk.feature == 25
    assert text.taken_at.startswith("2026-11-30T14:58:56")
    assert {t.nid for t in text.threads} == {None}


def test_lines_are_those_of_the_file() -> None:
    for name in ("jdk25-dump-to-file.txt", "jdk25-dump-to-file.json"):
        lines = live(name).decode().split("\n")
        (dump,) = thread_dumps(live(name), "x")
        for thread in dump.threads:
            assert f'"{thread.name}"' in lines[thread.line - 1]


def test_virtual_threads_of_21_and_25() -> None:
    texts = archive("live/virtual")
    for name, threads in (
        ("jdk21-to-file.txt", 19),
        ("jdk21-to-file.json", 19),
        ("jdk25-to-file.txt", 21),
        ("jdk25-to-file.json", 21),
    ):
        (dump,) = thread_dumps(texts[name], "x")
        virtual = [
            t for t in dump.threads if any("VirtualThread" in f.class_name for f in t.frames)
        ]
        assert len(dump.threads) == threads, name
        assert virtual, name


def test_json_of_25_tells_locks() -> None:
    (dump,) = thread_dumps(archive("live/local17-25")["L-jdk25-many/dump.json"], "x")

    held = [k for t in dump.threads for k in t.locks if k.act is LockAct.LOCKED]
    waited = [k for t in dump.threads for k in t.locks if k.act is LockAct.WAITING_TO_LOCK]

    assert len(waited) == 5
    assert {k.address for k in waited} <= {k.address for k in held}


def test_a_version_that_is_none_is_no_error() -> None:
    (dump,) = thread_dumps(live("jdk25-dump-to-file.txt").replace(b"25.0.3+9-LTS", b"21.0.8S"), "x")

    assert (dump.jdk, dump.vm, len(dump.threads)) == (None, "21.0.8S", 303)


def test_cut_json_holds_the_threads_that_are_whole() -> None:
    whole = live("jdk25-dump-to-file.json")
    (all_of_it,) = thread_dumps(whole, "x")

    for part in (2, 3, 10):
        cut = whole[: len(whole) // part]
        (dump,) = thread_dumps(cut, "x")
        count = len(dump.threads)
        assert cut.count(b'"tid"') - 1 <= count <= cut.count(b'"tid"')
        assert dump.threads == all_of_it.threads[:count]
        assert not dump.complete
        assert (dump.jdk, dump.process) == (all_of_it.jdk, all_of_it.process)


def test_broken_json_holds_no_dump() -> None:
    assert thread_dumps(b'{"threadDump": []}', "x") == ()
    assert thread_dumps(b'{"threadDump": {"threadContainers": [1, {"threads": [null, {}]}]}}', "x")[
        0
    ].threads
    assert thread_dumps(b'{"threadDump": ' + b"[" * 100_000, "x") == ()


def test_whole_files_are_complete() -> None:
    texts = {
        f"jdk25-dump-to-file.{end}": live(f"jdk25-dump-to-file.{end}") for end in ("txt", "json")
    }
    texts |= {n: t for n, t in archive("live/virtual").items() if "to-file" in n}
    for name, text in texts.items():
        (dump,) = thread_dumps(text, "x")
        assert (dump.complete, dump.unread) == (True, 0), name


def test_a_cut_file_is_not_complete() -> None:
    whole = live("jdk25-dump-to-file.txt")
    within = whole.index(
        b"\n", whole.index(b"FileInputStream.read") if b"FileInputStream.read" in whole else 900
    )

    (dump,) = thread_dumps(whole[:within], "x")

    assert not dump.complete


def test_frames_that_cannot_be_read_are_counted() -> None:
    text = live("jdk25-dump-to-file.txt")
    place = text.index(b"\n", text.index(b'"main"')) + 1
    (dump,) = thread_dumps(text[:place] + b"    at ??? (x)\n" + text[place:], "x")
    assert (dump.complete, dump.unread) == (False, 1)

    data = live("jdk25-dump-to-file.json")
    place = data.index(b'"stack": [') + len(b'"stack": [')
    (dump,) = thread_dumps(data[:place] + b'"???",' + data[place:], "x")
    assert (dump.complete, dump.unread) == (False, 1)


def test_json_that_lacks_threads_is_not_complete() -> None:
    container = '{"threads": [{"name": "a", "stack": []}], "threadCount": "%d"}'
    for count, complete in ((1, True), (2, False)):
        text = '{"threadDump": {"threadContainers": [' + container % count + "]}}"
        assert thread_dumps(text, "x")[0].complete is complete


@given(
    st.recursive(
        st.none() | st.text() | st.integers(),
        lambda s: (
            st.lists(s)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "threads",
                        "stack",
                        "name",
                        "locks",
                        "depth",
                        "monitorsOwned",
                        "parkBlocker",
                        "waitingOn",
                    ]
                ),
                s,
            )
        ),
    )
)
def test_any_json(value: object) -> None:
    import json

    thread_dumps(json.dumps({"threadDump": {"threadContainers": [{"threads": [value]}]}}), "x")
    thread_dumps(json.dumps({"threadDump": value}), "x")
