"""What goes wrong that a person must hear of: one root, with a hint. Caught once, in the command line."""

from __future__ import annotations


class SeedstallError(Exception):
    """Something that stops the command. Printed as ``error: ...`` and ``hint: ...``.

    ``code`` is the exit code of the contract.
    """

    code = 1

    def __init__(self, message: str, hint: str = "") -> None:
        """Carry the message, and what to do about it."""
        super().__init__(message)
        self.hint = hint


class UsageError(SeedstallError):
    """The command was asked wrongly."""

    code = 2


class NoSuchTargetError(SeedstallError):
    """No such process or file, or it is not a JVM."""

    code = 3
