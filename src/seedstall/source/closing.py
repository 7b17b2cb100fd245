"""What holds descriptors: closed at the end of a ``with``, by hand, or when nobody refers to it any more."""

from __future__ import annotations

from types import TracebackType
from typing import Self


class Closing:
    """A thing with a ``close`` that may be called again."""

    def close(self) -> None:
        """Give back what it holds."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        """Use it in a ``with``."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close it."""
        self.close()

    def __del__(self) -> None:
        """Close it."""
        self.close()
