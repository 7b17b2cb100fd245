"""seedstall: says why a Java program hangs or crawls at start, proves it, and writes the fix.

The public API is `diagnose`; everything else may change between releases.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from seedstall.model.report import Failure, Report

__version__ = "0.1.0"


def diagnose(
    *targets: str, kernel: str = "", jdk: str = "", egd: str = "", attach: bool = True
) -> tuple[Report | Failure, ...]:
    """Diagnose PIDs, files and captured trees as the command of the same name does.

    Several targets are one case, unless more than one process is named. ``kernel``, ``jdk`` and ``egd`` say what
    does not stand in the evidence. With ``attach=False`` no target is signalled or connected to.

    Raises:
        NoSuchTargetError: a target is not there, or is no JVM.
    """
    from seedstall.cli import cases  # noqa: PLC0415 - importing the package alone must stay cheap

    said = cases.Said(kernel=kernel, jdk=jdk, egd=egd)
    plan = cases.plan(targets, said, cases.Touch(attach=attach))
    return tuple(cases.looked_at(case) for case in plan.cases)
