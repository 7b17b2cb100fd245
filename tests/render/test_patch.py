from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seedstall.render.patch import Patch, unified

NAME = "bin/setenv.sh"
LINES = b"".join(b"line %d\n" % n for n in range(1, 21))


def applied(how: str, base: Path, patch: bytes, old: bytes | None) -> bytes:
    """What the real program makes of it."""
    base.mkdir()
    if old is not None:
        (base / "bin").mkdir()
        (base / NAME).write_bytes(old)
    (base / "p").write_bytes(patch)
    commands = {"patch": ["patch", "-p1", "--fuzz=0", "-i", "p"], "git": ["git", "apply", "p"]}
    env = {
        **os.environ,
        "GIT_CEILING_DIRECTORIES": str(base.parent),
        "GIT_CONFIG_NOSYSTEM": "1",
        "HOME": str(base),
    }
    done = subprocess.run(commands[how], cwd=base, capture_output=True, check=False, env=env)
    assert done.returncode == 0, (done, patch)
    assert not list((base / "bin").glob("*.rej")) + list((base / "bin").glob("*.orig")), done
    return (base / NAME).read_bytes()


CASES = {
    "new": (None, b"a\nb\n"),
    "new without a last line end": (None, b"a\nb"),
    "empty before": (b"", b"a\n"),
    "at the end": (LINES, LINES + b"x\n"),
    "at the start": (LINES, b"x\n" + LINES),
    "in the middle": (LINES, LINES.replace(b"line 9\n", b"x\ny\n")),
    "two places": (LINES, LINES.replace(b"line 2\n", b"").replace(b"line 18\n", b"x\n")),
    "two near places": (LINES, LINES.replace(b"line 8\n", b"").replace(b"line 13\n", b"x\n")),
    "no last line end": (b"a\nb", b"a\nb\nc\n"),
    "no last line end, changed": (b"a\nb", b"a\nc"),
    "one line": (b"a\n", b"b\n"),
    "crlf": (b"a\r\nb\r\nc\r\n", b"a\r\nb\r\nc\r\nd\r\n"),
    "no utf-8": (b"\xff\xe9\nb\n", b"\xff\xe9\nc\n"),
    "form feeds and other line ends": (b"a\x0cb\x85c\x1cd\n", b"a\x0cb\x85c\x1cd\ne\n"),
    "looks like a diff": (b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n", b"--- a/x\n+++ b/y\n@@ -1 +1 @@\n"),
    "all alike": (b"x\n" * 50, b"x\n" * 30 + b"y\n" + b"x\n" * 20),
}


@pytest.mark.parametrize("how", ["patch", "git"])
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_both_programs_take_it(how: str, case: tuple[bytes | None, bytes], tmp_path: Path) -> None:
    old, new = case
    patch = unified(
        old, new, NAME, preamble=("patch -p1 -d /srv/tomcat < setenv.patch", "a second line")
    )
    assert applied(how, tmp_path / "base", patch.data, old) == new


def test_how_it_looks() -> None:
    patch = unified(b"a\nb", b"a\nb\nc\n", NAME, preamble=("patch -p1",))
    assert patch == Patch(
        b"# patch -p1\n--- a/bin/setenv.sh\n+++ b/bin/setenv.sh\n@@ -1,2 +1,3 @@\n a\n-b\n"
        b"\\ No newline at end of file\n+b\n+c\n"
    )


@pytest.mark.parametrize("mode", [0o644, 0o755])
@pytest.mark.parametrize("how", ["patch", "git"])
def test_a_new_file_gets_its_mode(how: str, mode: int, tmp_path: Path) -> None:
    patch = unified(None, b"a\n", NAME, mode=mode)
    applied(how, tmp_path / "base", patch.data, None)
    assert (tmp_path / "base" / NAME).stat().st_mode & 0o777 == mode


def secret(line: bytes) -> bool:
    return b"9" in line or b"12" in line


@pytest.mark.parametrize("how", ["patch", "git"])
@pytest.mark.parametrize("changed", range(1, 22))
def test_secret_lines_are_no_context_where_it_can_be_helped(
    how: str, changed: int, tmp_path: Path
) -> None:
    rows = LINES.splitlines(keepends=True)
    new = b"".join((*rows[: changed - 1], b"x\n", *rows[changed:]))
    patch = unified(LINES, new, NAME, secret=secret)
    assert applied(how, tmp_path / "base", patch.data, LINES) == new
    needed = {8, 9, 11, 12, 18, 19}  # the line itself, or the only one behind it
    assert patch.secrets == (changed in needed)
    assert patch.secrets == sum(secret(row) for row in patch.data.splitlines() if row[:1] in b" -")


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from([b"a", b"b", b"c9", b"", b"d\r"]), max_size=14), st.data())
def test_any_edit_is_taken(rows: list[bytes], data: st.DataObject) -> None:
    import tempfile

    new = list(rows)
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(new)))
        new[at : at + data.draw(st.integers(0, 1))] = data.draw(
            st.lists(st.sampled_from([b"x", b"a"]), max_size=2)
        )
    old_bytes, new_bytes = b"\n".join(rows), b"\n".join(new)
    if (
        old_bytes == new_bytes or not new_bytes
    ):  # git takes a file that becomes empty for one that goes
        return
    patch = unified(old_bytes, new_bytes, NAME, secret=secret)
    for how in ("patch", "git"):
        with tempfile.TemporaryDirectory() as folder:
            assert applied(how, Path(folder) / "base", patch.data, old_bytes) == new_bytes
