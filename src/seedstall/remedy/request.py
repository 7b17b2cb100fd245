"""What a surface is asked, and what it answers: something to print, something to write, or the reason for neither."""

from __future__ import annotations

import re
from dataclasses import dataclass

from seedstall.engine.case import Case
from seedstall.knowledge.egd import EgdAdvice, right_egd
from seedstall.knowledge.seedsource import URL_URANDOM
from seedstall.model.jdk import JdkVersion
from seedstall.source.base import Source

_PLAIN = re.compile(rb"(?:java\.security\.egd|securerandom\.source)=file:/dev/urandom(?![\w./-])")
_KEPT = EgdAdvice(
    URL_URANDOM,
    f"{URL_URANDOM}, as it stands there: it cures JDK 8 and later; where the JDK is 6 or 7, say --jdk 7",
)
NEXT_START = "it takes effect at the next start: the running JVM keeps its settings"


@dataclass(frozen=True, slots=True)
class GivenFile:
    """A file that the user named to be edited: its absolute path on this host, and what is in it."""

    path: str
    content: bytes
    name: str = ""
    """As the user named it, ``""`` where a link led to it."""
    asked: str = ""
    """Its absolute path as the user named it, links and all."""


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked: for which case, with which value said, and whether also where it is not needed.

    ``pid`` is ``None`` where no live process is a target. ``given`` is the file to edit, where the user named one.
    """

    case: Case
    source: Source
    target: str
    pid: int | None
    value: str = ""
    force: bool = False
    given: GivenFile | None = None
    host: Source | None = None
    """This host, for the file that is edited alone; ``None``: what `source` says of it."""
    container: str = ""
    """The service or container of a manifest that is meant, where it was said."""
    named_jdk: JdkVersion | None = None
    """The JDK that the file to edit names itself (its image)."""

    @property
    def jdk(self) -> JdkVersion | None:
        """The JDK, as far as it is known."""
        return self.case.value(JdkVersion) or self.named_jdk

    @property
    def egd(self) -> str:
        """The value said, else the one that is right for this JDK."""
        return self.value or self.advice.value

    @property
    def advice(self) -> EgdAdvice:
        """The value that is right for this JDK. Of one that is not known, what the file has and 8 and later accept."""
        named = self.given.content if self.given is not None else b""
        return _KEPT if self.jdk is None and _PLAIN.search(named) else right_egd(self.jdk)

    @property
    def insists(self) -> bool:
        """Whether it is printed even where nothing waits."""
        return self.force or bool(self.value)


@dataclass(frozen=True, slots=True)
class Write:
    """A file to write: ``path``, its ``content``, and what was ``read`` of it (``None``: there was none).

    ``path`` is as the process sees it, or as this host does with ``host`` (a unit's drop-in, a file that was named).
    No link leads out of the directories ``within``, where there are any. ``then`` is what is to be done after it.
    """

    path: str
    content: bytes
    read: bytes | None
    within: tuple[str, ...] = ()
    host: bool = False
    then: tuple[str, ...] = (NEXT_START,)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a surface gives. ``output`` is empty where there is nothing to do, and ``reason`` says why."""

    output: bytes = b""
    reason: str = ""
    notes: tuple[str, ...] = ()
    write: Write | None = None
