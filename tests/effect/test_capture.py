"""Writing a bundle: at one stroke, for its owner alone, over nothing; and the takes of it, bounded in time."""

from __future__ import annotations

import io
import os
import stat
import tarfile
import threading
import time
from pathlib import Path

import pytest
from tests.live.replay import in_process, report, settled
from tests.old_kernels import BLOCKED, FREE, unpacked

from seedstall.effect import capture
from seedstall.effect.capture import Bounded, Bundle, Output, Watchdog
from seedstall.model.bundle import Head
from seedstall.model.errors import SeedstallError, UsageError
from seedstall.model.evidence import Ask, Got, Missing, Ref, Space, Why
from seedstall.model.redactfile import redacted
from seedstall.source.base import Held

STATUS = Ref(Space.PROCESS, "status")


def test_it_is_its_owner_s_alone_and_whole(tmp_path: Path) -> None:
    path = tmp_path / "b.tar.gz"
    Output(str(path), force=False).write(b"all of it")
    assert path.read_bytes() == b"all of it"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [p.name for p in tmp_path.iterdir()] == ["b.tar.gz"], "nothing else is left"


def test_nothing_is_written_over(tmp_path: Path) -> None:
    path = tmp_path / "b.tar.gz"
    output = Output(str(path), force=False)
    path.write_bytes(b"somebody else's")
    with pytest.raises(UsageError, match="is there already"):
        output.write(b"ours")
    with pytest.raises(UsageError, match="is there already") as caught:
        Output(str(path), force=False)
    assert "--force" in caught.value.hint
    assert path.read_bytes() == b"somebody else's"
    Output(str(path), force=True).write(b"ours")
    assert path.read_bytes() == b"ours"
    assert len(list(tmp_path.iterdir())) == 1


@pytest.mark.parametrize("kind", ["fifo", "folder"])
def test_what_is_no_file_is_never_replaced(kind: str, tmp_path: Path) -> None:
    """``-o /dev/null --force`` as root made a file of the device."""
    path = tmp_path / "there"
    os.mkfifo(path) if kind == "fifo" else path.mkdir()
    with pytest.raises(UsageError, match="is no file: it is not replaced"):
        Output(str(path), force=True)
    late = Output(str(tmp_path / "late"), force=True)
    os.mkfifo(tmp_path / "late")
    with pytest.raises(UsageError, match="is no file"):
        late.write(b"x")
    assert stat.S_ISFIFO((tmp_path / "late").stat().st_mode)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["late", "there"]


def test_a_link_of_our_own_leads_where_it_says(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("there")
    Output(str(tmp_path / "link"), force=False).write(b"x")
    assert (tmp_path / "there").read_bytes() == b"x"
    with pytest.raises(UsageError, match="is there already"):
        Output(str(tmp_path / "link"), force=False)


def test_where_it_cannot_be_written_is_said_before_anything_is_read(tmp_path: Path) -> None:
    with pytest.raises(SeedstallError, match="No such file"):
        Output(str(tmp_path / "no/b.tar.gz"), force=False)
    with pytest.raises(SeedstallError, match=r"."):
        Output("/proc/b.tar.gz", force=False)


def test_after_its_time_a_source_answers_no_more() -> None:
    held = Held({STATUS: b"x"})
    assert Bounded(held, time.monotonic() + 60).read(STATUS) == Got(b"x", (STATUS,))
    late = Bounded(held, time.monotonic() - 1).read(STATUS)
    assert isinstance(late, Missing)
    assert late.why is Why.TIMED_OUT


def test_what_is_being_read_when_the_time_is_over_is_told() -> None:
    begun, done = threading.Event(), threading.Event()

    class Slow:
        def read(self, ref: Ref) -> Missing:
            begun.set()
            done.wait(30)
            return Missing(Why.ABSENT, (ref,))

    take = capture.take(Slow(), time.monotonic() + 60)
    thread = threading.Thread(target=take.recorder.read, args=(STATUS,))
    thread.start()
    begun.wait(30)
    (told,) = take.readings().values()
    done.set()
    thread.join()
    assert isinstance(told, Missing)
    assert (told.why, told.detail) == (Why.TIMED_OUT, "reading it did not come to an end")


def test_the_watchdog_waits_and_can_be_called_off() -> None:
    barked = threading.Event()
    Watchdog(time.monotonic() - 1, barked.set)
    assert barked.wait(30)
    silent = threading.Event()
    Watchdog(time.monotonic() + 3600, silent.set).stop()
    assert not silent.is_set()


def test_a_bundle_is_written_once_where_both_are_about_to() -> None:
    """Two would stand behind each other on standard output."""
    begun, ended = threading.Event(), threading.Event()

    def give_up() -> None:
        begun.set()
        time.sleep(0.2)
        ended.set()

    watchdog = Watchdog(time.monotonic() - 1, give_up)
    assert begun.wait(30)
    watchdog.stop()
    assert ended.is_set(), "who is done reading waits for the one that writes already"


def test_names_of_files_hold_no_secret_and_hide_no_other_file() -> None:
    bundle = Bundle(Head(pid=7), redacted)
    bundle.add_log("a/token=geheim/x.log", b"1")
    bundle.add_log("../x.log", b"2")
    bundle.add_log("x.log", b"3")
    bundle.add_log("/x.log", b"4")
    log = Ref(Space.ROOT, "opt/password=geheim/x")
    bundle.add_take(1, {log: Missing(Why.DENIED, (log,), "password=geheim")})
    assert b"geheim" not in b"".join((*map(str.encode, bundle.files), *bundle.files.values()))
    assert sorted(data for name, data in bundle.files.items() if name.startswith("logs/")) == [
        b"1",
        b"2",
        b"3",
        b"4",
    ]


def test_of_tmp_only_what_jvms_keep_there_is_told() -> None:
    bundle = Bundle(Head(pid=7), redacted)
    tmp = Ref(Space.ROOT, "tmp", Ask.LIST)
    bundle.add_take(1, {tmp: Got(b"a letter.doc\0hsperfdata_joe\0", (tmp,))})
    assert bundle.files["manifest.tsv"] == b"root/tmp\tlist\thsperfdata_joe\n"


def test_readings_are_laid_out() -> None:
    bundle = Bundle(Head(pid=7), lambda _, data: data.replace(b"geheim", b"*"))
    fd = Ref(Space.PROCESS, "fd", Ask.LIST)
    bundle.add_take(
        1,
        {
            STATUS: Got(b"geheim", (STATUS,)),
            fd: Got(b"0\x001\0", (fd,)),
            Ref(Space.PROCESS, "fd/0", Ask.LINK): Got(b"/dev/null", ()),
            Ref(Space.PROCESS, "maps"): Missing(Why.DENIED, (), "needs root"),
            Ref(Space.INPUT, "given/jdk"): Got(b"17", ()),
            Ref(Space.ROOT, "../etc/shadow"): Got(b"x", ()),
        },
        "a dump, geheim",
    )
    bundle.add_log("../../logs/a.log", b"geheim")
    members = dict(bundle.members())
    assert members.pop("seedstall-bundle").startswith(b"seedstall-bundle\t1\n")
    assert members == {
        "jvm/threaddump-memory.txt": b"a dump, *",
        "logs/logs/a.log": b"*",
        "manifest.tsv": (
            b"proc/7/fd\tlist\t0/1\nproc/7/fd/0\tlink\t/dev/null\nproc/7/maps\tdenied\tneeds root\n"
        ),
        "proc/7/status": b"*",
    }
    with tarfile.open(fileobj=io.BytesIO(capture.packed(bundle, "b", 0.0))) as archive:
        assert archive.getnames()[0] == "b/seedstall-bundle"
        assert {m.mode for m in archive} == {0o600}


@pytest.mark.parametrize("name", [*BLOCKED, "noblock-6.8.0-31"])
def test_jvms_on_real_old_kernels_packed_anew(name: str, tmp_path: Path) -> None:
    """The captured tree, and a bundle of ours made of it, say the same: by the kernel's own wait channel."""
    tree = unpacked(name, tmp_path)
    file = tmp_path / "again.tar.gz"
    assert in_process("capture", tree, "-o", file).returncode == 0
    before, after = report(in_process, tree), report(in_process, file)
    assert settled(after) == settled(before)
    verdict = after["verdict"]
    if name in FREE:
        assert verdict["status"] == "clear"
        return
    assert (verdict["status"], verdict["cause"], verdict["confidence"]) == (
        "stalled",
        "blocking-seed",
        "confirmed",
    )
    _, thread = BLOCKED[name]
    (finding,) = [f for f in after["findings"] if f["code"] == "SS101"]
    wchan = [
        e["excerpt"] for e in finding["evidence"] if e["origin"].endswith(f"task/{thread}/wchan")
    ]
    assert wchan
    assert wchan[0].startswith("_random_read.part.")


def test_a_bundle_s_own_command_of_the_report_works(tmp_path: Path) -> None:
    """A bundle is no terminal's, and needs a place."""
    done = in_process("capture", str(os.getpid()))
    assert done.returncode == 2
    assert "needs -o FILE" in done.stderr
