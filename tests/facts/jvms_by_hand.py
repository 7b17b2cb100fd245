"""Processes made by hand: what /proc and a root directory would hold, as a source."""

from __future__ import annotations

from seedstall.engine.case import Case
from seedstall.facts import jvm, process
from seedstall.facts.inputs import input_texts
from seedstall.model.evidence import Ask, Ref, Space, Why
from seedstall.source.base import Held

STAT = b"4711 (java) S 1 4711 4711 0 -1 4194560 0 0 0 0 5 2 0 0 20 0 20 0 1000 0 0" + b" 0" * 30
STATUS = (
    b"Name:\tjava\nState:\tS (sleeping)\nTgid:\t4711\nPid:\t4711\nPPid:\t1\n"
    b"Uid:\t1000\t1000\t1000\t1000\nGid:\t1000\t1000\t1000\t1000\n"
    b"NSpid:\t4711\t17\nThreads:\t20\nSigCgt:\t0000000181005ccf\n"
)
LINE = "7f2515400000-7f2515653000 r--p 00000000 fe:00 2155521 "
SECURITY = b"""\
security.provider.1=SUN
securerandom.source=file:/dev/random
securerandom.strongAlgorithms=NativePRNGBlocking:SUN,DRBG:SUN
security.overridePropertiesFile=true
"""
HOME = "/opt/jdk"
CHARACTER_DEVICE = b"20666 1 8 5 0 0 0"


class Machine:
    """Readings by space, to be filled and then looked at."""

    def __init__(self) -> None:
        self.held: dict[Ref, bytes | Why] = {}

    def process(self, path: str, content: bytes | Why, ask: Ask = Ask.CONTENT) -> Machine:
        self.held[Ref(Space.PROCESS, path, ask)] = content
        return self

    def root(self, path: str, content: bytes | Why, ask: Ask = Ask.CONTENT) -> Machine:
        self.held[Ref(Space.ROOT, path.lstrip("/"), ask)] = content
        return self

    def input(self, name: str, content: bytes) -> Machine:
        """A file handed over; names that begin with ``given/`` are what the user says."""
        self.held[Ref(Space.INPUT, name)] = content
        names = sorted(
            r.path
            for r in self.held
            if r.space is Space.INPUT and not r.path.startswith("given/") and r.path
        )
        listed = b"".join(n.encode() + b"\0" for n in names)
        if names:
            self.held[Ref(Space.INPUT, "", Ask.LIST)] = listed
        return self

    def attach(self, name: str, content: bytes) -> Machine:
        self.held[Ref(Space.ATTACH, name)] = content
        return self

    def without(self, space: Space, path: str, why: Why, ask: Ask = Ask.CONTENT) -> Machine:
        self.held[Ref(space, path, ask)] = why
        return self

    @property
    def case(self) -> Case:
        return Case(Held(dict(self.held)), (*jvm.PROVIDERS, *process.PROVIDERS, input_texts))


def running(
    *argv: str,
    home: str = HOME,
    exe: str = "",
    environ: dict[str, str] | None = None,
    version: str = "17.0.15",
    security: bytes | None = SECURITY,
) -> Machine:
    """A JVM of that command line, with its files."""
    old = version.startswith("1.")
    library = f"{home}/lib/amd64/server/libjvm.so" if old else f"{home}/lib/server/libjvm.so"
    machine = Machine()
    machine.process("stat", STAT).process("status", STATUS)
    machine.process("maps", f"{LINE}{library}\n".encode())
    machine.process("exe", (exe or f"{home}/bin/java").encode(), Ask.LINK)
    machine.process("root", b"/", Ask.LINK).process("cwd", b"/app", Ask.LINK)
    machine.process("cmdline", b"".join(a.encode() + b"\0" for a in argv or ("java", "Main")))
    block = "".join(f"{k}={v}\0" for k, v in (environ or {}).items())
    machine.process("environ", block.encode())
    machine.root(f"{home}/release", f'JAVA_VERSION="{version}"\nIMPLEMENTOR="Debian"\n'.encode())
    if security is not None:
        folder = "lib" if old else "conf"
        machine.root(f"{home}/{folder}/security/java.security", security)
    machine.root("/dev/random", CHARACTER_DEVICE, Ask.STAT)
    machine.root("/dev/urandom", b"20666 1 9 5 0 0 0", Ask.STAT)
    return machine
