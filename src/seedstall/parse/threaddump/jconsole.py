"""What JConsole shows of one thread, as people copy it out of its window: ``Name:``, ``State:``, ``Stack trace:``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from seedstall.model.threads import JavaThread
from seedstall.parse.text import Lines, Text, shown
from seedstall.parse.threaddump import section
from seedstall.parse.threaddump.section import Piece, Section

_HEADER = re.compile(
    rb"^[ \t>]{0,20}Name: ([^\n]{1,1000})\n[ \t>]{0,20}State: ([A-Z_]{3,13})\b([^\n]{0,2000})\n"
    rb"[ \t>]{0,20}Total blocked: [^\n]{0,200}\n(?:[ \t>]*\n)?(?:[ \t>]{0,20}Stack trace:[^\n]{0,80})?",
    re.MULTILINE,
)


def sections(text: Text, origin: str) -> Iterator[Section]:
    """The threads that *text* shows so; one after the other they are one look at the JVM."""
    lines = Lines(text)
    for pieces in section.apart(_pieces(text.data, lines)):
        dump = section.dump_of(
            origin, pieces, pieces[0].thread.line, whole=False, form="JConsole", lists_all=False
        )
        yield Section(pieces[0].start, pieces[-1].end, dump)


def _pieces(data: bytes, lines: Lines) -> Iterator[Piece]:
    headers = list(_HEADER.finditer(data))
    for index, match in enumerate(headers):
        limit = headers[index + 1].start() if index + 1 < len(headers) else len(data)
        end = section.end_of_stack(data, match.end(), limit)
        line = lines.at(match.start())
        stack = section.objects_as_hotspot(data[match.end() + 1 : end])
        read, frames = section.stack_of(stack, lines, match.end() + 1)
        state = match[2].decode()
        locks = section.told_acts(read.locks, frames, state)
        thread = JavaThread(
            shown(match[1].strip()), frames, locks, state=state, line=line, cut=read.cut
        )
        yield Piece(match.start(), end, thread, section.is_doubtful(read) and not read.cut)
