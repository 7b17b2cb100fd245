"""The collector's script by itself: its tar, its secrets, its variables. On JVMs: tests/live/test_collector.py."""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from tests.live.collectors import SHELLS, library, shell

from seedstall import __version__
from seedstall.effect.collector import SCRIPT, script
from seedstall.model.redact import MASK, redact, redact_argv

SECRETS = (
    "-Djavax.net.ssl.keyStorePassword=s3cret",
    "-Ddb.password:s3cret",
    "-Dpassword='s3cret'",
    '-Dmy.passphrase="s3cret phrase"',
    "-Dapi.key=s3cret",
    "-Dapi_key=s3cret",
    "-Dapikey=s3cret",
    "-DaccessKey=s3cret",
    "-Dprivate-key=s3cret",
    "-DTOKEN=s3cret",
    "-Daws.secret=s3cret",
    "-Dcredentials=s3cret",
    "-Dpwd=s3cret",
    "jdbc:oracle:thin://scott:s3cret@db/x",
    "http://a:s3cret@h/ http://b:s3cret@h/",
    "--password=s3cret",
    "-javaagent:/opt/a.jar=token=s3cret",
    "/a/b:/very/" + "long/" * 300 + "x?password=s3cret/and/s3cret",
    "-Dx=" + "y" * 5000 + "password=s3cret",
)
PLAIN = (
    "-Djava.security.egd=file:/dev/urandom",
    "-Djava.security.properties=/opt/passwords/java.security",
    "-Xmx512m",
    "-cp",
    "/opt/app.jar:/opt/lib/commons.jar",
    "org.apache.catalina.startup.Bootstrap",
    "-Dpassthrough",
    "-Dcatalina.base=/var/lib/tomcat",
    "",
    "http://host/path@x",
    "a b  c",
    "*",
    "\\n%s",
)


def run(words: str, text: str, *arguments: str) -> bytes:
    """The functions in that shell, then *text*."""
    return subprocess.run(
        [*shell(words), "-s", "--", *arguments],
        input=(library() + text).encode(),
        capture_output=True,
        check=True,
        timeout=120,
    ).stdout


def test_it_says_its_version_and_is_plain_text() -> None:
    assert f"# seedstall-collect {__version__}:" in script()
    assert "@VERSION@" not in script()
    assert script().isascii()
    assert script().endswith('{\n\tmain "$@"\n\texit\n}\n')


@pytest.mark.parametrize("words", SHELLS)
def test_secrets_stay_on_the_host(words: str) -> None:
    text = 'hide_arguments "$@"'
    shown = run(words, text, *SECRETS, *PLAIN, "-storepass", "s3cret", "x").decode().split("\x1e")
    assert shown.pop() == ""
    assert len(shown) == len(SECRETS) + len(PLAIN) + 3
    assert "s3cret" not in "".join(shown)
    assert all(MASK in word for word in shown[: len(SECRETS)])
    assert shown[len(SECRETS) : -3] == list(PLAIN)
    assert shown[-3:] == ["-storepass", MASK, "x"]


_NAMED = (
    *("-DNAME=s3cret", "-Dx.NAME=s3cret", "NAME=s3cret", "--NAME=s3cret", "-Dx=y,NAME:s3cret"),
    *("NAME = s3cret", "x-NAME: 's3cret s3cret'", "#NAME=s3cret"),
)
_NAMES = (
    *("password", "passwd", "passphrase", "passcode", "pass", "pwd", "secret", "token"),
    *("credential", "api.key", "access-key", "private_key", "apikey", "key", "auth", "pin"),
)
SHAPES = (
    *(shape.replace("NAME", name) for shape in _NAMED for name in _NAMES),
    *("-Djava.security.properties=http://u:s3cret@h/p", "-Dx=http://u:s3cret@a,http://v:s3cret@b"),
    *("sh -c 'keytool -storepass s3cret -list'", "-KEYPASS s3cret", "\x1d-Dpassword=s3cret"),
)


@pytest.mark.parametrize("words", SHELLS)
def test_what_redact_hides_the_script_hides_too(words: str) -> None:
    """Its patterns are wider: of no argument or line that `redact` clears of the secret, the script leaves it."""
    arguments = run(words, 'hide_arguments "$@"', *SHAPES).decode().split("\x1e")
    lines = run(words, 'value=$1; redacted_text; put "$value"', "\n".join(SHAPES)).decode()
    for shape, argument, line in zip(SHAPES, arguments, lines.split("\n"), strict=False):
        if "s3cret" not in "".join(redact_argv((shape,))):
            assert "s3cret" not in argument, shape
        if "s3cret" not in redact(shape):
            assert "s3cret" not in line, shape


PROGRAMS = {
    ("java", "-cp", "a.jar:b.jar", "-Xmx1g", "org.x.Main", "start"): "org.x.Main",
    ("/usr/bin/java", "-Dpassword=s3cret", "-jar", "/opt/my app/x.jar", "-cp"): "/opt/my?app/x.jar",
    ("java", "@options", "--module-path", "mods", "-m", "m/org.x.Main"): "m/org.x.Main",
    ("java", "--module-path=mods", "--module=m/Main"): "m/Main",
    ("jsvc.exec", "-user", "tomcat", "-pidfile", "/run/x", "org.x.Daemon"): "org.x.Daemon",
    ("java", "-cp", "x", "A\x1b[31m\nB"): "A?[31m?B",
    ("java", "-jar", "https://u:s3cret@h/x.jar"): "https://*****:*****@h/x.jar",
    ("java", "-jar", "/" + 200 * "d" + "/" + 35 * "x" + ".jar"): ".../" + 35 * "x" + ".jar",
    ("java", "-cp"): "?",
    ("",): "?",
}


@pytest.mark.parametrize("words", SHELLS)
def test_a_jvm_is_told_from_the_others_by_its_program(words: str) -> None:
    """Safe for a terminal, and without a secret."""
    text = """
    show_words() { put "$given"; finish 0 ''; }
    for given; do list_of 0; put "$listed"; done
    """
    given = ["\x1e".join((*argv, "")) for argv in PROGRAMS]
    shown = run(words, text, *given).decode().splitlines()
    assert shown == [f"0 {name}" for name in PROGRAMS.values()]


@pytest.mark.parametrize(
    "words", ["dash", *(pytest.param(w, marks=pytest.mark.matrix) for w in SHELLS[1:])]
)
def test_a_long_text_is_looked_through_in_time(words: str) -> None:
    """A megabyte of settings with secrets in it; what takes for ever is given up and not sent."""
    text = """
    read_limit=50
    value=$(od -An -v -tx1 </dev/zero | head -c 1000000; put "${nl}password=s3cret$nl${nl}x")
    length=${#value}; redacted_text
    put "$ended ${#value} $length"; case $value in *s3cret*) put leak ;; esac
    value=password=s3cret; deadline=0; redacted_text || put " $ended$value"
    """
    ended, masked, length, late = run(words, text).decode().split()
    assert (ended, int(masked), late) == ("0", int(length) - 1, "late")


HOSTILE = {
    "value": "x",
    "maps": "x",
    "status": "x",
    "QUOTING_STYLE": "shell-always",
    "BLOCK_SIZE": "4096",
    "GREP_OPTIONS": "--color=always",
    "POSIXLY_CORRECT": "1",
    "IFS": "/",
    "LC_ALL": "tr_TR.UTF-8",
    "LANG": "zh_CN.UTF-8",
}


@pytest.mark.parametrize("options", ["-eu", "-fa", "-x", "-C"])
@pytest.mark.parametrize("words", SHELLS)
def test_the_callers_environment_and_options(words: str, options: str, tmp_path: Path) -> None:
    """Nothing of these changes what is found; a program in the working directory is never run."""
    for name in ("cat", "tr", "sleep", "ls", "stat", "head"):
        (tmp_path / name).write_text("#!/bin/sh\n: >planted\n", encoding="ascii")
        (tmp_path / name).chmod(0o755)
    (tmp_path / "size").write_bytes(b"x" * 5000)
    text = f"""
    within 50 show {tmp_path}/large; put "${{#value}} "
    stat() {{ return 127; }}
    within 50 show_type {tmp_path}/size; put "${{value##* }} "
    within 50 show_links /proc/self/fd; case $value in *[0-9]' -> /'*|*[0-9]' -> pipe'*) put links ;; esac
    """
    (tmp_path / "large").write_bytes(b"\xc3\xa9" * 200_000)
    done = subprocess.run(
        [*shell(words), options, "-s"],
        input=(library() + text).encode(),
        capture_output=True,
        check=True,
        timeout=120,
        cwd=tmp_path,
        env={**HOSTILE, "PATH": f".::{os.environ['PATH']}:"},
    )
    assert done.stdout.decode().split() == ["400000", "5000", "links"]
    assert not (tmp_path / "planted").exists()


def test_what_execs_after_the_look_is_not_signalled() -> None:
    """Its pid and its start stay, its handlers are gone: SIGQUIT would end it."""
    program = """if 1:
        import os, signal, time
        signal.signal(signal.SIGUSR1, lambda *_: os.execv("/bin/sleep", ["java", "100"]))
        signal.signal(signal.SIGQUIT, lambda *_: None)
        print(flush=True)
        while True: time.sleep(0.1)
    """
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        text = f"""
        pid={process.pid}; refusal=; identity; read_of=$value
        still_the_same && put same
        kill -USR1 $pid
        until quick /proc/$pid/comm && [ "$value" = "sleep$nl" ]; do sleep 0.1; done
        still_the_same || put " $refusal"
        identity; read_of=$value
        still_the_same || put " $refusal"
        """
        try:
            said = run("dash", text).decode()
        finally:
            process.kill()
    assert said == (
        "same it has ended, or become another program, since it was looked at"
        " it does not handle SIGQUIT any more"
    )


@pytest.mark.root
def test_no_program_of_another_user_is_run_as_root(tmp_path: Path) -> None:
    """A JVM's own jstack is, only where root alone can change it: through links too."""
    text = """
    by_uid=0; their_uid=12345
    for place; do trusted "$place" && put yes || put no; put ' '; done
    their_uid=0; trusted "$1" && put yes
    """
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    os.chown(theirs, 12345, 12345)
    (theirs / "jstack").touch()
    (tmp_path / "link").symlink_to("theirs/jstack")
    (tmp_path / "more").symlink_to("link")
    (tmp_path / "loop").symlink_to("loop")
    places = [theirs / "jstack", *(tmp_path / name for name in ("link", "more", "loop"))]
    said = run("dash", text, *map(str, places), "/usr/bin/env", "/proc/self/exe").decode().split()
    assert said == ["no", "no", "no", "no", "yes", "yes", "yes"]


@pytest.mark.parametrize("words", SHELLS)
def test_secrets_in_lines(words: str) -> None:
    text = 'value=$1; redacted_text; put "$value"'
    lines = (
        "db.url=jdbc:x",
        "db.password = s3cret",
        "",
        "# password=example",
        'export JAVA_OPTS="-Dkey.password=s3cret -Djava.security.egd=file:/dev/urandom"',
        "secret: 's3cret and more s3cret' -Dy=1",
        "  indented stays  as it is",
        "token=",
    )
    shown = run(words, text, "\n".join(lines) + "\n").decode()
    assert "s3cret" not in shown
    assert shown.splitlines() == [
        "db.url=jdbc:x",
        f"db.password = {MASK}",
        "",
        f"# password={MASK}",
        f'export JAVA_OPTS="-Dkey.password={MASK} -Djava.security.egd=file:/dev/urandom"',
        f"secret: {MASK} -Dy=1",
        "  indented stays  as it is",
        "token=",
    ]


@pytest.mark.parametrize("words", SHELLS)
def test_its_tar_is_one(words: str) -> None:
    """Names beyond ustar's 100 bytes, of any bytes; contents of any length, with NUL bytes, with backslashes."""
    long = "root/" + "/".join(["verylongfoldername"] * 12) + "/java.security"
    text = f"""
    top=top; take=; mtime=00000000017; weigh $mtime; mtime_sum=$sum
    keep empty ''
    keep a/plain 'x\\n%s\\0'
    keep 'a/odd name \\ ~!$é' "$1"
    keep {long} "$1$1"
    keep_words a/words "one${{sep}}two$sep"
    keep_octal a/octal 177 105 000 377 012
    zeros 1024; pute "$zeros"
    """
    data = run(words, text, "y" * 511)
    assert len(data) % 512 == 0
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        found = {m.name: archive.extractfile(m).read() for m in archive}  # type: ignore[union-attr]
        assert {m.mtime for m in archive} == {15}
    assert found == {
        "top/empty": b"",
        "top/a/plain": b"x\\n%s\\0",
        "top/a/odd name \\ ~!$é": b"y" * 511,
        f"top/{long}": b"y" * 1022,
        "top/a/words": b"one\0two\0",
        "top/a/octal": b"\x7fE\0\xff\n",
    }


@pytest.mark.parametrize("words", SHELLS)
def test_types_are_the_same_with_and_without_stat(words: str) -> None:
    """ls tells them where there is no stat."""
    places = ("/dev/null", "/tmp", "/etc/passwd", "/", "/proc/self/fd")
    text = """
    for place; do within 50 show_type "$place"; put "$value$nl"; done
    if_there() { [ "$1" != stat ] && command -v "$1" >/dev/null; }
    stat() { return 127; }
    for place; do within 50 show_type "$place"; put "$value$nl"; done
    """
    shown = run(words, text, *places).decode().splitlines()
    with_stat, without = shown[: len(places)], shown[len(places) :]
    assert with_stat[0].startswith("20666 1 3 ")
    # The inode of a directory of /proc is another at each look.
    assert with_stat[:-1] == without[:-1]
    assert with_stat[1].startswith("41777 ")


def test_no_function_tramples_on_anothers_variables() -> None:
    """POSIX sh has no local variables: each function's begin with its own name, the rest are meant to be shared."""
    name = ""
    for line in SCRIPT.read_text(encoding="ascii").splitlines():
        begins = re.match(r"(\w+)\(\) \{", line)
        name = begins[1] if begins else name
        assert not re.search(r"\$\{?_[a-z]|(?:^|\s)_[a-z]\w*=", line), line
        for loop in re.findall(r"\bfor (\w+)(?: in|;)", line):
            assert loop == "_" or loop.startswith(f"{name}_"), line
