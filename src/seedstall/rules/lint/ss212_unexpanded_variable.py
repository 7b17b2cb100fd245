"""SS212: a variable in a place where nobody expands it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from seedstall.model.finding import Confidence, Disposition, Finding, Severity
from seedstall.model.rule import rule
from seedstall.model.settings import Command, ConfigFile, Format, Setting, Settings, Variable
from seedstall.model.verdict import Cause
from seedstall.parse.configfile import change
from seedstall.rules.lint import line

_OPTIONS = re.compile(r"(?:OPTS|OPTIONS|ARGS|FLAGS|JAVA_MEM|PARAMS)$")
_WHERE = {
    Setting.UNIT: "systemd expands nothing in Environment=",
    Setting.ENVIRONMENT_FILE: "no shell reads this file (systemd's EnvironmentFile), so nothing is expanded",
    Setting.KUBERNETES: "Kubernetes expands $(NAME) alone, never $NAME",
}
_READ_BY_THE_JVM = frozenset(("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS"))
_API_OBJECT = re.compile(r"^[ \t{]*\"?apiVersion\"?[ \t]*:", re.MULTILINE)
_DOT_ENV = re.compile(r"\.env$|(?:^|/)\.?env(?:\.[^/]*)?$")
_KUBERNETES = re.compile(r"\$\(([A-Za-z_][A-Za-z0-9_]*)\)")
_REFERENCE = re.compile(r"\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))")


@rule("SS212", "unexpanded-variable")
def unexpanded_variable(settings: Settings) -> Iterator[Finding]:
    """A variable is named where nobody puts its value in.

    ## What it detects
    ``JAVA_OPTS="$JAVA_OPTS -D..."`` in a systemd ``Environment=`` or EnvironmentFile (``/etc/sysconfig/tomcat``,
    ``/etc/tomcat/tomcat.conf``), or in a Kubernetes ``value:``; ``$JAVA_OPTS`` in the JSON form of ENTRYPOINT and CMD,
    or in a pod's ``command`` and ``args``; ``$(NAME)`` of a name that no earlier entry sets.

    ## Why it matters
    The text itself is handed on: java takes ``$JAVA_OPTS`` for its main class, and what the variable held before is
    lost. In ``JAVA_TOOL_OPTIONS`` it keeps every JVM from starting (``Unrecognized option: $(JAVA_TOOL_OPTIONS)``).

    ## Fix
    Leave the name out, and write down the whole value; in Kubernetes ``$(NAME)``; in a Dockerfile ``sh -c``, or
    ``JAVA_TOOL_OPTIONS``, which the JVM reads itself.
    """
    for file in settings.files:
        for index, variable in enumerate(file.variables):
            if (
                variable.how is Setting.KUBERNETES
                and (lost := _unresolved(file, index)) is not None
            ):
                yield lost
            named = variable.how in _WHERE and any(map(_is_options, variable.literal))
            if named and _holds_options(variable):
                yield _in_value(file, variable, index)
        for command in file.commands:
            found = _in_list(file, command)
            if found is not None:
                yield found


def _is_options(name: str) -> bool:
    return _OPTIONS.search(name) is not None


def _holds_options(variable: Variable) -> bool:
    return _is_options(variable.name) or " -" in variable.value.text


def _defined_before(file: ConfigFile, index: int, name: str) -> bool:
    """Whether Kubernetes knows *name* there: an earlier entry, or ``envFrom``."""
    variable = file.variables[index]
    scope = file.scopes[variable.scope]
    if scope.sources or not scope.container:
        return True
    return any(
        v.name == name and v.scope == variable.scope
        for v in file.variables[max(0, index - 500) : index]
    )


def _unresolved(file: ConfigFile, index: int) -> Finding | None:
    """``$(NAME)`` of a name that nothing before it sets: it stays as it stands."""
    variable = file.variables[index]
    for match in _KUBERNETES.finditer(variable.value.text):
        if not _is_options(match[1]) or _defined_before(file, index, match[1]):
            continue
        start, end = variable.value.place(match.start(), match.end())
        blanks = len(variable.value.text[match.end() :]) - len(
            variable.value.text[match.end() :].lstrip()
        )
        end = variable.value.place(match.start(), match.end() + blanks)[1]
        fatal = variable.name in _READ_BY_THE_JVM
        injected = bool(file.scopes[variable.scope].injected)
        stays = (
            "Kubernetes leaves the text as it stands, and the JVM does not start (Unrecognized option)"
            if fatal
            else "Kubernetes leaves the text as it stands"
        )
        return line.made(
            file,
            start,
            message=f"{match[0]} in {variable.name}, which nothing sets before",
            does=(
                f"{match[0]} names no earlier entry of this container (the image's variables do not count): {stays},"
                " unless something that is injected sets it first"
            ),
            cause=Cause.INEFFECTIVE_FIX,
            severity=Severity.WARNING if fatal and not injected else Severity.NOTE,
            confidence=Confidence.LIKELY if fatal and not injected else Confidence.POSSIBLE,
            fixes=line.corrected(
                file, [(start, end, "")], "the value without the name", Disposition.REVIEW
            ),
        )
    return None


def _in_value(file: ConfigFile, variable: Variable, index: int) -> Finding:
    text = variable.value.text
    match = next(m for m in _REFERENCE.finditer(text) if _is_options(m[1] or m[2]))
    name = match[1] or match[2]
    start = variable.value.place(match.start(), match.end())[0]
    if variable.how is Setting.KUBERNETES and _defined_before(file, index, name):
        edit = (*variable.value.place(match.start(), match.end()), f"$({name})")
        title = f"$({name}), which an earlier entry sets"
    else:
        stop = match.end()
        while stop < len(text) and text[stop] in " \t":
            stop += 1
        edit = (*variable.value.place(match.start(), stop), "")
        title = "the value without the name"
    # Docker hands such a file on as it stands, Compose (2.24 and later) fills it in from its own surroundings.
    perhaps = variable.how is Setting.ENVIRONMENT_FILE and _DOT_ENV.search(file.name) is not None
    where = "docker run expands nothing in this file" if perhaps else _WHERE[variable.how]
    return line.made(
        file,
        start,
        message=f"{match[0]} in {variable.name}, which nobody expands",
        does=(
            f"{where}: the text {match[0]} itself reaches java, which takes it for the main class or the program's"
            " name"
        ),
        cause=Cause.INEFFECTIVE_FIX,
        severity=Severity.NOTE if perhaps else Severity.WARNING,
        confidence=Confidence.POSSIBLE if perhaps else Confidence.LIKELY,
        fixes=line.corrected(file, [edit], title, Disposition.REVIEW),
        notes=(f"what {name} was set to elsewhere is replaced, not added to",)
        if name == variable.name
        else (),
    )


def _in_list(file: ConfigFile, command: Command) -> Finding | None:
    """``["java", "$JAVA_OPTS", "-jar", ...]``: no shell expands it. Compose fills it in from its own surroundings."""
    kubernetes = file.format is Format.MANIFEST and _API_OBJECT.search(file.text) is not None
    if command.by_shell or command.launcher != "java":
        return None
    if not kubernetes and file.format is not Format.DOCKERFILE:
        return None
    for word in command.words:
        match = _REFERENCE.fullmatch(word.text)
        if match is None or not _is_options(match[1] or match[2]):
            continue
        start = word.place()[0]
        return line.made(
            file,
            start,
            message=f"{word.text} in a list, which nobody expands",
            does=(
                f"{word.text} stands in {'a list' if kubernetes else 'the JSON form'}, which no shell reads: java gets"
                " the text itself and takes it for the main class or a file's name"
            ),
            cause=Cause.INEFFECTIVE_FIX,
            severity=Severity.WARNING,
            fixes=line.corrected(
                file, _through_shell(file, command), "through a shell", Disposition.REVIEW
            ),
            notes=(
                "JAVA_TOOL_OPTIONS is read by the JVM itself and needs no place on the command line",
            ),
        )
    return None


def _through_shell(file: ConfigFile, command: Command) -> list[change.Splice]:
    """``["sh", "-c", "exec java $JAVA_OPTS ..."]``, where the words need no quoting."""
    if command.lists or not command.words:
        return []
    texts = [w.text for w in command.words]
    if any(not re.fullmatch(r"[A-Za-z0-9_./:=@%+,${}-]+", t) for t in texts):
        return []
    start, end = command.words[0].outer[0], command.words[-1].outer[1]
    if file.text[start : start + 1] != '"':
        return []
    return [(start, end, f'"sh", "-c", "exec {" ".join(texts)}"')]
