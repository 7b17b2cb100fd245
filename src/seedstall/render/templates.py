"""The templates: inside the package where it is installed, in the checkout's ``templates/`` else."""

from __future__ import annotations

import functools
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    from jinja2 import Environment

PACKAGED = "_templates"


def root() -> Traversable:
    """The directory that holds ``fix/`` and ``report/``."""
    packaged = files("seedstall") / PACKAGED
    if packaged.is_dir():
        return packaged
    return Path(__file__).resolve().parents[3] / "templates"


def render(name: str, **variables: object) -> str:
    """The template *name* (``fix/java-opts/text.j2``) with its variables.

    Raises:
        jinja2.UndefinedError: it uses a variable that was not given.
        jinja2.TemplateNotFound: there is no such template.
    """
    return environment().get_template(name).render(**variables)


def text(name: str) -> str:
    """The file *name* below ``templates/`` as it stands.

    Raises:
        FileNotFoundError: there is none.
    """
    found = _load(name)
    if found is None:
        raise FileNotFoundError(name)
    return found


@functools.cache
def environment() -> Environment:
    """Jinja2 as all templates use it: undefined variables are errors; HTML is escaped, shell text is not."""
    import shlex  # noqa: PLC0415 - start-up time

    import jinja2  # noqa: PLC0415 - 40-70 ms, and only JSON reports and `fix` need it

    from seedstall.parse.setenv import assignment  # noqa: PLC0415

    made = jinja2.Environment(
        loader=jinja2.FunctionLoader(_load),
        undefined=jinja2.StrictUndefined,
        autoescape=lambda name: name is not None and name.endswith((".html", ".html.j2")),
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters["word"] = shlex.quote
    made.filters["assignment"] = assignment
    made.filters["yaml"] = _yaml
    return made


def _yaml(text: str) -> str:
    """A text as a double-quoted scalar of YAML."""
    from seedstall.parse.edit.yamltext import quoted  # noqa: PLC0415 - few templates need it

    return quoted(text)


def _load(name: str) -> str | None:
    place = root()
    for part in name.split("/"):
        place /= part
    return place.read_text("utf-8") if place.is_file() else None
