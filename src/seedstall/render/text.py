"""The report for people: the answer first, then the evidence with its place, then what to type."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

from seedstall.model.core import CANNOT_TELL
from seedstall.model.evidence import Missing, Why
from seedstall.model.finding import Crashed, Finding, Fired, Fix, Inconclusive, Severity, When
from seedstall.model.redact import redact, visible
from seedstall.model.report import Failure, Report
from seedstall.model.verdict import Cause, Status

_SPAN = 3
"""Codes in a row that read better as a span."""
INDENT = "  "
EVIDENCE_WIDTH = 48
WIDTH = 120
"""Columns within which a second remedy's command is typed out beside its title."""
_UNREAD = 5
SERIES = 10
"""So many dumps are told of unasked."""


def render(
    report: Report | Failure,
    *,
    verbose: int = 0,
    quiet: bool = False,
    redacted: bool = True,
    named: bool = False,
) -> str:
    """The whole report as text.

    *quiet* keeps the first line alone; *named* puts the target's name before it, where several are told.
    """
    if isinstance(report, Failure):
        lines = [f"error: {report.error}"] + ([f"hint: {report.hint}"] if report.hint else [])
    else:
        lines = [headline(report)]
        if not quiet:
            lines += _body(report, verbose=verbose)
    if named:
        lines[0] = f"{visible(report.target)}: {lines[0]}"
    text = "\n".join(lines) + "\n"
    text = "".join(visible_line(line) for line in text.splitlines(keepends=True))
    return redact(text) if redacted else text


def visible_line(line: str) -> str:
    """One line with control characters shown, its own line end kept."""
    return visible(line.removesuffix("\n")) + ("\n" if line.endswith("\n") else "")


def headline(report: Report) -> str:
    """``stalled (blocking-seed, confirmed): ...``: status, cause, confidence, the sentence."""
    verdict = report.verdict
    words = [str(verdict.cause)] if verdict.cause is not Cause.NONE else []
    if verdict.confidence is not None:
        words.append(verdict.confidence.name.lower())
    brackets = f" ({', '.join(words)})" if words else ""
    return f"{verdict.status}{brackets}: {verdict.sentence}"


def _body(report: Report, *, verbose: int) -> Iterator[str]:
    winner = report.verdict.finding
    if winner is not None:
        yield from _evidence(winner)
        yield from _notes(winner)
        yield from _fixes(winner, report)
    yield from _start(report)
    yield from _others(report, winner, verbose=verbose)
    yield from _blind(report, verbose=verbose)
    yield from _core(report, verbose=verbose)
    yield from _binaries(report, verbose=verbose)
    yield from _read(report, verbose=verbose)
    yield from _bundle(report)
    yield from _not_read(report)
    yield from _actions(report)


def _read(report: Report, *, verbose: int) -> Iterator[str]:
    """How many dumps and threads were read: with -v, and of a series too long to be counted by eye."""
    threads = cast("dict[str, int]", report.facts.get("threads", {}))
    dumps, count = threads.get("dumps_read", 0), threads.get("threads_in_dumps", 0)
    if dumps >= SERIES or (verbose and dumps):
        yield ""
        yield f"read: {dumps} thread dump{'s' if dumps > 1 else ''}, {count} threads in all"


def _bundle(report: Report) -> Iterator[str]:
    """Of a bundle: from when it is, and whose word it is."""
    told = _told(report.facts.get("bundle"))
    if told:
        names = "; hosts, users, addresses and paths have other names" if told["anonymised"] else ""
        yield ""
        yield f"a bundle of {told['taken'] or 'an unknown time'}, made by {told['tool']}{names}"


def _not_read(report: Report) -> Iterator[str]:
    """What was handed over and could not be read; not again what the first line says."""
    lacks = [
        lack
        for lack in cast("list[str]", _told(report.facts.get("inputs")).get("not_read", []))
        if lack not in report.verdict.sentence
    ]
    if lacks:
        yield ""
    for lack in lacks[:_UNREAD]:
        yield f"not read: {lack}"
    if len(lacks) > _UNREAD:
        yield f"not read: {len(lacks) - _UNREAD} more"


def _told(facts: object) -> dict[str, object]:
    """One object of the report's facts; empty where it is none."""
    if not isinstance(facts, dict):
        return {}
    return {str(k): v for k, v in facts.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]


def _core(report: Report, *, verbose: int) -> Iterator[str]:
    """Where a core comes from, how much of it there is, and with -v what it cannot tell."""
    core = _told(report.facts.get("core"))
    if not core:
        return
    ended = f" at signal {core['signal']}" if core["signal"] is not None else ""
    held, whole = (int(str(core[name])) >> 20 for name in ("bytes", "bytes_expected"))
    size = f"cut: {held} of {whole} MiB are there" if core["cut"] else f"{whole} MiB"
    yield ""
    by = "the kernel" if core["written_by"] == "kernel" else core["written_by"]
    yield f"core: written by {by}{ended}, {size}, {core['threads']} threads"
    if core["libjvm_refused"]:
        yield f"core: {core['libjvm_refused']}"
    for what in CANNOT_TELL if verbose else ():
        yield f"{INDENT}a core cannot tell {what}"


def _binaries(report: Report, *, verbose: int) -> Iterator[str]:
    """With -v: what the program and its libraries are."""
    told = _told(_told(report.facts.get("jvm")).get("binaries")) if verbose else {}
    if told:
        yield ""
        yield "binaries"
    for name, value in told.items():
        if value is not None:
            shown = ("no", "yes")[value] if isinstance(value, bool) else value
            yield f"{INDENT}{name.replace('_', ' '):<16}{shown}"


def _evidence(finding: Finding) -> Iterator[str]:
    if not finding.evidence:
        return
    yield ""
    yield "evidence"
    width = max(len(piece.origin) for piece in finding.evidence)
    for piece in finding.evidence:
        first, *rest = piece.excerpt.split("\n")
        yield f"{INDENT}{piece.origin:<{min(width, EVIDENCE_WIDTH)}}  {first}".rstrip()
        for line in rest:
            yield f"{INDENT * 3}{line}".rstrip()


def _start(report: Report) -> Iterator[str]:
    """Where the time of a watched start went."""
    if "start" in report.facts:
        from seedstall.render import samples  # noqa: PLC0415 - for a watched start only

        yield ""
        yield from samples.table(report.facts["start"])


def _notes(finding: Finding) -> Iterator[str]:
    if finding.notes:
        yield ""
        for note in finding.notes:
            yield f"note: {note}"


def _fixes(finding: Finding, report: Report) -> Iterator[str]:
    if not finding.fixes:
        return
    yield ""
    yield "what to do"
    now = "for what runs in its place" if _has_ended(report) else "now"
    for when, title in ((When.NOW, now), (When.NEXT_START, "at the next start")):
        chosen = [fix for fix in finding.fixes if fix.when is when]
        stuck = finding.status is Status.STALLED and finding.cause is Cause.BLOCKING_SEED
        if not chosen and when is When.NOW and stuck:
            yield f"{INDENT}{nothing_now(report)}"
        yield from _group(chosen, title, report.words or report.target)


_SAVED_FIRST = "capture"


def _group(chosen: Sequence[Fix], title: str, target: str) -> Iterator[str]:
    """The fixes for one moment: the first whole, the others in a line each, the same in another place by that place."""
    by_title: dict[str, list[Fix]] = {}
    for fix in chosen:
        by_title.setdefault(fix.title, []).append(fix)
    for at, fixes in enumerate(by_title.values()):
        first, *others = fixes
        label = f"{title}: " if at == 0 else "" if first.surface == _SAVED_FIRST else "or "
        lines = typed(first, target)
        if at and lines == (command(first, target),):
            # Where it is too long to be typed out: how the command begins stands above.
            places = " or ".join(fix.surface for fix in fixes)
            line = f"{INDENT}{label}{first.title}{_marks(first)}: "
            whole = line + lines[0]
            fits = not others and len(whole) <= WIDTH
            yield whole if fits else f"{line}--surface {places}"
            continue
        yield f"{INDENT}{label}{first.title}{_marks(first)}"
        yield from (f"{INDENT * 2}{line}" for line in lines)
        yield from (f"{INDENT}or  {command(fix, target)}" for fix in others)


def nothing_now(report: Report) -> str:
    """What to do now where no fix helps now, or the kernel that would decide it is not known."""
    if _has_ended(report):
        return "now: nothing, it ended as its core was written; what was started in its place may wait again"
    kernel = report.facts.get("kernel")
    if isinstance(kernel, dict) and "missing" in kernel:
        return (
            "now: where the host's kernel has a blocking pool, an entropy daemon frees it (--kernel RELEASE tells);"
            " else a restart"
        )
    if report.target.isdecimal():
        return "now: nothing but a restart frees it; save this report first"
    # A file tells what was, and not what stands in the device's place on that host: a FIFO there could be fed.
    pid = _told(report.facts.get("jvm")).get("pid")
    named = pid if isinstance(pid, int) else "PID"
    return f"now: look on that host, while it runs: seedstall diagnose {named} there says what frees it"


def _has_ended(report: Report) -> bool:
    """Whether the process is gone: the kernel writes a core of one that ends."""
    return _told(report.facts.get("core")).get("signal") is not None


def _marks(fix: Fix) -> str:
    """``(on the hypervisor, as root, review; within seconds)``."""
    marks = [fix.where] if fix.where != "host" else []
    marks += ["as root"] if fix.needs_root else []
    marks += ["review"] if fix.disposition == "review" else []
    told = "; ".join(filter(None, (", ".join(marks), fix.takes)))
    return f" ({told})" if told else ""


_SAID = frozenset(("none", "remove-flag", "wait", "corrected-line"))
"""Nothing is typed for these: the title says all, or the line of a file that lint corrects."""


def typed(fix: Fix, target: str) -> tuple[str, ...]:
    """The lines to type for this fix; none where its title says all. *target* is the targets as a shell takes them."""
    if fix.surface in _SAID:
        return ()
    if "command" in fix.params and fix.when is When.NOW:
        return tuple(fix.params["command"].splitlines())
    return (command(fix, target),)


def command(fix: Fix, words: str) -> str:
    """What to type for this fix; *words* are the targets as a shell takes them."""
    redirect = " > setenv.patch" if fix.surface == "tomcat-setenv" else ""
    said = f"{words} {fix.params['say']}" if "say" in fix.params else words
    return f"seedstall fix {said} --surface {fix.surface}{redirect}"


def _others(report: Report, winner: Finding | None, *, verbose: int) -> Iterator[str]:
    rest = [
        (o.code, f)
        for o in report.outcomes
        if isinstance(o, Fired)
        for f in o.findings
        if f is not winner and (verbose or id(f) not in report.explained)
        if verbose or f.severity >= Severity.NOTE
    ]
    if not rest:
        return
    yield ""
    yield "also found"
    for code, finding in rest:
        severity, confidence = finding.severity.name.lower(), finding.confidence.name.lower()
        yield f"{INDENT}{code} {severity}, {confidence}: {finding.sentence}"
        for piece in finding.evidence[: 8 if verbose else 2]:
            first = piece.excerpt.split("\n")[0]
            yield f"{INDENT * 2}{piece.origin}  {first}".rstrip()
        for note in finding.notes if verbose else ():
            yield f"{INDENT * 2}note: {note}"


def _blind(report: Report, *, verbose: int) -> Iterator[str]:
    rows = list(not_looked_at(report.outcomes, verbose=verbose))
    if not rows:
        return
    yield ""
    yield "not looked at"
    for codes, reason in rows:
        yield f"{INDENT}{codes}: {reason}" if verbose else f"{INDENT}{reason} ({codes})"


def not_looked_at(outcomes: Sequence[object], *, verbose: int) -> Iterator[tuple[str, str]]:
    """Rules without evidence, those with the same reason on one line; and rules that failed.

    What a file alone can never hold is told with ``-v`` (and in JSON): a person can do nothing about it.
    """
    by_reason: dict[str, list[str]] = {}
    for outcome in outcomes:
        if isinstance(outcome, Inconclusive):
            wanted = [m for m in outcome.missing if verbose or not _never_here(m)]
            reasons = dict.fromkeys(map(_reason, wanted))
            if reasons:
                by_reason.setdefault("; ".join(reasons), []).append(outcome.code)
        if isinstance(outcome, Crashed):
            yield outcome.code, f"the rule itself failed: {outcome.error}"
    for reason, codes in by_reason.items():
        yield ", ".join(_spans(codes)), reason


def _spans(codes: Sequence[str]) -> Iterator[str]:
    """Codes that follow each other as one span: ``SS521-SS531``."""
    numbers = [int(code[2:]) for code in codes]
    start = 0
    for at in range(1, len(codes) + 1):
        if at < len(codes) and numbers[at] == numbers[at - 1] + 1:
            continue
        if at - start < _SPAN:
            yield from codes[start:at]
        else:
            yield f"{codes[start]}-{codes[at - 1]}"
        start = at


def _never_here(missing: Missing) -> bool:
    return missing.why is Why.NOT_COLLECTED and not missing.detail


def _reason(missing: Missing) -> str:
    if missing.detail and missing.why is Why.NOT_COLLECTED:
        return missing.detail
    if len(missing.origins) > 2:  # noqa: PLR2004 - two names still read well in a line
        first = ", ".join(map(str, missing.origins[:2]))
        detail = f": {missing.detail}" if missing.detail else ""
        return f"{first} and {len(missing.origins) - 2} more {missing.why}{detail}"
    return str(missing)


def _actions(report: Report) -> Iterator[str]:
    if not report.actions:
        return
    yield ""
    for action in report.actions:
        pause = f" ({action.pause_ms} ms)" if action.pause_ms is not None else ""
        yield f"done to {action.pid}: {action.what}{pause}"
