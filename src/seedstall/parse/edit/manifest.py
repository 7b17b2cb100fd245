"""Compose files and Kubernetes manifests: the option in a container's environment, where it stands in the YAML or JSON.

The text is changed at the places of PyYAML's events: comments, order, quotes and line ends stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from seedstall.knowledge.images import jdk_of_image
from seedstall.model.settings import (
    Command,
    ConfigFile,
    Format,
    JdkSpan,
    Scope,
    SeedOption,
    placed,
)
from seedstall.parse.configfile.change import Splice
from seedstall.parse.configfile.manifest import containers
from seedstall.parse.configfile.yamltree import Listing, Node, Scalar, Table, documents
from seedstall.parse.edit import carriers, yamltext
from seedstall.parse.edit.change import (
    NoPlaceError,
    Original,
    anywhere,
    checked,
    is_right,
    mended,
    original,
    removal,
    sealed,
    seed_options,
    stretch,
)
from seedstall.parse.edit.options import Edit
from seedstall.parse.edit.options import option as option_text

MAX_CONTAINERS = 200
"""That are edited at once: a file with more is no one program's."""


@dataclass(frozen=True, slots=True)
class Container:
    """A service of Compose or a container of a pod, and where it stands in the file.

    ``path`` leads to it: the index of its document, then keys and indices. ``kind`` and ``object`` are those of the
    Kubernetes object around it, ``""`` in Compose. ``init`` is true for one that only prepares the others.
    """

    name: str
    path: tuple[str | int, ...]
    table: Table
    kind: str = ""
    object: str = ""
    init: bool = False

    @property
    def image(self) -> str:
        """Its image, ``""`` where none is named."""
        found = self.table.scalar("image")
        return found.text if found is not None else ""

    @property
    def variable(self) -> str:
        """The variable by which options reach its JVM."""
        return carriers.options_variable(self.image, _variable_names(self), self.kind)

    @property
    def environment(self) -> tuple[str, Node] | None:
        """The key of its environment and what it holds."""
        for key, value in self.table.items():
            if key in ("env", "environment"):
                return key, value
        return None

    @property
    def span(self) -> tuple[int, int]:
        """Its place in the text."""
        return self.table.span

    def holds(self, option: SeedOption) -> bool:
        """Whether an option stands inside it."""
        return self.span[0] <= option.word.place()[0] < self.span[1]


def found(text: str) -> list[Container]:
    """The containers of a manifest, in its order.

    Raises:
        ValueError: it is no YAML.
    """
    roots = documents(placed(text, 0, len(text)))
    rows: list[Container] = []
    for index, root in enumerate(roots):
        kind, name = _object(root)
        for path, table, key in containers(root):
            named = table.scalar("name", "container_name")
            own = path[-1] if isinstance(path[-1], str) else ""
            title = own if own and named is None else named.text if named is not None else own
            rows.append(
                Container(title or own, (index, *path), table, kind, name, key == "initContainers")
            )
    return rows


def _object(root: Node) -> tuple[str, str]:
    if not isinstance(root, Table):
        return "", ""
    kind, metadata = root.scalar("kind"), root.get("metadata")
    name = metadata.scalar("name") if isinstance(metadata, Table) else None
    return (kind.text if kind is not None else "", name.text if name is not None else "")


def set_egd(data: bytes, value: str, *, container: str = "") -> Edit:
    """Set the seed source in the environment of each container that shows a JVM, or of the one called *container*.

    Raises:
        ValueError: the file cannot be edited safely, or does not tell which container is meant.
    """
    checked(value)
    before = original("manifest.yaml", data, Format.MANIFEST)
    chosen = choose(before, container)
    if len(chosen) > MAX_CONTAINERS:
        raise NoPlaceError(f"{len(chosen)} containers show a JVM: name one")
    options = seed_options(before.file)
    roots = documents(placed(before.text, 0, len(before.text)))
    parts = [_part(before, roots, options, here, value) for here in chosen]
    edits = [edit for part in parts for edit in part.edits]
    if not edits:
        places = [part.held[-1].word.place()[0] for part in parts if part.held]
        return Edit(data, before.line(max(places)) if places else 0)
    here_too = _Inside({part.container.path for part in parts})
    done = sealed(
        before,
        edits,
        value,
        replaced=[option for part in parts for option in part.wrong],
        notes=tuple(dict.fromkeys(note for part in parts for note in part.notes)),
        mine=anywhere if any(part.outside for part in parts) else here_too.holds,
        moved=frozenset(name for part in parts for name in part.touched),
    )
    _see_each(done.content, parts)
    return done


def _see_each(data: bytes, parts: Sequence[_Part]) -> None:
    """Each container has the option in the end.

    Raises:
        NoPlaceError: one has not.
    """
    after = original("manifest.yaml", data, Format.MANIFEST)
    options = seed_options(after.file)
    now = {c.path: c for c in found(after.text)}
    for part in parts:
        here = now.get(part.container.path)
        if part.outside or (here is not None and any(here.holds(o) for o in options)):
            continue
        raise NoPlaceError(f"no place was found where {part.container.name} is sure to get it")


class _Inside:
    """Whether an option stands in one of some containers; the file is taken apart once."""

    def __init__(self, paths: set[tuple[str | int, ...]]) -> None:
        self.paths = paths
        self.known: tuple[str, list[Container]] | None = None

    def holds(self, file: ConfigFile, option: SeedOption) -> bool:
        if self.known is None or self.known[0] is not file.text:
            self.known = file.text, [c for c in found(file.text) if c.path in self.paths]
        return any(c.holds(option) for c in self.known[1])


def choose(before: Original, name: str = "") -> list[Container]:
    """The containers that are meant.

    Raises:
        NoPlaceError: there is none, or the file does not tell which.
    """
    every = [c for c in found(before.text) if not c.init]
    if name:
        named = [c for c in found(before.text) if c.name == name]
        if not named:
            raise NoPlaceError(f"no container or service is called {name!r}: {_names(every)}")
        return named
    if not every:
        raise NoPlaceError("it has no container and no service")
    java = [c for c in every if shows_java(before.file, c)]
    if not java and len(every) > 1:
        raise NoPlaceError(f"which container runs java is not told: {_names(every)}")
    return java or every


def _names(every: Sequence[Container]) -> str:
    return f"there are {', '.join(dict.fromkeys(c.name or '(no name)' for c in every))}"


def shows_java(file: ConfigFile, container: Container) -> bool:
    """Whether anything in it says that it runs a JVM."""
    image = container.image.lower()
    if any(container.holds(o) for o in file.options):
        return True
    if carriers.is_companion(image):
        return False
    if carriers.is_java_image(image):
        return True
    if any(_within(container, c) and c.launcher for c in file.commands):
        return True
    return any(carriers.is_java_variable(name) for name in _variable_names(container))


def _variable_names(container: Container) -> Iterator[str]:
    held = container.environment
    node = held[1] if held is not None else None
    if isinstance(node, Table):
        yield from (key for key, _ in node.items())
    for item in node.items if isinstance(node, Listing) else ():
        if isinstance(item, Table) and (name := item.scalar("name")) is not None:
            yield name.text
        elif isinstance(item, Scalar):
            yield item.value.text.partition("=")[0]


def jdk_span(data: bytes, *, container: str = "") -> JdkSpan | None:
    """The JDKs that the images promise; ``None`` where they differ or none tells.

    Raises:
        ValueError: as of `set_egd`.
    """
    before = original("manifest.yaml", data, Format.MANIFEST)
    spans = {jdk_of_image(c.image) for c in choose(before, container)}
    return spans.pop() if len(spans) == 1 else None


# One container


@dataclass(frozen=True, slots=True)
class _Part:
    """What becomes of one container. ``outside`` is true where its variable comes from another object of the file."""

    container: Container
    held: Sequence[SeedOption]
    wrong: Sequence[SeedOption]
    edits: Sequence[Splice]
    notes: tuple[str, ...]
    outside: bool
    touched: frozenset[str]


def _part(
    before: Original,
    roots: Sequence[Node],
    options: Sequence[SeedOption],
    container: Container,
    value: str,
) -> _Part:
    file = before.file
    source = _brought(roots, container, container.variable)
    held = [o for o in options if container.holds(o)]
    if source is not None and not held:
        held = [o for o in options if _in_scalar(source, o)]
    wrong = [o for o in held if not is_right(o, value)]
    enough = any(carriers.is_read(file, o, o.scope) for o in held)
    lost = [] if enough else [o for o in held if carriers.is_lost(file, o, o.scope)]
    edits = [removal(before.text, option) for option in lost if _goes(before.text, option)]
    edits += [e for option in wrong if option not in lost for e in mended(before, option, value)]
    wrong = [o for o in held if o in wrong or o in lost]
    notes: tuple[str, ...] = ()
    outside = source is not None and any(_in_scalar(source, o) for o in held)
    if not enough:
        new, notes, outside = _added(before, source, container, value)
        edits += new
    names = {file.variables[o.variable].name for o in held if o.variable is not None}
    return _Part(
        container, held, wrong, edits, notes, outside, frozenset((container.variable, *names))
    )


def _goes(text: str, option: SeedOption) -> bool:
    """Whether an option can be taken out of its value: of a plain scalar it may be all that there is."""
    start, end = stretch(text, option)
    return text[start - 1 : start] in (" ", '"', "'") and text[end : end + 1] in (" ", '"', "'")


def _in_scalar(scalar: Scalar, option: SeedOption) -> bool:
    start, end = scalar.value.outer
    return start <= option.word.place()[0] < end


def _added(
    before: Original, source: Scalar | None, container: Container, value: str
) -> tuple[list[Splice], tuple[str, ...], bool]:
    """The change that adds it, what is to be said, and whether it stands outside of the container."""
    name = container.variable
    here = f"{container.name or 'the container'}: "
    entry = _entry(container, name)
    if entry is not None and entry.value is not None:
        _own(before, container, entry.value.value.outer[0])
        return _grown(before, entry, value), (), False
    if source is not None:
        note = f"{here}{name} comes from a ConfigMap of this file: the option is added to it there"
        return [yamltext.grown(before.text, source, option_text(value))], (note,), True
    if entry is not None and entry.source:
        commands = carriers.started(before.file, _scope(before, container))
        if len(commands) == 1 and (edit := _in_command(before, commands[0], value)):
            note = f"{here}{name} comes from {entry.source}, which is not seen: it stays, and the command has it"
            return [edit], (note,), False
        raise NoPlaceError(
            f"{name} of {container.name} comes from {entry.source}: what it holds is not in this file; add"
            f" {option_text(value)} to it there"
        )
    notes = [_unseen_note(before, container, name, here)]
    return _new_entry(before, container, name, option_text(value)), tuple(notes), False


@dataclass(frozen=True, slots=True)
class _Entry:
    """One variable of an environment: its value as a scalar, or where else it comes from."""

    value: Scalar | None
    source: str = ""
    item: bool = False
    """``NAME=value`` in one scalar."""


def _entry(container: Container, name: str) -> _Entry | None:
    """What the environment says of *name*; of several entries the last one counts."""
    held = container.environment
    node = held[1] if held is not None else None
    last: _Entry | None = None
    if isinstance(node, Table):
        value = node.get(name)
        if isinstance(value, Scalar):
            last = _Entry(value)
    for item in node.items if isinstance(node, Listing) else ():
        if isinstance(item, Scalar) and item.value.text.partition("=")[0] == name:
            last = _Entry(item, item=True)
        elif isinstance(item, Table) and _is_named(item, name):
            last = _table_entry(item)
    return last


def _is_named(item: Table, name: str) -> bool:
    found_name = item.scalar("name")
    return found_name is not None and found_name.text == name


def _table_entry(item: Table) -> _Entry:
    value = item.get("value")
    if isinstance(value, Scalar):
        return _Entry(value)
    source = item.get("valueFrom")
    if isinstance(source, Table) and source.pairs:
        key, inner = source.pairs[0]
        which = inner.scalar("name") if isinstance(inner, Table) else None
        where = f"{key.value.text} {which.text}" if which is not None else key.value.text
        return _Entry(None, where)
    return _Entry(None, "an entry without a value")


def _own(before: Original, container: Container, at: int) -> None:
    """Refuse to change what an anchor shares with others."""
    if not container.span[0] <= at < container.span[1]:
        line = before.line(at)
        raise NoPlaceError(
            f"the environment of {container.name} comes from the anchor at line {line}, which others may share"
        )


def _grown(before: Original, entry: _Entry, value: str) -> list[Splice]:
    scalar = entry.value
    if scalar is None:
        return []
    option = option_text(value)
    text = scalar.value.text
    if entry.item and "=" not in text:
        # Compose hands on the variable of the shell that runs it.
        return [yamltext.instead(scalar, f"{text}=${{{text}:-}} {option}")]
    if not entry.item and not text and not scalar.style:
        name = _key_of(before.text, scalar)
        return [yamltext.instead(scalar, f"${{{name}:-}} {option}" if name else option)]
    return [yamltext.grown(before.text, scalar, option)]


def _key_of(text: str, scalar: Scalar) -> str:
    """The key before an empty value in Compose, which then hands on the caller's variable; Kubernetes does not."""
    at = scalar.value.outer[0]
    row = text[text.rfind("\n", 0, at) + 1 : at]
    match = re.search(r"([A-Z_][A-Z0-9_]*)[ \t]*:[ \t]*$", row)
    return match[1] if match else ""


def _brought(roots: Sequence[Node], container: Container, name: str) -> Scalar | None:
    """The variable in a ConfigMap of the same file, where the container takes that in whole or this key of it."""
    for source, key in _taken_from(container, name):
        for root in roots:
            if _object(root) == ("ConfigMap", source) and isinstance(root, Table):
                held = root.get("data")
                value = held.get(key) if isinstance(held, Table) else None
                if isinstance(value, Scalar):
                    return value
    return None


def _taken_from(container: Container, name: str) -> Iterator[tuple[str, str]]:
    """The ConfigMaps, and their keys, by which the container gets the variable; the strongest first."""
    held = container.environment
    for item in held[1].items if held is not None and isinstance(held[1], Listing) else ():
        if isinstance(item, Table) and _is_named(item, name):
            source = item.get("valueFrom")
            ref = source.get("configMapKeyRef") if isinstance(source, Table) else None
            if isinstance(ref, Table):
                yield _text(ref, "name"), _text(ref, "key")
    every = container.table.get("envFrom")
    for item in every.items[::-1] if isinstance(every, Listing) else ():
        ref = item.get("configMapRef") if isinstance(item, Table) else None
        if isinstance(item, Table) and isinstance(ref, Table):
            prefix = _text(item, "prefix")
            if name.startswith(prefix):
                yield _text(ref, "name"), name.removeprefix(prefix)


def _text(table: Table, key: str) -> str:
    found_value = table.scalar(key)
    return found_value.text if found_value is not None else ""


def _unseen_note(before: Original, container: Container, name: str, here: str) -> str:
    """What may set the variable besides, and cannot be seen in the file."""
    sources = [k for k in ("envFrom", "env_file", "environmentFiles") if container.table.get(k)]
    if sources:
        return (
            f"{here}{sources[0]} may bring {name} too, which this file does not show, and this entry takes its place:"
            f" look into the running container (printenv {name}) and repeat what it prints before the option"
        )
    scope = _scope_of(before.file, container)
    if scope is not None and scope.injected:
        return (
            f"{here}an injector ({scope.injected}) adds options of its own when the pod is made, which this file does"
            f" not show: see that {name} of the new pod holds both"
        )
    return (
        f"{here}if the image itself sets {name}, this entry takes its place: docker image inspect shows it"
        " (Config.Env); repeat it before the option"
    )


def _scope_of(file: ConfigFile, container: Container) -> Scope | None:
    return next(
        (s for s in file.scopes if s.container and s.name == container.name and s.name), None
    )


def _scope(before: Original, container: Container) -> int:
    """The scope of the commands inside the container, -1 where there are none."""
    return next((c.scope for c in before.file.commands if _within(container, c)), -1)


def _within(container: Container, command: Command) -> bool:
    return bool(command.words) and (
        container.span[0] <= command.words[0].place()[0] < container.span[1]
    )


def _in_command(before: Original, command: Command, value: str) -> Splice | None:
    first = command.main_from
    if first is None:
        return None
    start, end = command.words[first].outer
    text = before.text
    if command.by_shell:
        return start, start, f"{option_text(value)} "
    line = text.rfind("\n", 0, start) + 1
    dash = re.fullmatch(r"([ \t]*-[ \t]+)", text[line:start])
    if dash:
        return line, line, f"{dash[1]}{option_text(value)}{before.newline}"
    flow = text[start:end][:1] in "\"'" or text[end : end + 1] in ",]"
    return (start, start, f'"{option_text(value)}", ') if flow else None


def _new_entry(before: Original, container: Container, name: str, new: str) -> list[Splice]:
    """A new variable in the container's environment, which is made where there is none."""
    editor = yamltext.Editor(before.text, before.newline)
    held = container.environment
    if held is None:
        if container.table.get("<<") is not None:
            raise NoPlaceError(
                f"{container.name} takes keys from an anchor (<<), and whether an environment is among them is not"
                " followed"
            )
        listed = _kubernetes(container)
        return [editor.new_environment(container.table, name, new, listed=listed)]
    key, node = held
    if isinstance(node, Scalar):
        if node.value.text not in ("", "null", "~"):
            raise NoPlaceError(f"{key} of {container.name} is no list")
        return [editor.instead_of_nothing(node, name, new, listed=key == "env")]
    _own(before, container, node.span[0])
    if isinstance(node, Table):
        return [editor.new_pair(node, name, " ".join(filter(None, (_merged(node, name), new))))]
    plain = isinstance(node.items[-1], Scalar) if node.items else key == "environment"
    if plain:
        return [editor.new_item(node, f"{name}={new}")]
    return [editor.new_entry(node, name, new)]


def _merged(table: Table, name: str) -> str:
    """The value that an anchor (``<<``) brings, which an entry of its own takes the place of."""
    brought = table.get("<<")
    tables = brought.items if isinstance(brought, Listing) else [brought]
    return next((_text(t, name) for t in tables if isinstance(t, Table) and _text(t, name)), "")


def _kubernetes(container: Container) -> bool:
    return any(
        step in ("containers", "initContainers", "containerDefinitions") for step in container.path
    )


# A patch for the API server


@dataclass(frozen=True, slots=True)
class Strategic:
    """What a strategic-merge patch says of one object: ``path`` leads to its containers.

    ``values`` are container, variable and the variable's whole new value: lists of variables are merged by name, the
    value is replaced (Kubernetes API conventions, ``patchMergeKey: name``).
    """

    kind: str
    name: str
    path: tuple[str, ...]
    values: tuple[tuple[str, str, str], ...]
    notes: tuple[str, ...] = ()


def strategic(data: bytes, value: str, *, container: str = "") -> tuple[Strategic, ...]:
    """The patches that set it in running objects of a manifest, one each object; none where all is right already.

    Raises:
        ValueError: as of `set_egd`; or the option goes where no such patch reaches (a command, a ConfigMap).
    """
    edit = set_egd(data, value, container=container)
    before = original("manifest.yaml", data, Format.MANIFEST)
    after = original("manifest.yaml", edit.content, Format.MANIFEST)
    chosen = {c.path for c in choose(before, container)}
    old = {c.path: c for c in found(before.text)}
    grouped: dict[tuple[str | int, ...], list[Container]] = {}
    for here in found(after.text):
        if here.path in chosen and _value(here) != _value(old[here.path]):
            grouped.setdefault(here.path[:-1], []).append(here)
    if not grouped and edit.content != data:
        raise NoPlaceError(
            "the option goes into a command or a ConfigMap: no patch of variables reaches that"
        )
    made: list[Strategic] = []
    for path, changed in grouped.items():
        first = changed[0]
        if not first.kind or not first.object:
            raise NoPlaceError("it names no kind and object of Kubernetes")
        values = tuple((c.name, c.variable, _value(c)) for c in changed)
        keys = tuple(str(step) for step in path[1:])
        made.append(Strategic(first.kind, first.object, keys, values, edit.notes))
    return tuple(made)


def _value(container: Container) -> str:
    entry = _entry(container, container.variable)
    return entry.value.value.text if entry is not None and entry.value is not None else ""
