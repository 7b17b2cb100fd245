"""SS207: a seed source set where somebody asks for the strong generator."""

from __future__ import annotations

from collections.abc import Iterator

from seedstall.knowledge.egd import STRONG_NONBLOCKING, strong_advice
from seedstall.knowledge.seedsource import Target, destination
from seedstall.model.finding import Confidence, Disposition, Finding, Severity
from seedstall.model.rule import rule
from seedstall.model.settings import ConfigFile, SeedOption, Settings
from seedstall.model.verdict import Cause
from seedstall.rules.lint import line
from seedstall.rules.lint.seedvalue import SeedValue, seed_values
from seedstall.rules.lint.strong import StrongList, is_fips_software, strong_lists

BLOCKING = "nativeprngblocking"
_FIPS_SIGNS = ("org.bouncycastle.fips", "bc-fips", "BouncyCastleFips", "BCFIPS")


@rule("SS207", "strong-instance-untouched")
def strong_instance_untouched(settings: Settings) -> Iterator[Finding]:
    """A seed source is set where ``SecureRandom.getInstanceStrong()`` is what blocks, which no seed source reaches.

    ## What it detects
    ``securerandom.source`` pointed at ``/dev/urandom`` in a file whose ``securerandom.strongAlgorithms`` still begins
    with NativePRNGBlocking (a warning where Bouncy Castle FIPS is among its providers, which draws its seed from
    there); ``-Djava.security.egd`` beside options of Bouncy Castle FIPS.

    ## Why it matters
    ``getInstanceStrong()`` ignores ``java.security.egd`` and ``securerandom.source`` on every JDK from 8 on and reads
    ``/dev/random``.

    ## Fix
    ``securerandom.strongAlgorithms=NativePRNGNonBlocking:SUN``, in ``java.security`` or in a file appended with
    ``-Djava.security.properties=FILE``. It is not FIPS-compliant: there feed the pool instead.
    """
    values = list(seed_values(settings))
    for strong in strong_lists(settings):
        first = strong.entries[0] if strong.entries else ("", "")
        if first[0].lower() != BLOCKING:
            continue
        source = next((v for v in values if _beside(v, strong)), None)
        if source is not None:
            yield _in_file(strong, source)
    places = {id(file): _fips_places(file) for file in settings.files}
    for file, option in line.options(settings):
        if option.meant == line.EGD and _place(option) in places[id(file)]:
            yield _by_option(file, option)


def _beside(value: SeedValue, strong: StrongList) -> bool:
    return (
        value.file is strong.file
        and value.setting == line.SOURCE
        and destination(value.text).target is Target.URANDOM
    )


def _in_file(strong: StrongList, source: SeedValue) -> Finding:
    fips = any(is_fips_software(p) for p in strong.providers)
    doubt = "NativePRNGNonBlocking is not FIPS-compliant: where that counts, feed the pool (bcgit/bc-java#1431)"
    notes = (strong_advice().why, *((doubt,) if fips else ()))
    value = strong.entry.value.text
    return line.made(
        strong.file,
        strong.start,
        message=f"{line.SOURCE}={source.text} beside {line.STRONG}={value}",
        does=(
            f"getInstanceStrong() still reads /dev/random: {line.STRONG}={value} decides, and {line.SOURCE} (line"
            f" {line.line_of(source.file, source.start)}) never reaches it, on JDK 8 and later"
            + (" (Bouncy Castle FIPS takes its seed from there)" if fips else "")
        ),
        cause=Cause.INEFFECTIVE_FIX,
        severity=Severity.WARNING if fips else Severity.NOTE,
        confidence=Confidence.LIKELY if fips else Confidence.POSSIBLE,
        fixes=line.corrected(
            strong.file,
            strong.edits(STRONG_NONBLOCKING),
            f"{line.STRONG}={STRONG_NONBLOCKING}",
            Disposition.REVIEW,
        ),
        notes=notes,
        also=(line.evidence(source.file, source.start),),
    )


def _fips_places(file: ConfigFile) -> set[tuple[str, int]]:
    """The variables and commands in which options of Bouncy Castle FIPS stand."""
    variables = {("variable", i) for i, v in enumerate(file.variables) if _is_fips(v.value.text)}
    return variables | {
        ("command", i)
        for i, c in enumerate(file.commands)
        if any(_is_fips(word.text) for word in c.words)
    }


def _is_fips(text: str) -> bool:
    return any(sign in text for sign in _FIPS_SIGNS)


def _place(option: SeedOption) -> tuple[str, int]:
    if option.variable is not None:
        return "variable", option.variable
    return "command", -1 if option.command is None else option.command


def _by_option(file: ConfigFile, option: SeedOption) -> Finding:
    return line.made(
        file,
        option.word.place()[0],
        message=f"{option.word.text} beside Bouncy Castle FIPS",
        does=(
            f"{option.word.text} does not reach Bouncy Castle FIPS, which takes its seed from getInstanceStrong():"
            f" {line.STRONG} decides there, on JDK 8 and later"
        ),
        cause=Cause.INEFFECTIVE_FIX,
        severity=Severity.NOTE,
        confidence=Confidence.LIKELY,
        notes=(strong_advice().why,),
    )
