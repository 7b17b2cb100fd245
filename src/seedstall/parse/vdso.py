"""The vDSO: a library that the kernel maps into every process. It says which kernel that is."""

from __future__ import annotations

from seedstall.model.core import Vdso
from seedstall.parse import elfcore
from seedstall.parse.hotspot.memory import PAGE, BadAddressError, Pages
from seedstall.parse.hotspot.symbols import Exported

MAX_SIZE = 1 << 20
_GETRANDOM = "__vdso_getrandom"
_VERSION_CODE = 0
_BUILD_SALT = 0x100
"""LINUX_ELFNOTE_BUILD_SALT (include/linux/build-salt.h, 4.19)."""
_SHORTEST = len("3.10.0")


def vdso(image: bytes) -> Vdso:
    """What an image says.

    Its note holds LINUX_VERSION_CODE (arch/x86/entry/vdso/note.S), of which a sublevel above 255 is cut to 255. The
    build salt is the release's text where a distribution sets it to that (RHEL, Fedora, Amazon Linux); a configuration
    that was taken from another kernel has that one's, so it counts only where it begins with the version.

    Raises:
        ValueError: it is no ELF image, or has no such note.
    """
    version, salt = "", ""

    def read(offset: int, length: int) -> bytes:
        return image[offset : offset + length]

    for kind, data in elfcore.owned_notes(read, b"Linux"):
        if kind == _VERSION_CODE and len(data) == 4:  # noqa: PLR2004 - a 32-bit number
            code = int.from_bytes(data, "little")
            version = f"{code >> 16}.{code >> 8 & 0xFF}.{code & 0xFF}"
        elif kind == _BUILD_SALT:
            salt = data.rstrip(b"\0")[:80].decode("ascii", "replace")
    if not version:
        raise ValueError("this vDSO does not name its kernel's version")
    fits = len(salt) > _SHORTEST and salt.startswith((f"{version}-", f"{version}."))
    return Vdso(salt if fits and salt.isprintable() else version, _exports(image))


def _exports(image: bytes) -> bool | None:
    try:
        return Exported(Pages(_Image(image)), 0).address(_GETRANDOM) is not None
    except ValueError:
        return None


class _Image:
    """An image as memory that begins at address 0."""

    def __init__(self, image: bytes) -> None:
        self._image = image[:MAX_SIZE].ljust(-(-len(image[:MAX_SIZE]) // PAGE) * PAGE, b"\0")

    def read(self, address: int, length: int) -> bytes:
        data = self._image[address : address + length]
        if len(data) < length:
            raise BadAddressError("behind the end of the image")
        return data
