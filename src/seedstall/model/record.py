"""Dataclasses that are built when they are first used.

A ``dataclass(frozen=True)`` costs 0.5 to 0.8 ms to define, since its methods are compiled from text: the hundred of
this program cost as much as everything else that a ``diagnose`` does, and one run makes instances of a third of them.
``dataclass`` here takes the same arguments and gives the same class, but compiles its methods at its first instance.
Type checkers see the original.

``slots`` is not honoured (a class cannot get slots after it was made): where many instances live, use the original.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from dataclasses import dataclass
    from typing import Any
else:

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
            dataclasses.dataclass(**options)(one)


__all__ = ["dataclass"]
