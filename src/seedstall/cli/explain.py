"""``seedstall explain``: the page of a rule, the list of rules, the schema of the report."""

from __future__ import annotations

from typing import Annotated

import typer

from seedstall.cli.completion import rules as rules_named
from seedstall.cli.console import put, tell
from seedstall.model.errors import UsageError


def explain(
    code: Annotated[
        str,
        typer.Argument(
            metavar="[CODE]",
            help="A rule's code (SS101) or name (blocking-seed).",
            autocompletion=rules_named,
        ),
    ] = "",
    *,
    schema: Annotated[
        bool, typer.Option("--schema", help="Print the report's JSON Schema.")
    ] = False,
) -> None:
    """Print the page of a rule; without CODE the list of rules."""
    if schema:
        import json  # noqa: PLC0415

        from seedstall.render.schema import schema as report_schema  # noqa: PLC0415

        put(json.dumps(report_schema(), indent=2) + "\n")
        return
    from seedstall.rules import ALL, lint  # noqa: PLC0415

    # A code that lint shares with diagnose has one page: the rule's on a live JVM.
    rules = sorted({r.code: r for r in (*lint.ALL, *ALL)}.values(), key=lambda r: r.code)
    if not code:
        put(
            "".join(f"{r.code}  {r.name:<28} {r.page.splitlines()[0]}\n" for r in rules).replace(
                "``", ""
            )
        )
        return
    wanted = code.lower()
    for rule in rules:
        if wanted in (rule.code.lower(), rule.name):
            tell(f"# {rule.code} {rule.name}\n\n{rule.page}\n".replace("``", "`"))
            return
    message = f"no rule is called {code}"
    raise UsageError(message, "seedstall explain lists them")
