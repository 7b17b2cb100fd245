"""Where the time of a watched start went: in text, Markdown and HTML."""

from __future__ import annotations

import pytest
from tests.render_by_hand import report

from seedstall.render import page, text

START = {
    "watched_ms": 14_600,
    "span": "from launch to 'Server startup in'",
    "samples": 160,
    "interval_ms": 91,
    "cost_of_a_core": 0.0068,
    "went_to": [
        {
            "ms": 13_200,
            "words": "waiting for random bytes",
            "who": '"main\x1b[31m", password=secret1',
        },
        {"ms": 1_390, "words": "on CPU", "who": '"main"'},
        {"ms": 10, "words": "not seen", "who": ""},
    ],
}


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_the_table(form: str) -> None:
    told = report(facts={"start": START})
    shown = text.render(told) if form == "text" else page.render([told], form)
    assert "14.6 s from launch to" in shown
    assert "160 looks, one in 91 ms, 0.7 % of a core" in shown
    table = {
        "text": "13.20 s   90%  waiting for random bytes",
        "markdown": "| waiting for random bytes | 13.2 s | 90 % |",
        "html": '<td class="number">13.2 s</td><td class="number">90 %</td>',
    }
    assert table[form] in shown
    assert "not seen" not in shown, "a thousandth of it"
    assert "\x1b" not in shown
    assert "secret1" not in shown


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_without_a_watch_there_is_none(form: str) -> None:
    shown = text.render(report()) if form == "text" else page.render([report()], form)
    assert "where the time went" not in shown
