"""How fast a big log of thread dumps is read, as a whole program, against the PyPI package tdscope.

    python benchmarks/parse_against_tdscope.py [MB] [RUNS]

`gen_dumps` writes logs of so many MB: stacks that repeat from dump to dump, with a thread that waits in a seed read and
without, and stacks that never repeat. On each, `seedstall diagnose FILE` and `tdscope summary FILE` take turns, so that
both meet the same machine. The measure is the ratio of the medians; MB/s depend on the machine, and on a busy one are
told by the processor's time. Memory is the largest resident set of the process (``ru_maxrss``). Aims: 200 MB/s (100
where no stack repeats) and 150 MiB, and four times tdscope's speed; the numbers of dumps and threads must be those that
were written.

tdscope is installed into a virtual environment of its own, ``.venv-tdscope``: it is no dependency of ours.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from gen_dumps import series, write

CHECKOUT = Path(__file__).resolve().parent.parent
PEER = CHECKOUT / ".venv-tdscope"
PEER_VERSION = "tdscope==0.1.0"
KINDS = {
    "repeating, one thread seeding": {"seed": True},
    "repeating, none seeding": {},
    "no stack repeats, one seeding": {"seed": True, "unique": True},
}


class Run(NamedTuple):
    """One run of a program: seconds, those of a processor's time, the largest resident set in MiB, what it wrote."""

    seconds: float
    processor: float
    mebibytes: float
    out: bytes


def measured(command: list[str]) -> Run:
    """Run *command* by itself, as installed programs run: with its byte code cached."""
    env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    with tempfile.TemporaryFile() as out:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL, env=env)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        processor = usage.ru_utime + usage.ru_stime
        return Run(seconds, processor, usage.ru_maxrss / 1024, out.read())


def peer() -> list[str]:
    """The command that runs tdscope, installed first if need be."""
    program = PEER / "bin" / "tdscope"
    if not program.exists():
        subprocess.run([sys.executable, "-m", "venv", str(PEER)], check=True)
        install = [str(PEER / "bin" / "python"), "-m", "pip", "install", "--quiet", PEER_VERSION]
        if subprocess.run(install, check=False).returncode:
            sys.exit(
                "error: tdscope could not be installed\nhint: the first time, a network is needed"
            )
    return [str(program), "summary"]


def told(out: bytes) -> tuple[str, int, int]:
    """Our verdict, and how many dumps and threads we read."""
    report = json.loads(out)
    threads = report["facts"]["threads"]
    verdict = report["verdict"]
    return (
        f"{verdict['status']} {verdict['cause']}",
        threads["dumps_read"],
        threads["threads_in_dumps"],
    )


def main(megabytes: int, runs: int) -> bool:
    """Print a line for each kind of log; whether all aims but those of MB/s are reached."""
    ours = [str(Path(sys.executable).with_name("seedstall")), "diagnose", "--format", "json"]
    theirs = peer()
    good = True
    for kind, how in KINDS.items():
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "catalina.out")
            dumps, threads = write(megabytes, path, series(**how))
            size = path.stat().st_size / 1e6
            measured(
                [*ours, str(path)]
            )  # the first run of all reads programs and file into the cache
            pairs = [
                (measured([*ours, str(path)]), measured([*theirs, str(path)])) for _ in range(runs)
            ]
        verdict, read, counted = told(pairs[-1][0].out)
        mine, others = ([pair[side].seconds for pair in pairs] for side in (0, 1))
        here, there = statistics.median(mine), statistics.median(others)
        busy = statistics.median(pair[0].processor for pair in pairs)
        peak, peak_there = (max(pair[side].mebibytes for pair in pairs) for side in (0, 1))
        right = (read, counted) == (dumps, threads) and ("blocking-seed" in verdict) == bool(how)
        good = good and right and peak < 150 and there / here >= (4 if "unique" not in how else 1)
        print(
            f"{kind} ({size:.0f} MB, {runs} runs each in turn): {size / here:.0f} MB/s"
            f" ({size / busy:.0f} for each second of processor time) in {peak:.0f} MiB,"
            f" tdscope {size / there:.0f} MB/s in {peak_there:.0f} MiB: {there / here:.1f} times as fast;"
            f" {verdict}, {read} dumps and {counted} threads ({'as written' if right else 'WRONG'})"
        )
    return good


if __name__ == "__main__":
    arguments = [int(word) for word in sys.argv[1:3]]
    sys.exit(0 if main(*(arguments + [200, 5][len(arguments) :])) else 1)
