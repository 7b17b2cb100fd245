"""What lint rules share: a finding's place, the corrected line, the JDK that reads a setting, the value to take."""

from __future__ import annotations

import bisect
from array import array
from collections.abc import Iterable, Iterator
from functools import lru_cache

from seedstall.knowledge.egd import UNSPECIAL_URANDOM, EgdProblem, egd_problem, right_egd
from seedstall.knowledge.seedsource import DRBG_SINCE, JEP_123, URL_URANDOM
from seedstall.model.finding import Confidence, Disposition, Evidence, Finding, Fix, Severity
from seedstall.model.jdk import JdkVersion
from seedstall.model.settings import (
    UNKNOWN,
    ConfigFile,
    Damage,
    JdkSpan,
    Scope,
    SeedOption,
    Settings,
)
from seedstall.model.verdict import Cause, Status
from seedstall.parse.configfile.change import Splice, rewritten
from seedstall.parse.configfile.words import unknown

EGD = "java.security.egd"
PROPERTIES = "java.security.properties"
SOURCE = "securerandom.source"
STRONG = "securerandom.strongAlgorithms"
MAX_EXCERPT = 240
MAX_LINE = 4_000
"""Characters of a corrected line that is printed."""
NEW_JDK = JdkVersion(17)
SURFACE = "corrected-line"
QUOTES = "\"'\u2018\u2019\u201a\u201c\u201d\u201e\u00ab\u00bb"


@lru_cache(maxsize=16)
def _line_starts(text: str) -> array[int]:
    starts = array("L", [0])
    at = text.find("\n")
    while at >= 0:
        starts.append(at + 1)
        at = text.find("\n", at + 1)
    return starts


def line_of(file: ConfigFile, offset: int) -> int:
    """The line, counted from 1, in which *offset* lies."""
    return bisect.bisect_right(_line_starts(file.text), offset)


def _line_span(file: ConfigFile, first: int, last: int) -> tuple[int, int]:
    """From the start of line *first* to the end of line *last*, its line end left out."""
    starts = _line_starts(file.text)
    start = starts[first - 1]
    end = starts[last] - 1 if last < len(starts) else len(file.text)
    if end > start and file.text[end - 1] == "\r":
        end -= 1
    return start, end


def place(file: ConfigFile, offset: int) -> str:
    """``Dockerfile:7``."""
    return f"{file.name}:{line_of(file, offset)}"


def excerpt(file: ConfigFile, start: int) -> str:
    """The line of *start*, cut to a readable length around it."""
    number = line_of(file, start)
    first, end = _line_span(file, number, number)
    if end - first > MAX_EXCERPT:
        first = max(first, start - MAX_EXCERPT // 4)
        end = min(end, first + MAX_EXCERPT)
    return file.text[first:end].strip()


def evidence(file: ConfigFile, start: int) -> Evidence:
    """The place, and the line that stands there."""
    return Evidence(origin=place(file, start), excerpt=excerpt(file, start))


def corrected(
    file: ConfigFile,
    edits: Iterable[Splice],
    title: str,
    disposition: Disposition = Disposition.SAFE,
) -> tuple[Fix, ...]:
    """The lines that *edits* touch as they should be; nothing where they are too long to print or change nothing."""
    wanted = sorted(set(edits))
    if not wanted:
        return ()
    first = line_of(file, wanted[0][0])
    last = line_of(file, max(e[1] for e in wanted))
    start, end = _line_span(file, first, last)
    text = rewritten(file.text, start, end, wanted) if end - start <= MAX_LINE else None
    if text is None or text == file.text[start:end]:
        return ()
    where = "image" if file.format.value == "Dockerfile" else "host"
    return (
        Fix(
            surface=SURFACE,
            title=f"{file.name}:{first}: {title}",
            where=where,
            disposition=disposition,
            params={
                "text": text,
                "file": file.name,
                "line": str(first),
                "last_line": str(last),
            },
        ),
    )


def made(
    file: ConfigFile,
    start: int,
    *,
    message: str,
    does: str,
    cause: Cause,
    severity: Severity = Severity.WARNING,
    confidence: Confidence = Confidence.CONFIRMED,
    fixes: tuple[Fix, ...] = (),
    notes: tuple[str, ...] = (),
    also: tuple[Evidence, ...] = (),
) -> Finding:
    """A finding at *start*. *does* says in a clause what the setting really does: it is the first note, too."""
    message, does = message.replace(UNKNOWN, "..."), does.replace(UNKNOWN, "...")
    return Finding(
        message=message,
        sentence=f"{place(file, start)}: {does}",
        cause=cause,
        status=Status.AT_RISK if severity >= Severity.WARNING else Status.CLEAR,
        severity=severity,
        confidence=confidence,
        evidence=(evidence(file, start), *also),
        fixes=fixes,
        notes=(does, *notes),
    )


# Whose JDK


def scopes_above(file: ConfigFile, scope: int) -> Iterator[Scope]:
    """A scope, those it begins from, and the file's own."""
    seen: set[int] = set()
    at: int | None = scope
    while at is not None and at not in seen:
        seen.add(at)
        yield file.scopes[at]
        at = file.scopes[at].parent
    if 0 not in seen:
        yield file.scopes[0]


def jdk_span(settings: Settings, file: ConfigFile, scope: int, carrier: str = "") -> JdkSpan | None:
    """The JDKs that read a setting, as far as the file or the user tells."""
    for known in scopes_above(file, scope):
        if known.jdk is not None:
            return known.jdk
    if settings.jdk is not None:
        feature = settings.jdk.feature
        return JdkSpan(feature, feature, "--jdk", settings.jdk.update)
    if carrier == "JDK_JAVA_OPTIONS":
        return JdkSpan(DRBG_SINCE, None, "JDK_JAVA_OPTIONS, which only they read")
    return None


def version(span: JdkSpan | None) -> JdkVersion | None:
    """One JDK that stands for all of *span*; ``None`` where they differ in how they seed, or nothing is known."""
    if span is None or _era(span.oldest) != _era(99 if span.newest is None else span.newest):
        return None
    return JdkVersion(max(span.oldest, 6), span.update)


def _era(feature: int) -> int:
    return 0 if feature < JEP_123 else 1 if feature < DRBG_SINCE else 2


def old_only(span: JdkSpan | None) -> bool:
    """Whether only JDK 6 and 7 read it."""
    return span is not None and span.newest is not None and span.newest < JEP_123


def on_which(span: JdkSpan | None, otherwise: str = "on every JDK") -> str:
    """``on JDK 7: openjdk:7``; *otherwise* where it is not known."""
    return f"on {span}: {span.told_by}" if span is not None else otherwise


# Which value


def problem_of(value: str, span: JdkSpan | None) -> EgdProblem | None:
    """What is wrong with a seed source there; for an unknown JDK what is wrong from 8 on, if nothing is everywhere."""
    jdk = version(span)
    found = egd_problem(value, jdk)
    return egd_problem(value, NEW_JDK) if found is None and jdk is None else found


def better(value: str, span: JdkSpan | None, *, windows: bool = False) -> str:
    """The value to take instead: what that JDK needs; where it is not known, the one that was meant."""
    jdk = version(span)
    if windows:
        return URL_URANDOM
    if jdk is not None:
        return right_egd(jdk).value
    lowered = value.lower()
    dotted = "/./" in lowered or "/.u" in lowered or "/.r" in lowered
    return UNSPECIAL_URANDOM if dotted else URL_URANDOM


def kept(value: str | None, span: JdkSpan | None, *, windows: bool = False) -> str:
    """*value* where nothing is wrong with it (or nothing is known), else the better one."""
    if not value:
        return better("", span, windows=windows)
    if egd_problem(value, version(span)) is None and not windows:
        return value
    return better(value, span, windows=windows)


def right_option(option: SeedOption, value: str) -> str:
    """The option as it should be written."""
    tool = option.prefix.startswith("-J") and option.damage is not Damage.DASH_J
    prefix = "-J-D" if tool else "-D"
    return f"{prefix}{option.meant}={value}"


def unknown_note(span: JdkSpan | None) -> tuple[str, ...]:
    """What a fix for an unknown JDK leaves open."""
    if version(span) is not None:
        return ()
    old = f"on 6 and 7 only {UNSPECIAL_URANDOM} helps"
    return (f"the JDK is not known (say --jdk): from 8 on {URL_URANDOM} is right, {old}",)


def options(settings: Settings) -> Iterator[tuple[ConfigFile, SeedOption]]:
    """Every seed option of every file; one that an alias shows again at the same place once."""
    for file in settings.files:
        seen: set[tuple[tuple[int, int], str]] = set()
        for option in file.options:
            key = (option.word.place(), option.reach)
            if key not in seen:
                seen.add(key)
                yield file, option


def written_value(file: ConfigFile, option: SeedOption) -> str | None:
    """The value as it stands in the file, expansions unexpanded; ``None`` where there is none."""
    if option.value is None:
        return None
    start, end = option.value.place()
    return file.text[start:end] if unknown(option.value.text) else option.value.text


def mended(settings: Settings, file: ConfigFile, option: SeedOption) -> tuple[str, JdkSpan | None]:
    """The option with its right name and a value that works, and the JDKs it is for."""
    span = jdk_span(settings, file, option.scope, option.carrier)
    value = written_value(file, option)
    windows = any(s.windows for s in scopes_above(file, option.scope))
    if option.meant == EGD and (option.value is None or not unknown(option.value.text)):
        value = kept(value.strip(QUOTES) if value else value, span, windows=windows)
    return right_option(option, value or ""), span


def disposition(span: JdkSpan | None) -> Disposition:
    """A fix for a JDK that is not known wants a look."""
    return Disposition.SAFE if version(span) is not None else Disposition.REVIEW
