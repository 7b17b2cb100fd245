"""YAML and JSON that describe containers: Compose, Kubernetes, ECS task definitions, CI jobs, chart values."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from seedstall.knowledge.images import jdk_of_image, product_of_image
from seedstall.model.settings import Placed, Scope, Setting
from seedstall.parse.configfile import embedded, shellfile
from seedstall.parse.configfile.gather import Gathering
from seedstall.parse.configfile.words import lines, split, stripped
from seedstall.parse.configfile.yamltree import Listing, Node, Scalar, Table, documents

MAX_VISITS = 100_000
"""Nodes walked: an alias is walked each time it is met, and a bomb of them ends here."""
_OPTIONS_KEY = re.compile(
    r"(?:java|jvm|catalina|maven|mvn|gradle|kafka|jenkins|es|elasticsearch|cassandra|wildfly|jboss|extra|additional)"
    r"[a-z0-9_.-]{0,30}(?:opts?|options|args?|arguments|flags|params?|parameters)$|^_?java_(?:tool_)?options$",
    re.IGNORECASE,
)
CHART_LISTS = ("extraEnvVars", "extraEnv", "extraEnvs", "additionalEnv", "envVars")
"""Keys by which charts take further environment variables, the usual before the rare (Bitnami's is the first)."""
_SCRIPTS = frozenset(("run", "script", "before_script", "after_script", "entrypointScript"))
_INJECTORS = re.compile(
    r"instrumentation\.opentelemetry\.io/inject-java|admission\.datadoghq\.com/java-lib|dynatrace\.com/inject"
    r"|java-agent-injected|contrastsecurity|co\.elastic\.(?:apm|traces)|newrelic\.com|appdynamics|java-?agent[/.-]inject",
    re.IGNORECASE,
)
_LINE = re.compile(r"[ \t]*(?:-[ \t]+)?([A-Za-z_][A-Za-z0-9_.-]{0,80}):[ \t]+(\S.*)$")
SYS_ADMIN = frozenset(("SYS_ADMIN", "CAP_SYS_ADMIN", "ALL"))


@dataclass(frozen=True, slots=True)
class _Where:
    """What is known from above: the scope, the annotations of the pod, the document's kind, the parent's key."""

    scope: int
    injected: str = ""
    kind: str = ""
    key: str = ""
    above: str = ""
    depth: int = 0


def read(gathering: Gathering, whole: Placed, scope: int) -> None:
    """Take in a manifest; one that is no YAML (a chart's template) line by line, and said to be."""
    try:
        roots = documents(whole)
    except ValueError as error:
        what = "a template that a program fills in: " if "{{" in whole.text else ""
        gathering.problem(f"{what}{error}")
        _by_line(gathering, whole, scope)
        return
    walker = _Walker(gathering)
    for root in roots:
        own = gathering.scope(Scope()) if len(roots) > 1 else scope
        walker.walk(root, _Where(own, kind=_kind(root)))


def _kind(root: Node) -> str:
    found = root.scalar("kind") if isinstance(root, Table) else None
    return found.text if found is not None else ""


def _by_line(gathering: Gathering, whole: Placed, scope: int) -> None:
    for line in lines(whole):
        match = _LINE.match(line.text[:10_000])
        if match is None or line.text.lstrip().startswith("#"):
            continue
        value = stripped(line.part(match.start(2), match.end(2)), "\"' \t")
        gathering.variable(match[1], value, scope, Setting.BUILD)


class _Walker:
    """Goes through the tree, a bounded number of steps."""

    def __init__(self, gathering: Gathering) -> None:
        self.gathering = gathering
        self.visits = 0

    def walk(self, node: Node, where: _Where) -> None:
        self.visits += 1
        if self.visits > MAX_VISITS:
            self.gathering.problem("aliases that unfold to more nodes than are looked at")
            return
        if isinstance(node, Table):
            self.table(node, where)
        elif isinstance(node, Listing):
            for item in node.items:
                self.walk(item, where)
        elif _OPTIONS_KEY.search(where.key):
            self.gathering.variable(where.key, node.value, where.scope, Setting.BUILD)
            self.note_place(node, where.key)

    def note_place(self, node: Scalar, key: str) -> None:
        if not node.exact and "security" in node.value.text:
            self.gathering.problem(f"the places inside {key} (a folded text) are not known exactly")

    def table(self, table: Table, where: _Where) -> None:
        annotations = _annotations(table)
        where = replace(where, injected=annotations or where.injected, depth=where.depth + 1)
        if _is_container(table, where):
            where = replace(where, scope=self.container(table, where))
            self.commands(table, where.scope)
        elif isinstance(hook := table.get("command"), Listing):
            words = [i.value for i in hook.items if isinstance(i, Scalar)]
            self.gathering.command(words, where.scope, by_shell=False, start=False)
        if where.kind in ("ConfigMap", "Secret") and where.depth == 1:
            self.config_map(table, where.scope)
        for key, value in table.items():
            if key in ("env", "environment", "variables", *CHART_LISTS) or (
                key == "args" and where.key == "build"
            ):
                self.environment(value, where.scope, kubernetes=_kubernetes(table, where))
            elif key in _SCRIPTS:
                self.script(value, where.scope)
            elif key in ("command", "args", "entrypoint", "entryPoint", "annotations") or (
                where.kind in ("ConfigMap", "Secret") and key in ("data", "stringData")
            ):
                continue
            else:
                self.walk(value, replace(where, key=key, above=where.key))

    def container(self, table: Table, where: _Where) -> int:
        """The scope of a service or container."""
        image = table.scalar("image")
        name = table.scalar("name", "container_name")
        text = image.text if image is not None else ""
        sources = tuple(k for k in ("envFrom", "env_file", "environmentFiles") if table.get(k))
        return self.gathering.scope(
            Scope(
                name=name.text if name is not None else where.key,
                image=text,
                product=product_of_image(text),
                jdk=jdk_of_image(text),
                container=True,
                privileged=_privileged(table),
                injected=where.injected,
                sources=sources,
                taken=tuple(_taken(table)),
            )
        )

    def environment(self, node: Node, scope: int, *, kubernetes: bool) -> None:
        """``env:`` as a list of tables, a list of ``NAME=value`` or a table."""
        how = Setting.KUBERNETES if kubernetes else Setting.COMPOSE
        if isinstance(node, Table):
            for key, value in node.pairs:
                if isinstance(value, Scalar):
                    self.gathering.variable(
                        key.value.text,
                        value.value,
                        scope,
                        how,
                        exported=True,
                        label=key.value.place(),
                    )
            return
        for item in node.items if isinstance(node, Listing) else ():
            self.visits += 1
            if isinstance(item, Table):
                name, told = item.scalar("name"), item.scalar("value")
                if name is not None and told is not None:
                    self.gathering.variable(
                        name.text, told, scope, how, exported=True, label=name.place()
                    )
            elif isinstance(item, Scalar):
                name_text, equals, _ = item.value.text.partition("=")
                if equals:
                    rest = item.value.part(len(name_text) + 1, len(item.value.text))
                    self.gathering.variable(
                        name_text,
                        rest,
                        scope,
                        how,
                        exported=True,
                        label=item.value.place(0, len(name_text)),
                    )

    def script(self, node: Node, scope: int) -> None:
        """Shell text of a CI job: one text or a list of them."""
        items: Sequence[Node] = node.items if isinstance(node, Listing) else (node,)
        for item in items:
            self.visits += 1
            if isinstance(item, Scalar):
                shellfile.read(self.gathering, item.value, scope, start=True)

    def commands(self, table: Table, scope: int) -> None:
        """What a container runs: in Kubernetes command and args, elsewhere entrypoint and command."""
        if table.get("args") is not None or table.get("entrypoint", "entryPoint") is None:
            first, second = table.get("command"), table.get("args")
        else:
            first, second = table.get("entrypoint", "entryPoint"), table.get("command")
        parts: list[Placed] = []
        breaks: list[int] = []
        for node in (first, second):
            if isinstance(node, Listing):
                parts += [item.value for item in node.items if isinstance(item, Scalar)]
                breaks.append(len(parts))
            elif isinstance(node, Scalar) and not parts:
                shellfile.read(self.gathering, node.value, scope, start=True)
            elif isinstance(node, Scalar):
                parts += split(node.value)
                breaks.append(len(parts))
        inner = tuple(b for b in breaks[:-1] if 0 < b < len(parts))
        self.gathering.command(parts, scope, by_shell=False, start=True, lists=inner)

    def config_map(self, table: Table, scope: int) -> None:
        """A ConfigMap's keys: files by their names, variables by theirs."""
        data = table.get("data", "stringData")
        metadata = table.get("metadata")
        named = metadata.scalar("name") if isinstance(metadata, Table) else None
        if named is not None:
            scope = self.gathering.scope(Scope(name=named.text))
        for key, value in data.items() if isinstance(data, Table) else ():
            self.visits += 1
            if not isinstance(value, Scalar):
                continue
            if re.fullmatch("_?[A-Z][A-Z0-9_]*", key):
                self.gathering.variable(key, value.value, scope, Setting.KUBERNETES, exported=True)
            else:
                inner = self.gathering.scope(Scope(name=key))
                embedded.read(self.gathering, key, value.value, inner)
                self.note_place(value, key)


def containers(root: Node) -> Iterator[tuple[tuple[str | int, ...], Table, str]]:
    """Services and containers of a document: the path to each, its table, and the key that it stands under."""
    waiting: list[tuple[tuple[str | int, ...], Node, _Where]] = [
        ((), root, _Where(0, kind=_kind(root)))
    ]
    visits = 0
    while waiting and visits < MAX_VISITS:
        path, node, where = waiting.pop()
        visits += 1
        below: list[tuple[tuple[str | int, ...], Node, _Where]] = []
        if isinstance(node, Listing):
            below = [((*path, i), item, where) for i, item in enumerate(node.items)]
        elif isinstance(node, Table):
            if path and _is_container(node, where):
                yield path, node, where.key
            below = [
                ((*path, key), value, replace(where, key=key, above=where.key))
                for key, value in node.items()
            ]
        waiting += reversed(below)


def _taken(table: Table) -> Iterator[str]:
    """The ConfigMaps, Secrets and environment files that a container takes in whole."""
    for source in ("envFrom", "env_file"):
        node = table.get(source)
        for item in node.items if isinstance(node, Listing) else (node,):
            if isinstance(item, Scalar):
                yield item.value.text
            for key, ref in item.items() if isinstance(item, Table) else ():
                name = ref.scalar("name") if isinstance(ref, Table) else None
                if name is not None:
                    yield name.text
                elif key == "path" and isinstance(ref, Scalar):  # Compose 2.24: {path:, required:}
                    yield ref.value.text


def _annotations(table: Table) -> str:
    """The injector that a pod's annotations call for, in the table itself or its ``metadata``."""
    metadata = table.get("metadata")
    owner = metadata if isinstance(metadata, Table) else table
    template = table.get("template")
    found = owner.get("annotations")
    if found is None and isinstance(template, Table):
        return _annotations(template)
    for key, value in found.items() if isinstance(found, Table) else ():
        if _INJECTORS.search(key) and isinstance(value, Scalar) and value.value.text != "false":
            return key[:200]
    return ""


def _is_container(table: Table, where: _Where) -> bool:
    keys = {key for key, _ in table.items()}
    inside = ("containers", "initContainers", "containerDefinitions")
    if where.above == "services" or where.key in inside:
        return bool(
            keys & {"image", "command", "entrypoint", "args", "env", "environment", "build"}
        )
    return "image" in keys and bool(
        keys
        & {
            "command",
            "args",
            "entrypoint",
            "entryPoint",
            "env",
            "environment",
            "privileged",
            "name",
            "ports",
        }
    )


def _kubernetes(table: Table, where: _Where) -> bool:
    return (
        where.key in ("containers", "initContainers")
        or where.kind not in ("", "ConfigMap")
        or (table.get("args") is not None and where.key != "build")
    )


def _privileged(table: Table) -> bool:
    """Whether it gets CAP_SYS_ADMIN: containers do not unless they are told so."""
    flags = [table.scalar("privileged")]
    lists = [table.get("cap_add")]
    context = table.get("securityContext")
    if isinstance(context, Table):
        flags.append(context.scalar("privileged"))
        capabilities = context.get("capabilities")
        if isinstance(capabilities, Table):
            lists.append(capabilities.get("add"))
    linux = table.get("linuxParameters")
    if isinstance(linux, Table) and isinstance(capabilities := linux.get("capabilities"), Table):
        lists.append(capabilities.get("add"))
    if any(flag is not None and flag.text.lower() in ("true", "yes", "on") for flag in flags):
        return True
    return any(
        isinstance(item, Scalar) and item.value.text.upper() in SYS_ADMIN
        for found in lists
        if isinstance(found, Listing)
        for item in found.items
    )
