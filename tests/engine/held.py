"""A case whose facts are given by hand."""

from __future__ import annotations

from typing import Any, TypeVar

from seedstall.engine.case import Case
from seedstall.model.evidence import Got, Missing, Reading, Why
from seedstall.source.base import Held

T = TypeVar("T")


class HeldFacts(Case):
    """Holds these facts and no others. A `Missing` given for a type says why there is none."""

    def __init__(self, *facts: object, missing: dict[type[Any], Missing] | None = None) -> None:
        super().__init__(Held({}), ())
        self.facts: dict[type[Any], Any] = {type(f): f for f in facts}
        self.missing = missing or {}

    def get(self, kind: type[T]) -> Reading[T]:
        if kind in self.facts:
            return Got(self.facts[kind])
        return self.missing.get(kind, Missing(Why.NOT_COLLECTED))
