"""Which seed source a JVM has: the strongest of its settings, each with its place, and where the URL leads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from seedstall.facts.jdk import rooted
from seedstall.facts.launch import working_directory
from seedstall.knowledge.seedsource import Target, destination, shipped_source, shipped_strong
from seedstall.model.core import NO_FILES
from seedstall.model.evidence import Ask, Got, Missing, Reading, Ref, Space, Unavailable, Why
from seedstall.model.jdk import LAST_ONE_DOT, JdkVersion
from seedstall.model.jvm import Environment, JavaHome, JvmProcess, Launch
from seedstall.model.security import KnownSource, SecurityProperties, SeedFile, SeedSettings
from seedstall.model.seeding import SeedSetting, SeedSource
from seedstall.parse import procfs, security
from seedstall.source.base import Source

EGD = "java.security.egd"
SOURCE = "securerandom.source"
STRONG = "securerandom.strongAlgorithms"
GIVEN = Ref(Space.INPUT, "given/egd")
_NEEDED_SINCE = {11: 21}
"""JDK-8155246: without its java.security a JDK since 11.0.21 (and 17, 21, ...) has no SecureRandom at all; before, it
takes built-in properties that name no seed source."""


def security_properties(
    source: Source, home: JavaHome, launch: Launch | None, jdk: JdkVersion | None
) -> SecurityProperties:
    """The merged security properties, from ``java.security`` of that very java.home.

    Raises:
        Unavailable: the master file cannot be read.
        ValueError: a file holds a malformed escape.
    """
    master, reading = _master(source, home, jdk)
    if isinstance(reading, Missing):
        raise Unavailable(reading)
    variables = {"java.home": home.path}
    if launch is not None:
        variables.update(_system_properties(launch))
    return security.security_properties(
        master,
        reading.value,
        lambda path: source.read(rooted(path)),
        jdk=jdk,
        extra=launch.property_value(security.EXTRA) if launch is not None else None,
        directory=working_directory(source) or "/",
        variables=variables,
    )


def _master(source: Source, home: JavaHome, jdk: JdkVersion | None) -> tuple[str, Reading[bytes]]:
    """The first place that has it: ``conf/security`` since 9 (JEP 220), ``lib/security`` before."""
    since_9 = [f"{home.path}/conf/security/java.security"]
    before = [f"{home.path}{jre}/lib/security/java.security" for jre in ("", "/jre")]
    paths = since_9 + before if jdk is None else since_9 if jdk.feature > LAST_ONE_DOT else before
    first: tuple[str, Reading[bytes]] | None = None
    for path in paths:
        reading = source.read(rooted(path))
        if isinstance(reading, Got):
            return path, reading
        first = first or (path, reading)
    return first or (paths[0], Missing(Why.ABSENT))


def _system_properties(launch: Launch) -> Iterator[tuple[str, str]]:
    for option in launch.options:
        if option.text.startswith("-D"):
            name, _, value = option.text[2:].partition("=")
            yield name, value


# --- the effective source ---------------------------------------------------------------------------------------------


def seed_source(
    source: Source,
    launch: Launch | Missing,
    properties: SecurityProperties | Missing,
    jdk: JdkVersion | None,
) -> SeedSource:
    """The string that the SUN provider compares, by ``SunEntries``: the system property, else the security property.

    What the user says (``--egd``) counts where the evidence leaves it open; else it is listed as overridden.

    Raises:
        Unavailable: neither a setting nor the JDK is known.
    """
    settings = properties if isinstance(properties, SecurityProperties) else None
    given = list(_given(source))
    open_to_doubt = not _certain(launch, settings)
    decides, passed_over = _of_command(launch)
    candidates = [
        *decides,
        *(given if open_to_doubt else ()),
        *_of_files(settings),
        *_built_in(properties, jdk),
    ]
    if not candidates:
        raise Unavailable(_why_not(launch, properties))
    winner = candidates[0]
    others = [*passed_over, *candidates[1:], *(() if open_to_doubt else given)]
    return SeedSource(
        winner.value,
        winner.setting,
        winner.place,
        strong_algorithms=_strong(settings, jdk),
        overridden=tuple((c.place, c.value) for c in others if not c.assumed),
        assumed=winner.assumed,
    )


class _Candidate(NamedTuple):
    """One setting of the seed source."""

    setting: SeedSetting
    place: str
    value: str
    assumed: bool = False


def _given(source: Source) -> Iterator[_Candidate]:
    reading = source.read(GIVEN)
    if isinstance(reading, Got):
        value = reading.value.decode("utf-8", "surrogateescape")
        yield _Candidate(SeedSetting.GIVEN, "--egd", value)


def _certain(launch: Launch | Missing, settings: SecurityProperties | None) -> bool:
    """Whether all that can set it was read."""
    if isinstance(launch, Missing) or settings is None or settings.unread:
        return False
    return launch.environ_read and not launch.unread_files and not launch.truncated


def _of_command(launch: Launch | Missing) -> tuple[list[_Candidate], list[_Candidate]]:
    """The last ``-Djava.security.egd`` if it decides, and those that another one beat.

    An empty last one beats the others and decides nothing: ``securerandom.source`` does.
    """
    if isinstance(launch, Missing):
        return [], []
    found = [
        _Candidate(SeedSetting.EGD, option.place, option.text.partition("=")[2])
        for option in reversed(launch.options)
        if option.text == f"-D{EGD}" or option.text.startswith(f"-D{EGD}=")
    ]
    return (found[:1], found[1:]) if found and found[0].value else ([], found)


def _of_files(settings: SecurityProperties | None) -> Iterator[_Candidate]:
    if settings is None:
        return
    doubt = bool(settings.unread)
    setting = settings.settings.get(SOURCE)
    if setting is None:
        place = f"no {SOURCE} in {', '.join(settings.files)}"
        yield _Candidate(SeedSetting.SECURITY_PROPERTY, place, "", doubt)
        return
    yield _Candidate(SeedSetting.SECURITY_PROPERTY, setting.place, setting.effective, doubt)
    for beaten in settings.overridden:
        if beaten.name == SOURCE:
            yield _Candidate(SeedSetting.SECURITY_PROPERTY, beaten.place, beaten.effective)


def _built_in(
    properties: SecurityProperties | Missing, jdk: JdkVersion | None
) -> Iterator[_Candidate]:
    """What holds where no ``java.security`` could be read."""
    if isinstance(properties, SecurityProperties) or jdk is None:
        return
    missing_file = properties.why is Why.ABSENT and any(
        origin.path.endswith("java.security") for origin in properties.origins
    )
    if missing_file:
        if _needs_file(jdk):
            detail = f"JDK {jdk} has no SecureRandom without it (JDK-8155246)"
            raise Unavailable(Missing(Why.ABSENT, properties.origins, detail))
        place = f"no {properties.origins[0].path}: the JDK's built-in properties name no source"
        yield _Candidate(SeedSetting.BUILT_IN, place, "")
        return
    place = f"shipped default of JDK {jdk.feature}"
    yield _Candidate(SeedSetting.BUILT_IN, place, shipped_source(jdk), assumed=True)


def _needs_file(jdk: JdkVersion) -> bool:
    """Whether a missing ``java.security`` ends every use of Security with an InternalError.

    Seen: 11.0.13 does without it and takes the threaded seeder (8 s); 17.0.9, 21.0.8 and 25.0.2 fail.
    """
    if jdk.feature in _NEEDED_SINCE:
        return jdk.at_least(jdk.feature, _NEEDED_SINCE[jdk.feature]) is not False
    return jdk.feature >= 17  # noqa: PLR2004 - the releases between have no update that took it


def _strong(settings: SecurityProperties | None, jdk: JdkVersion | None) -> str | None:
    if settings is not None:
        return settings.value(STRONG)
    return shipped_strong(jdk) if jdk is not None else None


def _why_not(launch: Launch | Missing, properties: SecurityProperties | Missing) -> Missing:
    for missing in (properties, launch):
        if isinstance(missing, Missing) and missing.why is not Why.NOT_COLLECTED:
            return missing
    detail = (
        "say --egd VALUE (the target's own setting), or --jdk VERSION for that release's default"
    )
    return Missing(Why.NOT_COLLECTED, (GIVEN,), detail)


def known_source(
    _source: Source, seed: SeedSource, properties: SecurityProperties | Missing
) -> KnownSource:
    """The effective seed source, if it was told and not assumed.

    Raises:
        Unavailable: it is the shipped default of the release, for want of anything that says otherwise.
    """
    if seed.assumed:
        detail = "the JVM's settings were not seen: say --egd VALUE (the target's own setting)"
        if isinstance(properties, Missing) and properties.detail == NO_FILES:
            detail = f"{detail}; {NO_FILES}"
        raise Unavailable(Missing(Why.NOT_COLLECTED, (GIVEN,), detail))
    return KnownSource(seed)


def seed_settings(
    _source: Source,
    launch: Launch | Missing,
    seed: SeedSource | None,
    environment: Environment | None,
    properties: SecurityProperties | None,
) -> SeedSettings:
    """Everything that may have set it, for the rule that looks for settings without effect.

    Raises:
        Unavailable: there is no command line to look at, and the user gave no value either.
    """
    if isinstance(launch, Launch):
        return SeedSettings(launch, seed, environment, properties)
    if seed is None or seed.setting is not SeedSetting.GIVEN:
        raise Unavailable(launch)
    return SeedSettings(None, seed, environment, properties)


# --- where it leads ---------------------------------------------------------------------------------------------------


def seed_file(source: Source, seed: SeedSource, process: JvmProcess | None) -> SeedFile:
    """The file that the seed source's URL names, looked at without opening it.

    Raises:
        Unavailable: the URL names no file, or it could not be looked at.
    """
    end = destination(seed.value)
    path = end.path
    if end.target is Target.RELATIVE:
        directory = working_directory(source)
        path = f"{directory}/{path}" if directory is not None else ""
    if not path:
        raise Unavailable(Missing(Why.ABSENT, (), f"{seed.value!r} names no file"))
    reading = source.read(rooted(path, Ask.STAT))
    if isinstance(reading, Missing):
        if reading.why is not Why.ABSENT:
            raise Unavailable(reading)
        return SeedFile(path, there=False, readable=False)
    found = procfs.file_stat(reading.value)
    kind = found.mode & _FORMAT
    return SeedFile(
        path,
        there=True,
        readable=kind != _DIRECTORY and _may_read(found, process),
        kind=_KINDS.get(kind, "something else"),
        device=found.rdev if kind == _CHARACTER else None,
        empty=kind == _REGULAR and found.size == 0,
    )


_FORMAT = 0o170000
_DIRECTORY = 0o040000
_CHARACTER = 0o020000
_REGULAR = 0o100000
_KINDS = {
    _DIRECTORY: "a directory",
    _CHARACTER: "a character device",
    _REGULAR: "a file",
    0o010000: "a FIFO",
    0o060000: "a block device",
    0o140000: "a socket",
}


def _may_read(found: procfs.FileStat, process: JvmProcess | None) -> bool | None:
    """Whether the process may read it, by its user and main group; ``None`` where another group or an ACL decides."""
    if process is None or found.uid < 0:
        return None if found.mode & 0o444 != 0o444 else True  # noqa: PLR2004 - readable by all
    if process.uid == 0:
        return True
    if process.uid == found.uid:
        return bool(found.mode & 0o400)
    if process.gid == found.gid:
        return bool(found.mode & 0o040)
    return True if found.mode & 0o004 else (None if found.mode & 0o040 else False)


PROVIDERS = (security_properties, seed_source, known_source, seed_settings, seed_file)
