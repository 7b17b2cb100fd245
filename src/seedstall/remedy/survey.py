"""What every place of a setting reads of a live process, read once: so that a bundle holds what ``fix`` wants."""

from __future__ import annotations

from seedstall.engine.case import Case
from seedstall.facts import providers, service, surfaces
from seedstall.facts.keepers import DPKG, UCF
from seedstall.model.errors import SeedstallError
from seedstall.model.evidence import Missing, Reading, Ref, Why
from seedstall.remedy.registry import MODULES, answering
from seedstall.remedy.request import Request
from seedstall.source.base import Source

_OF_FILES = frozenset(("tomcat", "distribution", "service", "security", "product"))
"""The modules that edit a file of the target. The others print text, or edit a file that is named."""
SURVEYED = tuple(name for name, module in MODULES.items() if module in _OF_FILES)


class _WithoutPackages:
    """A source without the lists of what is installed: megabytes, for one note, and nobody's business."""

    def __init__(self, inner: Source) -> None:
        self._inner = inner

    def read(self, ref: Ref) -> Reading[bytes]:
        """Read it, but for those."""
        if ref.path in (DPKG, UCF):
            return Missing(Why.NOT_COLLECTED, (ref,))
        return self._inner.read(ref)


def survey(recorder: Source, target: str, pid: int | None) -> None:
    """Ask every such surface what it would write, through *recorder*, and forget the answer. Nothing is written."""
    source = _WithoutPackages(recorder)
    known = dict.fromkeys((*providers(), *surfaces.PROVIDERS, *service.PROVIDERS))
    request = Request(Case(source, known), source, target, pid, force=True)
    for surface in SURVEYED:
        try:
            answering(surface)(request)
        except (SeedstallError, ValueError):  # it does not fit the target, or cannot be edited
            continue
