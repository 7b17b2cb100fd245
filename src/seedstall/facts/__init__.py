"""How each fact is had: providers, functions of a source and other facts, one subject a module."""

from __future__ import annotations

from collections.abc import Callable


def providers() -> tuple[Callable[..., object], ...]:
    """Every provider. Imported when asked for: start-up time is a feature."""
    from seedstall.facts import inputs, jvm, kernel, process, waits  # noqa: PLC0415

    return (
        *inputs.PROVIDERS,
        *jvm.PROVIDERS,
        *kernel.PROVIDERS,
        *process.PROVIDERS,
        *waits.PROVIDERS,
    )
