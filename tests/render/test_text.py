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
from seedstall.render import text

FINDING = Finding(
    message="m",
    sentence='"main" waits in read of /dev/random',
    cause=Cause.BLOCKING_SEED,
    status=Status.STALLED,
    severity=Severity.ERROR,
    confidence=Confidence.CONFIRMED,
    evidence=(Evidence(origin="/proc/1/task/2/syscall", excerpt="read 0x4\nat x\x1b[31m"),),
    fixes=(
        Fix(surface="tomcat-setenv", title="-Djava.security.egd=file:/dev/urandom"),
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


def test_the_first_line_is_the_answer() -> None:
    assert text.render(report()).splitlines()[0] == (
        'stalled (blocking-seed, confirmed): "main" waits in read of /dev/random'
    )


def test_quiet_is_the_first_line_alone() -> None:
    assert len(text.render(report(), quiet=True).splitlines()) == 1


def test_what_frees_it_now_comes_before_the_next_start() -> None:
    shown = text.render(report())

    assert shown.index("now: feed the pool (as root)") < shown.index("at the next start:")
    assert "seedstall fix 8712 --surface tomcat-setenv > setenv.patch" in shown


def test_what_was_not_looked_at_is_said_with_its_reason() -> None:
    shown = text.render(report())

    assert "SS103: kernel:dmesg denied: needs CAP_SYSLOG" in shown
    assert "SS302: the rule itself failed" in shown


def test_escape_codes_are_shown_not_obeyed() -> None:
    shown = text.render(report())

    assert "\x1b" not in shown
    assert "\\x1b[31m" in shown


def test_what_was_done_to_the_target_is_said() -> None:
    assert "done to 8712: sigquit+attach threaddump (3 ms)" in text.render(report())


def test_secrets_are_redacted_unless_a_person_chose_otherwise() -> None:
    shown = report(target="x -storepass hunter2")

    assert "hunter2" not in text.render(shown)
    assert "hunter2" in text.render(shown, redacted=False)
