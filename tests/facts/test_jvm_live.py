"""The facts of real JVMs, held against what each says of itself (-XshowSettings:properties)."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import pytest
from tests.machine import JDK8_ROOT, java_of, jdk8_bin

import seedstall.effect
from seedstall.engine.case import Case
from seedstall.facts import jvm, process
from seedstall.model.evidence import Got
from seedstall.model.jdk import JdkVersion
from seedstall.model.jvm import JavaHome, Launch, Product
from seedstall.model.security import SeedFile
from seedstall.model.seeding import SeedSetting, SeedSource
from seedstall.parse.elf import launcher_version
from seedstall.source.host import HostSource

pytestmark = pytest.mark.jvm
T = TypeVar("T")
PROBE = Path(seedstall.effect.__file__).parent / "probe/SeedProbe.class"


@dataclass(frozen=True)
class Place:
    """Where a JVM runs: its java, a directory of ours as the JVM sees it, its root."""

    feature: int
    java: Path
    here: Path
    root: Path = Path("/")

    @property
    def outside(self) -> Path:
        return self.root / self.here.relative_to("/")


@pytest.fixture(
    params=[
        pytest.param(8, id="jdk8", marks=(pytest.mark.jdk8, pytest.mark.root)),
        *(pytest.param(n, id=f"jdk{n}") for n in (11, 17, 21, 25)),
    ]
)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    feature: int = request.param
    if feature == 8:
        programs = jdk8_bin()
        assert programs is not None
        with tempfile.TemporaryDirectory(dir=JDK8_ROOT / "tmp") as inside:
            here = Path("/") / Path(inside).relative_to(JDK8_ROOT)
            yield Place(8, programs / "java", here, JDK8_ROOT)
        return
    java = java_of(feature)
    if not java.exists():
        pytest.skip(f"needs JDK {feature}: make jvms")
    yield Place(feature, java, tmp_path)


@pytest.fixture(params=[pytest.param(n, id=f"jdk{n}") for n in (11, 17, 21, 25)])
def modern(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """A JDK with argument files: 9 or later."""
    java = java_of(request.param)
    if not java.exists():
        pytest.skip(f"needs JDK {request.param}: make jvms")
    return Place(request.param, java, tmp_path)


@dataclass
class Running:
    """A JVM that waits for its seed in a FIFO, what it said of itself, and its case."""

    pid: int
    said: dict[str, str]
    case: Case

    def fact(self, kind: type[T]) -> T:
        reading = self.case.get(kind)
        assert isinstance(reading, Got), reading
        return reading.value


@contextmanager
def hung(place: Place, *options: str, environ: dict[str, str] | None = None) -> Iterator[Running]:
    """Start the probe with an egd that ends in an empty FIFO; wait until it has said its properties."""
    os.mkfifo(place.outside / "seed")
    (place.outside / "SeedProbe.class").write_bytes(PROBE.read_bytes())

    def prepare() -> None:
        signal.signal(signal.SIGQUIT, signal.SIG_DFL)
        if place.root != Path("/"):
            os.chroot(place.root)
        os.chdir(place.here)

    argv = [
        str(place.java),
        "-XshowSettings:properties",
        *options,
        "-cp",
        ".",
        "SeedProbe",
        "SHA1PRNG",
        "nextBytes",
    ]
    with subprocess.Popen(
        argv,
        env={"LANG": "C", **(environ or {})},
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stdin=subprocess.DEVNULL,
        text=True,
        preexec_fn=prepare,  # noqa: PLW1509 - the child only changes its root and directory
    ) as child:
        try:
            assert child.stderr is not None
            said: dict[str, str] = {}
            for line in child.stderr:
                found = re.match(r"^    ([\w.]+) = ?(.*)$", line)
                if found:
                    said[found[1]] = found[2]
                if "user.name" in said and not line.strip():
                    break
            with HostSource(child.pid) as source:
                case = Case(source, (*jvm.PROVIDERS, *process.PROVIDERS))
                yield Running(child.pid, said, case)
        finally:
            child.kill()


def test_home_version_and_seed_source(place: Place) -> None:
    egd = f"file:{place.here}/seed"
    with hung(place, f"-Djava.security.egd={egd}") as running:
        assert running.fact(JavaHome).path == running.said["java.home"]
        version = running.fact(JdkVersion)
        assert version.feature == place.feature
        assert running.said["java.version"] in (version.text, version.text.partition("-")[0])
        source = running.fact(SeedSource)
        assert source.value == running.said["java.security.egd"] == egd
        assert (source.setting, source.place) == (SeedSetting.EGD, "cmdline[2]")
        assert [value for _, value in source.overridden] == ["file:/dev/random"]
        file = running.fact(SeedFile)
        assert (file.kind, file.readable) == ("a FIFO", True)
        assert running.fact(Product).key == "java"


def test_variables_and_an_appended_file(place: Place) -> None:
    (place.outside / "more").write_text(f"# mine\nsecurerandom.source=file:{place.here}/seed\n")
    environ = {
        "JAVA_TOOL_OPTIONS": "-Djava.security.properties=more -Da=1",
        "_JAVA_OPTIONS": "-Da=2",
    }
    with hung(place, environ=environ) as running:
        source = running.fact(SeedSource)
        assert source.value == f"file:{place.here}/seed"
        assert source.place == f"{place.here}/more:2"
        assert running.fact(Launch).property_value("a") == running.said["a"] == "2"


def test_an_argument_file(modern: Place) -> None:
    place = modern
    (place.outside / "args").write_text(
        f"-Da=1\n'-Djava.security.egd=file:{place.here}/seed' # mine\n"
    )
    with hung(place, "@args") as running:
        assert running.fact(SeedSource).place == "@args:2"
        assert running.fact(SeedSource).value == running.said["java.security.egd"]


def test_a_lost_argument_file_is_made_up_for_by_hsperfdata(modern: Place) -> None:
    place = modern
    (place.outside / "args").write_text(f"-Djava.security.egd=file:{place.here}/seed\n")
    with hung(place, "@args") as running:
        (place.outside / "args").unlink()
        assert running.fact(Launch).unread_files == ()
        assert running.fact(SeedSource).value == running.said["java.security.egd"]


def test_without_a_release_file_other_evidence_says_the_same(place: Place) -> None:
    """The program's own constant, which must agree with the release file where there is one."""
    with hung(place, f"-Djava.security.egd=file:{place.here}/seed") as running:
        exe = Path(f"/proc/{running.pid}/exe").read_bytes()
        text = launcher_version(exe)
        version = running.fact(JdkVersion)
        assert text.startswith(version.text.partition("-")[0])
