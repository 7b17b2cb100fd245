"""Linting texts in tests: files as a mapping, findings as rows."""

from __future__ import annotations

from collections.abc import Mapping

from seedstall.engine.lint import lint_case
from seedstall.model.evidence import Ask, Ref, Space, Why
from seedstall.model.finding import Finding, Fired, Severity
from seedstall.model.report import Report
from seedstall.source.base import Held

Row = tuple[str, str, str, str]
"""Place, code, severity, corrected lines."""


def linted(files: Mapping[str, bytes | str], *, jdk: str = "", kernel: str = "") -> Report:
    """The report on files held in memory."""
    contents: dict[Ref, bytes | Why] = {
        Ref(Space.INPUT, name): data.encode() if isinstance(data, str) else data
        for name, data in files.items()
    }
    contents[Ref(Space.INPUT, "", Ask.LIST)] = b"".join(n.encode() + b"\0" for n in files)
    if jdk:
        contents[Ref(Space.INPUT, "given/jdk")] = jdk.encode()
    if kernel:
        contents[Ref(Space.KERNEL, "proc/sys/kernel/osrelease")] = kernel.encode()
    return lint_case(Held(contents), " ".join(files))


def findings(report: Report) -> list[tuple[str, Finding]]:
    """Every finding with its code, by place."""
    rows = [(o.code, f) for o in report.outcomes if isinstance(o, Fired) for f in o.findings]
    return sorted(rows, key=lambda row: (*place(row[1]), row[0]))


def place(finding: Finding) -> tuple[str, int]:
    """File and line."""
    name, _, number = finding.evidence[0].origin.rpartition(":")
    return name, int(number)


def corrected(finding: Finding) -> str:
    """The corrected lines, ``""`` where there are none."""
    return finding.fixes[0].params.get("text", "") if finding.fixes else ""


def found(report: Report) -> list[Row]:
    """Every finding as a row."""
    return [
        (f.evidence[0].origin, code, f.severity.name.lower(), corrected(f))
        for code, f in findings(report)
    ]


def lint_text(name: str, text: str | bytes, *, jdk: str = "", kernel: str = "") -> list[Row]:
    """The rows of one file, its name left out of their places."""
    rows = found(linted({name: text}, jdk=jdk, kernel=kernel))
    return [(row[0].rpartition(":")[2], *row[1:]) for row in rows]


def grave(report: Report) -> list[Finding]:
    """The findings that are more than a note."""
    return [f for _, f in findings(report) if f.severity >= Severity.WARNING]


def mended(text: str, finding: Finding) -> str:
    """*text* with the finding's corrected lines in their place."""
    params = finding.fixes[0].params
    rows = text.split("\n")
    first, last = int(params["line"]), int(params["last_line"])
    rows[first - 1 : last] = params["text"].split("\n")
    return "\n".join(rows)
