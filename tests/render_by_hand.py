"""A report made by hand, for the tests of every renderer."""

from __future__ import annotations

from seedstall.model.evidence import Missing, Ref, Space, Why
from seedstall.model.finding import (
    Confidence,
    Crashed,
    Evidence,
    Finding,
    Fired,
    Fix,
    Inconclusive,
    Severity,
    When,
)
from seedstall.model.report import Action, Report, Verdict
from seedstall.model.verdict import Cause, Status

FINDING = Finding(
    message="m",
    sentence='"main" waits in read of /dev/random',
    cause=Cause.BLOCKING_SEED,
    status=Status.STALLED,
    severity=Severity.ERROR,
    confidence=Confidence.CONFIRMED,
    evidence=(Evidence(origin="/proc/1/task/2/syscall", excerpt="read 0x4\nat x\x1b[31m"),),
    fixes=(
        Fix(
            surface="tomcat-setenv",
            title="-Djava.security.egd=file:/dev/urandom",
            params={"egd": "file:/dev/urandom"},
        ),
        Fix(surface="rngd", title="feed the pool", when=When.NOW, needs_root=True),
    ),
    notes=("why not the famous one",),
)


def report(**changes: object) -> Report:
    verdict = Verdict(
        status=Status.STALLED,
        cause=Cause.BLOCKING_SEED,
        confidence=Confidence.CONFIRMED,
        sentence=FINDING.sentence,
        code="SS101",
        finding=FINDING,
    )
    denied = Missing(Why.DENIED, (Ref(Space.KERNEL, "dmesg"),), "needs CAP_SYSLOG")
    values: dict[str, object] = {
        "target": "8712",
        "verdict": verdict,
        "outcomes": (
            Fired("SS101", "blocking-seed", (FINDING,), ()),
            Inconclusive("SS103", "crng-not-ready", (denied,)),
            Crashed("SS302", "feeder-down", "KeyError: 'x'"),
        ),
        "actions": (Action(what="sigquit+attach threaddump", pid=8712, pause_ms=3),),
    }
    return Report(**{**values, **changes})  # type: ignore[arg-type]
