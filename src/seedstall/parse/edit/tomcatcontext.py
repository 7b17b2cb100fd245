"""Tomcat's own alternative: the generator of its session ids, named in ``conf/context.xml``.

``secureRandomAlgorithm`` of ``<Manager>`` is SHA1PRNG where nothing is set, which seeds itself from the JDK's seed
source (apache/tomcat ``SessionIdGeneratorBase``, 7.0.8 and later; a nested ``<SessionIdGenerator>`` has its own from 8
on). ``NativePRNGNonBlocking`` reads /dev/urandom alone (JDK 8 and later).
"""

from __future__ import annotations

from seedstall.parse.configfile.change import Splice
from seedstall.parse.edit.change import NoPlaceError, plain_text
from seedstall.parse.edit.options import Edit
from seedstall.parse.edit.xmlplaces import Element, attribute, new_child, root, set_attribute

ALGORITHM = "secureRandomAlgorithm"
NON_BLOCKING = "NativePRNGNonBlocking"


def set_algorithm(data: bytes, algorithm: str = NON_BLOCKING) -> Edit:
    """Name *algorithm* for the session ids of every web application that a ``context.xml`` is for.

    Raises:
        ValueError: the file cannot be edited safely, or names a class of its own for the generator.
    """
    text = plain_text(data)
    document = root(text.text)
    if document.name != "Context":
        raise NoPlaceError(f"its root is <{document.name}>, not <Context>")
    manager = document.child("Manager")
    if manager is None:
        inner = f'<Manager {ALGORITHM}="{attribute(algorithm)}"/>'
        edits: list[Splice] = [new_child(text.text, document, (), inner, text.newline)]
        return text.edited(edits, algorithm, [])
    target = manager.child("SessionIdGenerator") or manager
    for element in (manager, target):
        if named := element.attributes.get("secureRandomClass"):
            raise NoPlaceError(
                f"{named} is the generator of the session ids there, which has no algorithms"
            )
    edit = set_attribute(text.text, target, ALGORITHM, algorithm)
    replaced = _replaced(target) if edit is not None else []
    return text.edited([edit] if edit is not None else [], algorithm, replaced)


def _replaced(element: Element) -> list[tuple[int, str]]:
    held = element.attributes.get(ALGORITHM)
    return [] if held is None else [(element.start, f'{ALGORITHM}="{held}"')]
