"""Throw bytes at every parser and at a whole ``diagnose``, as long as one likes. (``make fuzz SECONDS=3600``)

The first two bytes of an input choose the parser, half of the time the whole program. What is found (an exception
other than ``ValueError``, more than `SLOW_S` for 64 KiB, more than a GiB) is written below ``.fuzz/found``; a small
corpus that reaches what has been reached is kept in ``corpus.tar.xz`` beside this file, and run by the tests.
"""

from __future__ import annotations

import argparse
import io
import sys
import tarfile
from contextlib import suppress
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
CORPUS = Path(__file__).with_name("corpus.tar.xz")
LONGEST = 1 << 16
SLOW_S = 20
MEMORY_MB = 1024
PIECE = 6000
"""Bytes of a real text that a seed has."""


def check(data: bytes) -> None:
    """Give *data* to the parser that it chooses."""
    from tests import parsers

    every = parsers.parsers()
    names = sorted(every)
    choice, rest = int.from_bytes(data[:2], "big"), data[2:]
    if choice % 2:
        chosen = every[names[(choice >> 1) % len(names)]]
    else:
        chosen = parsers.in_pieces if choice % 8 == 0 else parsers.whole
    with suppress(ValueError):
        chosen(rest)


def seeds() -> dict[str, bytes]:
    """Pieces of the real texts in ``fixtures``, for the whole program."""
    from tests import texts

    real = {**texts.probes(), **texts.tomcat_logs()}
    for name in (
        "jdk25-dump-to-file.json",
        "jdk25-dump-to-file.txt",
        "nativeprng-contention-jdk17.txt",
    ):
        real[name] = texts.live(name)
    for number in ("000", "001", "002", "004"):
        real[number] = texts.post(number)
    found: dict[str, bytes] = {}
    for index, (name, data) in enumerate(sorted(real.items())):
        if index % 4 == 0 or not name.endswith(".txt"):
            found[name.replace("/", "-")] = b"\0\2" + data[:PIECE]
    return found


def kept() -> dict[str, bytes]:
    """The corpus in the repository."""
    found: dict[str, bytes] = {}
    if CORPUS.exists():
        with tarfile.open(CORPUS) as packed:
            for member in packed:
                file = packed.extractfile(member)
                if file is not None:
                    found[member.name] = file.read()
    return found


def keep(folder: Path, most: int) -> None:
    """Pack the smallest files of a corpus, *most* bytes in all."""
    files = sorted((p for p in folder.iterdir() if p.is_file()), key=lambda p: p.stat().st_size)
    size = 0
    with tarfile.open(CORPUS, "w:xz") as packed:
        for path in files:
            size += path.stat().st_size
            if size > most:
                break
            info = tarfile.TarInfo(path.name[:16])
            data = path.read_bytes()
            info.size = len(data)
            packed.addfile(info, io.BytesIO(data))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--work", type=Path, default=CHECKOUT / ".fuzz")
    parser.add_argument(
        "--keep", type=int, metavar="BYTES", help="pack the corpus of --work, and stop"
    )
    said = parser.parse_args()
    corpus, found = said.work / "corpus", said.work / "found"
    if said.keep:
        keep(corpus, said.keep)
        return
    for folder in (corpus, found):
        folder.mkdir(parents=True, exist_ok=True)
    import atheris

    sys.path[:0] = [str(CHECKOUT / "src"), str(CHECKOUT)]
    with atheris.instrument_imports(include=["seedstall"]):
        from tests import parsers

        parsers.parsers()
        parsers.whole(b"")
        parsers.whole(next(iter(seeds().values())))
        parsers.in_pieces(b"")
    for name, data in {**seeds(), **kept()}.items():
        (corpus / name).write_bytes(data)
    options = [
        f"-max_total_time={said.seconds}",
        f"-max_len={LONGEST}",
        f"-timeout={SLOW_S}",
        f"-rss_limit_mb={MEMORY_MB}",
        f"-artifact_prefix={found}/",
        "-len_control=40",
        "-print_final_stats=1",
    ]
    atheris.Setup([sys.argv[0], *options, str(corpus)], check)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
