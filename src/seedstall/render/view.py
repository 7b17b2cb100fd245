"""What a page shows of each case, in the order in which it shows it: the same for HTML and for Markdown.

Everything in it is bounded. Foreign text is as it came: the templates' filters make it visible and escape it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, cast

from seedstall.model.core import CANNOT_TELL
from seedstall.model.duration import duration
from seedstall.model.finding import Finding, Fired, When
from seedstall.model.redact import redact
from seedstall.model.report import Failure, Report
from seedstall.model.verdict import Cause, Status
from seedstall.render import text
from seedstall.render.document import Document, document
from seedstall.render.drawing import Part, Picture, parts, picture

MOST_EVIDENCE = 60
MOST_FINDINGS = 60
MOST_ROWS = 200
LONGEST_LINE = 2_000
"""Characters of a line of foreign text that a page shows: what is beyond is counted."""
MOST_LINES = 200
LONGEST_TEXT = 20_000
"""Characters of what is to be typed or written."""
_FEW = 8
_SHORT = 160
_TYPED = 1_000
LEAST_SHARE = 0.005


class Step(NamedTuple):
    """One remedy: what frees what hangs now comes first."""

    now: bool
    title: str
    marks: tuple[str, ...]
    command: str
    text: str


class Row(NamedTuple):
    """Evidence: its place, and its lines."""

    origin: str
    lines: tuple[str, ...]


class Found(NamedTuple):
    """One finding."""

    code: str
    name: str
    severity: str
    confidence: str
    sentence: str
    evidence: tuple[Row, ...]
    evidence_left: int
    notes: tuple[str, ...]
    steps: tuple[Step, ...]
    explained_by: str


class Share(NamedTuple):
    """What the wait was of the start."""

    words: str
    drawn: tuple[Part, ...]


class Went(NamedTuple):
    """Where the time of a watched start went."""

    words: str
    drawn: tuple[Part, ...]
    besides: str


class CaseView(NamedTuple):
    """One case. ``found`` is the winner of its findings, ``others`` the rest."""

    number: int
    target: str
    status: str
    brackets: str
    sentence: str
    hint: str
    figures: tuple[tuple[str, str], ...]
    share: Share | None
    nothing_now: str
    found: Found | None
    others: tuple[Found, ...]
    others_left: int
    went: Went | None
    pictures: tuple[Picture, ...]
    threads: dict[str, Any]
    blind: tuple[tuple[str, str], ...]
    not_read: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]
    actions: tuple[str, ...]
    failed: bool = False


def lean(view: CaseView) -> CaseView:
    """The same with less of everything, for a ticket that takes only so many characters."""
    short = cast("CaseView", _trimmed(view._replace(pictures=())))
    return short._replace(others_left=view.others_left + len(view.others) - len(short.others))


def _trimmed(value: object) -> object:
    """*value* with its strings cut and its rows fewer; what is to be typed longer than the rest."""
    if isinstance(value, str):
        return cut(value, _SHORT)
    if isinstance(value, Step):
        return value._replace(
            title=cut(value.title, _SHORT),
            command=cut(value.command, _TYPED),
            text=cut(value.text, _TYPED),
        )
    if isinstance(value, Found):
        short = cast("Found", _each(value))
        left = value.evidence_left + len(value.evidence) - len(short.evidence)
        return short._replace(evidence_left=left)
    return _each(value)


def _each(value: Any) -> Any:
    """The parts of a tuple (a NamedTuple keeps all of its fields), a list or an object, each made shorter."""
    if isinstance(value, tuple):
        parts = cast("tuple[Any, ...]", value)  # type: ignore[redundant-cast]  # pyright needs it
        if hasattr(parts, "_fields"):
            made = cast("Callable[..., Any]", type(parts))
            return made(*[_trimmed(part) for part in parts])
        return tuple([_trimmed(part) for part in parts[:_FEW]])
    if isinstance(value, list):
        rows = cast("list[Any]", value)  # type: ignore[redundant-cast]  # the same
        return [_trimmed(part) for part in rows[:_FEW]]
    if isinstance(value, dict):
        return {key: _trimmed(part) for key, part in cast("dict[str, Any]", value).items()}
    return value


def cut(text: str, most: int) -> str:
    """*text*, with what is beyond *most* characters counted and left out."""
    return text if len(text) <= most else f"{text[:most]}... ({len(text) - most} characters more)"


def case_view(told: Report | Failure, number: int, *, redacted: bool) -> CaseView:
    """The view of one case; *number* counts from 1 and is what its parts are called by."""
    hide = redact if redacted else _as_is
    if isinstance(told, Failure):
        return _failed(told, number, hide)
    whole = document(told, redacted=redacted)
    found = list(_found(told, whole, hide))
    winner = told.verdict.finding
    # By value: lint hands on its findings anew, with the file that they are about.
    first = next((one for finding, one in found if finding == winner), None)
    others = [one for _, one in found if one is not first]
    facts = cast("dict[str, Any]", whole["facts"])
    return CaseView(
        number=number,
        target=hide(told.target),
        status=str(told.verdict.status),
        brackets=_brackets(told),
        sentence=hide(told.verdict.sentence),
        hint="",
        figures=tuple(_figures(told)),
        share=_share(told),
        nothing_now=_nothing_now(told, first),
        found=first,
        others=tuple(others[:MOST_FINDINGS]),
        others_left=max(0, len(others) - MOST_FINDINGS),
        went=_went(facts.get("start")),
        pictures=tuple(map(picture, facts.get("timelines", ()))),
        threads={"groups": (), **facts.get("threads", {})},
        blind=tuple(
            (codes, hide(why)) for codes, why in text.not_looked_at(told.outcomes, verbose=True)
        ),
        not_read=tuple(facts.get("inputs", {}).get("not_read", ())[:MOST_ROWS]),
        facts=tuple(_facts(facts)),
        actions=tuple(_actions(told, hide)),
    )


def _as_is(value: str) -> str:
    return value


def _failed(told: Failure, number: int, hide: Callable[[str], str]) -> CaseView:
    return CaseView(
        number, hide(told.target), "error", "", hide(told.error), hide(told.hint),
        (), None, "", None, (), 0, None, (), {"groups": ()}, (), (), (), (), failed=True,
    )  # fmt: skip


def _brackets(told: Report) -> str:
    verdict = told.verdict
    words = [str(verdict.cause)] if verdict.cause is not Cause.NONE else []
    if verdict.confidence is not None:
        words.append(verdict.confidence.name.lower())
    return ", ".join(words)


def _figures(told: Report) -> Iterator[tuple[str, str]]:
    verdict = told.verdict
    yield "status", str(verdict.status)
    if verdict.cause is not Cause.NONE:
        yield "cause", str(verdict.cause)
    if verdict.confidence is not None:
        yield "how sure", verdict.confidence.name.lower()
    if verdict.code is not None:
        yield "rule", verdict.code
    if verdict.cost_ms is not None:
        yield "cost", duration(verdict.cost_ms)
    if verdict.startup_ms is not None:
        yield "whole start", duration(verdict.startup_ms)
    if verdict.share is not None:
        yield "share of the start", _percent(verdict.share)
    if verdict.since_ms is not None:
        yield "waiting for at least", duration(verdict.since_ms)
    if verdict.progress is not None:
        yield "progress", str(verdict.progress)
    if verdict.also:
        yield "also", ", ".join(map(str, verdict.also))


def _percent(share: float) -> str:
    """A small share is not none, and a large one not all."""
    if 0 < share < LEAST_SHARE:
        return "less than 1 %"
    if 1 - LEAST_SHARE < share < 1:
        return "more than 99 %"
    return f"{share:.0%}".replace("%", " %")


def _share(told: Report) -> Share | None:
    verdict = told.verdict
    if verdict.share is None or verdict.cost_ms is None or verdict.startup_ms is None:
        return None
    cost, whole = duration(verdict.cost_ms), duration(verdict.startup_ms)
    words = f"{cost} of the {whole} of the start ({_percent(verdict.share)})"
    rest = max(0, verdict.startup_ms - verdict.cost_ms)
    seeding = not str(verdict.cause).startswith("other:")
    rows = [
        (str(verdict.cause) if verdict.cause is not Cause.NONE else "seeding", verdict.cost_ms,
         "seeding" if seeding else "waiting"),
        ("the rest of the start", rest, "other"),
    ]  # fmt: skip
    return Share(words, parts(rows))


def _found(
    told: Report, whole: Document, hide: Callable[[str], str]
) -> Iterator[tuple[Finding, Found]]:
    """The findings with what they are in the document, which is made in the same order."""
    findings = [f for o in told.outcomes if isinstance(o, Fired) for f in o.findings]
    words = hide(told.words or told.target)
    shown = zip(findings, cast("list[dict[str, Any]]", whole["findings"]), strict=True)
    for finding, row in sorted(shown, key=lambda pair: -pair[0].severity):
        evidence = tuple(
            Row(piece["origin"], _lines(piece["excerpt"]))
            for piece in row["evidence"][:MOST_EVIDENCE]
        )
        yield (
            finding,
            Found(
                code=row["code"],
                name=row["name"],
                severity=row["severity"],
                confidence=row["confidence"],
                sentence=hide(finding.sentence),
                evidence=evidence,
                evidence_left=len(row["evidence"]) - len(evidence),
                notes=tuple(row["notes"][:MOST_ROWS]),
                steps=tuple(_steps(finding, row, words, hide)),
                explained_by=row["explained_by"] or "",
            ),
        )


def _lines(excerpt: str) -> tuple[str, ...]:
    lines = excerpt.split("\n")
    if len(lines) > MOST_LINES:
        return (*lines[:MOST_LINES], f"... ({len(lines) - MOST_LINES} lines more)")
    return tuple(lines)


def _steps(
    finding: Finding, row: dict[str, Any], words: str, hide: Callable[[str], str]
) -> Iterator[Step]:
    """The remedies, those that help now first."""
    pairs = zip(finding.fixes, row["fixes"], strict=True)
    for fix, told in sorted(pairs, key=lambda pair: pair[0].when is not When.NOW):
        marks = [fix.where] if fix.where != "host" else []
        marks += ["as root"] if fix.needs_root else []
        marks += ["review"] if told["disposition"] == "review" else []
        marks += [fix.takes] if fix.takes else []
        command = cut(hide("\n".join(text.typed(fix, words))), LONGEST_TEXT)
        inside = cut(hide(told["text"]), LONGEST_TEXT)
        yield Step(fix.when is When.NOW, hide(told["title"]), tuple(marks), command, inside)


def _nothing_now(told: Report, first: Found | None) -> str:
    finding = told.verdict.finding
    if finding is None or first is None or not first.steps or first.steps[0].now:
        return ""
    stuck = finding.status is Status.STALLED and finding.cause is Cause.BLOCKING_SEED
    return text.nothing_now(told).removeprefix("now: ") if stuck else ""


def _went(start: dict[str, Any] | None) -> Went | None:
    if start is None:
        return None
    watched = start["watched_ms"] or 1
    cost = f"{start['cost_of_a_core']:.1%}".replace("%", " %")
    many = f"{start['samples']} looks, one in {start['interval_ms']} ms"
    looks = "1 look" if start["samples"] == 1 else many
    words = f"{duration(watched)} {start['span']} ({looks}, {cost} of a core)"
    rows = [
        (share["words"], share["ms"], _kind(share.get("what", "")), share["who"])
        for share in start["went_to"]
        if share["ms"] / watched >= LEAST_SHARE
    ]
    besides = ""
    if start.get("major_faults") or start.get("read_kib"):
        read = f", {start['read_kib'] / 1024:.0f} MiB read from disks" if start["read_kib"] else ""
        besides = f"{start['major_faults']} page faults that had to read{read}"
    return Went(words, parts(rows, watched), besides)


def _kind(what: str) -> str:
    if what == "random":
        return "seeding"
    if what in ("cpu", "gc", "launch"):
        return "working"
    return "other" if what in ("other", "unseen") else "waiting"


_JVM_FACTS = (
    ("pid", "process"), ("main", "program"), ("product", "product"), ("jdk", "JDK"), ("vm", "virtual machine"),
)  # fmt: skip
_KERNEL_FACTS = (
    ("release", "kernel"), ("model", "its /dev/random"), ("reason", "told by"), ("state", "state"),
    ("entropy_avail", "entropy, bits"), ("poolsize", "pool size, bits"),
)  # fmt: skip


def _facts(facts: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """What the target and its host are, as far as known."""
    yield from _jvm_facts(facts.get("jvm", {}))
    yield from _kernel_facts(facts.get("kernel", {}))
    yield from _core_facts(facts.get("core", {}))
    threads = facts.get("threads", {})
    if threads.get("dumps_read"):
        dumps, count = threads["dumps_read"], threads["threads_in_dumps"]
        yield "read", f"{dumps} thread dump{'s' if dumps > 1 else ''}, {count} threads in all"


def _jvm_facts(jvm: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for key, name in _JVM_FACTS:
        if jvm.get(key) is not None:
            yield name, str(jvm[key])
    if jvm.get("age_ms") is not None:
        yield "age", duration(jvm["age_ms"])
    seed = jvm.get("seed_source")
    if seed:
        assumed = ", assumed" if seed["assumed"] else ""
        yield "seed source", f"{seed['value']} ({seed['setting']}, {seed['place']}{assumed})"
    if jvm.get("options"):
        yield "options", " ".join(jvm["options"][:MOST_ROWS])


def _kernel_facts(kernel: dict[str, Any]) -> Iterator[tuple[str, str]]:
    if "missing" in kernel:
        yield "kernel", f"not known: {kernel['detail'] or kernel['missing']}"
    for key, name in _KERNEL_FACTS:
        if kernel.get(key) is not None:
            yield name, str(kernel[key])
    if kernel.get("feeders"):
        yield "fed by", ", ".join(kernel["feeders"])


def _core_facts(core: dict[str, Any]) -> Iterator[tuple[str, str]]:
    if not core:
        return
    held, whole = (int(core[name]) >> 20 for name in ("bytes", "bytes_expected"))
    size = f"cut: {held} of {whole} MiB are there" if core["cut"] else f"{whole} MiB"
    yield "core", f"written by {core['written_by']}, {size}, {core['threads']} threads"
    if core["libjvm_refused"]:
        yield "core's libjvm", str(core["libjvm_refused"])
    yield "a core cannot tell", "; ".join(CANNOT_TELL)


def _actions(told: Report, hide: Callable[[str], str]) -> Iterator[str]:
    for action in told.actions[:MOST_ROWS]:
        pause = f" ({action.pause_ms} ms)" if action.pause_ms is not None else ""
        yield hide(f"done to {action.pid}: {action.what}{pause}")


def status_of(told: Report | Failure) -> str:
    """As the summary calls it."""
    return "error" if isinstance(told, Failure) else str(told.verdict.status)


def answer_of(told: Report | Failure) -> str:
    """The sentence, or what went wrong."""
    return told.error if isinstance(told, Failure) else told.verdict.sentence


def worst_first(told: Sequence[Report | Failure]) -> list[tuple[int, Report | Failure]]:
    """With their numbers, in the order in which a person with many cases reads: stalled before clear."""
    order = [*map(str, _ORDER), "error", str(Status.UNKNOWN), str(Status.CLEAR)]
    return sorted(enumerate(told, 1), key=lambda case: order.index(status_of(case[1])))


_ORDER = (Status.STALLED, Status.SLOW, Status.ENDED, Status.AT_RISK)
