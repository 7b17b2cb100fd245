"""The Markdown report as GitHub renders it: foreign text is code, and nothing of it is a mention, a link or HTML."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import cmarkgfm
import pytest
from cmarkgfm.cmark import Options
from hypothesis import given
from hypothesis import strategies as st
from tests.pages import HOSTILE, NEVER, full
from tests.render_by_hand import report

from seedstall.model.report import Failure, Report
from seedstall.render import page

ALLOWED = frozenset((
    "h1", "h2", "h3", "p", "code", "pre", "table", "thead", "tbody", "tr", "th", "td", "br", "strong", "ul", "li",
    "details", "summary",
))  # fmt: skip
LINKED = re.compile(r"@\w|#\d|GH-\d|https?://|www\.")
"""What GitHub turns into links outside code."""


class Rendered(HTMLParser):
    """What GitHub's own renderer makes of a page: its tags, the text in code and the text outside."""

    def __init__(self, shown: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.code: list[str] = []
        self.prose: list[str] = []
        self._inside = 0
        options = (
            Options.CMARK_OPT_UNSAFE
        )  # raw HTML as it is: GitHub cleans it later, we want to see it
        self.feed(cmarkgfm.github_flavored_markdown_to_html(shown, options))

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002 - the parser's own form
        self.tags.append(tag)
        self._inside += tag == "code"

    def handle_endtag(self, tag: str) -> None:
        self._inside -= tag == "code"

    def handle_data(self, data: str) -> None:
        (self.code if self._inside else self.prose).append(data)


def rendered(*told: Report | Failure) -> Rendered:
    return Rendered(page.render(told or [full()], "markdown"))


def test_it_holds_all_that_the_report_says() -> None:
    shown = rendered()
    text = " ".join("".join([*shown.prose, *shown.code]).split())

    for part in (
        "stalled (blocking-seed, confirmed)", '"main" waits', "6 min 26 s of the 6 min 50 s of the start (94 %)",
        "Now:", "At the next start:", "-Djava.security.egd=file:/dev/urandom", "Time line, by its log",
        "<- generator", "<- asked for it", "Also found", "SS302", "denied", "done to 8712", "800 ms", "and 25 more",
    ):  # fmt: skip
        assert part in text, part


def test_tables_and_details_are_rendered_as_such() -> None:
    tags = rendered().tags

    assert tags.count("table") >= 6
    assert tags.count("details") == tags.count("summary") >= 4
    assert "| --" not in "".join(rendered().prose)
    assert "|" not in "".join(rendered().prose)


@pytest.mark.parametrize(
    "told",
    [
        [full(HOSTILE)],
        [full(HOSTILE), Failure(target=HOSTILE, error=HOSTILE, hint=HOSTILE)],
    ],
    ids=["one", "several"],
)
def test_hostile_text_is_nothing_but_code(told: list[Report | Failure]) -> None:
    source = page.render(told, "markdown")
    shown = Rendered(source)

    assert not any(mark in source for mark in NEVER)
    assert set(shown.tags) <= ALLOWED
    assert not LINKED.search("".join(shown.prose))
    assert "evil" not in "".join(shown.prose)
    assert any("<script>alert(1)</script>" in code for code in shown.code)


@given(
    st.text(
        alphabet=st.sampled_from("`|\\<>@#*_[]()!~ \n\r\tab1&;-=+.:/{}"), min_size=1, max_size=40
    )
)
def test_no_text_breaks_out_of_its_code(text: str) -> None:
    plain, odd = (
        Rendered(page.render([full("x")], "markdown")),
        Rendered(page.render([full(text)], "markdown")),
    )

    # A line more of an excerpt is a piece of code more.
    kept = ("br", "code")
    assert [t for t in odd.tags if t not in kept] == [t for t in plain.tags if t not in kept]
    assert not LINKED.search("".join(odd.prose))


@given(st.text(min_size=1, max_size=40))
def test_a_code_span_shows_its_text(text: str) -> None:
    (code,) = Rendered(page.code_span(text)).code

    assert code.strip() == page.shown(text.replace("\n", " ")).strip()


@pytest.mark.parametrize("text", ["a|b", "|", "a\\|b", "`|`", "``a`|", "\\", "a`"])
def test_a_cell_shows_its_text_whatever_bars_it_holds(text: str) -> None:
    shown = Rendered(f"| a | b |\n|---|---|\n| {page.cell(text)} | `end` |\n")

    assert shown.code == [text, "end"]


@pytest.mark.parametrize("count", [1, 40, 500])
def test_it_fits_into_a_ticket(count: int) -> None:
    shown = page.render([full(HOSTILE * 5)] * count, "markdown")

    assert len(shown) < 65_536 or count == 500
    if count > 1:
        assert "stand in this table alone" in shown


def test_a_short_report_has_no_empty_sections() -> None:
    shown = rendered(report())

    assert "table" in shown.tags
    assert "Threads by" not in "".join(shown.prose)
