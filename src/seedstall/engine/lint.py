"""Files linted: the rules of files over the settings in them, and one verdict on all."""

from __future__ import annotations

from collections.abc import Sequence

from seedstall.engine.case import Case
from seedstall.engine.conclude import fired, rank
from seedstall.engine.run import run
from seedstall.facts import settings as settings_facts
from seedstall.model.evidence import Got, Missing, Reading, Ref, Space, Unavailable, Why
from seedstall.model.finding import Crashed, Finding, Inconclusive, Outcome, Severity
from seedstall.model.kernel import KernelRandom
from seedstall.model.report import Report, Verdict
from seedstall.model.settings import ConfigFile, Settings
from seedstall.model.verdict import Cause, Status
from seedstall.rules import lint
from seedstall.source.base import Source

RELEASE = Ref(Space.KERNEL, "proc/sys/kernel/osrelease")


class _KernelOnly:
    """What was said of the kernel, without the files: a log among them says nothing of where they will run."""

    def __init__(self, inner: Source) -> None:
        self._inner = inner

    def read(self, ref: Ref) -> Reading[bytes]:
        """Answer for the kernel alone."""
        if ref.space is Space.KERNEL:
            return self._inner.read(ref)
        return Missing(Why.NOT_COLLECTED, (ref,))


def lint_case(source: Source, target: str) -> Report:
    """Run the lint rules over the files that *source* holds. The host is never asked: a file may run anywhere."""
    kernel = _kernel_of(source)

    def known_kernel(_source: Source) -> KernelRandom:
        if kernel is None:
            raise Unavailable(Missing(Why.NOT_COLLECTED, (RELEASE,), "say --kernel RELEASE"))
        return kernel

    case = Case(source, (*settings_facts.PROVIDERS, known_kernel))
    reading = case.get(Settings)
    settings = reading.value if isinstance(reading, Got) else Settings(())
    outcomes = (*run(lint.ALL, case), *_not_understood(settings))
    return Report(
        target=target,
        verdict=_conclude(outcomes, settings),
        outcomes=outcomes,
        facts={
            "jvm": {"jdk": str(settings.jdk) if settings.jdk is not None else None},
            "kernel": _kernel(kernel),
            "threads": {},
            "logs": {},
            "files": [_file(f) for f in settings.files],
        },
    )


def _kernel_of(source: Source) -> KernelRandom | None:
    """The kernel that the user named; ``None`` where none was."""
    if isinstance(source.read(RELEASE), Missing):
        return None
    from seedstall import facts  # noqa: PLC0415 - all providers cost 100 ms, and few ask

    return Case(_KernelOnly(source), facts.providers()).value(KernelRandom)


def _not_understood(settings: Settings) -> list[Inconclusive]:
    """Files that could not be read or understood: no rule can say that nothing is wrong in them."""
    problems = [(f.name, Why.MALFORMED, f.problem) for f in settings.files if f.problem]
    problems += [
        (name, Why.DENIED if why.startswith("denied") else Why.ABSENT, why)
        for name, why in settings.unread
    ]
    return [
        Inconclusive(
            "SS203", "seed-setting-ignored", (Missing(why, (Ref(Space.INPUT, name),), detail),)
        )
        for name, why, detail in problems
    ]


def _conclude(outcomes: Sequence[Outcome], settings: Settings) -> Verdict:
    found = sorted(fired(outcomes), key=lambda item: rank(item[1]), reverse=True)
    if found and found[0][1].severity >= Severity.WARNING:
        return _at_risk(found)
    blind = [o for o in outcomes if isinstance(o, Inconclusive | Crashed)]
    also = tuple(dict.fromkeys(f.cause for _, f in found if f.cause is not Cause.NONE))
    if blind or not settings.files:
        return Verdict(
            status=Status.UNKNOWN,
            cause=Cause.NONE,
            confidence=None,
            sentence=_unknown(settings, blind),
            also=also,
        )
    return Verdict(
        status=Status.CLEAR,
        cause=Cause.NONE,
        confidence=None,
        sentence=_clear(settings, [f for _, f in found]),
        also=also,
    )


def _at_risk(found: list[tuple[str, Finding]]) -> Verdict:
    code, winner = found[0]
    grave = sum(f.severity >= Severity.WARNING for _, f in found) - 1
    more = f" (and {grave} more problem{'s' if grave > 1 else ''})" if grave else ""
    also = dict.fromkeys(f.cause for _, f in found if f.cause not in (winner.cause, Cause.NONE))
    return Verdict(
        status=Status.AT_RISK,
        cause=winner.cause,
        confidence=winner.confidence,
        sentence=winner.sentence + more,
        code=code,
        also=tuple(also),
        finding=winner,
    )


def _unknown(settings: Settings, blind: Sequence[Outcome]) -> str:
    names = [f.name for f in settings.files if f.problem] + [name for name, _ in settings.unread]
    if names:
        shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")  # noqa: PLR2004
        return f"nothing wrong was found, but not all could be looked at: {shown}"
    if any(isinstance(o, Crashed) for o in blind):
        return "a rule failed, so nothing can be said; see 'crashed'"
    return "no settings file was handed over that could be read"


def _clear(settings: Settings, notes: list[Finding]) -> str:
    count = sum(
        len(f.options) + len([e for e in f.entries if "securerandom" in e.name.text])
        for f in settings.files
    )
    files = f"{len(settings.files)} file{'s' if len(settings.files) > 1 else ''}"
    if not count and not notes:
        return f"no setting of SecureRandom's seeding in {files}, right or wrong"
    told = f"; {len(notes)} note{'s' if len(notes) > 1 else ''}" if notes else ""
    return f"every seed setting in {files} does what it looks like{told}"


def _file(file: ConfigFile) -> dict[str, object]:
    jdks = [str(s.jdk) for s in file.scopes if s.jdk is not None]
    return {
        "name": file.name,
        "format": str(file.format),
        "seed_settings": len(file.options) + len(file.entries),
        "jdk": list(dict.fromkeys(jdks)),
        "problem": file.problem or None,
    }


def _kernel(kernel: KernelRandom | None) -> dict[str, object]:
    if kernel is None:
        return {}
    return {"release": kernel.release, "model": str(kernel.model), "reason": kernel.reason}
