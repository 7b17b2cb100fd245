"""Build files that sign: Maven's jarsigner plugin in a ``pom.xml``, Ant's ``<signjar>`` in a ``build.xml``.

The plugin forks the ``jarsigner`` program and hands ``<arguments>`` on as they are (apache/maven-jarsigner
``JarSignerCommandLineBuilder``); Ant runs it too and makes ``-J-Dkey=value`` of a nested ``<sysproperty>`` (apache/ant
``AbstractJarSignerTask``). The options of Maven's or Ant's own JVM reach neither.
"""

from __future__ import annotations

from collections.abc import Iterator

from seedstall.parse.configfile import decode
from seedstall.parse.configfile.change import Splice
from seedstall.parse.configfile.seedword import EGD
from seedstall.parse.edit.change import NoPlaceError, checked, plain_text
from seedstall.parse.edit.options import Edit
from seedstall.parse.edit.options import option as option_text
from seedstall.parse.edit.xmlplaces import Element, attribute, new_child, root, set_attribute

PLUGIN = "maven-jarsigner-plugin"
_TOOL = "jarsigner"
_MARKS = (f"-J-D{EGD}=", f"-D{EGD}=")


def signs_with_maven(data: bytes) -> bool:
    """Whether a pom configures the jarsigner plugin."""
    try:
        return bool(_plugins(root(decode(data))))
    except ValueError:
        return False


def set_in_pom(data: bytes, value: str) -> Edit:
    """Hand the seed source to the jarsigner of Maven's plugin, in its ``<arguments>``.

    Raises:
        ValueError: the file cannot be edited safely, or does not have the plugin.
    """
    checked(value)
    text = plain_text(data)
    plugins = _plugins(root(text.text))
    if not plugins:
        raise NoPlaceError(f"it does not configure {PLUGIN}")
    held = [a for p in plugins for a in p.walk() if a.name == "arguments"]
    option = f"-J{option_text(value)}"
    edits: list[Splice] = []
    if held:
        for arguments in held:
            edits += _in_arguments(text.text, arguments, option, text.newline)
    else:
        plugin = next((p for p in plugins if not _managed(p)), plugins[0])
        inner = f"<argument>{attribute(option)}</argument>"
        configuration = plugin.child("configuration")
        if configuration is not None:
            edits.append(new_child(text.text, configuration, ("arguments",), inner, text.newline))
        else:
            names = ("configuration", "arguments")
            edits.append(new_child(text.text, plugin, names, inner, text.newline))
    return text.edited(edits, value, _replaced(held, option))


def _plugins(document: Element) -> list[Element]:
    return [e for e in document.walk() if e.name == "plugin" and e.content("artifactId") == PLUGIN]


def _managed(plugin: Element) -> bool:
    return any(e.name == "pluginManagement" for e in plugin.above())


def _in_arguments(text: str, arguments: Element, option: str, newline: str) -> Iterator[Splice]:
    """The option among the arguments of one configuration: put right, or a new one."""
    found = [a for a in arguments.children if a.text.strip().startswith(_MARKS)]
    for argument in found:
        if argument.text.strip() != option:
            yield argument.inside, argument.close, attribute(option)
    if not found:
        yield new_child(text, arguments, (), f"<argument>{attribute(option)}</argument>", newline)


def _replaced(held: list[Element], option: str) -> list[tuple[int, str]]:
    return [
        (a.start, a.text.strip())
        for arguments in held
        for a in arguments.children
        if a.text.strip().startswith(_MARKS) and a.text.strip() != option
    ]


def set_in_ant(data: bytes, value: str) -> Edit:
    """Hand the seed source to each ``<signjar>`` of an Ant file, and to a jarsigner that ``<exec>`` runs.

    Raises:
        ValueError: the file cannot be edited safely, or signs nothing.
    """
    checked(value)
    text = plain_text(data)
    document = root(text.text)
    signing = [e for e in document.walk() if e.name == "signjar"]
    running = [e for e in document.walk() if e.name == "exec" and _runs_jarsigner(e)]
    if not signing and not running:
        raise NoPlaceError("it has no <signjar>")
    edits: list[Splice] = []
    replaced: list[tuple[int, str]] = []
    for task in signing:
        edits += _in_signjar(text.text, task, value, text.newline, replaced)
    for task in running:
        edits += _in_exec(text.text, task, value, text.newline, replaced)
    return text.edited(edits, value, replaced)


def _runs_jarsigner(task: Element) -> bool:
    return task.attributes.get("executable", "").replace("\\", "/").rpartition("/")[2] in (
        _TOOL,
        f"{_TOOL}.exe",
    )


def _in_signjar(
    text: str, task: Element, value: str, newline: str, replaced: list[tuple[int, str]]
) -> Iterator[Splice]:
    found = False
    for child in task.children:
        if child.name == "sysproperty" and child.attributes.get("key") == EGD:
            found = True
            edit = set_attribute(text, child, "value", value)
            if edit is not None:
                replaced.append((child.start, f"{EGD}={child.attributes.get('value', '')}"))
                yield edit
        elif child.name == "arg":
            edit = _argument(text, child, value, replaced)
            if edit is not None:
                yield edit
    if not found:
        inner = f'<sysproperty key="{EGD}" value="{attribute(value)}"/>'
        yield new_child(text, task, (), inner, newline)


def _in_exec(
    text: str, task: Element, value: str, newline: str, replaced: list[tuple[int, str]]
) -> Iterator[Splice]:
    own = [c for c in task.children if c.name == "arg"]
    held = [c for c in own if c.attributes.get("value", "").startswith(_MARKS)]
    for child in held:
        edit = _argument(text, child, value, replaced)
        if edit is not None:
            yield edit
    if not held:
        inner = f'<arg value="{attribute(f"-J{option_text(value)}")}"/>'
        yield new_child(text, task, (), inner, newline)


def _argument(
    text: str, child: Element, value: str, replaced: list[tuple[int, str]]
) -> Splice | None:
    """``<arg value="-J-Djava.security.egd=..."/>`` put right."""
    held = child.attributes.get("value", "")
    if not held.startswith(_MARKS):
        return None
    edit = set_attribute(text, child, "value", f"-J{option_text(value)}")
    if edit is not None:
        replaced.append((child.start, held))
    return edit
