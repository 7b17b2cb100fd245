"""Real Tomcat 10 instances: a CATALINA_BASE of their own, with one web application."""

from __future__ import annotations

import os
import re
import shutil
import socket
from dataclasses import dataclass
from pathlib import Path

from tests.live.rig import until
from tests.machine import CATALINA_HOME

from seedstall.effect.starvation import DryDevice, Starved

STARTED = "Server startup in"


@dataclass(frozen=True)
class Tomcat:
    """One instance: CATALINA_BASE with one web application."""

    base: Path
    java_home: Path

    @property
    def log(self) -> Path:
        return self.base / "catalina.out"

    def start(self, device: DryDevice) -> Starved:
        env = {k: v for k, v in os.environ.items() if "JAVA" not in k and "CATALINA" not in k}
        env |= {
            "CATALINA_HOME": str(CATALINA_HOME),
            "CATALINA_BASE": str(self.base),
            "JAVA_HOME": str(self.java_home),
            "JRE_HOME": str(self.java_home),
            "LC_ALL": "C.UTF-8",
        }
        with self.log.open("wb") as log:
            return device.start(
                [str(CATALINA_HOME / "bin/catalina.sh"), "run"], env=env, output=log
            )

    def log_text(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")

    def await_start(self, process: Starved) -> int:
        """Wait until the server is up; how long the start took by its own account, in ms."""
        until(lambda: STARTED in self.log_text(), process)
        match = re.search(rf"{STARTED} \[([\d,]+)\] milliseconds", self.log_text())
        assert match is not None
        return int(match[1].replace(",", ""))


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def instance(base: Path, java_home: Path) -> Tomcat:
    """A new instance below *base*, which listens at a free port of the loopback."""
    for name in ("bin", "conf", "logs", "temp", "webapps/ROOT", "work"):
        (base / name).mkdir(parents=True)
    for file in (CATALINA_HOME / "etc").iterdir():
        shutil.copy(file, base / "conf")
    server = base / "conf/server.xml"
    text = server.read_text(encoding="utf-8")
    text = text.replace('<Server port="8005"', '<Server port="-1"')
    text = text.replace(
        '<Connector port="8080"', f'<Connector address="127.0.0.1" port="{free_port()}"'
    )
    server.write_text(text, encoding="utf-8")
    (base / "webapps/ROOT/index.html").write_text("hello", encoding="utf-8")
    return Tomcat(base, java_home)
