"""Options that several commands take, told and named once."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class FailOn(StrEnum):
    """The severity from which the exit code is 10."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"
    NEVER = "never"


Kernel = Annotated[
    str, typer.Option(metavar="RELEASE", help="The target's uname -r, where not in evidence.")
]
Jdk = Annotated[
    str, typer.Option(metavar="VERSION", help="The target's JDK, where not in evidence.")
]
Egd = Annotated[str, typer.Option(metavar="VALUE", help="The target's own java.security.egd.")]
Sysroot = Annotated[
    str,
    typer.Option(
        metavar="DIR", help="Of a core: the root of its host or image, where its JDK's files lie."
    ),
]
Output = Annotated[
    Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write the report there.")
]
ExitZero = Annotated[bool, typer.Option("--exit-zero", help="Exit 0 whatever is found.")]
FailFrom = Annotated[
    FailOn, typer.Option("--fail-on", help="The severity from which the exit code is 10.")
]
NoRedact = Annotated[
    bool, typer.Option("--no-redact", help="Show passwords and tokens as they are.")
]
Quiet = Annotated[bool, typer.Option("-q", "--quiet", help="The first line alone.")]
Verbose = Annotated[
    int, typer.Option("-v", "--verbose", count=True, help="Show more.", show_default=False)
]
