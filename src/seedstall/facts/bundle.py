"""Where evidence comes from that was gathered elsewhere: whose bundle it is, and what it lacks."""

from __future__ import annotations

from seedstall.model.bundle import BUNDLE, LACKS, Gathering, Head
from seedstall.model.evidence import Got, Unavailable
from seedstall.source.base import Source


def gathering(source: Source) -> Gathering:
    """Who gathered the evidence, and why it is not all there.

    Raises:
        Unavailable: it was not gathered: it is a process of this host, or files that were handed over.
    """
    told, lacking = source.read(BUNDLE), source.read(LACKS)
    lacks = lacking.value.decode("utf-8", "backslashreplace") if isinstance(lacking, Got) else ""
    if not isinstance(told, Got):
        if not lacks:
            raise Unavailable(told)
        return Gathering(Head(), tuple(lacks.splitlines()))
    from seedstall.parse.bundle import head  # noqa: PLC0415 - only for bundles

    return Gathering(head(told.value), tuple(lacks.splitlines()))


PROVIDERS = (gathering,)
