from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seedstall.model.incident import Incident, IncidentKind
from seedstall.parse.incident import FULL_MANY, incidents, merged


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
        ("1f2e  tomcat:10  Exited (143) 2 minutes ago", IncidentKind.TERMINATED, 143),
        ("tomcat.service: Main process exited, code=killed, status=9/KILL", IncidentKind.SIGNAL, None),
        ("tomcat.service: Main process exited, code=exited, status=143/n/a", IncidentKind.TERMINATED, 143),
        ("tomcat.service: Main process exited, code=killed, status=15/TERM", IncidentKind.TERMINATED, None),
        ("Normal  Killing  Container app failed liveness probe, will be restarted", IncidentKind.PROBE_KILL, None),
        ("      Reason:       CrashLoopBackOff", IncidentKind.RESTARTS, None),
        ("app-7d9f   0/1     CrashLoopBackOff   7 (2m ago)   20m", IncidentKind.RESTARTS, 7),
        ("app-7d9f   0/1     OOMKilled   3   5m", IncidentKind.OUT_OF_MEMORY_KILL, None),
        ("    Restart Count:  4", IncidentKind.RESTARTS, 4),
        ("app.service: Scheduled restart job, restart counter is at 5.", IncidentKind.RESTARTS, 5),
        ("2026-11-30 10:00:00 ERROR [main] c.e.X - java.lang.OutOfMemoryError: Metaspace", IncidentKind.HEAP, None),
        ('Exception in thread "main" java.lang.OutOfMemoryError: Java heap space', IncidentKind.HEAP, None),
        ("app_1  | Caused by: java.lang.OutOfMemoryError: unable to create native thread", IncidentKind.HEAP, None),
        ("cp: error writing '/x': No space left on device", IncidentKind.DISK, None),
        ("nginx: bind() to 0.0.0.0:80 failed (98: Address already in use)", IncidentKind.PORT, None),
        ("Could not acquire change log lock.  Currently locked by h since 1/1/26", IncidentKind.SCHEMA_LOCK, None),
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
        'When a pod shows OOMKilled, raise limits.memory. A "Liveness probe failed" event means the kubelet',
        'If you see java.lang.OutOfMemoryError in the log, or "Address already in use", look at the port.',
        "`Exit Code: 137` means SIGKILL. Too many open files: ulimit -n. No space left on device: df.",
        'systemd prints "start operation timed out" and (Result: timeout).',
        "SafepointSynchronize::begin: Timeout detected is printed with -XX:+SafepointTimeout.",
        "NoSuchAlgorithmException: No strong SecureRandom impls available is thrown if no generator",
        "Waiting for changelog lock is what Liquibase prints.",
        "docker ps shows `Exited (137)` then",
        "Warning  Unhealthy  kubelet  Readiness probe failed: HTTP probe failed with statuscode: 503",
        "-XX:+ExitOnOutOfMemoryError -XX:OnOutOfMemoryError=kill",
        "    Restart Count:  0",
        "app.service: State 'stop-sigterm' timed out. Killing.\napp.service: Failed with result 'timeout'.",
        "catch (java.lang.OutOfMemoryError e) {",
        "app-7d9f   1/1     Running   0   5m",
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


FULL = "[12.345s][info][gc] GC(41) Pause Full (Allocation Failure) 23M->23M(24M) 31.224ms"


def test_full_collections_of_months_are_none() -> None:
    young = (
        "[12.345s][info][gc] GC(41) Pause Young (Normal) (G1 Evacuation Pause) 23M->3M(24M) 1.224ms"
    )
    assert incidents("\n".join([FULL, *[young] * 50] * 40), "x") == ()
    asked = FULL.replace("Allocation Failure", "System.gc()")
    assert incidents("\n".join([asked] * 40), "x") == (), "RMI asks for one every hour"


def test_whom_the_line_names() -> None:
    found = kinds(
        "Memory cgroup out of memory: Killed process 4242 (mysqld) total-vm:1kB\n"
        "tomcat.service: start operation timed out. Terminating.\n"
        "[safepoint] # SafepointSynchronize::begin: Timeout detected:\n"
        "# SafepointSynchronize::begin: Threads which did not reach the safepoint:\n"
        '# "worker 1" #12 prio=5 os_prio=0 tid=0x1 nid=0x2 runnable\n'
        "Could not acquire change log lock.  Currently locked by web1 (10.0.0.1) since 1/1/26\n"
    )
    assert {kind: incident.who for kind, incident in found.items()} == {
        IncidentKind.OUT_OF_MEMORY_KILL: "mysqld",
        IncidentKind.START_TIMEOUT: "tomcat.service",
        IncidentKind.SAFEPOINT: "worker 1",
        IncidentKind.SCHEMA_LOCK: "web1 (10.0.0.1)",
    }


def test_two_parts_of_a_text_say_it_together() -> None:
    first = incidents("x\njava.lang.OutOfMemoryError: Metaspace", "x")
    second = incidents("java.lang.OutOfMemoryError: Metaspace\n\nOOMKilled: true", "x")
    heap, killed = merged(first, second)
    assert (heap.line, heap.count, heap.last) == (2, 2, 1)
    assert killed.kind is IncidentKind.OUT_OF_MEMORY_KILL
    assert merged((), first) == first


@given(st.binary(max_size=3000))
def test_any_bytes_are_read(data: bytes) -> None:
    assert all(incident.excerpt for incident in incidents(data, "x") if incident.count)


@pytest.mark.parametrize(
    "piece",
    [
        *("Pause Full (", "[Full GC (", "Exit Code: ", "OOMKilled", "ut of memory: Kill"),
        *(
            'rror Address already in use"',
            "ERROR java.lang.OutOfMemoryError",
            'Exception No space left on device"',
        ),
        *("rror " * 80 + "Too many open files'\n", "ERROR " * 60 + "was already in use\n"),
    ],
)
def test_twice_as_much_takes_about_twice_as_long(piece: str) -> None:
    def took(size: int) -> float:
        text = (piece * (size // len(piece))).encode()
        began = time.process_time()
        incidents(text, "x")
        return time.process_time() - began

    took(100_000)
    assert took(800_000) < 16 * max(took(100_000), 0.02)
