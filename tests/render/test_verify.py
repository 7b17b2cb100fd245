from __future__ import annotations

import json

import jsonschema
import pytest

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
from seedstall.render.schema import schema
from seedstall.render.verify import as_json, cell, render

SHA1 = Use(Instance.SHA1PRNG, Operation.NEXT_BYTES)
STRONGEST = Use(Instance.STRONG, Operation.NEXT_BYTES)
SETTINGS = (
    Setting(PRESENT, "file:/dev/random"),
    Setting(FIX, "-Degd=file:/dev/urandom", "file:/dev/urandom"),
    Setting(STRONG, "the list"),
)
TRIALS = (
    Trial(
        Question(SHA1, PRESENT),
        Outcome.BLOCKS,
        Device.RANDOM,
        "SHA1PRNG",
        "SUN",
        62.4,
        400,
        (20, 0),
    ),
    Trial(Question(SHA1, FIX), Outcome.GOES_ON, Device.URANDOM, "SHA1PRNG", "SUN", 60.0),
    Trial(Question(STRONGEST, PRESENT), Outcome.FAILED, why="it ended\x1b[2J"),
    Trial(Question(STRONGEST, STRONG), Outcome.GOES_ON, Device.URANDOM, "NonBlocking", "SUN", 3.0),
)
SERIES = Series(TRIALS, "mount", 3.1)
TOLD = Account("SHA1PRNG.nextBytes blocks", Status.AT_RISK, ("a note",))


def shown(**more: object) -> str:
    return render(TOLD, SERIES, SETTINGS, subject="java", **more)  # type: ignore[arg-type]


def test_the_answer_stands_first_and_the_table_below() -> None:
    text = shown()
    assert text.startswith("SHA1PRNG.nextBytes blocks\n")
    assert (
        "SHA1PRNG.nextBytes             /dev/random BLOCKS (62 ms once filled)  /dev/urandom 60 ms\n"
        in text
    )
    assert "getInstanceStrong().nextBytes was not measured: it ended\\x1b[2J\n" in text
    assert shown(quiet=True) == "SHA1PRNG.nextBytes blocks\n"


@pytest.mark.parametrize("width", [1, 20, 60, 79])
def test_a_table_that_is_too_wide_becomes_a_block_for_each_use(width: int) -> None:
    text = shown(width=width)
    assert (
        "SHA1PRNG.nextBytes\n"
        "  present  /dev/random BLOCKS (62 ms once filled)\n"
        "  fix      /dev/urandom 60 ms\n"
        "getInstanceStrong().nextBytes\n"
        "  present  FAILED\n"
        "  strong   NonBlocking: /dev/urandom 3 ms\n"
    ) in text
    assert shown(width=500) == shown()


@pytest.mark.parametrize("outcome", list(Outcome))
def test_every_outcome_has_words(outcome: Outcome) -> None:
    assert cell(Trial(Question(SHA1, FIX), outcome, why="java.lang.InternalError: no"))
    error = Trial(Question(SHA1, FIX), Outcome.THROWS, why="java.lang.InternalError: no")
    assert cell(error) == "FAILS: InternalError"


def test_the_json_is_in_the_schema() -> None:
    text = as_json(TOLD, SERIES, SETTINGS, subject={"path": "java"}, notes=["password=x"])
    document = json.loads(text)
    jsonschema.validate(document, schema())
    assert [t["outcome"] for t in document["trials"]] == ["blocks", "goes-on", "failed", "goes-on"]
    assert "password=*****" in document["notes"]
