"""What many cases come to, the same in every form: a fleet's table, names below their folder, secrets hidden."""

from __future__ import annotations

import json
from dataclasses import replace

from tests.render_by_hand import report

from seedstall.cli.diagnose import Format, Manner, rendered
from seedstall.model.report import Failure, Report
from seedstall.model.verdict import Cause, Status
from seedstall.render import jsontext, page, summary


def case(target: str, status: Status, **facts: object) -> Report:
    made = report(target=target, facts=facts)
    cause = Cause.BLOCKING_SEED if status is Status.STALLED else Cause.NONE
    return replace(made, verdict=replace(made.verdict, status=status, cause=cause))


KERNEL = {"release": "3.10.0-957.el7"}
OLD = {"jdk": "8u181", "product": "Tomcat 9"}
UNREAD = {"missing": "not collected", "what": "", "detail": ""}
FLEET: list[Report | Failure] = [
    *(
        case(f"bundles/web{n}.tar.gz", Status.STALLED, kernel=KERNEL, jvm=OLD)
        for n in range(3)
    ),
    case("bundles/db.tar.gz", Status.STALLED, kernel=KERNEL, jvm={"jdk": "17.0.1"}, logs={"product": "Jetty"}),
    case("bundles/new.tar.gz", Status.CLEAR, kernel={"release": "6.8.0"}, jvm={"jdk": None}),
    case("bundles/password=hunter2.tar.gz", Status.UNKNOWN, kernel=UNREAD),
    Failure(target="bundles/bad.tar.gz", error="no"),
]  # fmt: skip


def test_a_fleet_is_told_by_kernel_jdk_and_product() -> None:
    assert [group[:6] for group in summary.fleet(FLEET)] == [
        ("stalled", "blocking-seed", "3.10.0-957.el7", "8u181", "Tomcat 9", 3),
        ("stalled", "blocking-seed", "3.10.0-957.el7", "17.0.1", "Jetty", 1),
        ("error", "", "?", "?", "?", 1),
        ("unknown", "", "?", "?", "?", 1),
        ("clear", "", "6.8.0", "?", "?", 1),
    ]


def test_the_text_has_the_table_and_names_below_the_folder() -> None:
    head, *rows = summary.lines(FLEET, 8)

    assert head == "summary of 8 cases in bundles/: interrupted, 1 of them not looked at"
    assert rows[0].endswith("4  web0.tar.gz, web1.tar.gz, web2.tar.gz, db.tar.gz")
    assert "      3  stalled (blocking-seed)  3.10.0-957.el7  8u181   Tomcat 9" in rows
    assert "hunter2" not in "\n".join(rows)


def test_the_first_line_is_the_answer_of_the_whole() -> None:
    assert summary.answer(FLEET, 8) == (
        "4 of 8 cases stalled (blocking-seed), 1 error, 1 unknown, 1 clear, 1 not looked at"
    )
    assert summary.answer([case("a", Status.CLEAR)] * 4, 4) == "4 of 4 cases clear"
    assert summary.answer([], 4) == "none of 4 cases was looked at"
    text = rendered(
        FLEET, Format.TEXT, Manner(quiet=False, verbose=0, redacted=True, many=True, planned=8)
    )
    assert text.startswith(f"{summary.answer(FLEET, 8)}\n\nsummary of 8 cases in bundles/")
    assert text.index("summary of") < text.index("bundles/web0.tar.gz: ")
    few = rendered(
        FLEET[:3], Format.TEXT, Manner(quiet=False, verbose=0, redacted=True, many=True, planned=3)
    )
    assert "summary of" not in few


def test_many_kinds_are_not_all_in_the_first_line() -> None:
    causes = [c for c in Cause if c is not Cause.NONE][:9]
    told = [case(f"{n}", Status.STALLED) for n in range(9)]
    told = [
        replace(t, verdict=replace(t.verdict, cause=c)) for t, c in zip(told, causes, strict=True)
    ]
    assert summary.answer(told, 9).endswith(", 4 otherwise")


def test_without_a_kernel_a_jdk_or_a_product_there_is_no_table() -> None:
    told = [case(f"{n}.txt", Status.CLEAR) for n in range(4)]

    assert summary.fleet(told) == ()
    assert summary.lines(told, 4) == ["summary of 4 cases", "  clear      4"]


def test_every_form_has_it() -> None:
    told = json.loads(jsontext.render(FLEET, many=True))
    assert told["summary"]["fleet"][1] == {
        "status": "stalled", "cause": "blocking-seed", "kernel": "3.10.0-957.el7", "jdk": "17.0.1",
        "product": "Jetty", "count": 1,
    }  # fmt: skip
    assert told["summary"]["fleet"][2]["kernel"] is None
    assert len(told["cases"]) == len(FLEET)
    markdown, html = (page.render(FLEET, form, planned=8) for form in ("markdown", "html"))
    assert "| 3 | stalled | blocking-seed | `3.10.0-957.el7` | `8u181` | `Tomcat 9` |" in markdown
    assert "<td>3.10.0-957.el7</td><td>8u181</td><td>Tomcat 9</td>" in html
    assert "hunter2" not in markdown + html
    assert "1 of them not looked at" in markdown


def test_many_rows_are_cut_and_said_to_be() -> None:
    told = [case(f"f/{n}", Status.CLEAR, kernel={"release": f"4.{n}"}) for n in range(60)]

    assert summary.lines(told, 60)[-1] == "  and 20 rows more: the JSON report has them"
    assert "20 rows more" in page.render(told, "markdown")
    assert len(json.loads(jsontext.render(told, many=True))["summary"]["fleet"]) == 60


def test_the_folder_of_names() -> None:
    assert summary.folder_of(["a/b/c", "a/b/d/e"]) == "a/b/"
    assert summary.folder_of(["a/bc", "a/bd"]) == "a/"
    assert (
        summary.folder_of(["a", "b"]) == summary.folder_of(["a/b"]) == summary.folder_of([]) == ""
    )
    assert summary.folder_of(["/x/1", "/y/1"]) == "/"
