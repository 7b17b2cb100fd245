"""SS206: a list of words that Docker cannot read as one."""

from __future__ import annotations

from collections.abc import Iterator

from seedstall.model.finding import Confidence, Finding, Severity
from seedstall.model.rule import rule
from seedstall.model.settings import Command, ConfigFile, Format, Settings
from seedstall.model.verdict import Cause
from seedstall.parse.configfile import moved
from seedstall.rules.lint import line

_PIECES = 400


@rule("SS206", "broken-exec-form")
def broken_exec_form(settings: Settings) -> Iterator[Finding]:
    """An ENTRYPOINT or CMD looks like a JSON list and is none.

    ## What it detects
    Typographic or single quotes in the list, a missing comma; in YAML lists words that typographic quotes are a part
    of.

    ## Why it matters
    Docker then takes the whole line, brackets and all, for shell text: ``/bin/sh -c '[“java”, ...]'`` fails with "not
    found", and no option in it ever reaches a JVM. Such quotes come from word processors and web pages.

    ## Fix
    Straight double quotes around each word, a comma between two.
    """
    for file in settings.files:
        for command in file.commands:
            if command.broken_list:
                yield _docker(file, command)
            elif file.format is Format.MANIFEST and (at := _quoted(command)) is not None:
                yield _yaml(file, command, at)


def _docker(file: ConfigFile, command: Command) -> Finding:
    start, end = command.words[0].place()
    typographic = any(q in file.text[start:end] for q in moved.TYPOGRAPHIC)
    why = "typographic quotation marks" if typographic else "no valid JSON"
    new = _as_json(file.text[start:end])
    return line.made(
        file,
        start,
        message=f"a list with {why}",
        does=(
            f"the list has {why}, so Docker does not take it for a list: a shell is handed the whole line with its"
            " brackets, and no option in it reaches a JVM"
        ),
        cause=Cause.HARMFUL_FIX,
        severity=Severity.ERROR,
        confidence=Confidence.CONFIRMED if typographic else Confidence.LIKELY,
        fixes=line.corrected(file, [(start, end, new)], "a JSON list") if new else (),
    )


def _as_json(text: str) -> str:
    """The list with straight double quotes; ``""`` where that does not make one."""
    straight = "".join('"' if c in moved.TYPOGRAPHIC else c for c in text)
    for candidate in (
        straight,
        straight.replace("'", '"'),
        straight.replace('" "', '", "'),
        straight.replace("\\", "\\\\"),
    ):
        if _is_list(candidate):
            return candidate
    return ""


def _is_list(text: str) -> bool:
    import json  # noqa: PLC0415 - for the few files that have such a line

    try:
        found: object = json.loads(text.replace("\\\n", ""))
    except (ValueError, RecursionError):
        return False
    return isinstance(found, list)


def _quoted(command: Command) -> int | None:
    """The first of a list's words that begins and ends with a typographic quote."""
    if command.by_shell:
        return None
    for index, word in enumerate(command.words[:_PIECES]):
        text = word.text
        if len(text) > 1 and text[0] in moved.TYPOGRAPHIC and text[-1] in moved.TYPOGRAPHIC:
            return index
    return None


def _yaml(file: ConfigFile, command: Command, at: int) -> Finding:
    word = command.words[at]
    edits = [
        edit
        for w in command.words[:_PIECES]
        for i, c in enumerate(w.text)
        if c in moved.TYPOGRAPHIC and i in (0, len(w.text) - 1)
        for edit in [(w.starts[i], w.ends[i], '"')]
    ]
    own = [e for e in edits if line.line_of(file, e[0]) == line.line_of(file, word.place()[0])]
    return line.made(
        file,
        word.place()[0],
        message=f"{word.text} with typographic quotation marks",
        does=(
            f"the quotation marks of {word.text} are typographic: to YAML they are part of the word, and no such"
            " program or option exists"
        ),
        cause=Cause.HARMFUL_FIX,
        severity=Severity.ERROR,
        fixes=line.corrected(file, own, "straight quotation marks"),
    )
