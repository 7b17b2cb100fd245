"""Container runtimes: how the control group of a process names its container."""

from __future__ import annotations

from collections.abc import Iterable

SHOWN = 12
"""Hexadecimal digits that ``docker ps`` and ``crictl ps`` (13) print of an id."""
_LEAST = 32
"""Ids have 64 hexadecimal digits, garden's and old rkt's 32 to 36 signs."""
_PREFIXES = {
    "docker-": "Docker",
    "cri-containerd-": "containerd",
    "crio-": "CRI-O",
    "crio-conmon-": "",
    "libpod-": "Podman",
    "libpod-conmon-": "",
    "lxc.payload.": "LXC",
    "machine-": "systemd-nspawn",
    "systemd-nspawn@": "systemd-nspawn",
}
"""Scopes and slices of the systemd driver; an empty runtime is the container's monitor, which lives outside it."""
_FOLDERS = {
    "docker": "Docker",
    "lxc": "LXC",
    "lxc.payload": "LXC",
    "ecs": "ECS",
    "garden": "garden",
}
"""Parents of the group in the cgroupfs driver."""
_POD = ("kubepods", "kubelet")


def container_of(paths: Iterable[str]) -> tuple[str, str] | None:
    """Runtime and container id by the paths of a process's control groups; ``None`` where none of them names one.

    The innermost container counts: Docker in Docker, a Kubernetes node that is itself a container (kind).
    """
    for path in paths:
        parts = [part for part in path.split("/", 64)[:64] if part]
        for parent, name in reversed(list(zip(["", *parts], parts, strict=False))):
            found = _named(parent, name)
            if found is not None:
                return found if found[0] or found[1] else None
    return None


def _named(parent: str, name: str) -> tuple[str, str] | None:
    bare = name.removesuffix(".scope").removesuffix(".service")
    for prefix, runtime in _PREFIXES.items():
        rest = bare.removeprefix(prefix)
        if rest != bare and rest and (runtime in ("LXC", "systemd-nspawn") or _is_id(rest)):
            return (runtime, _short(rest)) if runtime else ("", "")
    if parent in _FOLDERS and (_FOLDERS[parent] == "LXC" or _is_id(bare)):
        return _FOLDERS[parent], _short(bare)
    if _is_id(bare) and (parent.startswith("pod") or any(word in parent for word in _POD)):
        return "Kubernetes", _short(bare)
    return ("", _short(bare)) if _is_id(bare) and len(bare) == 64 else None  # noqa: PLR2004 - a whole SHA-256


def _is_id(text: str) -> bool:
    return len(text) >= _LEAST and not set(text) - set("0123456789abcdef-")


def _short(text: str) -> str:
    return text[:SHOWN] if _is_id(text) else text[:64]
