"""The samples of a watched start, if some were taken."""

from __future__ import annotations

from seedstall.model.evidence import Missing, Ref, Space, Unavailable
from seedstall.model.samples import StartSamples
from seedstall.model.threads import ThreadDumps
from seedstall.source.base import Source

SAMPLES = Ref(Space.INPUT, "given/samples")
"""The recording (`parse.samples`), as the command line hands it over: a kept one replays through the same reading."""


def start_samples(source: Source, dumps: ThreadDumps | None) -> StartSamples:
    """The account of the samples that were taken; a thread dump names the threads.

    Raises:
        Unavailable: none were taken.
        ValueError: what was handed over is no recording.
    """
    reading = source.read(SAMPLES)
    if isinstance(reading, Missing):
        raise Unavailable(reading)
    from seedstall.facts.startaccount import account  # noqa: PLC0415 - for a watched start only
    from seedstall.parse.samples import recording  # noqa: PLC0415 - the same

    return account(recording(reading.value), dumps)


PROVIDERS = (start_samples,)
