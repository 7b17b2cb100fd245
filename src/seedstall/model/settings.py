"""Configuration files as far as seeding goes: options, variables, commands, security properties, and their places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from seedstall.model.fileformat import Format as Format  # noqa: PLC0414 - handed on
from seedstall.model.jdk import JdkVersion

UNKNOWN = "\ufffc"
"""Stands in a text for an expansion whose value the file does not tell (``$JAVA_OPTS``, ``$(cmd)``)."""


@dataclass(frozen=True, slots=True)
class Placed:
    """Decoded text whose characters know where they stand in the file.

    Character *i* was written at ``starts[i]:ends[i]`` (an escape is longer than one, an expansion too). ``outer`` is
    the place of the whole with its quotes: what takes its room in a list.
    """

    text: str
    starts: Sequence[int]
    ends: Sequence[int]
    outer: tuple[int, int]

    def part(self, start: int, end: int) -> Placed:
        """A stretch of it."""
        first, last = self.place(start, end)
        return Placed(
            self.text[start:end], self.starts[start:end], self.ends[start:end], (first, last)
        )

    def place(self, start: int = 0, end: int | None = None) -> tuple[int, int]:
        """Where a stretch was written; for an empty one the place where it would stand."""
        end = len(self.text) if end is None else min(end, len(self.text))
        if start < end:
            return self.starts[start], self.ends[end - 1]
        if start < len(self.text):
            return self.starts[start], self.starts[start]
        at = self.ends[-1] if self.text else self.outer[0]
        return at, at


def placed(text: str, start: int, end: int) -> Placed:
    """A stretch of a file in which each character stands for itself."""
    return Placed(text[start:end], range(start, end), range(start + 1, end + 1), (start, end))


@dataclass(frozen=True, slots=True)
class JdkSpan:
    """Feature releases a setting is read by: ``oldest`` to ``newest`` (``None``: no end), and what says so."""

    oldest: int
    newest: int | None
    told_by: str
    update: int | None = None

    def __str__(self) -> str:
        """``JDK 7``, ``JDK 9 and later``, ``JDK 8 to 13``."""
        if self.newest is None:
            return f"JDK {self.oldest} and later"
        if self.newest == self.oldest:
            return f"JDK {self.oldest}"
        return f"JDK {self.oldest} to {self.newest}"


@dataclass(frozen=True, slots=True)
class Scope:
    """What runs together: a build stage, a service, a container of a pod, a unit, a script, one options line.

    ``privileged`` is whether it may feed the host's pool (CAP_SYS_ADMIN), ``None`` where the file does not say.
    ``injected`` names what a cluster adds to it (annotations of injecting agents). ``windows`` marks a file for
    Windows.
    """

    name: str = ""
    image: str = ""
    product: str = ""
    """``keycloak``, ``wildfly``, ``tomcat``: whose start script runs here, as far as image or command tell."""
    jdk: JdkSpan | None = None
    container: bool = False
    privileged: bool | None = None
    windows: bool = False
    injected: str = ""
    parent: int | None = None
    """The scope whose variables it has too: the build stage that this one begins from."""
    sources: tuple[str, ...] = ()
    """Where else its variables come from: ``envFrom``, ``env_file``, ``EnvironmentFile=``."""
    taken: tuple[str, ...] = ()
    """The names of the ConfigMaps, Secrets and files among these that are taken in whole."""


class Setting(StrEnum):
    """How a variable is set, which decides what becomes of a ``$`` in its value."""

    SHELL = "shell"
    BATCH = "batch"
    DOCKER = "ENV"
    KUBERNETES = "env"
    COMPOSE = "environment"
    UNIT = "Environment="
    ENVIRONMENT_FILE = "environment file"
    BUILD = "build settings"
    """Gradle's or Maven's own: read by the build tool."""


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of the environment, or a key that holds JVM options. ``refs`` are the variables named in the value.

    ``literal`` are those that nobody will expand: ``$JAVA_OPTS`` in an EnvironmentFile.
    """

    name: str
    value: Placed
    scope: int
    how: Setting
    refs: tuple[str, ...] = ()
    literal: tuple[str, ...] = ()
    exported: bool = False
    guarded: bool = False
    """Set under a condition: an ``if`` of a script."""
    label: tuple[int, int] | None = None
    """The place of its name."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command line. ``program_from`` is the index of the first word that the JVM hands to the program.

    ``launcher`` is ``java`` or the JDK tool's name, ``""`` where none is started; ``main_from`` the index of
    ``-jar``, of ``-m`` or of the main class: an option must stand before it. ``lists`` are the places where one
    written list of words ends and another goes on (ENTRYPOINT and CMD).
    """

    words: tuple[Placed, ...]
    scope: int
    by_shell: bool
    """A shell reads it: variables are expanded."""
    start: bool
    """It is what the scope runs, not a step of its making."""
    launcher: str = ""
    launcher_at: int = 0
    program_from: int | None = None
    main_from: int | None = None
    main_at: int | None = None
    """The index of the jar, the module or the main class itself: what stands after it is the program's."""
    lists: tuple[int, ...] = ()
    refs: tuple[str, ...] = ()
    broken_list: bool = False
    """Written as a JSON list, and no valid one: a shell takes it as it stands."""


@dataclass(frozen=True, slots=True)
class SecurityEntry:
    """``name=value`` of a security properties file, or of another file that somebody took for one."""

    name: Placed
    value: Placed
    scope: int
    line: tuple[int, int]


class Damage(StrEnum):
    """What keeps a word from being the option it was meant to be."""

    NONE = "none"
    NAME = "name"
    """Another property: ``java.security.edg``, ``securerandom.source``."""
    QUOTES = "typographic quotes"
    DASH = "a typographic dash"
    EXTRA_DASH = "two dashes"
    NO_DASH = "no -D"
    SMALL_D = "a small d"
    COLON = "a colon for the equals sign"
    BLANKS = "blanks inside"
    NO_BREAK_SPACE = "a no-break space"
    DASH_J = "a -J that java does not know"


class Reach(StrEnum):
    """Who gets the option."""

    JVM = "the JVM"
    PROGRAM = "the program"
    """After ``-jar x.jar`` or the main class."""
    TOOL = "the tool's own options"
    """Of jarsigner or keytool, without ``-J``."""
    NOBODY = "nobody"
    """Outside the quotes of the value it was meant for."""
    WRONG_FILE = "a file that does not set system properties"


@dataclass(frozen=True, slots=True)
class SeedOption:
    """A word that sets a property of seeding, or was meant to.

    ``meant`` is the property's right name; ``name`` and ``value`` are as written (``None``: none was written, or it
    is not known). ``word`` is the whole, ``carrier`` the variable, key or command that holds it. ``option`` is the
    word's stretch that a right option would take the place of.
    """

    word: Placed
    meant: str
    name: Placed
    value: Placed | None
    scope: int
    carrier: str
    damage: Damage = Damage.NONE
    reach: Reach = Reach.JVM
    prefix: str = "-D"
    variable: int | None = None
    """Index of the variable that holds it."""
    command: int | None = None
    at: int = 0
    """Its index among the command's words."""
    tail: tuple[Placed, ...] = ()
    """Further words that belong to it and were split off by blanks."""
    apart: bool = False
    """Name and value stand apart in another notation (``systemProperty 'name', 'value'``)."""


@dataclass(frozen=True, slots=True)
class ConfigFile:
    """One file taken apart. ``problem`` says why it was not (wholly) understood: then nothing can be called clear."""

    name: str
    text: str
    format: Format
    scopes: tuple[Scope, ...] = (Scope(),)
    variables: tuple[Variable, ...] = ()
    commands: tuple[Command, ...] = ()
    entries: tuple[SecurityEntry, ...] = ()
    options: tuple[SeedOption, ...] = ()
    problem: str = ""
    whole: bool = False
    """A complete java.security: it lists providers."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything that was handed to ``lint``. ``unread`` are files that could not be had, with the reason."""

    files: tuple[ConfigFile, ...]
    jdk: JdkVersion | None = None
    unread: tuple[tuple[str, str], ...] = ()
