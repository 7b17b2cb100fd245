"""Security properties merged as ``java.security.Security`` does it: master file, appended or replacing file, includes.

Compared with what 8, 11, 17, 21 and 25 make of the same files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache

from seedstall.knowledge.seedsource import destination, normal_path, reads_include
from seedstall.model.evidence import Missing, Reading, Why
from seedstall.model.jdk import JdkVersion
from seedstall.model.security import SecurityProperties, SecuritySetting
from seedstall.parse.properties import Entry, entries

OVERRIDE = "security.overridePropertiesFile"
EXTRA = "java.security.properties"
FIRST_PROVIDER = "security.provider.1"
MAX_INCLUDES = 64
KEPT_BYTES = 1 << 18
_WANTED = ("securerandom.", "security.provider.", "fips.provider.", "security.use")
_STAYS_SINCE = {11: 21}
"""JDK-8292297 came to 11 with 11.0.21; it is in 17.0.9 and in all of 20 and later."""
_STAYS_FEATURE = 20
_SEEN_17 = 9

ReadFile = Callable[[str], Reading[bytes]]


def wanted(name: str) -> bool:
    """Whether a security property has a part in seeding, or in which files count."""
    return name.startswith(_WANTED) or name in (OVERRIDE, "include")


def _entries(data: bytes) -> Iterable[Entry]:
    """The entries asked for. The JVMs of one host share a few master files of 57 kB each, read in 6 ms."""
    return _kept(data) if len(data) <= KEPT_BYTES else entries(data, wanted)


@lru_cache(maxsize=8)
def _kept(data: bytes) -> tuple[Entry, ...]:
    return tuple(entries(data, wanted))


class _Merge:
    """The properties while they are put together."""

    def __init__(
        self, read: ReadFile, jdk: JdkVersion | None, variables: Mapping[str, str]
    ) -> None:
        self.read = read
        self.jdk = jdk
        self.settings: dict[str, SecuritySetting] = {}
        self.overridden: list[SecuritySetting] = []
        self.files: list[str] = []
        self.unread: list[str] = []
        self.problems: list[str] = []
        self.replaced = False
        self.fatal = ""
        self._variables = variables

    def load(self, path: str, data: bytes, active: tuple[str, ...] = ()) -> None:
        """Take the entries of one file, in order: of a name that stands twice the last counts."""
        self.files.append(path)
        for entry in _entries(data):
            setting = SecuritySetting(entry.name, entry.value, path, entry.line, entry.last_line)
            if entry.name == "include":
                self._include(setting, (*active, path))
                continue
            if (before := self.settings.get(entry.name)) is not None:
                self.overridden.append(before)
            self.settings[entry.name] = setting

    def _include(self, setting: SecuritySetting, active: tuple[str, ...]) -> None:
        """``include FILE`` (24+, JDK-8319332): read on the spot, a relative path beside the file that names it."""
        if self.jdk is None or not reads_include(self.jdk):
            self.problems.append(f"include at {setting.place} counts on JDK 24 and later only")
            return
        name = self.expanded(setting.value) or setting.value
        path = normal_path(name if name.startswith("/") else f"{setting.file}/../{name}")
        if path in active or len(self.files) > MAX_INCLUDES:
            self.fatal = f"include at {setting.place} leads to itself: the JVM fails to start"
            return
        match self.read(path):
            case Missing(why=Why.ABSENT):
                self.fatal = (
                    f"include at {setting.place}: there is no {path}, so the JVM fails to start"
                )
            case Missing() as missing:
                self.unread.append(f"{path}: {missing.why}")
            case got:
                self.load(path, got.value, active)

    def expanded(self, text: str) -> str | None:
        """``${java.home}`` and ``${/}`` put in, as ``PropertyExpander`` does; ``None`` where one is not set."""
        done: list[str] = []
        rest = text
        while (at := rest.find("${")) >= 0 and (end := rest.find("}", at)) > 0:
            name = rest[at + 2 : end]
            value = "/" if name == "/" else self._variables.get(name)
            if value is None:
                return None
            done += (rest[:at], value)
            rest = rest[end + 1 :]
        return "".join((*done, rest))


def security_properties(
    master: str,
    data: bytes,
    read: ReadFile,
    *,
    jdk: JdkVersion | None,
    extra: str | None = None,
    directory: str = "/",
    variables: Mapping[str, str] | None = None,
) -> SecurityProperties:
    """Merge the master file at path *master*, which holds *data*, with what it and the JVM's options add.

    *read* gives a file by absolute path. *extra* is the value of ``-Djava.security.properties``, ``None`` where it is
    not set: ``FILE`` appends, ``=FILE`` replaces the master. *directory* is the JVM's working directory; *variables*
    are system properties that paths may name (``java.home``).

    Raises:
        ValueError: an entry holds a malformed escape, on which the JDK fails too.
    """
    merge = _Merge(read, jdk, variables or {})
    merge.load(master, data)
    if extra is not None:
        _add(merge, extra, directory)
    if merge.replaced and FIRST_PROVIDER not in merge.settings and not merge.fatal:
        merge.fatal = (
            f"-D{EXTRA}== puts its file in the place of the whole master file, and that names no security provider:"
            " every SecureRandom fails with an InternalError"
        )
    return SecurityProperties(
        master=master,
        settings=merge.settings,
        overridden=tuple(merge.overridden),
        files=tuple(merge.files),
        unread=tuple(merge.unread),
        replaced=merge.replaced,
        problems=tuple(merge.problems),
        fatal=merge.fatal,
    )


def _add(merge: _Merge, extra: str, directory: str) -> None:
    allowed = merge.settings.get(OVERRIDE)
    if allowed is None or allowed.effective.lower() != "true":
        merge.problems.append(f"-D{EXTRA} is ignored: {OVERRIDE} is not true in {merge.files[0]}")
        return
    replacing = extra.startswith("=")
    named = merge.expanded(extra.removeprefix("="))
    if not named:
        merge.problems.append(f"-D{EXTRA} is ignored: its value names no file")
        return
    path = _path(named, directory)
    if path is None:
        merge.unread.append(f"{named}: a URL, which is not fetched")
        return
    match merge.read(path):
        case Missing(why=Why.ABSENT):
            _absent(merge, path, replacing=replacing)
        case Missing() as missing:
            merge.unread.append(f"{path}: {missing.why}")
        case got:
            if replacing:
                _clear(merge)
            merge.load(path, got.value)


def _path(named: str, directory: str) -> str | None:
    """A path, or a ``file:`` URL; ``None`` for another URL. A relative path is below the working directory."""
    scheme, colon, _ = named.partition(":")
    if colon and scheme.lower() == "file":
        named = destination(named).path
    elif colon and scheme.isalpha():
        return None
    return normal_path(named if named.startswith("/") else f"{directory}/{named}")


def _absent(merge: _Merge, path: str, *, replacing: bool) -> None:
    if not replacing:
        merge.problems.append(f"-D{EXTRA}: there is no {path}; the JDK ignores it without a word")
        return
    stays = _master_stays(merge.jdk)
    if stays is False:
        _clear(merge)
        merge.fatal = f"-D{EXTRA}==: there is no {path}, and this JDK has dropped the master file by then: no provider"
    else:
        sure = "stays" if stays else "may stay"
        merge.problems.append(f"-D{EXTRA}==: there is no {path}; the master file {sure} in force")


def _master_stays(jdk: JdkVersion | None) -> bool | None:
    """Whether a missing ``==`` file leaves the master in force (JDK-8292297); ``None`` where it is not known."""
    if jdk is None:
        return None
    if jdk.feature in _STAYS_SINCE:
        return jdk.at_least(jdk.feature, _STAYS_SINCE[jdk.feature])
    if jdk.feature == 17:  # noqa: PLR2004 - its first update with the change is not known
        return jdk.at_least(17, _SEEN_17) or None
    return jdk.feature >= _STAYS_FEATURE


def _clear(merge: _Merge) -> None:
    merge.overridden.extend(merge.settings.values())
    merge.settings.clear()
    merge.replaced = True
