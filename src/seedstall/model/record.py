"""Dataclasses that are built when they are first used.

A ``dataclass(frozen=True)`` costs 0.5 to 0.8 ms to define, since its methods are compiled from text: the hundred
of this program cost as much as everything else that a ``diagnose`` does, and one run makes instances of a third of
them. ``dataclass`` here takes the same arguments and gives the same class, but compiles its methods at its first
instance. Type checkers see the original.

``slots`` is not honoured (a class cannot get slots after it was made): where many instances live, use the
original.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from dataclasses import dataclass
    from typing import Any
else:
    from reprlib import recursive_repr

    def dataclass(**options: bool) -> Callable[[type[Any]], type[Any]]:
        """As `dataclasses.dataclass`, without its cost until the first instance."""
        options.pop("slots", None)

        def put_off(cls: type[Any]) -> type[Any]:
            def first(self: Any, *args: object, **kwargs: object) -> None:
                _build(type(self))
                self.__init__(*args, **kwargs)

            cls.__unbuilt__ = options
            cls.__init__ = first
            cls.__setstate__ = _unpickled
            return cls

        return put_off

    def _unpickled(self: Any, state: dict[str, object]) -> None:
        """Instances from another process come without ``__init__``: their class is built here."""
        _build(type(self))
        self.__dict__.update(state)

    def _build(cls: type[Any]) -> None:
        """Compile the methods of *cls* and of what it inherits from, bases first."""
        for one in reversed(cls.__mro__):
            options = one.__dict__.get("__unbuilt__")
            if options is None:
                continue
            del one.__unbuilt__
            del one.__init__
            _complete(one, options)

    def _complete(cls: type[Any], options: dict[str, bool]) -> None:
        """As `dataclasses.dataclass`, with methods that serve every class: nothing is left to compile from text.

        One that is ordered is looked up and sorted often, and gets compiled methods, which are faster.
        """
        if options.get("order") or not options.get("frozen"):
            dataclasses.dataclass(**options)(cls)
            return
        kw_only = options.get("kw_only", False)
        dataclasses.dataclass(init=False, repr=False, eq=False, kw_only=kw_only)(cls)
        fields = dataclasses.fields(cls)
        cls.__positional__ = tuple(f.name for f in fields if f.init and not f.kw_only)
        cls.__fields__ = {f.name: f for f in fields if f.init}
        cls.__init__ = _init
        cls.__setattr__ = _refuse
        cls.__delattr__ = _refuse
        for name, method in (("__repr__", _repr), ("__eq__", _eq), ("__hash__", _hash)):
            if cls.__dict__.get(name) is None:
                setattr(cls, name, method)

    def _init(self: Any, *args: object, **given: object) -> None:
        cls, values = type(self), self.__dict__
        values.update(zip(cls.__positional__, args, strict=False))
        if len(args) > len(cls.__positional__) or not values.keys().isdisjoint(given):
            raise TypeError(f"{cls.__name__}: too many arguments, or one is given twice")
        values.update(given)
        fields = cls.__fields__
        if len(values) < len(fields) or not values.keys() <= fields.keys():
            _default(cls, values, fields)

    def _default(cls: type[Any], values: dict[str, object], fields: dict[str, Any]) -> None:
        if unknown := values.keys() - fields.keys():
            raise TypeError(f"{cls.__name__}: no field is called {sorted(unknown)}")
        for name, field in fields.items():
            if name in values:
                continue
            if field.default is not dataclasses.MISSING:
                values[name] = field.default
            elif field.default_factory is not dataclasses.MISSING:
                values[name] = field.default_factory()
            else:
                raise TypeError(f"{cls.__name__}: {name} is not given")

    def _refuse(_self: object, name: str, *_value: object) -> None:
        raise dataclasses.FrozenInstanceError(f"cannot change field {name!r}")

    def _values(self: Any) -> tuple[object, ...]:
        return tuple(getattr(self, f.name) for f in dataclasses.fields(self) if f.compare)

    def _eq(self: object, other: object) -> bool:
        return _values(self) == _values(other) if type(self) is type(other) else NotImplemented

    def _hash(self: object) -> int:
        return hash(_values(self))

    @recursive_repr()
    def _repr(self: Any) -> str:
        told = ", ".join(
            f"{f.name}={getattr(self, f.name)!r}" for f in dataclasses.fields(self) if f.repr
        )
        return f"{type(self).__qualname__}({told})"


__all__ = ["dataclass"]
