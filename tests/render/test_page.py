"""The HTML report: valid, self-contained, bounded, and foreign text in it nothing but text."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise

import html5lib
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.pages import HOSTILE, NEVER, facts, full
from tests.render_by_hand import FINDING, report

from seedstall.model.finding import Evidence, Fired
from seedstall.model.report import Failure, Report
from seedstall.model.verdict import Cause, Status
from seedstall.render import page
from seedstall.render.templates import text as template_text

POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">')
BLOCKS = frozenset(("dt", "dd", "td", "th", "p", "li", "pre", "div", "h1", "h2", "h3", "h4"))
VOID = frozenset(("meta", "br", "link", "img", "input", "hr"))


class Tags(HTMLParser):
    """Every tag with its attributes, and the text of each element kind."""

    def __init__(self, shown: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self._open: list[str] = []
        self.feed(shown)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag
        if tag in BLOCKS:
            self.text.append(" ")

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] not in ("style", "script"):
            self.text.append(data)

    @property
    def shown(self) -> str:
        return re.sub(r"\s+", " ", "".join(self.text))


def html(*told: Report | Failure, planned: int = 0) -> str:
    return page.render(told or [full()], "html", planned=planned)


@pytest.mark.parametrize(
    "told",
    [
        [full()],
        [full(HOSTILE)],
        [report()],
        [full(), full(HOSTILE), Failure(target=HOSTILE, error=HOSTILE, hint=HOSTILE)],
    ],
)
def test_it_is_valid_html5(told: list[Report | Failure]) -> None:
    parser = html5lib.HTMLParser(strict=True)

    parser.parse(html(*told))

    assert parser.errors == []


def test_it_holds_all_that_the_report_says() -> None:
    shown = Tags(html()).shown

    for part in (
        'stalled (blocking-seed, confirmed) "main" waits', "6 min 26 s of the 6 min 50 s of the start (94 %)",
        "waiting for at least 3 min 5 s", "Now: feed the pool (as root)", "At the next start:",
        "seedstall fix", "-Djava.security.egd=file:/dev/urandom", "Time line, by its log", "1.0 s since the launch",
        'waits for "main": 30 threads', "and 10 more", "reads its seed", "asked for it", "3 frames more are left out",
        "3 more stacks are left out", "Also found", "SS302 warning, confirmed", "denied", "not read:", "done to 8712",
        "800 ms 80 %", "from launch to", "12 page faults", "4 MiB read from disks", "seed source",
    ):  # fmt: skip
        assert part in shown, part


def test_what_frees_now_stands_before_what_helps_the_next_start() -> None:
    shown = Tags(html()).shown

    assert shown.index("Now: feed the pool") < shown.index("At the next start:")
    assert shown.index("What to do") < shown.index("Evidence: SS101")


def test_the_seed_frames_are_marked_in_words_and_not_by_colour_alone() -> None:
    rows = re.findall(r'<li class="(\w+)">(?:<span class="mark">([^<]*)</span>)?', html())

    assert rows == [
        ("read", "reads its seed"), ("seed", "generator"), ("caller", "asked for it"), ("own", ""), ("jdk", ""),
    ]  # fmt: skip


def test_the_policy_lets_nothing_in_but_the_pages_own_style_and_script() -> None:
    shown = html()
    (policy,) = POLICY.findall(shown)
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))

    assert rules["default-src"] == "'none'"
    assert rules["base-uri"] == rules["form-action"] == "'none'"
    for kind, tag in (("style-src", "style"), ("script-src", "script")):
        (inside,) = re.findall(rf"<{tag}>(.*?)</{tag}>", shown, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert rules[kind] == f"'sha256-{digest}'"
    assert "unsafe" not in policy
    assert shown.index("Content-Security-Policy") < shown.index("<style>")


@pytest.mark.parametrize("text", ['"main"', HOSTILE], ids=["plain", "hostile"])
def test_nothing_is_loaded_and_no_attribute_is_script_or_style(text: str) -> None:
    allowed = {
        "html": {"lang"}, "a": {"href", "class"}, "svg": {"class", "width", "height", "aria-hidden", "focusable"},
        "rect": {"class", "x", "y", "width", "height"}, "circle": {"cx", "cy", "r"}, "text": {"class", "x", "y"},
        "button": {"type", "class", "id", "hidden", "data-copies"}, "th": {"scope"},
        "meta": {"charset", "http-equiv", "content", "name"},
    }  # fmt: skip
    anywhere = {"id", "class", "aria-labelledby", "tabindex", "role", "aria-live", "open"}

    for tag, attributes in Tags(html(full(text), full(text))).tags:
        assert tag in KNOWN, tag
        assert set(attributes) <= allowed.get(tag, set()) | anywhere, (tag, attributes)
        for name, value in attributes.items():
            if name not in ("content", "class"):
                assert re.fullmatch(r"[#\w\-. %]*", value or ""), (tag, name, value)
        if "href" in attributes:
            assert re.fullmatch(r"#[\w-]+", attributes["href"] or "")


KNOWN = frozenset((
    "html", "head", "meta", "title", "style", "body", "a", "header", "p", "button", "main", "article", "section",
    "h1", "h2", "h3", "h4", "span", "code", "dl", "div", "dt", "dd", "svg", "rect", "circle", "text", "table",
    "caption", "thead", "tbody", "tr", "th", "td", "pre", "ul", "ol", "li", "details", "summary", "figure",
    "figcaption", "script",
))  # fmt: skip


def test_hostile_text_is_shown_as_it_is_and_does_nothing() -> None:
    shown = html(full(HOSTILE), Failure(target=HOSTILE, error=HOSTILE, hint=HOSTILE))

    assert not any(mark in shown for mark in NEVER)
    tags = Tags(shown)
    assert "<script>alert(1)</script>" in tags.shown
    assert "{{ 7 * 7 }}" in tags.shown
    assert "\\x1b[31m" in tags.shown
    assert "\\u202egnp.exe" in tags.shown
    assert [tag for tag, _ in tags.tags].count("script") == 1
    assert not any(tag == "img" for tag, _ in tags.tags)


@given(st.text(min_size=1, max_size=60))
def test_no_text_at_all_becomes_a_tag(text: str) -> None:
    plain, odd = (Tags(html(full(t))) for t in ("x", text))

    assert [tag for tag, _ in odd.tags if tag != "span"] == [
        t for t, _ in plain.tags if t != "span"
    ]


def test_a_name_of_a_megabyte_is_cut_and_that_is_said() -> None:
    shown = html(full("A" * 1_000_000, facts=facts("A" * 200), target="x", words="x"))

    assert len(shown) < 200_000
    assert "characters more" in shown


def test_ids_are_unique_and_what_refers_to_them_finds_them() -> None:
    tags = Tags(html(full(), full(HOSTILE), report())).tags
    ids = [attributes["id"] for _, attributes in tags if "id" in attributes]

    assert len(ids) == len(set(ids))
    for _, attributes in tags:
        for name in ("aria-labelledby", "data-copies", "href"):
            if name in attributes:
                assert (attributes[name] or "").removeprefix("#") in ids


@pytest.mark.parametrize("count", [1, 3])
def test_headings_go_down_one_level_at_a_time(count: int) -> None:
    levels = [
        int(tag[1]) for tag, _ in Tags(html(*[full()] * count)).tags if re.fullmatch(r"h\d", tag)
    ]

    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))


def test_several_cases_have_a_summary_that_leads_to_each() -> None:
    clear = replace(
        report().verdict, status=Status.CLEAR, cause=Cause.NONE, confidence=None, finding=None
    )
    shown = html(
        full(target="fine.log", verdict=clear, outcomes=()), full(target="bad.log"),
        Failure(target="lost.log", error="it is gone"),
    )  # fmt: skip
    rows = re.findall(r'<a href="#(case-\d)">(\w+)\.log</a>', shown)

    assert rows == [("case-2", "bad"), ("case-3", "lost"), ("case-1", "fine")]
    assert "3 cases" in Tags(shown).shown
    assert "it is gone" in Tags(shown).shown


def test_of_many_cases_the_worst_are_whole_and_the_rest_is_said() -> None:
    clear = replace(
        report().verdict, status=Status.CLEAR, cause=Cause.NONE, confidence=None, finding=None
    )
    many = [full(target=f"{n}.log", verdict=clear, outcomes=()) for n in range(700)]
    shown = html(*many, full(target="bad.log"), planned=1000)

    assert len(shown) < 8_000_000
    assert '<a href="#case-701">bad.log</a>' in shown
    text = Tags(shown).shown
    assert "1000 cases: interrupted, 299 of them not looked at" in text
    whole = len(re.findall(r"<article", shown))
    assert f"{701 - whole} of the cases stand in this table alone" in text


def test_evidence_is_bounded_and_what_is_left_out_is_counted() -> None:
    pieces = tuple(Evidence(origin=f"f:{n}", excerpt="x\n" * 1000) for n in range(500))
    finding = replace(FINDING, evidence=pieces)
    verdict = replace(report().verdict, finding=finding)
    shown = html(full(outcomes=(Fired("SS101", "n", (finding,), ()),), verdict=verdict))

    assert len(shown) < 400_000
    assert "440 more are in the JSON report" in shown
    assert "(801 lines more)" in shown


@pytest.mark.parametrize("form", ["markdown", "html"])
def test_secrets_are_redacted(form: str) -> None:
    secret = "-Dpassword=hunter2"  # noqa: S105 - it must not be shown
    told: list[Report | Failure] = [
        full(f"java {secret}"),
        Failure(target=secret, error=secret, hint=secret),
    ]

    assert "hunter2" not in page.render(told, form)
    assert "hunter2" in page.render(told, form, redacted=False)


@pytest.mark.parametrize("form", ["markdown", "html"])
def test_a_case_that_failed_is_told(form: str) -> None:
    shown = page.render([Failure(target="12", error="process 12 is gone", hint="look again")], form)

    assert "process 12 is gone" in shown
    assert "look again" in shown


@pytest.mark.parametrize("form", ["markdown", "html"])
def test_a_report_without_facts_is_told(form: str) -> None:
    assert "waits in read of /dev/random" in page.render([report(facts={})], form)


def test_the_script_has_no_handler_in_markup_and_builds_no_code() -> None:
    script = template_text("report/report.js")

    assert not re.search(r"eval|innerHTML|document\.write|Function\(|setTimeout\(\s*[\"']", script)
