"""What all tests share: real JVMs and programs, and the promise that a skip never hides a gap.

Locally a test whose JVM, Tomcat or privilege is not there is skipped, with its reason told at the end. In
continuous integration (CI=true) everything but a JDK 8 can be installed, so there a skip is a failure.
"""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from tests import machine
from tests.machine import (
    CATALINA_HOME,
    CHECKOUT,
    IN_CI,
    JDK8_ROOT,
    Seedstall,
    java_of,
    jdk8_bin,
    run_seedstall,
)

from seedstall.effect import namespace

MAY_LACK = "jdk8"
"""The marker of what CI cannot always install: it comes from Debian's unstable suite alone."""

skipped: dict[str, str] = {}
"""What was skipped, and why."""
gaps: list[str] = []
"""Those of them that fail the run."""


def pytest_configure(config: pytest.Config) -> None:
    """Start as a person's terminal starts programs, and with the mounts that tests need."""
    # nohup, and a shell's background job, hand "ignored" down to us, to what we start, and to every JVM.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number in (signal.SIGHUP, signal.SIGQUIT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    if os.geteuid() == 0:
        _furnish()


def _furnish() -> None:
    """Mounts that tests need, in a mount namespace of this test run: nothing outside sees them, none outlives it.

    The JDK 8 runs in a chroot and gets its /proc and /dev. The checkout, which may lie in a directory that only
    root may walk, or below a /tmp that a test covers, is shown where every user finds it.
    """
    shown = Path(tempfile.mkdtemp(prefix="seedstall-checkout-", dir="/var/tmp"))
    try:
        namespace.enter()
        if jdk8_bin() is not None:
            namespace.furnish(str(JDK8_ROOT))
        shown.chmod(0o755)
        subprocess.run(["mount", "--rbind", CHECKOUT, shown], check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        sys.stderr.write(f"no mount namespace for the tests: {error}\n")
        shown.rmdir()
        return
    machine.shown_at = shown
    atexit.register(_take_away, shown)


def _take_away(shown: Path) -> None:
    if subprocess.run(["umount", "--lazy", shown], check=False).returncode == 0:
        shown.rmdir()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the whole matrix out, unless markers are chosen by hand."""
    if "matrix" in str(config.getoption("markexpr")):
        return
    left_out = [item for item in items if item.get_closest_marker("matrix")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not item.get_closest_marker("matrix")]


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what cannot run here, and say what would make it run."""
    if item.get_closest_marker("root") and os.geteuid() != 0:
        pytest.skip("needs root: run the tests as root")
    if item.get_closest_marker("tomcat") and not (CATALINA_HOME / "bin/catalina.sh").exists():
        pytest.skip(
            f"needs Tomcat 10 in {CATALINA_HOME}: apt-get install tomcat10, or set CATALINA_HOME"
        )
    if item.get_closest_marker("jdk8"):
        if jdk8_bin() is None:
            pytest.skip("needs a real JDK 8: make jdk8 (Debian), or set SEEDSTALL_JDK8")
        if not (JDK8_ROOT / "proc/self").exists():
            pytest.skip(f"needs /proc in {JDK8_ROOT}: mount namespaces are not allowed here")


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Remember what was skipped.

    Told by the report, not by the test: with pytest-xdist the tests run in other processes.
    """
    if not report.skipped or hasattr(report, "wasxfail"):
        return
    reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    skipped[report.nodeid] = reason.removeprefix("Skipped: ")
    if IN_CI and MAY_LACK not in report.keywords:
        gaps.append(report.nodeid)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """In CI a skip is a failure: all but a JDK 8 can be installed there."""
    if gaps:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Tell every gap, loudly."""
    if not skipped:
        return
    terminalreporter.section("NOT SHOWN", sep="!", red=True)
    for node, reason in sorted(skipped.items()):
        mark = "FAILED, CI can install it" if node in gaps else "skipped"
        terminalreporter.write_line(f"{mark}: {node}: {reason}", red=True)


@pytest.fixture(scope="session")
def java() -> Path:
    """Some real java, 11 or later: the one of `make jvms`, else the PATH's."""
    found = [java_of(n) for n in (17, 21, 25, 11) if java_of(n).exists()]
    if found:
        return found[0]
    on_path = shutil.which("java")
    if on_path is None:
        pytest.skip("needs a JVM: make jvms")
    return Path(on_path).resolve()


@pytest.fixture(scope="session")
def full_jdk() -> Path:
    """The bin directory of a whole JDK: javac, jstack."""
    javac = shutil.which("javac")
    if javac is None:
        pytest.skip("needs a whole JDK: apt-get install openjdk-17-jdk-headless")
    return Path(javac).resolve().parent


@pytest.fixture(scope="session")
def seedstall() -> Seedstall:
    """The command line, as a process of its own."""
    return run_seedstall
