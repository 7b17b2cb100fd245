"""What to do about a host whose pool runs dry: the daemon of its distribution, and what is said besides."""

from __future__ import annotations

from collections.abc import Iterator

from seedstall.model.finding import Disposition, Fix, When
from seedstall.model.kernel import Distribution, KernelRandom


def feeder(distribution: Distribution | None, kernel: KernelRandom, title: str) -> tuple[Fix, ...]:
    """An entropy daemon on the host, as its distribution packages it; nothing where it would be useless."""
    from seedstall.knowledge.distributions import feeder_commands  # noqa: PLC0415 - start-up time

    advice = feeder_commands(distribution, kernel)
    if advice.useless:
        return ()
    params = {"commands": "\n".join(advice.commands)} if advice.commands else {}
    return (
        Fix(
            surface="rngd",
            title=title,
            when=When.NOW,
            where="host",
            restart=False,
            needs_root=True,
            disposition=Disposition.REVIEW,
            params=params,
        ),
    )


def notes(distribution: Distribution | None, kernel: KernelRandom) -> Iterator[str]:
    """What a person must know before typing it, and the kernel that does away with the pool."""
    from seedstall.knowledge.distributions import feeder_commands  # noqa: PLC0415 - start-up time

    advice = feeder_commands(distribution, kernel)
    if advice.note:
        yield advice.note
    if advice.kernel_update:
        yield f"a kernel without the pool does away with the wait for good: {advice.kernel_update}"
