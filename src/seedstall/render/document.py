"""The report as one JSON-ready object, in the contract's shape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from seedstall import __version__
from seedstall.model.evidence import Missing
from seedstall.model.finding import Crashed, Evidence, Finding, Fired, Fix, Inconclusive
from seedstall.model.redact import redact
from seedstall.model.report import Report, Verdict

SCHEMA = 1


class Document(TypedDict):
    """One case. See ``explain --schema``."""

    schema: int
    tool: dict[str, object]
    target: str
    verdict: dict[str, object]
    findings: list[dict[str, object]]
    inconclusive: list[dict[str, object]]
    crashed: list[dict[str, object]]
    actions: list[dict[str, object]]
    facts: dict[str, object]


def document(report: Report, *, redacted: bool = True) -> Document:
    """The whole report. Text that came from the target is redacted unless a person chose otherwise."""
    hide = redact if redacted else _as_is
    return {
        "schema": SCHEMA,
        "tool": {"name": "seedstall", "version": __version__},
        "target": hide(report.target),
        "verdict": _verdict(report.verdict, redacted=redacted),
        "findings": [
            _finding(o.code, o.name, f, report, redacted=redacted)
            for o in report.outcomes
            if isinstance(o, Fired)
            for f in o.findings
        ],
        "inconclusive": [
            {"code": o.code, "missing": [item for m in o.missing for item in _missing(m)]}
            for o in report.outcomes
            if isinstance(o, Inconclusive)
        ],
        "crashed": [
            {"code": o.code, "error": hide(o.error)}
            for o in report.outcomes
            if isinstance(o, Crashed)
        ],
        "actions": [{"what": a.what, "pid": a.pid, "pause_ms": a.pause_ms} for a in report.actions],
        "facts": {k: _hidden(v, redacted=redacted) for k, v in report.facts.items()},
    }


def _as_is(text: str) -> str:
    return text


def _hidden(value: object, *, redacted: bool) -> object:
    """*value* with every string in it redacted and fit for UTF-8."""
    if isinstance(value, str):
        return (redact(value) if redacted else value).encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {str(k): _hidden(v, redacted=redacted) for k, v in value.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    if isinstance(value, list):
        return [_hidden(v, redacted=redacted) for v in value]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return value


def _verdict(verdict: Verdict, *, redacted: bool) -> dict[str, object]:
    confidence = verdict.confidence
    return {
        "status": str(verdict.status),
        "cause": str(verdict.cause),
        "confidence": confidence.name.lower() if confidence is not None else None,
        "sentence": _hidden(verdict.sentence, redacted=redacted),
        "code": verdict.code,
        "cost_ms": verdict.cost_ms,
        "startup_ms": verdict.startup_ms,
        "share": round(verdict.share, 2) if verdict.share is not None else None,
        "progress": str(verdict.progress) if verdict.progress is not None else None,
        "since_ms": verdict.since_ms,
        "also": [str(cause) for cause in verdict.also],
    }


def _finding(
    code: str, name: str, finding: Finding, report: Report, *, redacted: bool
) -> dict[str, object]:
    return {
        "code": code,
        "name": name,
        "severity": finding.severity.name.lower(),
        "confidence": finding.confidence.name.lower(),
        "cause": str(finding.cause),
        "message": _hidden(finding.message, redacted=redacted),
        "explained_by": report.explained.get(id(finding)),
        "evidence": [_evidence(e, redacted=redacted) for e in finding.evidence],
        "notes": [_hidden(n, redacted=redacted) for n in finding.notes],
        "fixes": fixes(finding.fixes),
    }


def _evidence(evidence: Evidence, *, redacted: bool) -> dict[str, object]:
    return {
        "origin": _hidden(evidence.origin, redacted=redacted),
        "excerpt": _hidden(evidence.excerpt, redacted=redacted),
    }


def fixes(wanted: Sequence[Fix]) -> list[dict[str, object]]:
    """Each fix with the text that its surface's template gives."""
    if not wanted:
        return []
    from seedstall.render.fixes import render_fix  # noqa: PLC0415 - Jinja2 costs 40 ms

    return [
        {
            "surface": fix.surface,
            "title": fix.title,
            "when": str(fix.when),
            "where": fix.where,
            "restart": fix.restart,
            "needs_root": fix.needs_root,
            "disposition": str(fix.disposition),
            "takes": fix.takes or None,
            "text": render_fix(fix),
        }
        for fix in wanted
    ]


def _missing(missing: Missing) -> list[dict[str, object]]:
    detail = missing.detail or None
    named = [str(ref) for ref in missing.origins] or ["evidence"]
    return [{"what": what, "why": str(missing.why), "detail": detail} for what in named]
