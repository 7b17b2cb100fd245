"""SS205: an option damaged on its way into the file."""

from __future__ import annotations

from collections.abc import Iterator

from seedstall.model.finding import Confidence, Finding, Severity
from seedstall.model.rule import rule
from seedstall.model.settings import ConfigFile, Damage, Format, Reach, SeedOption, Settings
from seedstall.model.verdict import Cause
from seedstall.parse.configfile import change, moved
from seedstall.parse.configfile.seedword import SPACES
from seedstall.rules.lint import line

_WHAT = {
    Damage.QUOTES: "typographic quotation marks around it",
    Damage.DASH: "a typographic dash for its hyphen",
    Damage.EXTRA_DASH: "two dashes before the D",
    Damage.NO_DASH: "no -D before it",
    Damage.SMALL_D: "a small d",
    Damage.BLANKS: "blanks inside",
    Damage.NO_BREAK_SPACE: "a no-break space before it",
    Damage.DASH_J: "a -J before it, which only the JDK's tools take",
}
_FATE = {
    Damage.QUOTES: "java takes it for the main class, and does not start the program",
    Damage.DASH: "java takes it for the main class, and does not start the program",
    Damage.EXTRA_DASH: "the JVM refuses to start with an unrecognized option",
    Damage.NO_DASH: "java takes it for the main class or an option it does not know, and does not start",
    Damage.SMALL_D: "the JVM refuses to start with an unrecognized option",
    Damage.BLANKS: "java takes a part of it for the main class, and does not start the program",
    Damage.NO_BREAK_SPACE: "nothing splits there: it is a part of the option before it",
    Damage.DASH_J: "the JVM refuses to start with an unrecognized option",
}
_IN_ONE_PIECE = frozenset((Format.JVM_OPTIONS, Format.XML))


@rule("SS205", "malformed-option")
def malformed_option(settings: Settings) -> Iterator[Finding]:
    """A seed option is damaged, mostly by a word processor or a web page it was copied from.

    ## What it detects
    Typographic quotes or dashes, blanks around the equals sign, a missing ``-D``, two dashes, a no-break space,
    ``-J-D`` for java itself.

    ## Why it matters
    The launcher stops at the first word it does not know and takes it for the main class ("Could not find or load
    main class"), or the JVM says "Unrecognized option"; seen on 17. In a file with one option a line the damage is
    silent: a property of another name is set.

    ## Fix
    The corrected line stands with each finding.
    """
    for file, option in line.options(settings):
        if option.reach is Reach.JVM and option.damage in _WHAT and not _in_a_list(file, option):
            yield _found(settings, file, option)


def _in_a_list(file: ConfigFile, option: SeedOption) -> bool:
    """A word of a YAML list with such quotes around it: SS206 tells of the whole list."""
    return (
        option.damage is Damage.QUOTES
        and option.command is not None
        and file.format is Format.MANIFEST
        and not file.commands[option.command].by_shell
    )


def _found(settings: Settings, file: ConfigFile, option: SeedOption) -> Finding:
    new, span = line.mended(settings, file, option)
    start, end = option.word.place()
    shown = " ".join(w.text for w in (option.word, *option.tail))
    fate, cause, severity = _FATE[option.damage], Cause.HARMFUL_FIX, Severity.ERROR
    silent = option.damage is Damage.NO_BREAK_SPACE
    if option.damage is Damage.BLANKS and not option.tail:
        fate, silent = "a property of another name is set", True
    if silent:
        cause, severity = Cause.INEFFECTIVE_FIX, Severity.WARNING
    edits = change.option_edits(file, option, new)
    if option.damage is Damage.QUOTES:
        edits = moved.straight_quotes(file, start, end)
    elif option.damage is Damage.NO_BREAK_SPACE:
        edits = [*_spaces_before(file, start), *edits]
    return line.made(
        file,
        start,
        message=f"{shown} with {_WHAT[option.damage]}",
        does=f"{shown} has {_WHAT[option.damage]}: {fate}",
        cause=cause,
        severity=severity,
        confidence=Confidence.CONFIRMED if file.format not in _IN_ONE_PIECE else Confidence.LIKELY,
        fixes=line.corrected(file, edits, new, line.disposition(span)),
        notes=line.unknown_note(span),
    )


def _spaces_before(file: ConfigFile, start: int) -> list[change.Splice]:
    at = start
    while at > 0 and file.text[at - 1] in SPACES and start - at < 20:  # noqa: PLR2004 - a few at the most
        at -= 1
    return [(at, start, " ")]
