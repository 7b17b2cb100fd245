"""The configuration files handed to ``lint``."""

from __future__ import annotations

import os
from collections.abc import Iterator

from seedstall.model.evidence import Ask, Got, Missing, Ref, Space, Unavailable
from seedstall.model.jdk import JdkVersion
from seedstall.model.settings import ConfigFile, Format, Settings
from seedstall.parse import configfile
from seedstall.parse.jdkversion import jdk_version
from seedstall.source.base import Source

GIVEN_JDK = Ref(Space.INPUT, "given/jdk")


def settings(source: Source) -> Settings:
    """Every file handed over, taken apart, and the JDK that the user named.

    Raises:
        Unavailable: no file was handed over.
        ValueError: what the user named is no JDK version.
    """
    listing = source.read(Ref(Space.INPUT, "", Ask.LIST))
    if isinstance(listing, Missing):
        raise Unavailable(listing)
    files: list[tuple[str, bytes]] = []
    unread: list[tuple[str, str]] = []
    for raw in listing.value.split(b"\0")[:-1]:
        name = os.fsdecode(raw)
        reading = source.read(Ref(Space.INPUT, name))
        if isinstance(reading, Got):
            files.append((name, reading.value))
        else:
            unread.append((name, f"{reading.why}{f': {reading.detail}' if reading.detail else ''}"))
    read = [configfile.read(name, data) for name, data in files]
    return Settings(tuple(_with_units(read, files)), _given_jdk(source), tuple(unread))


def _given_jdk(source: Source) -> JdkVersion | None:
    given = source.read(GIVEN_JDK)
    return jdk_version(given.value.decode("utf-8", "replace")) if isinstance(given, Got) else None


def _with_units(read: list[ConfigFile], files: list[tuple[str, bytes]]) -> Iterator[ConfigFile]:
    """A file that a unit among them names as its EnvironmentFile is one, whatever its name lets think."""
    named = {
        path.rpartition("/")[2]
        for file in read
        if file.format is Format.UNIT
        for scope in file.scopes
        for path in scope.sources
    }
    for file, (name, data) in zip(read, files, strict=True):
        is_one = name.rpartition("/")[2] in named and file.format in (
            Format.SHELL,
            Format.UNRECOGNISED,
            Format.PROPERTIES,
        )
        yield configfile.read(name, data, form=Format.ENVIRONMENT_FILE) if is_one else file


PROVIDERS = (settings,)
