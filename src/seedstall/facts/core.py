"""The core that the evidence comes from, and what the program's binaries say of themselves."""

from __future__ import annotations

from seedstall.facts.jdk import perf_strings, rooted
from seedstall.knowledge import syscalls
from seedstall.model.core import Binaries, CoreDump, Vdso
from seedstall.model.evidence import Got, Missing, Ref, Space, Unavailable
from seedstall.model.jvm import JavaHome, JvmProcess
from seedstall.parse import procfs
from seedstall.source import probe
from seedstall.source.base import Source

CORE = Ref(Space.PROCESS, "core")
MAX_LINES = 32


def core_dump(source: Source) -> CoreDump:
    """How the core was written, and how much of it is there.

    Raises:
        Unavailable: the evidence is no core.
        ValueError: what the source says of it is malformed.
    """
    reading = source.read(CORE)
    if isinstance(reading, Missing):
        raise Unavailable(reading)
    text = reading.value.decode("utf-8", "surrogateescape")
    pairs = (line.partition(" ") for line in text.split("\n", MAX_LINES)[:MAX_LINES])
    told = {name: value for name, _, value in pairs}
    by_kernel = told.get("by") == "kernel"
    signal = told.get("signal", "")
    return CoreDump(
        name=told.get("name", ""),
        by_kernel=by_kernel,
        signal=int(signal) if signal and by_kernel else None,
        size=int(told["size"]),
        expected=int(told["expected"]),
        threads=int(told["threads"]),
        library=told.get("libjvm", ""),
        build_id=told.get("build-id", ""),
        refused=told.get("libjvm-refused", ""),
        sysroot=told.get("sysroot") == "1",
    )


def binaries(source: Source, home: JavaHome | None, process: JvmProcess | None) -> Binaries:
    """The program's machine and C library, its virtual machine's own words, the kernel's vDSO.

    Raises:
        Unavailable: its mappings may not be read.
    """
    maps = source.read(Ref(Space.PROCESS, "maps"))
    if isinstance(maps, Missing):
        raise Unavailable(maps)
    machine, bits = _machine(source)
    told = perf_strings(source, process)
    banner = told.get("sun.rt.internalVersion", "")
    vendor = told.get("java.property.java.vm.vendor", "")
    library = home.libjvm if home is not None and not home.replaced else ""
    if library and not banner:
        banner, vendor = _of_library(source, library)
    return Binaries(
        machine=machine,
        bits=bits,
        libc=_libc(maps.value),
        banner=banner,
        vendor=vendor,
        native_image=not library and _is_native_image(source),
        vdso=_vdso(source),
    )


def _machine(source: Source) -> tuple[str, int | None]:
    reading = source.read(Ref(Space.PROCESS, "exe-header"))
    try:
        number, bits = procfs.elf_machine(reading.value) if isinstance(reading, Got) else (0, 0)
    except ValueError:
        return "", None
    return syscalls.machine_of(number, bits), bits or None


def _libc(maps: bytes) -> str:
    """By the dynamic loader's and library's name: musl's is both in one file."""
    for name in procfs.mapped_files(maps):
        file = name.rpartition("/")[2]
        if file.startswith(("ld-musl-", "libc.musl-")):
            return "musl"
        if file == "libc.so.6" or (file.startswith("libc-2.") and file.endswith(".so")):
            return "glibc"
    return ""


def _of_library(source: Source, path: str) -> tuple[str, str]:
    reading = source.read(rooted(path))
    if isinstance(reading, Missing):
        return "", ""
    from seedstall.parse.elf import jvm_banner, jvm_vendor  # noqa: PLC0415 - the last resort

    try:
        return jvm_banner(reading.value), jvm_vendor(reading.value)
    except ValueError:
        return "", ""


def _is_native_image(source: Source) -> bool:
    reading = source.read(Ref(Space.PROCESS, "exe-sections"))
    if isinstance(reading, Missing):
        return False
    from seedstall.parse.nativeimage import is_native_image  # noqa: PLC0415 - no HotSpot is mapped

    return is_native_image(reading.value)


def _vdso(source: Source) -> Vdso | None:
    reading = source.read(probe.VDSO)
    if isinstance(reading, Missing):
        return None
    from seedstall.parse.vdso import vdso  # noqa: PLC0415 - for the facts of a report alone

    try:
        return vdso(reading.value)
    except ValueError:
        return None


PROVIDERS = (core_dump, binaries)
