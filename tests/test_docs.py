"""The documentation says what the program says: made pages are current, names that it uses exist."""

from __future__ import annotations

import re
import runpy
import tomllib
from pathlib import Path

import pytest
import yaml
from tests.machine import CHECKOUT

from seedstall.cli.app import COMMANDS
from seedstall.rules import ALL, lint

DOCS = CHECKOUT / "docs"
WRITTEN = sorted(DOCS.glob("*.md"))


def test_the_made_pages_are_what_the_program_would_write() -> None:
    pages = runpy.run_path(str(CHECKOUT / "scripts/pages.py"))

    assert sorted(pages["stale"]()) == [], "make pages writes them"


@pytest.mark.parametrize("page", [*WRITTEN, CHECKOUT / "README.md"], ids=lambda p: p.name)
def test_every_command_and_code_that_a_page_names_exists(page: Path) -> None:
    text = page.read_text("utf-8")

    assert set(re.findall(r"(?:^ {4}\$ |`)seedstall ([a-z]+)", text, re.MULTILINE)) <= set(COMMANDS)
    assert set(re.findall(r"\bSS[1-5]\d\d\b", text)) <= {r.code for r in (*ALL, *lint.ALL)} | {
        "SS499"  # the example of CONTRIBUTING.md
    }


def test_every_page_is_reached_from_the_site() -> None:
    site = yaml.safe_load((CHECKOUT / "mkdocs.yml").read_text("utf-8"))

    named = re.findall(r"[\w-]+(?:/[\w-]+)*\.md", str(site["nav"]))
    assert sorted(named) == sorted(
        [*(p.name for p in WRITTEN), "rules/index.md", "surfaces/index.md"]
    )


def test_the_lock_pins_every_dependency_with_a_hash() -> None:
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text("utf-8"))["project"]
    wanted = [*project["dependencies"], *project["optional-dependencies"]["cores"]]
    lock = (CHECKOUT / "requirements.lock").read_text("utf-8")
    pinned = dict(re.findall(r"^([\w.-]+)==(\S+) \\\n    --hash=sha256:", lock, re.MULTILINE))

    assert {re.split(r"[<>=\[]", name)[0] for name in wanted} <= set(pinned)
    assert len(pinned) == len(re.findall(r"^\S+==", lock, re.MULTILINE))


def test_the_container_recipe_copies_what_is_there() -> None:
    recipe = (CHECKOUT / "contrib/container/Containerfile").read_text("utf-8")

    for name in re.findall(r"/src/([\w.]+)", recipe):
        assert (CHECKOUT / name).is_file()
        assert name not in (CHECKOUT / ".dockerignore").read_text("utf-8").split()
