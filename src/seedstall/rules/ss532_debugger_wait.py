"""SS532: the JVM waits for a debugger."""

from __future__ import annotations

from collections.abc import Iterator

from seedstall.model.evidence import Missing, Unavailable
from seedstall.model.finding import Confidence, Evidence, Finding, Fix, Severity
from seedstall.model.incident import IncidentKind, Incidents
from seedstall.model.redact import redact, visible
from seedstall.model.rule import rule
from seedstall.model.standing import Debugged
from seedstall.model.verdict import Cause, Status
from seedstall.rules import incident_account
from seedstall.rules import now_remedies as now


@rule("SS532", "debugger-wait")
def debugger_wait(debugged: Debugged | Missing, incidents: Incidents | None) -> Iterator[Finding]:
    """The JVM was told to wait for a debugger before it runs anything.

    ## What it detects
    The agent ``jdwp`` with ``suspend=y`` (which is its default) among the JVM's options, a main thread that has
    not run a frame, and the agent's thread waiting in accept(2); in a log, ``Listening for transport`` as the last
    line.

    ## Why it matters
    Nothing of the program runs until a debugger connects: the JVM hangs whole, without a word, and a flag left
    over from debugging does it at every start.

    ## Fix
    ``suspend=n``, or take the agent out of the options (``JAVA_TOOL_OPTIONS``, ``CATALINA_OPTS``,
    ``JPDA_SUSPEND``).
    """
    if isinstance(debugged, Missing) and incidents is None:
        raise Unavailable(debugged)
    line = incidents.of(IncidentKind.DEBUGGER) if incidents is not None else None
    live = isinstance(debugged, Debugged) and debugged.suspended
    if not live and line is None:
        return
    if isinstance(debugged, Debugged) and not live:
        return  # the text tells of an earlier start
    evidence: list[Evidence] = []
    if isinstance(debugged, Debugged):
        evidence.append(
            Evidence(origin=debugged.place, excerpt=visible(redact(debugged.option))[:200])
        )
        if debugged.listening:
            evidence.append(
                Evidence(
                    origin=f"/proc/{debugged.pid or 'PID'}/task/{debugged.listening}/syscall",
                    excerpt="accept",
                )
            )
    if line is not None:
        evidence.append(incident_account.evidence(line))
    sure = isinstance(debugged, Debugged) and bool(debugged.listening)
    yield Finding(
        message="a JVM that waits for its debugger",
        sentence="not entropy: the JVM waits for a debugger to connect before it runs anything (jdwp, suspend=y)"
        if live
        else "not entropy: the log ends with the debugger's line: the JVM may wait for one (jdwp, suspend=y)",
        cause=Cause.JDWP_SUSPEND,
        status=Status.STALLED,
        severity=Severity.ERROR if sure else Severity.WARNING,
        confidence=_confidence(live=live, sure=sure),
        evidence=tuple(evidence),
        fixes=_connect(debugged) if isinstance(debugged, Debugged) else (),
        notes=(
            *(
                ()
                if live
                else ("a JVM with suspend=n prints the same line and goes on: its options decide",)
            ),
            "suspend=n in the jdwp option lets it start; a debugger that connects frees this one now",
        ),
    )


_PLAIN = frozenset(".:-_[]*")
"""Beside letters and digits: all that an address has. What a target calls itself is no word of a shell."""

_ANY = frozenset(("", "*", "0.0.0.0", "[::]"))  # noqa: S104 - as an agent's option names all addresses


def _connect(debugged: Debugged) -> tuple[Fix, ...]:
    """A debugger that comes and goes: the handshake is enough, the JVM runs on when the connection ends.

    Seen on 17, 21 and 25. (``jdb`` with its commands on a pipe hangs where it is quicker than the JVM's first event.)
    """
    parts = [word.partition("=") for word in debugged.option.partition("jdwp")[2][1:].split(",")]
    words = {name: value for name, _, value in parts}
    address = words.get("address", "")
    known = address and all(c.isascii() and (c.isalnum() or c in _PLAIN) for c in address)
    if not known or words.get("server") != "y" or words.get("transport") != "dt_socket":
        return ()
    host, _, port = address.rpartition(":")
    if not port.isdecimal() or not port.strip("0"):
        return ()  # the agent took a free one: its line "Listening for transport" names it
    host = "127.0.0.1" if host in _ANY else host.strip("[]")
    return (
        now.once(
            "debugger",
            "let a debugger connect and go, in the JVM's own network namespace",
            f"bash -c 'exec 3<>/dev/tcp/{host}/{port}; printf JDWP-Handshake >&3; head -c 14 <&3'",
            takes="at once",
            review=True,
        ),
    )


def _confidence(*, live: bool, sure: bool) -> Confidence:
    if sure:
        return Confidence.CONFIRMED
    return Confidence.LIKELY if live else Confidence.POSSIBLE
