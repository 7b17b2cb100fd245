"""The report as a page: Markdown for a ticket, or one self-contained HTML file."""

from __future__ import annotations

from collections.abc import Sequence

from seedstall.model.redact import visible
from seedstall.model.report import Failure, Report
from seedstall.render import text
from seedstall.render.document import document
from seedstall.render.templates import environment

TEMPLATES = {"markdown": "report/report.md.j2", "html": "report/report.html.j2"}


def render(told: Sequence[Report | Failure], form: str, *, redacted: bool = True) -> str:
    """*form* is ``markdown`` or ``html``. Foreign text is made visible, and escaped for the form."""
    cases = [_case(r, redacted=redacted) for r in told]
    env = environment(autoescape=form == "html")
    env.filters["visible"] = visible
    env.filters["cell"] = _cell
    return env.get_template(TEMPLATES[form]).render(cases=cases)


def _case(told: Report | Failure, *, redacted: bool) -> dict[str, object]:
    if isinstance(told, Failure):
        return {"target": told.target, "headline": f"error: {told.error}", "report": None}
    report = document(told, redacted=redacted)
    return {"target": report["target"], "headline": text.headline(told), "report": report}


def _cell(value: str) -> str:
    """Foreign text inside a Markdown code span or table cell: it may not end either."""
    return visible(value.replace("\n", " ")).replace("`", "'").replace("|", "\\|")
