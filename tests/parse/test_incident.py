from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seedstall.model.incident import Incident, IncidentKind
from seedstall.parse.incident import FULL_MANY, incidents


def kinds(text: str) -> dict[IncidentKind, Incident]:
    return {incident.kind: incident for incident in incidents(text, "x")}


@pytest.mark.parametrize(
    ("line", "kind", "value"),
    [
        ("  Warning  Unhealthy  kubelet  Liveness probe failed: statuscode: 503", IncidentKind.PROBE, None),
        ("  Warning  Unhealthy  kubelet  Startup probe failed: dial tcp: connection refused", IncidentKind.PROBE, None),
        ("systemd[1]: tomcat.service: start operation timed out. Terminating.", IncidentKind.START_TIMEOUT, None),
        ("systemd[1]: tomcat.service: Start operation timed out. Terminating.", IncidentKind.START_TIMEOUT, None),
        ("     Active: failed (Result: timeout) since Mon", IncidentKind.START_TIMEOUT, None),
        ("      Reason:       OOMKilled", IncidentKind.OUT_OF_MEMORY_KILL, None),
        ('            "OOMKilled": true,', IncidentKind.OUT_OF_MEMORY_KILL, None),
        ("Out of memory: Kill process 4242 (java) score 912 or sacrifice child", IncidentKind.OUT_OF_MEMORY_KILL, None),
        ("Memory cgroup out of memory: Killed process 4242 (java) total-vm:1kB", IncidentKind.OUT_OF_MEMORY_KILL, None),
        ("      Exit Code:    137", IncidentKind.SIGNAL, 137),
        ("1f2e  tomcat:10  Exited (143) 2 minutes ago", IncidentKind.SIGNAL, 143),
        ("tomcat.service: Main process exited, code=killed, status=9/KILL", IncidentKind.SIGNAL, None),
        ("tomcat.service: Main process exited, code=exited, status=143/n/a", IncidentKind.SIGNAL, 143),
        ("java.lang.OutOfMemoryError: Java heap space", IncidentKind.HEAP, None),
        ("# There is insufficient memory for the Java Runtime Environment to continue.", IncidentKind.HEAP, None),
        ("java.net.BindException: Address already in use", IncidentKind.PORT, None),
        ("Web server failed to start. Port 8080 was already in use.", IncidentKind.PORT, 8080),
        ("java.io.IOException: No space left on device", IncidentKind.DISK, None),
        ("java.io.FileNotFoundException: /x (Too many open files)", IncidentKind.FILES, None),
        ("Waiting for changelog lock....", IncidentKind.SCHEMA_LOCK, None),
        ("NoSuchAlgorithmException: No strong SecureRandom impls available: X", IncidentKind.NO_STRONG, None),
        ("# SafepointSynchronize::begin: Timeout detected:", IncidentKind.SAFEPOINT, None),
        ("Listening for transport dt_socket at address: 5005\n\n", IncidentKind.DEBUGGER, None),
    ],
)  # fmt: skip
def test_a_line_says_what_happened(line: str, kind: IncidentKind, value: int | None) -> None:
    incident = kinds(f"first\n{line}")[kind]
    assert (incident.line, incident.value, incident.count) == (2, value, 1)


@pytest.mark.parametrize(
    "line",
    [
        '            "OOMKilled": false,',
        "      Exit Code:    0",
        "1f2e  tomcat:10  Exited (0) 2 minutes ago",
        "Process: 812 ExecStart=/opt/x (code=exited, status=0/SUCCESS)",
        "Listening for transport dt_socket at address: 5005\nHello from the program",
        "a mail about liveness probes and memory",
    ],
)
def test_a_line_that_says_nothing_of_the_kind(line: str) -> None:
    assert incidents(line, "x") == ()


def test_the_first_of_its_kind_with_their_number() -> None:
    found = kinds("\n".join(["x", *["java.lang.OutOfMemoryError: Metaspace"] * 7]))
    assert (found[IncidentKind.HEAP].line, found[IncidentKind.HEAP].count) == (2, 7)


@pytest.mark.parametrize(
    "line",
    [
        "[12.345s][info][gc] GC(41) Pause Full (Allocation Failure) 23M->23M(24M) 31.224ms",
        "12.345: [Full GC (Ergonomics) [PSYoungGen: 1K->1K(2K)] 23M->23M(24M), 0.0312240 secs] [Times: user=0.05]",
    ],
)
def test_full_collections_one_after_another(line: str) -> None:
    assert IncidentKind.COLLECTIONS in kinds("\n".join([line] * FULL_MANY))
    assert IncidentKind.COLLECTIONS not in kinds("\n".join([line] * (FULL_MANY - 1)))


@given(st.binary(max_size=3000))
def test_any_bytes_are_read(data: bytes) -> None:
    assert all(incident.excerpt for incident in incidents(data, "x") if incident.count)


@pytest.mark.parametrize(
    "piece", ["Pause Full", "[Full GC", "Exit Code: ", "OOMKilled", "ut of memory: Kill"]
)
def test_twice_as_much_takes_about_twice_as_long(piece: str) -> None:
    def took(size: int) -> float:
        text = (piece * (size // len(piece))).encode()
        began = time.process_time()
        incidents(text, "x")
        return time.process_time() - began

    took(100_000)
    assert took(800_000) < 16 * max(took(100_000), 0.02)
