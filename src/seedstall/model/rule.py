"""What a rule is: a pure function of facts, with a code, a name and a page."""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Generic, ParamSpec

from seedstall.model.evidence import Missing
from seedstall.model.finding import Finding
from seedstall.model.record import dataclass

P = ParamSpec("P")


@dataclass(frozen=True)
class Need:
    """One parameter of a rule or provider: the fact wanted, and whether it can do without."""

    name: str
    kind: type[object]
    optional: bool
    wants_reason: bool = False
    """Annotated ``Fact | Missing``: without the fact, the reason is handed over instead of ``None``."""


@dataclass(frozen=True)
class Rule(Generic[P]):
    """Callable like the function it wraps, so that tests can hand it facts directly.

    ``when`` is a cheap guard over facts: if they are had and it says no, the rule is clear whatever else is missing.
    """

    code: str
    name: str
    check: Callable[P, Iterable[Finding]]
    when: Callable[..., bool] | None = None

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> Iterator[Finding]:
        """Run the check."""
        return iter(self.check(*args, **kwargs))

    @cached_property
    def needs(self) -> tuple[Need, ...]:
        """The facts it asks for."""
        return needs_of(self.check)

    @property
    def page(self) -> str:
        """Its documentation page, in Markdown."""
        return inspect.getdoc(self.check) or ""


def rule(
    code: str, name: str, *, when: Callable[..., bool] | None = None
) -> Callable[[Callable[P, Iterable[Finding]]], Rule[P]]:
    """Make a function of facts a rule."""
    return lambda check: Rule(code, name, check, when)


def needs_of(function: Callable[..., object], skip: int = 0) -> tuple[Need, ...]:
    """Read a function's wants from its annotations.

    ``X`` is required, ``X | None`` optional, ``X | Missing`` optional with the reason for its absence.

    Raises:
        TypeError: a parameter is annotated otherwise.
    """
    code = function.__code__
    names = code.co_varnames[skip : code.co_argcount]
    return tuple(_need(function, name, kinds_of(function, name)) for name in names)


def kinds_of(function: Callable[..., object], name: str) -> set[object]:
    """The types that annotate a parameter, or ``return``.

    ``typing.get_type_hints`` compiles and evaluates every annotation: 0.3 ms a function, for eighty functions. A
    name, or names joined by ``|``, are looked up where the function looks them up; all else is left to it.
    """
    text = function.__annotations__.get(name)
    words = [word.strip() for word in text.split("|")] if isinstance(text, str) else [""]
    known = function.__globals__
    if all(word in known or word == "None" for word in words):
        return {type(None) if word == "None" else known[word] for word in words}
    hint = typing.get_type_hints(function)[name]
    union = typing.get_origin(hint) in (types.UnionType, typing.Union)
    return set(typing.get_args(hint)) if union else {hint}


def _need(function: Callable[..., object], name: str, options: set[object]) -> Need:
    kinds = options - {type(None), Missing}
    kind = kinds.pop() if len(kinds) == 1 else None
    if not isinstance(kind, type):
        message = (
            f"{function.__qualname__}: parameter {name!r} must be annotated Fact or Fact | None"
        )
        raise TypeError(message)
    wants_reason = Missing in options
    optional = wants_reason or type(None) in options
    return Need(name, kind, optional=optional, wants_reason=wants_reason)
