"""Write docs/man/*.1 from the program's help, in the macros of man(7).

.venv/bin/python scripts/manpages.py            write them
.venv/bin/python scripts/manpages.py --check    say which differ, and write nothing
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer
from typer.main import get_command

from seedstall.cli.app import COMMANDS, application
from seedstall.cli.examples import epilogue

FOLDER = Path(__file__).resolve().parents[1] / "docs/man"
DATE = "2026-12-01"
"""Of the pages' last change: the time of the build would make each build another."""


def pages() -> dict[str, str]:
    """Every page by its file's name."""
    program: Any = get_command(application())
    top = typer.Context(program, info_name="seedstall")
    made = {"seedstall.1": page(top, "")}
    for name in COMMANDS:
        command = program.get_command(top, name)
        made[f"seedstall-{name}.1"] = page(typer.Context(command, parent=top, info_name=name), name)
    return made


def page(context: typer.Context, name: str) -> str:
    """The page of one command, or of the program where *name* is empty."""
    command: Any = context.command
    title = f"seedstall-{name}" if name else "seedstall"
    first, *rest = (" ".join(p.split()) for p in command.help.split("\n\n"))
    lines = [
        '.\\" made by scripts/manpages.py from the help: change it there',
        f'.TH {escaped(title.upper())} 1 {DATE} seedstall "User commands"',
        *(".SH NAME", f"{escaped(title)} \\- {escaped(first[0].lower() + first[1:].rstrip('.'))}"),
        *(".SH SYNOPSIS", f".B {escaped(context.command_path)}"),
        text_line(" ".join(command.collect_usage_pieces(context))),
        *(".SH DESCRIPTION", text_line(first)),
    ]
    for paragraph in rest:
        lines += [".PP", text_line(paragraph)]
    lines += parameters(context)
    if not name:
        lines += [".SH COMMANDS", *commands(context)]
    for heading, told in epilogue(name):
        lines += [
            f".SH {heading.upper()}",
            *(literal(told) if heading == "Examples" else codes(told)),
        ]
    lines += [".SH SEE ALSO", *see_also(name)]
    return "\n".join(lines) + "\n"


def parameters(context: typer.Context) -> Iterator[str]:
    """Arguments and options, with what the help says of each."""
    command: Any = context.command
    for heading, kind in (("ARGUMENTS", "argument"), ("OPTIONS", "option")):
        records = [
            record
            for parameter in command.get_params(context)
            if parameter.param_type_name == kind
            and (record := parameter.get_help_record(context)) is not None
        ]
        if records:
            yield f".SH {heading}"
        for names, said in records:
            yield from (".TP", f".B {escaped(names)}", text_line(" ".join(said.split())))


def commands(context: typer.Context) -> Iterator[str]:
    """The list of the program's page."""
    program: Any = context.command
    for name in COMMANDS:
        said = program.get_command(context, name).get_short_help_str()
        yield from (".TP", f".BR seedstall\\-{escaped(name)} (1)", text_line(said))


def literal(lines: list[str]) -> list[str]:
    """Command lines, as they are typed."""
    return [".nf", *(text_line(line) for line in lines), ".fi"]


def codes(lines: list[str]) -> Iterator[str]:
    """The table of exit codes."""
    for line in lines:
        number, _, said = line.strip().partition("  ")
        yield from (".TP", f".B {number}", text_line(said))


def see_also(name: str) -> list[str]:
    """The other pages."""
    names = ["seedstall"] if name else [f"seedstall-{other}" for other in COMMANDS]
    last = len(names) - 1
    return [f".BR {escaped(n)} (1){',' if i < last else ''}" for i, n in enumerate(names)]


def text_line(text: str) -> str:
    """One line of text that no formatter takes for a request: those begin with a dot or an apostrophe."""
    line = escaped(text)
    return f"\\&{line}" if line.startswith((".", "'")) else line


def escaped(text: str) -> str:
    """What roff would turn into something else, as it is: ASCII alone, options that can be copied."""
    plain = (
        text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace('"', "\\(dq")
    )
    plain = plain.replace("`", "\\(ga").replace("^", "\\(ha").replace("~", "\\(ti")
    return re.sub(r"[^\x20-\x7e]", lambda found: f"\\[u{ord(found[0]):04X}]", plain)


def stale() -> Iterator[str]:
    """The pages that are not what the program would write, and those that it would not write at all."""
    made = pages()
    for name, text in made.items():
        path = FOLDER / name
        if not path.is_file() or path.read_text("utf-8") != text:
            yield name
    for path in FOLDER.glob("*"):
        if path.name not in made:
            yield path.name


def main() -> None:
    """Write, or check."""
    if "--check" in sys.argv[1:]:
        if found := sorted(stale()):
            message = f"not as the program would write them: {', '.join(found)}"
            raise SystemExit(message)
        return
    FOLDER.mkdir(exist_ok=True)
    for name, text in pages().items():
        (FOLDER / name).write_text(text, "utf-8")


if __name__ == "__main__":
    main()
