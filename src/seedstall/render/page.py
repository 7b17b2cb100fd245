"""The report as a page: Markdown for a ticket, or one self-contained HTML file."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from seedstall import __version__
from seedstall.model.duration import duration
from seedstall.model.redact import redact, visible
from seedstall.model.report import Failure, Report
from seedstall.render import summary, templates
from seedstall.render.view import (
    LONGEST_LINE,
    answer_of,
    case_view,
    cut,
    lean,
    status_of,
    worst_first,
)

if TYPE_CHECKING:
    from jinja2 import Environment

MOST_WHOLE = 200
"""Cases told as a whole: of more, the rest stand in the summary."""
LARGEST = {"html": 6_000_000, "markdown": 60_000}
"""Characters of all those together, likewise. GitHub takes 65,536 in an issue or a comment."""
MOST_LISTED = {"html": 10_000, "markdown": 60}
LONGEST_ANSWER = {"html": 2_000, "markdown": 160}
"""Rows of the summary, and characters of what stands in each."""
MOST_BARS = 40
"""Bars of a lane in a Markdown table."""
_MARKS = {"read": "reads its seed", "seed": "generator", "caller": "asked for it"}


def render(
    told: Sequence[Report | Failure], form: str, *, redacted: bool = True, planned: int = 0
) -> str:
    """*form* is ``markdown`` or ``html``. Foreign text is made visible, and escaped for the form.

    *planned* is how many cases there are, where some were not looked at.
    """
    env = _environment()
    several = len(told) > 1 or planned > 1
    ordered = worst_first(told)
    ending = "html" if form == "html" else "md"
    cases = _cases(env, ordered, form, several=several, redacted=redacted)
    summed = _summary(told, ordered, set(cases), planned, form, redacted) if several else None
    page = env.get_template(f"report/report.{ending}.j2")
    if form != "html":
        return page.render(cases=cases.values(), summary=summed)
    from markupsafe import Markup  # noqa: PLC0415 - it is loaded: Jinja2's own

    style, script = (Markup(templates.text(f"report/report.{kind}")) for kind in ("css", "js"))  # noqa: S704 - our own files
    return page.render(
        cases=[Markup(case) for case in cases.values()],  # noqa: S704 - escaped by its own template
        summary=summed,
        title=_title(told, several=several, redacted=redacted),
        version=__version__,
        style=style,
        style_hash=_hash(style),
        script=script,
        script_hash=_hash(script),
    )


def _cases(
    env: Environment,
    ordered: Sequence[tuple[int, Report | Failure]],
    form: str,
    *,
    several: bool,
    redacted: bool,
) -> dict[int, str]:
    """The cases that are told as a whole, by their number: as many as the page may hold, the first in any case."""
    part = env.get_template(f"report/case.{'html' if form == 'html' else 'md'}.j2")
    common = {
        "level": 2 if several else 1, "several": several, "marks": _MARKS, "most_bars": MOST_BARS,
    }  # fmt: skip
    cases: dict[int, str] = {}
    left = LARGEST[form] // (2 if several and form != "html" else 1)
    for number, told in ordered[:MOST_WHOLE]:
        view = case_view(told, number, redacted=redacted)
        text = part.render(case=view, lean=False, **common)
        if len(text) > left and form != "html":
            text = part.render(case=lean(view), lean=True, **common)
        if len(text) > left and cases:
            break
        cases[number] = text
        left -= len(text)
    return cases


def _title(told: Sequence[Report | Failure], *, several: bool, redacted: bool) -> str:
    if several or not told:
        return f"seedstall: {len(told)} cases"
    target = redact(told[0].target) if redacted else told[0].target
    return f"seedstall: {status_of(told[0])}, {target}"


def _hash(text: str) -> str:
    """What a Content-Security-Policy calls an inline text by (CSP Level 3, 2.3.1)."""
    import base64  # noqa: PLC0415 - of a page alone
    import hashlib  # noqa: PLC0415 - the same

    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def _summary(
    told: Sequence[Report | Failure],
    ordered: Sequence[tuple[int, Report | Failure]],
    whole: set[int],
    planned: int,
    form: str,
    redacted: bool,  # noqa: FBT001 - of one caller
) -> dict[str, Any]:
    planned = max(planned, len(told))
    head = f"{planned} cases"
    if planned > len(told):
        head += f": interrupted, {planned - len(told)} of them not looked at"
    folder = summary.folder_of([case.target for case in told])
    listed, longest = ordered[: MOST_LISTED[form]], LONGEST_ANSWER[form]
    hide = redact if redacted else str
    return {
        "head": head,
        "counts": [
            {"number": len(count.names), "status": count.status, "cause": count.cause}
            for count in summary.counts(told)
        ],
        **_fleet(told, hide),
        "rows": [
            {
                "number": number,
                "target": cut(hide(case.target.removeprefix(folder)), longest),
                "status": status_of(case),
                "sentence": cut(hide(answer_of(case)), longest),
                "whole": number in whole,
            }
            for number, case in listed
        ],
        "rows_left": len(told) - len(listed),
        "left_out": len(told) - len(whole),
    }


def _fleet(told: Sequence[Report | Failure], hide: Callable[[str], str]) -> dict[str, Any]:
    """The verdicts by kernel, JDK and product, and where all cases lie: in rows, names go without it."""
    groups = summary.fleet(told)
    return {
        "folder": hide(summary.folder_of([case.target for case in told])),
        "fleet": [
            {
                "number": group.cases,
                "status": group.status,
                "cause": group.cause,
                "host": [hide(value) for value in (group.kernel, group.jdk, group.product)],
            }
            for group in groups[: summary.MOST_GROUPS]
        ],
        "fleet_left": max(0, len(groups) - summary.MOST_GROUPS),
    }


def _environment() -> Environment:
    env = templates.environment()
    env.filters["visible"] = visible
    env.filters["shown"] = shown
    env.filters["kept"] = kept
    env.filters["lines"] = _lines
    env.filters["duration"] = duration
    env.filters["span"] = code_span
    env.filters["cell"] = cell
    env.filters["plain"] = plain
    env.filters["fenced"] = fenced
    env.filters["html"] = in_summary
    env.filters["stack"] = _stack
    return env


def shown(value: object) -> str:
    """Foreign text of one line: control characters shown, and cut where it is longer than anybody reads."""
    return visible(cut(str(value), LONGEST_LINE))


def kept(value: str) -> str:
    """Text of several lines that is to be typed or written as it stands: not cut, control characters shown."""
    return "\n".join(visible(line) for line in value.rstrip("\n").split("\n"))


def _lines(lines: Iterable[str]) -> str:
    return "\n".join(map(shown, lines))


# --- Markdown, as GitHub reads it (GFM): in a code span nothing is a mention, a link, a reference or HTML


def code_span(value: object) -> str:
    """Foreign text as a code span, whatever runs of backticks it holds."""
    text = shown(str(value).replace("\n", " ")).strip() or " "
    longest = max(map(len, re.findall(r"`+", text)), default=0)
    fence = "`" * (longest + 1)
    space = " " if longest else ""
    return f"{fence}{space}{text}{space}{fence}"


def cell(value: object) -> str:
    """The same inside a table: GFM splits cells at ``|`` even in code, unless a backslash stands before it."""
    return code_span(value).replace("|", "\\|")


_PUNCTUATION = re.compile(r"([\\`*_{}\[\]<>()#+\-.!|~&@:])")


def plain(value: object) -> str:
    """Our own words with punctuation that Markdown would read."""
    return _PUNCTUATION.sub(r"\\\1", shown(value))


def fenced(value: str) -> str:
    """Text of several lines as a code block, whatever fences it holds."""
    text = kept(value)
    longest = max(map(len, re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text}\n{fence}"


def in_summary(value: object) -> str:
    """Foreign text inside an HTML tag of a Markdown page: GitHub reads neither Markdown nor mentions in ``code``."""
    from html import escape  # noqa: PLC0415 - of a page alone

    return f"<code>{escape(shown(str(value).replace(chr(10), ' ')))}</code>"


def _stack(stack: dict[str, Any]) -> str:
    """A stack as a code block, what its frames are at their right."""
    rows: list[str] = []
    for frame in stack["frames"]:
        where = f"({frame['location']})" if frame["location"] else ""
        mark = f"   <- {_MARKS[frame['mark']]}" if frame["mark"] in _MARKS else ""
        rows.append(shown(f"at {frame['name']}{where}{mark}"))
        rows += (shown(f"   - {lock}") for lock in frame["locks"])
    if stack["frames_left_out"]:
        rows.append(f"... {stack['frames_left_out']} frames more")
    return fenced("\n".join(rows))
