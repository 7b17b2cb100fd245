"""The text of fixes, by the templates of their surfaces."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seedstall.model.finding import Fix


def render_fix(fix: Fix) -> str:
    """What to type or write for *fix*, from ``templates/fix/SURFACE/text.j2`` and its params.

    Raises:
        jinja2.UndefinedError: a param that the template needs is missing.
        jinja2.TemplateNotFound: there is no such surface.
    """
    from seedstall.render import templates  # noqa: PLC0415

    return templates.render(f"fix/{fix.surface}/text.j2", **fix.params)
