"""Write the parts of docs/ that are made from the program: a page for each rule and surface, their lists, the schema.

.venv/bin/python scripts/pages.py            write them
.venv/bin/python scripts/pages.py --check    say which differ, and write nothing
"""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from seedstall.knowledge.surfaces import SURFACES, Group, Surface
from seedstall.model.finding import Fix
from seedstall.model.rule import Rule
from seedstall.remedy.registry import answering
from seedstall.render.fixes import render_fix
from seedstall.render.schema import schema
from seedstall.rules import ALL, lint

ROOT = Path(__file__).resolve().parents[1]
MADE = "<!-- made by scripts/pages.py from the program: change it there -->\n\n"
GROUPS = (
    ("1", "Seeding stalls"),
    ("2", "Settings"),
    ("3", "Host and kernel"),
    ("4", "Lock contention"),
    ("5", "Other causes of a slow start"),
)


def pages() -> dict[str, str]:
    """Every made page by its path below ``docs/``."""
    rules = every_rule()
    made = {f"rules/{rule.code}.md": rule_page(rule) for rule in rules}
    made["rules/index.md"] = rule_list(rules)
    made |= {f"surfaces/{surface.name}.md": surface_page(surface) for surface in SURFACES}
    made["surfaces/index.md"] = surface_list()
    made["report.schema.json"] = json.dumps(schema(), indent=2) + "\n"
    made["adding-a-rule.md"] = adding_a_rule()
    return made


def every_rule() -> tuple[Rule, ...]:
    """Those of ``diagnose`` and of ``lint``; a code that both share has one page, the rule's on a live JVM."""
    return tuple(
        sorted({r.code: r for r in (*lint.ALL, *ALL)}.values(), key=lambda rule: rule.code)
    )


def rule_page(rule: Rule) -> str:
    """The page that ``seedstall explain CODE`` prints, and who looks for it."""
    asked = [r for r in (*ALL, *lint.ALL) if r.code == rule.code]
    who = " and ".join(f"`seedstall {'lint' if r in lint.ALL else 'diagnose'}`" for r in asked)
    page = rule.page.replace("``", "`")
    return f"{MADE}# {rule.code} {rule.name}\n\n{page}\n\n---\n\nLooked for by {who}.\n"


def rule_list(rules: tuple[Rule, ...]) -> str:
    """The table of contents of the rules, by hundreds."""
    text = MADE + "# The rules\n\n`seedstall explain CODE` prints the same pages.\n"
    for digit, title in GROUPS:
        text += f"\n## {title}\n\n| code | name | says |\n|---|---|---|\n"
        text += "".join(row(rule) for rule in rules if rule.code[2] == digit)
    return text


def row(rule: Rule) -> str:
    """One line of the list."""
    first = rule.page.splitlines()[0].replace("``", "`")
    return f"| [{rule.code}]({rule.code}.md) | `{rule.name}` | {first} |\n"


EXAMPLE = {
    "egd": "file:/dev/urandom",
    "value": "NativePRNGNonBlocking:SUN",
    "command": "COMMAND",
    "option": "-Djava.security.egd=file:/dev/./urandom",
    "place": "/etc/default/tomcat10:12",
    "why": "WHY",
    "path": "/dev/random",
    "minor": "8",
    "call": "java.security.SecureRandom.getInstanceStrong",
    "frame": "com.example.Login.token",
}
"""What stands in an example for what a diagnosis finds."""


def surface_page(surface: Surface) -> str:
    """What a surface is, how it is asked for, and its text where nothing but the value is known."""
    answer = answering(surface.name)
    # One function serves several: a partial's own docstring is functools'.
    said = inspect.getdoc(answer.func if isinstance(answer, partial) else answer) or ""
    fix = Fix(surface=surface.name, title="", params={n: EXAMPLE[n] for n in surface.params})
    text = f"{MADE}# {surface.name}\n\n{surface.title[0].upper()}{surface.title[1:]}.\n"
    if surface.group not in (Group.ADVICE, Group.ONCE):
        text += f"\n{said.replace('``', '`')}\n\n    seedstall fix TARGET --surface {surface.name}\n\n{ways(surface)}\n"
    else:
        text += "\nA diagnosis asks for it; `seedstall fix` prints what the diagnosis found.\n"
    return f"{text}\n## Its text\n\n```\n{render_fix(fix).strip()}\n```\n"


def ways(surface: Surface) -> str:
    """What may be handed to it, and whether it is written."""
    files = ", ".join(f"`{name.removeprefix('*/')}`" for name in surface.names)
    what = f"TARGET is a process, a dump or a log, or the file itself ({files})" if files else ""
    what = what or "TARGET is a process, a dump or a log"
    written = (
        "`--apply` writes the change and keeps a dated copy, `--undo` takes it back"
        if surface.writes
        else "It is printed, never written"
    )
    return f"{what}. {written}."


def surface_list() -> str:
    """The table of contents of the surfaces, as ``seedstall fix --list`` groups them."""
    text = (
        MADE
        + "# The surfaces\n\nThe places where a remedy is written down. `seedstall fix --list` names them.\n"
    )
    for group in Group:
        rows = [s for s in SURFACES if s.group is group]
        if rows:
            text += f"\n## {group[0].upper()}{group[1:]}\n\n| surface | what | `--apply` |\n|---|---|---|\n"
        text += "".join(
            f"| [{s.name}]({s.name}.md) | {s.title} | {'writes it' if s.writes else ''} |\n"
            for s in rows
        )
    return text


def adding_a_rule() -> str:
    """The four steps of CONTRIBUTING.md, for the site."""
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    _, found, rest = text.partition("## Add a rule in four steps\n")
    if not found:
        message = "CONTRIBUTING.md has no four steps"
        raise SystemExit(message)
    return f"{MADE}# Add a rule in four steps\n{rest.partition(chr(10) + '## ')[0]}"


def stale() -> Iterator[str]:
    """The pages that are not what the program would write, and those that it would not write at all."""
    made = pages()
    for name, text in made.items():
        path = ROOT / "docs" / name
        if not path.is_file() or path.read_text("utf-8") != text:
            yield name
    for path in (ROOT / "docs").glob("*/*.md"):
        if (name := f"{path.parent.name}/{path.name}") not in made:
            yield name


def main() -> None:
    """Write, or check."""
    if "--check" in sys.argv[1:]:
        found = sorted(stale())
        if found:
            message = f"not as the program would write them: {', '.join(found)}"
            raise SystemExit(message)
        return
    for name, text in pages().items():
        path = ROOT / "docs" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
