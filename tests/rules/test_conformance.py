"""Every rule: listed once, documented, fed by a provider, inconclusive where nothing was seen."""

from __future__ import annotations

import importlib
import pkgutil
import typing

import pytest

import seedstall.rules
from seedstall import facts
from seedstall.engine.diagnosis import case_of
from seedstall.engine.run import run
from seedstall.model.finding import Inconclusive
from seedstall.model.rule import Rule, needs_of
from seedstall.rules import ALL
from seedstall.source.base import Held


def test_every_rule_module_is_listed() -> None:
    found = {
        value
        for info in pkgutil.iter_modules(seedstall.rules.__path__, "seedstall.rules.")
        if info.name.rpartition(".")[2].startswith("ss")
        for value in vars(importlib.import_module(info.name)).values()
        if isinstance(value, Rule)
    }

    assert found == set(ALL)


def test_codes_are_in_order_and_unique() -> None:
    codes = [rule.code for rule in ALL]

    assert codes == sorted(set(codes))


@pytest.mark.parametrize("rule", ALL, ids=lambda r: r.code)
def test_every_rule_has_a_page(rule: Rule[...]) -> None:
    for heading in ("## What it detects", "## Why it matters", "## Fix"):
        assert heading in rule.page


def test_every_need_has_a_provider() -> None:
    provided = {typing.get_type_hints(provider)["return"] for provider in facts.providers()}

    assert {need.kind for rule in ALL for need in rule.needs} <= provided
    for provider in facts.providers():
        assert {need.kind for need in needs_of(provider, skip=1)} <= provided


@pytest.mark.parametrize("rule", ALL, ids=lambda r: r.code)
def test_where_nothing_can_be_read_it_is_inconclusive_and_never_clear(rule: Rule[...]) -> None:
    (outcome,) = run((rule,), case_of(Held({})))

    assert isinstance(outcome, Inconclusive)
    assert outcome.missing
