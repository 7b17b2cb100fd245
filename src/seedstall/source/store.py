"""Captured files by their path, wherever they lie: in a directory on disk here, in an archive in `source.archive`."""

from __future__ import annotations

import os
import stat
from typing import Protocol

from seedstall.model.evidence import Ask
from seedstall.source import rooted
from seedstall.source.closing import Closing

LARGEST = 64 << 20
"""Bytes of one member that is kept; of a text that is longer, so much of its beginning."""


class Store(Protocol):
    """Captured files."""

    def ask(self, path: str, question: Ask, limit: int = rooted.LIMIT) -> bytes:
        """Answer about *path*.

        Raises:
            OSError: it is not there, or cannot be answered.
        """
        ...

    def is_folder(self, path: str) -> bool:
        """Whether a directory lies there, not by a link."""
        ...

    def close(self) -> None:
        """Give back what it holds."""
        ...


class FolderStore(Closing):
    """A directory on disk."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Open it.

        Raises:
            OSError: there is no such directory.
        """
        self._root = os.open(path, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        self._open = True

    def close(self) -> None:
        """Give the descriptor back."""
        if getattr(self, "_open", False):
            self._open = False
            os.close(self._root)

    def ask(self, path: str, question: Ask, limit: int = rooted.LIMIT) -> bytes:
        """Answer about *path* (`rooted.ask`)."""
        return rooted.ask(self._root, path, question, limit)

    def is_folder(self, path: str) -> bool:
        """Whether a directory lies there, not by a link."""
        try:
            fd = rooted.locate(self._root, path, follow=False)
        except OSError:
            return False
        try:
            return stat.S_ISDIR(os.fstat(fd).st_mode)
        finally:
            os.close(fd)
