"""What the walk must know of a JVM beside its tables: its release and a few of its flags."""

from __future__ import annotations

from seedstall.model.jdk import JdkVersion, VmFamily
from seedstall.model.record import dataclass
from seedstall.parse.hotspot.memory import BadAddressError, Pages
from seedstall.parse.jdkversion import vm_banner
from seedstall.parse.vmstructs import LackingError, Names, Strings, Tables, unpacked_rows

KNOWN = (8, 11, 17, 21, 25)
"""The releases whose stacks were compared with the JVM's own dumps, frame by frame (``make matrix``). Between them
names and layouts changed (21 to 25: nmethod), so no other release is taken for one of these."""
MAX_FLAGS = 10_000
MAX_BANNER = 400
FLAGS = (
    "UseCompressedOops",
    "UseCompressedClassPointers",
    "UseCompactObjectHeaders",
    "UseZGC",
    "ZGenerational",
)


class UnknownReleaseError(ValueError):
    """A JVM whose layout nobody has checked: its stacks would be guesses."""


@dataclass(frozen=True)
class Release:
    """Which JVM it is. ``banner`` is its own line; ``flags`` holds those of `FLAGS` that it has."""

    banner: str
    jdk: JdkVersion
    flags: dict[str, bool]

    @property
    def feature(self) -> int:
        """The JDK's feature release: 8, 11, ..."""
        return self.jdk.feature

    def flag(self, name: str) -> bool:
        """Whether that flag is on; a JVM that lacks it has it off."""
        return self.flags.get(name, False)


def release(pages: Pages, tables: Tables) -> Release:
    """Read it.

    Raises:
        UnknownReleaseError: it is none of `KNOWN`, or does not say which.
        LackingError: a table lacks what every HotSpot since 8 has.
        BadAddressError: a pointer leads nowhere (a JVM that has just been started).
    """
    pointer = pages.u64(tables.static("Abstract_VM_Version._s_internal_vm_info_string"))
    banner = pages.text(pointer, MAX_BANNER) if pointer else ""
    jdk = vm_banner(banner)
    if jdk is None:
        raise UnknownReleaseError("the JVM does not say which release it is")
    if jdk.family is not VmFamily.HOTSPOT or jdk.feature not in KNOWN:
        known = ", ".join(map(str, KNOWN))
        raise UnknownReleaseError(
            f"this is JDK {jdk}; Java stacks are read from the memory of JDK {known} only, where they were compared"
            " with the JVM's own"
        )
    return Release(banner, jdk, _flags(pages, tables))


def _flags(pages: Pages, tables: Tables) -> dict[str, bool]:
    kind = "JVMFlag" if "JVMFlag" in tables.sizes else "Flag"
    size = tables.size(kind)
    name, value = tables.offset(f"{kind}._name"), tables.offset(f"{kind}._addr")
    start = pages.u64(tables.static(f"{kind}.flags"))
    count = min(pages.u64(tables.static(f"{kind}.numFlags")), MAX_FLAGS)
    if not start or not size or max(name, value) + 8 > size:
        raise LackingError("the JVM's flags are not set up yet")
    data = pages.read(start, count * size) if count else b""
    rows = [(row[0], row[1]) for row in unpacked_rows(data, [(name, "Q"), (value, "Q")], size)]
    strings = Strings(pages)
    strings.take_in(pointer for pointer, _ in rows)
    addresses = Names(strings, rows)
    return {flag: bool(pages.u8(addresses[flag])) for flag in FLAGS if flag in addresses}


__all__ = ["BadAddressError", "Release", "UnknownReleaseError", "release"]
