"""The collector's script by itself: its tar, its secrets, its variables. On JVMs: tests/live/test_collector.py."""

from __future__ import annotations

import io
import re
import subprocess
import tarfile

import pytest
from tests.live.collectors import SHELLS, library, shell

from seedstall import __version__
from seedstall.effect.collector import SCRIPT, script
from seedstall.model.redact import MASK, redact_argv

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
        timeout=60,
    ).stdout


def test_it_says_its_version_and_is_plain_text() -> None:
    assert f"# seedstall-collect {__version__}:" in script()
    assert "@VERSION@" not in script()
    assert script().isascii()
    assert script().endswith('{\n\tmain "$@"\n\texit\n}\n')


@pytest.mark.parametrize("words", SHELLS)
def test_secrets_stay_on_the_host(words: str) -> None:
    text = 'hide_arguments "$@"; put "$value"'
    shown = run(words, text, *SECRETS, *PLAIN, "-storepass", "s3cret", "x").decode().split("\x1e")
    assert shown.pop() == ""
    assert len(shown) == len(SECRETS) + len(PLAIN) + 3
    assert "s3cret" not in "".join(shown)
    assert all(MASK in word for word in shown[: len(SECRETS)])
    assert shown[len(SECRETS) : -3] == list(PLAIN)
    assert shown[-3:] == ["-storepass", MASK, "x"]


def test_what_redact_hides_the_script_hides_too() -> None:
    """Its patterns are wider: of each word that `redact_argv` changes, nothing of the secret is left."""
    for word, shown in zip(SECRETS, redact_argv(SECRETS), strict=True):
        assert shown != word, word


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
        "# password=example",
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
    for place; do within 5 show_type "$place"; put "$value$nl"; done
    if_there() { [ "$1" != stat ] && command -v "$1" >/dev/null; }
    stat() { return 127; }
    for place; do within 5 show_type "$place"; put "$value$nl"; done
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
