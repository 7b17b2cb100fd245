"""Configuration files taken apart: one module a format, and the recognition of what a file is."""

from __future__ import annotations

from seedstall.knowledge.images import jdk_of_file
from seedstall.model.settings import ConfigFile, Format
from seedstall.parse.configfile.embedded import reader
from seedstall.parse.configfile.gather import Gathering
from seedstall.parse.configfile.recognise import recognise

_WORDS = (
    b"egd", b"edg", b"random", b"java.security", b"java_opts", b"java_options", b"tool_options", b"haveged", b"rngd",
    b"rng-tools", b"rngdevice", b"jitterentropy",
)  # fmt: skip
MAX_BYTES = 4 << 20
"""Settings files have a few thousand bytes, the JDK's own java.security 60,000, bundles of manifests a megabyte."""


def read(name: str, data: bytes, *, form: Format | None = None) -> ConfigFile:
    """Take *data* apart as what it is, or as *form*. Never raises: what is not understood is a ``problem``."""
    if len(data) > MAX_BYTES:
        return _not_read(name, f"longer than {MAX_BYTES >> 20} MiB: no settings file")
    if b"\0" in data and not data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return _not_read(name, "it holds NUL bytes: no text")
    text = decode(data)
    chosen = form or recognise(name, text)
    gathering = Gathering(name, text, chosen)
    gathering.learn(0, jdk=jdk_of_file(name))
    try:
        reader(chosen)(gathering, gathering.all(), 0)
    except (ValueError, RecursionError) as error:
        gathering.problem(f"not understood as a {chosen} ({error})")
    if not text.strip():
        gathering.problems[:] = ["it is empty"]
    elif chosen is not Format.UNRECOGNISED and not mentions(data):
        # What is not understood holds no word that a setting of seeding could be made of.
        gathering.problems.clear()
    return gathering.finish()


def mentions(data: bytes) -> bool:
    """Whether any word stands in *data* without which there is no setting of seeding, right or wrong."""
    lowered = data.lower()
    return any(word in lowered for word in _WORDS) or b"\0" in data


def decode(data: bytes) -> str:
    """UTF-8, UTF-16 with its mark, or what Windows wrote (cp1252 has the typographic quotes), else Latin-1."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace").removeprefix("\ufeff")
    for encoding in ("utf-8", "cp1252"):
        try:
            return data.decode(encoding).removeprefix("\ufeff")
        except UnicodeDecodeError:
            continue
    return data.decode("latin-1")


def _not_read(name: str, why: str) -> ConfigFile:
    return ConfigFile(name, "", Format.UNRECOGNISED, problem=why)
