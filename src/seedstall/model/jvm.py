"""A JVM as it was launched: arguments, options and where each came from, program, product."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import NamedTuple

from seedstall.model.record import dataclass


class Environment(Mapping[str, str]):
    """The variables a process was started with. Printing one shows no value: they hold secrets."""

    __slots__ = ("_variables",)

    def __init__(self, variables: Mapping[str, str]) -> None:
        """Hold *variables*; of a name that stood twice in the block the first counts, as in getenv(3)."""
        self._variables = dict(variables)

    def __getitem__(self, name: str) -> str:
        """The value of *name*."""
        return self._variables[name]

    def __iter__(self) -> Iterator[str]:
        """The names."""
        return iter(self._variables)

    def __len__(self) -> int:
        """How many variables there are."""
        return len(self._variables)


class JavaHome(NamedTuple):
    """The ``java.home`` of a running JVM, as the process sees it: ``/usr/lib/jvm/java-8/jre``, no trailing slash.

    ``libjvm`` is the path of the virtual machine's library, ``""`` where it was not seen. ``replaced`` is true where
    the library on disk was deleted or replaced since the start: files found there may be of another version.
    """

    path: str
    told_by: str
    libjvm: str = ""
    replaced: bool = False


class OptionOrigin(StrEnum):
    """Where a JVM option came from, weakest first."""

    JAVA_TOOL_OPTIONS = "JAVA_TOOL_OPTIONS"
    JDK_JAVA_OPTIONS = "JDK_JAVA_OPTIONS"
    COMMAND_LINE = "command line"
    ARGUMENT_FILE = "argument file"
    VM_OPTIONS_FILE = "VM options file"
    JAVA_OPTIONS = "_JAVA_OPTIONS"
    VM_ARGUMENTS = "the JVM's own list"
    """``java.rt.vmArgs`` of hsperfdata: what took effect, without where it came from."""


@dataclass(frozen=True, slots=True)
class JvmOption:
    """One option as the JVM sees it (``-Dx=y``; for the JDK's tools without their ``-J``)."""

    text: str
    origin: OptionOrigin
    place: str = ""
    """For people: ``cmdline[3]``, ``@conf/args:2``, ``environ JAVA_TOOL_OPTIONS``."""


@dataclass(frozen=True, slots=True)
class Launch:
    """A command line taken apart as the launcher does.

    ``options`` are in the order in which they take effect: a later one wins. ``main_class`` or ``jar`` or ``module``
    is what runs; ``program`` its arguments (an ``-D`` there is not a JVM option). ``tool`` is the JDK tool's
    name (``jarsigner``) when it is one. ``misplaced`` are program arguments that look like JVM options.
    ``java`` is argv[0]. ``wrapper`` lists what was seen through (``sudo``, ``sh -c``). ``truncated`` marks
    argv cut short.
    """

    java: str
    options: tuple[JvmOption, ...] = ()
    main_class: str = ""
    jar: str = ""
    module: str = ""
    program: tuple[str, ...] = ()
    tool: str = ""
    misplaced: tuple[str, ...] = ()
    wrapper: tuple[str, ...] = ()
    truncated: bool = False
    unread_files: tuple[str, ...] = ()
    """Argument or options files that the command names and that could not be read; shell variables as ``$NAME``."""
    ignored: tuple[tuple[str, str], ...] = ()
    """Variables of the environment that hold options and that this JVM passes over: (name, why)."""
    source: str = ""
    """In source-file mode (11+) the release asked for, ``?`` where none was; `main_class` is the file."""
    environ_read: bool = True
    """False where the environment could not be read: options may have come from it."""

    def last_property(self, name: str) -> JvmOption | None:
        """The option that sets system property *name*, as the JVM takes it: the last one."""
        prefixes = (f"-D{name}=", f"-D{name}\0")
        for option in reversed(self.options):
            if option.text.startswith(prefixes) or option.text == f"-D{name}":
                return option
        return None

    def property_value(self, name: str) -> str | None:
        """The value of the last ``-Dname=value``; ``""`` for a bare ``-Dname``; ``None`` if unset."""
        option = self.last_property(name)
        return None if option is None else option.text.partition("=")[2]


@dataclass(frozen=True, slots=True)
class Product:
    """Which program this is, and where its flags persist.

    ``key`` is a stable short name (``tomcat``, ``jarsigner``); ``surfaces`` the `fix` surfaces that
    fit, best first; ``asks_for`` the generator it uses for its start where known. ``flags`` says where its JVM flags
    persist.
    """

    key: str
    title: str
    surfaces: tuple[str, ...] = ("java-opts",)
    told_by: str = ""
    asks_for: str = ""
    flags: str = ""


@dataclass(frozen=True, slots=True)
class Container:
    """Whether the process is in a container.

    ``id`` is the runtime's (shortened as it prints it), where a control group names it; ``told_by`` what says so,
    ``""`` where it is in none as far as can be seen.
    """

    inside: bool
    id: str = ""
    runtime: str = ""
    told_by: str = ""


@dataclass(frozen=True, slots=True)
class TomcatHome:
    """A Tomcat instance's directories, as the process sees them. ``base`` holds ``conf`` and ``bin/setenv.sh``."""

    base: str
    home: str


class LiveProcess(NamedTuple):
    """A target that runs on this very host: what a restart destroys can still be saved."""

    pid: int


@dataclass(frozen=True, slots=True)
class JvmProcess:
    """The process itself. Ids are the host's; ``inner_pid`` the JVM's own (``NSpid``'s last).

    ``uid`` and ``gid`` are effective. ``state`` is the letter of ``/proc/PID/stat``. ``in_container`` is true where its
    pid namespace differs from ours. ``start_ticks`` is field 22 of ``stat`` (identifies the process). ``threads`` is
    the count.
    """

    pid: int
    inner_pid: int
    uid: int
    gid: int
    state: str
    start_ticks: int
    threads: int
    age_ms: int | None = None
    in_container: bool = False
    comm: str = ""
