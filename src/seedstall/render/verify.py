"""What `seedstall verify` shows: the sentence, the table, by what means it was tried, and what that could not cover."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from seedstall import __version__
from seedstall.model.redact import redact, visible
from seedstall.model.seeding import Instance
from seedstall.model.trial import STRONG, Account, Outcome, Series, Setting, Trial, Use
from seedstall.render.document import SCHEMA

MEANS = {
    "mount": "a FIFO over each random device, in a private mount namespace: dry first, then filled",
    "user": "a FIFO over each random device, in a private user and mount namespace: dry first, then filled",
    "egd": "a FIFO named by java.security.egd in the device's place (no mount namespace could be had)",
}
_ROW = 11
_ERROR = 40
_NARROWEST = 40
"""Columns below which nothing is made narrower any more."""


def render(
    account: Account,
    series: Series,
    settings: Sequence[Setting],
    *,
    subject: str,
    notes: Sequence[str] = (),
    quiet: bool = False,
    verbose: int = 0,
    width: int | None = None,
) -> str:
    """As text. *subject* is the program in words, *notes* what else must be told.

    In *width* columns where that is given: a table that is wider becomes a block for each use.
    """
    lines = [account.sentence]
    if not quiet:
        lines += ["", *_facts(series, settings, subject), ""]
        table = list(_table(series.trials, settings))
        wide = width is not None and max(map(len, table)) > max(width, _NARROWEST)
        lines += _blocks(series.trials, settings) if wide else table
        told = [*account.notes, *notes, *_uncovered(series), *account.differences]
        lines += ["", *(f"note: {note}" for note in told)] if told else []
        lines += ["", *_evidence(series.trials)] if verbose else []
    return redact("".join(f"{visible(line)}\n" for line in lines))


def _facts(series: Series, settings: Sequence[Setting], subject: str) -> Iterator[str]:
    yield f"{'java':<{_ROW}}{subject}"
    for setting in _tried(series.trials, settings):
        yield f"{setting.name:<{_ROW}}{setting.words}"
    yield f"{'means':<{_ROW}}{MEANS.get(series.how, series.how)}"


def _table(trials: Sequence[Trial], settings: Sequence[Setting]) -> Iterator[str]:
    """One line a use, one column a setting. The strong list's column is folded: it has one cell as a rule."""
    names = [s.name for s in _tried(trials, settings)]
    cells = {(t.question.use, t.question.setting): cell(t) for t in trials}
    uses = list(dict.fromkeys(t.question.use for t in trials))
    columns = [name for name in names if name != STRONG]
    rows: list[list[str]] = [["first use of", *columns]]
    for use in uses:
        rows.append([str(use), *(cells.get((use, name), "") for name in columns)])
        if (use, STRONG) in cells:
            last = ["" for _ in columns[:-1]]
            rows.append([f"  with {STRONG} set", *last, cells[use, STRONG]])
    widths = [max(len(row[i]) for row in rows) for i in range(len(columns) + 1)]
    for row in rows:
        yield "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()


def _blocks(trials: Sequence[Trial], settings: Sequence[Setting]) -> Iterator[str]:
    """The same for a narrow terminal: each use, below it a line a setting."""
    names = [s.name for s in _tried(trials, settings)]
    cells = {(t.question.use, t.question.setting): cell(t) for t in trials}
    longest = max(map(len, names))
    yield "first use of"
    for use in dict.fromkeys(t.question.use for t in trials):
        yield str(use)
        yield from (f"  {n:<{longest}}  {cells[use, n]}" for n in names if (use, n) in cells)


def _tried(trials: Sequence[Trial], settings: Sequence[Setting]) -> list[Setting]:
    return [s for s in settings if any(t.question.setting == s.name for t in trials)]


def cell(trial: Trial) -> str:
    """``/dev/random BLOCKS (12 ms once filled)``; which generator it is, where the use does not say."""
    told = _went(trial)
    named = trial.question.use.instance in (Instance.DEFAULT, Instance.STRONG)
    return f"{trial.algorithm}: {told}" if named and trial.algorithm else told


def _went(trial: Trial) -> str:
    match trial.outcome:
        case Outcome.BLOCKS:
            after = f" ({_ms(trial.ms)} once filled)" if trial.ms is not None else " (for good)"
            return f"{trial.device} BLOCKS{after}"
        case Outcome.GOES_ON:
            device = str(trial.device) if trial.device.startswith("/") else "neither device"
            return f"{device} {_ms(trial.ms)}"
        case Outcome.DELAYED:
            return f"no device, threaded seeder {_ms(trial.ms)}"
        case Outcome.THROWS:
            return f"FAILS: {trial.why.partition(':')[0].rpartition('.')[2][:_ERROR]}"
        case other:
            return _UNMEASURED[other]


_UNMEASURED = {
    Outcome.NO_GENERATOR: "no such generator",
    Outcome.NOT_COVERED: "not covered",
    Outcome.FAILED: "FAILED",
}


def _ms(value: float | None) -> str:
    if value is None:
        return "?"
    return f"{value / 1000:.1f} s" if value >= 1000 else f"{value:.0f} ms"  # noqa: PLR2004 - a second


def _uncovered(series: Series) -> Iterator[str]:
    """What was not tried, and what failed, each reason once."""
    for outcome, verb in (
        (Outcome.NOT_COVERED, "could not be tried"),
        (Outcome.FAILED, "was not measured"),
        (Outcome.THROWS, "failed"),
    ):
        whys: dict[str, list[Use]] = {}
        for trial in series.trials:
            if trial.outcome is outcome:
                whys.setdefault(trial.why, []).append(trial.question.use)
        for why, uses in whys.items():
            yield f"{', '.join(map(str, dict.fromkeys(uses)))} {verb}: {why or 'it does not say why'}"
    if series.no_namespace:
        yield f"no mount namespace: {series.no_namespace}"


def _evidence(trials: Sequence[Trial]) -> Iterator[str]:
    yield "evidence"
    for trial in trials:
        random, urandom = trial.taken
        told = [f"{random} bytes of /dev/random and {urandom} of /dev/urandom were read"]
        told += [trial.algorithm] if trial.algorithm else []
        told += [f"kept dry for {trial.held_ms} ms"] if trial.held_ms is not None else []
        told += [text for text in (trial.seen, trial.why) if text]
        if trial.outcome not in (Outcome.NOT_COVERED, Outcome.NO_GENERATOR):
            yield f"  {trial.question.use}, {trial.question.setting}: {'; '.join(told)}"


def as_json(
    account: Account,
    series: Series,
    settings: Sequence[Setting],
    *,
    subject: Mapping[str, object],
    notes: Sequence[str] = (),
) -> str:
    """As one JSON object."""
    said = next((t.said for t in series.trials if t.said), None) or {}
    document = {
        "schema": SCHEMA,
        "tool": {"name": "seedstall", "version": __version__},
        "sentence": redact(account.sentence),
        "status": str(account.status),
        "java": {
            **subject,
            "version": said.get("java"),
            "vendor": said.get("vendor"),
            "vm": said.get("vm"),
            "home": said.get("home"),
        },
        "means": series.how,
        "seconds": round(series.seconds, 2),
        "settings": {s.name: {"words": redact(s.words), "egd": s.egd} for s in settings},
        "trials": [_trial(t) for t in series.trials],
        "notes": [redact(n) for n in (*account.notes, *notes, *_uncovered(series))],
        "differences": list(account.differences),
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _trial(trial: Trial) -> dict[str, object]:
    use, setting = trial.question
    return {
        "instance": str(use.instance),
        "operation": str(use.operation),
        "setting": setting,
        "outcome": str(trial.outcome),
        "device": str(trial.device),
        "algorithm": trial.algorithm,
        "provider": trial.provider,
        "ms": None if trial.ms is None else round(trial.ms, 2),
        "held_ms": trial.held_ms,
        "bytes_of_random": trial.taken[0],
        "bytes_of_urandom": trial.taken[1],
        "seen": trial.seen,
        "why": redact(trial.why),
    }
