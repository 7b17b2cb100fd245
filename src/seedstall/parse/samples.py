"""A recording of samples as bytes, and back: one JSON object, lists in the order of the types' fields."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, NoReturn, TypeVar, cast

from seedstall.model.recording import (
    Counters,
    Place,
    Recording,
    SampledProcess,
    SampledThread,
    Span,
)
from seedstall.model.samples import Ending

T = TypeVar("T")

FORMAT = 1
MAX_ROWS = 500_000
"""Of one kind: more than the sampler ever keeps."""
_LARGEST = 1 << 64


def recorded(recording: Recording) -> bytes:
    """The recording as bytes."""
    told = {
        "samples": FORMAT,
        "watched_ms": recording.watched_ms,
        "from_start": recording.from_start,
        "ending": str(recording.ending),
        "looks": recording.samples,
        "own_cpu_us": recording.own_cpu_us,
        "exit_code": recording.exit_code,
        "target": recording.target,
        "dumped_ms": recording.dumped_ms,
        "processes": recording.processes,
        "threads": recording.threads,
        "spans": recording.spans,
        "places": recording.places,
        "throttled": recording.throttled,
        "counters": recording.counters,
    }
    # Names are the target's own and need not be UTF-8: surrogates survive as \u escapes.
    return json.dumps(told, separators=(",", ":")).encode("ascii")


def recording(data: bytes) -> Recording:
    """Parse what `recorded` made.

    Raises:
        ValueError: it is something else, or damaged.
    """
    try:
        told: Any = json.loads(data)
    except RecursionError as error:
        raise ValueError("not a recording of samples: nested too deeply") from error
    if not isinstance(told, dict) or told.get("samples") != FORMAT:  # pyright: ignore[reportUnknownMemberType]
        raise ValueError("not a recording of samples that this version reads")
    return _recording(cast("dict[str, object]", told))


def _recording(told: dict[str, object]) -> Recording:
    return Recording(
        watched_ms=_number(told.get("watched_ms")),
        from_start=told.get("from_start") is True,
        ending=Ending(_text(told.get("ending"))),
        samples=_number(told.get("looks")),
        own_cpu_us=_number(told.get("own_cpu_us")),
        exit_code=_optional(told.get("exit_code")),
        target=_text(told.get("target")),
        dumped_ms=_optional(told.get("dumped_ms")),
        processes=_rows(told.get("processes"), _process),
        threads=_rows(told.get("threads"), _thread),
        spans=_rows(told.get("spans"), _span),
        places=_rows(told.get("places"), _place),
        throttled=_rows(told.get("throttled"), _pair),
        counters=_rows(told.get("counters"), _counters),
    )


def _process(row: Sequence[object]) -> SampledProcess:
    pid, name, jvm, machine, since, until = row
    times = _number(since), _number(until)
    return SampledProcess(_number(pid), _text(name), jvm is True, _text(machine), *times)


def _thread(row: Sequence[object]) -> SampledThread:
    pid, tid, inner, comm, started = row
    return SampledThread(_number(pid), _number(tid), _number(inner), _text(comm), _number(started))


def _span(row: Sequence[object]) -> Span:
    tid, since, until, state, call, args, cpu, queued, place = row
    numbers = tuple(_number(arg) for arg in _list(args)[:6])
    times = _number(since), _number(until)
    rest = _number(cpu), _number(queued), _number(place)
    return Span(_number(tid), *times, _text(state), _number(call), numbers, *rest)


def _place(row: Sequence[object]) -> Place:
    fd, path, kind, peer, state, protocol = row
    end = _text(peer), _number(state), _text(protocol)
    return Place(_number(fd), _text(path), _text(kind), *end)


def _counters(row: Sequence[object]) -> Counters:
    at, faults, rss, read = row
    return Counters(_number(at), _number(faults), _number(rss), _number(read))


def _pair(row: Sequence[object]) -> tuple[int, int]:
    at, value = row
    return _number(at), _number(value)


def _rows(value: object, one: Callable[[Sequence[object]], T]) -> tuple[T, ...]:
    rows = _list(value)
    if len(rows) > MAX_ROWS:
        raise ValueError(f"not a recording of samples: more than {MAX_ROWS} rows")
    return tuple(one(_list(row)) for row in rows)


def _list(value: object) -> list[object]:
    return cast("list[object]", value) if isinstance(value, list) else _refuse(value)


def _number(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or abs(value) > _LARGEST:
        _refuse(value)
    return value


def _optional(value: object) -> int | None:
    return None if value is None else _number(value)


def _text(value: object) -> str:
    if not isinstance(value, str):
        _refuse(value)
    return value


def _refuse(value: object) -> NoReturn:
    raise ValueError(f"not a recording of samples: {str(value)[:60]!r}")
