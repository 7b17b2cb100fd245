"""Products that keep their flags in a place of their own: hung before the fix is written there, fine after it."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.live.rig import JDKS_SINCE_9, Jdk, report_of, surfaces, until
from tests.live.tomcats import instance
from tests.machine import Seedstall

from seedstall.effect.starvation import DryDevice, Starved

pytestmark = [pytest.mark.jvm, pytest.mark.root]
ONE_JDK = pytest.mark.parametrize("jdk", [JDKS_SINCE_9[1]], indirect=True)
JETTY_HOME = Path("/usr/share/jetty9")
SEED = """<?xml version="1.0"?>
<!DOCTYPE Configure PUBLIC "-//Jetty//Configure//EN" "http://www.eclipse.org/jetty/configure_9_3.dtd">
<Configure id="Server" class="org.eclipse.jetty.server.Server">
  <Call class="java.security.SecureRandom" name="getInstance"><Arg>SHA1PRNG</Arg><Call name="nextInt"/></Call>
</Configure>
"""
"""What an application does at its start that asks for SHA1PRNG by name: Jetty's own generator reads /dev/urandom."""


@dataclass(frozen=True)
class Jetty:
    """A JETTY_BASE of Debian's Jetty 9."""

    base: Path
    java: Path

    @property
    def log(self) -> Path:
        return self.base / "jetty.out"

    def start(self, device: DryDevice, *arguments: str) -> Starved:
        home = (f"-Djetty.home={JETTY_HOME}", f"-Djetty.base={self.base}")
        jar = ("-jar", str(JETTY_HOME / "start.jar"))
        return self.run(device, [str(self.java), *arguments, *home, *jar])

    def run(
        self, device: DryDevice, command: Sequence[str], env: dict[str, str] | None = None
    ) -> Starved:
        with self.log.open("wb") as log:
            return device.start(list(command), env=env, output=log)

    def is_up(self) -> bool:
        return " Started @" in self.log.read_text(encoding="utf-8", errors="replace")


@pytest.fixture
def jetty(tmp_path: Path, jdk: Jdk, namespaces: None) -> Jetty:
    if not (JETTY_HOME / "start.jar").exists():
        pytest.skip("needs Jetty 9: apt-get install jetty9")
    base = tmp_path / "base"
    (base / "start.d").mkdir(parents=True)
    (base / "etc").mkdir()
    (base / "etc/seed.xml").write_text(SEED)
    ini = "--module=server,http\njetty.http.host=127.0.0.1\njetty.http.port=0\netc/seed.xml\n"
    (base / "start.ini").write_text(ini)
    return Jetty(base, jdk.java)


def written(seedstall: Seedstall, pid: int, surface: str) -> Path:
    """What ``fix --apply`` wrote."""
    done = seedstall("fix", pid, "--surface", surface, "--apply")
    assert done.returncode == 0, done.stderr
    match = re.search(r"^wrote ([^\s;]+)", done.stderr, re.MULTILINE)
    assert match is not None, done.stderr
    return Path(match[1])


@ONE_JDK
def test_jetty_takes_it_from_its_ini_files(
    jetty: Jetty, device: DryDevice, seedstall: Seedstall
) -> None:
    hung = jetty.start(device)
    until(lambda: hung.waiting_thread() is not None, hung)
    assert surfaces(report_of(seedstall, hung.pid)) == ["jetty", "java-opts"]
    assert written(seedstall, hung.pid, "jetty") == jetty.base / "start.d/seedstall.ini"
    hung.end()
    fine = jetty.start(device)
    until(jetty.is_up, fine)
    fine.end()


@ONE_JDK
@pytest.mark.matrix
def test_an_ini_file_of_jetty_has_the_last_word(jetty: Jetty, device: DryDevice) -> None:
    """start.jar sets the property over what the java command has set."""
    (jetty.base / "start.d/x.ini").write_text("-Djava.security.egd=file:/dev/urandom\n")
    fine = jetty.start(device, "-Djava.security.egd=file:/dev/random")
    until(jetty.is_up, fine)
    fine.end()
    (jetty.base / "start.d/x.ini").write_text("-Djava.security.egd=file:/dev/random\n")
    hung = jetty.start(device, "-Djava.security.egd=file:/dev/urandom")
    until(lambda: hung.waiting_thread() is not None, hung)


@ONE_JDK
def test_debians_jetty_takes_it_from_etc_default(
    jetty: Jetty, device: DryDevice, seedstall: Seedstall, tmp_path: Path
) -> None:
    """jetty.sh sources the file behind a manager that has read it already, as Debian's unit does."""
    default = tmp_path / "etc/default/jetty9"
    default.parent.mkdir(parents=True)
    default.write_text('# own\nJAVA_OPTIONS="-Xmx64m"\n')
    env = {
        **{k: v for k, v in os.environ.items() if "JAVA" not in k},
        "HOME": str(tmp_path),
        "JAVA_HOME": str(jetty.java.parent.parent),
        "JETTY_HOME": str(JETTY_HOME),
        "JETTY_BASE": str(jetty.base),
        "JETTY_RUN": str(tmp_path),
        "TMPDIR": str(tmp_path),
    }
    script = ["bash", str(JETTY_HOME / "bin/jetty.sh"), "run"]
    hung = jetty.run(device, script, {**env, "JAVA_OPTIONS": "-Xmx64m"})
    until(lambda: hung.waiting_thread() is not None, hung)
    hung.end()
    done = seedstall("fix", default, "--jdk", jetty_jdk(jetty), "--apply")
    assert done.returncode == 0, done.stderr
    options = "-Xmx64m -Djava.security.egd=file:/dev/urandom"
    assert default.read_text() == f'# own\nJAVA_OPTIONS="{options}"\n'
    fine = jetty.run(device, script, {**env, "JAVA_OPTIONS": options})
    until(jetty.is_up, fine)
    fine.end()


def jetty_jdk(jetty: Jetty) -> str:
    match = re.search(r"\.jvms/(\d+)/", str(jetty.java))
    return match[1] if match else "17"


@ONE_JDK
@pytest.mark.tomcat
@pytest.mark.matrix
def test_tomcats_own_alternative(
    jdk: Jdk, device: DryDevice, namespaces: None, tmp_path: Path, seedstall: Seedstall
) -> None:
    tomcat = instance(tmp_path / "base", jdk.java.parent.parent)
    hung = tomcat.start(device)
    until(lambda: hung.waiting_thread() is not None, hung)
    context = tmp_path / "base/conf/context.xml"
    assert written(seedstall, hung.pid, "tomcat-manager") == context
    hung.end()
    fine = tomcat.start(device)
    assert tomcat.await_start(fine) < 60_000
    assert "took [" not in tomcat.log_text()
    fine.end()
