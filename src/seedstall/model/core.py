"""A core file as evidence, and what a process's binaries say of themselves."""

from __future__ import annotations

from seedstall.model.record import dataclass

CANNOT_TELL = (
    "what its descriptors were open on, but for a file that a Java frame reads",
    "how long it had waited",
    "the settings and counts of its kernel's random device",
    "which entropy daemons ran",
    "the files of its host, but for those below --sysroot",
    "the names of threads that are not Java's",
)
"""What no core holds."""
NO_FILES = "a core holds no files: say --sysroot DIR, the root of its host or image"


@dataclass(frozen=True, slots=True)
class CoreDump:
    """The core that the evidence comes from.

    ``by_kernel`` is false for one that gdb's gcore wrote. ``signal`` is what ended the process, ``None`` where nothing
    did (gcore). ``size`` and ``expected`` are bytes: less than expected is a core cut short. ``build_id`` is that of
    ``library``, its libjvm.so, in hex; ``refused`` why the file of that name on this host, or below the sysroot, is not
    the one that ran.
    """

    name: str
    by_kernel: bool
    signal: int | None
    size: int
    expected: int
    threads: int
    library: str = ""
    build_id: str = ""
    refused: str = ""
    sysroot: bool = False

    @property
    def is_cut(self) -> bool:
        """Whether less of it is there than it says it has."""
        return self.size < self.expected

    @property
    def held(self) -> str:
        """``95 of 350 MiB are there``."""
        return f"{self.size >> 20} of {self.expected >> 20} MiB are there"


@dataclass(frozen=True, slots=True)
class Vdso:
    """The code that the kernel maps into each process: it names its version.

    ``release`` is ``A.B.C``, or the whole release where the kernel was built with one (CONFIG_BUILD_SALT) that fits.
    ``getrandom`` is whether it exports ``__vdso_getrandom`` (x86 since 6.11), ``None`` where that could not be read.
    """

    release: str
    getrandom: bool | None


@dataclass(frozen=True, slots=True)
class Binaries:
    """What the program and its libraries are, read and never run. What is not known is ``""`` or ``None``.

    ``machine`` and ``bits`` are the program's; ``libc`` is ``glibc`` or ``musl``; ``banner`` is what the virtual
    machine says of itself, ``vendor`` who made it; ``native_image`` whether the program is a GraalVM native image.
    """

    machine: str = ""
    bits: int | None = None
    libc: str = ""
    banner: str = ""
    vendor: str = ""
    native_image: bool = False
    vdso: Vdso | None = None
