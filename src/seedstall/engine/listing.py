"""Every JVM of the host in one table, by ``/proc`` alone: nothing is signalled, connected to, or read of its memory."""

from __future__ import annotations

from collections.abc import Iterator

from seedstall import facts, rules
from seedstall.engine.case import Case
from seedstall.engine.conclude import conclude
from seedstall.engine.host import Roots, host_facts
from seedstall.engine.run import run
from seedstall.model.evidence import Got, Missing, Reading, Ref, Space, Why
from seedstall.model.jdk import JdkVersion, VmFamily
from seedstall.model.jvm import Container, JvmProcess, Launch, Product
from seedstall.model.kernel import KernelRandom
from seedstall.model.listing import ListedJvm, Listing, Unread
from seedstall.model.seeding import Risk, SeedRisk, SeedRole, SeedSource
from seedstall.model.tasks import Tasks
from seedstall.model.verdict import Status
from seedstall.model.waits import SeedEvidence
from seedstall.parse import passwd
from seedstall.source import processes
from seedstall.source.base import Source
from seedstall.source.host import HostSource
from seedstall.source.processes import Found

ASKED = frozenset(("SS101", "SS103", "SS501"))
"""The rules that tell by ``/proc`` alone what waits now: for bytes, for the kernel's first seeding, for SIGCONT."""
PASSWD = Ref(Space.KERNEL, "etc/passwd")


class ProcAlone:
    """A source that neither asks the JVM nor reads its memory."""

    def __init__(self, inner: Source) -> None:
        """Answer from *inner*, but for those two."""
        self._inner = inner

    def read(self, ref: Ref) -> Reading[bytes]:
        """Read one thing, or say why not."""
        if ref.space in (Space.ATTACH, Space.MEMORY):
            return Missing(Why.REFUSED, (ref,), "a list looks at /proc alone")
        return self._inner.read(ref)


def listing() -> Listing:
    """All JVMs of this host as they are now."""
    host = HostSource()
    shared = host_facts(host, (KernelRandom,))
    names = _user_names(host)
    scan = processes.scan()
    roots = Roots()
    rows: list[ListedJvm] = []
    ended = 0
    for found in scan.jvms:
        with HostSource(found.pid) as live:
            case = Case(roots.shared(ProcAlone(live)), facts.providers(), shared)
            row = _row(found, case, names)
        if row is None:
            ended += 1
        else:
            rows.append(row)
    return Listing(
        jvms=tuple(rows),
        processes=scan.processes,
        unseen=tuple(sorted(scan.unseen.items())),
        hidden=scan.hidden,
        ended=ended,
    )


def _row(found: Found, case: Case, names: dict[int, str]) -> ListedJvm | None:
    """One JVM; ``None`` where it ended while it was looked at."""
    process = case.get(JvmProcess)
    if isinstance(process, Missing) and process.why is Why.VANISHED:
        return None
    chosen = [rule for rule in rules.ALL if rule.code in ASKED]
    verdict = conclude(tuple(run(chosen, case)), case.value(SeedEvidence))
    if _is_over(case):
        return None
    it = process.value if isinstance(process, Got) else None
    jdk, source = case.value(JdkVersion), case.value(SeedSource)
    product, container = case.value(Product), case.value(Container)
    risk = _risk(case)
    return ListedJvm(
        pid=found.pid,
        vm=_family(found, jdk),
        told_by=found.told_by,
        status=verdict.status,
        cause=verdict.cause,
        sentence=_unseen(case) or verdict.sentence
        if verdict.status is Status.UNKNOWN
        else verdict.sentence,
        risk=risk.risk,
        risk_why=risk.why,
        uid=it.uid if it is not None else None,
        user=names.get(it.uid, str(it.uid)) if it is not None else "",
        age_ms=it.age_ms if it is not None else None,
        jdk=str(jdk) if jdk is not None else "",
        vendor=jdk.vendor if jdk is not None else "",
        program=_program(product, case.value(Launch)),
        product=product.key if product is not None and product.key != "java" else "",
        in_container=container.inside if container is not None else None,
        container=container.id if container is not None else "",
        runtime=container.runtime if container is not None else "",
        seed_source=source.value if source is not None else None,
        seed_place=source.place if source is not None else "",
        seed_assumed=source.assumed if source is not None else False,
        since_ms=verdict.since_ms,
        unread=tuple(_unread(case)),
    )


def _is_over(case: Case) -> bool:
    """Whether its threads vanished under our eyes: what was had of it before is no state of anything."""
    tasks = case.get(Tasks)
    return isinstance(tasks, Missing) and tasks.why is Why.VANISHED


def _unseen(case: Case) -> str:
    """Why it is not known what its threads wait in, where the kernel did not let us see it."""
    tasks = case.value(Tasks)
    reasons = dict.fromkeys(text.partition(": ")[2] for text in tasks.denied) if tasks else {}
    return f"what its threads wait in may not be seen: {'; '.join(reasons)}" if reasons else ""


def _risk(case: Case) -> SeedRisk:
    """What the settings say, unless it is seen to wait: that counts for more."""
    told = case.value(SeedRisk) or SeedRisk(Risk.UNKNOWN, "it could not be looked at")
    seeds = case.value(SeedEvidence)
    waits = seeds is not None and any(wait.role is SeedRole.READING for wait in seeds.waits)
    if not waits or told.risk is Risk.WILL_BLOCK:
        return told
    return SeedRisk(
        Risk.WILL_BLOCK, f"it is in the read of its seed now; by its settings: {told.why}"
    )


def _family(found: Found, jdk: JdkVersion | None) -> VmFamily:
    return jdk.family if found.vm is VmFamily.UNKNOWN and jdk is not None else found.vm


def _program(product: Product | None, launch: Launch | None) -> str:
    """The product's name; of another program what it runs: ``Main``, ``app.jar``."""
    if product is not None and (launch is None or product.title != launch.java):
        return product.title
    if launch is None:
        return ""
    told = launch.tool or launch.main_class or launch.jar.rpartition("/")[2] or launch.module
    return told or launch.java.rpartition("/")[2]


def _unread(case: Case) -> Iterator[Unread]:
    """What could not be had, each with its reason: an empty column must not read as "none"."""
    asked: tuple[tuple[str, type[object]], ...] = (
        ("process", JvmProcess),
        ("jdk", JdkVersion),
        ("program", Product),
        ("container", Container),
        ("seed_source", SeedSource),
        ("threads", SeedEvidence),
    )
    for name, kind in asked:
        reading = case.get(kind)
        if isinstance(reading, Missing):
            yield Unread(what=name, why=_reason(reading))


def _reason(missing: Missing) -> str:
    return f"{missing.why}: {missing.detail}" if missing.detail else str(missing)


def _user_names(host: Source) -> dict[int, str]:
    """User names by id, from ``/etc/passwd`` alone: a directory service may be as hung as the JVM."""
    reading = host.read(PASSWD)
    return passwd.user_names(reading.value) if isinstance(reading, Got) else {}
