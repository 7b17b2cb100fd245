"""How the commands show their help: first sentences whole, then examples and exit codes; and what a shell completes."""

from __future__ import annotations

from typing import Any

from typer.core import TyperCommand, TyperGroup


def _epilogue(name: str, formatter: Any) -> None:
    from seedstall.cli.examples import epilogue  # noqa: PLC0415 - for the help alone

    for title, lines in epilogue(name):
        with formatter.section(title):
            formatter.write("".join(f"{'':{formatter.current_indent}}{line}\n" for line in lines))


class Command(TyperCommand):
    """A command of the program."""

    def get_short_help_str(self, limit: int = 0) -> str:  # noqa: ARG002 - the library's signature
        """The whole first sentence, which is wrapped: the library would cut it with an ellipsis."""
        return super().get_short_help_str(10_000)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - the library's signature
        """Examples and exit codes: lines of their own, that nothing may wrap or join."""
        _epilogue(self.name or "", formatter)


class Group(TyperGroup):
    """The program."""

    def format_epilog(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - the library's signature
        """Examples."""
        _epilogue("", formatter)
