"""What the tests of pages share: a report made by hand that has every part of a page, and hostile text for it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tests.render_by_hand import FINDING, report

from seedstall.model.evidence import Missing, Ref, Space, Why
from seedstall.model.finding import Evidence, Fired, Fix, Inconclusive, Severity, When
from seedstall.model.report import Action, Report

HOSTILE = (
    "<script>alert(1)</script> </style></title></pre></code><img src=x onerror=alert(2)> "
    "`code` ``two`` | \\| **bold** [a](javascript:alert(3)) @octocat #12 octo/cat#3 GH-4 "
    "https://evil.example www.evil.example x@evil.example {{ 7 * 7 }} {% raw %} ${x} &amp; &lt;b> "
    "\"' onmouseover=x \x1b[31m\x07 \u202egnp.exe \u2028 \x00 <!-- --> <details></details> ~~~ ``` -->"
)
NEVER = ("\x1b", "\x07", "\u202e", "\x00", "\u2028")
"""What no page may hold as it is."""


def facts(text: str = '"main"') -> dict[str, object]:
    """Facts as `engine.diagnosis` gives them, with *text* wherever a target's own text stands."""
    frames = [
        {
            "mark": mark,
            "name": f"{text}.{mark}",
            "location": text,
            "locks": [f"locked <0x1> (a {text})"],
        }
        for mark in ("read", "seed", "caller", "own", "jdk")
    ]
    stack = {
        "thread": text, "origin": f"{text}:12", "threads": 2, "frames": frames, "frames_left_out": 3, "note": text,
    }  # fmt: skip
    group = {
        "words": f"waits for {text}", "threads": 30, "seeding": True, "cause": None, "names": [text] * 20,
        "stacks": [stack], "stacks_in_all": 4,
    }  # fmt: skip
    bar = {
        "lane": 0, "since_ms": 100, "until_ms": 900, "kind": "seeding", "words": text, "origin": f"{text}:3",
        "open": True, "at_least": True,
    }  # fmt: skip
    other = {**bar, "lane": 1, "kind": "working", "open": False, "at_least": False}
    line = {
        "told_by": "log", "zero": "the launch", "span_ms": 1000, "lanes": [text, "another"], "bars": [bar, other],
        "events": [{"at_ms": 500, "words": text, "origin": text}], "left_out": 7,
    }  # fmt: skip
    share = {
        "what": "random", "words": "waiting for random bytes", "ms": 800, "thread": text, "tid": 3, "where": text,
        "caller": text, "who": text,
    }  # fmt: skip
    start = {
        "watched_ms": 1000, "span": f"from launch to {text}", "samples": 40, "interval_ms": 25,
        "cost_of_a_core": 0.006, "major_faults": 12, "read_kib": 4096,
        "went_to": [share, {**share, "what": "cpu", "words": "on CPU", "ms": 200, "who": ""}],
    }  # fmt: skip
    return {
        "jvm": {
            "pid": 7, "main": text, "product": text, "jdk": "17.0.15", "vm": "hotspot", "age_ms": 90_000,
            "options": [text],
            "seed_source": {"value": text, "setting": "egd", "place": text, "assumed": True, "strong_algorithms": None},
        },
        "kernel": {"release": text, "model": "blocking-pool", "reason": text, "state": "at-risk", "feeders": [text],
                   "entropy_avail": 0, "poolsize": 4096},
        "threads": {
            "dumps_read": 1, "threads_in_dumps": 33, "groups": [group], "grouped": 33, "grouped_by": "dump",
            "not_grouped": 3,
        },
        "logs": {},
        "inputs": {"not_read": [text]},
        "timelines": [line],
        "start": start,
    }  # fmt: skip


def full(text: str = '"main"', **changes: object) -> Report:
    """A report with every part of a page, *text* wherever a target's own text stands."""
    fixes = (
        *FINDING.fixes,
        Fix(surface="jarsigner", title=text, params={"egd": "x", "command": f"jarsigner {text}"}, when=When.NOW),
    )  # fmt: skip
    first = replace(
        FINDING,
        sentence=f"{text} waits",
        evidence=(Evidence(origin=f"{text}:1", excerpt=f"{text}\nat {text}"),),
        notes=(text,),
        fixes=fixes,
        cost_ms=386_690,
        startup_ms=410_675,
    )
    second = replace(first, severity=Severity.WARNING, sentence=f"beside it {text}")
    denied = Missing(Why.DENIED, (Ref(Space.KERNEL, "dmesg"),), text)
    base = report()
    verdict = replace(
        base.verdict,
        sentence=first.sentence,
        finding=first,
        cost_ms=386_690,
        startup_ms=410_675,
        share=0.94,
        since_ms=185_000,
    )
    values: dict[str, object] = {
        "target": text,
        "words": f"{text} --kernel {text}",
        "verdict": verdict,
        "outcomes": (
            Fired("SS101", "blocking-seed", (first,), ()),
            Fired("SS302", "feeder-down", (second,), ()),
            Inconclusive("SS103", "crng-not-ready", (denied,)),
        ),
        "actions": (Action(what=text, pid=8712, pause_ms=3),),
        "facts": facts(text),
        **changes,
    }
    return replace(base, **values)  # type: ignore[arg-type]


def texts_of(value: object) -> Iterator[str]:
    """Every string in it."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from (str(key), *texts_of(inner))
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from texts_of(inner)
