"""SS211: a setting that never gets from where it stands to the JVM."""

from __future__ import annotations

import re
from collections.abc import Iterator

from seedstall.knowledge.seedsource import DRBG_SINCE
from seedstall.knowledge.spelling import close
from seedstall.model.finding import Confidence, Disposition, Finding, Severity
from seedstall.model.kernel import KernelRandom
from seedstall.model.rule import rule
from seedstall.model.settings import (
    UNKNOWN,
    Command,
    ConfigFile,
    Reach,
    Scope,
    SeedOption,
    Setting,
    Settings,
    Variable,
)
from seedstall.model.verdict import Cause
from seedstall.parse.configfile.launched import base
from seedstall.rules.lint import line

READ_BY_JVM = frozenset(
    (
        "JAVA_TOOL_OPTIONS",
        "_JAVA_OPTIONS",
        "JDK_JAVA_OPTIONS",
        "OPENJ9_JAVA_OPTIONS",
        "IBM_JAVA_OPTIONS",
    )
)
"""The variables that a JVM or the ``java`` launcher looks at itself."""
_ENVIRONMENT = frozenset(
    (Setting.DOCKER, Setting.KUBERNETES, Setting.COMPOSE, Setting.UNIT, Setting.ENVIRONMENT_FILE)
)
_SERVER_CONF = re.compile(r"(?:^|/)(?:standalone|domain)\.conf$")
_SLIPS = re.compile(r"TOOL|^_JAVA|^JDK_JAVA")


@rule("SS211", "setting-dropped")
def setting_dropped(settings: Settings, kernel: KernelRandom | None) -> Iterator[Finding]:
    """A setting stands where a start script or the JVM does not pick it up, or takes the place of a script's own.

    ## What it detects
    ``JAVA_OPTS`` beside a plain ``java -jar app.jar`` that does not name it (Spring Boot's executable jars);
    ``JDK_JAVA_OPTIONS`` on JDK 8; ``JAVA_TOOL_OPTS`` and other names that nobody reads; ``JAVA_OPTS`` exported to
    Keycloak's kc.sh, whose own ``-Djava.security.egd=file:/dev/urandom`` is then left out; ``JAVA_OPTS`` exported to
    WildFly, or set in ``standalone.conf`` without ``$JAVA_OPTS``, which replaces all defaults there.

    ## Why it matters
    The JVM reads ``JAVA_TOOL_OPTIONS``, ``JDK_JAVA_OPTIONS`` (the launcher of 9 and later) and ``_JAVA_OPTIONS``;
    every other variable is a start script's affair (keycloak/keycloak kc.sh, wildfly/wildfly-core standalone.conf).

    ## Fix
    A variable that is read: ``JAVA_TOOL_OPTIONS``, Keycloak's ``JAVA_OPTS_APPEND``, WildFly's ``PREPEND_JAVA_OPTS``.
    """
    for file in settings.files:
        carriers = _carriers(file)
        for index, options in carriers.items():
            yield from _unread(settings, file, file.variables[index], options[0])
        for index, variable in enumerate(file.variables):
            if variable.name == "JAVA_OPTS":
                yield from _replacing(file, variable, carriers.get(index, []), kernel)


def _carriers(file: ConfigFile) -> dict[int, list[SeedOption]]:
    """The variables that hold seed options."""
    found: dict[int, list[SeedOption]] = {}
    for option in file.options:
        if option.variable is not None and option.reach is Reach.JVM:
            found.setdefault(option.variable, []).append(option)
    return found


def _unread(
    settings: Settings, file: ConfigFile, variable: Variable, option: SeedOption
) -> Iterator[Finding]:
    if variable.how in (Setting.BUILD, Setting.BATCH):
        return
    if variable.name == "JDK_JAVA_OPTIONS":
        span = line.jdk_span(settings, file, variable.scope)
        if span is not None and span.newest is not None and span.newest < DRBG_SINCE:
            why = f"JDK_JAVA_OPTIONS is read by java itself from 9 on only ({line.on_which(span)})"
            yield _renamed(file, variable, option, why, "JAVA_TOOL_OPTIONS", Confidence.CONFIRMED)
        return
    if variable.name in READ_BY_JVM:
        return
    if _SLIPS.search(variable.name) and any(close(variable.name, n) for n in READ_BY_JVM):
        if not _used(file, variable):
            right = next(n for n in READ_BY_JVM if close(variable.name, n))
            why = f"no JVM reads {variable.name}: it is called {right}"
            yield _renamed(file, variable, option, why, right, Confidence.LIKELY)
        return
    command = _plain_java(file, variable)
    if command is not None and not _used(file, variable):
        at = command.words[max(0, command.launcher_at)].place()[0]
        number = line.line_of(file, at)
        why = f"the JVM does not read {variable.name}, and the command at line {number} does not name it"
        yield _renamed(file, variable, option, why, "JAVA_TOOL_OPTIONS", Confidence.LIKELY, at)


def _renamed(
    file: ConfigFile,
    variable: Variable,
    option: SeedOption,
    why: str,
    name: str,
    confidence: Confidence,
    command_at: int | None = None,
) -> Finding:
    edits = [(*variable.label, name)] if variable.label is not None else []
    return line.made(
        file,
        option.word.place()[0],
        message=f"{option.word.text} in {variable.name}, which nobody hands on",
        does=f"{why}; {option.word.text} has no effect",
        cause=Cause.INEFFECTIVE_FIX,
        confidence=confidence,
        fixes=line.corrected(file, edits, name, Disposition.REVIEW),
        also=(line.evidence(file, command_at),) if command_at is not None else (),
    )


def _used(file: ConfigFile, variable: Variable) -> bool:
    """Whether a command or another variable's value names it."""
    name = variable.name
    if any(name in c.refs for c in file.commands):
        return True
    return any(name in v.refs and v.name != name for v in file.variables)


def _plain_java(file: ConfigFile, variable: Variable) -> Command | None:
    """The command that starts java there by itself; ``None`` where a script may, which reads what it likes."""
    own = set(_below(file, variable.scope))
    started = [c for c in file.commands if c.scope in own and c.start and c.words]
    if variable.how is Setting.SHELL and any(_opaque(c) for c in started):
        return None
    direct = [c for c in started if _is_direct(c)]
    if variable.how is not Setting.SHELL and len(direct) < len(started):
        return None
    return direct[-1] if direct else None


def _below(file: ConfigFile, scope: int) -> Iterator[int]:
    """A scope and those that begin from it."""
    for index in range(len(file.scopes)):
        at: int | None = index
        for _ in range(50):
            if at is None or at == scope:
                break
            at = file.scopes[at].parent
        if at == scope:
            yield index


def _is_direct(command: Command) -> bool:
    if command.launcher != "java" or command.broken_list:
        return False
    if command.launcher_at < 0:
        return True
    word = command.words[command.launcher_at].text
    return base(word) == "java" or UNKNOWN in word


def _opaque(command: Command) -> bool:
    """Another script, or a command that only the run tells: it may read any variable that is exported."""
    first = command.words[0].text
    if command.launcher == "java":
        return not _is_direct(command)
    return (
        first in (".", "source", "exec", "eval")
        or first.endswith(".sh")
        or UNKNOWN in first
        or "$" in first
    )


# What takes the place of a script's own settings


def _replacing(
    file: ConfigFile, variable: Variable, options: list[SeedOption], kernel: KernelRandom | None
) -> Iterator[Finding]:
    if "JAVA_OPTS" in variable.refs or f"$({variable.name})" in variable.value.text:
        return
    product = _product(file, variable.scope)
    outside = variable.how in _ENVIRONMENT or (variable.how is Setting.SHELL and variable.exported)
    if product == "keycloak" and outside:
        if not any(o.meant == line.EGD for o in options):
            yield _keycloak(file, variable, kernel)
    elif product == "wildfly" and outside and options:
        yield _wildfly(file, variable, options[0])
    elif _SERVER_CONF.search(file.name) and options and not variable.guarded:
        yield _server_conf(file, variable, options[0])


def _product(file: ConfigFile, scope: int) -> str:
    above: list[Scope] = list(line.scopes_above(file, scope))
    return next((s.product for s in above if s.product), "")


def _keycloak(file: ConfigFile, variable: Variable, kernel: KernelRandom | None) -> Finding:
    harmless = kernel is not None and kernel.can_block is False
    edits = [(*variable.label, "JAVA_OPTS_APPEND")] if variable.label is not None else []
    return line.made(
        file,
        variable.label[0] if variable.label is not None else variable.value.place()[0],
        message="JAVA_OPTS handed to Keycloak, which drops kc.sh's own seed setting",
        does=(
            "JAVA_OPTS replaces kc.sh's defaults, -Djava.security.egd=file:/dev/urandom among them: seeding reads"
            " /dev/random again, on every JDK"
        ),
        cause=Cause.HARMFUL_FIX,
        severity=Severity.NOTE if harmless else Severity.WARNING,
        confidence=Confidence.LIKELY,
        fixes=line.corrected(
            file, edits, "JAVA_OPTS_APPEND, which adds to the defaults", Disposition.REVIEW
        ),
    )


def _wildfly(file: ConfigFile, variable: Variable, option: SeedOption) -> Finding:
    edits = [(*variable.label, "PREPEND_JAVA_OPTS")] if variable.label is not None else []
    return line.made(
        file,
        option.word.place()[0],
        message="JAVA_OPTS handed to WildFly, which replaces the defaults of standalone.conf",
        does=(
            f"{option.word.text} does take effect, but JAVA_OPTS from outside replaces every default of standalone.conf"
            " (heap, metaspace, jboss.modules.system.pkgs)"
        ),
        cause=Cause.HARMFUL_FIX,
        confidence=Confidence.LIKELY,
        fixes=line.corrected(
            file, edits, "PREPEND_JAVA_OPTS, which adds to the defaults", Disposition.REVIEW
        ),
    )


def _server_conf(file: ConfigFile, variable: Variable, option: SeedOption) -> Finding:
    at = variable.value.place()[0]
    return line.made(
        file,
        option.word.place()[0],
        message="JAVA_OPTS set anew in the server's configuration",
        does=(
            f"{option.word.text} does take effect, but JAVA_OPTS is set without $JAVA_OPTS: every default that the file"
            " has set is lost"
        ),
        cause=Cause.HARMFUL_FIX,
        confidence=Confidence.LIKELY,
        fixes=line.corrected(file, [(at, at, "$JAVA_OPTS ")], "added to $JAVA_OPTS"),
    )
