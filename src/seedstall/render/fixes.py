"""The text of fixes, by the templates of their surfaces."""

from __future__ import annotations

from typing import TYPE_CHECKING

from seedstall.model.record import dataclass

if TYPE_CHECKING:
    from seedstall.model.finding import Fix


@dataclass(frozen=True, slots=True)
class Surface:
    """A place where a remedy is written down.

    ``params`` are what its template needs of a fix, ``perhaps`` what it uses where it is there.
    """

    name: str
    title: str
    params: tuple[str, ...] = ()
    perhaps: tuple[str, ...] = ()


SURFACES = (
    Surface("tomcat-setenv", "patch of the instance's own bin/setenv.sh (CATALINA_OPTS)", ("egd",)),
    Surface("java-opts", "the plain flag for a java command line", ("egd",)),
    Surface(
        "jarsigner",
        "the command line of jarsigner or another JDK tool, with -J-D...",
        ("egd",),
        ("command",),
    ),
    Surface(
        "strong-algorithms",
        "a security properties file, for getInstanceStrong (JDK 8 and later)",
        ("value",),
    ),
    Surface("rngd", "commands that start an entropy daemon on the host", (), ("commands",)),
)
BY_NAME = {surface.name: surface for surface in SURFACES}


def render_fix(fix: Fix) -> str:
    """What to type or write for *fix*, from ``templates/fix/SURFACE/text.j2`` and its params.

    Raises:
        jinja2.UndefinedError: a param that the template needs is missing.
        jinja2.TemplateNotFound: there is no such surface.
    """
    from seedstall.render import templates  # noqa: PLC0415

    return templates.render(f"fix/{fix.surface}/text.j2", **fix.params)
