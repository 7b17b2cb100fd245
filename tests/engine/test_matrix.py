"""Every real dump in every wrapping and damage gives the verdict that it gives by itself: thread, generator, operation.

Some dumps stand for all by default; ``make matrix`` tries all 113, and 6,000 pairs of a damage within a wrapping.
"""

from __future__ import annotations

import random
from functools import cache

import pytest
from tests.damage import DAMAGE, LOSSES, WRAPPINGS, Change, torn
from tests.texts import live, post, probes, tomcat_logs

from seedstall.engine.case import Case
from seedstall.engine.diagnosis import diagnose_case
from seedstall.facts import inputs, waits
from seedstall.model.evidence import Ask, Ref, Space
from seedstall.model.finding import Confidence
from seedstall.model.log import ServerLog
from seedstall.model.verdict import Cause, Status
from seedstall.model.waits import SeedEvidence, SeedWait
from seedstall.source.base import Held


@cache
def dumps() -> dict[str, str]:
    """The stalled probes, Tomcat and jarsigner, without the line that a probe adds."""
    found = {
        name: text.decode().rstrip().rpartition("\n")[0] + "\n"
        for name, text in probes().items()
        if text.rstrip().endswith(b"BLOCKED")
    }
    for name in ("tomcat10-jdk17-hang.txt", "jarsigner-jdk8-hang.txt"):
        found[name] = live(name).decode()
    return found


SOME = (
    "tomcat10-jdk17-hang.txt",
    "jarsigner-jdk8-hang.txt",
    "7src.sha1.nextInt.x1.urandom.txt",
    "11.none.drbg.nextBytes.x4.txt",
    "21.none.strong.generateSeed.txt",
    "25.noscheme.sha1.nextBytes.txt",
)
LONG = frozenset(("a mail, base64", "tar.xz", "xz"))


def source(text: str | bytes) -> Held:
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return Held({Ref(Space.INPUT, "x.txt"): data, Ref(Space.INPUT, "", Ask.LIST): b"x.txt\0"})


def told(wait: SeedWait) -> tuple[str, str, str, str]:
    stack, java = wait.stack, wait.java
    assert stack is not None
    assert java is not None
    return java.name, str(stack.algorithm), str(stack.operation), str(wait.role)


def waiting(text: str | bytes) -> set[tuple[str, str, str, str]]:
    """Who waits for a seed in *text*: all that a verdict about a dump rests on."""
    seeds = Case(source(text), inputs.PROVIDERS + waits.PROVIDERS).value(SeedEvidence)
    return {told(w) for w in seeds.waits} if seeds is not None else set()


@cache
def truth(name: str) -> set[tuple[str, str, str, str]]:
    found = waiting(dumps()[name])
    assert found
    return found


def wrong(names: list[str], change: Change) -> list[str]:
    return [name for name in names if waiting(change(dumps()[name])) != truth(name)]


@pytest.mark.parametrize("damage", DAMAGE)
def test_some_dumps_in_each_damage(damage: str) -> None:
    assert wrong(list(SOME), DAMAGE[damage]) == []


@pytest.mark.parametrize("wrapping", WRAPPINGS)
def test_some_dumps_in_each_wrapping(wrapping: str) -> None:
    assert wrong(list(SOME), WRAPPINGS[wrapping]) == []


def pairs(count: int, seed: int) -> list[tuple[str, str, str]]:
    chosen = random.Random(seed)  # noqa: S311 - the same pairs each time
    return [
        (
            chosen.choice(sorted(dumps())),
            chosen.choice(sorted(WRAPPINGS)),
            chosen.choice(sorted(DAMAGE)),
        )
        for _ in range(count)
    ]


NAME_LOST = {
    # The name is all that is left of the header, and a log's line stands between it and the stack.
    ("log lines between", "header lost but for the name"),
}
UNREAD = {
    # Each line is a paragraph by itself, or parted, and every fifth is another program's: said to be unreadable.
    ("log lines between", damage)
    for damage in ("double spacing", "wrapped at 60", "wrapped at 72", "broken at column 80")
}


def failed(chosen: list[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    """The pairs without the verdict. Where something is lost for good, less may be found, and nothing else."""
    lost: list[tuple[str, str, str]] = []
    for name, wrapping, damage in chosen:
        found = waiting(WRAPPINGS[wrapping](DAMAGE[damage](dumps()[name])))
        expected = truth(name)
        if (wrapping, damage) in NAME_LOST:
            found = {("", *rest[1:]) for rest in found}
            expected = {("", *rest[1:]) for rest in expected}
        if (wrapping, damage) in UNREAD:
            known = {(thread, role) for thread, _, _, role in expected}
            missing = not {(thread, role) for thread, _, _, role in found} <= known
        else:
            missing = found != expected
        if missing:
            lost.append((name, wrapping, damage))
    return lost


def test_some_pairs() -> None:
    assert failed(pairs(250, seed=1)) == []


@pytest.mark.matrix
@pytest.mark.timeout(900)
@pytest.mark.parametrize("change", [*WRAPPINGS, *DAMAGE])
def test_all_dumps(change: str) -> None:
    assert wrong(sorted(dumps()), {**WRAPPINGS, **DAMAGE}[change]) == []


@pytest.mark.matrix
@pytest.mark.timeout(900)
@pytest.mark.parametrize("seed", range(2, 14))
def test_many_pairs(seed: int) -> None:
    assert failed(pairs(500, seed)) == []


# ---------------------------------------------------------------- where evidence is lost for good


TRIMMED = "the innermost five frames lost"
"""What is left is what a thread at work in its generator shows: nothing tells that frames stood above."""


def honest(name: str, text: str, loss: str = "") -> None:
    """The right cause, or "unknown": never well, never surely another cause, and never surer than the whole dump."""
    whole = diagnose_case(source(dumps()[name]), "x").verdict
    hurt = diagnose_case(source(text), "x").verdict

    if hurt.status is Status.UNKNOWN:
        return
    assert whole.confidence is not None
    if loss == TRIMMED and hurt.confidence is not Confidence.CONFIRMED:
        return
    assert hurt.confidence is not None, name
    assert hurt.confidence <= whole.confidence
    if hurt.cause is Cause.PRNG_CONTENTION:  # the queue is left, its owner is not
        assert hurt.confidence is Confidence.POSSIBLE or "is at work in it" in hurt.sentence
    else:
        assert (hurt.status, hurt.cause) == (whole.status, whole.cause), name


@pytest.mark.parametrize("loss", LOSSES)
def test_a_loss_makes_the_answer_less_sure_and_not_other(loss: str) -> None:
    for name in SOME:
        honest(name, LOSSES[loss](dumps()[name]), loss)


@pytest.mark.parametrize("name", SOME)
def test_a_dump_torn_off_anywhere(name: str) -> None:
    for seed in range(6):
        honest(name, torn(dumps()[name], seed))


@pytest.mark.matrix
@pytest.mark.timeout(900)
@pytest.mark.parametrize("loss", LOSSES)
def test_a_loss_of_any_dump(loss: str) -> None:
    for name, text in dumps().items():
        honest(name, LOSSES[loss](text), loss)
        honest(name, torn(text, len(text)))


# ---------------------------------------------------------------- posts

POSTS = {
    "000": (Status.SLOW, Cause.BLOCKING_SEED, 386_690, 410_675),
    "001": (Status.CLEAR, Cause.NONE, None, None),
    "002": (Status.UNKNOWN, Cause.PRNG_CONTENTION, None, None),
    "004": (Status.SLOW, Cause.BLOCKING_SEED, None, None),
}
UNFIT = frozenset(
    (
        # A post is prose: what only a dump's lines have cannot be learned from it.
        *("docker's JSON", "CRI in pieces", "log lines between"),
    )
)


@pytest.mark.parametrize("wrapping", [w for w in WRAPPINGS if w not in UNFIT])
def test_posts_in_each_wrapping(wrapping: str) -> None:
    for number, expected in POSTS.items():
        verdict = diagnose_case(source(WRAPPINGS[wrapping](post(number).decode())), "x").verdict
        found = (verdict.status, verdict.cause, verdict.cost_ms, verdict.startup_ms)
        assert found == expected, number


# ---------------------------------------------------------------- logs

LOGS = sorted(name for name in tomcat_logs() if name.startswith("tomcat10-"))


@pytest.mark.parametrize("wrapping", WRAPPINGS)
def test_logs_in_each_wrapping(wrapping: str) -> None:
    """Seeding and start, in ten languages."""
    for name in LOGS if wrapping not in LONG else LOGS[:2]:
        text = tomcat_logs()[name].decode()
        whole = Case(source(text), inputs.PROVIDERS).value(ServerLog)
        log = Case(source(WRAPPINGS[wrapping](text)), inputs.PROVIDERS).value(ServerLog)

        assert whole is not None
        assert log is not None, name
        assert [s.took_ms for s in log.seeding] == [s.took_ms for s in whole.seeding], name
        assert [s.algorithm for s in log.seeding] == ["SHA1PRNG"], name
        assert [s.took_ms for s in log.starts] == [s.took_ms for s in whole.starts], name


def test_the_verdicts_themselves() -> None:
    """What the table above rests on: that the dumps by themselves are stalls."""
    for name in SOME:
        verdict = diagnose_case(source(dumps()[name]), "x").verdict
        assert verdict.status in (Status.STALLED, Status.SLOW)
        assert verdict.cause in (Cause.BLOCKING_SEED, Cause.THREADED_SEED)
