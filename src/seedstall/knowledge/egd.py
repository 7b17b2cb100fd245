"""The right value of ``java.security.egd`` for a JDK, and what is wrong with another one."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple, TypeAlias

from seedstall.knowledge.seedsource import (
    DRBG_SINCE,
    JEP_123,
    SPECIAL,
    URL_RANDOM,
    URL_URANDOM,
    Destination,
    Target,
    destination,
    is_special,
)
from seedstall.model.jdk import JdkVersion

UNSPECIAL_URANDOM = "file:/dev/./urandom"
STRONG_NONBLOCKING = "NativePRNGNonBlocking:SUN"
_QUOTES = "\"'`\u2018\u2019\u201a\u201c\u201d\u201e\u00ab\u00bb"


class EgdAdvice(NamedTuple):
    """A value, and one line for the person who expects another one."""

    value: str
    why: str


class EgdFault(StrEnum):
    """What is wrong with a seed source string, gravest first."""

    REFUSED = "refused"
    """``file://dev/urandom``: no SecureRandom at all on 8 and later."""
    QUOTED = "quoted"
    """Quotation marks in the value itself."""
    NO_SCHEME = "no-scheme"
    NO_HANDLER = "no-handler"
    """A scheme the JDK does not know."""
    NO_SUCH_FILE = "no-such-file"
    NO_RANDOMNESS = "no-randomness"
    DEFAULT_BLOCKS = "default-blocks"
    """``/dev/random`` spelled so that ``new SecureRandom()`` seeds from it."""
    NO_EFFECT = "no-effect"
    EMPTY = "empty"
    REMOTE = "remote"
    RELATIVE = "relative"
    OTHER_DEVICE = "other-device"
    BLANK = "blank"
    CASE = "case"
    CHANGES_DEFAULT = "changes-default"


_CURES: dict[EgdFault, bool | None] = {
    EgdFault.EMPTY: None,
    EgdFault.REMOTE: None,
    EgdFault.RELATIVE: None,
    EgdFault.OTHER_DEVICE: None,
    EgdFault.BLANK: True,
    EgdFault.CASE: True,
    EgdFault.CHANGES_DEFAULT: True,
}


class EgdProblem(NamedTuple):
    """Why a value does not do what it looks like: ``message`` in one line, ``better`` the value to take."""

    fault: EgdFault
    message: str
    better: str

    @property
    def cures(self) -> bool | None:
        """Whether starts are quick all the same, which makes it a note; ``None`` where a thing not seen decides."""
        return _CURES.get(self.fault, False)


def right_egd(jdk: JdkVersion | None) -> EgdAdvice:
    """The value that cures seeding waits on that JDK and changes the least; ``None``: JDK not known."""
    if jdk is None:
        return EgdAdvice(
            UNSPECIAL_URANDOM,
            f"{UNSPECIAL_URANDOM}: the one spelling that cures every JDK from 6 on; from 8 on {URL_URANDOM}"
            " does too, and keeps the default generator",
        )
    if jdk.feature < JEP_123:
        return EgdAdvice(
            UNSPECIAL_URANDOM,
            f"{UNSPECIAL_URANDOM} and not {URL_URANDOM}: JDK 6 and 7 compare that one literally and then read"
            " /dev/random all the same (JDK-6202721)",
        )
    return EgdAdvice(
        URL_URANDOM,
        f"{URL_URANDOM} and not the famous {UNSPECIAL_URANDOM}: from JDK 8 on (JDK-6425477) the plain form works"
        f" and keeps NativePRNG the default, where the /./ makes it {_software(jdk)}",
    )


def strong_advice() -> EgdAdvice:
    """The value of ``securerandom.strongAlgorithms`` (8+) that makes ``getInstanceStrong()`` read ``/dev/urandom``.

    A security property: in ``java.security`` or a file appended with ``-Djava.security.properties=FILE``; there is no
    system property for it.
    """
    return EgdAdvice(
        STRONG_NONBLOCKING,
        "getInstanceStrong() ignores java.security.egd: only the security property securerandom.strongAlgorithms"
        " reaches it",
    )


def egd_problem(
    value: str, jdk: JdkVersion | None, *, readable: bool | None = None
) -> EgdProblem | None:
    """What is wrong with *value* as a seed source that is meant to cure a stall; ``None`` if nothing is.

    With *jdk* unknown only what is wrong on every release counts. *readable* says whether the file it names was seen
    to be there; ``None``: nobody looked, and only paths that no Linux has are called missing.
    """
    end = destination(value)
    found = (
        _no_url(value, jdk, end.target)
        or _poor_file(end, readable=readable)
        or _waits(value, jdk, end.target)
        or _changes(value, jdk, end.target)
    )
    return EgdProblem(*found, right_egd(jdk).value) if found is not None else None


_Found: TypeAlias = tuple[EgdFault, str] | None
_DELAY = "the JDK falls back to its threaded seeder, about 5 to 9 s at every start"


def _no_url(value: str, jdk: JdkVersion | None, target: Target) -> _Found:
    """Values that java.net.URL or java.io.File does not take."""
    if target is Target.EMPTY:
        return EgdFault.EMPTY, "an empty value counts as not set: securerandom.source decides"
    if target is Target.REFUSED:
        what = "a query or fragment" if "?" in value or "#" in value else "a host (two slashes)"
        if jdk is not None and jdk.feature < JEP_123:
            return EgdFault.REFUSED, f"a file URL with {what} cannot be opened: {_DELAY}"
        return (
            EgdFault.REFUSED,
            f"a file URL with {what} breaks the SUN provider: no SecureRandom works on JDK 8+",
        )
    if target is Target.BROKEN or any(mark in value for mark in _QUOTES):
        return _not_a_url(value)
    return None


def _not_a_url(value: str) -> _Found:
    if any(mark in value for mark in _QUOTES):
        return (
            EgdFault.QUOTED,
            f"the quotation marks are part of the value, which is no URL then: {_DELAY}",
        )
    if ":" in value:
        return EgdFault.NO_HANDLER, f"a URL that the JDK cannot open: {_DELAY}"
    what = "no file: before the path" if value.strip().startswith("/") else "not a URL"
    return EgdFault.NO_SCHEME, f"{what}: {_DELAY}"


def _poor_file(end: Destination, *, readable: bool | None) -> _Found:
    """Values that end at a file which is not there, or is not random."""
    if end.target is Target.NO_RANDOMNESS:
        return (
            EgdFault.NO_RANDOMNESS,
            f"{end.path} holds no randomness: seeds would be known, or empty",
        )
    if end.target is Target.REMOTE:
        return EgdFault.REMOTE, f"seeds are read from a URL; if it does not answer, {_DELAY}"
    if readable is False and end.path:
        return EgdFault.NO_SUCH_FILE, f"{end.path} cannot be read: {_DELAY}"
    if end.target is Target.RELATIVE:
        return (
            EgdFault.RELATIVE,
            f"relative to the working directory; if {end.path} is not there, {_DELAY}",
        )
    return _unusual_file(end) if not readable else None


def _unusual_file(end: Destination) -> _Found:
    if end.target is Target.FILE and end.path.startswith("/dev/"):
        return EgdFault.NO_SUCH_FILE, f"no Linux has {end.path}: {_DELAY}"
    if end.target in (Target.FILE, Target.RANDOM_LIKE):
        message = (
            f"{end.path} is neither /dev/random nor /dev/urandom; if it is not there, {_DELAY}"
        )
        return EgdFault.OTHER_DEVICE, message
    return None


def _waits(value: str, jdk: JdkVersion | None, target: Target) -> _Found:
    """Values that leave or make the wait on ``/dev/random``."""
    old = jdk is not None and jdk.feature < JEP_123
    if target is Target.RANDOM:
        if old or not is_special(value):
            return EgdFault.DEFAULT_BLOCKS, (
                f"makes {_software(jdk)} the default generator, seeded from /dev/random: new SecureRandom() waits too"
            )
        worse = "; on 6 and 7 it makes the default generator wait as well" if jdk is None else ""
        return EgdFault.NO_EFFECT, (
            f"{URL_RANDOM} is what JDK 8 and later use anyway: seeding still reads /dev/random{worse}"
        )
    if old and value == URL_URANDOM:
        return EgdFault.NO_EFFECT, (
            f"{URL_URANDOM} is what JDK 6 and 7 use anyway, and they read /dev/random all the same (JDK-6202721):"
            f" only another spelling such as {UNSPECIAL_URANDOM} helps"
        )
    return None


def _changes(value: str, jdk: JdkVersion | None, target: Target) -> _Found:
    """Values that cure the wait and change more than that."""
    if is_special(value) or (jdk is not None and jdk.feature < JEP_123):
        return None
    effect = (
        f"so the default generator is {_software(jdk)} instead of NativePRNG; it does cure the wait"
    )
    if value.strip() in SPECIAL:
        return (
            EgdFault.BLANK,
            f"a blank before or after the URL: not the string the JDK knows, {effect}",
        )
    if value.strip().lower() in SPECIAL:
        return EgdFault.CASE, f"capitals in the URL: not the string the JDK knows, {effect}"
    if jdk is None:
        return None
    spelled = (
        f"not spelled {URL_URANDOM}" if target is Target.URANDOM else "not a string the JDK knows"
    )
    return EgdFault.CHANGES_DEFAULT, f"{spelled}, {effect}"


def _software(jdk: JdkVersion | None) -> str:
    """The default generator where the source is no special string."""
    if jdk is None:
        return "DRBG (SHA1PRNG up to 8)"
    return "SHA1PRNG" if jdk.feature < DRBG_SINCE else "DRBG"
