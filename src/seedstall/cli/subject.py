"""Which java a ``verify`` or ``bench jvm`` runs, in whose place, and under which settings."""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from seedstall.effect.demo import find_java
from seedstall.effect.experiment import CHARSET, PROPERTIES, Subject
from seedstall.engine.case import Case
from seedstall.engine.diagnosis import case_of
from seedstall.engine.experiment import STRONG_OPTION
from seedstall.facts.jdk import rooted
from seedstall.facts.launch import working_directory
from seedstall.facts.seedsource import EGD
from seedstall.knowledge.egd import right_egd
from seedstall.knowledge.seedsource import Target, destination
from seedstall.model.errors import NoSuchTargetError, SeedstallError
from seedstall.model.evidence import Ask, Got, Missing, Ref, Space
from seedstall.model.jdk import LAST_ONE_DOT, JdkVersion, VmFamily
from seedstall.model.jvm import JavaHome, JvmProcess, Launch, Product
from seedstall.model.kernel import KernelRandom, RandomDevices
from seedstall.model.security import SecurityProperties
from seedstall.model.seeding import SeedSource
from seedstall.model.trial import FIX, PRESENT, STRONG, Setting
from seedstall.parse.security import EXTRA
from seedstall.source import detect, inputs
from seedstall.source.base import Combined
from seedstall.source.host import HostSource

_OPTION_VARIABLES = ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS")
_OURS = f"-D{EXTRA}=@DIR@/{PROPERTIES}"
_RANDOM = (1, 8)
_CHOOSES_PROVIDERS = (
    "com.redhat.fips",
    "java.security.disableSystemPropertiesFile",
    "semeru.fips",
    "semeru.customprofile",
    "java.ext.dirs",
    "java.endorsed.dirs",
)
"""System properties that decide which providers a JVM has: Red Hat's, SUSE's and Semeru's FIPS modes, and the folders
in which a JDK 8 finds providers."""


@contextmanager
def refused_by_the_host() -> Generator[None]:
    """Limits on processes or descriptors, a full or read-only disk: said in a sentence.

    Raises:
        SeedstallError: a file or process was refused.
    """
    try:
        yield
    except (BrokenPipeError, SeedstallError):
        raise
    except OSError as error:
        what = f" ({error.filename})" if error.filename else ""
        raise SeedstallError(
            f"this host refused a process or file that is needed{what}: {error.strerror or error}",
            "ulimit -n, ulimit -u and the room in TMPDIR tell why",
        ) from error


@dataclass(frozen=True, slots=True)
class Chosen:
    """What is tried. A context manager: it keeps the process's ``/proc`` open."""

    subject: Subject
    settings: tuple[Setting, ...]
    words: str
    notes: tuple[str, ...]
    source: HostSource
    kernel: KernelRandom | None = None

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close what was kept open."""
        self.source.close()


# --- a java that was named --------------------------------------------------------------------------------------------


def of_java(
    given: Path | None, sysroot: Path | None, egd: str | None, set_egd: str | None
) -> Chosen:
    """That java, or the PATH's, as its own JDK is set up.

    Raises:
        NoSuchTargetError: it is not there.
    """
    if sysroot is not None:
        if not sysroot.is_dir():
            raise NoSuchTargetError(
                f"{sysroot}: no such directory", "--sysroot is a root directory"
            )
        path = f"/{str(given).lstrip('/')}"
        if (sysroot / path[1:]).is_dir():
            path = f"{path.rstrip('/')}/bin/java"
        subject = Subject(path, root=sysroot.resolve())
        words = f"{path} in {sysroot}"
    else:
        java = str(find_java(given))
        subject = Subject(java, cwd=_here())
        words = java
    source = HostSource()
    present = Setting(PRESENT, f"-D{EGD}={egd}" if egd is not None else "", egd)
    settings = _settings(present, egd, set_egd, None, (_OURS,), f"{STRONG_OPTION}\n".encode())
    notes = tuple(_of_variables(os.environ))
    return Chosen(subject, settings, words, notes, source, case_of(source).value(KernelRandom))


def _here() -> str:
    try:
        return str(Path.cwd())
    except OSError:  # deleted under our feet
        return ""


def _of_variables(environment: Mapping[str, str]) -> Iterator[str]:
    for name in _OPTION_VARIABLES:
        if EGD in environment.get(name, ""):
            yield f"{name} of this shell sets {EGD}: not used here; say --egd VALUE to try it"


def _settings(
    present: Setting,
    source: str | None,
    set_egd: str | None,
    jdk: JdkVersion | None,
    strong: tuple[str, ...],
    properties: bytes,
) -> tuple[Setting, ...]:
    """As it is, with the seed source to be proven (unless that is what is set), with the strong list besides."""
    value = set_egd if set_egd is not None else right_egd(jdk).value if jdk else _RIGHT
    found = [present]
    if value != source:
        found.append(Setting(FIX, f"-D{EGD}={value}", value, source=value, options=present.options))
    egd = value if value != source else present.egd
    words = f"{STRONG_OPTION}, appended by -D{EXTRA}"
    found.append(Setting(STRONG, words, egd, value, strong, properties))
    return tuple(found)


_RIGHT = right_egd(JdkVersion(LAST_ONE_DOT)).value


# --- a JVM that runs --------------------------------------------------------------------------------------------------


def of_process(pid: str, egd: str | None, set_egd: str | None) -> Chosen:
    """The java of a JVM, in that JVM's place. It is read and nothing else.

    Raises:
        NoSuchTargetError: it is no JVM, or its java is gone.
        SeedstallError: it is another user's, or its JDK cannot be tried.
    """
    jvms = detect.jvms_of(detect.resolve(pid))
    source = HostSource(jvms[0], memory_too=False)
    try:
        return _of_process(source, jvms, egd, set_egd)
    except BaseException:
        source.close()
        raise


def _of_process(
    source: HostSource, jvms: Sequence[int], egd: str | None, set_egd: str | None
) -> Chosen:
    case = case_of(Combined(source, inputs.given(egd=egd or "")))
    process, home, jdk = _required(case, source)
    java = _java(source, home)
    launch, seed = case.value(Launch), case.value(SeedSource)
    properties = case.value(SecurityProperties)
    own = launch.property_value(EGD) if launch is not None else None
    present_egd = egd if egd is not None and own is None else own
    extra = launch.property_value(EXTRA) if launch is not None else None
    options = tuple(_provider_options(launch))
    options += (f"-D{EXTRA}={extra}",) if extra is not None else ()
    place = "" if seed is None else f"{seed.value or 'no seed source'}, {seed.place}"
    value = seed.value if seed is not None else ""
    present = Setting(PRESENT, place, present_egd, value, options)
    strong, content = _strong(source, extra)
    settings = _settings(present, value, set_egd, jdk, (*options, *strong), content)
    files = properties.files if properties is not None else ()
    subject = Subject(
        java,
        process_fd=-1 if _shares_our_place(source) else source.process_fd,
        user=_user(source, process),
        cwd=working_directory(source) or "/",
        keep=(home.path, *files, *([_extra_path(extra)] if extra else [])),
        env=_charset(source),
    )
    words = f"{java} of {process.pid}"
    notes = tuple(_notes(case, jvms, home, seed))
    if egd is not None and own is not None and egd != own:
        notes += (
            f"--egd {egd} was not used: that process sets {own} itself; --set-egd tries another",
        )
    return Chosen(subject, settings, words, notes, source, case.value(KernelRandom))


def _provider_options(launch: Launch | None) -> Iterator[str]:
    for name in _CHOOSES_PROVIDERS:
        value = launch.property_value(name) if launch is not None else None
        if value is not None:
            yield f"-D{name}={value}"


def _charset(source: HostSource) -> dict[str, str]:
    """The variables of its environment that say in which character set its paths are."""
    reading = source.read(Ref(Space.PROCESS, "environ"))
    pairs = reading.value.split(b"\0") if isinstance(reading, Got) else []
    words = (pair.decode("utf-8", "surrogateescape").partition("=") for pair in pairs)
    return {name: value for name, _, value in words if name in CHARSET}


def _required(case: Case, source: HostSource) -> tuple[JvmProcess, JavaHome, JdkVersion | None]:
    process = case.get(JvmProcess)
    if isinstance(process, Missing):
        raise NoSuchTargetError(f"process {source.pid} cannot be read: {process.detail}")
    if os.geteuid() not in (0, process.value.uid):
        message = f"process {source.pid} is of uid {process.value.uid}: its java cannot be run in its place"
        raise SeedstallError(message, "run as root or as that user; or say --java PATH")
    home, jdk = case.get(JavaHome), case.value(JdkVersion)
    if jdk is not None and jdk.family is VmFamily.GRAAL_NATIVE:
        raise SeedstallError(
            f"process {source.pid} is a GraalVM native image: there is no java to try",
            "its seed source was fixed when it was built",
        )
    if isinstance(home, Missing):
        raise NoSuchTargetError(
            f"the java.home of process {source.pid} is not known: {home.detail or home.why}",
            "say --java PATH",
        )
    if jdk is not None and jdk.feature < LAST_ONE_DOT:
        raise SeedstallError(
            f"process {source.pid} runs JDK {jdk}: the probe needs 8 or later",
            "seedstall diagnose and seedstall fix know what 6 and 7 do",
        )
    return process.value, home.value, jdk


def _java(source: HostSource, home: JavaHome) -> str:
    java = f"{home.path}/bin/java"
    found = source.read(rooted(java, Ask.STAT))
    if isinstance(found, Got):
        return java
    gone = "was deleted or moved since it started" if home.replaced else "has no java program"
    raise NoSuchTargetError(
        f"{home.path} of process {source.pid} {gone}",
        "say --java PATH of the one that the next start will take",
    )


def _shares_our_place(source: HostSource) -> bool:
    """Whether it has our mount namespace and root: then none has to be entered, and that it cannot be is no bar."""
    try:
        for name in ("ns/mnt", "root"):
            theirs = os.stat(name, dir_fd=source.process_fd)
            ours = Path("/proc/self", name).stat()
            if (theirs.st_dev, theirs.st_ino) != (ours.st_dev, ours.st_ino):
                return False
    except OSError:
        return False
    return True


def _user(source: HostSource, process: JvmProcess) -> tuple[int, int, tuple[int, ...]] | None:
    """Its ids, where we may take them on."""
    if os.geteuid() != 0:
        return None
    groups: list[int] = []
    status = source.read(Ref(Space.PROCESS, "status"))
    for line in status.value.splitlines() if isinstance(status, Got) else ():
        if line.startswith(b"Groups:"):
            groups = [int(word) for word in line[7:].split()[:1024] if word.isdigit()]
    return process.uid, process.gid, tuple(groups)


def _extra_path(value: str) -> str:
    path = value.removeprefix("=")
    return destination(path).path if path.startswith("file:") else path


def _strong(source: HostSource, extra: str | None) -> tuple[tuple[str, ...], bytes]:
    """Its own appended file with one line more, since a JVM takes one such file alone."""
    line = f"{STRONG_OPTION}\n".encode()
    if not extra:
        return (_OURS,), line
    path = _extra_path(extra)
    if not path.startswith("/"):
        path = f"{working_directory(source) or ''}/{path}"
    reading = source.read(rooted(path))
    own = reading.value if isinstance(reading, Got) else b""
    sign = "=" if extra.startswith("=") else ""
    return (f"-D{EXTRA}={sign}@DIR@/{PROPERTIES}",), own + b"\n" + line


def _notes(
    case: Case, jvms: Sequence[int], home: JavaHome, seed: SeedSource | None
) -> Iterator[str]:
    if len(jvms) > 1:
        yield f"of {len(jvms)} JVMs ({', '.join(map(str, jvms[:8]))}) the first was tried"
    if home.replaced:
        yield (
            f"the JDK in {home.path} was replaced since that JVM started: what was tried is what the next start"
            " will run"
        )
    if seed is None:
        yield "its settings could not be read: tried with the JDK's own"
    elif seed.assumed:
        yield f"its settings were not seen whole: {seed.place} is assumed"
    if seed is not None and destination(seed.value).target is Target.REMOTE:
        yield "its seed source is a URL: it was tried from this host's network, not the JVM's"
    product = case.value(Product)
    if product is not None and product.asks_for:
        yield f"{product.title} asks for {product.asks_for} while it starts"
    devices = case.value(RandomDevices)
    node = devices.random if devices is not None else None
    if node is not None and node.exists and node.rdev != _RANDOM:
        yield (
            f"its {node.path} is not the kernel's but {node.kind}: whether that blocks was not tried;"
            " what reads it was"
        )
    elif node is not None and not node.exists:
        yield f"it has no {node.path}"
