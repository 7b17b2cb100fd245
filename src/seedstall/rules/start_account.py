"""What the rules and the verdict say of a watched start: its span, its shares, who had them."""

from __future__ import annotations

from collections.abc import Iterator

from seedstall.model.duration import duration
from seedstall.model.finding import Evidence
from seedstall.model.redact import visible
from seedstall.model.samples import Doing, Ending, Share, StartSamples

SHOWN_SHARES = 4
LEAST_SHOWN = 0.01
"""Shares below a hundredth are left out of sentences."""


def share_of(samples: StartSamples, ms: int) -> float:
    """The part of the watched time, 0 to 1."""
    return min(1.0, ms / samples.watched_ms) if samples.watched_ms else 0.0


def of_whole(samples: StartSamples, ms: int) -> str:
    """``13.2 s of 14.6 s (90 %)``."""
    part = f"{share_of(samples, ms):.0%}".replace("%", " %")
    return f"{duration(ms)} of {duration(samples.watched_ms)} ({part})"


def who(share: Share) -> str:
    """`` ("main", connect to 10.0.0.7:5432, called by a.B.c)``; ``""`` where nobody is named."""
    name = f'"{visible(share.thread)[:60]}"' if share.thread else ""
    what = visible(share.where)[:120]
    frame = f"in {visible(share.frame)[:120]}" if share.frame else ""
    called = f"called by {visible(share.caller)[:120]}" if share.caller else ""
    return ", ".join(filter(None, (name, what, frame, called)))


def span(samples: StartSamples) -> str:
    """What the watched time was: ``from launch to 'Server startup in'``."""
    begin = "from launch" if samples.from_start else "watched"
    target = visible(samples.target)[:80]
    words = {
        Ending.UNTIL: f" to {target}",
        Ending.PORT: f" until {target} listened",
        Ending.TIME: " on" if samples.from_start else "",
        Ending.EXIT: " to its end",
        Ending.KILLED: " until a signal ended it",
    }
    besides = "; ".join(_besides(samples))
    return begin + words[samples.ending] + (f" ({besides})" if besides else "")


def _besides(samples: StartSamples) -> Iterator[str]:
    """How it ended, and the end that was asked for and did not come: else a mistyped text reads as a quick start."""
    if samples.ending is Ending.EXIT and samples.exit_code:
        yield f"exit code {samples.exit_code}"
    if samples.target and samples.ending not in (Ending.UNTIL, Ending.PORT):
        came = "did not listen" if samples.target.startswith("port ") else "was not printed"
        yield f"{visible(samples.target)[:80]} {came}"


def summary(samples: StartSamples) -> str:
    """The largest shares in a clause: ``1.2 s on CPU (63 %), 0.4 s in disk and page faults (21 %)``."""
    shown = [s for s in samples.table[:SHOWN_SHARES] if share_of(samples, s.ms) >= LEAST_SHOWN]
    parts = (f"{duration(s.ms)} {s.doing} ({share_of(samples, s.ms):.0%})" for s in shown)
    return ", ".join(parts).replace("%)", " %)")


def evidence(samples: StartSamples, *doings: Doing) -> Iterator[Evidence]:
    """The shares of these, as evidence."""
    for share in samples.table:
        if share.doing in doings:
            place = f"samples of thread {share.tid}" if share.tid is not None else "samples"
            told = f"{of_whole(samples, share.ms)} {share.doing}"
            who_ = who(share)
            yield Evidence(origin=place, excerpt=f"{told}: {who_}" if who_ else told)


def how(samples: StartSamples) -> str:
    """How it was looked at: ``sampled 160 times, every 25 ms, for 0.6 % of a core``."""
    cost = f"{samples.cost:.1%}".replace("%", " %")
    return f"sampled {samples.samples} times, every {samples.interval_ms} ms, for {cost} of a core"
