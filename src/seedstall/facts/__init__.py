"""How each fact is had: providers, functions of a source and other facts, one subject a module."""

from __future__ import annotations

from collections.abc import Callable


def providers() -> tuple[Callable[..., object], ...]:
    """Every provider. Imported when asked for: start-up time is a feature."""
    from seedstall.facts import (  # noqa: PLC0415
        children,
        core,
        incident,
        inputs,
        jvm,
        kernel,
        limits,
        process,
        samples,
        standing,
        waits,
    )

    return (
        *children.PROVIDERS,
        *core.PROVIDERS,
        *inputs.PROVIDERS,
        *incident.PROVIDERS,
        *jvm.PROVIDERS,
        *kernel.PROVIDERS,
        *limits.PROVIDERS,
        *process.PROVIDERS,
        *samples.PROVIDERS,
        *standing.PROVIDERS,
        *waits.PROVIDERS,
    )
