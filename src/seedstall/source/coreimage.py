"""The memory of a core: what its segments hold, and what they leave out of mapped files.

Nothing is loaded: a core of 400 MB is read in pieces, where they are asked for.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Callable, Sequence

from seedstall.model.evidence import Why
from seedstall.model.record import dataclass
from seedstall.parse import elfcore, javahome
from seedstall.parse.elfcore import MappedFile, Segment
from seedstall.source.closing import Closing

MAX_PIECES = 4_096
"""Pieces of one read: more adjoining mappings than a stack or a table can have."""
_WRITABLE = 2
_FIRST = 4096
"""The page of the ELF header, which the kernel dumps of every library unless told otherwise (coredump_filter bit 4)."""


class File(Closing):
    """A file open for reading. It owns its descriptor."""

    def __init__(self, fd: int) -> None:
        """Read from *fd*."""
        self._fd = fd
        self.size = os.fstat(fd).st_size

    def read(self, offset: int, length: int) -> bytes:
        """Bytes from *offset*; fewer, or none, behind its end."""
        length = min(length, self.size - offset)
        if length <= 0 or offset < 0:
            return b""
        try:
            return os.pread(self._fd, length, offset)
        except OSError:
            return b""

    def close(self) -> None:
        """Close it."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
            self.size = 0


@dataclass(frozen=True)
class Gap:
    """Memory that cannot be had."""

    why: Why
    detail: str


_NOTHING = Gap(Why.ABSENT, "not in the core")


class CoreMemory:
    """Memory by address."""

    def __init__(
        self,
        core: File,
        segments: Sequence[Segment],
        files: Sequence[MappedFile],
        open_file: Callable[[bytes], File | str],
        *,
        told: bool = False,
    ) -> None:
        """*open_file* gives the file of a path that was mapped, or why there is none.

        *told* is whether a person said where they lie: then only what contradicts the core is refused.
        """
        self._told = told
        self._core = core
        self._segments = sorted(segments)
        self._starts = [s.start for s in self._segments]
        self._files = sorted(files)
        self._file_starts = [f.start for f in self._files]
        self._open_file = open_file
        self._backings: dict[bytes, File | str] = {}
        self.refusals: dict[bytes, str] = {}
        """Files that were found and are not those that were mapped: why, by path."""

    def close(self) -> None:
        """Close the mapped files."""
        for file in self._backings.values():
            if isinstance(file, File):
                file.close()
        self._backings.clear()

    def segment(self, address: int) -> Segment | None:
        """The segment that holds *address*."""
        at = bisect_right(self._starts, address) - 1
        found = self._segments[at] if at >= 0 else None
        return found if found is not None and address < found.end else None

    def file_at(self, address: int) -> MappedFile | None:
        """The file that is mapped at *address*."""
        at = bisect_right(self._file_starts, address) - 1
        found = self._files[at] if at >= 0 else None
        return found if found is not None and address < found.end else None

    def read(self, address: int, length: int) -> bytes | Gap:
        """All of these bytes, or why not."""
        piece = self._piece(address, length)
        if isinstance(piece, Gap) or len(piece) == length:
            return piece
        parts = [piece]
        have = len(piece)
        while have < length and len(parts) < MAX_PIECES:
            piece = self._piece(address + have, length - have)
            if isinstance(piece, Gap):
                return piece
            parts.append(piece)
            have += len(piece)
        return b"".join(parts) if have == length else _NOTHING

    def from_here(self, address: int, limit: int) -> bytes:
        """What lies in the one segment from *address* on, at most *limit* bytes."""
        segment = self.segment(address)
        if segment is None or address >= segment.start + segment.held:
            return b""
        return self._core.read(
            segment.offset + address - segment.start,
            min(limit, segment.start + segment.held - address),
        )

    def _piece(self, address: int, length: int) -> bytes | Gap:
        """The first bytes of a span: as many as one segment, or one file, has."""
        segment = self.segment(address)
        held = segment.start + segment.held if segment is not None else 0
        if segment is not None and address < held:
            size = min(length, held - address)
            data = self._core.read(segment.offset + address - segment.start, size)
            if data:
                return data
            # Of a core that is cut: what cannot be written to is as it was in its file.
            found = _NOTHING if segment.flags & _WRITABLE else self._from_file(address, size)
            return (
                found
                if isinstance(found, bytes)
                else Gap(Why.TRUNCATED, "the core is cut before it")
            )
        # What follows in a segment without bytes was left out (coredump_filter), or was never touched.
        following = bisect_right(self._starts, address)
        if segment is None and following < len(self._starts):
            length = min(length, self._starts[following] - address)
        if segment is not None:
            length = min(length, segment.end - address)
        return self._from_file(address, length)

    def _from_file(self, address: int, length: int) -> bytes | Gap:
        file = self.file_at(address)
        if file is None:
            return _NOTHING
        backing = self.backing(file.path)
        if not isinstance(backing, File):
            return self._gap(file.path, backing)
        length = min(length, file.end - address)
        data = backing.read(file.offset + address - file.start, length)
        if not data:
            return Gap(Why.ABSENT, f"behind the end of {os.fsdecode(file.path)}")
        # The rest of a file's last page is zero.
        return (
            data
            if len(data) == length
            else data.ljust(min(length, -(-len(data) // 4096) * 4096), b"\0")
        )

    def _gap(self, path: bytes, told: str) -> Gap:
        """Without the virtual machine's library nothing can be made of the rest: that is said at once."""
        if path in self.refusals:
            return Gap(Why.REFUSED, f"pages of it are left out of the core, and {told}")
        library = path.endswith(b"/libjvm.so")
        hint = "; say --sysroot DIR" if not self._told else ""
        detail = f"left out of the core (coredump_filter), and not to be had here: {told}{hint}"
        return Gap(Why.NOT_COLLECTED if library else Why.ABSENT, detail)

    # --- mapped files ------------------------------------------------------------------------------------------------

    def backing(self, path: bytes) -> File | str:
        """The very file that was mapped as *path*; else why it is not to be had, or not to be trusted."""
        if path not in self._backings:
            self._backings[path] = ""  # a JDK's file asks for its libjvm.so, which never asks back
            self._backings[path] = self._checked(path)
        return self._backings[path]

    def _checked(self, path: bytes) -> File | str:
        file = self._open_file(path)
        if isinstance(file, str):
            return file
        ours, theirs = elfcore.build_id(file.read), self.build_id(path)
        if ours is None:
            return file if self._told or self._beside_jvm(path) else self._unsure(path, file)
        base = self._base(path)
        first = self.from_here(base, _FIRST) if base is not None else b""
        if not first:
            return file if self._told else self._unsure(path, file)
        # Builds without an id (Temurin's up to 21) are told by their first page: it has the size of every segment, and
        # the hash values of the first exported names.
        if (ours or theirs) and ours == theirs:
            return file
        if not (ours or theirs) and first == file.read(0, len(first)):
            return file
        file.close()
        how = f"build id {_id(ours)}, the core's is {_id(theirs)}"
        if not (ours or theirs):
            how = "neither has a build id, and their headers differ"
        self.refusals[path] = f"{os.fsdecode(path)} here is not the one that ran: {how}"
        return self.refusals[path]

    def _unsure(self, path: bytes, file: File) -> str:
        file.close()
        return f"whether {os.fsdecode(path)} here is the one that was mapped is not known"

    def _beside_jvm(self, path: bytes) -> bool:
        """Whether the file belongs to the JDK whose libjvm.so is the very one (its CDS archive, its modules)."""
        for file in self._files:
            home = javahome.home_of_library(os.fsdecode(file.path))
            if home is not None and file.path.endswith(b"/libjvm.so"):
                inside = path.startswith(os.fsencode(f"{home}/"))
                return inside and isinstance(self.backing(file.path), File)
        return False

    def _base(self, path: bytes) -> int | None:
        return next((f.start for f in self._files if f.path == path and f.offset == 0), None)

    def build_id(self, path: bytes) -> bytes:
        """The build id of a loaded ELF file, from its first pages in the core; empty where they do not say it."""
        base = self._base(path)
        if base is None:
            return b""

        def read(offset: int, length: int) -> bytes:
            return self.from_here(base + offset, length)

        return elfcore.build_id(read) or b""

    def image_of(self, path: bytes, limit: int) -> bytes:
        """The file as its mappings in the core show it; empty where the core does not hold all of them."""
        rows = [f for f in self._files if f.path == path]
        size = max((f.offset + f.end - f.start for f in rows), default=0)
        base = self._base(path)
        if base is None or not 0 < size <= limit or not self.from_here(base, 64):
            return b""
        image = bytearray(size)
        for row in rows[:64]:
            data = self.from_here(row.start, row.end - row.start)
            if len(data) < row.end - row.start:
                return b""
            image[row.offset : row.offset + len(data)] = data
        return bytes(image)


def _id(build: bytes) -> str:
    return build.hex() or "none"
