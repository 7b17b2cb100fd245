"""Files in Java's properties format: ``java.security`` and files appended to it, Gradle's, SonarQube's, Spring's."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from seedstall.model.settings import JdkSpan, Placed, Setting
from seedstall.parse.configfile.gather import Gathering
from seedstall.parse.configfile.seedword import EGD, STRONG, meant, meant_security
from seedstall.parse.configfile.words import Growing

_BLANK = " \t\f"
_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
PROVIDER = "security.provider."
FIPS_PROVIDER = "fips.provider."
GRADLE_SYSTEM = "systemProp."


@dataclass(frozen=True, slots=True)
class Property:
    """One entry, and the place of its lines."""

    name: Placed
    value: Placed
    line: tuple[int, int]


def read_security(gathering: Gathering, whole: Placed, scope: int) -> None:
    """Take in a security properties file; all names count that are ours or nearly, and the providers."""
    seen: set[str] = set()
    for found in properties(whole):
        name = found.name.text
        seen.add(name)
        if (
            meant_security(name)
            or name.startswith((PROVIDER, FIPS_PROVIDER))
            or name in ("security.overridePropertiesFile", "include")
        ):
            gathering.entry(found.name, found.value, scope, found.line)
    gathering.whole = gathering.whole or f"{PROVIDER}1" in seen
    if "securerandom.drbg.config" in seen:
        gathering.learn(scope, jdk=JdkSpan(9, None, "it has securerandom.drbg.config"))
    elif STRONG in seen:
        gathering.learn(scope, jdk=JdkSpan(8, None, f"it has {STRONG}"))


def read(gathering: Gathering, whole: Placed, scope: int) -> None:
    """Take in another properties file: options in its values, and properties of seeding that have no effect there."""
    gradle = gathering.name.endswith("gradle.properties")
    for found in properties(whole):
        name = found.name.text
        if name.startswith(GRADLE_SYSTEM):
            inner = found.name.part(len(GRADLE_SYSTEM), len(name))
            _system_property(gathering, inner, found.value, scope)
        elif meant(name) == EGD and _whole_name(name):
            carrier = "a Gradle project property" if gradle else "a properties file"
            gathering.wrong_file(found.name, found.value, scope, carrier)
        elif "-" in found.value.text:
            gathering.variable(name, found.value, scope, Setting.BUILD)


def _whole_name(name: str) -> bool:
    return name.startswith(("java.", "secur"))


def _system_property(gathering: Gathering, name: Placed, value: Placed, scope: int) -> None:
    """A property that a build tool sets in the JVM: as if ``-Dname=value`` stood there."""
    define(gathering, name, value, scope, "a system property of the build")


def define(gathering: Gathering, name: Placed, value: Placed, scope: int, carrier: str) -> None:
    """``-Dname=value`` in another notation: name and value stand apart."""
    from seedstall.parse.configfile.seedword import seed_word  # noqa: PLC0415 - beside its only use

    at = name.outer[0]
    text = f"-D{name.text}={value.text}"
    starts = [at, at, *name.starts, name.place()[1], *value.starts]
    ends = [at, at, *name.ends, name.place()[1], *value.ends]
    word = seed_word(Placed(text, starts, ends, (at, value.place()[1])))
    if word is not None:
        gathering.option(replace(word, apart=True), scope, carrier)


def properties(whole: Placed) -> Iterator[Property]:
    """Every entry in order, as ``java.util.Properties`` reads it."""
    at, text = 0, whole.text
    while at < len(text):
        start = at
        logical, at = _logical(whole, at)
        if logical is not None and logical.text:
            yield _entry(logical, whole.place(start, max(start + 1, at)))


def _logical(whole: Placed, at: int) -> tuple[Placed | None, int]:
    """The next entry's line, continued lines joined, and where the text goes on; ``None`` for a comment."""
    text, grown, first = whole.text, Growing(), True
    begin = at
    while at < len(text):
        stop = _line_end(text, at)
        start = at
        while start < stop and text[start] in _BLANK:
            start += 1
        if first and (start == stop or text[start] in "#!"):
            return None, _behind(text, stop)
        first = False
        end = stop
        while end > start and text[end - 1] == "\\":
            end -= 1
        continued = (stop - end) % 2 == 1
        for index in range(start, stop - continued):
            grown.take(whole, index)
        at = _behind(text, stop)
        if not continued:
            break
    return grown.placed(whole.place(begin, max(begin + 1, at))), at


def _line_end(text: str, at: int) -> int:
    feed, turn = text.find("\n", at), text.find("\r", at, at + 65_536)
    ends = [e for e in (feed, turn) if e >= 0]
    return min(ends) if ends else len(text)


def _behind(text: str, stop: int) -> int:
    return stop + (2 if text[stop : stop + 2] == "\r\n" else 1)


def _entry(logical: Placed, line: tuple[int, int]) -> Property:
    text, at = logical.text, 0
    while at < len(text) and text[at] not in " \t\f:=":
        at += 2 if text[at] == "\\" else 1
    at = min(at, len(text))
    name = _decoded(logical.part(0, at))
    while at < len(text) and text[at] in _BLANK:
        at += 1
    if at < len(text) and text[at] in "=:":
        at += 1
        while at < len(text) and text[at] in _BLANK:
            at += 1
    return Property(name, _decoded(logical.part(at, len(text))), line)


def _decoded(written: Placed) -> Placed:
    if "\\" not in written.text:
        return written
    text, grown, at = written.text, Growing(), 0
    while at < len(text):
        following = text[at + 1 : at + 2]
        if text[at] != "\\" or not following:
            if text[at] != "\\":
                grown.take(written, at)
            at += 1
            continue
        digits = text[at + 2 : at + 6]
        if following == "u" and re.fullmatch("[0-9A-Fa-f]{4}", digits):
            grown.take(written, at, 6, chr(int(digits, 16)))
            at += 6
        else:
            grown.take(written, at, 2, _ESCAPES.get(following, following))
            at += 2
    return grown.placed(written.outer)
