"""JDK versions in every spelling people and programs meet them in.

Three numbering schemes are in use, and one text may hold two of them:

* up to 8 ``1.8.0_151``, spoken ``8u151`` (Java SE platform specification);
* from 9 on ``17.0.15+6``, where a missing third number is zero (JEP 223, JEP 322);
* HotSpot's own versions up to 8, which the banner of a thread dump shows instead of the JDK's: ``25.151-b12`` is
  the virtual machine of 8u151 and not JDK 25. OpenJDK builds of 6 and 7 shared virtual machines among
  updates (7u51 came with ``24.45-b08``), so there the update cannot be told from it.

All patterns are matched lazily, on a bounded piece of text, and cannot go quadratic.
"""

from __future__ import annotations

import re

from seedstall.model.jdk import LAST_ONE_DOT, JdkVersion, VmFamily

_LONGEST = 16_384
"""A ``release`` file has some 1,500 bytes, ``java -version`` 300: what is longer is not looked at to its end."""
_NEWEST = 99
"""A feature release above this is a year or a build number."""
_OLDEST_DOTTED_UPDATE = 20
"""``8.0.302`` (SDKMAN, Zulu) is 8u302; ``8.0.6`` is IBM's service refresh 6 and says no update."""
_LEAST_SECOND_UPDATE = 100
"""``8.372.07.1`` (Corretto) is 8u372; ``8.72.0.17`` is Zulu's own number and says no update."""

_VERSION = r"[0-9][0-9A-Za-z.+_~-]{0,79}"
"""A version with whatever build text hangs on it; its end is decided by `_version`."""

_QUOTED = rf'(?:java|openjdk|jdk|graalvm)[ ]version[ ]"({_VERSION})"'
"""First line of ``java -version``: the version is complete, so that a missing update means 0."""
_PROPERTY = rf'(?:JAVA_VERSION|java\.version|java\.runtime\.version)[ ]?[=:][ ]?"?({_VERSION})"?'
"""The ``release`` file, or a line of ``jcmd VM.system_properties``: complete too."""
_JRE = rf"\bJRE[ ]\(({_VERSION})\)"
"""``... VM (25.504-b01) for linux-amd64 JRE (1.8.0_504-b01), built on ...``: libjvm's own text."""
_BUILD = rf"\(build[ ]({_VERSION})"
"""``OpenJDK Runtime Environment (build 17.0.15+6-...)``, hs_err's header."""
_VM = rf"\bVM[ ]\((?:build[ ])?({_VERSION})"
"""``Full thread dump OpenJDK 64-Bit Server VM (25.504-b01 mixed mode):``."""
_J9 = rf"\bJRE[ ]({_VERSION})"
"""``1CIJAVAVERSION JRE 1.8.0 Linux amd64-64 (build 8.0.6.7 - ...)``: IBM's javacores."""
_JROCKIT = r"\bJRockit.{0,80}?-(1\.[0-9]\.[0-9]_[0-9]{1,4})-"
"""``Oracle JRockit(R) R28.2.7-7-155314-1.6.0_45-20130329-...``."""
_UPDATE_WORD = r"([0-9]{1,2})[ ]update[ ]([0-9]{1,4})"
"""``Java 8 update 151``."""
_NAMED = r"(?:(?:open|oracle|java|jdk|jre|se|hotspot|temurin|version|release|for)[ _-]*){1,6}v?"
"""What stands before a bare version: ``jdk-``, ``Java SE``, ``java-``, ``OpenJDK``."""

_ONE_DOT = r"1\.([2-9])(?:\.([0-9]))?(?:[._]([0-9]{1,4}))?"
_U = r"([0-9]{1,2})u([0-9]{1,4})?"
_HOTSPOT = r"([0-9]{2})\.([0-9]{1,4})-b([0-9]{2,3})"
_MODERN = r"([0-9]{1,2})((?:\.[0-9]{1,5}){0,7})"
_TAIL = r"(?:[-+~_ ][0-9A-Za-z.+_~ ()-]*|b[0-9]+.*|\.[A-Za-z].*)?"
"""Build and vendor text behind the numbers: ``+6-Debian-1deb12u1``, ``-b13``, ``-ea``, ``.fx-zulu``."""

_HOTSPOT_JDK = {
    25: 8,
    24: 7,
    23: 7,
    22: 7,
    21: 7,
    20: 6,
    19: 6,
    17: 6,
    16: 6,
    14: 6,
    13: 6,
    11: 6,
    10: 6,
}
"""HotSpot's major version up to 8 and the JDK it came with.

IcedTea put 23.x under its OpenJDK 6 as well; the banner cannot tell, and 6 and 7 seed alike.
"""


_HOTSPOT_8 = 25


def jdk_version(text: str) -> JdkVersion:
    """The version that *text* names.

    *text* is what a person types (``8u151``, ``17``), a property's value, the output of ``java -version``, a
    ``release`` file, a dump's banner or a virtual machine's own text. The update is ``None`` where the text leaves it
    open: a bare ``17`` is any 17, while ``openjdk version "17"`` is 17.0.0.

    Raises:
        ValueError: *text* names no version.
    """
    head = text[:_LONGEST].strip()
    found = _stated(head) or _bare(head)
    if found is None:
        raise ValueError(f"not a JDK version: {text[:60]!r}")
    return _described(found, head)


def vm_banner(text: str) -> JdkVersion | None:
    """The version in a thread dump's banner, or in a virtual machine's text about itself; ``None`` if there is none.

    HotSpot 6 to 8 print their own version there: the JDK follows from it, the update only on 8.
    """
    head = text[:_LONGEST]
    match = re.search(_JRE, head) or re.search(_VM, head)
    found = _version(match[1], complete=True) if match else None
    if found is None:
        match = re.search(_JROCKIT, head, re.DOTALL) or re.search(_J9, head)
        found = _version(match[1], complete=False) if match else None
    return _described(found, head) if found is not None else None


def _stated(head: str) -> JdkVersion | None:
    """The version where a program says it in a sentence of its own."""
    for pattern in (_QUOTED, _PROPERTY, _JRE, _BUILD):
        match = re.search(pattern, head)
        found = _version(match[1], complete=True) if match else None
        if found is not None:
            return found
    return vm_banner(head)


def _bare(head: str) -> JdkVersion | None:
    """A version alone, with at most the product's name before it."""
    if len(head) > 160 or "\n" in head:  # noqa: PLR2004 - longer than any version is a text about something else
        return None
    head = head.strip("\"'")
    name = re.match(_NAMED, head, re.IGNORECASE)
    rest = head[name.end() :] if name else head
    word = re.match(_UPDATE_WORD, rest, re.IGNORECASE)
    if word:
        return _made(int(word[1]), int(word[2]))
    found = _version(rest, complete=False)
    # ``java-1.8.0-openjdk-1.8.0.151-1.b12.el7``: the package's own version comes second and tells more.
    package = re.search(r"-openjdk-([0-9][0-9A-Za-z.+_~-]{0,40})", rest)
    later = _version(package[1], complete=False) if package else None
    return later or found


def _version(token: str, *, complete: bool) -> JdkVersion | None:
    """Read one token. *complete* says that a program printed it whole: a missing update is 0."""
    hotspot = re.match(_HOTSPOT, token)
    if hotspot:
        return _hotspot(int(hotspot[1]), int(hotspot[2]), int(hotspot[3]))
    one_dot = re.fullmatch(f"{_ONE_DOT}({_TAIL})", token)
    if one_dot:
        return _one_dot(one_dot, token, complete=complete)
    spoken = re.fullmatch(_U + _TAIL, token)
    if spoken:
        return _made(int(spoken[1]), int(spoken[2]) if spoken[2] else None, token)
    modern = re.fullmatch(_MODERN + _TAIL, token)
    return _modern(modern, token, complete=complete) if modern else None


def _one_dot(match: re.Match[str], token: str, *, complete: bool) -> JdkVersion | None:
    feature = int(match[1])
    if match[3] is not None:
        return _made(feature, int(match[3]), token)
    # ``1.8.0`` printed by a program and ``1.8.0-b132`` are the first release; ``1.8.0-internal`` and
    # ``1.8.0-zing_16.07`` are of some update they do not name.
    first = match[2] == "0" and (complete if not match[4] else match[4].startswith("-b"))
    return _made(feature, 0 if first else None, token)


def _hotspot(major: int, minor: int, build: int) -> JdkVersion | None:
    feature = _HOTSPOT_JDK.get(major)
    if feature is None:
        return None
    # From 8 on the minor number is the update; build 00 is nobody's release.
    known = feature == LAST_ONE_DOT and build > 0
    return JdkVersion(feature, minor if known else None)


def _modern(match: re.Match[str], token: str, *, complete: bool) -> JdkVersion | None:
    feature = int(match[1])
    parts = [int(part) for part in match[2].split(".")[1:]]
    if feature <= LAST_ONE_DOT:
        return _made(feature, _old_update(parts), token)
    if parts and parts[0] > 0:
        # No JDK since 9 has had a second number other than zero: ``25.504`` is HotSpot's,
        # ``22.3.1`` GraalVM's.
        return _hotspot(feature, parts[0], 1) if len(parts) == 1 and feature == _HOTSPOT_8 else None
    if len(parts) > 1:
        return _made(feature, parts[1], token)
    return _made(feature, 0 if complete or "+" in token else None, token)


def _old_update(parts: list[int]) -> int | None:
    """The update in dotted spellings of 8 and before that vendors use."""
    if parts and parts[0] >= _LEAST_SECOND_UPDATE:
        return parts[0]
    if len(parts) > 1 and parts[0] == 0 and parts[1] >= _OLDEST_DOTTED_UPDATE:
        return parts[1]
    return None


def _made(feature: int, update: int | None, token: str = "") -> JdkVersion | None:
    # ``17.0.15 2025-04-15``: the date is not the version's.
    text = token.partition(" ")[0]
    return JdkVersion(feature, update, text=text) if 1 < feature <= _NEWEST else None


def _described(found: JdkVersion, head: str) -> JdkVersion:
    """Add who made the virtual machine, as far as the same text says it."""
    vendor = re.search(r'(?:IMPLEMENTOR|java\.vendor)[ ]?=[ ]?"?([^"\n]{1,60})', head)
    return JdkVersion(
        found.feature,
        found.update,
        text=found.text,
        vendor=vendor[1].strip() if vendor else "",
        family=_family(head),
    )


def _family(head: str) -> VmFamily:
    text = head.lower()
    if "substrate" in text or "native image" in text:
        return VmFamily.GRAAL_NATIVE
    if "openj9" in text or "j9 vm" in text or "ibm j9" in text or "1cijavaversion" in text:
        return VmFamily.OPENJ9
    return VmFamily.UNKNOWN if "jrockit" in text else VmFamily.HOTSPOT
