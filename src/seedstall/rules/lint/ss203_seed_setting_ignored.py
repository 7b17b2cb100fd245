"""SS203: a setting that was meant to cure the stall and does nothing, found in a file."""

from __future__ import annotations

from collections.abc import Iterator

from seedstall.knowledge.egd import EgdFault, right_egd, strong_advice
from seedstall.knowledge.seedsource import URL_URANDOM
from seedstall.model.finding import Confidence, Disposition, Finding, Fix, Severity
from seedstall.model.rule import rule
from seedstall.model.settings import (
    Command,
    ConfigFile,
    Damage,
    Reach,
    SecurityEntry,
    SeedOption,
    Settings,
)
from seedstall.model.verdict import Cause
from seedstall.parse.configfile import change, moved
from seedstall.parse.configfile.seedword import meant_security
from seedstall.parse.configfile.words import references
from seedstall.rules.lint import line
from seedstall.rules.lint.seedvalue import seed_values


@rule("SS203", "seed-setting-ignored")
def seed_setting_ignored(settings: Settings) -> Iterator[Finding]:
    """A file holds a setting that was meant to cure a seeding stall and has no effect.

    ## What it detects
    Another name (``java.security.edg``, ``-Dsecurerandom.source=``, which is a security property and no system
    property); an option after ``-jar x.jar`` or the main class, or without ``-J`` for jarsigner; an option that fell
    out of its quotes; a property in a file that sets no system properties; ``file:/dev/urandom`` on JDK 6 and 7.

    ## Why it matters
    Nothing is printed. The program starts as if the line were not there, and waits for entropy as before.

    ## Fix
    The corrected line stands with each finding.
    """
    for file, option in line.options(settings):
        yield from _of_option(settings, file, option)
    yield from _old_jdk(settings)
    for file in settings.files:
        yield from _variables_behind(file)
    for file in settings.files:
        for entry in file.entries:
            yield from _of_entry(file, entry)


def _of_option(settings: Settings, file: ConfigFile, option: SeedOption) -> Iterator[Finding]:
    match option.reach:
        case Reach.PROGRAM:
            yield _misplaced(settings, file, option)
        case Reach.TOOL:
            yield _without_j(settings, file, option)
        case Reach.NOBODY:
            yield _fallen_out(settings, file, option)
        case Reach.WRONG_FILE:
            yield _wrong_file(settings, file, option)
        case Reach.JVM if option.damage in (Damage.NAME, Damage.COLON):
            yield _misnamed(settings, file, option)
        case Reach.JVM if option.damage is Damage.NONE:
            yield from _empty(settings, file, option)
        case _:
            pass


def _shown(option: SeedOption) -> str:
    return " ".join(w.text for w in (option.word, *option.tail))


def _misplaced(settings: Settings, file: ConfigFile, option: SeedOption) -> Finding:
    new, span = line.mended(settings, file, option)
    edits = moved.before_main(file, option, new)
    return line.made(
        file,
        option.word.place()[0],
        message=f"{_shown(option)} behind the program's name",
        does=(
            f"{_shown(option)} stands after the jar or main class: it is an argument of the program, and the JVM"
            " never sees it, on every JDK"
        ),
        cause=Cause.INEFFECTIVE_FIX,
        fixes=line.corrected(file, edits, "the option before the jar or main class"),
        notes=line.unknown_note(span) if option.value is None else (),
    )


def _variables_behind(file: ConfigFile) -> Iterator[Finding]:
    """``java -jar app.jar $JAVA_OPTS``: a variable that holds a seed option, behind the program's name."""
    holding = {
        file.variables[o.variable].name: o
        for o in file.options
        if o.variable is not None and o.reach is Reach.JVM and o.meant == line.EGD
    }
    for command in file.commands if holding else ():
        if command.main_at is None or command.launcher != "java":
            continue
        for at in range(command.main_at + 1, len(command.words)):
            start, end = command.words[at].outer
            named = [n for n in references(file.text[start:end]) if n in holding]
            before = [
                n
                for w in command.words[: command.main_at]
                for n in references(file.text[w.outer[0] : w.outer[1]])
            ]
            if named and named[0] not in before:
                yield _behind(file, command, at, holding[named[0]])


def _behind(file: ConfigFile, command: Command, at: int, option: SeedOption) -> Finding:
    start, end = command.words[at].outer
    shown = file.text[start:end]
    edits = moved.word_before_main(file, command, at, shown)
    return line.made(
        file,
        start,
        message=f"{shown} behind the program's name",
        does=(
            f"{shown} stands after the jar or main class: {option.word.text} in it is an argument of the program, and"
            " the JVM never sees it, on every JDK"
        ),
        cause=Cause.INEFFECTIVE_FIX,
        confidence=Confidence.LIKELY,
        fixes=line.corrected(file, edits, "the options before the jar or main class"),
        also=(line.evidence(file, option.word.place()[0]),),
    )


def _without_j(settings: Settings, file: ConfigFile, option: SeedOption) -> Finding:
    new, span = line.mended(settings, file, option)
    edits = change.option_edits(file, option, "-J" + new)
    return line.made(
        file,
        option.word.place()[0],
        message=f"{_shown(option)} without -J",
        does=(
            f"{_shown(option)} is handed to a tool of the JDK without -J: its JVM never sees it, on every JDK"
        ),
        cause=Cause.INEFFECTIVE_FIX,
        fixes=line.corrected(file, edits, "-J before the option", line.disposition(span)),
    )


def _fallen_out(settings: Settings, file: ConfigFile, option: SeedOption) -> Finding:
    new, span = line.mended(settings, file, option)
    return line.made(
        file,
        option.word.place()[0],
        message=f"{_shown(option)} outside the value it was meant for",
        does=(
            f"{_shown(option)} stands outside the quotes of the value before it: {_fate(file)}, and no JVM sees it"
        ),
        cause=Cause.INEFFECTIVE_FIX,
        fixes=line.corrected(
            file,
            moved.into_quotes(file, option, new),
            "one pair of quotes around the whole value",
            line.disposition(span),
        ),
    )


def _fate(file: ConfigFile) -> str:
    fates = {
        "Dockerfile": "Docker takes it for a variable of that name",
        "systemd unit": "systemd drops it as no assignment",
    }
    return fates.get(file.format.value, "the shell takes it for a command or a name of its own")


def _wrong_file(settings: Settings, file: ConfigFile, option: SeedOption) -> Finding:
    new, span = line.mended(settings, file, option)
    gradle = option.carrier.startswith("a Gradle")
    advice = right_egd(line.version(span))
    value = new.partition("=")[2]
    flag = Fix(
        surface="java-opts",
        title=f"hand {new} to java instead",
        disposition=line.disposition(span),
        params={"egd": value, "why": advice.why},
    )
    start = option.name.place()[0]
    fixes = (
        line.corrected(file, [(start, start, "systemProp.")], "a system property of Gradle's JVM")
        if gradle
        else (flag,)
    )
    return line.made(
        file,
        start,
        message=f"{option.meant} in {option.carrier}",
        does=(
            f"{option.meant} is set in {option.carrier}: the JDK reads it as a system property alone, so this line"
            " has no effect, on every JDK"
        ),
        cause=Cause.INEFFECTIVE_FIX,
        confidence=Confidence.LIKELY,
        fixes=fixes,
    )


def _misnamed(settings: Settings, file: ConfigFile, option: SeedOption) -> Finding:
    name = option.name.text.strip()
    start = option.word.place()[0]
    if option.meant == line.STRONG:
        return _no_system_property(file, option, name)
    new, span = line.mended(settings, file, option)
    security = name.lower() == line.SOURCE
    why = (
        "a security property and no system property: -D has no effect on it"
        if security
        else f"not the property that the JDK reads, {option.meant}: it has no effect"
    )
    if option.damage is Damage.COLON:
        why = f"written with a colon: that sets a property of another name, and {option.meant} stays unset"
    return line.made(
        file,
        start,
        message=f"{_shown(option)}, which sets nothing that the JDK reads",
        does=f"{name} is {why}, on every JDK",
        cause=Cause.INEFFECTIVE_FIX,
        fixes=line.corrected(
            file, change.option_edits(file, option, new), new, line.disposition(span)
        ),
        notes=line.unknown_note(span) if option.meant == line.EGD else (),
    )


def _no_system_property(file: ConfigFile, option: SeedOption, name: str) -> Finding:
    advice = strong_advice()
    value = option.value.text if option.value is not None and option.value.text else advice.value
    return line.made(
        file,
        option.word.place()[0],
        message=f"{_shown(option)}, which sets nothing that the JDK reads",
        does=(
            f"{name} is a security property and no system property: -D has no effect on it, on every JDK, and"
            " getInstanceStrong() reads /dev/random as before"
        ),
        cause=Cause.INEFFECTIVE_FIX,
        fixes=(
            Fix(
                surface="strong-algorithms",
                title=f"{line.STRONG}={value} in a file, and -Djava.security.properties=FILE",
                disposition=Disposition.REVIEW,
                params={"value": value},
            ),
        ),
        notes=(advice.why,),
    )


def _empty(settings: Settings, file: ConfigFile, option: SeedOption) -> Iterator[Finding]:
    """``-Djava.security.egd=`` and ``-Djava.security.egd``: both count as not set."""
    if option.meant != line.EGD:
        return
    bare = option.value is None and "=" not in option.word.text
    if not bare and (option.value is None or option.value.text):
        return
    new, span = line.mended(settings, file, option)
    yield line.made(
        file,
        option.word.place()[0],
        message=f"{_shown(option)} without a value",
        does=f"{_shown(option)} has no value, which counts as not set: securerandom.source decides, on every JDK",
        cause=Cause.INEFFECTIVE_FIX,
        severity=Severity.NOTE,
        fixes=line.corrected(file, change.option_edits(file, option, new), new, Disposition.REVIEW),
        notes=line.unknown_note(span),
    )


def _old_jdk(settings: Settings) -> Iterator[Finding]:
    for seen in seed_values(settings):
        problem = seen.problem
        if (
            problem is None
            or problem.fault is not EgdFault.NO_EFFECT
            or seen.text != URL_URANDOM
            or not line.old_only(seen.span)
        ):
            continue
        yield line.made(
            seen.file,
            seen.start,
            message=f"{seen.setting}={seen.text} on {seen.span}",
            does=f"{seen.setting}={seen.text}: {problem.message} ({line.on_which(seen.span)})",
            cause=Cause.INEFFECTIVE_FIX,
            fixes=line.corrected(
                seen.file, seen.edits(problem.better), f"{seen.setting}={problem.better}"
            ),
        )


def _of_entry(file: ConfigFile, entry: SecurityEntry) -> Iterator[Finding]:
    """A name in a security properties file that is nearly one of ours."""
    name = entry.name.text
    wanted = meant_security(name)
    if not wanted or name == wanted:
        return
    system = name == line.EGD
    why = (
        "a system property: in this file it has no effect"
        if system
        else f"not the property that the JDK reads, {wanted}: it has no effect"
    )
    yield line.made(
        file,
        entry.name.place()[0],
        message=f"{name} in a security properties file",
        does=f"{name} is {why}, on every JDK",
        cause=Cause.INEFFECTIVE_FIX,
        fixes=line.corrected(file, change.swap(entry.name, wanted), wanted),
    )
