"""Texts inside texts: a log collector's JSON, a journal's export, a mail's parts, what was encoded to be sent.

Each form is told by its content and undone by its own rules, where a guess by the look of the lines would leave a rest
of the envelope in a thread's name. Line numbers stay those of what was handed over.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Final

from seedstall.parse.text import Text

_DEPTH: Final = 3
"""A base64 part of a mail that holds a collector's JSON is two deep."""
_HEAD: Final = 64 << 10
_MAIL_HEAD: Final = 4096
_MAIL_LINES: Final = 2


def opened(text: Text, depth: int = _DEPTH) -> Text:
    """What *text* holds, where it is such a container; else *text* itself. Never raises."""
    for _ in range(depth):
        undo = _form(text.data[:_HEAD], text.data)
        if undo is None:
            return text
        inner = undo(text)
        if inner is text:
            return text
        text = inner
    return text


def _form(head: bytes, data: bytes) -> Callable[[Text], Text] | None:
    """The form of *data*, told by its *head*; each is loaded only for such a text."""
    from importlib import import_module  # noqa: PLC0415 - only for a text with signs of one

    for is_one, name in _FORMS:
        if is_one(head, data):
            module, _, function = name.partition(".")
            undo: Callable[[Text], Text] = getattr(
                import_module(f"seedstall.parse.container.{module}"), function
            )
            return undo
    return None


_DOCKERS: Final = b'\n{"log"'
_EXPORT_MARK: Final = b"__REALTIME_TIMESTAMP="
_FAR: Final = 1 << 20


@cache
def _jsons() -> re.Pattern[bytes]:
    return re.compile(rb'^[ \t]*+(?:\{"|\{ "|")', re.MULTILINE)


@cache
def _pieces() -> re.Pattern[bytes]:
    """A line of a container runtime (CRI) that says that it goes on in the next."""
    return re.compile(
        rb"^\d{4}-\d\d-\d\dT[\d:.,]{8,24}(?:Z|[+-]\d\d:?\d\d) std(?:out|err) P ", re.MULTILINE
    )


@cache
def _mail_headers() -> re.Pattern[bytes]:
    return re.compile(
        rb"^(?:From|To|Cc|Subject|Date|Message-ID|MIME-Version|Return-Path|Received|Delivered-To"
        rb"|Content-Type|Content-Transfer-Encoding|Reply-To|Sender|X-[\w-]{1,40}):[ \t]",
        re.MULTILINE | re.IGNORECASE,
    )


def _is_mail(head: bytes) -> bool:
    """Whether *head* begins with a mail's header lines, and says how its body is encoded or parted."""
    start = head[:_MAIL_HEAD].lstrip(b"\n")
    if start.startswith(b"From "):
        start = start.partition(b"\n")[2]
    if not _mail_headers().match(start):
        return False
    many = len(_mail_headers().findall(start)) >= _MAIL_LINES
    low = head.lower()
    return many and (b"\nmime-version:" in low or b"\ncontent-t" in low)


@cache
def _encoded() -> re.Pattern[bytes]:
    return re.compile(rb"[ \t\n]*+(?:[A-Za-z0-9+/]{60,76}\n){3,}+|[ \t\n]*+[A-Za-z0-9+/]{4000,}+")


def _is_base64(head: bytes) -> bool:
    return _encoded().match(head) is not None


@cache
def _soft_breaks() -> re.Pattern[bytes]:
    return re.compile(rb"[^\n=]=\n")


def is_quoted_printable(sample: bytes) -> bool:
    """Whether lines go on after a ``=`` at their end, and signs are written ``=3D``: options have no such lines."""
    if b"=3D" not in sample:
        return False
    return b"tid=3D0x" in sample or _soft_breaks().search(sample) is not None


def _is_json(head: bytes) -> bool:
    return b'"' in head and _jsons().search(head) is not None


def _are_objects(head: bytes, data: bytes) -> bool:
    from seedstall.parse.container.jsonlines import is_jsonlines  # noqa: PLC0415 - see above

    if _is_json(head) and is_jsonlines(head):
        return True
    # A node that was moved from Docker to another runtime has the logs of both.
    at = data.find(_DOCKERS)
    return at >= 0 and is_jsonlines(data[at + 1 : at + _HEAD])


def _are_strings(head: bytes, _data: bytes) -> bool:
    from seedstall.parse.container.jsonlines import is_strings  # noqa: PLC0415 - see above

    return _is_json(head) and is_strings(head)


def _is_document(_head: bytes, data: bytes) -> bool:
    if data[:400].lstrip()[:1] not in (b"[", b"{"):
        return False
    from seedstall.parse.container.jsonlines import is_document  # noqa: PLC0415 - see above

    return is_document(data)


def _are_pieces(head: bytes, data: bytes) -> bool:
    return bool(_pieces().search(head) or _pieces().search(data, 0, _FAR))


@cache
def _cells() -> re.Pattern[bytes]:
    return re.compile(
        rb'(?:^|[,;\t])"[ \t]{0,80}(?:""[^"\n]{1,200}""|[^"\n]{0,4}at [\w.$/]{1,300}\([^()"\n]{1,100}\)")',
        re.MULTILINE,
    )


def _is_csv(head: bytes) -> bool:
    """Whether a thread's name stands in doubled quotes in a cell, or a frame is one by itself."""
    return b'"' in head and _cells().search(head) is not None


def _near_thread(data: bytes) -> bytes:
    at = data.find(b"tid=3D0x")
    return data[max(0, at - 1000) : at + 1000] if at >= 0 else b""


_FORMS: Final[tuple[tuple[Callable[[bytes, bytes], bool], str], ...]] = (
    (lambda head, _: _is_mail(head), "mail.parts"),
    (lambda head, _: _is_base64(head), "base64text.decoded"),
    (lambda head, _: b"\nMESSAGE" in head and _EXPORT_MARK in head, "journal.messages"),
    (_are_objects, "jsonlines.messages"),
    (_are_strings, "jsonlines.strings"),
    (_is_document, "jsonlines.document"),
    (_are_pieces, "cri.whole_lines"),
    (lambda head, _: _is_csv(head), "csvtext.cells"),
    (
        lambda head, data: is_quoted_printable(head) or is_quoted_printable(_near_thread(data)),
        "quotedprintable.decoded",
    ),
)
