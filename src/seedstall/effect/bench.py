"""The measurements of ``seedstall bench``: reads of the kernel's generator, and a JVM's generators.

Each is made by a process of its own that is ended at its limit: any of them may wait for ever (a pool that is dry, a
generator not seeded yet), and none may take us along.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, Self, cast

from seedstall.model.measure import FOR_TIME, TOGETHER, Measurement

METER = Path(__file__).with_name("kernelmeter.py")
BATCHES = 20
SIZES = (16, 4096)
BULK_SIZE = 1 << 20
SHARE_SIZE = 4096
"""Small reads are bound by the call: generations of the generator are told apart from 4 KiB up."""
TURNS = 3
FIRST_SIZE = 1024
FIRST_LIMIT_S = 5.0
GRACE_S = 15.0
"""Besides the time of the measurement: the start of a Python on a busy machine."""
RANDOM, URANDOM = "/dev/random", "/dev/urandom"
MB = 1e6

Told = Callable[[Measurement], None]


class Meter:
    """Runs kernelmeter.py. *patience* is added to what a measurement takes, before it is ended."""

    def __init__(self, seconds: float, patience: float = GRACE_S) -> None:
        """Take *seconds* for each figure."""
        self.seconds = seconds
        self._patience = patience
        self.timer_ns: float | None = None

    def call(self, kind: str, size: int, path: str = "") -> tuple[tuple[float, ...], str]:
        """Nanoseconds a call, and why there are none."""
        words = [
            "call",
            kind,
            str(size),
            str(self.seconds),
            str(BATCHES),
            *([path] if path else []),
        ]
        return self._figures(words)

    def bulk(self, path: str) -> tuple[tuple[float, ...], str]:
        """Megabytes a second."""
        words = ["bulk", path, str(BULK_SIZE), str(self.seconds / 2), "4"]
        values, failure = self._figures(words)
        return tuple(value / MB for value in values), failure

    def first(self, path: str, limit_s: float) -> dict[str, Any]:
        """The first bytes of a device: ``bytes`` and ``ms``, or ``error``."""
        return self._run(["first", path, str(FIRST_SIZE)], limit_s)

    def shared(self, path: str, readers: int) -> tuple[float, float, str]:
        """Megabytes a second that so many readers get together, each a process, all at once.

        Besides how many processors they had together, and why there are no figures.
        """
        words = ["share", path, str(SHARE_SIZE), str(self.seconds)]
        with ExitStack() as stack:
            started = [stack.enter_context(_Child(words)) for _ in range(readers)]
            for child in started:
                if child.line(self._patience) != "ready":
                    return 0.0, 0.0, "a reader did not come up"
            for child in started:
                child.go()
            answers = [_object(child.line(self.seconds + self._patience)) for child in started]
        values = [_numbers(answer.get("values")) for answer in answers]
        if not all(len(value) == 2 for value in values):  # noqa: PLR2004 - speed and share
            failure = next((str(a["error"]) for a in answers if "error" in a), "no answer")
            return 0.0, 0.0, failure
        return sum(v[0] for v in values) / MB, sum(v[1] for v in values), ""

    def _figures(self, words: list[str]) -> tuple[tuple[float, ...], str]:
        answer = self._run(words, 3 * self.seconds + self._patience)
        timer = answer.get("timer")
        self.timer_ns = timer if isinstance(timer, float) else self.timer_ns
        return _numbers(answer.get("values")), str(answer.get("error", ""))

    @staticmethod
    def _run(words: list[str], limit_s: float) -> dict[str, Any]:
        with _Child(words) as child:
            text = child.line(limit_s)
        return _object(text) if text else {"error": f"no answer within {limit_s:g} s: it waits"}


def _object(text: str) -> dict[str, Any]:
    with suppress(ValueError):
        found = json.loads(text)
        if isinstance(found, dict):
            return cast("dict[str, Any]", found)
    return {"error": f"no answer: {text[:80]}"}


def _numbers(found: object) -> tuple[float, ...]:
    if not isinstance(found, list):
        return ()
    values = cast("list[object]", found)
    return tuple(float(value) for value in values if isinstance(value, int | float))


class _Child:
    """One kernelmeter.py. A context manager: leaving it ends it."""

    def __init__(self, words: Sequence[str]) -> None:
        self._process = subprocess.Popen(  # noqa: S603 - a list, no shell
            [sys.executable, "-I", "-S", str(METER), str(os.getpid()), *words],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            process_group=0,
        )
        self._text = b""

    def line(self, limit_s: float) -> str:
        """Its next line; ``""`` where none comes in time."""
        import select  # noqa: PLC0415
        import time  # noqa: PLC0415

        output = self._process.stdout
        end = time.monotonic() + limit_s
        while output is not None and b"\n" not in self._text:
            left = end - time.monotonic()
            if left <= 0 or not select.select([output], [], [], left)[0]:
                return ""
            data = os.read(output.fileno(), 1 << 16)
            if not data:
                return ""
            self._text += data
        line, _, self._text = self._text.partition(b"\n")
        return line.decode(errors="replace")

    def go(self) -> None:
        """Let it begin."""
        if self._process.stdin is not None:
            self._process.stdin.write(b"\n")
            self._process.stdin.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()


# --- the kernel -------------------------------------------------------------------------------------------------------


def small_reads(meter: Meter, *, random: bool, told: Told) -> Iterator[Measurement]:
    """What a read costs by each way; *random* is whether ``/dev/random`` may be read."""
    nothing, _ = meter.call("nothing", 0)
    foreign, _ = meter.call("foreign", 0)
    own = Measurement("call nothing", "overhead", "ns", nothing)
    foreign_own = Measurement("call foreign nothing", "overhead", "ns", foreign)
    for measurement in (own, foreign_own):
        told(measurement)
        yield measurement
    ways: list[tuple[str, str, str, float]] = [
        ("getrandom", "getrandom", "", 1),
        *([("read /dev/random", "read", RANDOM, 1.0)] if random else []),
        ("read /dev/urandom", "read", URANDOM, 1),
        ("open, read, close /dev/urandom", "open", URANDOM, 3),
    ]
    for size in SIZES:
        for name, kind, path, calls in ways:
            values, failure = meter.call(kind, size, path)
            overhead = (own.median or 0.0) * calls
            found = Measurement(f"{name} {size}", "small reads", "ns", values, overhead, failure)
            told(found)
            yield found
        values, failure = meter.call("rand", size)
        overhead = (foreign_own.median or 0.0) * (size // 4)
        name = f"libc rand() {size}"
        found = Measurement(name, "small reads", "ns", values, overhead, failure)
        told(found)
        yield found


def bulk_reads(meter: Meter, *, random: bool, told: Told) -> Iterator[Measurement]:
    """What one reader gets; the devices take turns, so that a busy moment hits both alike."""
    paths = (RANDOM, URANDOM) if random else (URANDOM,)
    values: dict[str, list[float]] = {path: [] for path in paths}
    failures: dict[str, str] = {}
    for _ in range(TURNS):
        for path in paths:
            if path not in failures:
                drawn, failure = meter.bulk(path)
                values[path] += drawn
                failures.update({path: failure} if failure else {})
    for path in paths:
        found = Measurement(
            f"bulk {path}", "bulk reads", "MB/s", tuple(values[path]), None, failures.get(path, "")
        )
        told(found)
        yield found


def shared_reads(
    meter: Meter, counts: Sequence[int], rounds: int, told: Told
) -> Iterator[Measurement]:
    """What so many readers get together, and what they get for a second of processor time."""
    speeds: dict[int, list[float]] = {count: [] for count in counts}
    for_time: dict[int, list[float]] = {count: [] for count in counts}
    failures: dict[int, str] = {}
    for _ in range(rounds):
        for count in counts:
            speed, processors, failure = meter.shared(URANDOM, count)
            if failure or processors <= 0:
                failures[count] = failure or "it had no processor"
            else:
                speeds[count].append(speed)
                for_time[count].append(speed / processors)
    for group, unit, values in (
        (TOGETHER, "MB/s", speeds),
        (FOR_TIME, "MB/s", for_time),
    ):
        for count in counts:
            name = f"{count} reader{'s' if count > 1 else ''}"
            key = name if group == TOGETHER else f"{name}, by processor time"
            figures = tuple(values[count])
            found = Measurement(key, group, unit, figures, None, failures.get(count, ""))
            told(found)
            yield found
