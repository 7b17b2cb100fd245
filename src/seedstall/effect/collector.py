"""The collector for hosts without Python: one POSIX shell script that writes the bundle of `docs/bundles.md`."""

from __future__ import annotations

from pathlib import Path

from seedstall import __version__

SCRIPT = Path(__file__).with_name("collect.sh")


def script() -> str:
    """The script, as `capture --script` prints it: for ``sh -s`` on standard input."""
    return SCRIPT.read_text(encoding="ascii").replace("@VERSION@", __version__)
