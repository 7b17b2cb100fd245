"""SS216: a setting for a kernel that needs it no more."""

from __future__ import annotations

from collections.abc import Iterator

from seedstall.model.finding import Confidence, Finding, Severity
from seedstall.model.kernel import Certainty, KernelRandom
from seedstall.model.rule import rule
from seedstall.model.settings import ConfigFile, Placed, Settings
from seedstall.model.verdict import Cause
from seedstall.rules.lint import line
from seedstall.rules.lint.seedvalue import SeedValue, seed_values
from seedstall.rules.lint.ss214_feeder_in_container import feeder_packages
from seedstall.rules.lint.strong import NONBLOCKING, StrongList, strong_lists


@rule("SS216", "leftover-setting")
def leftover_setting(settings: Settings, kernel: KernelRandom | None) -> Iterator[Finding]:
    """A seed setting is left over from a kernel whose ``/dev/random`` blocked.

    ## What it detects
    With ``--kernel`` of one that does not block after boot (5.6 and later, and the back-ports of 2022): settings that
    send seeding to ``/dev/urandom``, entropy daemons that a script installs. Without ``--kernel`` nothing is said:
    files do not tell where they will run.

    ## Why it matters
    It does no harm. It is one line less to explain, and on FIPS systems one deviation less.

    ## Fix
    The setting can go, once no older kernel runs it.
    """
    if kernel is None or kernel.can_block is not False:
        return
    for seen in seed_values(settings):
        harmless = seen.problem is None or seen.problem.cures
        if harmless and "urandom" in seen.text and not seen.windows:
            yield _value(seen, kernel)
    for file in settings.files:
        for command in file.commands:
            if file.scopes[command.scope].container:
                continue
            for word in feeder_packages(command):
                yield _feeder(file, word, kernel)
    for strong in strong_lists(settings):
        if strong.entries and strong.entries[0][0].lower() == NONBLOCKING.lower():
            yield _strong(strong, kernel)


def _value(seen: SeedValue, kernel: KernelRandom) -> Finding:
    return line.made(
        seen.file,
        seen.start,
        message=f"{seen.setting}={seen.text}, which {kernel.release} needs no more",
        does=f"{seen.setting}={seen.text} is needed no more on {kernel.release}: {kernel.reason}",
        cause=Cause.NONE,
        severity=Severity.NOTE,
        confidence=_sure(kernel),
    )


def _strong(strong: StrongList, kernel: KernelRandom) -> Finding:
    return line.made(
        strong.file,
        strong.start,
        message=f"{line.STRONG}={strong.entry.value.text}, which {kernel.release} needs no more",
        does=f"{line.STRONG}={strong.entry.value.text} is needed no more on {kernel.release}: {kernel.reason}",
        cause=Cause.NONE,
        severity=Severity.NOTE,
        confidence=_sure(kernel),
    )


def _feeder(file: ConfigFile, word: Placed, kernel: KernelRandom) -> Finding:
    return line.made(
        file,
        word.place()[0],
        message=f"{word.text}, which {kernel.release} needs no more",
        does=f"{word.text} is needed no more on {kernel.release}: {kernel.reason}",
        cause=Cause.NONE,
        severity=Severity.NOTE,
        confidence=_sure(kernel),
    )


def _sure(kernel: KernelRandom) -> Confidence:
    return Confidence.CONFIRMED if kernel.certainty is Certainty.HIGH else Confidence.LIKELY
