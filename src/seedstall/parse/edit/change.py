"""A settings file's exact text, changes to it, and the proof that they change nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from seedstall.model.settings import ConfigFile, Damage, Format, Reach, SeedOption
from seedstall.parse import configfile
from seedstall.parse.configfile.change import Splice, option_edits, rewritten
from seedstall.parse.configfile.moved import before_main, into_quotes
from seedstall.parse.configfile.seedword import EGD
from seedstall.parse.edit.options import Edit
from seedstall.parse.edit.options import option as option_text
from seedstall.parse.setenv import check_value

TOOL_OPTIONS = "JAVA_TOOL_OPTIONS"
ALWAYS_READ = (TOOL_OPTIONS, "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "command line", "JVM options")
"""Carriers of options that the JVM itself or its launcher reads, whatever script starts it."""
_CODECS = (
    ("utf-8", b""),
    ("utf-8", b"\xef\xbb\xbf"),
    ("utf-16-le", b"\xff\xfe"),
    ("utf-16-be", b"\xfe\xff"),
    ("cp1252", b""),
    ("latin-1", b""),
)
_BLANKS = " \t"
MOST_SETTINGS = 500
"""Of the seed source in one file that is edited: nobody wrote more by hand, and each is weighed against variables."""


class NoPlaceError(ValueError):
    """The file was understood, and there is no place in it for the option, or none that would be safe."""


@dataclass(frozen=True, slots=True)
class ExactText:
    """A file's text as it was read, and how to write it again: every byte that no change touches stays."""

    data: bytes
    text: str
    codec: str
    mark: bytes

    @property
    def newline(self) -> str:
        """The line end that most lines have."""
        return "\r\n" if self.text.count("\r\n") * 2 > self.text.count("\n") else "\n"

    def line(self, offset: int) -> int:
        """The line, counted from 1, in which *offset* lies."""
        return self.text.count("\n", 0, max(0, offset)) + 1

    def encoded(self, edits: Iterable[Splice]) -> bytes:
        """The file with *edits* made.

        Raises:
            NoPlaceError: two of them overlap.
        """
        made = rewritten(self.text, 0, len(self.text), sorted(set(edits)))
        if made is None:
            raise NoPlaceError("two settings in it overlap")
        return self.mark + made.encode(self.codec)

    def edited(
        self, edits: Sequence[Splice], value: str, replaced: Iterable[tuple[int, str]]
    ) -> Edit:
        """What became of it; *replaced* by offset."""
        data = self.encoded(edits)
        text = data[len(self.mark) :].decode(self.codec)
        at = text.rfind(value)
        rows = tuple((self.line(offset), old) for offset, old in replaced)
        return Edit(data, text.count("\n", 0, max(0, at)) + 1, rows)


@dataclass(frozen=True, slots=True)
class Original(ExactText):
    """A settings file as it was read, and what stands in it."""

    file: ConfigFile


def plain_text(data: bytes) -> ExactText:
    """The text of a file.

    Raises:
        ValueError: it is longer than any settings file, or no text of a known encoding.
    """
    if len(data) > configfile.MAX_BYTES:
        raise ValueError("longer than any settings file")
    text = configfile.decode(data)
    for codec, mark in _CODECS:
        try:
            if mark + text.encode(codec) == data:
                return ExactText(data, text, codec, mark)
        except UnicodeEncodeError:
            continue
    raise ValueError("its encoding is not known")


def original(name: str, data: bytes, form: Format) -> Original:
    """Take *data* apart as a file of that format.

    Raises:
        ValueError: it is no text of a known encoding, or not understood as that.
    """
    text = plain_text(data)
    file = configfile.read(name, data, form=form)
    if file.format is Format.UNRECOGNISED:
        raise ValueError(file.problem)
    return Original(text.data, text.text, text.codec, text.mark, file)


def checked(value: str) -> str:
    """*value*, where it can be written into any file without quotes.

    Raises:
        ValueError: it cannot.
    """
    check_value(value)
    if any(c in value for c in "$%{}[],#&*!|>;<()^?"):
        raise ValueError(f"{value!r} holds characters that mean something else in such a file")
    return value


Mine: TypeAlias = Callable[[ConfigFile, SeedOption], bool]
"""Whether an option of a file is one that the JVM in question gets, or was meant to get."""


def anywhere(_: ConfigFile, option: SeedOption) -> bool:
    """Every option of the file."""
    return option.meant == EGD


def seed_options(file: ConfigFile, mine: Mine = anywhere) -> list[SeedOption]:
    """What sets the seed source, or was meant to, in the file's order, where *mine* says yes.

    Raises:
        NoPlaceError: there are more than anybody wrote.
    """
    meant = sum(o.meant == EGD for o in file.options)
    if meant > MOST_SETTINGS:
        raise NoPlaceError(f"{meant} settings of {EGD}: no file for a program to edit")
    found = [o for o in file.options if o.meant == EGD and mine(file, o)]
    seen: dict[tuple[int, int], SeedOption] = {}
    for option in found:
        seen.setdefault(option.word.place(), option)
    return sorted(seen.values(), key=lambda o: o.word.place())


def is_right(option: SeedOption, value: str) -> bool:
    """Whether the option does what it should."""
    return (
        option.damage is Damage.NONE
        and option.reach is Reach.JVM
        and option.name.text == EGD
        and option.value is not None
        and option.value.text == value
        and not option.tail
    )


def stretch(text: str, option: SeedOption) -> tuple[int, int]:
    """Where an option is written, with what blanks tore from it and quotes that stand inside it."""
    start = option.word.place()[0]
    end = option.tail[-1].place()[1] if option.tail else option.word.place()[1]
    for quote in "\"'":
        if text[start:end].count(quote) % 2 and text[end : end + 1] == quote:
            end += 1
    return start, end


def removal(text: str, option: SeedOption) -> Splice:
    """The change that takes an option away: with its line where nothing else stands on it, else with a blank."""
    start, end = stretch(text, option)
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", end)
    last = len(text) if last < 0 else last + 1
    if not text[first:start].strip() and not text[end:last].strip():
        return first, last, ""
    while start > first and text[start - 1] in _BLANKS:
        start -= 1
    return start, end, ""


def written(text: str, option: SeedOption) -> str:
    """The option as it is written, on one line."""
    start, end = stretch(text, option)
    return " ".join(text[start:end].split())


def above(file: ConfigFile, scope: int) -> Iterator[int]:
    """A scope and those whose variables it has too, the nearest first; the file's own comes last."""
    seen: set[int] = set()
    at: int | None = scope
    while at is not None and at not in seen:
        seen.add(at)
        yield at
        at = file.scopes[at].parent
    if 0 not in seen:
        yield 0


def appended(text: str, lines: Sequence[str], newline: str, *, joint: bool = False) -> Splice:
    """The change that adds *lines* at the end of *text*; with *joint*, behind an empty line."""
    begin = "" if not text or text.endswith("\n") else newline
    if _continued(text):
        begin += newline  # the last line goes on: it would swallow ours
    if joint:
        begin += newline
    return len(text), len(text), begin + "".join(line + newline for line in lines)


def _continued(text: str) -> bool:
    last = text.rstrip("\r\n")
    return (len(last) - len(last.rstrip("\\"))) % 2 == 1


def sealed(
    before: Original,
    edits: Iterable[Splice],
    value: str,
    *,
    replaced: Sequence[SeedOption] = (),
    notes: tuple[str, ...] = (),
    mine: Mine = anywhere,
    moved: frozenset[str] = frozenset(),
) -> Edit:
    """The edited file, read again: every setting that is *mine* is right, and variables but *moved* are as before.

    Raises:
        NoPlaceError: it is not so: the file is written in a way that is not foreseen.
    """
    data = before.encoded(edits)
    after = original(before.file.name, data, before.file.format)
    options = seed_options(after.file, mine)
    if not options or not all(is_right(o, value) for o in options):
        raise NoPlaceError("no place in it was found where the option is sure to be read")
    known = before.file.problem if before.text.strip() else ""
    if after.file.problem != known or _others(after.file, moved) != _others(before.file, moved):
        raise NoPlaceError("the option cannot be put there without a change to something else")
    rows = tuple((before.line(o.word.place()[0]), written(before.text, o)) for o in replaced)
    return Edit(data, after.line(options[-1].word.place()[0]), rows, notes)


def _others(file: ConfigFile, moved: frozenset[str]) -> list[tuple[object, ...]]:
    """What a file says apart from its seed options: variables, commands, security properties."""
    rows: list[tuple[object, ...]] = [
        (v.scope, v.name, _bare(v.value.text), v.how) for v in file.variables if v.name not in moved
    ]
    rows += [(c.scope, c.start, *_plain(w.text for w in c.words)) for c in file.commands]
    rows += [(e.scope, e.name.text, e.value.text) for e in file.entries]
    return rows


def _bare(text: str) -> tuple[str, ...]:
    return tuple(_plain(text.split()))


def _plain(words: Iterable[str]) -> Iterator[str]:
    """Words that have nothing to do with seeding; of one that holds several, those."""
    for word in words:
        if " " in word.strip():
            yield " ".join(_plain(word.split()))
        elif "egd" not in word and "securerandom" not in word.lower() and "/dev/" not in word:
            yield word.strip("\"'\\")


def mended(before: Original, option: SeedOption, value: str) -> list[Splice]:
    """The right option where a wrong one stands; one behind ``-jar`` comes before it."""
    right = option_text(value)
    if option.reach is Reach.PROGRAM and option.damage is Damage.NONE:
        edits = before_main(before.file, option, right)
        if edits:
            return edits
    if option.reach is Reach.NOBODY:
        edits = into_quotes(before.file, option, right)
        if edits:
            return edits
    return option_edits(before.file, option, right) or [(*stretch(before.text, option), right)]
