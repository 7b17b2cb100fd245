"""Words that set a property of seeding, and words that were meant to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from seedstall.knowledge.spelling import close
from seedstall.model.settings import UNKNOWN, Damage, Placed
from seedstall.parse.configfile.words import unknown

EGD = "java.security.egd"
PROPERTIES = "java.security.properties"
SOURCE = "securerandom.source"
STRONG = "securerandom.strongAlgorithms"
SYSTEM = (EGD, PROPERTIES)
"""Read as system properties."""
SECURITY = (SOURCE, STRONG)
"""Read as security properties, from ``java.security`` alone."""

QUOTES = "\u2018\u2019\u201a\u201b\u201c\u201d\u201e\u201f\u00ab\u00bb\u2032\u2033\u00b4\u0060"
"""What word processors and web pages make of ``'`` and ``"``."""
DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe63\uff0d"
SPACES = "\u00a0\u2007\u202f\u2009\u3000\u200b\u2060\ufeff"
"""Blanks at which nothing is split, and such as have no width."""

_ALIASES = {
    **dict.fromkeys(
        (
            "securerandom.source",
            "secure.random.source",
            "java.securerandom.source",
            "java.security.securerandom.source",
            "java.security.source",
            "java.security.random.source",
            "java.security.secure.random.source",
            "securerandom.egd",
            "java.securerandom.egd",
            "java.security.securerandom.egd",
            "java.security.random.egd",
            "java.security.egd.source",
            "security.egd",
            "java.egd",
            "java.util.security.egd",
            "java.lang.security.egd",
        ),
        EGD,
    ),
    **dict.fromkeys(
        (
            "securerandom.strongalgorithms",
            "securerandom.strongalgorithm",
            "java.security.securerandom.strongalgorithms",
            "java.securerandom.strongalgorithms",
            "java.security.strongalgorithms",
        ),
        STRONG,
    ),
}
"""Names that are no system property, and what they were meant for."""


@dataclass(frozen=True, slots=True)
class SeedWord:
    """What one word (and the ``tail`` that blanks tore from it) was meant to set.

    ``option`` is the word from its first character to its last, typographic quotation marks included.
    """

    meant: str
    name: Placed
    value: Placed | None
    option: Placed
    damage: Damage = Damage.NONE
    prefix: str = "-D"
    at: int = 0
    tail: tuple[Placed, ...] = ()
    apart: bool = False


def meant(name: str) -> str:
    """The property that ``-Dname=`` was meant to set; ``""`` where it is none of ours."""
    if name in SYSTEM:
        return name
    lowered = name.lower()
    if lowered in _ALIASES:
        return _ALIASES[lowered]
    return next((p for p in SYSTEM if close(lowered, p)), "")


def meant_security(name: str) -> str:
    """The same for a name in a security properties file."""
    if name in SECURITY:
        return name
    lowered = name.lower()
    if lowered in (EGD, "java.security.securerandom.source", "secure.random.source"):
        return SOURCE
    return next((p for p in SECURITY if close(lowered, p.lower())), "")


def device_like(text: str) -> bool:
    """Whether a value was meant to be a random device or its URL."""
    lowered = text.lower()
    return "random" in lowered or "/dev/" in lowered or lowered.startswith("file:")


def seed_words(words: Sequence[Placed]) -> Iterator[SeedWord]:
    """All of them among *words*, one option that blanks tore apart as one."""
    at = 0
    while at < len(words):
        found = _torn(words, at) or seed_word(words[at])
        if found is not None:
            yield replace(found, at=at)
        at += 1 + (len(found.tail) if found is not None else 0)


def _torn(words: Sequence[Placed], at: int) -> SeedWord | None:
    """An option with blanks in it, which made several words of it."""
    word = words[at]
    following = words[at + 1 : at + 3]
    if not following:
        return None
    if word.text in ("-D", "-J-D") and (rest := _named(following[0], "", Damage.BLANKS)):
        return replace(rest, prefix=word.text, option=word, tail=(following[0],))
    found = seed_word(word)
    if found is None or found.meant != EGD or (found.value is not None and found.value.text):
        return None
    first = following[0].text
    if found.value is None and first.startswith("="):
        count = 2 if first == "=" and len(following) > 1 else 1
        value = following[1] if count > 1 else following[0].part(1, len(first))
    elif device_like(first) and not first.startswith("-"):
        count, value = 1, following[0]
    else:
        return None
    if not device_like(value.text):
        return None
    return replace(found, value=value, damage=Damage.BLANKS, tail=tuple(following[:count]))


def seed_word(word: Placed) -> SeedWord | None:
    """What *word* was meant to set; ``None`` where it is another option or none."""
    text = word.text
    if not _worth(text):
        return None
    start, end = 0, len(text)
    while start < end and text[start] == UNKNOWN:
        start += 1
    written = word.part(start, end)
    quoted = start < end and text[start] in QUOTES
    while start < end and text[start] in QUOTES:
        start += 1
    while quoted and end > start and text[end - 1] in QUOTES:
        end -= 1
    option = word.part(start, end)
    found = _option(option)
    if found is not None:
        return replace(found, damage=Damage.QUOTES, option=written) if quoted else found
    return _behind_space(option)


def _worth(text: str) -> bool:
    """A quick look: most words are none of ours."""
    lowered = text.lower()
    return ".egd" in lowered or "security" in lowered or "random" in lowered or ".edg" in lowered


def _option(option: Placed) -> SeedWord | None:
    text = option.text
    for prefix, damage in (
        ("-D", Damage.NONE),
        ("-J-D", Damage.NONE),
        ("--D", Damage.EXTRA_DASH),
        ("-d", Damage.SMALL_D),
    ):
        if text.startswith(prefix):
            return _named(option, prefix, damage)
    if text[:1] and text[0] in DASHES and text[1:2] in ("D", "d"):
        return _named(option, text[:2], Damage.DASH)
    for prefix in ("--",) if text.startswith("--") else ("", "D"):
        if text.startswith(prefix) and (found := _named(option, prefix, Damage.NO_DASH)):
            plain = found.name.text in (EGD, PROPERTIES) or found.name.text.lower() == EGD
            return found if plain and found.value is not None else None
    return None


def _named(option: Placed, prefix: str, damage: Damage) -> SeedWord | None:
    """The option's name and value, where the name is one of ours or nearly."""
    text, start = option.text, len(prefix)
    equals = text.find("=", start)
    end = len(text) if equals < 0 else equals
    bare = text[start:end].strip()
    found = meant(bare)
    value = None if equals < 0 else option.part(equals + 1, len(text))
    if not found and ":" in bare:
        return _with_colon(option, prefix)
    if not found or (bare != found and not _credible(found, value)):
        return None
    if len(bare) < end - start:
        damage, value = Damage.BLANKS, _trimmed(value)
    elif (bare != found or found not in SYSTEM) and damage is Damage.NONE:
        damage = Damage.NAME
    if value is not None and unknown(value.text):
        value = None if damage is Damage.NONE else value
    kept = "-J-D" if prefix.startswith("-J") else "-D"
    return SeedWord(found, option.part(start, end), value, option, damage, kept)


def _with_colon(option: Placed, prefix: str) -> SeedWord | None:
    """``-Djava.security.egd:file:/dev/urandom``: a property of that whole name."""
    text, start = option.text, len(prefix)
    colon = text.find(":", start)
    if text[start:colon] != EGD or not device_like(text[colon + 1 :]):
        return None
    value = option.part(colon + 1, len(text))
    return SeedWord(EGD, option.part(start, colon), value, option, Damage.COLON)


def _credible(found: str, value: Placed | None) -> bool:
    """Whether the value fits what the name nearly is: a stranger's property is left alone."""
    if value is None or not value.text:
        return False
    if found == EGD:
        return device_like(value.text) or unknown(value.text)
    if found == STRONG:
        return "PRNG" in value.text.upper() or ":" in value.text or "DRBG" in value.text.upper()
    return True


def _trimmed(value: Placed | None) -> Placed | None:
    if value is None:
        return None
    start = len(value.text) - len(value.text.lstrip())
    return value.part(start, max(start, len(value.text.rstrip())))


def _behind_space(option: Placed) -> SeedWord | None:
    """An option glued to the one before it by a blank that nobody splits at."""
    text = option.text
    at = max(text.rfind(space, 0, -1) for space in SPACES)
    if at < 0:
        return None
    found = _option(option.part(at + 1, len(text)))
    return replace(found, damage=Damage.NO_BREAK_SPACE) if found is not None else None
