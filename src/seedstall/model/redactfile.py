"""Secrets out of whole files, by what each file is: what a bundle holds leaves the machine.

The length of a text may change, its lines and arguments do not; in a binary file every byte stays in its place.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from seedstall.model.redact import FORMS, MASK, NAMES, URL, redact, redact_argv, secret_name

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
_HSPERFDATA = (b"\xca\xfe\xc0\xc0", b"\xc0\xc0\xfe\xca")
_MARKS = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
_NOT_OF_TEXTS = bytes((*range(8), *range(14, 27), *range(28, 32)))
_LOOKED_AT = 4096
_KEY_BEGINS = re.compile(r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----(?!.{0,16000}-----END )")
_KEY_LINE = re.compile(r"[A-Za-z0-9+/=]{16,}|[A-Za-z0-9+/]{1,15}={0,2}(?=\s{0,10}$)")
"""A line of base64; the last is short. What a log writes before it stays."""
_KEY_LINES = 200
"""An RSA key of 8192 bits has 100 lines."""
_FOLDERS = ("PWD", "OLDPWD")
"""Not passwords."""
_LONGEST_LINE = 1 << 20
# hsperfdata has a JVM's arguments in one text, parted by blanks as they may be themselves: up to the next option.
_JOINED = re.compile(
    rf"({NAMES}[\w.\-]{{0,40}}[=:])([^\0\n]{{1,400}}?(?= -|\0|\n|$)|\S{{1,400}})", re.IGNORECASE
)


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
    told = _property if _PROPERTIES.fullmatch(path) else redact
    return changed(data, lambda text: _lines(told, text), _binary)


def changed(data: bytes, text: Callable[[str], str], binary: Callable[[bytes], bytes]) -> bytes:
    """*data* as *text* makes it where it is a text, as *binary* does where it is none.

    A log that was truncated under its writer begins with NUL bytes, and Windows writes UTF-16: both are texts.
    """
    coding = _coding(data)
    if coding == "":
        return binary(data)
    if coding == "utf-8":
        return text(data.decode(coding, "surrogateescape")).encode(coding, "surrogateescape")
    whole = len(data) & ~1
    try:
        shown = text(data[:whole].decode(coding)).encode(coding)
    except UnicodeError:
        return binary(data)
    return shown + data[whole:]


def _coding(data: bytes) -> str:
    """How a text is written; ``""`` for what is none."""
    if b"\0" not in data[:_LOOKED_AT]:
        return "utf-8"
    for mark, coding in _MARKS.items():
        if data.startswith(mark):
            return coding
    begun = data.lstrip(b"\0")[:_LOOKED_AT]
    odd, even = begun[1::2].count(0), begun[::2].count(0)
    if min(odd, even) * 8 < max(odd, even) > len(begun) // 4:
        at = len(data) - len(data.lstrip(b"\0"))
        # The zero of a character's upper half stands before it in big-endian, and may have been stripped.
        return "utf-16-le" if (odd > even) == (at % 2 == 0) else "utf-16-be"
    odd_ones = len(begun) - len(begun.translate(None, _NOT_OF_TEXTS))
    is_text = bool(begun) and not data.startswith(_HSPERFDATA) and odd_ones * 100 < len(begun)
    return "utf-8" if is_text else ""


def _lines(told: Callable[[str], str], text: str) -> str:
    """Each line for itself, and private keys, which take several."""
    shown: list[str] = []
    left = 0
    for line in text.split("\n"):
        left = 0 if "-----END " in line else left
        shown.append(_KEY_LINE.sub(MASK, line) if left else _in_pieces(told, line))
        left = _KEY_LINES if _KEY_BEGINS.search(line) else max(0, left - 1)
    return "\n".join(shown)


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
    for sign, form in FORMS:
        if sign in text:
            text = form.sub(lambda m: m[1] + "*" * len(m[2]), text)
    text = _JOINED.sub(lambda m: m[1] + "*" * len(m[2]), text)
    return text.encode("latin-1")
