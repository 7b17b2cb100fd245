"""At whatever moment: of the JVM's start, of ours when a signal ends us."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests import machine
from tests.live import patients
from tests.live.patients import CLASSES, STRANGER, Patient, ask, unharmed
from tests.live.rig import JDK8
from tests.machine import CHECKOUT, JDK8_ROOT, java_of

from seedstall.effect.attach import Attacher
from seedstall.model.evidence import Got, Why

pytestmark = pytest.mark.jvm

Start = Callable[..., Patient]


# --- the JVM's start -------------------------------------------------------------------------------------------------

DELAYS_MS = (0, 2, 5, 10)
STARTS = 200


@pytest.mark.matrix
@pytest.mark.timeout(1800)
@pytest.mark.parametrize(
    "feature", [JDK8, *(pytest.param(n, id=f"jdk{n}") for n in (11, 17, 21, 25))]
)
def test_no_jvm_dies_of_an_attach_in_its_first_milliseconds(
    feature: int, record_property: Callable[[str, object], None]
) -> None:
    """A C client killed 10 to 13 of 15 at 0 and 2 ms after exec; SIGQUIT is at its default, as under systemd."""
    if feature != 8 and not java_of(feature).exists():
        pytest.skip(f"needs JDK {feature}: make jvms")
    answered = dict.fromkeys(DELAYS_MS, 0)
    with place_of(feature) as (folder, classes):
        for n in range(STARTS):
            delay = DELAYS_MS[n % len(DELAYS_MS)]
            command = patients.command(feature, classes=classes)
            patient = patients.start(command, folder, root=patients.jdk_root(feature))
            try:
                time.sleep(delay / 1000)
                reading = ask(patient)
                assert isinstance(reading, Got) or reading.why is Why.REFUSED, reading
                answered[delay] += isinstance(reading, Got)
                patient.wait_until(lambda patient=patient: b"up" in patient.said)  # type: ignore[misc]
                unharmed(patient)
            finally:
                patient.end()
    record_property("dumps by delay in ms", str(answered))


@contextlib.contextmanager
def place_of(feature: int) -> Iterator[tuple[Path, Path]]:
    """A working directory and the classes, as a JVM of that JDK sees them."""
    root = patients.jdk_root(feature)
    made = Path(tempfile.mkdtemp(dir=JDK8_ROOT / "tmp" if root else None))
    made.chmod(0o777)
    try:
        if root is None:
            yield made, CLASSES
            return
        for name in CLASSES.glob("*.class"):
            shutil.copy(name, made)
        inside = Path("/tmp") / made.name
        yield inside, inside
    finally:
        shutil.rmtree(made)


# --- our end ---------------------------------------------------------------------------------------------------------


class Clients:
    """Starts attach clients by fork from one process that has imported everything: a client in a few milliseconds."""

    def __init__(self, *, guarded: bool) -> None:
        unguarded = "preflight.QUESTION = preflight.SIGNAL = ()"
        code = SERVER.format(
            src=str(machine.shown(CHECKOUT / "src")), guards="" if guarded else unguarded
        )
        self._server = subprocess.Popen(
            [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def start(self, pid: int) -> int:
        """A client of that JVM; its pid."""
        assert self._server.stdin is not None
        self._server.stdin.write(f"{pid}\n")
        self._server.stdin.flush()
        return int(self.read())

    def read(self) -> str:
        """The next line: what the client said last, and how it ended."""
        assert self._server.stdout is not None
        return self._server.stdout.readline()

    def close(self) -> None:
        self._server.communicate()


SERVER = """
import os, signal, sys
sys.path.insert(0, {src!r})
from seedstall.effect import preflight
from seedstall.effect.attach import Attacher
{guards}
for line in sys.stdin:
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        try:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            Attacher(int(line), timeout_s=10, tell=lambda text: os.write(writer, text.encode())).ask("threaddump")
        finally:
            os._exit(0)
    os.close(writer)
    print(child, flush=True)
    said = os.read(reader, 1000).decode()
    os.close(reader)
    print(os.waitpid(child, 0)[1], said, flush=True)
"""
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
LATEST_S = 0.025
"""Longer than a whole handshake with a JVM at rest."""


def killed(
    clients: Clients, patient: Patient, kills: int, *, among: tuple[signal.Signals, ...]
) -> str:
    """So many clients, each ended at a moment of its own; what they said."""
    said = ""
    moments = random.Random(2026)  # noqa: S311 - the same moments each time
    for n in range(kills):
        Path(f"/tmp/.java_pid{patient.pid}").unlink(missing_ok=True)  # each has to call for it
        client = clients.start(patient.pid)
        time.sleep(moments.random() * LATEST_S)
        with contextlib.suppress(ProcessLookupError):
            os.kill(client, among[n % len(among)])
        said += clients.read()
        if signal.SIGKILL not in among:
            assert patient.files() == [], f"left behind at kill {n}"
    return said


@pytest.mark.parametrize("kills", [40, pytest.param(1000, marks=pytest.mark.matrix)])
def test_ended_at_any_moment_it_leaves_nothing(start: Start, kills: int) -> None:
    patient = start()
    clients = Clients(guarded=True)
    killed(clients, patient, kills, among=SIGNALS)
    clients.close()
    unharmed(patient)
    assert isinstance(ask(patient), Got)


@pytest.mark.parametrize("kills", [10, pytest.param(200, marks=pytest.mark.matrix)])
def test_ended_while_the_jvm_does_not_answer_it_leaves_nothing(start: Start, kills: int) -> None:
    """It stopped after the last look. The signal waits for it, and the client that ends says so."""
    patient = start()
    clients = Clients(guarded=False)
    os.kill(patient.pid, signal.SIGSTOP)
    killed(clients, patient, kills, among=SIGNALS)
    client = clients.start(patient.pid)
    patient.wait_until(lambda: bool(patient.files()))
    time.sleep(0.2)  # the signal follows at once
    os.kill(client, signal.SIGTERM)
    said = clients.read()
    clients.close()
    os.kill(patient.pid, signal.SIGCONT)
    assert patient.is_well()
    assert "the SIGQUIT is still pending: when the JVM gets to it" in said
    assert patient.files() == []


def test_what_a_killed_client_left_the_next_one_takes_away(start: Start, folder: Path) -> None:
    """SIGKILL leaves no chance. The file is known by what stands in it, and goes with the next run, for any JVM."""
    patient, other = start(), start(21)
    clients = Clients(guarded=False)
    os.kill(patient.pid, signal.SIGSTOP)
    client = clients.start(patient.pid)
    patient.wait_until(lambda: bool(patient.files()))
    os.kill(client, signal.SIGKILL)
    clients.read()
    clients.close()
    assert patient.files() == [f".attach_pid{patient.pid}"]

    attacher = Attacher(other.pid, timeout_s=20)
    assert isinstance(attacher.ask("threaddump"), Got)
    name = f".attach_pid{patient.pid}"
    assert f"remove /tmp/{name}, left by a seedstall that was killed" in [
        a.what for a in attacher.actions
    ]
    assert patient.files() == []
    os.kill(patient.pid, signal.SIGCONT)
    assert patient.is_well()
    assert isinstance(ask(patient), Got)
    unharmed(other)


@pytest.mark.matrix
def test_killed_at_any_moment_the_next_run_finds_its_way(start: Start) -> None:
    patient = start()
    clients = Clients(guarded=True)
    killed(clients, patient, 300, among=(signal.SIGKILL,))
    clients.close()
    assert isinstance(ask(patient), Got)
    unharmed(patient)


@pytest.mark.root
def test_a_client_of_another_user_is_no_hindrance(start: Start) -> None:
    """Its file does not lie where it may not, and its signature is no secret of root's."""
    patient = start(17, ids=(STRANGER, STRANGER))
    clients = Clients(guarded=True)
    killed(clients, patient, 8, among=(signal.SIGTERM,))
    clients.close()
    unharmed(patient)
