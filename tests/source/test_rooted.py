"""Reading below a hostile root: nothing leads out, nothing but files is opened. The kernel's openat2 is the oracle."""

from __future__ import annotations

import errno
import os
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from seedstall.model.evidence import Ask, Got, Missing, Ref, Space, Why
from seedstall.source import rooted

Locate = Callable[..., int]


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """A file outside the root that links try to reach."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("secret")
    return outside / "secret"


@pytest.fixture
def root(tmp_path: Path) -> Iterator[int]:
    """A directory to be jailed in, as a descriptor."""
    inside = tmp_path / "root"
    (inside / "etc/java").mkdir(parents=True)
    (inside / "etc/java/java.security").write_text("in the root")
    fd = os.open(inside, os.O_PATH | os.O_DIRECTORY)
    yield fd
    os.close(fd)


@pytest.fixture(params=["walk", "openat2"])
def locate(request: pytest.FixtureRequest, root: int) -> Locate:
    """Both ways to resolve."""
    if request.param == "walk":
        return rooted.walk
    try:
        os.close(rooted.openat2(root, "etc"))
    except OSError as error:
        pytest.skip(f"needs openat2 (Linux 5.6): {error}")
    return rooted.openat2


def text_at(locate: Locate, root: int, path: str) -> str:
    fd = locate(root, path)
    try:
        return rooted.content(fd).decode()
    finally:
        os.close(fd)


def test_links_are_resolved_inside_the_root(locate: Locate, root: int, tmp_path: Path) -> None:
    inside = tmp_path / "root"
    (inside / "absolute").symlink_to("/etc/java/java.security")
    (inside / "etc/relative").symlink_to("java/java.security")
    (inside / "etc/up").symlink_to("../../../../etc/java/java.security")
    (inside / "folder").symlink_to("/etc")
    (inside / "chain").symlink_to("/folder/up")
    for path in (
        "absolute",
        "etc/relative",
        "etc/up",
        "folder/java/java.security",
        "chain",
        "/absolute",
        "../etc/up",
    ):
        assert text_at(locate, root, path) == "in the root"


def test_no_path_leads_out(locate: Locate, root: int, tmp_path: Path, secret: Path) -> None:
    inside = tmp_path / "root"
    (inside / "absolute").symlink_to(secret)
    (inside / "relative").symlink_to("../outside/secret")
    (inside / "folder").symlink_to(secret.parent)
    (inside / "up").symlink_to("..")
    for path in (
        "absolute",
        "relative",
        "folder/secret",
        "up/outside/secret",
        "../outside/secret",
        f"{secret}",
    ):
        with pytest.raises(FileNotFoundError):
            locate(root, path)


def test_loops_and_long_chains_end(locate: Locate, root: int, tmp_path: Path) -> None:
    inside = tmp_path / "root"
    (inside / "loop").symlink_to("loop")
    (inside / "ping").symlink_to("pong/x")
    (inside / "pong").symlink_to("ping/x")
    (inside / "chain0").symlink_to("etc/java/java.security")
    for n in range(1, 60):
        (inside / f"chain{n}").symlink_to(f"chain{n - 1}")
    assert text_at(locate, root, "chain30") == "in the root"
    for path in ("loop", "ping", "chain59", "loop/x"):
        with pytest.raises(OSError, match=os.strerror(errno.ELOOP)):
            locate(root, path)


def test_links_that_multiply_are_bounded(root: int, tmp_path: Path) -> None:
    """Each link names the next one twice: 2^30 steps if followed to the end."""
    inside = tmp_path / "root"
    for n in range(30):
        (inside / f"bomb{n}").symlink_to("/".join([f"bomb{n + 1}/.."] * 2))
    (inside / "bomb30").mkdir()
    with pytest.raises(OSError, match=os.strerror(errno.ELOOP)):
        rooted.walk(root, "bomb0")


def test_deep_paths_end(root: int) -> None:
    with pytest.raises(OSError, match=os.strerror(errno.ENOENT)):
        rooted.walk(root, "a/" * 100_000)
    with pytest.raises(OSError):  # noqa: PT011 - whichever limit comes first
        rooted.walk(root, "etc/../" * 100_000 + "none")
    with pytest.raises(FileNotFoundError):
        rooted.locate(root, "etc\0/passwd")


def test_the_last_link_may_be_left_unfollowed(locate: Locate, root: int, tmp_path: Path) -> None:
    (tmp_path / "root/link").symlink_to("/nowhere")
    fd = locate(root, "link", follow=False)
    assert os.readlink("", dir_fd=fd) == "/nowhere"
    os.close(fd)


def test_a_folder_swapped_for_a_link_during_the_walk(
    root: int, tmp_path: Path, secret: Path
) -> None:
    """However the race ends, the secret is not read."""
    inside = tmp_path / "root"
    (inside / "door").mkdir()
    (inside / "door/secret").write_text("bait")
    (inside / "trap").symlink_to(secret.parent)
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            (inside / "door").rename(inside / "aside")
            (inside / "trap").rename(inside / "door")
            (inside / "door").rename(inside / "trap")
            (inside / "aside").rename(inside / "door")

    swapper = threading.Thread(target=swap)
    swapper.start()
    try:
        seen = set()
        for _ in range(2000):
            try:
                seen.add(text_at(rooted.walk, root, "door/secret"))
            except FileNotFoundError:
                seen.add("")
    finally:
        stop.set()
        swapper.join()
    assert seen <= {"bait", ""}


NAMES = ("a", "b", "f", "..", ".", "")
TARGETS = st.lists(st.sampled_from(NAMES), min_size=1, max_size=4).map("/".join)


@settings(
    max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    links=st.dictionaries(
        st.sampled_from(["a/b", "b", "a/l", "m"]), st.tuples(st.booleans(), TARGETS), max_size=4
    ),
    path=TARGETS,
    follow=st.booleans(),
)
def test_the_walk_goes_where_the_kernel_goes(
    tmp_path_factory: pytest.TempPathFactory,
    links: dict[str, tuple[bool, str]],
    path: str,
    follow: bool,  # noqa: FBT001 - a drawn value
) -> None:
    top = tmp_path_factory.mktemp("tree")
    (top / "a").mkdir()
    (top / "f").write_text("f")
    (top / "a/f").write_text("a/f")
    for name, (absolute, target) in links.items():
        if target or absolute:
            (top / name).symlink_to(f"/{target}" if absolute else target)
    root = os.open(top, os.O_PATH | os.O_DIRECTORY)
    try:
        assert outcome(rooted.walk, root, path, follow) == outcome(
            rooted.openat2, root, path, follow
        )
    finally:
        os.close(root)


def outcome(locate: Locate, root: int, path: str, follow: bool) -> object:  # noqa: FBT001 - a drawn value
    try:
        fd = locate(root, path, follow=follow)
    except OSError as error:
        if error.errno == errno.ENOSYS:
            pytest.skip("needs openat2 (Linux 5.6)")
        return error.errno
    try:
        found = os.fstat(fd)
        return found.st_dev, found.st_ino
    finally:
        os.close(fd)


# --- what is opened --------------------------------------------------------------------------------------------------


def ask(
    root: int, path: str, question: Ask = Ask.CONTENT, limit: int = rooted.LIMIT
) -> Got[bytes] | Missing:
    return rooted.reading(root, Ref(Space.ROOT, path, question), limit=limit)


def test_a_fifo_is_not_opened(root: int, tmp_path: Path) -> None:
    """Opening one would let its writer go on."""
    fifo = tmp_path / "root/fifo"
    os.mkfifo(fifo)
    reading = ask(root, "fifo")
    assert isinstance(reading, Missing)
    assert (reading.why, reading.detail) == (Why.REFUSED, "a FIFO is never opened")
    with pytest.raises(OSError, match=os.strerror(errno.ENXIO)):  # nobody has it open for reading
        os.open(fifo, os.O_WRONLY | os.O_NONBLOCK)


@pytest.mark.root
def test_a_device_is_not_opened(root: int, tmp_path: Path) -> None:
    os.mknod(tmp_path / "root/random", 0o020666, os.makedev(1, 8))
    reading = ask(root, "random")
    assert isinstance(reading, Missing)
    assert reading.why is Why.REFUSED
    told = ask(root, "random", Ask.STAT)
    assert isinstance(told, Got)
    assert told.value.split()[:3] == [b"20644", b"1", b"8"]


def test_sockets_and_folders_are_not_read(
    root: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path / "root")
    with socket.socket(socket.AF_UNIX) as made:
        made.bind("door")
    assert [getattr(ask(root, p), "why", None) for p in ("door", "etc")] == [
        Why.REFUSED,
        Why.MALFORMED,
    ]


def test_a_huge_file_is_cut_off(root: int, tmp_path: Path) -> None:
    with (tmp_path / "root/huge").open("wb") as file:
        file.truncate(1 << 40)
    reading = ask(root, "huge", limit=1 << 20)
    assert isinstance(reading, Missing)
    assert (reading.why, reading.detail) == (Why.TRUNCATED, "larger than 1024 KiB")
    (tmp_path / "root/fits").write_bytes(b"x" * (1 << 20))
    assert ask(root, "fits", limit=1 << 20) == Got(b"x" * (1 << 20), (Ref(Space.ROOT, "fits"),))


def test_a_directory_of_very_many_names_is_cut_off(
    root: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rooted, "MAX_NAMES", 5)
    for n in range(6):
        (tmp_path / f"root/{n}").write_text("")
    reading = ask(root, "", Ask.LIST)
    assert isinstance(reading, Missing)
    assert reading.why is Why.TRUNCATED


def test_the_four_questions(root: int, tmp_path: Path) -> None:
    (tmp_path / "root/link").symlink_to("/etc/java")
    (tmp_path / "root/etc/\udcff").write_text("")
    assert getattr(ask(root, "link", Ask.LINK), "value", None) == b"/etc/java"
    assert getattr(ask(root, "etc", Ask.LIST), "value", None) == b"java\0\xff\0"
    assert getattr(ask(root, "link/java.security"), "value", None) == b"in the root"
    told = ask(root, "link/java.security", Ask.STAT)
    assert isinstance(told, Got)
    mode, _, _, inode, uid, _, size = told.value.split()
    assert (mode[:3], int(inode), int(uid), size) == (
        b"100",
        (tmp_path / "root/etc/java/java.security").stat().st_ino,
        os.geteuid(),
        b"11",
    )


@pytest.mark.parametrize(
    ("path", "question", "why"),
    [
        ("none", Ask.CONTENT, Why.ABSENT),
        ("etc/java/java.security/x", Ask.CONTENT, Why.ABSENT),
        ("none", Ask.LINK, Why.ABSENT),
        ("etc", Ask.LINK, Why.ABSENT),
        ("etc/java/java.security", Ask.LIST, Why.ABSENT),
        ("x" * 300, Ask.CONTENT, Why.MALFORMED),
    ],
)
def test_why_not(root: int, path: str, question: Ask, why: Why) -> None:
    reading = ask(root, path, question)
    assert isinstance(reading, Missing)
    assert reading.why is why


def test_what_errors_mean() -> None:
    assert rooted.why(PermissionError(errno.EACCES, "")) is Why.DENIED
    assert rooted.why(PermissionError(errno.EPERM, "")) is Why.DENIED
    assert rooted.why(ProcessLookupError(errno.ESRCH, "")) is Why.VANISHED
    assert rooted.why(OSError(errno.EIO, "")) is Why.MALFORMED


def test_many_paths_are_left_to_the_kernel(root: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Walking is cheaper only up to a number of paths; the answers are the same."""
    monkeypatch.setattr(rooted, "_walks", rooted.WALKS_BEFORE_CTYPES)
    monkeypatch.setattr(rooted, "walk", None)
    assert getattr(ask(root, "etc/java/java.security"), "value", None) == b"in the root"
    assert getattr(ask(root, "etc/none"), "why", None) is Why.ABSENT


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.EPERM])
def test_without_openat2_it_walks_on(
    root: int, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """Linux before 5.6, and seccomp filters that do not know the call."""

    def lacking(*_: object, **__: object) -> int:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(rooted, "_walks", rooted.WALKS_BEFORE_CTYPES)
    monkeypatch.setattr(rooted, "_kernel_can", True)
    monkeypatch.setattr(rooted, "openat2", lacking)
    assert getattr(ask(root, "etc/java/java.security"), "value", None) == b"in the root"
    assert rooted._kernel_can is False


def test_no_descriptor_is_lost(root: int, tmp_path: Path) -> None:
    (tmp_path / "root/loop").symlink_to("loop")
    os.mkfifo(tmp_path / "root/fifo")
    before = len(list(Path("/proc/self/fd").iterdir()))
    for path in ("etc/java/java.security", "none", "loop", "fifo", "etc/x/y", "etc"):
        for question in Ask:
            ask(root, path, question)
    assert len(list(Path("/proc/self/fd").iterdir())) == before
