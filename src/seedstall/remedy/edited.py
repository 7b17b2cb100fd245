"""A file that is edited: from what an editor of ``parse.edit`` makes of it to what is printed and written."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol

from seedstall.engine.conclude import fired
from seedstall.engine.need import Judgement, Need, egd_need
from seedstall.knowledge.seedsource import DRBG_SINCE, JEP_123
from seedstall.model.errors import SeedstallError
from seedstall.model.finding import Severity
from seedstall.model.jdk import JdkVersion
from seedstall.model.settings import JdkSpan
from seedstall.parse.edit.options import option
from seedstall.parse.setenv import COMMENT
from seedstall.remedy import place, value
from seedstall.remedy.place import Place
from seedstall.remedy.request import NEXT_START, Answer, Request
from seedstall.render import templates

HINDERING = frozenset(("SS205", "SS206", "SS211", "SS212"))
"""Rules of lint about a start that fails or loses its options, whatever the seed source: no edit mends that."""
MOST_LEFT = 3


class Edited(Protocol):
    """What an editor gives."""

    @property
    def content(self) -> bytes:
        """The whole new file."""
        ...

    @property
    def line(self) -> int:
        """Where the option stands."""
        ...

    @property
    def replaced(self) -> tuple[tuple[int, str], ...]:
        """What was put right."""
        ...

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be said."""
        ...


Editor = Callable[[bytes, str], Edited]
"""From a file's bytes and a value to the file with it."""


def answer(
    request: Request,
    where: Place,
    editor: Editor,
    *,
    patch_file: str,
    by_hand: str,
    then: str = "",
    notes: tuple[str, ...] = (),
    sets: str = "",
    why: str = "",
    judgement: Judgement | None = None,
) -> Answer:
    """The patch of one file.

    *by_hand* is what to write where the file cannot be edited, *then* the command after which it takes effect, *sets*
    what it sets where that is no seed source, and *why* the second line of the patch's head.

    Raises:
        SeedstallError: the file cannot be edited safely.
    """
    try:
        edit = editor(where.content or b"", request.egd)
    except ValueError as error:
        message = f"{where.path}: {error}"
        raise SeedstallError(message, f"by hand: {by_hand}") from error
    content = _comment(request, edit.content, where.content or b"")
    if content == where.content:
        at = f" (line {edit.line})" if edit.line else ""
        return Answer(
            reason=f"{where.path} sets {sets or request.egd} already{at}",
            notes=(*edit.notes, *_left(where, content)),
        )
    judged = judgement if judgement is not None else egd_need(request.case, request.egd)
    # A wrong setting in this very file is put right even where another place makes up for it now.
    if not edit.replaced or judged.need is Need.USELESS:
        nothing = value.refused(request, judged)
        if nothing is not None:
            return nothing
    replaced = tuple(f"line {number}: {old} goes" for number, old in edit.replaced)
    left = _left(where, content)
    told = (*replaced, *left, *edit.notes, *notes, *(value.about(request) if not why else ()))
    return place.patched(
        request,
        where,
        content,
        tuple(dict.fromkeys((*told, *value.told(judged)))),
        patch_file=patch_file,
        why=why,
        then=(f"it takes effect with: {then}" if then else NEXT_START,),
    )


def _left(where: Place, content: bytes) -> tuple[str, ...]:
    """What still keeps the JVM from its options, or from starting, in the file as it will be (``seedstall lint``)."""
    from seedstall.engine.lint import lint_case  # noqa: PLC0415 - its rules, where a file is edited
    from seedstall.model.evidence import Ask, Ref, Space  # noqa: PLC0415
    from seedstall.source.base import Held  # noqa: PLC0415

    name = where.path
    listing = name.encode("utf-8", "surrogateescape") + b"\0"
    held = Held({Ref(Space.INPUT, "", Ask.LIST): listing, Ref(Space.INPUT, name): content})
    found = [
        (code, finding)
        for code, finding in fired(lint_case(held, name).outcomes)
        if code in HINDERING and finding.severity >= Severity.WARNING
    ]
    told = dict.fromkeys(
        f"{code}, line {f.evidence[0].origin.rpartition(':')[2]}: {f.notes[0]}" for code, f in found
    )
    return tuple(told)[:MOST_LEFT]


def _comment(request: Request, content: bytes, old: bytes) -> bytes:
    """The comment above the setting, true for the value below it."""
    true = value.comment(request)
    if true == COMMENT or old == content:
        return content
    return content.replace(COMMENT.encode(), true.encode())


def text(
    request: Request,
    template: str,
    *notes: str,
    judgement: Judgement | None = None,
    **params: object,
) -> Answer:
    """What to write by hand, where no file can be looked at: a template of the surface, and why it is that."""
    judged = judgement if judgement is not None else egd_need(request.case, request.egd)
    nothing = value.refused(request, judged)
    if nothing is not None:
        return nothing
    made = templates.render(template, egd=request.egd, **params)
    told = (*notes, *value.about(request), *value.told(judged))
    return Answer(made.encode("utf-8", "backslashreplace"), notes=told)


def by_hand(request: Request) -> str:
    """The option itself."""
    return option(request.egd)


def with_jdk(request: Request, span: JdkSpan | None) -> Request:
    """The request with the JDK that a file names, where one stands for all that it may be."""
    if span is None:
        return request
    newest = 99 if span.newest is None else span.newest
    if newest < JEP_123 or span.oldest >= DRBG_SINCE or span.oldest == newest:
        return replace(request, named_jdk=JdkVersion(span.oldest, span.update))
    return replace(request, named_jdk=JdkVersion(JEP_123)) if span.oldest >= JEP_123 else request
