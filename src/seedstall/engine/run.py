"""Run rules over a case. A rule can fire, be clear, lack evidence, or crash; it never stops the others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from seedstall.engine.case import Case
from seedstall.model.evidence import Unavailable
from seedstall.model.finding import Clear, Crashed, Fired, Inconclusive, Outcome
from seedstall.model.jvm import LiveProcess
from seedstall.model.rule import Rule
from seedstall.model.verdict import Status
from seedstall.rules.now_remedies import with_capture


def run(rules: Iterable[Rule[...]], case: Case) -> Iterator[Outcome]:
    """The outcome of each rule, in their order; of a stall, with what is to be saved before the process is ended."""
    return (_with_capture(_run_one(rule, case), case) for rule in rules)


def _with_capture(outcome: Outcome, case: Case) -> Outcome:
    if not isinstance(outcome, Fired) or all(
        f.status is not Status.STALLED for f in outcome.findings
    ):
        return outcome
    findings = with_capture(outcome.findings, case.value(LiveProcess))
    return replace(outcome, findings=findings)


def _run_one(rule: Rule[...], case: Case) -> Outcome:
    try:
        if rule.when is not None:
            guard = case.gather(rule.when)
            if not guard.lacking and not rule.when(**guard.values):
                return Clear(rule.code, rule.name)
        given = case.gather(rule.check, rule.needs)
        if given.lacking:
            return Inconclusive(rule.code, rule.name, tuple(dict.fromkeys(given.lacking)))
        findings = tuple(rule(**given.values))
    except Unavailable as error:  # each of its facts is optional, and it has none of them
        return Inconclusive(rule.code, rule.name, (error.missing,))
    except Exception as error:  # noqa: BLE001 - one broken rule must not hide the others
        return Crashed(rule.code, rule.name, f"{type(error).__name__}: {error}")
    if not findings:
        return Clear(rule.code, rule.name)
    return Fired(rule.code, rule.name, findings, given.origins)
