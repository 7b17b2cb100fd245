from __future__ import annotations

import fcntl
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from seedstall.effect import folder as folder_module
from seedstall.effect.apply import apply, destination, stamp
from seedstall.effect.undo import undo
from seedstall.model.errors import SeedstallError

NOW = datetime(2026, 11, 30, 16, 30, 0, tzinfo=UTC)
COPY = "setenv.sh.seedstall-20261130T163000Z"
PATH = "/srv/tomcat/bin/setenv.sh"
OLD, NEW = b'CATALINA_OPTS="-Xmx1g"\n', b'CATALINA_OPTS="-Xmx1g -Dx"\n'
NOBODY = 65534


@pytest.fixture
def base(tmp_path: Path) -> Path:
    bin_ = tmp_path / "srv/tomcat/bin"
    bin_.mkdir(parents=True)
    return bin_


@pytest.fixture
def root(tmp_path: Path) -> Iterator[int]:
    fd = os.open(tmp_path, os.O_PATH | os.O_DIRECTORY)
    yield fd
    os.close(fd)


@pytest.fixture
def file(base: Path) -> Path:
    found = base / "setenv.sh"
    found.write_bytes(OLD)
    found.chmod(0o640)
    return found


def names(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir())


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


# Writing


def test_it_is_replaced_and_the_old_one_kept_beside_it(root: int, file: Path) -> None:
    before = file.stat()
    done = apply(root, PATH, NEW, read=OLD, now=NOW)
    assert (done.name, done.backup, done.notes) == ("setenv.sh", COPY, ())
    assert file.read_bytes() == NEW
    assert file.stat().st_ino != before.st_ino, "at one stroke: a new file took the name"
    copy = file.with_name(COPY)
    assert copy.read_bytes() == OLD
    assert mode(file) == mode(copy) == 0o640
    assert names(file.parent) == ["setenv.sh", COPY, f"{COPY}.undo"]


def test_a_new_file_is_readable_and_its_directory_made(root: int, base: Path) -> None:
    base.rmdir()
    done = apply(root, PATH, NEW, read=None, now=NOW)
    assert done.backup == ""
    assert mode(base / "setenv.sh") == 0o644
    assert mode(base) == 0o755
    assert names(base) == ["setenv.sh", f"{COPY}.undo"]


def test_no_more_than_the_last_directory_is_made(root: int, tmp_path: Path) -> None:
    with pytest.raises(SeedstallError, match="No such file"):
        apply(root, "/nowhere/tomcat/bin/setenv.sh", NEW, read=None)
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize("now", [OLD + b"#", b"", None])
def test_what_changed_since_it_was_read_is_not_overwritten(
    root: int, file: Path, now: bytes | None
) -> None:
    if now is None:
        file.unlink()
    else:
        file.write_bytes(now)
    with pytest.raises(SeedstallError, match="changed since it was read"):
        apply(root, PATH, NEW, read=OLD)
    assert names(file.parent) == ([] if now is None else ["setenv.sh"])


def test_what_appeared_since_is_not_overwritten(root: int, file: Path) -> None:
    with pytest.raises(SeedstallError, match="changed since"):
        apply(root, PATH, NEW, read=None)
    assert file.read_bytes() == OLD


def test_what_appears_at_the_last_moment_is_not_overwritten(
    root: int, base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    create = folder_module.Folder.create

    def slow(self: folder_module.Folder, name: str, *rest: object, **more: object) -> None:
        create(self, name, *rest, **more)  # type: ignore[arg-type]
        if name.startswith("."):
            (base / "setenv.sh").write_bytes(OLD)

    monkeypatch.setattr(folder_module.Folder, "create", slow)
    with pytest.raises(SeedstallError, match="by now"):
        apply(root, PATH, NEW, read=None, now=NOW)
    assert (base / "setenv.sh").read_bytes() == OLD
    assert names(base) == ["setenv.sh"]


def test_what_is_replaced_at_the_last_moment_is_not_overwritten(
    root: int, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    create = folder_module.Folder.create

    def slow(self: folder_module.Folder, name: str, *rest: object, **more: object) -> None:
        create(self, name, *rest, **more)  # type: ignore[arg-type]
        file.write_bytes(b"another\n")

    monkeypatch.setattr(folder_module.Folder, "create", slow)
    with pytest.raises(SeedstallError, match="changed since"):
        apply(root, PATH, NEW, read=OLD, now=NOW)
    assert file.read_bytes() == b"another\n"
    assert names(file.parent) == ["setenv.sh"]


def test_without_hard_links_a_new_file_is_still_never_an_old_one(
    root: int, base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder_module.Folder, "put_new", lambda *_: False)
    apply(root, PATH, NEW, read=None, now=NOW)
    assert (base / "setenv.sh").read_bytes() == NEW
    assert names(base) == ["setenv.sh", f"{COPY}.undo"]


@pytest.mark.root
def test_owner_and_group_are_kept(root: int, file: Path) -> None:
    os.chown(file, NOBODY, 1234)
    file.chmod(0o754)
    apply(root, PATH, NEW, read=OLD, now=NOW)
    for path in (file, file.with_name(COPY)):
        assert (path.stat().st_uid, path.stat().st_gid) == (NOBODY, 1234)
        assert mode(path) == 0o754


@pytest.mark.root
def test_a_new_file_belongs_to_the_directorys_owner(root: int, base: Path) -> None:
    os.chown(base, NOBODY, 1234)
    apply(root, PATH, NEW, read=None)
    assert ((base / "setenv.sh").stat().st_uid, (base / "setenv.sh").stat().st_gid) == (
        NOBODY,
        1234,
    )


def test_extended_attributes_are_kept(root: int, file: Path) -> None:
    try:
        os.setxattr(file, "user.seedstall.test", b"kept")
    except OSError:
        pytest.skip("the file system of the temporary directory has no user attributes")
    apply(root, PATH, NEW, read=OLD, now=NOW)
    for path in (file, file.with_name(COPY)):
        assert os.getxattr(path, "user.seedstall.test") == b"kept"


# An ACL as the kernel keeps it (linux/posix_acl_xattr.h): version 2; u::rw-, u:nobody:r--, g::r--, m::r--, o::---.
ACL = bytes.fromhex(
    "02000000 01000600ffffffff 02000400feff0000 04000400ffffffff 10000400ffffffff 20000000ffffffff"
)


def test_acls_are_kept(root: int, file: Path) -> None:
    name = "system.posix_acl_access"
    try:
        os.setxattr(file, name, ACL)
    except OSError:
        pytest.skip("the file system of the temporary directory has no ACLs")
    apply(root, PATH, NEW, read=OLD, now=NOW)
    for path in (file, file.with_name(COPY)):
        assert os.getxattr(path, name) == ACL


def test_an_attribute_that_cannot_be_kept_is_told(
    root: int, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder_module, "_attributes", lambda _: [("security.nonsense", b"x")])
    monkeypatch.setattr(
        os, "setxattr", lambda *_: (_ for _ in ()).throw(OSError(95, "Operation not supported"))
    )
    done = apply(root, PATH, NEW, read=OLD, now=NOW)
    assert done.notes == (
        "the attribute security.nonsense could not be kept: Operation not supported",
    )
    assert file.read_bytes() == NEW


def test_two_in_a_second_keep_two_copies(root: int, file: Path) -> None:
    apply(root, PATH, NEW, read=OLD, now=NOW)
    done = apply(root, PATH, OLD, read=NEW, now=NOW)
    assert done.backup == f"{COPY}.2"
    assert file.with_name(COPY).read_bytes() == OLD
    assert file.with_name(f"{COPY}.2").read_bytes() == NEW


def test_the_stamp_is_utc() -> None:
    assert (
        stamp(datetime(2026, 11, 30, 18, 30, 0, tzinfo=timezone(timedelta(hours=2))))
        == "20261130T163000Z"
    )
    assert len(stamp()) == 16


# Links


def test_a_link_of_ones_own_is_followed_inside_the_root(
    root: int, file: Path, tmp_path: Path
) -> None:
    (tmp_path / "etc").mkdir()
    real = tmp_path / "etc/setenv.sh"
    file.rename(real)
    file.symlink_to("/etc/setenv.sh")  # an absolute link means the target's root, not ours
    apply(root, PATH, NEW, read=OLD, now=NOW)
    assert file.is_symlink()
    assert real.read_bytes() == NEW
    assert (tmp_path / "etc" / COPY).read_bytes() == OLD


HOMES = ("/srv/tomcat", "/usr/share/tomcat")


@pytest.mark.parametrize("directory", [False, True])
def test_no_link_leads_out_of_the_instance(
    root: int, file: Path, tmp_path: Path, *, directory: bool
) -> None:
    (tmp_path / "etc").mkdir()
    real = tmp_path / "etc/setenv.sh"
    file.rename(real)
    if directory:
        file.parent.rmdir()
        file.parent.symlink_to("/etc")
    else:
        file.symlink_to("../../../etc/setenv.sh")
    for call in (
        lambda: apply(root, PATH, NEW, read=OLD, within=HOMES),
        lambda: destination(root, PATH, within=HOMES),
        lambda: undo(root, PATH, within=HOMES),
    ):
        with pytest.raises(SeedstallError, match=r"leads to /etc/setenv\.sh, outside") as error:
            call()
        assert "patch /etc/setenv.sh setenv.patch" in error.value.hint
    assert real.read_bytes() == OLD
    assert names(real.parent) == ["setenv.sh"]


def test_nothing_is_made_outside_the_instance(root: int, base: Path, tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    for link, target in ((base / "setenv.sh", "/etc/new.sh"), (base, "/etc/bin")):
        if link == base:
            (base / "setenv.sh").unlink()
            base.rmdir()
        link.symlink_to(target)
        with pytest.raises(SeedstallError, match="outside"):
            apply(root, PATH, NEW, read=None, within=HOMES)
        assert names(tmp_path / "etc") == []


def test_links_inside_the_instance_and_to_it_are_followed_and_named(
    root: int, file: Path, tmp_path: Path
) -> None:
    home = tmp_path / "usr/share/tomcat-10/bin"
    home.mkdir(parents=True)
    (tmp_path / "usr/share/tomcat").symlink_to("tomcat-10")
    file.rename(home / "real.sh")
    file.symlink_to("/usr/share/tomcat/bin/real.sh")
    (tmp_path / "srv/link").symlink_to("tomcat")
    real = "/usr/share/tomcat-10/bin/real.sh"
    homes = ("/srv/link", "/usr/share/tomcat")
    path = "/srv/link/bin/setenv.sh"
    assert destination(root, path, within=homes) == real
    done = apply(root, path, NEW, read=OLD, within=homes)
    assert (done.path, done.name) == (real, "real.sh")
    assert file.is_symlink()
    assert undo(root, path, within=homes).path == real
    assert (home / "real.sh").read_bytes() == OLD


def test_a_directory_yet_to_be_made_has_a_destination(root: int, base: Path) -> None:
    assert destination(root, PATH, within=HOMES) == PATH
    base.rmdir()
    assert destination(root, PATH, within=HOMES) == PATH
    assert not base.exists()
    apply(root, PATH, NEW, read=None, within=HOMES)
    assert (base / "setenv.sh").read_bytes() == NEW


@pytest.mark.parametrize("new", [False, True])
def test_a_file_whose_owner_the_processs_namespace_does_not_know_is_left_alone(
    root: int, file: Path, *, new: bool
) -> None:
    owner = file.stat().st_uid
    if new:
        file.unlink()
    read = None if new else OLD
    others = (range(owner + 1, owner + 65536),)
    for call in (
        lambda: apply(root, PATH, NEW, read=read, owners=others),
        lambda: destination(root, PATH, owners=others),
        lambda: undo(root, PATH, owners=others),
    ):
        with pytest.raises(SeedstallError, match="does not know both"):
            call()
    assert names(file.parent) == ([] if new else ["setenv.sh"])
    apply(root, PATH, NEW, read=read, owners=(*others, range(owner, owner + 1)))
    assert file.read_bytes() == NEW


@pytest.mark.root
def test_an_immutable_file_is_named_as_one(root: int, file: Path) -> None:
    if subprocess.run(["chattr", "+i", file], check=False, capture_output=True).returncode:
        pytest.skip("this file system has no immutable files")
    try:
        with pytest.raises(SeedstallError, match="not permitted") as error:
            apply(root, PATH, NEW, read=OLD)
    finally:
        subprocess.run(["chattr", "-i", file], check=True)
    assert f"lsattr -d /srv/tomcat/bin {PATH} shows" in error.value.hint
    assert names(file.parent) == ["setenv.sh"]


@pytest.mark.root
@pytest.mark.parametrize("new", [False, True])
def test_a_link_of_roots_makes_no_other_users_file_ours(
    root: int, file: Path, *, new: bool
) -> None:
    real = file.with_name("real.sh")
    file.rename(real)
    file.symlink_to("real.sh")
    os.chown(real, NOBODY, NOBODY)
    if new:
        real.unlink()
        os.chown(file.parent, NOBODY, NOBODY)
    for call in (
        lambda: apply(root, PATH, NEW, read=None if new else OLD, within=HOMES),
        lambda: destination(root, PATH, within=HOMES),
    ):
        with pytest.raises(
            SeedstallError, match=r"a link of user 0 leads to .*real\.sh, which is user 65534's"
        ):
            call()
    assert names(file.parent) == (["setenv.sh"] if new else ["real.sh", "setenv.sh"])


def test_dots_stop_at_the_root(root: int, file: Path) -> None:
    apply(root, "/../../srv/./tomcat/bin/../bin/setenv.sh", NEW, read=OLD)
    assert file.read_bytes() == NEW


@pytest.mark.root
@pytest.mark.parametrize("where", ["file", "directory"])
def test_a_link_of_another_user_is_not_followed(
    root: int, file: Path, tmp_path: Path, where: str
) -> None:
    victim = tmp_path / "victim"
    victim.mkdir()
    (victim / "setenv.sh").write_bytes(OLD)
    link = file if where == "file" else file.parent
    link.rename(tmp_path / "away")
    link.symlink_to("/victim/setenv.sh" if where == "file" else "/victim")
    os.chown(link, NOBODY, NOBODY, follow_symlinks=False)
    with pytest.raises(SeedstallError, match="link that user 65534 made"):
        apply(root, PATH, NEW, read=OLD)
    assert (victim / "setenv.sh").read_bytes() == OLD
    assert names(victim) == ["setenv.sh"]


def test_links_in_a_circle_end(root: int, base: Path) -> None:
    (base / "setenv.sh").symlink_to("setenv.sh")
    with pytest.raises(SeedstallError, match="nothing was written"):
        apply(root, PATH, NEW, read=OLD)


@pytest.mark.parametrize("kind", ["fifo", "directory"])
def test_only_a_regular_file_is_touched(root: int, base: Path, kind: str) -> None:
    if kind == "fifo":
        os.mkfifo(base / "setenv.sh")
    else:
        (base / "setenv.sh").mkdir()
    with pytest.raises(SeedstallError, match="is a"):
        apply(root, PATH, NEW, read=OLD)


def test_a_file_on_the_way_is_no_directory(root: int, file: Path) -> None:
    with pytest.raises(SeedstallError, match="Not a directory"):
        apply(root, f"{PATH}/bin/setenv.sh", NEW, read=None)
    with pytest.raises(SeedstallError, match="directory"):
        apply(root, "/", NEW, read=None)
    assert names(file.parent) == ["setenv.sh"]


def test_a_large_file_is_left_alone(root: int, file: Path) -> None:
    file.write_bytes(b"#" * (folder_module.LIMIT + 1))
    with pytest.raises(SeedstallError, match="larger than 1024 KiB"):
        apply(root, PATH, NEW, read=OLD)


# Where only writing in place will do

_BIND = """
import os, subprocess, sys
base = sys.argv[1]
subprocess.run(["mount", "--bind", base + "/outside", base + "/srv/tomcat/bin/setenv.sh"], check=True)
from seedstall.effect.apply import apply
from seedstall.effect.undo import undo
root = os.open(base, os.O_PATH)
path = "/srv/tomcat/bin/setenv.sh"
print(apply(root, path, b"new\\n", read=b"old, and longer\\n").notes)
print(open(base + "/outside").read().strip())
print(undo(root, path).notes)
print(open(base + "/outside").read().strip())
print(sorted(os.listdir(base + "/srv/tomcat/bin")))
"""


@pytest.mark.root
def test_a_bind_mounted_file_is_written_in_place(tmp_path: Path, file: Path) -> None:
    outside = tmp_path / "outside"
    outside.write_bytes(b"old, and longer\n")
    inode = outside.stat().st_ino
    done = subprocess.run(
        ["unshare", "-m", "--propagation", "private", sys.executable, "-c", _BIND, str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [
        "('it is a mount of its own (bind mount): written in place, not at one stroke',)",
        "new",
        "('written in place, not at one stroke',)",
        "old, and longer",
        "['setenv.sh']",
    ]
    assert outside.stat().st_ino == inode


@pytest.mark.root
def test_a_user_who_cannot_give_the_owner_writes_in_place(
    tmp_path: Path, root: int, file: Path
) -> None:
    """A group member edits a file of root's: a new file would change its owner."""
    for folder in file.parents:
        if folder.is_relative_to(tmp_path):
            folder.chmod(0o777)
    file.chmod(0o666)
    before = file.stat()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
            done = apply(root, PATH, NEW, read=OLD, now=NOW)
            code = 0 if any("in place" in note for note in done.notes) else 2
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    after = file.stat()
    assert (after.st_ino, after.st_uid, after.st_gid, after.st_mode) == (
        before.st_ino,
        before.st_uid,
        before.st_gid,
        before.st_mode,
    )
    assert file.read_bytes() == NEW
    assert file.with_name(COPY).read_bytes() == OLD
    assert mode(file.with_name(COPY)) == 0o600


def in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder_module.Folder, "put", lambda *_: False)


def test_other_names_of_a_file_are_not_written_through(
    root: int, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.link(file, tmp_path / "other")
    in_place(monkeypatch)
    with pytest.raises(SeedstallError, match="hard links"):
        apply(root, PATH, NEW, read=OLD, now=NOW)
    assert (tmp_path / "other").read_bytes() == OLD


def test_a_copy_survives_a_write_that_fails(
    root: int, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_place(monkeypatch)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(folder_module.Folder, "overwrite", full)
    with pytest.raises(SeedstallError, match="may be damaged") as error:
        apply(root, PATH, NEW, read=OLD, now=NOW)
    assert COPY in error.value.hint
    assert file.with_name(COPY).read_bytes() == OLD


# Taking back


def test_it_is_taken_back_as_it_was(root: int, file: Path) -> None:
    apply(root, PATH, NEW, read=OLD, now=NOW)
    assert undo(root, PATH, dry_run=True).restored == COPY
    assert file.read_bytes() == NEW
    assert undo(root, PATH).restored == COPY
    assert file.read_bytes() == OLD
    assert mode(file) == 0o640
    assert names(file.parent) == ["setenv.sh"]


def test_a_file_we_made_goes(root: int, base: Path) -> None:
    apply(root, PATH, NEW, read=None, now=NOW)
    assert undo(root, PATH).restored == ""
    assert names(base) == []


def test_the_last_one_is_taken_back_first(root: int, file: Path) -> None:
    third = b"third\n"
    apply(root, PATH, NEW, read=OLD, now=NOW)
    apply(root, PATH, third, read=NEW, now=NOW)
    apply(root, PATH, b"fourth\n", read=third, now=NOW + timedelta(seconds=1))
    for expected in (third, NEW, OLD):
        undo(root, PATH)
        assert file.read_bytes() == expected
    assert names(file.parent) == ["setenv.sh"]
    with pytest.raises(SeedstallError, match="nothing of seedstall's"):
        undo(root, PATH)


def test_what_changed_since_is_not_taken_back(root: int, file: Path) -> None:
    apply(root, PATH, NEW, read=OLD, now=NOW)
    file.write_bytes(NEW + b"# mine\n")
    with pytest.raises(SeedstallError, match="changed since it was written"):
        undo(root, PATH)
    assert file.read_bytes() == NEW + b"# mine\n"
    file.unlink()
    with pytest.raises(SeedstallError, match="changed since it was written"):
        undo(root, PATH)


@pytest.mark.parametrize("left", [(".undo",), (".undo", ""), (".undo", "", "temporary")])
def test_what_a_killed_run_left_stands_in_nobodys_way(
    root: int, file: Path, left: tuple[str, ...]
) -> None:
    apply(root, PATH, NEW, read=OLD, now=NOW)
    killed = apply(root, PATH, b"third\n", read=NEW, now=NOW + timedelta(seconds=1)).backup
    file.write_bytes(NEW)  # as it is before the new file takes the name
    for ending in ("", ".undo"):
        if ending not in left:
            file.with_name(killed + ending).unlink()
    if "temporary" in left:
        file.with_name(".setenv.sh.seedstall-0123456789abcdef").write_bytes(b"thi")
    before = names(file.parent)
    assert undo(root, PATH, dry_run=True).restored == COPY
    assert names(file.parent) == before
    assert undo(root, PATH).restored == COPY
    assert file.read_bytes() == OLD
    assert names(file.parent) == ["setenv.sh"]


@pytest.mark.parametrize("record", [b"", b"before "])
def test_a_record_that_was_being_written_stands_in_nobodys_way(
    root: int, file: Path, record: bytes
) -> None:
    apply(root, PATH, NEW, read=OLD, now=NOW)
    file.with_name("setenv.sh.seedstall-20261130T163001Z.undo").write_bytes(record)
    assert undo(root, PATH).restored == COPY
    assert names(file.parent) == ["setenv.sh"]


def test_the_next_run_clears_away_temporary_files_of_killed_ones(root: int, file: Path) -> None:
    file.with_name(".setenv.sh.seedstall-0123456789abcdef").write_bytes(b"ne")
    for other in (".setenv.sh.seedstall-x", ".other.sh.seedstall-0123456789abcdef"):
        file.with_name(other).write_bytes(b"mine")
    apply(root, PATH, NEW, read=OLD, now=NOW)
    kept = [".other.sh.seedstall-0123456789abcdef", ".setenv.sh.seedstall-x", "setenv.sh"]
    assert names(file.parent) == [*kept, COPY, f"{COPY}.undo"]


def test_nothing_is_cleared_away_while_another_run_is_at_work(root: int, file: Path) -> None:
    theirs = file.with_name(".setenv.sh.seedstall-0123456789abcdef")
    theirs.write_bytes(b"ne")
    for held in (fcntl.LOCK_SH, fcntl.LOCK_EX):
        with_lock = os.open(file.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(with_lock, held)
            apply(root, PATH, NEW, read=OLD, now=NOW)
            assert theirs.exists()
        finally:
            os.close(with_lock)
        undo_lock = os.open(file.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(undo_lock, fcntl.LOCK_SH)
            undo(root, PATH)
        finally:
            os.close(undo_lock)


def test_a_copy_that_changed_is_not_put_back(root: int, file: Path) -> None:
    apply(root, PATH, NEW, read=OLD, now=NOW)
    file.with_name(COPY).write_bytes(b"planted\n")
    with pytest.raises(SeedstallError, match="gone or changed"):
        undo(root, PATH)
    assert file.read_bytes() == NEW


@pytest.mark.parametrize("record", [b"", b"\xff", b"before none\nwritten x\n", b"x" * 4096])
def test_a_damaged_record_is_not_believed(root: int, file: Path, record: bytes) -> None:
    apply(root, PATH, NEW, read=OLD, now=NOW)
    file.with_name(f"{COPY}.undo").write_bytes(record)
    with pytest.raises(SeedstallError, match="damaged"):
        undo(root, PATH)
    assert file.read_bytes() == NEW


def test_names_that_only_look_alike_are_passed_over(root: int, file: Path) -> None:
    for name in ("setenv.sh.seedstall-x.undo", "setenv.sh.seedstall-20261130T163000Z.999.undo"):
        file.with_name(name).write_bytes(b"before none\nwritten x\n")
    with pytest.raises(SeedstallError, match="nothing of seedstall's"):
        undo(root, PATH)
