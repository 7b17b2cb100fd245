"""The two files that a bundle explains itself by: its head and its manifest (docs/bundles.md)."""

from __future__ import annotations

from collections.abc import Iterable

from seedstall.model.bundle import ANSWERS, FORMAT, HEAD, STATUS, Head, Manifest
from seedstall.model.evidence import Ask, Missing, Ref, Space, Why

MOST_LINES = 1_000_000
"""Of a manifest: a JVM of 10,000 threads has some 100,000 readings."""
MOST_KEYS = 1000
LONGEST_VALUE = 4096
_ESCAPES = ((b"\\", b"\\\\"), (b"\t", b"\\t"), (b"\n", b"\\n"))
_PLAIN = {b"\\": b"\\", b"t": b"\t", b"n": b"\n"}


class NoBundleError(ValueError):
    """It is not a bundle of ours, or of a version that is not read."""


def head(data: bytes) -> Head:
    """The file ``seedstall-bundle``.

    Raises:
        NoBundleError: it is none.
    """
    lines = data.split(b"\n", MOST_KEYS)[:MOST_KEYS]
    first, _, version = lines[0].rstrip(b"\r").partition(b"\t")
    if first != HEAD.encode() or not version.isdigit() or len(version) > 9:  # noqa: PLR2004
        raise NoBundleError(f"its {HEAD} does not say that it is one")
    if int(version) > FORMAT:
        what = f"its format is version {int(version)}, and this seedstall reads {FORMAT}"
        raise NoBundleError(what)
    told: dict[str, str] = {}
    did: list[str] = []
    for line in lines[1:]:
        key, tab, value = line.rstrip(b"\r")[:LONGEST_VALUE].partition(b"\t")
        text = value.decode("utf-8", "backslashreplace")
        if key == b"did":
            did.append(text)
        elif tab:
            told.setdefault(key.decode("utf-8", "backslashreplace"), text)
    pid = told.pop("pid", "")
    return Head(
        int(version),
        told.pop("tool", ""),
        int(pid) if pid.isascii() and pid.isdigit() and len(pid) < 11 else None,  # noqa: PLR2004
        told.pop("taken", ""),
        told.pop("redacted", ""),
        told.pop("anonymised", "no") == "yes",
        tuple(did),
        told,
    )


def head_text(told: Head) -> bytes:
    """The same as bytes."""
    lines = [(HEAD, str(told.version)), ("tool", told.tool)]
    lines += [("pid", str(told.pid))] if told.pid is not None else []
    lines += [("taken", told.taken), ("redacted", told.redacted)]
    lines += [("anonymised", "yes" if told.anonymised else "no")]
    lines += sorted(told.others.items())
    lines += [("did", line) for line in told.did]
    shown = (f"{key}\t{' '.join(value.split())}\n" for key, value in lines)
    return "".join(shown).encode("utf-8", "surrogateescape")


def manifest(data: bytes) -> Manifest:
    """The file ``manifest.tsv``. A line that is none is passed over: the rest counts all the same.

    Raises:
        ValueError: it has more than `MOST_LINES`.
    """
    answers: dict[tuple[str, Ask], bytes] = {}
    missing: dict[tuple[str, Ask | None], Missing] = {}
    lines = data.split(b"\n", MOST_LINES)
    if len(lines) > MOST_LINES:
        raise ValueError(f"a manifest of more than {MOST_LINES} lines, the limit")
    for line in lines:
        fields = line.rstrip(b"\r").split(b"\t", 2)
        if len(fields) < 2:  # noqa: PLR2004 - a path and a status
            continue
        path = os_path(unescaped(fields[0])).strip("/")
        detail = unescaped(fields[2]) if len(fields) > 2 else b""  # noqa: PLR2004
        word = fields[1].decode("ascii", "replace")
        if word in ANSWERS:
            ask = ANSWERS[word]
            answer = _listed(detail) if ask is Ask.LIST else detail
            if ask is not Ask.STAT or _is_stat(answer):
                answers.setdefault((path, ask), answer)
            continue
        question, colon, reason = word.rpartition(":")
        why = STATUS.get(reason)
        if why is not None and (not colon or question in (*ANSWERS, "content")):
            ask_ = ANSWERS.get(question, Ask.CONTENT) if colon else None
            text = detail.decode("utf-8", "backslashreplace")[:LONGEST_VALUE]
            ref = Ref(Space.INPUT, path, ask_ or Ask.CONTENT)
            missing.setdefault((path, ask_), Missing(why, (ref,), text))
    return Manifest(answers, missing)


def os_path(path: bytes) -> str:
    """A path of a bundle as the paths of readings are spelled."""
    return path.decode("utf-8", "surrogateescape")


def _listed(names: bytes) -> bytes:
    """``a/b/c`` as the answer to `Ask.LIST`."""
    found = {name for name in names.split(b"/") if name not in (b"", b".", b"..")}
    return b"".join(name + b"\0" for name in sorted(found))


def _is_stat(answer: bytes) -> bool:
    fields = answer.split()
    return len(fields) == 7 and all(f.lstrip(b"-").isdigit() and len(f) < 21 for f in fields)  # noqa: PLR2004


def answer_line(path: str, ask: Ask, answer: bytes) -> bytes:
    """A line of the manifest for what is no file's content."""
    if ask is Ask.LIST:
        answer = b"/".join(answer.split(b"\0")[:-1])
    return _line(path, ask.value, answer)


def missing_line(path: str, ask: Ask, missing: Missing) -> bytes:
    """A line of the manifest for what is missing."""
    word = str(missing.why).replace(" ", "-")
    word = word if ask is Ask.CONTENT else f"{ask.value}:{word}"
    return _line(path, word, missing.detail.encode("utf-8", "surrogateescape"))


def _line(path: str, word: str, detail: bytes) -> bytes:
    spelled = escaped(path.encode("utf-8", "surrogateescape"))
    return b"\t".join((spelled, word.encode(), escaped(detail))) + b"\n"


def escaped(data: bytes) -> bytes:
    """With its backslashes, tabs and newlines spelled."""
    for plain, spelled in _ESCAPES:
        data = data.replace(plain, spelled)
    return data


def unescaped(data: bytes) -> bytes:
    """The reverse of `escaped`; a backslash before anything else stands for itself."""
    if b"\\" not in data:
        return data
    first, *rest = data.split(b"\\")
    found = [first]
    rest_ = iter(rest)
    for part in rest_:
        if not part:  # two backslashes: the part behind the second is plain
            found += [b"\\", next(rest_, b"")]
        elif part[:1] in _PLAIN:
            found += [_PLAIN[part[:1]], part[1:]]
        else:
            found += [b"\\", part]
    return b"".join(found)


def joined(manifests: Iterable[Manifest]) -> Manifest:
    """Several as one; what the first says counts."""
    answers: dict[tuple[str, Ask], bytes] = {}
    missing: dict[tuple[str, Ask | None], Missing] = {}
    for one in manifests:
        answers = {**one.answers, **answers}
        missing = {**one.missing, **missing}
    return Manifest(answers, missing)


def reason(told: Manifest, path: str, ask: Ask) -> tuple[Why, str] | None:
    """Why *path* is missing as far as the manifest says, by itself or by a directory that it lies in.

    ``None`` where it says nothing: then nothing is known.
    """
    known = told.missing.get((path, ask)) or told.missing.get((path, None))
    if known is not None:
        return known.why, known.detail
    below = path
    while "/" in below:
        folder, _, name = below.rpartition("/")
        names = told.lists(folder)
        if names is not None:
            return (
                (Why.ABSENT, "") if name.encode("utf-8", "surrogateescape") not in names else None
            )
        known = told.missing.get((folder, None))
        if known is not None and known.why in (Why.ABSENT, Why.DENIED, Why.VANISHED):
            return known.why, known.detail
        below = folder
    return None
