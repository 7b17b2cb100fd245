from __future__ import annotations

from tests import facts_by_hand as by_hand

from seedstall.model.finding import Confidence
from seedstall.model.seeding import SeedRole, SeedSetting, SeedSource
from seedstall.model.verdict import Cause, Status
from seedstall.model.waits import SeedEvidence, SeedStacks
from seedstall.rules.ss102_threaded_seed import threaded_seed

NO_SCHEME = SeedSource("/dev/urandom", SeedSetting.EGD, "cmdline[1]")


def test_the_stack_confirms_it_and_the_setting_says_why() -> None:
    wait = by_hand.dumped(role=SeedRole.THREADED)

    (finding,) = threaded_seed(
        SeedStacks(by_hand.seeds(wait)), NO_SCHEME, by_hand.JDK17, None, None
    )

    assert (finding.status, finding.cause) == (Status.STALLED, Cause.THREADED_SEED)
    assert finding.confidence is Confidence.CONFIRMED
    assert "no file:" in finding.sentence
    assert "rngd" not in {f.surface for f in finding.fixes}


def test_a_slow_line_with_a_broken_url_is_likely() -> None:
    evidence = SeedEvidence(log=by_hand.log(5_100, 8_556))

    (finding,) = threaded_seed(SeedStacks(evidence), NO_SCHEME, None, None, None)

    assert (finding.status, finding.confidence) == (Status.SLOW, Confidence.LIKELY)


def test_a_read_of_the_device_is_not_it() -> None:
    evidence = by_hand.seeds(by_hand.dumped())

    assert list(threaded_seed(SeedStacks(evidence), by_hand.DEFAULT_SOURCE, None, None, None)) == []
