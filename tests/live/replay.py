"""What a host says of a JVM, and what a bundle of it says elsewhere: they must be the same."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from tests.machine import Seedstall
from typer.testing import CliRunner

from seedstall.cli.app import application

_TIMES = re.compile(r"\d+(?:\.\d+)? (?:ms|s|min|h|d|%)|\d+ (?:of|KiB|bytes|reads|switches)")
_OF_NOW = ("since_ms", "until_ms", "span_ms", "age_ms", "cost_ms", "startup_ms")


@cache
def _application() -> Any:
    return application()


def in_process(*arguments: object, **_: object) -> subprocess.CompletedProcess[str]:
    """The command line without a process of its own: starting one takes half of what most of these commands do."""
    words = list(map(str, arguments))
    ran = CliRunner().invoke(_application(), words, standalone_mode=False)
    error, code = ran.exception, ran.exit_code
    if error is not None:
        known = getattr(error, "code", None)
        if not isinstance(known, int):
            raise error
        code = known
        return subprocess.CompletedProcess(words, code, ran.stdout, f"{ran.stderr}error: {error}")
    code = ran.return_value if isinstance(ran.return_value, int) else code
    return subprocess.CompletedProcess(words, code, ran.stdout, ran.stderr)


def captured(seedstall: Seedstall, pid: object, file: Path, *options: str) -> str:
    """Capture it into *file*; what was said of it."""
    done = seedstall("capture", pid, "-o", file, *options)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    return done.stderr


def report(seedstall: Seedstall, target: object, *options: str) -> Any:
    """What ``diagnose`` says, as JSON."""
    done = seedstall("diagnose", target, "--format", "json", "--exit-zero", *options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def settled(told: Any) -> Any:
    """A report without what differs from one second to the next, and without what only the host can do at once."""
    if isinstance(told, dict):
        gone = ("target", "actions", "bundle", *_OF_NOW)
        return {
            key: [fix for fix in settled(value) if fix["when"] != "now"]
            if key == "fixes"
            else settled(value)
            for key, value in told.items()
            if key not in gone
        }
    if isinstance(told, list):
        return [settled(value) for value in told]
    return _TIMES.sub("N", told) if isinstance(told, str) else told


def differences(host: Any, bundle: Any, where: str = "") -> Iterator[str]:
    """Where two reports differ, and how."""
    if isinstance(host, dict) and isinstance(bundle, dict):
        for key in sorted(host.keys() | bundle.keys()):
            yield from differences(host.get(key), bundle.get(key), f"{where}/{key}")
    elif isinstance(host, list) and isinstance(bundle, list) and len(host) == len(bundle):
        for number, (one, other) in enumerate(zip(host, bundle, strict=True)):
            yield from differences(one, other, f"{where}[{number}]")
    elif host != bundle:
        yield f"{where}: {host!r:.300} | {bundle!r:.300}"


def assert_same(seedstall: Seedstall, pid: int, file: Path, *options: str) -> Any:
    """The host and the bundle say the same of it; what they say."""
    left = 3
    while True:  # a JVM does something now and then: no difference stays
        file.unlink(missing_ok=True)
        host = report(seedstall, pid, *options)
        captured(seedstall, pid, file, *options)
        bundle = report(seedstall, file)
        left -= 1
        if not left or settled(host) == settled(bundle):
            break
    found = list(differences(settled(host), settled(bundle)))
    assert not found, "\n".join(found)
    assert bundle["actions"] == []
    return bundle
