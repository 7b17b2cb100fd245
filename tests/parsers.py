"""Every function of the parsers that takes what people hand over: found and not listed, so that none is missed."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import typing
from collections.abc import Callable, Iterator
from functools import cache

import seedstall.parse
from seedstall.parse.text import Text, plain

ORIGINS = ("origin", "name", "path", "place", "where")
"""Parameters that say where a text comes from."""
NO_PARSERS = {
    "packed.unpacked": "a step of packed.members",
    "container.opened": "takes what plain() made",
}


def _modules() -> Iterator[str]:
    for found in pkgutil.walk_packages(seedstall.parse.__path__, "seedstall.parse."):
        yield found.name


def _consumed(result: object) -> object:
    return list(result) if isinstance(result, Iterator) else result


def _taking(function: Callable[..., object]) -> Callable[[bytes], object] | None:
    """*function* as one of bytes; ``None`` where it wants something else."""
    try:
        hints = typing.get_type_hints(function, localns={"Text": Text})
        parameters = list(inspect.signature(function).parameters.values())
    except (NameError, TypeError, ValueError):
        return None
    needed = [p for p in parameters if p.default is p.empty and p.kind is not p.VAR_KEYWORD]
    if not needed or not all(p.name in ORIGINS for p in needed[1:]):
        return None
    extra = {p.name: b"x" if hints[p.name] is bytes else "x" for p in needed[1:]}
    kind = hints.get(needed[0].name)
    if kind is bytes or (bytes in typing.get_args(kind) and str in typing.get_args(kind)):
        return lambda data: _consumed(function(data, **extra))
    if kind is str:
        return lambda data: _consumed(function(data.decode("utf-8", "replace"), **extra))
    if kind is Text:
        return lambda data: _consumed(function(plain(data), **extra))
    return None


@cache
def parsers() -> dict[str, Callable[[bytes], object]]:
    """By ``module.function``; what they may raise is ``ValueError``."""
    found: dict[str, Callable[[bytes], object]] = {}
    for name in _modules():
        module = importlib.import_module(name)
        for what, value in vars(module).items():
            if what.startswith("_") or not inspect.isfunction(value) or value.__module__ != name:
                continue
            short = f"{name.removeprefix('seedstall.parse.')}.{what}"
            taking = _taking(value)
            if taking is not None and short not in NO_PARSERS:
                found[short] = taking
    return found | _more()


def _words(data: bytes) -> list[str]:
    return data.decode("utf-8", "surrogateescape").split("\0")


def _more() -> dict[str, Callable[[bytes], object]]:
    """Those that want more than a text."""
    from seedstall.model.evidence import Missing, Why
    from seedstall.model.jdk import JdkVersion
    from seedstall.parse import configfile, launcher, properties, security, setenv, wrappers

    jdk = JdkVersion(17)
    return {
        "configfile.read": lambda data: configfile.read(_words(data)[0][:40], data),
        "launcher.launch": lambda data: launcher.launch(
            _words(data), {}, jdk=jdk, argument_file=lambda _: _words(data)[-1], exe="java"
        ),
        "properties.entries": lambda data: list(properties.entries(data, lambda _: True)),
        "security.security_properties": lambda data: security.security_properties(
            "x", data, lambda _: Missing(Why.ABSENT), jdk=jdk
        ),
        "setenv.set_egd": lambda data: setenv.set_egd(data, "file:/dev/urandom"),
        "wrappers.unwrap": lambda data: wrappers.unwrap(_words(data), {}, lambda _: False),
    }


def in_pieces(data: bytes) -> object:
    """A long text, a few hundred bytes at a time."""
    from seedstall.parse.longtext import LongText

    long = LongText("x")
    size = 1 + len(data) // 7
    for at in range(0, len(data), size):
        list(long.feed(data[at : at + size]))
    return [*long.finish(), long.dumps]


def whole(data: bytes) -> object:
    """Everything that ``diagnose FILE`` does with a file that holds *data*, to the last line of its report."""
    from seedstall.engine.diagnosis import diagnose_case
    from seedstall.model.evidence import Ask, Ref, Space
    from seedstall.render import jsontext, text
    from seedstall.source.base import Held

    listed = Ref(Space.INPUT, "", Ask.LIST)
    report = diagnose_case(Held({listed: b"x\0", Ref(Space.INPUT, "x"): data}), "x")
    crashed = [outcome for outcome in report.outcomes if type(outcome).__name__ == "Crashed"]
    assert not crashed, crashed
    return text.render(report, verbose=1) + jsontext.render([report])
