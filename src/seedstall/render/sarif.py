"""The report of ``lint`` as SARIF 2.1.0 (OASIS), so that code scanning shows it at its line."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from typing import TypeAlias
from urllib.parse import quote

from seedstall import __version__
from seedstall.model.finding import Crashed, Evidence, Finding, Fix, Inconclusive, Outcome, Severity
from seedstall.model.redact import redact
from seedstall.model.report import Report
from seedstall.model.rule import Rule
from seedstall.render.lint import in_order, location

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
ROOT = "%SRCROOT%"
_LEVELS = {
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.NOTE: "note",
    Severity.INFO: "none",
}
Json: TypeAlias = dict[str, object]
Hide: TypeAlias = Callable[[str], str]


def render(report: Report, rules: Sequence[Rule[...]], *, redacted: bool = True) -> str:
    """One run with every finding. *rules* are those that ran, clear ones too."""
    hide: Hide = redact if redacted else str
    found = in_order(report)
    codes = [rule.code for rule in rules]
    driver: Json = {
        "name": "seedstall",
        "version": __version__,
        "rules": [_rule(rule) for rule in rules],
    }
    run: Json = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {
            ROOT: {"description": {"text": "the folder that seedstall was started in"}}
        },
        "invocations": [_invocation(report.outcomes, hide)],
        "results": [_result(code, codes, finding, hide) for code, _, finding in found],
    }
    whole: Json = {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(_utf8(whole), ensure_ascii=False, indent=2) + "\n"


def _utf8(value: object) -> object:
    """*value* with every string fit for UTF-8."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_utf8(k): _utf8(v) for k, v in value.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    if isinstance(value, list):
        return [_utf8(v) for v in value]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]
    return value


def _rule(rule: Rule[...]) -> Json:
    first, _, rest = rule.page.partition("\n")
    return {
        "id": rule.code,
        "name": "".join(part.capitalize() for part in rule.name.split("-")),
        "shortDescription": {"text": first},
        "fullDescription": {"text": first},
        "help": {"text": rest.strip() or first, "markdown": rule.page},
        "defaultConfiguration": {"level": "warning"},
        "properties": {"tags": ["java", "securerandom"]},
    }


def _result(code: str, codes: list[str], finding: Finding, hide: Hide) -> Json:
    result: Json = {
        "ruleId": code,
        "ruleIndex": codes.index(code),
        "level": _LEVELS[finding.severity],
        "message": {"text": hide("; ".join(finding.notes))},
        "locations": [_location(finding.evidence[0], hide)],
        "partialFingerprints": {"seedstall/v1": _fingerprint(code, finding)},
        "properties": {
            "cause": str(finding.cause),
            "confidence": finding.confidence.name.lower(),
        },
    }
    if len(finding.evidence) > 1:
        result["relatedLocations"] = [_location(e, hide) for e in finding.evidence[1:]]
    fixes = [made for fix in finding.fixes if (made := _fix(fix)) is not None]
    if fixes:
        result["fixes"] = fixes
    return result


def _location(evidence: Evidence, hide: Hide) -> Json:
    name, _, line = evidence.origin.rpartition(":")
    return {
        "physicalLocation": {
            "artifactLocation": _artifact(name),
            "region": {"startLine": int(line), "snippet": {"text": hide(evidence.excerpt)}},
        }
    }


def _artifact(name: str) -> Json:
    """A file's address: below the folder where it is relative, whole where it is not."""
    if name.startswith("/"):
        return {"uri": "file://" + quote(name)}
    return {"uri": quote(name.removeprefix("./")), "uriBaseId": ROOT}


def _fingerprint(code: str, finding: Finding) -> str:
    """The same for the same line, wherever it moves."""
    name, _ = location(finding)
    told = f"{code}\0{name}\0{finding.evidence[0].excerpt}"
    return hashlib.sha256(told.encode("utf-8", "replace")).hexdigest()[:32]


def _fix(fix: Fix) -> Json | None:
    """The corrected line in the place of the old one.

    A fix of another surface is none of this file's. Where the line holds a secret there is no fix: masked it would
    destroy the file, and unmasked it would be told.
    """
    params = fix.params
    if "text" not in params or redact(params["text"]) != params["text"]:
        return None
    region = {"startLine": int(params["line"]), "endLine": int(params["last_line"])}
    return {
        "description": {"text": fix.title},
        "artifactChanges": [
            {
                "artifactLocation": _artifact(params["file"]),
                "replacements": [
                    {
                        "deletedRegion": region,
                        "insertedContent": {"text": params["text"]},
                    }
                ],
            }
        ],
    }


def _invocation(outcomes: Sequence[Outcome], hide: Hide) -> Json:
    """What was not looked at, and rules that failed: code scanning must not take silence for peace."""
    told: list[Json] = []
    for outcome in outcomes:
        if isinstance(outcome, Crashed):
            text = f"{outcome.code} failed: {hide(outcome.error)}"
            told.append({"level": "error", "message": {"text": text}})
        elif isinstance(outcome, Inconclusive):
            for missing in outcome.missing:
                text = f"not looked at: {hide(str(missing))}"
                told.append({"level": "warning", "message": {"text": text}})
    crashed = any(isinstance(o, Crashed) for o in outcomes)
    return {"executionSuccessful": not crashed, "toolExecutionNotifications": told}
