"""The verdict on files, and the report's shape."""

from __future__ import annotations

import json

import jsonschema
import pytest
from tests.lint_by_hand import findings, lint_text, linted

from seedstall.model.evidence import Ask, Ref, Space, Why
from seedstall.model.finding import Inconclusive
from seedstall.model.rule import Rule
from seedstall.model.verdict import Cause, Status
from seedstall.render import jsontext
from seedstall.render.schema import schema
from seedstall.rules import ALL as LIVE
from seedstall.rules.lint import ALL

WRONG = 'CATALINA_OPTS="$CATALINA_OPTS -Djava.security.edg=file:/dev/urandom"\n'
NOTED = 'CATALINA_OPTS="$CATALINA_OPTS -Djava.security.egd=file:/dev/./urandom"\n'
RIGHT = 'CATALINA_OPTS="$CATALINA_OPTS -Djava.security.egd=file:/dev/urandom"\n'


def test_a_warning_is_at_risk_and_names_the_line_first() -> None:
    report = linted({"setenv.sh": WRONG})

    assert (report.verdict.status, report.verdict.cause) == (Status.AT_RISK, Cause.INEFFECTIVE_FIX)
    assert report.verdict.sentence.startswith("setenv.sh:1: java.security.edg is not the property")
    assert report.verdict.code == "SS203"


def test_more_than_one_problem_is_counted() -> None:
    report = linted({"a.sh": WRONG, "b.sh": WRONG + NOTED})

    assert report.verdict.sentence.endswith("(and 1 more problem)")


def test_notes_alone_are_clear() -> None:
    report = linted({"setenv.sh": NOTED})

    assert report.verdict.status is Status.CLEAR
    assert report.verdict.sentence == "every seed setting in 1 file does what it looks like; 1 note"


def test_right_and_nothing() -> None:
    assert linted({"setenv.sh": RIGHT}).verdict.sentence == (
        "every seed setting in 1 file does what it looks like"
    )
    assert linted({"a.sh": "A=b\n", "b.sh": "C=d\n"}).verdict.sentence == (
        "no setting of SecureRandom's seeding in 2 files, right or wrong"
    )


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("a.bin", b"\0\1\2"),
        ("notes", b"a random text about nothing\n"),
        ("empty.sh", b""),
        ("broken.yaml", b"env: {JAVA_OPTS: [\n"),
        ("broken.sh", b'JAVA_OPTS="never closed\n'),
    ],
)
def test_what_is_not_understood_is_unknown_and_never_clear(name: str, data: bytes) -> None:
    report = linted({name: data, "right.sh": RIGHT})

    assert report.verdict.status is Status.UNKNOWN
    assert name in report.verdict.sentence
    (blind,) = [o for o in report.outcomes if isinstance(o, Inconclusive)]
    assert name in str(blind.missing[0])


def test_a_finding_beats_what_is_not_understood() -> None:
    assert linted({"a.bin": b"\0", "b.sh": WRONG}).verdict.status is Status.AT_RISK


def test_a_file_that_may_not_be_read() -> None:
    from seedstall.engine.lint import lint_case
    from seedstall.source.base import Held

    held = Held({Ref(Space.INPUT, "", Ask.LIST): b"a.sh\0", Ref(Space.INPUT, "a.sh"): Why.DENIED})

    report = lint_case(held, "a.sh")
    assert report.verdict.status is Status.UNKNOWN
    assert "a.sh" in report.verdict.sentence


def test_the_report_has_the_contract_s_shape() -> None:
    report = linted({"setenv.sh": WRONG, "a.bin": b"\0"}, jdk="17", kernel="6.1.0-18-amd64")
    told = json.loads(jsontext.render([report]))

    jsonschema.validate(told, schema())
    (finding,) = told["findings"]
    assert finding["evidence"][0]["origin"] == "setenv.sh:1"
    assert finding["fixes"][0]["text"] == RIGHT
    assert finding["fixes"][0]["disposition"] == "safe"
    assert [f["name"] for f in told["facts"]["files"]] == ["setenv.sh", "a.bin"]
    assert told["facts"]["kernel"]["release"] == "6.1.0-18-amd64"


def test_the_host_s_kernel_is_never_asked() -> None:
    report = linted({"setenv.sh": RIGHT})

    assert report.facts["kernel"] == {}
    assert findings(report) == []


@pytest.mark.parametrize("rule", ALL, ids=lambda r: r.code)
def test_every_lint_rule_has_a_page(rule: Rule[...]) -> None:
    for heading in ("## What it detects", "## Why it matters", "## Fix"):
        assert heading in rule.page


def test_codes_are_in_order_and_mean_the_same_as_those_of_live_programs() -> None:
    codes = [rule.code for rule in ALL]
    live = {rule.code: rule.name for rule in LIVE}

    assert codes == sorted(set(codes))
    assert {r.code: r.name for r in ALL if r.code in live} == {
        code: live[code] for code in ("SS201", "SS202", "SS203", "SS204")
    }


def test_a_secret_in_the_line_is_kept_out_of_the_report() -> None:
    text = 'JAVA_OPTS="-Djavax.net.ssl.keyStorePassword=hunter2 -Djava.security.edg=file:/dev/urandom"\n'
    from seedstall.render import lint as page
    from seedstall.render import sarif

    report = linted({"setenv.sh": text})
    assert "hunter2" not in page.render(report)
    assert "hunter2" in page.render(report, redacted=False)
    told = sarif.render(report, ALL)
    assert "hunter2" not in told
    assert '"fixes"' not in told  # masked it would destroy the line


def test_an_expansion_in_a_message_is_no_strange_character() -> None:
    (_, finding), *_ = findings(linted({"a.sh": 'X="$X -Djava.security.edg=$S"\n'}))

    assert "\ufffc" not in finding.sentence + finding.message


def test_carriage_returns_of_a_script_are_named() -> None:
    (row,) = lint_text(
        "setenv.sh", "export JAVA_OPTS=-Djava.security.egd=file:/dev/urandom\r\n", jdk="17"
    )

    assert row[:3] == ("1", "SS204", "note")
    (_, finding), *_ = findings(
        linted({"a.sh": "export JAVA_OPTS=-Djava.security.egd=file:/dev/urandom\r\n"}, jdk="17")
    )
    assert any("carriage return" in note for note in finding.notes)


def test_a_quoted_line_with_a_carriage_return_keeps_its_quote() -> None:
    rows = lint_text("a.sh", 'X="-Djava.security.edg=file:/dev/urandom"\r\n', jdk="17")

    assert rows == [("1", "SS203", "warning", 'X="-Djava.security.egd=file:/dev/urandom"')]
