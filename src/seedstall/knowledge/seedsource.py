"""Seed source strings as the JDK reads them: what ships, what is special, which file a string ends at.

``java.security.egd`` (a system property) and ``securerandom.source`` (a security property) hold a URL. The
SUN provider first compares the string literally with two special ones, and only then treats it as a URL
(``sun/security/provider/SunEntries.java``, ``SeedGenerator.java``, the same in 6 to 26). Measured on
8u504, 11.0.13, 17.0.15, 21.0.8 and 25.0.2 where nothing else is said.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import NamedTuple

from seedstall.model.jdk import JdkVersion

URL_RANDOM = "file:/dev/random"
URL_URANDOM = "file:/dev/urandom"
SPECIAL = frozenset((URL_RANDOM, URL_URANDOM))
"""``SunEntries.URL_DEV_RANDOM`` and ``URL_DEV_URANDOM``; compared with ``String.equals``."""

JEP_123 = 8
"""The release from which the special strings choose the device (JDK-6425477, first tag jdk8-b87)."""
DRBG_SINCE = 9
"""JEP 273."""
INCLUDE_SINCE = 24
"""``include FILE`` inside security property files (JDK-8319332); before, a property of no effect."""

_OTHER_RANDOM_DEVICES = frozenset(
    ("/dev/hwrng", "/dev/hw_random", "/dev/srandom", "/dev/frandom", "/dev/erandom")
)
"""May be there: the kernel's view of a hardware generator, and out-of-tree modules."""
_NO_RANDOMNESS = frozenset(("/dev/zero", "/dev/null", "/dev/full"))
_PROTOCOLS = frozenset(("http", "https", "ftp", "jar", "mailto", "jrt", "jmod"))
"""Protocols for which the JDK has handlers; any other is a MalformedURLException."""


class Target(StrEnum):
    """What a seed source string ends at."""

    RANDOM = "/dev/random"
    URANDOM = "/dev/urandom"
    RANDOM_LIKE = "another random device"
    NO_RANDOMNESS = "a device without randomness"
    """``/dev/zero`` seeds with zeros; ``/dev/null`` makes seeding throw InternalError at the end of file."""
    FILE = "another file"
    RELATIVE = "a file relative to the working directory"
    """``file:dev/urandom``: an opaque URL, resolved against ``user.dir``."""
    REMOTE = "a URL that is no file"
    BROKEN = "no URL"
    """No scheme, or one the JDK has no handler for: MalformedURLException, hence the threaded seeder."""
    REFUSED = "a file URL that java.io.File refuses"
    """A host, a query or a fragment: on 8 and later the SUN provider's NativePRNG throws IllegalArgumentException
    while it loads, and the JVM has no SecureRandom at all."""
    EMPTY = "nothing"


class Destination(NamedTuple):
    """Where a string ends: ``path`` is normalised, ``""`` where there is no file."""

    target: Target
    path: str = ""


def is_special(source: str) -> bool:
    """Whether the JDK knows this very string: one more blank, slash or capital, and it does not."""
    return source in SPECIAL


def shipped_source(jdk: JdkVersion) -> str:
    """``securerandom.source`` of the ``java.security`` that ships (Linux). It flipped in 8 with JEP 123."""
    return URL_URANDOM if jdk.feature < JEP_123 else URL_RANDOM


def shipped_strong(jdk: JdkVersion) -> str | None:
    """``securerandom.strongAlgorithms`` that ships (Linux); ``None`` before 8, which has no such property."""
    if jdk.feature < JEP_123:
        return None
    blocking = "NativePRNGBlocking:SUN"
    return blocking if jdk.feature < DRBG_SINCE else f"{blocking},DRBG:SUN"


def reads_include(jdk: JdkVersion) -> bool:
    """Whether ``include FILE`` in a security property file includes anything."""
    return jdk.feature >= INCLUDE_SINCE


def effective_source(egd: str | None, security_property: str | None) -> str:
    """The string the provider compares: the system property if set and not empty, else the security property.

    An empty ``-Djava.security.egd=`` falls through; with neither the string is empty. It is computed once, when the
    provider loads.
    """
    return egd or security_property or ""


def destination(source: str) -> Destination:
    """Follow *source* as ``java.net.URL`` and ``SunEntries.getDeviceFile`` do."""
    # java.net.URL drops blanks and control characters at both ends, and a leading ``url:``.
    text = source.strip("".join(map(chr, range(33))))
    if text[:4].lower() == "url:":
        text = text[4:]
    if not source:
        return Destination(Target.EMPTY)
    scheme, colon, rest = text.partition(":")
    scheme = scheme.lower()
    if not colon or not re.fullmatch(r"[a-z][a-z0-9.+-]{0,30}", scheme):
        return Destination(Target.BROKEN)
    if scheme != "file":
        return Destination(Target.REMOTE if scheme in _PROTOCOLS else Target.BROKEN)
    return _file(rest)


def _file(rest: str) -> Destination:
    if "?" in rest or "#" in rest:
        return Destination(Target.REFUSED)
    if rest.startswith("//"):
        host, slash, path = rest[2:].partition("/")
        if host:
            return Destination(Target.REFUSED)
        rest = slash + path
    if not rest.startswith("/"):
        return Destination(Target.RELATIVE, rest) if rest else Destination(Target.BROKEN)
    path = normal_path(_decoded(rest))
    return Destination(_target_of(path), path)


def _target_of(path: str) -> Target:
    if path in (Target.RANDOM, Target.URANDOM):
        return Target(path)
    if path in _OTHER_RANDOM_DEVICES:
        return Target.RANDOM_LIKE
    return Target.NO_RANDOMNESS if path in _NO_RANDOMNESS else Target.FILE


def _decoded(path: str) -> str:
    return re.sub("%([0-9A-Fa-f]{2})", lambda match: chr(int(match[1], 16)), path)


def normal_path(path: str) -> str:
    """An absolute path without ``//``, ``/./``, ``/../`` and a slash at its end."""
    parts: list[str] = []
    for part in path.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
    return "/" + "/".join(parts)
