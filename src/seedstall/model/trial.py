"""What came out when a JVM was made to seed on a random device that is dry: `seedstall verify`."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from seedstall.model.record import dataclass
from seedstall.model.seeding import Device, Instance, Operation
from seedstall.model.verdict import Status

PRESENT = "present"
FIX = "fix"
STRONG = "strong"
"""The settings that are tried: as it is, with the seed source that cures, with the strong list besides."""


class Use(NamedTuple):
    """How a program uses a generator for the first time."""

    instance: Instance
    operation: Operation

    def __str__(self) -> str:
        """As a programmer writes it."""
        if self.instance is Instance.DEFAULT:
            return f"new SecureRandom().{self.operation}"
        if self.instance is Instance.STRONG:
            return f"getInstanceStrong().{self.operation}"
        return f"{self.instance}.{self.operation}"


class Setting(NamedTuple):
    """Options under which uses are tried. ``words`` tell a person what is set; ``name`` is a short key."""

    name: str
    words: str
    egd: str | None = None
    """``java.security.egd``; ``None`` where it is not set."""
    source: str = ""
    """The seed source that is then in force, as far as it is known beforehand."""
    options: tuple[str, ...] = ()
    """Others; ``@DIR@`` stands for the directory that holds the files."""
    properties: bytes | None = None
    """A security properties file of our own, appended by one of the options."""


class Question(NamedTuple):
    """One cell of the table."""

    use: Use
    setting: str


class Outcome(StrEnum):
    """How a first use went while nothing came out of ``/dev/random``."""

    GOES_ON = "goes-on"
    BLOCKS = "blocks"
    """It waited in a read of the dry device, and went on when that was filled (unless ``why`` says otherwise)."""
    DELAYED = "delayed"
    """The threaded seeder: no device, seconds all the same."""
    NO_GENERATOR = "no-generator"
    """That JDK has none of that name."""
    THROWS = "throws"
    """The use itself fails with the error of ``why``, whatever the device holds: a setting broke the provider."""
    NOT_COVERED = "not-covered"
    """Cannot be tried by the means that are allowed here; ``why`` says what would."""
    FAILED = "failed"
    """No measurement: ``why`` says what happened instead."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One first use of a generator in a JVM of its own.

    ``device`` is what bytes were taken of. ``taken`` are the bytes taken of ``/dev/random`` and ``/dev/urandom``.
    ``ms`` is what the first use took but for the time that the device was kept dry; ``held_ms`` is that time, once the
    JVM waited in it. ``seen`` says what told the wait.
    """

    question: Question
    outcome: Outcome
    device: Device = Device.UNKNOWN
    algorithm: str = ""
    provider: str = ""
    ms: float | None = None
    held_ms: int | None = None
    taken: tuple[int, int] = (0, 0)
    seen: str = ""
    why: str = ""
    said: Mapping[str, str] | None = None
    """What the JVM said of itself: java, vendor, vm, home, egd, source, strong, lacking."""


@dataclass(frozen=True, slots=True)
class Series:
    """All trials of one ``verify``. ``how`` is by what means the device was made dry; ``seconds`` what it took."""

    trials: tuple[Trial, ...]
    how: str
    seconds: float
    no_namespace: str = ""
    """Why no mount namespace could be had, where that is so."""


@dataclass(frozen=True, slots=True)
class Account:
    """What is told. ``status`` is at-risk, clear or unknown, by the uses that count."""

    sentence: str
    status: Status
    notes: tuple[str, ...]
    differences: tuple[str, ...] = ()
    """Where the JVM behaved otherwise than seedstall's tables say."""
