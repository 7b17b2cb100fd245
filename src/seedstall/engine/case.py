"""Everything known about one JVM: each fact found out once, on demand, with its origins."""

from __future__ import annotations

import typing
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any, TypeVar

from seedstall.model.evidence import Got, Missing, Reading, Ref, Unavailable, Why, in_order
from seedstall.model.record import dataclass
from seedstall.model.rule import Need, kinds_of, needs_of
from seedstall.source.base import Recorder, Source

T = TypeVar("T")
Provider = Callable[..., object]
Known = Mapping[type[Any], Reading[Any]]
"""Facts by their type, each with its value or why it cannot be had."""


@dataclass(frozen=True, slots=True)
class Given:
    """The arguments of a rule or provider, and what could not be had of them."""

    values: dict[str, Any]
    lacking: tuple[Missing, ...]
    origins: tuple[Ref, ...]


# A host has many JVMs, and each is a case of the same providers.
_needs = lru_cache(maxsize=512)(needs_of)


@lru_cache(maxsize=8)
def _by_kind(providers: tuple[Provider, ...]) -> dict[object, Provider]:
    return {kind: provider for provider in providers for kind in kinds_of(provider, "return")}


class Case:
    """One target's facts. Providers are keyed by the type they return."""

    def __init__(
        self,
        source: Source,
        providers: Iterable[Provider],
        known: Known | None = None,
    ) -> None:
        """Know how to find facts in *source*. *known* are those found already: the host's, which many JVMs share."""
        self._source = source
        self._providers = _by_kind(tuple(providers))
        self._known: dict[type[Any], Reading[Any]] = dict(known or {})

    def get(self, kind: type[T]) -> Reading[T]:
        """The fact of that type, or why it cannot be had."""
        if kind not in self._known:
            self._known[kind] = self._find_out(kind)
        return self._known[kind]

    def value(self, kind: type[T]) -> T | None:
        """The fact's value, ``None`` where it cannot be had."""
        reading = self.get(kind)
        return reading.value if isinstance(reading, Got) else None

    def gather(
        self, function: Callable[..., object], needs: tuple[Need, ...] | None = None
    ) -> Given:
        """The facts that *function* asks for in its parameters."""
        values: dict[str, Any] = {}
        lacking: list[Missing] = []
        origins: set[Ref] = set()
        for need in _needs(function) if needs is None else needs:
            reading = self.get(need.kind)
            if isinstance(reading, Got):
                values[need.name] = reading.value
                origins.update(reading.origins)
            else:
                values[need.name] = reading if need.wants_reason else None
                if not need.optional:
                    lacking.append(reading)
        return Given(values, tuple(lacking), in_order(origins))

    def _find_out(self, kind: type[T]) -> Reading[T]:
        provider = self._providers.get(kind)
        if (
            provider is None
        ):  # a case of few facts (lint, tests); a test holds that the whole case lacks none
            return Missing(Why.NOT_COLLECTED, (), f"{kind.__name__} is not looked for here")
        given = self.gather(provider, _needs(provider, skip=1))
        if given.lacking:
            return given.lacking[0]
        recorder = Recorder(self._source)
        try:
            value = provider(recorder, **given.values)
        except Unavailable as error:
            return error.missing
        except (ValueError, UnicodeError, RecursionError) as error:
            return Missing(Why.MALFORMED, recorder.origins, str(error))
        return Got(typing.cast("T", value), in_order((*given.origins, *recorder.origins)))
