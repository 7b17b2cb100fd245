"""What `seedstall kernel` shows between its first line and the findings: the kernel, its pool, what feeds it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from seedstall.model.kernel import BlockingModel
from seedstall.model.redact import redact
from seedstall.model.report import Report
from seedstall.render import text

NAME_WIDTH = 11

_MODELS = {
    "blocking-pool": "blocking pool: a read waits whenever the entropy count is too low",
    "blocks-only-until-init": "blocks only until the generator is seeded at boot",
    "never": "never blocks",
    "unknown": "not known",
}


def render(report: Report, *, verbose: int = 0, quiet: bool = False, redacted: bool = True) -> str:
    """The first line, the table, then findings and what to do as in every report."""
    whole = text.render(report, verbose=verbose, quiet=quiet, redacted=redacted)
    facts = cast("dict[str, object]", report.facts["kernel"])
    if quiet or "missing" in facts:
        return whole
    head, _, rest = whole.partition("\n")
    table = "".join(f"{text.visible_line(row)}\n" for row in _table(facts, verbose=verbose))
    return f"{head}\n\n{redact(table) if redacted else table}{rest}"


def _table(facts: dict[str, object], *, verbose: int) -> Iterator[str]:
    pool = facts["model"] == BlockingModel.BLOCKING_POOL
    yield _row("kernel", facts["release"] or "release not known")
    row = f", row {facts['row']} of the table" if verbose and facts["row"] else ""
    yield _row("model", f"{_MODELS[str(facts['model'])]} ({facts['certainty']} certainty{row})")
    yield _row("why", facts["reason"])
    specials = cast("list[str]", facts["special"])
    if facts["container"] and not any(s.startswith("container") for s in specials):
        specials = [*specials, f"container ({facts['container']}): the kernel is the host's"]
    for special in specials:
        yield _row("note", special)
    yield _row("state", facts["state"])
    yield from _entropy(facts, pool=pool)
    yield from _fed(facts)
    if pool:
        yield from _refill(facts)
    yield from _waiting(facts)
    yield from _devices(facts, verbose=verbose)
    if pool:
        yield from _advice(facts)


def _row(name: str, value: object) -> str:
    return f"{name:<{NAME_WIDTH}} {value}"


def _entropy(facts: dict[str, object], *, pool: bool) -> Iterator[str]:
    bits = facts["entropy_avail"]
    if bits is not None:
        of = f" of {facts['poolsize']}" if facts["poolsize"] is not None else ""
        rest = "" if pool else " (on this kernel the number says nothing about blocking)"
        yield _row("entropy", f"{bits}{of} bits{rest}")
    crng = cast("dict[str, object] | None", facts["crng"])
    if crng is not None:
        ready = "seeded" if crng["ready"] else "NOT seeded"
        yield _row("generator", f"{ready} ({crng['told_by']}: {crng['excerpt']})")


def _fed(facts: dict[str, object]) -> Iterator[str]:
    fed = [str(feeder) for feeder in cast("list[str]", facts["feeders"])]
    daemons = cast("dict[str, object]", facts["daemons"])
    useless = cast("dict[str, object]", facts["advice"])["useless"]
    if useless:
        yield _row("fed by", "; ".join((*fed, "an entropy daemon would change nothing here")))
        return
    if "missing" in daemons:
        detail = daemons["detail"] or daemons["missing"]
        yield _row("fed by", "; ".join((*fed, f"daemons not known: {detail}")))
        return
    running = cast("list[dict[str, object]]", daemons["running"])
    fed += [f"{d['name']} (pid {d['pid']})" for d in running]
    installed = cast("list[dict[str, object]]", daemons["installed"])
    up = {d["name"] for d in running}
    down = [str(d["name"]) for d in installed if d["name"] not in up]
    if down:
        fed.append(f"{', '.join(down)} installed, not running")
    elif not running:
        fed.append("no daemon")
    yield _row("fed by", "; ".join(fed))


def _refill(facts: dict[str, object]) -> Iterator[str]:
    refill = cast("dict[str, object] | None", facts["refill"])
    if refill is None:
        return
    if refill["measured_s"] is not None:
        taken = refill["times_taken"]
        drained = f", taken {taken} times meanwhile" if taken else ""
        yield _row(
            "refill",
            f"{refill['bits_per_s']} bit/s: {refill['bits_gained']} bits in {refill['measured_s']} s{drained}",
        )
    else:
        yield _row("refill", "not measured (a live host: --for 10s)")
    yield _row("a seed", _seed(refill))


def _seed(refill: dict[str, object]) -> str:
    head = f"{refill['seed_bytes']} bytes"
    if not refill["bits_short"]:
        return f"{head} come at once"
    need = f"{head} need {refill['bits_short']} more bits"
    if refill["seed_ms"] is not None:
        return f"{need}: about {_duration(refill['seed_ms'])} at this rate"
    if refill["seed_at_least_ms"] is not None:
        return f"{need}: nothing came in, so more than {_duration(refill['seed_at_least_ms'])}, or no end"
    busy = _duration(refill["seed_ms_with_40_interrupts_per_s"])
    return f"{need}: about {busy} with 40 disk interrupts a second, no end on an idle host"


def _waiting(facts: dict[str, object]) -> Iterator[str]:
    for wait in cast("list[dict[str, object]]", facts["waiting"]):
        what = wait["name"] or f"thread {wait['tid']}"
        since = f" has waited {_duration(wait['since_ms'])}" if wait["since_ms"] else " waits"
        left = f" for {wait['bytes_left']} more bytes" if wait["bytes_left"] else ""
        yield _row("waiting", f"{what}{since}{left}{_end(wait)}")


def _end(wait: dict[str, object]) -> str:
    if wait["ms_left"] is not None:
        return f": about {_duration(wait['ms_left'])} more at this rate"
    busy = wait["ms_left_with_40_interrupts_per_s"]
    return f": about {_duration(busy)} more with 40 disk interrupts a second" if busy else ""


def _devices(facts: dict[str, object], *, verbose: int) -> Iterator[str]:
    devices = cast("dict[str, object] | None", facts["devices"])
    if devices is None:
        return
    odd = devices["/dev/random"] != "the character device 1:8"
    if odd or verbose:
        yield _row("/dev/random", f"{devices['/dev/random']}, {devices['seen']}")
    if verbose and devices["/dev/urandom"] is not None:
        yield _row("/dev/urandom", f"{devices['/dev/urandom']}, {devices['seen']}")


def _advice(facts: dict[str, object]) -> Iterator[str]:
    advice = cast("dict[str, object]", facts["advice"])
    if advice["distribution"] is not None:
        ended = ", out of support" if advice["eol"] else ""
        yield _row("host", f"{advice['distribution']}{ended}")
    if advice["kernel_update"]:
        yield _row("for good", advice["kernel_update"])


def _duration(ms: object) -> str:
    from seedstall.model.duration import duration  # noqa: PLC0415 - one wording of times

    return duration(ms) if isinstance(ms, int) else "?"
