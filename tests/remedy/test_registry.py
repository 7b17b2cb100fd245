from __future__ import annotations

from importlib import import_module

import pytest

from seedstall.knowledge.surfaces import BY_NAME, SURFACES
from seedstall.remedy import registry


def test_every_surface_has_an_answer_and_no_other() -> None:
    assert set(registry.MODULES) == set(BY_NAME)
    told = {
        surface: module
        for module in set(registry.MODULES.values())
        for surface in import_module(f"seedstall.remedy.{module}").ANSWERS
    }
    assert told == registry.MODULES


@pytest.mark.parametrize("surface", SURFACES, ids=lambda s: s.name)
def test_what_can_be_written_can_be_taken_back(surface: object) -> None:
    name, writes = surface.name, surface.writes  # type: ignore[attr-defined]
    assert callable(registry.answering(name))
    assert (name in registry.places(name)) == writes
