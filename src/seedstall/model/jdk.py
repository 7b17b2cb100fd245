"""Which JDK: its version as far as it is known, and who made the virtual machine."""

from __future__ import annotations

from dataclasses import field
from enum import StrEnum

from seedstall.model.record import dataclass

LAST_ONE_DOT = 8
"""The last release that called itself 1.N (``1.8.0_151``); JEP 223 changed it with 9."""


class VmFamily(StrEnum):
    """The virtual machine: decides the attach protocol, the dump format and the memory layout."""

    HOTSPOT = "hotspot"
    OPENJ9 = "openj9"
    GRAAL_NATIVE = "graalvm-native-image"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class JdkVersion:
    """A JDK's version: feature release, update where it is known, and the text it was read from.

    ``8u151`` is feature 8, update 151; ``11.0.7`` feature 11, update 7; ``1.6.0_45`` feature 6,
    update 45; a bare ``17`` has update ``None`` (not known, which is not 0).
    """

    feature: int
    update: int | None = None
    text: str = ""
    vendor: str = ""
    family: VmFamily = VmFamily.HOTSPOT
    told_by: str = field(default="", compare=False)
    """Where it was read, for people: a file's path, ``--jdk``, ``dump.txt:1``."""
    conflict: str = field(default="", compare=False)
    """What was said or read otherwise and not believed, in a clause; ``""`` if nothing was."""

    def __str__(self) -> str:
        """The text as it was read, or one made from the numbers."""
        if self.text:
            return self.text
        if self.update is None:
            return str(self.feature)
        if self.feature <= LAST_ONE_DOT:
            return f"{self.feature}u{self.update}"
        return f"{self.feature}.0.{self.update}"

    def at_least(self, feature: int, update: int = 0) -> bool | None:
        """Whether this is that version or later; ``None`` where the update decides and is unknown."""
        if self.feature != feature:
            return self.feature > feature
        if update == 0:
            return True
        return None if self.update is None else self.update >= update
