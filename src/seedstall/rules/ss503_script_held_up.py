"""SS503: no JVM is there yet, and what starts it waits for another program."""

from __future__ import annotations

from collections.abc import Iterator

from seedstall.model.finding import Confidence, Evidence, Finding, Fix, Severity
from seedstall.model.jvm import JvmProcess
from seedstall.model.redact import redact_argv, visible
from seedstall.model.rule import rule
from seedstall.model.tasks import Descendant, ScriptWait
from seedstall.model.verdict import Cause, Status
from seedstall.rules import now_remedies as now
from seedstall.rules import program_account as programs
from seedstall.rules import seed_account as account

LONG_MS = 2_000
"""A healthy start script waits this long for each of the many programs it runs."""


@rule("SS503", "script-held-up")
def script_held_up(process: JvmProcess, script: ScriptWait | None) -> Iterator[Finding]:
    """A script that should start a JVM waits for another program, and no JVM is there yet.

    ## What it detects
    A PID that is no JVM and has none below it, and whose main thread waits for what it started (``wait4``, or the pipe
    of a shell's ``$(command)``). The programs are followed down to the one that waits for none of its own: a ``curl``
    in ``setenv.sh``, a ``sleep``, a ``gpg`` that asks for a passphrase.

    ## Why it matters
    The start hangs before there is any JVM: no thread dump and no setting of Java's can help.

    ## Fix
    What that program waits for is the question; it is named with the call it is in.
    """
    if script is None:
        return
    if script.task.state in ("T", "t"):
        yield _stopped(script, process.pid)
        return
    last = script.chain[-1]
    what = f"{programs.command(last)} (pid {last.pid}{programs.age(last)})"
    others = f"; {script.others} more beside it" if script.others else ""
    name = visible(account.script_name(script.argv))[:60]
    yield Finding(
        message=f"a script that waits for {programs.command(last)}",
        sentence=f"no JVM is there yet: {name} waits for {what}, which {programs.doing(last.task)}{others}",
        cause=Cause.CHILD,
        status=Status.STALLED,
        severity=Severity.WARNING,
        confidence=Confidence.LIKELY if script.others else Confidence.CONFIRMED,
        evidence=tuple(_evidence(script, process.pid)),
        fixes=(
            now.once(
                "end-holder",
                f"end {programs.command(last)}, if it is not wanted: the script goes on, or fails",
                f"kill {last.pid}",
                takes="at once",
                review=True,
            ),
        ),
        notes=(*_passing(last), "once a JVM is there, ask again: the same PID leads to it"),
    )


def _stopped(script: ScriptWait, pid: int) -> Finding:
    name = visible(account.script_name(script.argv))[:60]
    return Finding(
        message=f"the script {name} stopped",
        sentence=f"no JVM is there yet: {name} is stopped (SIGSTOP, Ctrl-Z, a debugger), and starts none",
        cause=Cause.STOPPED,
        status=Status.STALLED,
        severity=Severity.ERROR,
        confidence=Confidence.CONFIRMED,
        evidence=(Evidence(origin=f"/proc/{pid}/stat", excerpt=f"state {script.task.state}"),),
        fixes=(_go_on(script, pid),),
    )


def _go_on(script: ScriptWait, pid: int) -> Fix:
    if script.task.state == "t":  # SIGCONT frees nothing that a debugger holds
        return now.once(
            "debugger",
            "let the debugger go that holds it (detach it, or end it); this names it",
            f"grep TracerPid /proc/{pid}/status",
            takes="at once",
            review=True,
        )
    return now.once(
        "continue",
        "let it go on, unless somebody stopped it on purpose",
        f"kill -CONT {pid}",
        takes="at once",
        review=True,
    )


def _passing(last: Descendant) -> Iterator[str]:
    if last.age_ms is not None and last.age_ms < LONG_MS:
        yield f"{programs.command(last)} has just been started: this may pass, look again"


def _evidence(script: ScriptWait, pid: int) -> Iterator[Evidence]:
    call = script.task.syscall
    name = visible(" ".join(redact_argv(script.argv)))[: programs.SHOWN]
    yield Evidence(
        origin=f"/proc/{pid}/syscall", excerpt=f"{call.name if call else '?'}: {name}".lstrip(": ")
    )
    for one in script.chain:
        yield Evidence(
            origin=f"/proc/{one.pid}/syscall",
            excerpt=f"{programs.doing(one.task)}, state {one.task.state}: {programs.command(one)}",
        )
