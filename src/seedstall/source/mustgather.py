"""An OpenShift must-gather: the logs of its Java containers, each with the kernel of the node that its pod runs on.

``oc adm must-gather`` writes ``namespaces/NS/pods/POD/CONTAINER/CONTAINER/logs/{current,previous}.log``, the pod as
``namespaces/NS/pods/POD/POD.yaml`` and the nodes as ``cluster-scoped-resources/core/nodes/NODE.yaml``. It takes no
thread dump and nothing of ``/proc``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from functools import cached_property

from seedstall.model.evidence import Ask, Got, Missing, Reading, Ref, Space, Why
from seedstall.source.store import LARGEST, Store

LEFT_OUT = "a must-gather does not hold it"
_LOG = re.compile(
    r"namespaces/([^/]+)/pods/([^/]+)/([^/]+)/(?:[^/]+/)?logs/(?:current|previous)(?:\.insecure)?\.log"
)
_YAML = re.compile(
    r"namespaces/[^/]+/pods/([^/]+)/\1\.yaml|cluster-scoped-resources/core/nodes/[^/]+\.yaml"
)
_SIGNS = re.compile(
    rb"SecureRandom|org\.apache\.catalina|\bat [\w.$]+\([\w$]+\.java:\d|Full thread dump|\bjava\.lang\.|JVM|Spring Boot"
)
_LOOKED_AT = 1 << 20
_NODE = re.compile(rb"^ {0,8}nodeName: ?\"?([\w.-]{1,253})\"?\s*$", re.MULTILINE)
_KERNEL = re.compile(rb"^ {0,12}kernelVersion: ?\"?([\w.+-]{1,100})\"?\s*$", re.MULTILINE)
MOST_CONTAINERS = 10_000


def wanted(path: str) -> int:
    """How many bytes of a member, by its path below the top, are evidence."""
    return LARGEST if _LOG.fullmatch(path) or _YAML.fullmatch(path) else 0


class MustGather:
    """One must-gather."""

    def __init__(self, store: Store, top: str = "") -> None:
        """It lies below *top* in *store*."""
        self.store = store
        self._top = f"{top}/" if top else ""

    def content(self, path: str) -> bytes | None:
        """The content of a file."""
        try:
            return self.store.ask(self._top + path, Ask.CONTENT, LARGEST)
        except OSError:
            return None

    def _names(self, folder: str) -> Iterator[str]:
        try:
            listed = self.store.ask(self._top + folder, Ask.LIST)
        except OSError:
            return
        yield from (f"{folder}/{os.fsdecode(name)}" for name in listed.split(b"\0")[:-1])

    @cached_property
    def containers(self) -> dict[tuple[str, str, str], tuple[str, ...]]:
        """The logs of each container (namespace, pod, name) that logs as a Java program does; the older first."""
        found: dict[tuple[str, str, str], list[str]] = {}
        for path in self._logs():
            match = _LOG.fullmatch(path)
            if match is not None and len(found) < MOST_CONTAINERS:
                found.setdefault((match[1], match[2], match[3]), []).append(path)
        return {
            key: tuple(sorted(paths, reverse=True))  # previous before current
            for key, paths in sorted(found.items())
            if any(_SIGNS.search((self.content(path) or b"")[:_LOOKED_AT]) for path in paths)
        }

    def _logs(self) -> Iterator[str]:
        for namespace in self._names("namespaces"):
            for pod in self._names(f"{namespace}/pods"):
                for container in self._names(pod):
                    for inner in (container, *self._names(container)):
                        yield from self._names(f"{inner}/logs")

    def kernel_of(self, namespace: str, pod: str) -> str:
        """The kernel's release of the node that the pod runs on; ``""`` where it is not told."""
        told = self.content(f"namespaces/{namespace}/pods/{pod}/{pod}.yaml") or b""
        node = _NODE.search(told)
        if node is None:
            return ""
        path = f"cluster-scoped-resources/core/nodes/{os.fsdecode(node[1])}.yaml"
        found = _KERNEL.search(self.content(path) or b"")
        return os.fsdecode(found[1]) if found is not None else ""


class ContainerSource:
    """One container's logs, and its node's kernel."""

    def __init__(self, gather: MustGather, key: tuple[str, str, str], logs: Iterable[str]) -> None:
        """Present the container *key* (namespace, pod, name)."""
        self._gather = gather
        self._logs = tuple(logs)
        self._kernel = gather.kernel_of(key[0], key[1])

    def read(self, ref: Ref) -> Reading[bytes]:
        """Read one thing, or say why not: never that it is absent."""
        if ref == Ref(Space.KERNEL, "proc/sys/kernel/osrelease") and self._kernel:
            return Got(os.fsencode(self._kernel) + b"\n", (ref,))
        if ref.space is Space.INPUT:
            if ref.ask is Ask.LIST and not ref.path:
                return Got(b"".join(os.fsencode(log) + b"\0" for log in self._logs), (ref,))
            data = self._gather.content(ref.path) if ref.path in self._logs else None
            if data is not None and ref.ask is Ask.CONTENT:
                return Got(data, (ref,))
            return Missing(Why.NOT_COLLECTED, (ref,))
        return Missing(Why.NOT_COLLECTED, (ref,), LEFT_OUT)
