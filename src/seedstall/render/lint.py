"""The report of ``lint`` for people: the answer, then each finding with its line as it is and as it should be."""

from __future__ import annotations

from collections.abc import Iterator

from seedstall.model.finding import Crashed, Finding, Fired, Fix, Inconclusive
from seedstall.model.redact import redact, visible
from seedstall.model.report import Report
from seedstall.render.text import headline

INDENT = "    "
SHOWN = 200
"""Findings shown; JSON and SARIF have all."""


def render(report: Report, *, verbose: int = 0, quiet: bool = False, redacted: bool = True) -> str:
    """The whole report as text; *quiet* keeps the first line alone, *verbose* adds what is only worth knowing."""
    lines = [headline(report)]
    if not quiet:
        lines += _body(report, verbose=verbose)
    text = "\n".join(_visible(line) for line in lines) + "\n"
    return redact(text) if redacted else text


def _visible(line: str) -> str:
    return "\n".join(visible(row) for row in line.split("\n"))


def in_order(report: Report) -> list[tuple[str, str, Finding]]:
    """Every finding with its rule's code and name, by file and line."""
    found = [
        (o.code, o.name, finding)
        for o in report.outcomes
        if isinstance(o, Fired)
        for finding in o.findings
    ]
    return sorted(found, key=lambda item: (location(item[2]), item[0]))


def location(finding: Finding) -> tuple[str, int]:
    """File and line of a finding."""
    name, _, line = finding.evidence[0].origin.rpartition(":")
    return name, int(line)


def _body(report: Report, *, verbose: int) -> Iterator[str]:
    found = in_order(report)
    for code, name, finding in found[:SHOWN]:
        yield ""
        yield from _finding(code, name, finding)
    if len(found) > SHOWN:
        yield ""
        yield f"and {len(found) - SHOWN} more findings (--format json has them all)"
    blind = [o for o in report.outcomes if isinstance(o, Inconclusive | Crashed)]
    if blind:
        yield ""
        yield "not looked at"
    for outcome in blind:
        if isinstance(outcome, Crashed):
            yield f"  {outcome.code}: the rule itself failed: {outcome.error}"
        else:
            for missing in outcome.missing:
                yield f"  {', '.join(r.path or str(r) for r in missing.origins)}: {missing.detail or missing.why}"
    if verbose:
        yield from _files(report)


def _finding(code: str, name: str, finding: Finding) -> Iterator[str]:
    first, *others = finding.evidence
    severity, sure = finding.severity.name.lower(), finding.confidence.name.lower()
    yield f"{first.origin}: {severity}: {code} {name} ({sure})"
    yield f"{INDENT}{first.excerpt}"
    does, *notes = finding.notes
    yield f"  {does}"
    for piece in others:
        yield f"  see {piece.origin}: {piece.excerpt}"
    for fix in finding.fixes:
        yield from _fix(fix)
    yield from (f"  note: {note}" for note in notes)


def _fix(fix: Fix) -> Iterator[str]:
    review = ", review it" if fix.disposition == "review" else ""
    text = fix.params.get("text")
    if text is None:
        yield f"  fix{review}: {fix.title}"
    elif not text.strip():
        yield f"  corrected{review}: the line goes"
    else:
        yield f"  corrected{review}:"
        for row in text.split("\n"):
            yield f"{INDENT}{row.strip() if len(text.splitlines()) == 1 else row}"


def _files(report: Report) -> Iterator[str]:
    files = report.facts.get("files")
    yield ""
    for item in files if isinstance(files, list) else []:  # pyright: ignore[reportUnknownVariableType]
        file = dict[str, object](item)  # pyright: ignore[reportUnknownArgumentType]
        yield f"looked at {file['name']}: {file['format']}, {file['seed_settings']} seed settings"
