"""One JVM option in a shell file that sets options: is it there, and the edit that puts it there once.

``catalina.sh`` sources ``setenv.sh`` and then runs ``eval exec java "$JAVA_OPTS" "$CATALINA_OPTS" ...``, so the values
are split and unquoted a second time (apache/tomcat ``bin/catalina.sh``, 7 to 11). Every edit made here is read again
and followed through all branches before it is handed out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from seedstall.knowledge.spelling import close
from seedstall.parse.shell.flow import ANYTHING, NOTHING, UNKNOWN, Ending, Texts, endings
from seedstall.parse.shell.grammar import closed, parse
from seedstall.parse.shell.scanner import line_of
from seedstall.parse.shell.script import (
    DECLARING,
    Assignment,
    Block,
    Function,
    Kind,
    Node,
    Piece,
    Simple,
    UnfinishedError,
)

EGD = "java.security.egd"
TARGET = "CATALINA_OPTS"
"""Used by start, run and debug only; ``JAVA_OPTS`` also by stop, version and configtest."""
ORDER = ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "JAVA_OPTS", TARGET, "_JAVA_OPTIONS")
"""Where options for the JVM stand, weakest first: the last setting of a property wins (facts: jdk, 1.2)."""
COMMENT = "# SecureRandom: seed from a device that does not block (written by seedstall)"
MAX_KEPT = 8
"""Settings tried as the one to keep."""

_PLAIN_VALUE = frozenset(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:/._~%+=,@-"
)
_POSITIONAL = frozenset(("@", "*", *"123456789"))
_BLANKS = " \t\n"
_MISTAKEN = frozenset(
    ("securerandom.source", "java.securerandom.source", "java.security.securerandom.source")
)
"""Security properties that people set as system properties: without effect."""


class NoPlaceError(ValueError):
    """The script was understood, and there is no place where the option would stay."""


@dataclass(frozen=True, slots=True)
class ShellEdit:
    """What became of a file. ``content`` equals what was read where it was right already.

    ``replaced`` names the settings that went, as ``(line, option)`` of the old file; ``line`` is where the option
    stands in the new one. ``notes`` are whole clauses for people.
    """

    content: bytes
    line: int
    replaced: tuple[tuple[int, str], ...] = ()
    notes: tuple[str, ...] = ()


def check_value(value: str) -> None:
    """Accept a value for ``java.security.egd`` that can be written into any file.

    Raises:
        ValueError: it is empty (the JVM then takes the security property), or holds blanks, quotes, control or
            non-ASCII characters.
    """
    if not value:
        message = "an empty value: the JVM would take securerandom.source instead"
        raise ValueError(message)
    for character in value:
        if not character.isascii() or not character.isprintable() or character in " '\"\\`":
            escaped = "".join(f"%{b:02X}" for b in character.encode(errors="surrogateescape"))
            message = f"{character!r} in {value!r}: write it as {escaped}"
            raise ValueError(message)


def assignment(value: str, *, target: str = TARGET, nounset: bool = False) -> str:
    """The line that adds the option to *target*, keeping what it holds."""
    option = f"-D{EGD}={value}"
    if not set(value) <= _PLAIN_VALUE:
        option = f"'{option}'"
        for character in "\\$`":
            option = option.replace(character, "\\" + character)
    kept = f"${{{target}:-}}" if nounset else f"${target}"
    return f'{target}="{kept} {option}"'


def set_egd(
    data: bytes,
    value: str,
    *,
    target: str = TARGET,
    bash: bool | None = None,
    order: tuple[str, ...] = ORDER,
    own: bool = False,
) -> ShellEdit:
    """Set ``java.security.egd`` to *value* in the options file *data*, once, in *target*.

    *bash* is whether the shell that sources it is bash; ``None``: not known, the edit holds in any. *order* names the
    variables whose options reach the JVM, weakest first. With *own* the value must stand in *target* itself: what the
    file sets in the others may not get to the JVM (Debian's start script exports ``JAVA_OPTS`` alone).

    Bytes that are no UTF-8, line ends, comments and a missing last line end are kept.

    Raises:
        ValueError: the file cannot be edited safely: it ends inside a quote or block, or holds NUL bytes.
    """
    check_value(value)
    if b"\0" in data:
        message = "it holds NUL bytes: no shell script"
        raise ValueError(message)
    text = data.decode("utf-8", "surrogateescape")
    try:
        return _Editor(text, value, target, bash=bash, order=order, own=own).edit()
    except NoPlaceError:
        if bash is None:  # one that only bash runs at all (declare -r)
            return set_egd(data, value, target=target, bash=True, order=order, own=own)
        raise
    except UnfinishedError:
        raise
    except ValueError as error:
        return _unfollowed(text, value, target, error)


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _unfollowed(text: str, value: str, target: str, error: ValueError) -> ShellEdit:
    """For a file whose grammar is not understood: a last line wins, if the text's quotes are all closed."""
    if not closed(text):
        raise error
    line = assignment(value, target=target)
    if any(row.strip() == line for row in text.split("\n")[-2:]):
        return ShellEdit(_encode(text), text.count("\n") or 1)
    grown, offset = _appended(text, line)
    if not closed(
        grown
    ):  # its last backslash escapes what comes after it: a line more would change its meaning
        raise error
    doubt = f"the file is not fully understood ({error}): the option was added at its end, where it wins"
    return ShellEdit(_encode(grown), line_of(grown, offset), notes=(doubt,))


# Options inside a value


@dataclass(frozen=True, slots=True)
class _OptionWord:
    """A word as ``eval`` sees it, with the pieces it is made of."""

    text: str
    first: int
    last: int

    @property
    def setting(self) -> tuple[str, str] | None:
        """``(property, value)`` of a ``-D`` option."""
        text = self.text.lstrip(UNKNOWN)
        if not text.startswith("-D"):
            return None
        name, _, value = text[2:].partition("=")
        return name, value


def _option_words(symbols: Sequence[str]) -> Iterator[_OptionWord]:
    """Split characters as ``eval`` does: at blanks, quotes and backslashes taken away."""
    first, text, quote, escaped = -1, "", "", False
    for index, character in enumerate(symbols):
        if first < 0 and character in _BLANKS:
            continue
        if first < 0:
            first = index
        if escaped:
            text, escaped = text + character, False
        elif character == "\\" and quote != "'":
            escaped = True
        elif character == quote:
            quote = ""
        elif not quote and character in "'\"":
            quote = character
        elif not quote and character in _BLANKS:
            yield _OptionWord(text, first, index)
            first, text = -1, ""
        else:
            text += character
    if first >= 0:
        yield _OptionWord(text, first, len(symbols))


def egd_values(text: str) -> tuple[str, ...]:
    """The values of ``java.security.egd`` in an options text, in order."""
    found = (word.setting for word in _option_words(text))
    return tuple(value for name, value in filter(None, found) if name == EGD)


def essence(text: str) -> str:
    """The text with its egd options alone, as far as another text can be added at either end."""
    words = list(_option_words(text))
    if not words:
        return " " if text else ""
    begin = " " if text[0] in _BLANKS else ""
    kept = [w.text.lstrip(UNKNOWN) for w in words if w.setting is not None and w.setting[0] == EGD]
    if any(set(word) & set("'\"\\ \t\n") for word in kept):
        return text
    option = f"-D{EGD}="
    last = words[-1].text.lstrip(UNKNOWN)
    if text[-1] in _BLANKS:
        return begin + " ".join((*kept, ""))
    if last in kept[-1:]:
        return begin + " ".join(kept)
    return begin + " ".join((*kept, last if option.startswith(last) else UNKNOWN))


def near_miss(name: str, value: str) -> bool:
    """Whether ``-Dname=value`` was meant to set the property: ``java.security.edg``, ``securerandom.source``."""
    if name == EGD or "random" not in value:
        return False
    return close(name.lower(), EGD) or name.lower() in _MISTAKEN


# Settings in the script


@dataclass(frozen=True, slots=True)
class _Occurrence:
    """An option in the script that sets the property, or was meant to."""

    pieces: tuple[Piece, ...]
    """Of the option, from its ``-D`` on."""
    blanks: tuple[Piece, ...]
    """The blanks that go with it."""
    glued: bool
    """An expansion stands right before it."""


@dataclass(frozen=True, slots=True)
class _Value:
    """The value that a variable gets somewhere."""

    name: str
    pieces: tuple[Piece, ...]


def _walk(nodes: Iterable[Node]) -> Iterator[Node]:
    waiting = list(nodes)[::-1]
    while waiting:
        node = waiting.pop()
        yield node
        match node:
            case Block():
                waiting.extend(n for part in reversed(node.parts) for n in reversed(part))
            case Function():
                waiting.extend(reversed(node.body))
            case Simple():
                pass


def _values(nodes: tuple[Node, ...]) -> Iterator[_Value]:
    """Every value given to a variable or to a function of the script."""
    nodes_in_order = tuple(_walk(nodes))
    functions = {n.name for n in nodes_in_order if isinstance(n, Function)}
    for node in nodes_in_order:
        if isinstance(node, Block):
            for word in node.words:
                yield from _nested(_Value(node.variable, word.pieces))
        if not isinstance(node, Simple):
            continue
        for given in node.assignments:
            yield from _nested(_Value(given.name, given.value))
        command = node.words[0].plain if node.words else None
        for word in node.words:
            found = word.assignment() if command in DECLARING else None
            if found is not None:
                yield from _nested(_Value(found.name, found.value))
            else:
                # Values of no variable are looked through for the ${NAME:=word} in them.
                name = "@" if command in functions or command == "set" else ""
                yield from _nested(_Value(name, word.pieces))


def _nested(value: _Value) -> Iterator[_Value]:
    """The value, and those in its ``${NAME:=word}`` and ``${NAME:-word}``."""
    yield value
    for piece in value.pieces:
        if piece.word:
            name = piece.text if piece.operator.endswith("=") else value.name
            yield from _nested(_Value(name, piece.word))


def _references(pieces: Iterable[Piece]) -> Iterator[str]:
    for piece in pieces:
        if piece.kind is Kind.PARAM:
            yield "@" if piece.text in _POSITIONAL else piece.text
            yield from _references(piece.word)


def _reaching(values: Sequence[_Value], wanted: Iterable[str]) -> set[str]:
    """The variables whose values get into the wanted ones."""
    sources: dict[str, set[str]] = {}
    for value in values:
        sources.setdefault(value.name, set()).update(_references(value.pieces))
    reached: set[str] = set()
    waiting = list(wanted)
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting.extend(sources.get(name, ()))
    return reached


def _occurrences(nodes: tuple[Node, ...], order: tuple[str, ...]) -> list[_Occurrence]:
    values = list(_values(nodes))
    reached = _reaching(values, order)
    found = [o for v in values if v.name in reached for o in _in_value(v.pieces)]
    return sorted(found, key=lambda o: o.pieces[0].start)


def _in_value(pieces: tuple[Piece, ...]) -> Iterator[_Occurrence]:
    symbols = [p.text if p.kind is Kind.CHAR else UNKNOWN for p in pieces]
    for word in _option_words(symbols):
        setting = word.setting
        if setting is None or not (setting[0] == EGD or near_miss(*setting)):
            continue
        first = word.first
        while symbols[first] == UNKNOWN:
            first += 1
        before = first
        while before > 0 and symbols[before - 1] in _BLANKS:
            before -= 1
        after = word.last
        while before == 0 and after < len(symbols) and symbols[after] in _BLANKS:
            after += 1
        yield _Occurrence(
            pieces[first : word.last],
            (*pieces[before:first], *pieces[word.last : after]),
            glued=first > word.first,
        )


# The edit

_Change = tuple[int, int, str]


def _changed(text: str, changes: Iterable[_Change]) -> str:
    parts: list[str] = []
    at = 0
    for start, end, new in sorted(set(changes)):
        if start < at:
            continue
        parts += [text[at:start], new]
        at = end
    return "".join((*parts, text[at:]))


def _appended(text: str, line: str) -> tuple[str, int]:
    """*text* with *line* at its end, and where it begins."""
    end = "\r\n" if _crlf(text) else "\n"
    last = text[text.rfind("\n", 0, -1) + 1 :] if text else ""
    joint = "" if not text or text.endswith("\n") else end
    bare = last.rstrip("\r\n")
    if (len(bare) - len(bare.rstrip("\\"))) % 2:
        joint += end  # a continued line would swallow ours
    return text + joint + COMMENT + end + _ended(line, end), len(text + joint + COMMENT + end)


def _ended(line: str, end: str) -> str:
    """The line with its end. A shell takes a CR for part of the value: behind ``#`` it is a comment's."""
    return f"{line} #{end}" if end == "\r\n" else line + end


def _crlf(text: str) -> bool:
    return text.count("\r\n") * 2 > text.count("\n")


class _Editor:
    """Finds the least change after which every way through the script sets the value."""

    def __init__(
        self,
        text: str,
        value: str,
        target: str,
        *,
        bash: bool | None,
        order: tuple[str, ...],
        own: bool,
    ) -> None:
        self.text = text
        self.bash = bash
        self.order = order
        self.own = own
        self.value = value
        self.target = target
        self.nodes = parse(text)
        self.found = _occurrences(self.nodes, order)
        self.line = assignment(value, target=target, nounset=_nounset(self.nodes))

    def edit(self) -> ShellEdit:
        # A file that is right for bash alone was written for bash.
        if self.wins(self.ends(self.nodes, bash=self.bash is not False)):
            return ShellEdit(_encode(self.text), self.place(self.text))
        second: tuple[str, tuple[str, ...]] | None = None
        for candidate, notes in self.candidates():
            ends = self.ends(parse(candidate))
            if self.exact(ends):
                return self.result(candidate, notes)
            if second is None and self.wins(ends):
                second = candidate, notes
        if second is not None:
            doubt = "an earlier setting may remain where it cannot be followed; this one comes later and wins"
            return self.result(second[0], (*second[1], doubt))
        message = f"no place in it was found where {self.target} keeps the option on every way through the script"
        raise NoPlaceError(message)

    def result(self, text: str, notes: tuple[str, ...]) -> ShellEdit:
        replaced = tuple(
            (line_of(self.text, o.pieces[0].start), self.written(o)) for o in self.found
        )
        if self.hidden():
            notes = (
                *notes,
                "a setting inside a command substitution stays; the new one comes later and wins",
            )
        if _crlf(self.text):
            notes = (
                *notes,
                "the file has CRLF line ends, which a shell takes for part of each value",
            )
        return ShellEdit(_encode(text), self.place(text), replaced, notes)

    def written(self, occurrence: _Occurrence) -> str:
        """The option as it stands in the file."""
        pieces = [p for p in occurrence.pieces if p.text != "\r"]
        return self.text[pieces[0].start : pieces[-1].end]

    def hidden(self) -> bool:
        """Whether a command's output that gets into the options seems to set the property."""
        values = list(_values(self.nodes))
        reached = _reaching(values, self.order)
        return any(
            p.kind is Kind.OPAQUE and EGD in p.text
            for v in values
            if v.name in reached
            for p in v.pieces
        )

    def place(self, text: str) -> int:
        """The line of the last place where the value stands."""
        at = text.rfind(f"-D{EGD}={self.value}")
        return line_of(text, at) if at >= 0 else line_of(text, max(0, text.rfind(EGD)))

    # Following

    def ends(self, nodes: tuple[Node, ...], *, bash: bool | None = None) -> tuple[Ending, ...]:
        given: dict[str, Texts] = dict.fromkeys(self.order, ANYTHING | NOTHING)
        return endings(nodes, given, essence, bash=self.bash if bash is None else bash)

    def wins(self, ends: tuple[Ending, ...]) -> bool:
        """Whether the JVM takes the value on every way."""
        return bool(ends) and all(not e.failed and self._wins(e) for e in ends)

    def _wins(self, end: Ending) -> bool:
        for name in reversed(self.order):
            rows = {egd_values(text) for text in end.values[name]}
            if any(row and row[-1] != self.value for row in rows):
                return False
            if () not in rows and (name == self.target or not self.own):
                return True
        return False

    def exact(self, ends: tuple[Ending, ...]) -> bool:
        """Whether it stands once, in the target, and nowhere else."""
        wanted = {name: {()} for name in self.order} | {self.target: {(self.value,)}}
        return self.wins(ends) and all(
            {egd_values(text) for text in end.values[name]} == rows
            for end in ends
            for name, rows in wanted.items()
        )

    # Candidates, the smallest change first

    def candidates(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        if self.found and set(self.value) <= _PLAIN_VALUE:
            yield _changed(self.text, [c for o in self.found for c in self.replaced(o)]), ()
            for kept in self.found[: -MAX_KEPT - 1 : -1]:
                others = [c for o in self.found if o is not kept for c in self.removed(o)]
                yield _changed(self.text, [*self.replaced(kept), *others]), ()
        bare = _changed(self.text, self.without())
        yield _appended(bare, self.line)[0], ()
        yield from self.early(bare)
        yield from self.wrapped(bare)
        yield from self.extended(bare)
        if self.found:
            yield _appended(self.text, self.line)[0], ()
            yield from self.early(self.text)

    def extended(self, text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
        """The option inside a value of the target: the only place where the variable is read-only from then on."""
        if not set(self.value) <= _PLAIN_VALUE:
            return
        option = f" -D{EGD}={self.value}"
        values = [v for v in _values(parse(text)) if v.name == self.target and v.pieces]
        for value in values[: -MAX_KEPT - 1 : -1]:
            last = value.pieces[-1]
            inserted = option if last.run else f'"{option}"'
            yield _changed(text, [(last.end, last.end, inserted)]), ()

    def wrapped(self, text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
        """The option set right before each command that ends the script, and at the end."""
        leaving = list(_leaving(parse(text), inside=False))
        if not leaving:
            return
        changes = [
            (n.start, n.end, f"{{ {self.line}; {text[n.start : n.end]}; }}") for n in leaving
        ]
        rows = ", ".join(str(line_of(text, n.start)) for n in leaving)
        note = f"the script may end at line {rows}: the option is set right before, and at the end"
        yield _appended(_changed(text, changes), self.line)[0], (note,)

    def early(self, text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
        """The line before the place where the script may end early; and there and at the end."""
        grown = _appended(text, self.line)[0]
        starts = [e.start for e in self.ends(parse(grown)) if e.start is not None]
        if not starts:
            return
        at = min(starts)
        begin = text.rfind("\n", 0, at) + 1
        at = begin if not text[begin:at].strip() else at
        end = "\r\n" if _crlf(text) else "\n"
        inserted = text[:at] + COMMENT + end + _ended(self.line, end) + text[at:]
        where = f"line {line_of(text, min(starts))}"
        note = f"{where} may end the script or fix {self.target}: the option is set before it"
        yield inserted, (note,)
        yield _appended(inserted, self.line)[0], (f"{note}, and again at the end",)

    def replaced(self, occurrence: _Occurrence) -> Iterator[_Change]:
        option = f"-D{EGD}={self.value}"
        if occurrence.glued:
            option = " " + option if occurrence.pieces[0].run else option
        for start, end in self.spans(occurrence.pieces):
            yield start, end, option
            option = ""
        yield from self.carriage(occurrence.pieces)

    def removed(self, occurrence: _Occurrence) -> Iterator[_Change]:
        for start, end in self.spans((*occurrence.pieces, *occurrence.blanks)):
            yield start, end, ""
        yield from self.carriage(occurrence.pieces)

    def spans(self, pieces: Iterable[Piece]) -> Iterator[tuple[int, int]]:
        """The places of the pieces; neighbours as one. Quotes between them stay."""
        start = end = -1
        for piece in sorted(pieces, key=lambda p: p.start):
            if piece.text == "\r" and self.text[piece.end : piece.end + 1] == "\n":
                continue
            if piece.start != end:
                if end > start:
                    yield start, end
                start = piece.start
            end = piece.end
        if end > start:
            yield start, end

    def carriage(self, pieces: tuple[Piece, ...]) -> Iterator[_Change]:
        """Where the option reaches a CRLF, put the CR into a comment: it would be part of the value."""
        last = pieces[-1]
        if last.text == "\r" and not last.run and self.text[last.end : last.end + 1] == "\n":
            yield last.start, last.start, " #"

    def without(self) -> list[_Change]:
        """The changes that take every setting away, and lines that then do nothing."""
        changes: list[_Change] = [c for o in self.found for c in self.removed(o)]
        gone = {id(p) for o in self.found for p in (*o.pieces, *o.blanks)}
        for node in self.nodes:
            if isinstance(node, Simple) and len(node.assignments) == 1 and not node.words:
                line = self.idle(node.assignments[0], gone)
                if line:
                    changes = [c for c in changes if not line[0] <= c[0] < line[1]]
                    changes.append((*line, ""))
        return changes

    def idle(self, found: Assignment, gone: set[int]) -> tuple[int, int] | None:
        """The whole line of ``X="$X"``, once what was added there is gone; ``None`` where it is more than that."""
        left = [p for p in found.value if id(p) not in gone]
        if len(left) == len(found.value):
            return None
        itself = any(p.kind is Kind.PARAM for p in left) or found.append
        if not itself or any(
            p.text not in _BLANKS if p.kind is Kind.CHAR else (p.text != found.name or p.operator)
            for p in left
        ):
            return None
        begin = self.text.rfind("\n", 0, found.start) + 1
        end = self.text.find("\n", found.end)
        end = len(self.text) if end < 0 else end + 1
        alone = (
            not self.text[begin : found.start].strip() and not self.text[found.end : end].strip()
        )
        return (begin, end) if alone else None


def _nounset(nodes: tuple[Node, ...]) -> bool:
    """Whether the script makes a shell refuse unset variables (``set -u``)."""
    for node in _walk(nodes):
        if isinstance(node, Simple) and node.words and node.words[0].plain == "set":
            words = [w.plain or "" for w in node.words[1:]]
            if "nounset" in words or any(
                w.startswith("-") and w != "--" and "u" in w for w in words
            ):
                return True
    return False


def _leaving(nodes: Iterable[Node], *, inside: bool) -> Iterator[Simple]:
    """The commands at which the script may end; ``return`` counts outside functions only."""
    for node in nodes:
        match node:
            case Block():
                for part in node.parts:
                    yield from _leaving(part, inside=inside)
            case Function():
                yield from _leaving(node.body, inside=True)
            case Simple():
                name = node.words[0].plain if node.words else None
                if name == "exit" or (name == "return" and not inside):
                    yield node
