"""The JSON Schema of the report: what ``seedstall explain --schema`` prints, and tests hold us to."""

from __future__ import annotations

from seedstall.model.evidence import Why
from seedstall.model.finding import Confidence, Disposition, Severity, When
from seedstall.model.jdk import VmFamily
from seedstall.model.seeding import Device, Instance, Operation, Risk
from seedstall.model.trial import FIX, PRESENT, STRONG, Outcome
from seedstall.model.verdict import Cause, Progress, Status

Schema = dict[str, object]

_TEXT: Schema = {"type": "string"}
_COUNT: Schema = {"type": ["integer", "null"], "minimum": 0}
_CODE: Schema = {"type": "string", "pattern": "^SS[1-5][0-9]{2}$"}
_CAUSES = [str(c) for c in Cause]
_CAUSE: Schema = {"enum": _CAUSES}
_CONFIDENCE = [c.name.lower() for c in Confidence]


def _object(required: dict[str, Schema], optional: dict[str, Schema] | None = None) -> Schema:
    return {
        "type": "object",
        "properties": {**required, **(optional or {})},
        "required": list(required),
    }


def _list(of: Schema) -> Schema:
    return {"type": "array", "items": of}


def _verdict() -> Schema:
    return _object(
        {
            "status": {"enum": [str(s) for s in Status]},
            "cause": _CAUSE,
            "confidence": {"enum": [*_CONFIDENCE, None]},
            "sentence": _TEXT,
            "code": {"anyOf": [_CODE, {"type": "null"}]},
            "cost_ms": _COUNT,
            "startup_ms": _COUNT,
            "share": {"type": ["number", "null"], "minimum": 0, "maximum": 1},
            "progress": {"enum": [*(str(p) for p in Progress), None]},
            "since_ms": _COUNT,
            "also": _list(_CAUSE),
        }
    )


def _fix() -> Schema:
    return _object(
        {
            "surface": _TEXT,
            "title": _TEXT,
            "when": {"enum": [str(w) for w in When]},
            "where": {"enum": ["host", "container", "image", "build", "hypervisor"]},
            "restart": {"type": "boolean"},
            "needs_root": {"type": "boolean"},
            "disposition": {"enum": [str(d) for d in Disposition]},
            "text": _TEXT,
        },
        {"takes": {"type": ["string", "null"]}},
    )


def _finding() -> Schema:
    return _object(
        {
            "code": _CODE,
            "name": _TEXT,
            "severity": {"enum": [s.name.lower() for s in Severity]},
            "confidence": {"enum": _CONFIDENCE},
            "message": _TEXT,
            "explained_by": {"anyOf": [_CODE, {"type": "null"}]},
            "evidence": _list(_object({"origin": _TEXT, "excerpt": _TEXT})),
            "fixes": _list(_fix()),
        },
        {"cause": _CAUSE, "notes": _list(_TEXT)},
    )


def _case() -> Schema:
    missing = _object(
        {"what": _TEXT, "why": {"enum": [str(w) for w in Why]}},
        {"detail": {"type": ["string", "null"]}},
    )
    tool = _object({"name": {"const": "seedstall"}, "version": _TEXT})
    pause: Schema = {"type": ["integer", "null"], "minimum": 0}
    action = _object({"what": _TEXT, "pid": {"type": "integer"}, "pause_ms": pause})
    facts: dict[str, Schema] = {
        key: {"type": "object"} for key in ("jvm", "kernel", "threads", "logs")
    }
    return _object(
        {
            "schema": {"const": 1},
            "tool": tool,
            "verdict": _verdict(),
            "findings": _list(_finding()),
            "inconclusive": _list(_object({"code": _CODE, "missing": _list(missing)})),
            "crashed": _list(_object({"code": _CODE, "error": _TEXT})),
            "actions": _list(action),
            "facts": _object(
                facts,
                {
                    "core": {"type": "object"},
                    "inputs": {"type": "object"},
                    "timelines": _list({"type": "object"}),
                },
            ),
        },
        {"target": _TEXT},
    )


def _jvm() -> Schema:
    """One row of ``seedstall list``."""
    word: Schema = {"type": ["string", "null"]}
    maybe: Schema = {"type": ["boolean", "null"]}
    return _object(
        {
            "pid": {"type": "integer", "minimum": 1},
            "uid": _COUNT,
            "user": word,
            "age_ms": _COUNT,
            "vm": {"enum": [str(v) for v in VmFamily]},
            "told_by": {"enum": ["maps", "name"]},
            "jdk": word,
            "vendor": word,
            "program": word,
            "product": word,
            "container": _object({"inside": maybe, "id": word, "runtime": word}),
            "seed": _object(
                {
                    "source": word,
                    "place": word,
                    "assumed": {"type": "boolean"},
                    "risk": {"enum": [str(r) for r in Risk]},
                    "why": word,
                }
            ),
            "stalled": maybe,
            "cause": _CAUSE,
            "sentence": word,
            "since_ms": _COUNT,
            "unread": _list(_object({"what": _TEXT, "why": _TEXT})),
        }
    )


def _listing() -> Schema:
    """What ``seedstall list --format json`` prints; with ``--watch`` one such object a line."""
    number: Schema = {"type": "integer", "minimum": 0}
    return _object(
        {
            "schema": {"const": 1},
            "tool": _object({"name": {"const": "seedstall"}, "version": _TEXT}),
            "sentence": _TEXT,
            "waiting": _list({"type": "integer"}),
            "jvms": _list(_jvm()),
            "processes": number,
            "unseen": _list(_object({"why": _TEXT, "count": number})),
            "hidden": {"type": "boolean"},
            "ended": number,
        }
    )


def _summary() -> Schema:
    """What several cases come to; ``looked_at`` is fewer than ``cases`` where we were interrupted."""
    cases: dict[str, Schema] = {
        "status": {"enum": [*(str(s) for s in Status), "error"]},
        "cause": {"enum": [*_CAUSES, None]},
        "count": {"type": "integer", "minimum": 1},
    }
    verdict = _object(cases)
    told: Schema = {"type": ["string", "null"]}
    group = _object({**cases, "kernel": told, "jdk": told, "product": told})
    count: Schema = {"type": "integer", "minimum": 0}
    return _object(
        {"cases": count, "looked_at": count, "verdicts": _list(verdict), "fleet": _list(group)}
    )


def _verified() -> Schema:
    """What ``seedstall verify --format json`` prints."""
    word: Schema = {"type": ["string", "null"]}
    number: Schema = {"type": ["number", "null"], "minimum": 0}
    count: Schema = {"type": "integer", "minimum": 0}
    trial = _object(
        {
            "instance": {"enum": [str(i) for i in Instance]},
            "operation": {"enum": [str(o) for o in Operation]},
            "setting": {"enum": [PRESENT, FIX, STRONG]},
            "outcome": {"enum": [str(o) for o in Outcome]},
            "device": {"enum": [str(d) for d in Device]},
            "algorithm": _TEXT,
            "provider": _TEXT,
            "ms": number,
            "held_ms": _COUNT,
            "bytes_of_random": count,
            "bytes_of_urandom": count,
            "seen": _TEXT,
            "why": _TEXT,
        }
    )
    java: dict[str, Schema] = dict.fromkeys(("path", "version", "vendor", "vm", "home"), word)
    return _object(
        {
            "schema": {"const": 1},
            "tool": _object({"name": {"const": "seedstall"}, "version": _TEXT}),
            "sentence": _TEXT,
            "status": {"enum": [str(s) for s in Status]},
            "java": _object(java),
            "means": {"enum": ["mount", "user", "egd"]},
            "seconds": {"type": "number", "minimum": 0},
            "settings": {
                "type": "object",
                "additionalProperties": _object({"words": _TEXT, "egd": word}),
            },
            "trials": _list(trial),
            "notes": _list(_TEXT),
            "differences": _list(_TEXT),
        }
    )


def _benched() -> Schema:
    """What ``seedstall bench --format json`` prints, and ``--baseline`` reads."""
    number: Schema = {"type": ["number", "null"]}
    sure: Schema = {"type": "number"}
    figures = ("median", "p10", "p90", "mean", "deviation", "overhead")
    measurement = _object(
        {
            "key": _TEXT,
            "group": _TEXT,
            "unit": {"enum": ["ns", "ms", "MB/s", "%"]},
            **dict.fromkeys(figures, number),
            "runs": {"type": "integer", "minimum": 0},
            "values": _list({"type": "number"}),
            "failure": _TEXT,
        }
    )
    change = _object(
        {
            "key": _TEXT,
            **dict.fromkeys(("before", "now", "ratio"), sure),
            "clear": {"type": "boolean"},
        }
    )
    return _object(
        {
            "schema": {"const": 1},
            "tool": _object({"name": {"const": "seedstall"}, "version": _TEXT}),
            "bench": {"enum": ["kernel", "jvm"]},
            "sentence": _TEXT,
            "facts": {"type": "object", "additionalProperties": _TEXT},
            "measurements": _list(measurement),
            "notes": _list(_TEXT),
            "changes": _list(change),
            "baseline_differs": _list(_object({"fact": _TEXT, "before": _TEXT, "now": _TEXT})),
        }
    )


def schema() -> Schema:
    """The schema of one report, of several, of a case that failed, of a list, of verify and of bench (2020-12)."""
    failed = _object({"schema": {"const": 1}, "error": _TEXT}, {"target": _TEXT, "hint": _TEXT})
    case: Schema = {"$ref": "#/$defs/case"}
    either: Schema = {"oneOf": [case, {"$ref": "#/$defs/failed"}]}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "seedstall report",
        "$defs": {
            "case": _case(),
            "failed": failed,
            "listing": _listing(),
            "verified": _verified(),
            "benched": _benched(),
        },
        "oneOf": [
            case,
            _object({"schema": {"const": 1}, "cases": _list(either)}, {"summary": _summary()}),
            {"$ref": "#/$defs/listing"},
            {"$ref": "#/$defs/verified"},
            {"$ref": "#/$defs/benched"},
        ],
    }
