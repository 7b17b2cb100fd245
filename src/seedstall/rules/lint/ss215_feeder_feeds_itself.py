"""SS215: an entropy daemon that feeds the pool with the pool's own output."""

from __future__ import annotations

import re
from collections.abc import Iterator

from seedstall.model.finding import Confidence, Disposition, Finding
from seedstall.model.rule import rule
from seedstall.model.settings import UNKNOWN, ConfigFile, Placed, Settings
from seedstall.model.verdict import Cause
from seedstall.parse.configfile import change
from seedstall.parse.configfile.launched import base
from seedstall.rules.lint import line

_DEVICE = r"/dev/(?:\./)*u?random"
_OPTION = re.compile(rf"(?:^|(?<=\s))(?:-r[ \t=]*|--rng-device[ \t=]+)({_DEVICE})(?=\s|$)")
_VARIABLES = frozenset(
    (
        "EXTRAOPTIONS",
        "RNGDOPTIONS",
        "RNGD_OPTIONS",
        "RNGD_OPTS",
        "RNGD_ARGS",
        "DAEMON_ARGS",
        "OPTIONS",
        "RNGD_EXTRA_ARGS",
    )
)
_DEVICE_VARIABLES = frozenset(("HRNGDEVICE", "RNGDEVICE", "RNGD_DEVICE", "HWRNG_DEVICE"))
_FILES = re.compile(r"rngd?|haveged|rng-tools", re.IGNORECASE)


@rule("SS215", "feeder-feeds-itself")
def feeder_feeds_itself(settings: Settings) -> Iterator[Finding]:
    """Rngd is told to take its entropy from the kernel's own generator.

    ## What it detects
    ``rngd -r /dev/urandom`` on a command line or in a unit, ``HRNGDEVICE=/dev/urandom``, ``EXTRAOPTIONS="-r
    /dev/urandom"``.

    ## Why it matters
    The pool is fed with its own output and counts it as entropy: ``/dev/random`` no longer blocks, and no longer
    means anything. Red Hat warns against it (KCS 19866).

    ## Fix
    Leave the option out: rngd 6.3 and later has a jitter source and needs no device. Older ones need a hardware
    generator (``/dev/hwrng``), or haveged takes their place.
    """
    for file in settings.files:
        for command in file.commands:
            at = next((i for i, w in enumerate(command.words[:8]) if base(w.text) == "rngd"), None)
            if at is not None:
                yield from _in_words(file, command.words[at:])
        for variable in file.variables:
            if variable.name in _DEVICE_VARIABLES and re.fullmatch(
                _DEVICE, variable.value.text.strip()
            ):
                yield _device(file, variable.name, variable.value)
            elif variable.name in _VARIABLES and UNKNOWN not in variable.value.text[:1]:
                match = _OPTION.search(variable.value.text[:10_000])
                if match is not None and (
                    variable.name.startswith("RNG")
                    or _FILES.search(file.name)
                    or "EXTRA" in variable.name
                ):
                    yield _option(file, variable.value, match)


def _in_words(file: ConfigFile, words: tuple[Placed, ...]) -> Iterator[Finding]:
    for index, word in enumerate(words):
        following = words[index + 1] if index + 1 < len(words) else None
        if word.text in ("-r", "--rng-device") and following is not None:
            if re.fullmatch(_DEVICE, following.text):
                yield _made(
                    file,
                    word.outer[0],
                    f"{word.text} {following.text}",
                    (word.outer[0], following.outer[1]),
                )
        elif re.fullmatch(rf"(?:-r|--rng-device=){_DEVICE}", word.text):
            yield _made(file, word.outer[0], word.text, word.outer)


def _option(file: ConfigFile, value: Placed, match: re.Match[str]) -> Finding:
    place = value.place(match.start(), match.end())
    return _made(file, place[0], match[0].strip(), place)


def _made(file: ConfigFile, start: int, shown: str, place: tuple[int, int]) -> Finding:
    first, last = place
    while (
        last < len(file.text)
        and file.text[last] in " \t"
        and first > 0
        and file.text[first - 1] in " \t\"'"
    ):
        last += 1
    if last == place[1]:
        while first > 0 and file.text[first - 1] in " \t":
            first -= 1
    return _finding(file, start, f"rngd {shown}", [(first, last, "")])


def _device(file: ConfigFile, name: str, value: Placed) -> Finding:
    start, end = value.place()
    return _finding(file, start, f"{name}={value.text.strip()}", [(start, end, "/dev/hwrng")])


def _finding(file: ConfigFile, start: int, shown: str, edits: list[change.Splice]) -> Finding:
    return line.made(
        file,
        start,
        message=f"{shown}, which feeds the pool with itself",
        does=(
            f"{shown} feeds the pool with the kernel's own output and counts it as entropy: nothing is gained, and"
            " /dev/random no longer means what it says, on every kernel"
        ),
        cause=Cause.HARMFUL_FIX,
        confidence=Confidence.CONFIRMED,
        fixes=line.corrected(file, edits, "rngd with its own sources", Disposition.REVIEW),
    )
