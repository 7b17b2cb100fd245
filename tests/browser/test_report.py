"""The HTML report in a real browser: Debian's Chromium, driven by Playwright. One browser for the whole module."""

from __future__ import annotations

import io
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright
from tests.machine import IN_CI
from tests.pages import HOSTILE, full

from seedstall.render import page as report_page

CHROMIUM = shutil.which("chromium")
# Root may not use Chromium's sandbox; --disable-dev-shm-usage: containers have a small /dev/shm.
ARGUMENTS = ["--no-sandbox", "--disable-dev-shm-usage"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if CHROMIUM is None:
        message = (
            "needs chromium: apt-get install --no-install-recommends chromium fonts-dejavu-core"
        )
        if IN_CI:
            pytest.fail(message)
        pytest.skip(message)
    with sync_playwright() as play:
        started = play.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield started
        started.close()


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page with every part, and hostile text wherever a target's own text stands."""
    made = tmp_path_factory.mktemp("report") / "r.html"
    made.write_text(report_page.render([full(HOSTILE)], "html"), encoding="utf-8")
    return made


@pytest.fixture
def page(browser: Browser, file: Path) -> Iterator[Page]:
    """The page, loaded: whatever the console, the policy or a request says meanwhile is kept, and must be nothing."""
    context = browser.new_context(viewport={"width": 1000, "height": 900})
    context.add_init_script(
        "window.violated = []; document.addEventListener('securitypolicyviolation',"
        " event => window.violated.push(event.violatedDirective));"
    )
    shown = context.new_page()
    said: list[str] = []
    shown.on("console", lambda message: said.append(message.text))
    shown.on("pageerror", lambda error: said.append(str(error)))
    shown.on("dialog", lambda dialog: said.append(dialog.message))
    shown.on("request", lambda request: said.append(request.url))
    shown.goto(file.as_uri())
    yield shown
    assert said == [file.as_uri()], "nothing but the page itself is asked for"
    assert shown.evaluate("window.violated") == []
    context.close()


def test_hostile_text_is_text_and_the_policy_has_nothing_to_refuse(page: Page) -> None:
    assert page.evaluate("document.scripts.length") == 1
    assert page.locator("img").count() == 0
    assert "<script>alert(1)</script>" in page.locator("h1").inner_text()


@pytest.mark.parametrize("allowed", [True, False], ids=["clipboard", "selection"])
def test_copy_copies_and_says_so(page: Page, allowed: bool) -> None:  # noqa: FBT001 - a parameter
    if allowed:
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    else:
        page.evaluate("Object.defineProperty(navigator, 'clipboard', {value: undefined})")
        page.evaluate(
            "document.addEventListener('copy', () => { window.taken = String(getSelection()); })"
        )
    command = page.locator("#case-1-fix-1-command")
    button = page.locator('button[data-copies="case-1-fix-1-command"]')
    button.focus()
    page.keyboard.press("Enter")
    # Not wait_for_function: it evaluates a text in the page, which the policy forbids.
    expect(page.locator("#said")).to_have_text("Copied")

    taken = page.evaluate("navigator.clipboard.readText()" if allowed else "window.taken")
    assert taken == command.evaluate("node => node.textContent")
    assert taken.startswith("seedstall fix ")


def test_sections_open_by_keyboard_and_all_of_them_by_a_button(page: Page) -> None:
    section = page.locator("details:not([open])").first
    section.evaluate("node => node.setAttribute('data-tried', '')")
    page.locator("details[data-tried] > summary").focus()
    page.keyboard.press("Enter")

    assert page.locator("details[data-tried]").get_attribute("open") is not None
    page.locator("#open-all").click()
    assert page.locator("details:not([open])").count() == 0
    page.locator("#open-all").click()
    assert page.locator("details:not([open])").count() > 0


def test_the_first_tab_skips_to_the_report(page: Page) -> None:
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")

    assert page.evaluate("document.activeElement.id") == "report"


def test_printed_all_sections_are_there(page: Page) -> None:
    from pypdf import PdfReader

    closed = page.locator("details:not([open])").count()
    printed = " ".join(sheet.extract_text() for sheet in PdfReader(io.BytesIO(page.pdf())).pages)

    for part in ("What it prints", "CATALINA_OPTS=", "kernel:dmesg denied"):
        assert part in printed
    assert "Copy" not in printed.replace("Copied", "")
    assert page.locator("details:not([open])").count() == closed


def test_a_narrow_screen_needs_no_scrolling_sideways(page: Page) -> None:
    page.set_viewport_size({"width": 360, "height": 640})
    page.locator("#open-all").click()

    assert page.evaluate("document.documentElement.scrollWidth") == 360


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_is_accessible_in_either_scheme(page: Page, scheme: Any) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page.emulate_media(color_scheme=scheme)
    page.locator("#open-all").click()
    dark = page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(17, 22, 27)"

    assert dark == (scheme == "dark")
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
