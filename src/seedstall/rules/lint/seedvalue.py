"""Every seed source that a file sets, in an option or in a security properties file, and what is wrong with it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from seedstall.knowledge.egd import EgdProblem
from seedstall.knowledge.seedsource import JEP_123, URL_RANDOM, URL_URANDOM
from seedstall.model.settings import ConfigFile, Damage, Format, JdkSpan, Placed, Reach, Settings
from seedstall.parse.configfile import change
from seedstall.rules.lint import line


@dataclass(frozen=True, slots=True)
class SeedValue:
    """A value that takes effect, where it stands, and who reads it."""

    file: ConfigFile
    value: Placed
    text: str
    """As the JDK compares it: a security property is trimmed, a system property is not."""
    setting: str
    span: JdkSpan | None
    windows: bool
    problem: EgdProblem | None

    @property
    def start(self) -> int:
        """Where it begins in the file."""
        return self.value.place()[0]

    def edits(self, new: str) -> list[change.Splice]:
        """Put *new* in its place, blanks around it included."""
        return change.swap(self.value, new)


def seed_values(settings: Settings) -> Iterator[SeedValue]:
    """All of them, in the order of the files."""
    yield from _of_options(settings)
    for file in settings.files:
        for entry in file.entries:
            if entry.name.text != line.SOURCE:
                continue
            span = line.jdk_span(settings, file, entry.scope)
            text = entry.value.text.strip("".join(map(chr, range(33))))
            if _shipped(file, text, span):
                continue
            found = line.problem_of(text, span)
            yield SeedValue(
                file, entry.value, text, line.SOURCE, span, windows=False, problem=found
            )


def _of_options(settings: Settings) -> Iterator[SeedValue]:
    for file, option in line.options(settings):
        if (
            option.meant != line.EGD
            or option.reach is not Reach.JVM
            or option.damage is not Damage.NONE
            or option.value is None
            or option.name.text.strip() != line.EGD
        ):
            continue
        span = line.jdk_span(settings, file, option.scope, option.carrier)
        windows = any(s.windows for s in line.scopes_above(file, option.scope))
        text = option.value.text
        found = line.problem_of(text, span)
        yield SeedValue(file, option.value, text, line.EGD, span, windows=windows, problem=found)


def _shipped(file: ConfigFile, value: str, span: JdkSpan | None) -> bool:
    """Whether it is what the JDK ships: an untouched file has nothing wrong in it."""
    if value == URL_RANDOM:
        return not line.old_only(span)
    old = span is None or span.oldest < JEP_123
    return value == URL_URANDOM and old and file.format is Format.SECURITY and file.whole
