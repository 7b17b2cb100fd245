"""SS209: the JDK's java.security replaced by a file without providers."""

from __future__ import annotations

from collections.abc import Iterator

from seedstall.model.finding import Confidence, Finding, Severity
from seedstall.model.rule import rule
from seedstall.model.settings import ConfigFile, Damage, Format, Reach, SeedOption, Settings
from seedstall.model.verdict import Cause
from seedstall.rules.lint import line


@rule("SS209", "security-file-replaced")
def security_file_replaced(settings: Settings) -> Iterator[Finding]:
    """``-Djava.security.properties==FILE`` takes the place of the JDK's own file.

    ## What it detects
    The two equals signs. Where FILE is among the files handed over, it is looked at: without ``security.provider.1``
    it is an error, with providers nothing is said.

    ## Why it matters
    One equals sign appends FILE, two replace the whole ``java.security``. With a file of one line the JVM has no
    providers, and its first SecureRandom throws InternalError (run on 8, 11, 17, 21, 25).

    ## Fix
    One equals sign.
    """
    for file, option in line.options(settings):
        value = option.value.text if option.value is not None else ""
        if (
            option.meant == line.PROPERTIES
            and option.reach is Reach.JVM
            and option.damage is Damage.NONE
            and value.startswith("=")
        ):
            yield from _found(settings, file, option, value[1:])


def _found(
    settings: Settings, file: ConfigFile, option: SeedOption, path: str
) -> Iterator[Finding]:
    named = [
        f
        for f in settings.files
        if f.format in (Format.SECURITY, Format.PROPERTIES) and _same(f.name, path)
    ]
    if any(f.whole for f in named):
        return
    assert option.value is not None  # noqa: S101 - it begins with "="
    start = option.value.place()[0]
    seen = bool(named)
    does = (
        f"{option.word.text} replaces the JDK's java.security by a file without providers: the first SecureRandom"
        " throws InternalError, on every JDK"
        if seen
        else f"{option.word.text} replaces the JDK's whole java.security: a file without providers leaves the JVM"
        f" without any SecureRandom ({path} was not handed over, so nobody looked), on every JDK"
    )
    yield line.made(
        file,
        option.word.place()[0],
        message=f"{option.word.text}, which replaces java.security",
        does=does,
        cause=Cause.HARMFUL_FIX,
        severity=Severity.ERROR if seen else Severity.NOTE,
        confidence=Confidence.CONFIRMED if seen else Confidence.POSSIBLE,
        fixes=line.corrected(file, [(start, start + 1, "")], "one equals sign: appended"),
        also=tuple(line.evidence(f, 0) for f in named[:2]),
    )


def _same(name: str, path: str) -> bool:
    """Whether a file handed over is the one that a path in a setting means."""
    wanted = path.removeprefix("file:").replace("\\", "/").rpartition("/")[2]
    return bool(wanted) and name.replace("\\", "/").rpartition("/")[2] == wanted
