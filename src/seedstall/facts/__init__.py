"""How each fact is had: providers, functions of a source and other facts, one subject a module."""

from __future__ import annotations

from collections.abc import Callable


def providers(*, pages: bool = True) -> tuple[Callable[..., object], ...]:
    """Every provider; without *pages* those that rules and the short text want.

    Imported when asked for: start-up time is a feature.
    """
    from seedstall.facts import (  # noqa: PLC0415
        bundle,
        children,
        core,
        fips,
        incident,
        inputs,
        jvm,
        kernel,
        limits,
        machine,
        process,
        samples,
        standing,
        waits,
    )

    return (
        *bundle.PROVIDERS,
        *children.PROVIDERS,
        *core.PROVIDERS,
        *fips.PROVIDERS,
        *inputs.PROVIDERS,
        *incident.PROVIDERS,
        *jvm.PROVIDERS,
        *kernel.PROVIDERS,
        *limits.PROVIDERS,
        *machine.PROVIDERS,
        *process.PROVIDERS,
        *samples.PROVIDERS,
        *standing.PROVIDERS,
        *waits.PROVIDERS,
        *(_of_pages() if pages else ()),
    )


def _of_pages() -> tuple[Callable[..., object], ...]:
    from seedstall.facts import threadgroups, timeline  # noqa: PLC0415 - no rule wants them

    return (*threadgroups.PROVIDERS, *timeline.PROVIDERS)
