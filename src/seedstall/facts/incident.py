"""What the texts of a case say that happened to the process."""

from __future__ import annotations

from collections.abc import Iterator

from seedstall.facts.inputs import InputTexts
from seedstall.model.incident import Incident, Incidents
from seedstall.source.base import Source


def incidents_of_case(_source: Source, inputs: InputTexts) -> Incidents:
    """What all inputs say.

    Texts in which nothing of the kind stands give none: they were looked through.
    """
    from seedstall.parse.incident import incidents  # noqa: PLC0415 - when there is an input

    return Incidents(
        tuple(_first(inc for name, text in inputs.texts for inc in incidents(text, name)))
    )


def _first(items: Iterator[Incident]) -> Iterator[Incident]:
    seen: set[str] = set()
    for item in items:
        if item.kind not in seen:
            seen.add(item.kind)
            yield item


PROVIDERS = (incidents_of_case,)
