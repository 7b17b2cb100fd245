"""What a page shows beside the answer, JSON-ready: the threads by what they wait for, and the time lines."""

from __future__ import annotations

from seedstall.engine.case import Case
from seedstall.model.threadgroups import ShownFrame, ShownStack, ThreadGroup, ThreadGroups
from seedstall.model.timeline import Timeline, Timelines


def threads(case: Case) -> dict[str, object]:
    """For ``facts.threads``: the groups, those that matter first; nothing where no thread was seen."""
    found = case.value(ThreadGroups)
    if found is None:
        return {}
    return {
        "groups": [_group(group) for group in found.groups],
        "grouped": found.threads,
        "grouped_by": found.told_by,
        "not_grouped": found.left_out,
    }


def _group(group: ThreadGroup) -> dict[str, object]:
    return {
        "words": group.words,
        "threads": group.count,
        "seeding": group.seeding,
        "cause": group.cause or None,
        "names": list(group.names),
        "stacks": [_stack(stack) for stack in group.stacks],
        "stacks_in_all": group.stacks_in_all,
    }


def _stack(stack: ShownStack) -> dict[str, object]:
    return {
        "thread": stack.thread,
        "origin": stack.origin,
        "threads": stack.threads,
        "frames": [_frame(frame) for frame in stack.frames],
        "frames_left_out": stack.more,
        "note": stack.note or None,
    }


def _frame(frame: ShownFrame) -> dict[str, object]:
    return {
        "mark": str(frame.mark),
        "name": frame.name,
        "location": frame.location,
        "locks": list(frame.locks),
    }


def timelines(case: Case) -> dict[str, object]:
    """``facts.timelines``: nothing where nothing tells a time."""
    found = case.value(Timelines)
    return {"timelines": [_line(line) for line in found.lines]} if found is not None else {}


def _line(line: Timeline) -> dict[str, object]:
    return {
        "told_by": line.told_by,
        "zero": line.zero,
        "span_ms": line.span_ms,
        "lanes": list(line.lanes),
        "bars": [
            {
                "lane": bar.lane,
                "since_ms": bar.since_ms,
                "until_ms": bar.until_ms,
                "kind": str(bar.kind),
                "words": bar.words,
                "origin": bar.origin or None,
                "open": bar.open,
                "at_least": bar.at_least,
            }
            for bar in line.bars
        ],
        "events": [
            {"at_ms": event.at_ms, "words": event.words, "origin": event.origin or None}
            for event in line.events
        ],
        "left_out": line.left_out,
    }
