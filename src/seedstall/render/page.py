"""The report as a page: Markdown for a ticket, or one self-contained HTML file."""

from __future__ import annotations

from collections.abc import Sequence

from seedstall.model.redact import redact, visible
from seedstall.model.report import Failure, Report
from seedstall.render import samples, text
from seedstall.render.document import document
from seedstall.render.templates import environment

TEMPLATES = {"markdown": "report/report.md.j2", "html": "report/report.html.j2"}


def render(told: Sequence[Report | Failure], form: str, *, redacted: bool = True) -> str:
    """*form* is ``markdown`` or ``html``. Foreign text is made visible, and escaped for the form."""
    cases = [_case(r, redacted=redacted) for r in told]
    env = environment()
    env.filters["visible"] = visible
    env.filters["cell"] = _cell
    return env.get_template(TEMPLATES[form]).render(cases=cases)


def _case(told: Report | Failure, *, redacted: bool) -> dict[str, object]:
    hide = redact if redacted else str
    if isinstance(told, Failure):
        headline, report = f"error: {told.error}", None
    else:
        headline, report = text.headline(told), document(told, redacted=redacted)
    start = list(samples.table(report["facts"].get("start"))) if report is not None else []
    return {
        "target": hide(told.target),
        "headline": hide(headline),
        "report": report,
        "start": start,
    }


def _cell(value: str) -> str:
    """Foreign text inside a Markdown code span or table cell: it may not end either."""
    return visible(value.replace("\n", " ")).replace("`", "'").replace("|", "\\|")
