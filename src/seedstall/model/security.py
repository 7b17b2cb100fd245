"""The JDK's security properties as a JVM merges them, each with the line that set it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from seedstall.model.jvm import Environment, Launch
from seedstall.model.record import dataclass
from seedstall.model.seeding import SeedSource


class SecuritySetting(NamedTuple):
    """One ``name=value`` of a properties file.

    ``value`` is as ``java.util.Properties`` has it, blanks at its end kept. ``line`` is the first natural line of the
    entry, counted from 1, ``last_line`` its last (a backslash continues a line).
    """

    name: str
    value: str
    file: str
    line: int
    last_line: int

    @property
    def place(self) -> str:
        """``/etc/java-17-openjdk/security/java.security:171``."""
        return f"{self.file}:{self.line}"

    @property
    def effective(self) -> str:
        """The value as ``Security.getProperty`` hands it out: it trims blanks and control characters at both ends."""
        return self.value.strip("".join(map(chr, range(0x21))))


@dataclass(frozen=True, slots=True)
class SecurityProperties:
    """What ``java.security.Security`` holds after all files are merged, as far as seeding is concerned.

    ``settings`` are the winners by name; ``overridden`` what they beat, in file order. ``files`` were read, in order;
    ``unread`` are files that the JVM reads and we could not, with the reason. ``replaced`` is true where
    ``-Djava.security.properties==FILE`` took the master file's place. ``problems`` are whole clauses for people;
    ``fatal`` among them says that no provider is left or that the JVM cannot initialise them, ``""`` if all is well.
    """

    master: str
    settings: Mapping[str, SecuritySetting]
    overridden: tuple[SecuritySetting, ...] = ()
    files: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    replaced: bool = False
    problems: tuple[str, ...] = ()
    fatal: str = ""

    def value(self, name: str) -> str | None:
        """What ``Security.getProperty(name)`` returns."""
        setting = self.settings.get(name)
        return None if setting is None else setting.effective


class SeedFile(NamedTuple):
    """What the seed source's URL leads to, in the process's own root.

    ``readable`` is whether the JVM's user may read it, ``None`` where its groups decide. ``kind`` is for people
    (``a character device``); ``device`` its numbers. ``empty`` is true of a regular file without a byte.
    """

    path: str
    there: bool
    readable: bool | None
    kind: str = ""
    device: tuple[int, int] | None = None
    empty: bool = False


class SeedSettings(NamedTuple):
    """Every place where somebody may have set the seed source, as far as it could be looked at.

    At least the command line, or a value that the user gives for it, is known.
    """

    launch: Launch | None = None
    source: SeedSource | None = None
    environment: Environment | None = None
    properties: SecurityProperties | None = None


class KnownSource(NamedTuple):
    """The effective seed source where something told it.

    Without it a rule would take the shipped default, assumed for want of evidence, for a setting that was looked at.
    """

    source: SeedSource


class FipsProvider(StrEnum):
    """Which FIPS module the JVM's provider list puts first."""

    NSS = "SunPKCS11-NSS-FIPS"
    """RHEL's builds in FIPS mode: NSS makes the random bytes, and seeds itself."""
    BOUNCY_CASTLE = "BCFIPS"
    """A software module: it takes its entropy from ``securerandom.strongAlgorithms``."""
    OPENJCEPLUS = "OpenJCEPlusFIPS"
    """IBM Semeru's ``RestrictedSecurity`` profiles."""
    IBM = "IBMJCEFIPS"
    NONE = "none"


class FipsSetup(NamedTuple):
    """Whether the JVM's security providers are set up for FIPS, and what of seeding they leave.

    ``sun`` is whether the provider SUN is in its list, ``None`` where that is not known: without it no generator of
    that provider can be had. ``kernel`` is the host's own FIPS mode. ``place`` is the line that says so.
    """

    provider: FipsProvider
    place: str = ""
    sun: bool | None = None
    kernel: bool = False
    hybrid: bool = False
    """Of BCFIPS: its set-up names the HYBRID chain, which does not wait for every reseeding."""

    @property
    def active(self) -> bool:
        """Whether a FIPS module comes first."""
        return self.provider is not FipsProvider.NONE
