"""The table of JVMs for people, programs and node_exporter: the answer first, then one line a JVM."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from seedstall.model.jdk import VmFamily
from seedstall.model.listing import ListedJvm, Listing
from seedstall.model.redact import redact, visible
from seedstall.model.seeding import Risk
from seedstall.model.verdict import Cause, Status

SCHEMA = 1
NAMED = 6
"""Stalled JVMs named in the first line."""
WIDEST = 44
"""Letters of one column."""
_FAMILIES = {VmFamily.OPENJ9: "OpenJ9", VmFamily.GRAAL_NATIVE: "native image"}
_RISKS = {
    Risk.WILL_BLOCK: "will block",
    Risk.MAY_BLOCK: "may block",
    Risk.CANNOT_BLOCK: "cannot block",
    Risk.UNKNOWN: "not known",
}

Hide = Callable[[str], str]


def _as_is(text: str) -> str:
    return text


def waits_for_bytes(jvm: ListedJvm) -> bool:
    """Whether it waits for random bytes now."""
    return jvm.status is Status.STALLED and jvm.cause in (Cause.BLOCKING_SEED, Cause.CRNG_NOT_READY)


def headline(found: Listing) -> str:
    """The answer: ``2 of 7 JVMs wait for random bytes: 8712 (Tomcat), 9001``. "None" only of those that were seen."""
    jvms = found.jvms
    if not jvms:
        return "no JVM was found" + (
            " among the processes that could be seen" if _blind(found) else ""
        )
    waiting = [jvm for jvm in jvms if waits_for_bytes(jvm)]
    dark = [jvm for jvm in jvms if jvm.status is Status.UNKNOWN]
    others = [j for j in jvms if j.status is Status.STALLED and not waits_for_bytes(j)]
    parts = [_waiting(waiting, len(jvms), len(dark))]
    parts += [f"{jvm.pid} is held up otherwise ({jvm.cause})" for jvm in others[:NAMED]]
    if dark and waiting:
        parts.append(f"of {len(dark)} it is not known")
    return "; ".join(parts)


def _waiting(waiting: Sequence[ListedJvm], count: int, dark: int) -> str:
    jvms = "1 JVM" if count == 1 else f"{count} JVMs"
    if waiting:
        names = ", ".join(map(_name, waiting[:NAMED]))
        more = f", and {len(waiting) - NAMED} more" if len(waiting) > NAMED else ""
        verb = "waits" if len(waiting) == 1 else "wait"
        return f"{len(waiting)} of {jvms} {verb} for random bytes: {names}{more}"
    if dark == count:
        whether = "it waits" if count == 1 else "any of them waits"
        return f"{jvms}, and it is not known whether {whether} for random bytes"
    if dark and dark == count - 1:
        return f"the one JVM that could be looked at does not wait for random bytes; of {dark} more it is not known"
    if dark:
        seen = f"none of the {count - dark} JVMs that could be looked at waits for random bytes"
        return f"{seen}; of {dark} more it is not known"
    return (
        f"none of {jvms} waits for random bytes"
        if count > 1
        else "1 JVM, and it does not wait for random bytes"
    )


def _name(jvm: ListedJvm) -> str:
    return f"{jvm.pid} ({visible(jvm.program)[:WIDEST]})" if jvm.program else str(jvm.pid)


def _blind(found: Listing) -> bool:
    return found.hidden or bool(found.unseen)


def text(
    found: Listing,
    *,
    redacted: bool = True,
    quiet: bool = False,
    screen: tuple[int, int] | None = None,
) -> str:
    """The whole table, the stalled ones first. *screen* keeps it to a terminal's columns and lines."""
    lines = [headline(found)]
    if found.jvms and not quiet:
        jvms = sorted(found.jvms, key=lambda jvm: (jvm.status is not Status.STALLED, jvm.pid))
        lines += ["", *_table(jvms), *_details(jvms), *_notes(found)]
    elif not quiet:
        lines += list(_notes(found))
    hide = redact if redacted else _as_is
    lines = [hide(visible(line)) for line in lines]
    return "".join(f"{line}\n" for line in (_fitted(lines, *screen) if screen else lines))


def _fitted(lines: list[str], columns: int, height: int) -> list[str]:
    if len(lines) > height:
        cut = len(lines) - height + 1
        lines = [*lines[: height - 1], f"... {cut} more lines than this terminal has"]
    return [line if len(line) <= columns else f"{line[: columns - 1]}…" for line in lines]


# The answer stands before what may be cut off at a terminal's right edge.
_HEADS = ("PID", "USER", "AGE", "STALLED", "PROGRAM", "RISK", "SEED SOURCE", "JDK", "CONTAINER")


def _table(jvms: Sequence[ListedJvm]) -> Iterator[str]:
    rows = [_HEADS, *map(_cells, jvms)]
    widths = [max(len(row[n]) for row in rows) for n in range(len(_HEADS))]
    for row in rows:
        cells = [f"{row[0]:>{widths[0]}}", row[1].ljust(widths[1]), f"{row[2]:>{widths[2]}}"]
        cells += [cell.ljust(width) for cell, width in zip(row[3:], widths[3:], strict=True)]
        yield "  ".join(cells).rstrip()


def _cells(jvm: ListedJvm) -> tuple[str, ...]:
    cells = (
        str(jvm.pid),
        jvm.user or "?",
        age(jvm.age_ms),
        _stalled(jvm),
        jvm.program or "?",
        _RISKS[jvm.risk],
        _seed(jvm),
        _jdk(jvm),
        _container(jvm),
    )
    return tuple(_short(visible(cell)) for cell in cells)


def _short(cell: str) -> str:
    return cell if len(cell) <= WIDEST else f"{cell[: WIDEST - 1]}…"


def age(milliseconds: int | None) -> str:
    """``45s``, ``12m``, ``3h05``, ``12d``; ``?`` where not known."""
    if milliseconds is None:
        return "?"
    seconds = milliseconds // 1000
    if seconds < 60:  # noqa: PLR2004 - a minute
        return f"{seconds}s"
    minutes = seconds // 60
    if minutes < 60:  # noqa: PLR2004 - an hour
        return f"{minutes}m{seconds % 60:02}" if minutes < 10 else f"{minutes}m"  # noqa: PLR2004 - room
    hours = minutes // 60
    return f"{hours}h{minutes % 60:02}" if hours < 48 else f"{hours // 24}d"  # noqa: PLR2004 - two days


def _jdk(jvm: ListedJvm) -> str:
    name = _FAMILIES.get(jvm.vm) or jvm.vendor
    words = [jvm.jdk, name] if name and name.split()[0] not in jvm.jdk else [jvm.jdk]
    return " ".join(filter(None, words)) or "?"


def _container(jvm: ListedJvm) -> str:
    if jvm.in_container is None:
        return "?"
    return (
        " ".join(filter(None, (jvm.runtime, jvm.container))) or "yes" if jvm.in_container else "-"
    )


def _seed(jvm: ListedJvm) -> str:
    if jvm.seed_source is None:
        return "?"
    return (jvm.seed_source or "none set") + (" (default)" if jvm.seed_assumed else "")


def _stalled(jvm: ListedJvm) -> str:
    if jvm.status is Status.STALLED:
        since = f" {age(jvm.since_ms)}" if (jvm.since_ms or 0) >= 1000 else ""  # noqa: PLR2004 - a second
        return ("yes" if waits_for_bytes(jvm) else str(jvm.cause).removeprefix("other:")) + since
    return "not known" if jvm.status is Status.UNKNOWN else "no"


def _details(jvms: Sequence[ListedJvm]) -> Iterator[str]:
    """Of each stalled one the sentence and what to type; of what could not be seen the reasons, each once."""
    stalled = [jvm for jvm in jvms if jvm.status is Status.STALLED]
    if stalled:
        yield ""
    for jvm in stalled:
        yield f"{jvm.pid}: {jvm.sentence}"
        yield f"    seedstall diagnose {jvm.pid}"
    reasons: dict[str, list[int]] = {}
    for jvm in jvms:
        if jvm.status is Status.UNKNOWN:
            reasons.setdefault(jvm.sentence, []).append(jvm.pid)
    for sentence, pids in reasons.items():
        more = f" and {len(pids) - NAMED} more" if len(pids) > NAMED else ""
        yield ""
        yield f"not known of {', '.join(map(str, pids[:NAMED]))}{more}: {sentence}"


def _notes(found: Listing) -> Iterator[str]:
    notes: list[str] = []
    count = sum(number for _, number in found.unseen)
    if count:
        reasons = "; ".join(why for why, _ in found.unseen)
        what = "1 more process" if count == 1 else f"{count} more processes"
        notes.append(
            f"{what} could not be looked at: whether a JVM is among them is not known ({reasons})"
        )
    if found.hidden:
        notes.append("/proc hides the processes of others (hidepid): run as root to see all")
    if any(jvm.told_by == "name" for jvm in found.jvms):
        notes.append("what some map may not be read: they are listed because they are called java")
    if found.ended:
        one = found.ended == 1
        what = "1 JVM ended while it was" if one else f"{found.ended} JVMs ended while they were"
        notes.append(f"{what} looked at")
    if notes:
        yield ""
    yield from (f"note: {note}" for note in notes)


# --- for programs ----------------------------------------------------------------------------------------------------


def document(found: Listing, *, redacted: bool = True) -> dict[str, object]:
    """The JSON object: its schema stands in `render.schema`."""
    from seedstall import __version__  # noqa: PLC0415 - for programs alone

    hide = redact if redacted else _as_is
    waiting = [jvm.pid for jvm in found.jvms if waits_for_bytes(jvm)]
    return {
        "schema": SCHEMA,
        "tool": {"name": "seedstall", "version": __version__},
        "sentence": hide(headline(found)),
        "waiting": waiting,
        "jvms": [_object(jvm, hide) for jvm in found.jvms],
        "processes": found.processes,
        "unseen": [{"why": why, "count": count} for why, count in found.unseen],
        "hidden": found.hidden,
        "ended": found.ended,
    }


def _object(jvm: ListedJvm, hide: Hide) -> dict[str, object]:
    def told(text: str | None) -> str | None:
        return hide(text).encode("utf-8", "replace").decode() if text else None

    seed = jvm.seed_source
    return {
        "pid": jvm.pid,
        "uid": jvm.uid,
        "user": told(jvm.user),
        "age_ms": jvm.age_ms,
        "vm": str(jvm.vm),
        "told_by": jvm.told_by,
        "jdk": told(jvm.jdk),
        "vendor": told(jvm.vendor),
        "program": told(jvm.program),
        "product": told(jvm.product),
        "container": {
            "inside": jvm.in_container,
            "id": told(jvm.container),
            "runtime": told(jvm.runtime),
        },
        "seed": {
            "source": None if seed is None else told(seed) or "",
            "place": told(jvm.seed_place),
            "assumed": jvm.seed_assumed,
            "risk": str(jvm.risk),
            "why": told(jvm.risk_why),
        },
        "stalled": None if jvm.status is Status.UNKNOWN else jvm.status is Status.STALLED,
        "cause": str(jvm.cause),
        "sentence": told(jvm.sentence),
        "since_ms": jvm.since_ms,
        "unread": [{"what": u.what, "why": told(u.why)} for u in jvm.unread],
    }


def json(found: Listing, *, redacted: bool = True, one_line: bool = False) -> str:
    """That object as text; on one line where more follow (``--watch``)."""
    from json import dumps  # noqa: PLC0415

    indent = None if one_line else 2
    return dumps(document(found, redacted=redacted), ensure_ascii=False, indent=indent) + "\n"


# --- for node_exporter -----------------------------------------------------------------------------------------------


def prometheus(found: Listing, *, redacted: bool = True) -> str:
    """The text format of Prometheus (0.0.4), for the textfile collector of node_exporter."""
    jvms = [(jvm, _labels(jvm, redact if redacted else _as_is)) for jvm in found.jvms]
    seen = [(jvm, labels) for jvm, labels in jvms if jvm.status is not Status.UNKNOWN]
    families: tuple[tuple[str, str, list[str]], ...] = (
        ("jvms", "JVMs found on this host.", [f" {len(jvms)}"]),
        (
            "unseen_processes",
            "Processes that could not be looked at, by the reason.",
            [f'{{why="{_escaped(why)}"}} {count}' for why, count in found.unseen],
        ),
        (
            "jvm_stalled",
            "1 where the JVM waits for random bytes or is held up whole, else 0. Absent where it could not be seen.",
            [f"{labels} {int(jvm.status is Status.STALLED)}" for jvm, labels in seen],
        ),
        (
            "jvm_stalled_seconds",
            "How long it has waited at the least, where that is known.",
            [f"{labels} {j.since_ms / 1000}" for j, labels in seen if j.since_ms is not None],
        ),
        (
            "jvm_seed_risk",
            "1 for what the settings and the kernel say of the next seed.",
            [f'{labels[:-1]},risk="{jvm.risk}"}} 1' for jvm, labels in jvms],
        ),
        (
            "jvm_age_seconds",
            "Since the process was started.",
            [f"{labels} {j.age_ms / 1000}" for j, labels in jvms if j.age_ms is not None],
        ),
    )
    return "".join(
        f"# HELP seedstall_{name} {help_text}\n# TYPE seedstall_{name} gauge\n"
        + "".join(f"seedstall_{name}{sample}\n" for sample in samples)
        for name, help_text, samples in families
    )


def _labels(jvm: ListedJvm, hide: Hide) -> str:
    named = {
        "pid": str(jvm.pid),
        "user": jvm.user,
        "program": jvm.program,
        "jdk": jvm.jdk,
        "container": jvm.container or ("yes" if jvm.in_container else ""),
    }
    return "{" + ",".join(f'{n}="{_escaped(hide(v))}"' for n, v in named.items()) + "}"


def _escaped(text: str) -> str:
    return visible(text).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
