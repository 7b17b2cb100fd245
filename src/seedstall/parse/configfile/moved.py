"""Options moved to where the JVM sees them: before the main class, into the quotes of their value."""

from __future__ import annotations

import re

from seedstall.model.settings import Command, ConfigFile, SeedOption
from seedstall.parse.configfile.change import Splice, rewritten, swap

_MORE = re.compile(r"(?:[ \t]+-[^\s\"']{1,400}){0,60}")
DOUBLE = "\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033"
SINGLE = "\u2018\u2019\u201a\u201b\u2032\u00b4"
TYPOGRAPHIC = DOUBLE + SINGLE


def before_main(file: ConfigFile, option: SeedOption, new: str) -> list[Splice]:
    """The option before ``-jar``, ``-m`` or the main class. The words between move on by one place.

    What stands between the words (blanks, commas, line ends and dashes of a YAML list) stays where it is, so that it
    fits every way of writing a list.
    """
    if option.command is None or option.tail:
        return []
    command = file.commands[option.command]
    start, end = command.words[option.at].outer
    own = rewritten(file.text, start, end, swap(option.word, new)) or file.text[start:end]
    return word_before_main(file, command, option.at, own)


def word_before_main(file: ConfigFile, command: Command, last: int, own: str) -> list[Splice]:
    """Word *last* of the command, written as *own*, before ``-jar``, ``-m`` or the main class."""
    first = command.main_from
    if first is None:
        return []
    raw = [file.text[w.outer[0] : w.outer[1]] for w in command.words[first : last + 1]]
    if any(first < b <= last for b in command.lists) and raw[0][:1] == '"' == own[:1]:
        return _across_lists(command, first, last, own)
    texts = [own, *raw[:-1]]
    return [
        (word.outer[0], word.outer[1], text)
        for word, text in zip(command.words[first : last + 1], texts, strict=True)
    ]


def _across_lists(command: Command, first: int, last: int, own: str) -> list[Splice]:
    """From CMD's JSON list into ENTRYPOINT's."""
    begins = max(b for b in command.lists if b <= last)
    words = command.words
    start, end = words[last].outer
    if last + 1 < len(words):
        end = words[last + 1].outer[0]
    elif last > begins:
        start = words[last - 1].outer[1]
    at = words[first].outer[0]
    return [(at, at, f"{own}, "), (start, end, "")]


def into_quotes(file: ConfigFile, option: SeedOption, new: str) -> list[Splice]:
    """The option inside the quotes of the variable that it fell out of."""
    if option.variable is None:
        return []
    text = file.text
    end = option.word.outer[1]
    edits = swap(option.word, new)
    value = file.variables[option.variable].value
    first, last = value.place()
    if any(q in text[first:end] for q in TYPOGRAPHIC):
        return [(at, at + 1, '"') for at in range(first, end) if text[at] in TYPOGRAPHIC]
    more = _MORE.match(text, end)
    close = more.end() if more else end
    if any(q in text[option.word.outer[0] : close] for q in "\"'"):
        return []
    if value.text and text[last : last + 1] in ('"', "'"):
        return [(last, last + 1, ""), *edits, (close, close, text[last])]
    return [(first, first, '"'), *edits, (close, close, '"')]


def straight_quotes(file: ConfigFile, start: int, end: int) -> list[Splice]:
    """Typographic quotes of a line as straight ones; where straight ones are there already, without them."""
    first = file.text.rfind("\n", 0, start) + 1
    last = file.text.find("\n", end)
    last = len(file.text) if last < 0 else last
    if last - first > 4_000:  # noqa: PLR2004 - no line that a person wrote
        return []
    row = file.text[first:last]
    straight = '"' in row
    return [
        (first + i, first + i + 1, "" if straight else '"' if c in DOUBLE else "'")
        for i, c in enumerate(row)
        if c in TYPOGRAPHIC
    ]
