"""ELF files: what a libjvm.so and a ``java`` program say of their version. Nothing of them is ever run."""

from __future__ import annotations

import re
from io import BytesIO
from typing import Any, cast

MAX_SECTIONS = 4_096
MAX_RODATA = 64 * 1024 * 1024
"""Bytes of ``.rodata`` searched: HotSpot's has 0.5 to 3 MB."""
MAX_PLACES = 100
_MAGIC = b"\x7fELF"
_JRE = b" JRE ("
_BANNER = re.compile(
    rb"[A-Za-z0-9 .()\-]{1,60}VM \([^()\0\n]{1,80}\) for [^()\0\n]{1,60} JRE \([^()\0\n]{1,80}\)"
)
_LAUNCHER = re.compile(
    rb"\0((?:1\.[5-8]\.[0-9](?:_[0-9]{1,4})?|[0-9]{1,2}(?:\.[0-9]{1,4}){0,4}\+[0-9]{1,4})"
    rb"(?:-[0-9A-Za-z.+_~\-]{0,60})?)(?=\0)"
)


def launcher_version(data: bytes) -> str:
    """The full version that a ``java``, ``jarsigner`` or ``keytool`` was built with: ``1.8.0_504-8u504-ga-1-b01``.

    It is the launcher's ``const_full_version`` (``make/CompileLaunchers.gmk`` up to 8, ``VERSION_STRING`` since), a
    constant of its own in a file of some 15 kB: cheaper to have than libjvm.so's.

    Raises:
        ValueError: it is no ELF file, or holds no such constant, or several that differ.
    """
    _require_elf(data)
    found = {match[1].decode("ascii") for match in _LAUNCHER.finditer(data)}
    if len(found) != 1:
        raise ValueError("this program does not say which JDK it is of")
    return found.pop()


def jvm_banner(data: bytes) -> str:
    """What a libjvm.so says of itself: ``OpenJDK 64-Bit Server VM (25.504-b01) for linux-amd64 JRE (1.8.0_504-b08)``.

    HotSpot keeps the line whole (``Abstract_VM_Version::internal_vm_info_string``, put together by the compiler), so it
    stands in ``.rodata`` as it is.

    Raises:
        ValueError: it is no ELF file, or has no such line.
    """
    _require_elf(data)
    constants = _rodata(data)
    at = constants.find(_JRE)
    for _ in range(MAX_PLACES):
        if at < 0:
            break
        found = _BANNER.search(constants, max(0, at - 250), at + 100)
        if found is not None:
            return found[0].decode("ascii", "replace").strip()
        at = constants.find(_JRE, at + 1)
    raise ValueError("this library does not say which JVM it is")


VENDORS = (
    "Eclipse Adoptium",
    "Adoptium",
    "AdoptOpenJDK",
    "Amazon.com Inc.",
    "Azul Systems, Inc.",
    "BellSoft",
    "Debian",
    "Ubuntu",
    "Red Hat, Inc.",
    "Microsoft",
    "SAP SE",
    "SAP AG",
    "GraalVM Community",
    "Alibaba",
    "Tencent",
    "Huawei Technologies Co., Ltd",
    "JetBrains s.r.o.",
    "Private Build",
    "Arch Linux",
    "Alpine",
    "NixOS",
    "Oracle Corporation",
)
"""Values of ``java.vm.vendor`` that builds are known to have. Oracle's name stands last: 8 has it in every build."""


def jvm_vendor(data: bytes) -> str:
    """Who made a libjvm.so, by the constant behind ``java.vm.vendor``; ``""`` for a name we do not know.

    Raises:
        ValueError: it is no ELF file, or a damaged one.
    """
    _require_elf(data)
    constants = _rodata(data)
    # A linker lets a string end another one ("17.0.9-Debian"): whole strings are looked for first.
    for before in (b"\0", b"-", b" "):
        for name in VENDORS:
            if before + name.encode() + b"\0" in constants:
                return name
    return ""


def _require_elf(data: bytes) -> None:
    if not data.startswith(_MAGIC):
        raise ValueError("not an ELF file")


def _rodata(data: bytes) -> bytes:
    """The read-only constants. pyelftools trusts what it reads: any of its failures is a malformed file."""
    from elftools.elf.elffile import ELFFile  # noqa: PLC0415 - costs 50 ms, and is the last resort

    try:
        elf = cast("Any", ELFFile(BytesIO(data)))
        count = min(int(elf.num_sections()), MAX_SECTIONS)
        named = (elf.get_section(index) for index in range(count))
        found = next((section for section in named if section.name == ".rodata"), None)
        place = (0, 0) if found is None else (int(found["sh_offset"]), int(found["sh_size"]))
    except Exception as error:
        raise ValueError(f"damaged ELF file: {type(error).__name__}") from error
    if not place[1] and not count:
        return data[:MAX_RODATA]  # an image from memory: sections are not loaded, constants are
    if not place[1]:
        raise ValueError("no constants in this file")
    return data[place[0] : place[0] + min(place[1], MAX_RODATA)]
