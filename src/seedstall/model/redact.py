"""Secrets out of everything that is printed: passwords on command lines, in options, in URLs."""

from __future__ import annotations

import re
from collections.abc import Sequence

MASK = "*****"
NAMES = (
    r"(?:pass(?:wd|word|phrase|code)?|pwd|secret|token|credentials?"
    r"|jsessionid|session[-_.]?id|api[-_.]?key|access[-_.]?key|private[-_.]?key)"
)
_SECRET = re.compile(rf"{NAMES}|(?:^|[-_.])(?:auth|pin|key)$", re.IGNORECASE)
_OPTION = re.compile(rf"(?!-D)--?[\w.\-]{{0,30}}?{NAMES}", re.IGNORECASE)
"""``--password``, ``--db-token``: the next argument is one."""
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
    r"([a-z][a-z0-9+.-]{0,30}://)([^\s/@:'\"]{0,200}):([^\s/@'\"]{1,200})@", re.IGNORECASE
)
# jdbc:oracle:thin:USER/PASSWORD@HOST: Oracle's own form.
_ORACLE = re.compile(
    r"(jdbc:[a-z0-9]{1,20}:[a-z0-9]{1,20}:)([^\s/@:'\"]{1,100}/[^\s@'\"]{1,200})(?=@)",
    re.IGNORECASE,
)
_HEADER = re.compile(
    r"(authorization['\"]?\s?[=:]\s?['\"]?(?:(?:basic|bearer|digest|negotiate|token|apikey)\s{1,4})?)([^\s'\",;]{1,4000})",
    re.IGNORECASE,
)
_BEARER = re.compile(r"(bearer\s{1,4})((?=[^\s'\",;]{0,200}\d)[^\s'\",;]{8,4000})", re.IGNORECASE)
_ELEMENT = re.compile(rf"(<{NAMES}[\w.\-]{{0,40}}>\s?)([^<\n]{{1,400}})", re.IGNORECASE)
# What shows by its form that it is a secret: JWT, and the tokens of AWS, GitHub, GitLab, Slack, Google, Stripe.
_TOKEN = re.compile(
    r"()((?<![\w-])(?:eyJ[\w-]{8,4000}\.[\w-]{4,4000}(?:\.[\w-]{0,4000})?|(?:AKIA|ASIA)[0-9A-Z]{16}|gh[pousr]_\w{20,255}"
    r"|github_pat_\w{20,255}|glpat-[\w-]{20,255}|xox[abprs]-[\w-]{10,255}|AIza[\w-]{35}|[rs]k_live_\w{16,255}))"
)
_PRIVATE_KEY = re.compile(
    r"(-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----)((?:(?!-----END ).){1,16000})", re.DOTALL
)
# After these words that stand before it at once ("password --password" is prose) the next word is one.
_WORD_OPTION = re.compile(
    rf"((?<![^\s'\"])--?[\w.\-]{{0,30}}?{NAMES}\s+)((?!-)[^\s'\"]{{1,400}})", re.IGNORECASE
)
FORMS = (
    ("jdbc:", _ORACLE),
    ("uthorization", _HEADER),
    ("earer", _BEARER),
    ("</", _ELEMENT),
    ("PRIVATE KEY", _PRIVATE_KEY),
    (" -", _WORD_OPTION),
    ("", _TOKEN),
)
"""Secrets by their form: a word that a text with one holds, and what is kept before the second group, which goes."""
# "secret_log.txt:12", "/etc/passwd:7:", "password_reset.log:3)": a file and a line in it, no key and its value.
_LINE = re.compile(r"\d{1,7}(?::\d{1,7})?[)\].:]{0,3}")
_LOOK_BACK = 80
"""Characters before a secret's word in which a path's last ``/`` is looked for."""
# It starts at the secret's own word: a name before it needs no matching, and costs time on hostile text.
_PAIR = re.compile(
    rf"""({NAMES}[\w.\-]{{0,40}}["']?\s?[=:]\s?)("[^"\n]{{0,400}}"|'[^'\n]{{0,400}}'|[^\s"'&,;]{{1,400}})""",
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
    hide = perhaps = False
    for argument in argv:
        hide |= perhaps and not argument.startswith("-")
        shown.append(MASK if hide else _argument(argument))
        perhaps = not hide and _OPTION.fullmatch(argument) is not None
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
    for sign, form in FORMS:
        if sign in text:
            text = form.sub(rf"\1{MASK}", text)
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
