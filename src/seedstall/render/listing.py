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
    """The whole table, the stalled ones first.

    *screen* keeps it to a terminal's columns and lines: 0 lines is as many as there are.
    """
    columns, height = screen or (0, 0)
    hide = redact if redacted else _as_is
    jvms = sorted(found.jvms, key=lambda jvm: (jvm.status is not Status.STALLED, jvm.pid))
    table: list[str] = []
    left_out: Sequence[str] = ()
    if jvms and not quiet:
        table, left_out = _table(jvms, columns)
    below = [] if quiet else [*_details(jvms), *_notes(found, left_out)]
    lines = _folded([hide(visible(headline(found)))], columns)
    lines += ["", *(_cut(hide(visible(row)), columns) for row in table)] if table else []
    lines += _folded([hide(visible(line)) for line in below], columns)
    return "".join(f"{line}\n" for line in _cropped(lines, columns, height))


def _folded(lines: Sequence[str], columns: int) -> list[str]:
    """Sentences in the terminal's width, word by word; 0 columns leaves them as they are."""
    if not columns:
        return list(lines)
    from seedstall.render import terminal  # noqa: PLC0415 - for people alone

    return terminal.fold("".join(f"{line}\n" for line in lines), columns).splitlines()


def _cut(line: str, columns: int) -> str:
    return f"{line[: columns - 1]}…" if columns and len(line) > columns else line


def _cropped(lines: list[str], columns: int, height: int) -> list[str]:
    """No more lines than the terminal has: what stands below would scroll the answer away."""
    if not height or len(lines) <= height:
        return lines
    cut = len(lines) - height + 1
    return [*lines[: height - 1], _cut(f"... {cut} more lines than this terminal has", columns)]


# The answer stands before what may be cut off at a terminal's right edge.
_HEADS: tuple[str, ...] = (
    "PID",
    "USER",
    "AGE",
    "STALLED",
    "PROGRAM",
    "RISK",
    "SEED SOURCE",
    "JDK",
    "CONTAINER",
)
_LEAVE_OUT = ("JDK", "CONTAINER", "SEED SOURCE", "USER", "AGE", "RISK")
"""What a narrow terminal does without, in turn. PID, STALLED and PROGRAM always stand."""
_RIGHT = frozenset(("PID", "AGE"))


def _table(jvms: Sequence[ListedJvm], columns: int) -> tuple[list[str], Sequence[str]]:
    """The rows, head first, and the heads of the columns that *columns* had no room for."""
    rows = [_HEADS, *map(_cells, jvms)]
    widths = dict(
        zip(_HEADS, (max(map(len, column)) for column in zip(*rows, strict=True)), strict=True)
    )
    left = 0
    while columns and left < len(_LEAVE_OUT) and _width(widths, _LEAVE_OUT[:left]) > columns:
        left += 1
    left_out = _LEAVE_OUT[:left]
    told = [_row(row, widths, left_out) for row in rows]
    return told, [head for head in _HEADS if head in left_out]


def _width(widths: dict[str, int], left_out: Sequence[str]) -> int:
    shown = [width for head, width in widths.items() if head not in left_out]
    return sum(shown) + 2 * (len(shown) - 1)


def _row(row: Sequence[str], widths: dict[str, int], left_out: Sequence[str]) -> str:
    cells = [
        cell.rjust(widths[head]) if head in _RIGHT else cell.ljust(widths[head])
        for head, cell in zip(_HEADS, row, strict=True)
        if head not in left_out
    ]
    return "  ".join(cells).rstrip()


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


def _notes(found: Listing, left_out: Sequence[str]) -> Iterator[str]:
    notes: list[str] = []
    if left_out:
        notes.append(f"this terminal has no room for {', '.join(left_out)}: piped, all is shown")
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
