"""Picture of the HTML report of a real hung Tomcat, for the README: docs/report.png, at most 200 KB.

The dump and the log are the fixtures' own (see fixtures/live/README.md), so the picture is the same on every machine.
"""

from __future__ import annotations

import lzma
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parents[1]
PICTURE = ROOT / "docs/report.png"
LARGEST = 200_000
DUMP, LOG = "tomcat10-jdk17-hang.txt", "tomcat10-en.log"


def main() -> None:
    """Diagnose, open the report, keep its first screen."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / DUMP).write_bytes(
            lzma.decompress((ROOT / f"fixtures/live/{DUMP}.xz").read_bytes())
        )
        with tarfile.open(ROOT / "fixtures/tomcat-logs.tar.xz") as tar:
            inside = tar.extractfile(f"tomcat-logs/{LOG}")
            if inside is None:
                sys.exit(f"{LOG} is not among the fixtures")
            (folder / LOG).write_bytes(inside.read())
        command = [
            sys.executable,
            "-m",
            "seedstall",
            "diagnose",
            DUMP,
            LOG,
            "--kernel",
            "3.10.0-957.el7",
        ]
        options = ["--format", "html", "-o", "r.html", "--exit-zero"]
        subprocess.run([*command, *options], cwd=folder, check=True)  # noqa: S603 - our own program
        with sync_playwright() as play:
            chromium = play.chromium.launch(
                executable_path=shutil.which("chromium"), args=["--no-sandbox"]
            )
            page = chromium.new_page(viewport={"width": 1000, "height": 1150})
            page.goto((folder / "r.html").as_uri())
            page.screenshot(path=PICTURE)
            chromium.close()
    if PICTURE.stat().st_size > LARGEST:
        sys.exit(f"{PICTURE} is larger than {LARGEST} bytes")


if __name__ == "__main__":
    main()
