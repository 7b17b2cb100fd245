"""What a bundle is made of: its head, its manifest, the place of each reading. The format is docs/bundles.md."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from seedstall.model.evidence import Ask, Missing, Ref, Space, Why
from seedstall.model.record import dataclass

FORMAT = 1
HEAD = "seedstall-bundle"
MANIFEST = "manifest.tsv"
MEMORY_DUMP = Ref(Space.INPUT, "given/memory-dump")
"""The threads as the JVM's memory held them when the bundle was made, in the form of a thread dump."""
BUNDLE = Ref(Space.INPUT, "given/bundle")
"""The head of the bundle that this case is, as bytes."""
LACKS = Ref(Space.INPUT, "given/lacks")
"""Why what was gathered is not all there, a line each: the archive is cut."""
TAKES = "takes/"
LOGS = "logs/"
JVM_DUMP = "jvm/threaddump"
"""``jvm/threaddump.txt``, or ``jvm/threaddump-1.txt`` and so on, in the order of time."""
REPLIES = {"properties": "jvm/properties.txt"}
STATUS = {str(why).replace(" ", "-"): why for why in Why}
"""The words of the manifest for what is missing."""
ANSWERS = {"link": Ask.LINK, "stat": Ask.STAT, "list": Ask.LIST}
"""Its words for what is no file's content."""


@dataclass(frozen=True, slots=True)
class Head:
    """Who made the bundle, of which process, when. Texts are as they stand there: they are the maker's own word."""

    version: int = FORMAT
    tool: str = ""
    pid: int | None = None
    taken: str = ""
    redacted: str = ""
    anonymised: bool = False
    did: tuple[str, ...] = ()
    others: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True)
class Gathering:
    """Where the evidence of a case comes from that was gathered elsewhere, and why it is not all there."""

    head: Head
    lacks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Manifest:
    """The answers that are no file's content, and what is missing and why.

    The keys of `answers` are a path and what is asked of it, as are those of `missing`, where a question that is
    ``None`` stands for all.
    """

    answers: Mapping[tuple[str, Ask], bytes] = field(default_factory=dict[tuple[str, Ask], bytes])
    missing: Mapping[tuple[str, Ask | None], Missing] = field(
        default_factory=dict[tuple[str, "Ask | None"], Missing]
    )

    named: dict[str, frozenset[bytes]] = field(default_factory=dict[str, frozenset[bytes]])
    """What `lists` found before."""

    def lists(self, folder: str) -> frozenset[bytes] | None:
        """The names that a directory had; ``None`` where it was not listed."""
        if folder not in self.named:
            names = self.answers.get((folder, Ask.LIST))
            if names is None:
                return None
            self.named[folder] = frozenset(names.split(b"\0"))
        return self.named[folder]


def place(ref: Ref, pid: int | None) -> str | None:
    """Where the reading of *ref* lies in a bundle of the process *pid*; ``None`` for what none holds."""
    path = ref.path
    match ref.space:
        case Space.KERNEL:
            found = path.lstrip("/")
        case Space.PROCESS:
            found = f"proc/{pid}/{path}" if path else f"proc/{pid}"
        case Space.ROOT:
            found = f"root/{path.lstrip('/')}".rstrip("/")
        case Space.ATTACH:
            found = REPLIES.get(path, f"{JVM_DUMP}.txt" if path == "threaddump" else "")
        case Space.INPUT:
            if ref == MEMORY_DUMP:
                return f"{JVM_DUMP}-memory.txt"
            found = path if path.startswith("given/") else f"{LOGS}{path}" if path else ""
        case _:  # memory is not kept
            return None
    parts = found.split("/")
    if not found or "\0" in found or any(part in ("", ".", "..") for part in parts):
        return None
    return found
