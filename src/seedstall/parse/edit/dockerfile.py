"""Dockerfiles: the option in the exec-form command of the last stage, else in its ``ENV JAVA_TOOL_OPTIONS``."""

from __future__ import annotations

from dataclasses import replace

from seedstall.model.settings import (
    Command,
    ConfigFile,
    Format,
    JdkSpan,
    SeedOption,
    Variable,
    placed,
)
from seedstall.parse.configfile.change import Splice
from seedstall.parse.configfile.dockerfile import instructions
from seedstall.parse.configfile.moved import TYPOGRAPHIC, straight_quotes
from seedstall.parse.edit import carriers
from seedstall.parse.edit.change import (
    NoPlaceError,
    Original,
    above,
    appended,
    checked,
    is_right,
    mended,
    original,
    removal,
    sealed,
    seed_options,
)
from seedstall.parse.edit.options import Edit
from seedstall.parse.edit.options import option as option_text
from seedstall.parse.setenv import COMMENT

NAME = "Dockerfile"
NO_JAVA = "nothing in it shows that a JVM runs in this image: see that it is the right file"


def jdk_span(data: bytes) -> JdkSpan | None:
    """The JDKs that the image of the last stage promises.

    Raises:
        ValueError: it is no Dockerfile.
    """
    file = original(NAME, data, Format.DOCKERFILE).file
    return next((j for s in above(file, _last_stage(file)) if (j := file.scopes[s].jdk)), None)


def set_egd(data: bytes, value: str, *, comment: str = COMMENT) -> Edit:
    """Set the seed source for the JVM that an image runs: what ``docker build`` makes without ``--target``.

    Settings that are there are put right where they stand. Else the option goes before ``-jar`` or the main class of an
    exec-form command, and where no command shows java, into ``ENV JAVA_TOOL_OPTIONS``, which keeps what the image and
    earlier stages have in it.

    Raises:
        ValueError: the file cannot be edited safely.
    """
    checked(value)
    before = original(NAME, data, Format.DOCKERFILE)
    repaired = _repaired(before, value, comment)
    if repaired is not None:
        return repaired
    file = before.file
    own = _last_stage(file)
    scopes = tuple(above(file, own))

    def mine(file: ConfigFile, option: SeedOption) -> bool:
        return carriers.in_container(file, option, scopes, own)

    found = seed_options(file, mine)
    wrong = [o for o in found if not is_right(o, value)]
    enough = any(carriers.is_read(file, o, own) for o in found)
    if enough and not wrong:
        return Edit(data, before.line(found[-1].word.place()[0]))
    lost = [] if enough else [o for o in found if carriers.is_lost(file, o, own)]
    edits = [removal(before.text, option) for option in lost]
    edits += [e for option in wrong if option not in lost for e in mended(before, option, value)]
    notes: tuple[str, ...] = ()
    if not enough:
        new, notes = _added(before, own, scopes, value, comment)
        edits += new
    return sealed(
        before,
        edits,
        value,
        replaced=[o for o in found if o in wrong or o in lost],
        notes=notes,
        mine=mine,
        moved=frozenset(_variables(file, found)) | {_variable(file, own)},
    )


def _repaired(before: Original, value: str, comment: str) -> Edit | None:
    """A command whose list has typographic quotes, which a shell takes as it stands: put right first.

    Raises:
        NoPlaceError: it is no list for another reason.
    """
    broken = [c.words[0] for c in before.file.commands if c.start and c.broken_list]
    if not broken:
        return None
    line = before.line(broken[0].place()[0])
    for edits in (
        [e for word in broken for e in _straight(before.text, *word.place())],
        [e for word in broken for e in straight_quotes(before.file, *word.place())],
    ):
        data = before.encoded(edits)
        file = original(NAME, data, Format.DOCKERFILE).file
        if edits and not any(c.broken_list for c in file.commands):
            note = f"line {line}: the quotes of the list were typographic, so a shell took it as it stands"
            again = set_egd(data, value, comment=comment)
            return replace(again, notes=(note, *again.notes))
    raise NoPlaceError(f"line {line} is meant as a list and is no valid JSON")


def _straight(text: str, start: int, end: int) -> list[Splice]:
    return [(at, at + 1, '"') for at in range(start, end) if text[at] in TYPOGRAPHIC]


def _last_stage(file: ConfigFile) -> int:
    """The scope of the last FROM.

    Raises:
        NoPlaceError: there is none.
    """
    stages = [i for i, scope in enumerate(file.scopes) if i and scope.container]
    if not stages:
        raise NoPlaceError("it has no FROM")
    return stages[-1]


def _variable(file: ConfigFile, own: int) -> str:
    scopes = tuple(above(file, own))
    image = next((file.scopes[s].image for s in scopes if file.scopes[s].image), "")
    names = (v.name for v in file.variables if v.scope in scopes and v.exported)
    return carriers.options_variable(image, names)


def _variables(file: ConfigFile, options: list[SeedOption]) -> list[str]:
    return [file.variables[o.variable].name for o in options if o.variable is not None]


def _added(
    before: Original, own: int, scopes: tuple[int, ...], value: str, comment: str
) -> tuple[list[Splice], tuple[str, ...]]:
    commands = carriers.started(before.file, own)
    name = _variable(before.file, own)
    known = carriers.last_named(before.file, scopes, name)
    if len(commands) == 1 and known is None and (edit := _in_command(before, commands[0], value)):
        return [edit], (_instead(before, commands[0], name),)
    if known is not None and known.scope == own:
        return _grown(before.text, known, value), ()
    kept = f"{name} is kept as the image below and earlier stages set it; one given at run time takes its place"
    unseen = () if _shows_java(before.file, scopes) else (NO_JAVA,)
    return [_env(before, name, value, comment)], (*unseen, kept)


def _shows_java(file: ConfigFile, scopes: tuple[int, ...]) -> bool:
    """Whether anything in the image's stages says that a JVM runs there."""
    for scope in scopes:
        image = file.scopes[scope].image
        if carriers.is_java_image(image):
            return True
    if any(c.launcher and c.scope in scopes for c in file.commands):
        return True
    return any(carriers.is_java_variable(v.name) for v in file.variables if v.scope in scopes)


def _instead(before: Original, command: Command, name: str) -> str:
    """What takes the command's place when a container is made of the image."""
    start = command.words[0].place()[0]
    keyword = ""
    for instruction in instructions(placed(before.text, 0, len(before.text))):
        if instruction.rest.outer[0] > start:
            break
        keyword = instruction.keyword
    what = "--entrypoint of docker run, entrypoint: in Compose, command: in Kubernetes"
    if keyword == "CMD":
        what = "docker run IMAGE COMMAND, command: in Compose, command: or args: in Kubernetes"
    return f"a command given at run time ({what}) takes the place of this one: there {name} is the place"


def _in_command(before: Original, command: Command, value: str) -> Splice | None:
    """The option right before ``-jar``, ``-m`` or the main class, in ENTRYPOINT where that starts java."""
    first = command.main_from
    if first is None or command.broken_list:
        return None
    right = option_text(value)
    ends = [end for end in command.lists if command.launcher_at < end <= first]
    if ends and carriers.is_list_word(before.file, command, ends[-1] - 1):
        at = command.words[ends[-1] - 1].outer[1]
        return at, at, f', "{right}"'
    at = command.words[first].outer[0]
    if carriers.is_list_word(before.file, command, first):
        return at, at, f'"{right}", '
    return (at, at, f"{right} ") if command.by_shell else None


def _grown(text: str, variable: Variable, value: str) -> list[Splice]:
    """The option at the end of a value, inside its quotes."""
    at = variable.value.place()[1]
    right = option_text(value)
    label = variable.label or variable.value.place()
    old_form = "=" not in text[label[1] : variable.value.outer[0]]
    if not variable.value.text:
        at += text[at : at + 2] in ('""', "''")
        return [(at, at, right)]
    if old_form or text[at : at + 1] in ('"', "'"):
        return [(at, at, f" {right}")]
    start = variable.value.place()[0]
    if set(text[start:at]) & set("\"'\\"):
        return [(at, at, f'" {right}"')]
    return [(start, start, '"'), (at, at, f' {right}"')]


def _env(before: Original, name: str, value: str, comment: str) -> Splice:
    """A new ENV before the last stage's ENTRYPOINT or CMD, else at its end."""
    rows = [comment] if comment else []
    rows.append(f'ENV {name}="${{{name}:-}} {option_text(value)}"')
    text = before.text
    begin = 0
    at: int | None = None
    for instruction in instructions(placed(text, 0, len(text))):
        line = text.rfind("\n", 0, instruction.rest.outer[0]) + 1
        if instruction.keyword == "FROM":
            begin, at = line, None
        elif instruction.keyword in ("ENTRYPOINT", "CMD") and at is None and line > begin:
            at = line
    if at is None:
        return appended(text, rows, before.newline)
    return at, at, "".join(row + before.newline for row in rows)
