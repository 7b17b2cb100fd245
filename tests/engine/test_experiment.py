from __future__ import annotations

import pytest

from seedstall.engine.experiment import USES, account, difference, questions, told
from seedstall.model.kernel import BlockingModel, Certainty, KernelRandom
from seedstall.model.seeding import Device, Instance, Operation
from seedstall.model.trial import (
    FIX,
    PRESENT,
    STRONG,
    Account,
    Outcome,
    Question,
    Series,
    Setting,
    Trial,
    Use,
)
from seedstall.model.verdict import Status

SHA1 = Use(Instance.SHA1PRNG, Operation.NEXT_BYTES)
SEED = Use(Instance.DEFAULT, Operation.GENERATE_SEED)
FIRST = Use(Instance.DEFAULT, Operation.NEXT_BYTES)
STRONGEST = Use(Instance.STRONG, Operation.NEXT_BYTES)
SETTINGS = (
    Setting(PRESENT, "file:/dev/random", "file:/dev/random"),
    Setting(FIX, "-Degd=U", "file:/dev/urandom"),
    Setting(STRONG, "the list", "file:/dev/urandom"),
)
SAID = {"java": "17.0.15", "source": "file:/dev/random", "egd": "file:/dev/random"}


def trial(use: Use, setting: str, outcome: Outcome, **more: object) -> Trial:
    devices = {Outcome.BLOCKS: Device.RANDOM, Outcome.GOES_ON: Device.URANDOM}
    more.setdefault("device", devices.get(outcome, Device.NONE))
    return Trial(Question(use, setting), outcome, **more)  # type: ignore[arg-type]


def judged(*trials: Trial, asked_for: tuple[Use, ...] = (), **more: object) -> Account:
    settings = tuple(s for s in SETTINGS if any(t.question.setting == s.name for t in trials))
    series = Series(trials, "mount", 3.14)
    return account(series, settings, asked_for=asked_for, **more)  # type: ignore[arg-type]


BLOCKS, GOES_ON = Outcome.BLOCKS, Outcome.GOES_ON


@pytest.mark.parametrize(
    ("trials", "status", "sentence"),
    [
        (
            [trial(SHA1, PRESENT, BLOCKS, said=SAID), trial(SHA1, FIX, GOES_ON)],
            Status.AT_RISK,
            (
                "with the present setting (file:/dev/random) SHA1PRNG.nextBytes reads /dev/random and blocks;"
                " with -Degd=U it does not: measured on 17.0.15 in 3.1 s"
            ),
        ),
        (
            [trial(u, s, o) for s, o in ((PRESENT, BLOCKS), (FIX, GOES_ON)) for u in (SHA1, SEED)],
            Status.AT_RISK,
            (
                "with the present setting (file:/dev/random) SHA1PRNG.nextBytes and new"
                " SecureRandom().generateSeed read /dev/random and block; with -Degd=U they do not: measured in 3.1 s"
            ),
        ),
        (
            [trial(SHA1, PRESENT, BLOCKS), trial(SHA1, FIX, BLOCKS)],
            Status.AT_RISK,
            (
                "with the present setting (file:/dev/random) SHA1PRNG.nextBytes reads /dev/random and blocks;"
                " with -Degd=U SHA1PRNG.nextBytes reads /dev/random and blocks still: measured in 3.1 s"
            ),
        ),
        (
            [
                trial(SHA1, PRESENT, GOES_ON),
                trial(SHA1, FIX, Outcome.DELAYED, device=Device.THREADED, ms=5012.0),
            ],
            Status.AT_RISK,
            (
                "with the present setting (file:/dev/random) nothing waits for /dev/random; with -Degd=U"
                " SHA1PRNG.nextBytes takes 5.0 s in the threaded seeder (no device is read: more entropy would not"
                " help): measured in 3.1 s"
            ),
        ),
        (
            [trial(SHA1, PRESENT, GOES_ON), trial(STRONGEST, PRESENT, BLOCKS)],
            Status.CLEAR,
            (
                "with the present setting (file:/dev/random) nothing but getInstanceStrong() waits for /dev/random:"
                " measured in 3.1 s"
            ),
        ),
        (
            [trial(SHA1, PRESENT, GOES_ON), trial(FIRST, PRESENT, Outcome.NOT_COVERED)],
            Status.UNKNOWN,
            (
                "with the present setting (file:/dev/random) nothing waits for /dev/random that could be tried (not new"
                " SecureRandom().nextBytes): measured in 3.1 s"
            ),
        ),
        (
            [trial(SHA1, PRESENT, BLOCKS), trial(SHA1, FIX, Outcome.FAILED)],
            Status.AT_RISK,
            (
                "with the present setting (file:/dev/random) SHA1PRNG.nextBytes reads /dev/random and blocks;"
                " with -Degd=U it could not be measured: measured in 3.1 s"
            ),
        ),
        (
            [trial(SHA1, PRESENT, Outcome.NO_GENERATOR)],
            Status.UNKNOWN,
            "with the present setting (file:/dev/random) nothing could be measured: measured in 3.1 s",
        ),
    ],
)
def test_the_first_line_answers(trials: list[Trial], status: Status, sentence: str) -> None:
    told = judged(*trials)
    assert (told.sentence, told.status) == (sentence, status)


def test_the_strong_instance_counts_where_it_is_asked_for() -> None:
    trials = [trial(STRONGEST, PRESENT, BLOCKS), trial(STRONGEST, STRONG, GOES_ON)]
    assert judged(*trials).status is Status.UNKNOWN
    told = judged(*trials, asked_for=(STRONGEST,))
    assert told.status is Status.AT_RISK
    assert (
        "with securerandom.strongAlgorithms=NativePRNGNonBlocking:SUN it does not, which was tried"
        in told.notes[0]
    )


def test_each_use_is_judged_by_what_cures_it() -> None:
    trials = [
        trial(SHA1, PRESENT, BLOCKS),
        trial(STRONGEST, PRESENT, BLOCKS),
        trial(SHA1, FIX, GOES_ON),
        trial(STRONGEST, FIX, BLOCKS),
        trial(STRONGEST, STRONG, GOES_ON),
    ]
    told = judged(*trials, asked_for=(SHA1, STRONGEST))
    assert told.sentence.endswith(
        "; with -Degd=U and securerandom.strongAlgorithms=NativePRNGNonBlocking:SUN they do not: measured in 3.1 s"
    )
    assert "does not count" not in told.notes[0]


def test_a_list_that_is_not_honoured_is_told() -> None:
    told = judged(trial(STRONGEST, PRESENT, BLOCKS), trial(STRONGEST, STRONG, BLOCKS))
    assert "appended, it blocks, too: is security.overridePropertiesFile off?" in told.notes[0]


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (BlockingModel.BLOCKING_POOL, "does block"),
        (BlockingModel.UNTIL_INIT, "here the setting costs nothing"),
        (BlockingModel.UNKNOWN, "is not known"),
    ],
)
def test_what_it_means_on_this_host_is_said(model: BlockingModel, words: str) -> None:
    kernel = KernelRandom(model, Certainty.HIGH, "", release="5.4.0")
    (note,) = judged(trial(SHA1, PRESENT, BLOCKS), kernel=kernel).notes
    assert words in note
    assert judged(trial(SHA1, PRESENT, GOES_ON), kernel=kernel).notes == ()


def test_providers_of_the_program_are_told() -> None:
    small = {**SAID, "lacking": "SunPCSC,JdkSASL,sun.security.smartcardio.SunPCSC"}
    assert judged(trial(SHA1, PRESENT, GOES_ON, said=small)).notes == ()
    said = {**SAID, "lacking": "SunPCSC,BCFIPS"}
    (note,) = judged(trial(SHA1, PRESENT, GOES_ON, said=said)).notes
    assert note.startswith("java.security names providers that this java has not itself: BCFIPS.")


def test_a_jvm_that_behaves_otherwise_than_the_tables_is_told() -> None:
    setting = SETTINGS[0]
    right = trial(SHA1, PRESENT, BLOCKS, said=SAID, algorithm="SHA1PRNG")
    assert difference(right, setting) == ""
    wrong = trial(SHA1, PRESENT, GOES_ON, said=SAID, algorithm="SHA1PRNG")
    assert "measured SHA1PRNG reading /dev/urandom, while seedstall's table" in difference(
        wrong, setting
    )
    # A FIFO that stood in for the device is no file that the tables know.
    elsewhere = {**SAID, "egd": "file:/tmp/x/dev/random"}
    assert difference(trial(SHA1, PRESENT, GOES_ON, said=elsewhere), setting) == ""
    assert difference(trial(SHA1, PRESENT, Outcome.FAILED), setting) == ""


def test_the_present_setting_is_named_by_the_jvm() -> None:
    bare = (Setting(PRESENT, ""),)
    series = Series((trial(SHA1, PRESENT, BLOCKS, said=SAID),), "mount", 1.0)
    assert told(bare, series)[0].words == "securerandom.source=file:/dev/random"
    nothing = {"java": "17.0.15"}
    series = Series((trial(SHA1, PRESENT, BLOCKS, said=nothing),), "mount", 1.0)
    assert told(bare, series)[0].words == "no securerandom.source"
    # Where no JVM said a word it is not known.
    assert told(bare, Series((), "mount", 1.0))[0].words == "the JDK's own"


def test_a_use_that_fails_was_measured() -> None:
    """As with ``file://dev/urandom``, or a list of providers without one for random bytes."""
    error = "java.lang.InternalError: internal error: SHA-1 not available."
    told = judged(
        trial(SHA1, PRESENT, Outcome.THROWS, why=error), trial(SHA1, FIX, GOES_ON, said=SAID)
    )
    assert told.status is Status.AT_RISK
    assert told.sentence.startswith(
        "with the present setting (file:/dev/random) SHA1PRNG.nextBytes fails (java.lang.InternalError);"
        " with -Degd=U it does not"
    )


@pytest.mark.parametrize(
    ("source", "outcome", "words"),
    [
        ("file:/dev/zero", GOES_ON, "/dev/zero holds no randomness"),
        ("file://dev/urandom", Outcome.THROWS, "breaks the SUN provider"),
        ("/dev/urandom", Outcome.DELAYED, "no file: before the path"),
        ("file:/dev/./urandom", GOES_ON, ""),
    ],
)
def test_what_is_wrong_with_the_seed_source_is_told(
    source: str, outcome: Outcome, words: str
) -> None:
    settings = (Setting(PRESENT, source, source),)
    series = Series((trial(SHA1, PRESENT, outcome, ms=5000.0),), "mount", 1.0)
    notes = account(series, settings).notes
    assert [words in n for n in notes if n.startswith("present: ")] == ([True] if words else [])


def test_a_file_that_is_no_device_is_no_difference_from_the_tables() -> None:
    said = {**SAID, "egd": "file:/dev/zero"}
    found = trial(SHA1, PRESENT, GOES_ON, device=Device.NONE, said=said, algorithm="SHA1PRNG")
    assert difference(found, Setting(PRESENT, "", "file:/dev/zero")) == ""


def test_the_strong_list_is_tried_with_the_strong_instance_alone() -> None:
    cells = questions(SETTINGS, USES)
    assert len(cells) == 2 * len(USES) + 1
    assert [c.use for c in cells if c.setting == STRONG] == [STRONGEST]
