"""Secrets out of whole files, by what each file is: what a bundle holds leaves the machine.

The length of a text may change, its lines and arguments do not; in a binary file every byte stays in its place.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from seedstall.model.redact import MASK, NAMES, URL, redact, redact_argv, secret_name

_NUMBERS = re.compile(
    r"(?:takes/[0-9]+/)?(?:probe/.*|sys/.*|proc/(?:sys|pressure|self)/.*|proc/[^/]+"
    r"|proc/[0-9]+/(?:task/[0-9]+/)?(?:maps|stat|status|sched|schedstat|syscall|wchan|comm|children|stack|io|cgroup"
    r"|limits|mountinfo|oom_score|exe-header))"
)
"""Files that the kernel writes: their form must stay, and no program puts a secret there but in its own name."""
_ARGUMENTS = re.compile(r"(?:takes/[0-9]+/)?proc/[0-9]+/cmdline")
_VARIABLES = re.compile(r"(?:takes/[0-9]+/)?proc/[0-9]+/environ")
_PROPERTIES = re.compile(r"(?:takes/[0-9]+/)?jvm/properties\.txt")
_TELLING = re.compile(
    r"(?i)_?(?:java|jdk|jre|jvm|catalina|tomcat|jboss|wildfly|jetty|spring|maven|gradle|kafka|es|ant|sbt|container"
    r"|kubernetes|lang|language|lc|tz|user|logname|home|path|shell|term|host|hostname|pwd|openssl|fips|malloc|ld)"
    r"(?:_.*)?|.*_(?:opts|options|args|flags|home)"
)
_OPTIONS = re.compile(r"(?:^|\s)-(?:D|X|XX:|javaagent:|agentlib:)\w|/dev/u?random")
_ELF = b"\x7fELF"
_FOLDERS = ("PWD", "OLDPWD")
"""Not passwords."""
_LONGEST_LINE = 1 << 20
# hsperfdata has a JVM's arguments in one text, parted by blanks as they may be themselves: up to the next option.
_JOINED = re.compile(rf"({NAMES}[\w.\-]{{0,40}}[=:])([^\0]{{1,400}}?)(?= -|\0|$)", re.IGNORECASE)


def redacted(path: str, data: bytes) -> bytes:
    """The file *path* of a bundle without the secrets that its form shows."""
    if _NUMBERS.fullmatch(path):
        return data
    if _ARGUMENTS.fullmatch(path):
        return _arguments(data)
    if _VARIABLES.fullmatch(path):
        return b"\0".join(_variable(part) for part in data.split(b"\0"))
    if data.startswith(_ELF):
        return data  # a program of the JDK: nobody's secret, and 20 MB
    if b"\0" in data[:4096]:
        return _binary(data)
    told = _property if _PROPERTIES.fullmatch(path) else redact
    lines = data.decode("utf-8", "surrogateescape").split("\n")
    return "\n".join(_in_pieces(told, line) for line in lines).encode("utf-8", "surrogateescape")


def _in_pieces(told: Callable[[str], str], line: str) -> str:
    if len(line) <= _LONGEST_LINE:
        return told(line)
    pieces = (line[at : at + _LONGEST_LINE] for at in range(0, len(line), _LONGEST_LINE))
    return "".join(map(told, pieces))


def _arguments(data: bytes) -> bytes:
    argv = data.decode("utf-8", "surrogateescape").split("\0")
    if len(argv) == 1:  # a program that wrote a title over its arguments
        return redact(argv[0]).encode("utf-8", "surrogateescape")
    return "\0".join(redact_argv(argv)).encode("utf-8", "surrogateescape")


def _variable(part: bytes) -> bytes:
    """Only variables that say something of a JVM or its host keep their values: others may hold anything."""
    name, equals, value = part.decode("utf-8", "surrogateescape").partition("=")
    told = _TELLING.fullmatch(name) is not None or _OPTIONS.search(value[:4096]) is not None
    if name in _FOLDERS:
        shown = value
    elif not value:
        shown = ""
    else:
        shown = MASK if secret_name(name) or not told else redact(value)
    return f"{name}{equals}{shown}".encode("utf-8", "surrogateescape")


def _property(line: str) -> str:
    """``NAME=VALUE`` of a properties file: all of the value where the name tells of a secret."""
    name, equals, value = line.partition("=")
    if equals and value and not line.startswith("#") and secret_name(name):
        return f"{name}={MASK}"
    return redact(line)


def _binary(data: bytes) -> bytes:
    """The texts in it, each secret under as many stars as it has bytes: counters say where the next one begins."""
    text = data.decode("latin-1")
    text = URL.sub(lambda m: f"{m[1]}{'*' * len(m[2])}:{'*' * len(m[3])}@", text)
    text = _JOINED.sub(lambda m: m[1] + "*" * len(m[2]), text)
    return text.encode("latin-1")
