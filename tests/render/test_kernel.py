from __future__ import annotations

import json

import jsonschema
import pytest
from tests.engine.test_kernel import FULL, NO_POOL, POOL, at

from seedstall.engine.kernel import kernel_case
from seedstall.knowledge.refill import Refill
from seedstall.model.evidence import Ask, Ref, Space, Why
from seedstall.render import jsontext
from seedstall.render.kernel import render
from seedstall.render.schema import schema
from seedstall.source.base import Held


def text(held: dict[Ref, bytes | Why], refill: Refill | None = None, *, quiet: bool = False) -> str:
    return render(kernel_case(Held(held), "this host").report(refill), quiet=quiet)


def rows(shown: str) -> dict[str, str]:
    """The table's rows by their names."""
    lines = shown.split("\n\n")[1].splitlines()
    return {line[:11].strip(): line[12:] for line in lines}


def test_the_answer_is_the_first_line() -> None:
    assert (
        text(POOL).splitlines()[0].startswith("at-risk (blocking-seed, likely): the entropy pool")
    )
    assert text(NO_POOL).splitlines()[0].startswith("clear (confirmed): /dev/random of 6.8.0-31")
    assert text(POOL, quiet=True).count("\n") == 1


def test_the_table_of_a_pool() -> None:
    table = rows(text(POOL, Refill(gained=6, seconds=10.0, first=31, last=37)))

    assert table["kernel"] == "3.10.0-1160.el7.x86_64"
    assert "high certainty" in table["model"]
    assert "read_wakeup_threshold" in table["why"]
    assert table["entropy"] == "31 of 4096 bits"
    assert table["fed by"] == "no daemon"
    assert table["refill"] == "0.6 bit/s: 6 bits in 10.0 s"
    assert table["a seed"] == "20 bytes need 219 more bits: about 6 min 5 s at this rate"
    assert table["host"] == "CentOS Linux 7 (Core), out of support"


def test_a_rate_of_nothing_has_no_end() -> None:
    table = rows(text(POOL, Refill(gained=0, seconds=10.0, first=31, last=31)))

    assert "more than 37 min 30 s, or no end" in table["a seed"]


def test_not_measured_is_said() -> None:
    table = rows(text(POOL))

    assert "not measured" in table["refill"]
    assert "40 disk interrupts" in table["a seed"]


def test_a_full_pool_gives_at_once() -> None:
    assert rows(text(FULL))["a seed"] == "20 bytes come at once"


def test_the_table_of_a_kernel_without_the_pool() -> None:
    table = rows(text(NO_POOL))

    assert "says nothing about blocking" in table["entropy"]
    assert table["fed by"] == "an entropy daemon would change nothing here"
    assert "refill" not in table
    assert "host" not in table


def test_a_dead_daemon_in_the_table() -> None:
    held = {**POOL, at("usr/lib/systemd/system", Ask.LIST): b"rngd.service\0"}

    assert rows(text(held))["fed by"] == "rngd installed, not running"


@pytest.mark.parametrize("held", [POOL, NO_POOL])
def test_a_container_is_told_once(held: dict[Ref, bytes | Why]) -> None:
    inside = {
        **held,
        at("proc/2/comm"): Why.ABSENT,
        at(".dockerenv", Ask.STAT): b"100755 0 0 1 0 0 0",
    }
    shown = text(inside)

    assert shown.count("container (Docker): the kernel is the host's") == 1


def test_nothing_known_has_no_table() -> None:
    assert text({}).startswith("unknown: nothing of the kernel could be had")


def test_a_hostile_release_is_made_visible() -> None:
    held = {**NO_POOL, Ref(Space.KERNEL, "proc/sys/kernel/osrelease"): b"6.8.0\x1b[31mred\n"}

    assert "\x1b" not in text(held)


@pytest.mark.parametrize("held", [POOL, FULL, NO_POOL, {}])
def test_the_json_is_the_contracts(held: dict[Ref, bytes | Why]) -> None:
    report = kernel_case(Held(held), "this host").report(Refill(6, 10.0, 31, 37))
    document = json.loads(jsontext.render([report]))

    jsonschema.validate(document, schema())
    assert document["facts"]["kernel"]
