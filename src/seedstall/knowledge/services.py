"""systemd: which unit a process belongs to by its control group, and where units and their drop-ins lie."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

UNIT_FOLDERS = (
    "/etc/systemd/system.control",
    "/run/systemd/system.control",
    "/run/systemd/transient",
    "/etc/systemd/system",
    "/run/systemd/system",
    "/run/systemd/generator",
    "/usr/local/lib/systemd/system",
    "/usr/lib/systemd/system",
    "/lib/systemd/system",
    "/run/systemd/generator.late",
)
"""Where the system manager looks, the folder that beats the others first (systemd.unit(5))."""
TRANSIENT = "/run/systemd/transient"


class UnitName(NamedTuple):
    """A unit: ``tomcat10.service``; ``user`` is true where a user's own manager runs it."""

    name: str
    user: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """The unit's own name, and its template's where it is an instance (``app@one.service``: ``app@.service``)."""
        stem, dot, kind = self.name.rpartition(".")
        before, at, instance = stem.partition("@")
        return (self.name, f"{before}@{dot}{kind}") if at and instance else (self.name,)


def unit_of(paths: Iterable[str]) -> UnitName | None:
    """The service whose control group is among *paths*; ``None`` for a login session, a scope or no unit at all.

    ``/system.slice/x.service/sub/group`` is of ``x.service``; of nested services the innermost runs the process
    (``user@1000.service/app.slice/y.service``).
    """
    for path in paths:
        parts = [part.removeprefix("_") for part in path.split("/", 64)[:64] if part]
        services = [n for n, part in enumerate(parts) if part.endswith(".service")]
        scopes = [n for n, part in enumerate(parts) if part.endswith(".scope")]
        if not services or (scopes and scopes[-1] > services[-1]):
            continue
        last = services[-1]
        user = any(part.startswith("user@") for part in parts[:last])
        if parts[last].startswith("user@"):
            continue
        return UnitName(parts[last], user)
    return None
