"""Write a big log that holds a series of thread dumps, for measuring how fast it is read.

    gen_dumps.py MB OUT [--jdk 17|25] [--seed] [--unique]      prints: dumps threads-in-all

The dumps repeat a real one of ``fixtures/live`` with moving clocks, between lines of a Tomcat's log; its deadlocked
pair is taken out. With --seed one thread waits in SeedGenerator in each of them; without, that thread is left out.
--unique makes every stack differ from dump to dump, in addresses and line numbers.
"""

from __future__ import annotations

import argparse
import lzma
import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

LIVE = Path(__file__).resolve().parent.parent / "fixtures" / "live"
REAL = {"17": "jdk17-316-threads.txt.xz", "25": "jdk25-315-threads.txt.xz"}
LINE = (
    "{:%d-%b-%Y %H:%M:%S}.123 INFO [main] org.apache.catalina.startup.Catalina.load"
    " Server initialization in [{}] milliseconds\n"
)
LINES_BETWEEN = 20
STEP = timedelta(seconds=5)
DEADLOCKED, SEEDING = '"dead-', '"localhost-startStop'
HEADER = re.compile(r'^".*" (?:#\d+ )?.*tid=0x', re.MULTILINE)


class Moment(NamedTuple):
    """One dump with the log lines before it."""

    text: str
    threads: int


def series(jdk: str = "17", *, seed: bool = False, unique: bool = False) -> Iterator[Moment]:
    """Dumps of one JVM, five seconds apart, without end."""
    whole = lzma.decompress((LIVE / REAL[jdk]).read_bytes()).decode()
    whole = whole.partition("\nFound one Java-level deadlock")[0] + "\n"
    left_out = (DEADLOCKED,) if seed else (DEADLOCKED, SEEDING)
    blocks = [b for b in re.split(r"(?<=\n)\n", whole) if not b.startswith(left_out)]
    body = "\n".join(blocks)[19:]  # its time line
    threads = len(HEADER.findall(body))
    clocks = re.split(r"elapsed=([\d.]+)s", body)
    now = datetime(2026, 11, 30, 10)  # noqa: DTZ001 - as a JVM prints it: in its own zone, which it does not name
    count = 0
    while True:
        text = "".join(
            f"elapsed={float(part) + STEP.seconds * count:.2f}s" if index % 2 else part
            for index, part in enumerate(clocks)
        )
        if unique:
            text = _moved(text, count)
        log = "".join(LINE.format(now, index) for index in range(LINES_BETWEEN))
        yield Moment(f"{log}{now:%Y-%m-%d %H:%M:%S}{text}\n", threads)
        now += STEP
        count += 1


def _moved(text: str, count: int) -> str:
    """The same stacks with other line numbers and addresses."""
    text = re.sub(r"\.java:(\d+)\)", lambda match: f".java:{int(match[1]) + count})", text)
    return text.replace("0x00007f", f"0x{count % 0x10000:04x}7f")


def write(megabytes: float, out: Path, moments: Iterator[Moment]) -> tuple[int, int]:
    """Write so many MB and a little more; give the number of dumps, and of threads in all of them."""
    dumps = threads = written = 0
    with out.open("w", encoding="utf-8") as file:
        while written < megabytes * 1_000_000:
            moment = next(moments)
            written += file.write(moment.text)
            dumps += 1
            threads += moment.threads
    return dumps, threads


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("megabytes", type=float)
    parser.add_argument("out", type=Path)
    parser.add_argument("--jdk", choices=REAL, default="17")
    parser.add_argument("--seed", action="store_true")
    parser.add_argument("--unique", action="store_true")
    said = parser.parse_args()
    moments = series(said.jdk, seed=said.seed, unique=said.unique)
    print(*write(said.megabytes, said.out, moments))


if __name__ == "__main__":
    main()
