"""Archives and directories of evidence: what they are, what they say is missing, and hostile ones."""

from __future__ import annotations

import gzip
import io
import lzma
import os
import subprocess
import sys
import tarfile
import tracemalloc
from pathlib import Path

import pytest
from tests.archives import END, HEAD, header, member, packed
from tests.machine import CHECKOUT
from tests.old_kernels import PACKED

from seedstall.knowledge.bundles import Form, form_of, tops_of_trees
from seedstall.model.bundle import BUNDLE, LACKS, MEMORY_DUMP
from seedstall.model.errors import NoSuchTargetError, SeedstallError
from seedstall.model.evidence import Ask, Got, Missing, Ref, Space, Why
from seedstall.source import archive, detect, gathered
from seedstall.source.gathered import Gathered

MANIFEST = (
    b"proc/8712/exe\tlink\t/usr/bin/java\n"
    b"proc/8712/fd\tlist\t0/4\n"
    b"proc/8712/fd/4\tstat\t20666 1 8 5 0 0 0\n"
    b"proc/8712/environ\tdenied\tneeds root\n"
    b"proc/8712/task/8713\tvanished\t\n"
    b"proc/sys/kernel/random\tlist\tpoolsize\n"
)
FILES = {
    "seedstall-bundle": HEAD,
    "manifest.tsv": MANIFEST,
    "proc/8712/cmdline": b"java\0-version\0",
    "proc/8712/maps": b"",
    "proc/version": b"Linux version 4.4.0\n",
    "root/etc/hosts": b"127.0.0.1 x\n",
    "dmesg": b"[    0.0] Linux\n",
    "jvm/threaddump-2.txt": b"two",
    "jvm/threaddump-10.txt": b"ten",
    "jvm/threaddump-memory.txt": b"memory",
    "logs/catalina.out": b"a log\n",
    "logs/old/catalina.out": b"an old log\n",
    "given/samples": b"{}",
    "takes/2/proc/8712/cmdline": b"java\0-late\0",
    "takes/2/manifest.tsv": b"proc/8712/task\tlist\t8712\n",
    "takes/2/jvm/threaddump.txt": b"late",
}


def written(folder: Path, data: bytes, name: str = "b.tar.gz") -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def only(path: Path) -> Gathered:
    (found,) = gathered.opened(str(path))
    return found


def said(source: Gathered, space: Space, path: str, ask: Ask = Ask.CONTENT) -> bytes | Why:
    reading = source.read(Ref(space, path, ask))
    return reading.value if isinstance(reading, Got) else reading.why


@pytest.fixture(params=["packed", "folder", "below", "xz", "plain"])
def bundle(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The same bundle in every shape."""
    below = "" if request.param == "folder" else "seedstall-8712-now/"
    named = {below + name: data for name, data in FILES.items()}
    if request.param in ("folder", "below"):
        for name, data in named.items():
            path = tmp_path / "b" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        return tmp_path / "b"
    mode = {"packed": "w:gz", "xz": "w:xz", "plain": "w"}[request.param]
    return written(tmp_path, packed(named, mode=mode))


def test_a_bundle_in_every_shape(bundle: Path) -> None:
    assert detect.resolve(str(bundle)).kind is detect.Kind.BUNDLE
    source = only(bundle)
    assert said(source, Space.PROCESS, "cmdline") == b"java\0-late\0", "of the last take"
    assert said(source, Space.PROCESS, "maps") == b"", "it was empty"
    assert said(source, Space.PROCESS, "exe", Ask.LINK) == b"/usr/bin/java"
    assert said(source, Space.PROCESS, "fd", Ask.LIST) == b"0\x004\0"
    assert said(source, Space.PROCESS, "fd/4", Ask.STAT) == b"20666 1 8 5 0 0 0"
    assert said(source, Space.PROCESS, "fd/9", Ask.LINK) is Why.ABSENT
    assert said(source, Space.PROCESS, "fd/0", Ask.LINK) is Why.NOT_COLLECTED
    assert said(source, Space.PROCESS, "environ") is Why.DENIED
    assert said(source, Space.PROCESS, "task/8713/stat") is Why.ABSENT, (
        "the last take's list lacks it"
    )
    assert said(source, Space.PROCESS, "limits") is Why.NOT_COLLECTED
    assert said(source, Space.KERNEL, "proc/version") == b"Linux version 4.4.0\n"
    assert said(source, Space.KERNEL, "proc/sys/kernel/random/write_wakeup_threshold") is Why.ABSENT
    assert said(source, Space.KERNEL, "proc/sys/kernel/random/poolsize") is Why.NOT_COLLECTED
    assert said(source, Space.KERNEL, "etc/hosts") is Why.NOT_COLLECTED, "that is the process's"
    assert said(source, Space.KERNEL, "dmesg") == b"[    0.0] Linux\n"
    assert said(source, Space.KERNEL, "probe/poll") is Why.NOT_COLLECTED
    assert said(source, Space.ROOT, "etc/hosts") == b"127.0.0.1 x\n"
    assert said(source, Space.MEMORY, "0+1") is Why.NOT_COLLECTED
    assert said(source, Space.ATTACH, "threaddump") == b"late"
    assert said(source, Space.ATTACH, "properties") is Why.NOT_COLLECTED
    assert said(source, MEMORY_DUMP.space, MEMORY_DUMP.path) == b"memory"
    assert said(source, Space.INPUT, "given/samples") == b"{}"
    assert said(source, BUNDLE.space, BUNDLE.path) == HEAD
    names = said(source, Space.INPUT, "", Ask.LIST)
    assert names == (
        b"catalina.out\0old/catalina.out\0jvm/threaddump-2.txt\0jvm/threaddump-10.txt\0"
    ), "and the dumps in the order of time"
    assert said(source, Space.INPUT, "jvm/threaddump-10.txt") == b"ten"
    assert said(source, Space.INPUT, "old/catalina.out") == b"an old log\n"
    assert said(source, LACKS.space, LACKS.path) is Why.ABSENT
    assert source.pid == 8712
    source.close()


def test_it_is_let_go_and_opened_again(tmp_path: Path) -> None:
    source = only(written(tmp_path, packed(FILES)))
    assert said(source, Space.KERNEL, "dmesg") == b"[    0.0] Linux\n"
    source.close()
    assert said(source, Space.KERNEL, "dmesg") == b"[    0.0] Linux\n"


def test_one_that_is_cut_is_read_up_to_there_and_says_so(tmp_path: Path) -> None:
    whole = packed(
        {"seedstall-bundle": HEAD, "dmesg": b"d", "proc/8712/maps": b"x" * 9000}, mode="w"
    )
    source = only(written(tmp_path, whole[: 3 * 512 + 3000], "cut.tar"))
    lacks = source.read(LACKS)
    assert said(source, Space.KERNEL, "dmesg") == b"d"
    assert said(source, Space.PROCESS, "maps") is Why.TRUNCATED, (
        "its end would read as the last mapping"
    )
    lacks = source.read(LACKS)
    assert isinstance(lacks, Got)
    assert lacks.value == b"the archive is cut: it is cut short in a member"
    packed_cut = gzip.compress(whole)[:-20]
    source = only(written(tmp_path, packed_cut, "cut.tar.gz"))
    assert said(source, Space.KERNEL, "dmesg") == b"d"
    assert b"cut short" in bytes(said(source, LACKS.space, LACKS.path))  # type: ignore[arg-type]


# --- hostile ones ----------------------------------------------------------------------------------------------------

FIRST = member("b/seedstall-bundle", HEAD)
HOSTILE = {
    "traversal": (member("b/../../x", b"x"), "leads out of it"),
    "absolute": (member("/etc/x", b"x"), "an absolute path"),
    "symlink": (
        header("b/proc", 0, tarfile.SYMTYPE, "/proc"),
        "a symbolic link: a bundle has files",
    ),
    "hardlink": (header("b/x", 0, tarfile.LNKTYPE, "/etc/shadow"), "a hard link"),
    "device": (header("b/x", 0, tarfile.CHRTYPE), "a character device"),
    "disk": (header("b/x", 0, tarfile.BLKTYPE), "a block device"),
    "fifo": (header("b/x", 0, tarfile.FIFOTYPE), "a FIFO"),
    "sparse": (header("b/x", 0, tarfile.GNUTYPE_SPARSE), "a sparse file"),
    "volume": (header("b/x", 0, b"V"), "a volume's label"),
    "unknown": (header("b/x", 0, b"Z"), "of type 'Z'"),
    "twice": (member("b/dmesg", b"1") + member("b/dmesg", b"2"), "b/dmesg twice"),
    "twice by dots": (member("b/dmesg", b"1") + member("./b/./dmesg", b"2"), "b/dmesg twice"),
    "below a file": (
        member("b/dmesg", b"1") + member("b/dmesg/x", b"2"),
        "below b/dmesg, which is no",
    ),
    "deep": (member("b/" + "d/" * 80 + "x", b"1"), "directories, the limit is 64"),
    "long name": (member("b/" + "n" * 5000, b"1"), "bytes, the limit is 4096"),
    "long header": (header("././@LongLink", 1 << 40, tarfile.GNUTYPE_LONGNAME), "extended headers"),
    "another version": (b"", "version 7, and this seedstall reads 1"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_ones_are_refused_with_the_reason(name: str, tmp_path: Path) -> None:
    inside = tmp_path / "in"
    inside.mkdir()
    body, why = HOSTILE[name]
    first = FIRST
    if name == "another version":
        first = member("b/seedstall-bundle", b"seedstall-bundle\t7\n")
    path = written(inside, gzip.compress(first + body + END))
    with pytest.raises(SeedstallError, match=r"b\.tar\.gz") as caught:
        only(path).read(Ref(Space.KERNEL, "dmesg"))
    assert why in str(caught.value)
    assert caught.value.hint
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["b.tar.gz", "in"], "nothing is written"


def test_bombs_are_refused_in_bounded_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By how much they unpack to: 24 MiB of zeros in 4 KiB."""
    monkeypatch.setattr(archive, "FROM", 8 << 20)
    zeros = member("b/seedstall-bundle", HEAD) + header("b/dmesg", 300 << 20)
    stream = io.BytesIO()
    with lzma.open(stream, "w", preset=0) as xz:
        xz.write(zeros)
        for _ in range(24):
            xz.write(b"\0" * (1 << 20))
    path = written(tmp_path, stream.getvalue(), "zeros.tar.xz")
    assert path.stat().st_size < 1 << 20
    tracemalloc.start()
    with pytest.raises(SeedstallError, match="more than 400 times its size, the limit"):
        only(path).read(Ref(Space.KERNEL, "dmesg"))
    assert tracemalloc.get_traced_memory()[1] < 40 << 20
    tracemalloc.stop()


def test_many_members_and_much_evidence_have_a_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    many = {"seedstall-bundle": HEAD} | {f"proc/{n}/comm": b"x" * 100 for n in range(200)}
    path = written(tmp_path, packed(many))
    monkeypatch.setattr(archive, "MOST_MEMBERS", 100)
    with pytest.raises(SeedstallError, match="more than 100 members, the limit"):
        only(path).read(Ref(Space.KERNEL, "dmesg"))
    monkeypatch.setattr(archive, "MOST_MEMBERS", 1000)
    monkeypatch.setattr(archive, "MOST_HELD", 10_000)
    with pytest.raises(SeedstallError, match="of evidence, the limit"):
        only(path).read(Ref(Space.KERNEL, "dmesg"))
    monkeypatch.setattr(archive, "MOST_UNPACKED", 10_000)
    with pytest.raises(SeedstallError, match="unpacks to more than"):
        only(path).read(Ref(Space.KERNEL, "dmesg"))


def test_a_lying_manifest_is_taken_for_no_more_than_its_word(tmp_path: Path) -> None:
    """It may say of its own process what it likes; it names no path of this machine."""
    lies = (
        b"/etc/passwd\tlink\tx\nproc/8712/../1/exe\tlink\tx\nproc/8712/fd\tlist\t../../etc\n"
        b"proc/8712/fd/4\tstat\t20666 1 8\nproc/8712/cmdline\tabsent\tit is not there\n"
    )
    files = {**FILES, "manifest.tsv": lies, "takes/2/manifest.tsv": b""}
    source = only(written(tmp_path, packed(files)))
    assert said(source, Space.PROCESS, "cmdline") == b"java\0-late\0", "it is there"
    assert said(source, Space.PROCESS, "fd", Ask.LIST) == b"etc\0"
    assert said(source, Space.PROCESS, "fd/4", Ask.STAT) in (Why.ABSENT, Why.NOT_COLLECTED)
    assert said(source, Space.KERNEL, "etc/passwd") is Why.NOT_COLLECTED
    assert said(source, Space.PROCESS, "../1/exe", Ask.LINK) is Why.NOT_COLLECTED


def test_names_in_odd_encodings(tmp_path: Path) -> None:
    data = member("b/seedstall-bundle", HEAD)
    block = bytearray(header("b/logs/xx.out", 2))
    block[7:9] = b"\xe4\xff"
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    source = only(written(tmp_path, data + bytes(block) + b"ok" + b"\0" * 510 + END, "b.tar"))
    (name,) = bytes(said(source, Space.INPUT, "", Ask.LIST)).split(b"\0")[:-1]  # type: ignore[arg-type]
    assert name == b"\xe4\xff.out"
    assert said(source, Space.INPUT, os.fsdecode(name)) == b"ok"


def test_a_directory_of_links_and_fifos_leads_nowhere(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"secret")
    folder = tmp_path / "b"
    for name, data in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    (folder / "root/etc/out").symlink_to(tmp_path / "secret")
    (folder / "root/up").symlink_to("../../secret")
    (folder / "logs/link.out").symlink_to("/etc/passwd")
    os.mkfifo(folder / "logs/fifo.out")
    os.mkfifo(folder / "proc/8712/status")
    source = only(folder)
    for name in ("etc/out", "up"):
        assert said(source, Space.ROOT, name) is Why.NOT_COLLECTED
    assert said(source, Space.PROCESS, "status") is Why.NOT_COLLECTED
    names = bytes(said(source, Space.INPUT, "", Ask.LIST))  # type: ignore[arg-type]
    assert b"link" not in names
    assert b"fifo" not in names


def test_a_member_that_claims_more_than_there_is(tmp_path: Path) -> None:
    data = member("b/seedstall-bundle", HEAD) + header("b/dmesg", 1 << 39) + b"x" * 1024
    source = only(written(tmp_path, data, "b.tar"))
    assert said(source, Space.KERNEL, "dmesg") is Why.TRUNCATED


@pytest.mark.parametrize("data", [b"", b"\x1f\x8b\x08", b"\x1f\x8b\x08" + b"x" * 600, b"x" * 700])
def test_what_is_no_archive_is_a_file(data: bytes, tmp_path: Path) -> None:
    assert detect.resolve(str(written(tmp_path, data))).kind is detect.Kind.FILE


def test_an_archive_of_texts_stays_one(tmp_path: Path) -> None:
    path = written(tmp_path, packed({"catalina.out": b"x", "jstack.txt": b"y"}))
    assert detect.resolve(str(path)).kind is detect.Kind.FILE


# --- captured trees --------------------------------------------------------------------------------------------------


def test_a_captured_tree_is_read_out_of_its_archive() -> None:
    path = PACKED / "seed-4.4.0-210.tar.xz"
    source = only(path)
    assert source.pid == 120
    assert said(source, Space.PROCESS, "task/126/wchan") == b"_random_read.part.33"
    assert said(source, Space.PROCESS, "fd/22", Ask.LINK) == b"/dev/random"
    assert said(source, Space.PROCESS, "fd/99", Ask.LINK) is Why.ABSENT
    assert said(source, Space.KERNEL, "etc/os-release") is Why.NOT_COLLECTED


def test_one_case_of_an_archive_is_named_as_reports_name_it(tmp_path: Path) -> None:
    files = {
        f"{tree}/proc/1/{name}": f"{tree}\0".encode()
        for tree in ("one", "two")
        for name in ("cmdline", "status")
    }
    path = written(tmp_path, packed(files))
    names = [f"{path}!one", f"{path}!two"]
    assert [one.name for one in gathered.opened(str(path))] == names
    for name in names:
        target = detect.resolve(name)
        assert (target.name, target.kind, target.path) == (name, detect.Kind.BUNDLE, str(path))
        assert [one.name for one in gathered.opened(target.path, target.member)] == [name]
    with pytest.raises(NoSuchTargetError, match="holds no three"):
        detect.resolve(f"{path}!three")
    for absent in (f"{path}x!one", "!", "a!", "!!" * 500):
        with pytest.raises(NoSuchTargetError):
            detect.resolve(absent)


def test_what_was_copied_out_of_proc_by_its_size_is_empty_and_no_evidence(tmp_path: Path) -> None:
    """``tar cf - /proc/1`` and ``kubectl cp`` take the 0 bytes that the files of /proc say they have."""
    files = {
        "proc/1/status": b"",
        "proc/1/maps": b"",
        "proc/1/cmdline": b"java\0",
        "proc/1/environ": b"",
        "proc/sys/kernel/random/poolsize": b"",
    }
    source = only(written(tmp_path, packed(files)))
    assert source.pid == 1
    assert said(source, Space.PROCESS, "status") is Why.NOT_COLLECTED
    assert said(source, Space.PROCESS, "maps") is Why.NOT_COLLECTED
    assert said(source, Space.PROCESS, "environ") == b"", "that may be"
    assert said(source, Space.KERNEL, "proc/sys/kernel/random/poolsize") is Why.NOT_COLLECTED


def test_links_in_an_archive_are_resolved_in_it(tmp_path: Path) -> None:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as tree:
        for name, data in (("t/proc/1/cmdline", b"java\0"), ("t/opt/jdk/release", b"JAVA\n")):
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tree.addfile(info, io.BytesIO(data))
        for name, target in (
            ("t/opt/java", "jdk"),
            ("t/opt/out", "/etc"),
            ("t/opt/round", "round"),
            ("t/opt/up", "../../../../../../opt/jdk"),
        ):
            info = tarfile.TarInfo(name)
            info.type, info.linkname = tarfile.SYMTYPE, target
            tree.addfile(info)
    held = archive.unpacked(iter((made.getvalue(),)), lambda _: 1 << 20)
    assert held.ask("t/opt/java/release", Ask.CONTENT) == b"JAVA\n"
    assert held.ask("t/opt/java", Ask.LINK) == b"jdk"
    for path in ("t/opt/out/passwd", "t/opt/round/x", "t/opt/up/release", "etc/passwd"):
        with pytest.raises(OSError, match=r"such file|loop|Too many"):
            held.ask(path, Ask.CONTENT)
    assert not held.is_folder("t/opt/java")
    assert held.is_folder("t/opt/jdk")


def test_what_the_paths_say() -> None:
    assert form_of(["x/seedstall-bundle"]) == (Form.OURS, "x")
    assert form_of(["seedstall-bundle"]) == (Form.OURS, "")
    assert form_of(["sosreport-h-1/proc/1/status"]) == (Form.SOS, "sosreport-h-1")
    assert form_of(["r/proc/sys/kernel/random/poolsize", "r/sos_commands/x"]) == (Form.SOS, "r")
    assert form_of(["r/proc/sys/kernel/random/poolsize"]) == (Form.TREE, "r")
    assert form_of(["a/b/c/d/e/f/seedstall-bundle", "catalina.out"]) is None
    assert tops_of_trees(["a/proc/1/stat", "a/samples/1/proc/1/stat", "b/proc/2/stat"]) == (
        "a",
        "b",
    )


def test_a_missing_reason_names_what_was_asked(tmp_path: Path) -> None:
    reading = only(written(tmp_path, packed(FILES))).read(Ref(Space.PROCESS, "environ"))
    assert reading == Missing(Why.DENIED, (Ref(Space.PROCESS, "environ"),), "needs root")


@pytest.mark.parametrize(
    "how", ["pipe", *(pytest.param(n, marks=pytest.mark.matrix) for n in ("file", "process"))]
)
def test_a_bundle_by_a_stream_is_one_too(how: str, tmp_path: Path) -> None:
    """``ssh HOST seedstall capture 8712 -o - | seedstall diagnose -``; a log by the same way is read as it comes."""
    bundle = written(tmp_path, packed(FILES))
    for path, said_of_it in ((bundle, "made by test 1"), (written(tmp_path, b"x\n", "x.log"), "")):
        command = [sys.executable, "-m", "seedstall", "diagnose"]
        if how == "process":
            os.mkfifo(path.with_suffix(".fifo"))
            line = (
                f'cat {path} > {path.with_suffix(".fifo")} & exec "$@" {path.with_suffix(".fifo")}'
            )
        else:
            line = f'cat {path} | "$@" -' if how == "pipe" else f'"$@" - < {path}'
        done = subprocess.run(
            ["sh", "-c", line, "sh", *command],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
            env={**os.environ, "PYTHONPATH": str(CHECKOUT / "src")},
        )
        assert done.returncode == 4, done.stderr
        assert said_of_it in done.stdout
        assert ("a bundle of" in done.stdout) is bool(said_of_it)
