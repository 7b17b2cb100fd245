"""What is no place to edit: something done once to what hangs now, a change of the code, a flag to be taken out.

Whether it is the right thing only the diagnosis knows, so that is asked: what is printed is the fix of that name in
its findings.
"""

from __future__ import annotations

from functools import partial

from seedstall.knowledge.surfaces import ADVICE
from seedstall.remedy.request import Answer, Request
from seedstall.render.fixes import render_fix


def advice(surface: str, request: Request) -> Answer:
    """The text of the diagnosis's own fix of that name; the reason why there is none, else."""
    from seedstall import rules  # noqa: PLC0415 - the rules, where one of these is asked for
    from seedstall.engine.conclude import fired  # noqa: PLC0415
    from seedstall.engine.run import run  # noqa: PLC0415

    found = fired(tuple(run(rules.ALL, request.case)))
    chosen = [fix for _, finding in found for fix in finding.fixes if fix.surface == surface]
    if not chosen:
        return Answer(
            reason=f"nothing in {request.target} asks for it: seedstall diagnose tells what does help"
        )
    texts = dict.fromkeys(render_fix(fix) for fix in chosen)
    titles = dict.fromkeys(fix.title for fix in chosen)
    takes = dict.fromkeys(f"how long it takes: {fix.takes}" for fix in chosen if fix.takes)
    return Answer("".join(texts).encode("utf-8", "backslashreplace"), notes=(*titles, *takes))


ANSWERS = {name: partial(advice, name) for name in ADVICE}
