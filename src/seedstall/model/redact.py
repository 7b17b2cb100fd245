"""Secrets out of everything that is printed: passwords on command lines, in options, in URLs."""

from __future__ import annotations

import re
from collections.abc import Sequence

MASK = "*****"
NAMES = (
    r"(?:pass(?:wd|word|phrase|code)?|pwd|secret|token|credentials?"
    r"|api[-_.]?key|access[-_.]?key|private[-_.]?key)"
)
_SECRET = re.compile(rf"{NAMES}|(?:^|[-_.])(?:auth|pin|key)$", re.IGNORECASE)
# jarsigner and keytool take the secret as the next word; ":env" and ":file" name where it lies instead.
_TOOL_OPTIONS = frozenset(
    (
        "-storepass",
        "-keypass",
        "-srcstorepass",
        "-srckeypass",
        "-deststorepass",
        "-destkeypass",
        "-new",
        "-providerarg",
    )
)
URL = re.compile(
    r"([a-z][a-z0-9+.-]{0,30}://)([^\s/@:'\"]{1,200}):([^\s/@'\"]{1,200})@", re.IGNORECASE
)
# "secret_log.txt:12", "/etc/passwd:7:", "password_reset.log:3)": a file and a line in it, no key and its value.
_LINE = re.compile(r"\d{1,7}(?::\d{1,7})?[)\].:]{0,3}")
_LOOK_BACK = 80
"""Characters before a secret's word in which a path's last ``/`` is looked for."""
# It starts at the secret's own word: a name before it needs no matching, and costs time on hostile text.
_PAIR = re.compile(
    rf"""({NAMES}[\w.\-]{{0,40}}\s?[=:]\s?)("[^"\n]{{0,400}}"|'[^'\n]{{0,400}}'|[^\s"'&,;]{{1,400}})""",
    re.IGNORECASE,
)
_TOOL_PAIR = re.compile(
    r"""(-(?:src|dest)?(?:storepass|keypass)\s+)("[^"\n]{0,400}"|'[^'\n]{0,400}'|\S{1,400})""",
    re.IGNORECASE,
)
# Values that are looked at and never secret: a setting's name must not hide the evidence.
_PLAIN = re.compile(
    r"-D(?:java\.security\.(?:egd|properties)|securerandom\.source)=", re.IGNORECASE
)


def secret_name(name: str) -> bool:
    """Whether a variable or property of that name holds a secret as far as its name tells."""
    return _SECRET.search(name) is not None


def redact_argv(argv: Sequence[str]) -> tuple[str, ...]:
    """The arguments with every secret replaced, their number and order kept."""
    shown: list[str] = []
    hide = False
    for argument in argv:
        shown.append(MASK if hide else _argument(argument))
        hide = not hide and argument.lower() in _TOOL_OPTIONS
    return tuple(shown)


def _argument(argument: str) -> str:
    """One argument: of ``-Ddb.password=a phrase`` all that stands behind the sign."""
    name, equals, value = argument.partition("=")
    if equals and value and name.startswith("-D") and secret_name(name):
        return f"{name}={MASK}"
    return redact(argument)


def redact(text: str) -> str:
    """*text* with passwords, tokens and the credentials of URLs replaced by ``*****``."""
    if "://" in text:
        text = URL.sub(rf"\1{MASK}:{MASK}@", text)
    if _PLAIN.match(text):
        return text
    text = _TOOL_PAIR.sub(rf"\1{MASK}", text)
    return _PAIR.sub(_masked, text)


def _masked(pair: re.Match[str]) -> str:
    return pair[0] if _is_place(pair) else pair[1] + MASK


def _is_place(pair: re.Match[str]) -> bool:
    """Whether it is a file's name and a line: a colon right before the digits, and a name with an ending or a path.

    ``password:12345`` has neither, and ``password.txt: 12345`` a blank: both stay secrets.
    """
    key = pair[1]
    if not key.endswith(":") or key[-2].isspace() or _LINE.fullmatch(pair[2]) is None:
        return False
    if "." in key:
        return True
    head = pair.string[max(0, pair.start() - _LOOK_BACK) : pair.start()]
    _, slash, name = head.rpartition("/")
    return slash != "" and all(c.isalnum() or c in "_.-" for c in name)


def visible(text: str) -> str:
    """*text* with control and bidirectional characters shown as escapes, so that a terminal obeys none."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if c.isprintable() or c == " " else _escape(c) for c in text)


def _escape(character: str) -> str:
    # Python's own escapes: \\x1b, \\u202e, \\U000e0001.
    return (
        character.encode("unicode_escape").decode()
        if character not in "\t\n\r"
        else f"\\x{ord(character):02x}"
    )
