"""The file in which a remedy is written down: found through the target, patched as it is."""

from __future__ import annotations

from dataclasses import dataclass

from seedstall.facts.keepers import keepers
from seedstall.facts.surfaces import on_host, real_path
from seedstall.model.errors import SeedstallError
from seedstall.model.evidence import Ask, Got, Missing, Ref, Space, Why
from seedstall.model.jvm import Launch, Product
from seedstall.model.redact import MASK, redact, visible
from seedstall.remedy import value
from seedstall.remedy.request import NEXT_START, Answer, Request, Write
from seedstall.source.base import Source


@dataclass(frozen=True, slots=True)
class Place:
    """A file, as it is now.

    ``path`` is as the process sees it, all links resolved, or as this host does where ``host`` is true. ``content`` is
    ``None`` where there is none yet. ``asked`` is the name by which it was reached. ``base`` is the directory in which
    a patch is applied. ``inside`` is true where the process sees another file there than this host does. No link
    leads out of ``within`` when it is written.
    """

    path: str
    content: bytes | None
    asked: str = ""
    base: str = "/"
    within: tuple[str, ...] = ()
    host: bool = False
    inside: bool = False
    shown: str = ""
    """``base`` as the user named it."""

    @property
    def name(self) -> str:
        """Its path below ``base``."""
        base = self.base.rstrip("/") + "/"
        return self.path.removeprefix(base) if self.path.startswith(base) else self.path.lstrip("/")


def given(request: Request) -> Place | None:
    """The file that the user named."""
    file = request.given
    if file is None:
        return None
    base = file.path.rpartition("/")[0] or "/"
    shown = "."
    if not file.name or file.name.startswith("/"):
        shown = base
    elif "/" in file.name:
        shown = file.name.rpartition("/")[0]
    return Place(file.path, file.content, asked=file.path, base=base, host=True, shown=shown)


def seen(
    request: Request, *paths: str, base: str = "/", within: tuple[str, ...] = (), host: bool = False
) -> Place | None:
    """The first of *paths* that is there, else the first one as a new file; ``None`` where nothing can be looked at.

    The file that the user named goes before them. With *host* it is looked for on this host, not in the target's root.

    Raises:
        SeedstallError: it may be there, and could not be read.
    """
    named = given(request)
    if named is not None:
        return named
    absent = ""
    for path in paths:
        reading = _source(request, host=host).read(_ref(path, host=host))
        if isinstance(reading, Got):
            return _found(request, path, reading.value, base, within, host=host)
        if reading.why is Why.ABSENT:
            absent = absent or path
        elif reading.why is not Why.NOT_COLLECTED:
            raise unread(path, reading)
    if not absent:
        return None
    real = real_path(_source(request, host=host), absent, host=host)
    inside = not host and request.pid is not None and not on_host(request.source, real)
    return Place(real, None, absent, base, within, host=host, inside=inside)


def is_there(request: Request, path: str, *, host: bool = False) -> bool | None:
    """Whether *path* is there in the target's root (with *host*: on this host); ``None`` where that is not known."""
    reading = _source(request, host=host).read(_ref(path, Ask.STAT, host=host))
    if isinstance(reading, Got):
        return True
    return False if reading.why is Why.ABSENT else None


def _source(request: Request, *, host: bool) -> Source:
    """This host's own files are no evidence about the target: of a dump from elsewhere they tell nothing."""
    return request.host if host and request.host is not None else request.source


def _ref(path: str, ask: Ask = Ask.CONTENT, *, host: bool) -> Ref:
    return Ref(Space.KERNEL if host else Space.ROOT, path.lstrip("/"), ask)


def _found(
    request: Request, path: str, content: bytes, base: str, within: tuple[str, ...], *, host: bool
) -> Place:
    real = real_path(_source(request, host=host), path, host=host)
    inside = not host and request.pid is not None and not on_host(request.source, real)
    if not real.startswith(base.rstrip("/") + "/"):
        base = "/"  # a link led out of it
    return Place(real, content, path, base, within, host=host, inside=inside)


def unread(path: str, missing: Missing) -> SeedstallError:
    """That a file could not be looked at, and who could."""
    if missing.why is Why.DENIED:
        return SeedstallError(
            f"{path} could not be read: {missing}", "run as root or as the user that owns it"
        )
    return SeedstallError(f"{path} could not be looked at: {missing}")


def patched(
    request: Request,
    place: Place,
    new: bytes,
    notes: tuple[str, ...] = (),
    *,
    patch_file: str,
    why: str = "",
    mode: int = 0o644,
    then: tuple[str, ...] = (NEXT_START,),
) -> Answer:
    """*new* in the place of what is there: a patch to print, and the same as a file to write.

    *patch_file* is what the patch is called in the command above it, *why* the second line of its head.
    """
    from seedstall.render.patch import unified  # noqa: PLC0415 - difflib

    preamble = (
        f"patch -p1 -d {shown_base(request, place)} < {patch_file}",
        why or value.why(request),
    )
    patch = unified(
        place.content, new, visible(place.name), preamble=preamble, secret=_secret, mode=mode
    )
    more = list(
        keepers(_source(request, host=place.host), place.path, place.content, host=place.host)
    )
    if place.asked and place.asked != place.path:
        more.append(f"{place.asked} is a link: the file itself is {place.path}")
    if patch.secrets:
        name = place.path.rpartition("/")[2]
        more.append(
            f"the patch repeats {patch.secrets} line(s) of {name} that may hold a password; pass it on to nobody"
        )
    if request.pid is None and MASK.encode() in patch.data:
        more.append(
            f"the patch repeats a line in which a secret was hidden when it was captured ({MASK}): patch refuses it;"
            " make the change by hand, or run fix on that host"
        )
    if place.inside:
        more.append(
            f"{place.path} is inside a container or another root: there the command is patch -p1 -d"
            f" {word(place.base)}; what is written is lost when a container is made anew, so change its image too"
        )
    write = Write(place.path, new, place.content, place.within, host=place.host, then=then)
    if request.pid is None and not place.host:
        return Answer(patch.data, notes=(*notes, *more))
    return Answer(patch.data, notes=(*notes, *more), write=write)


def _secret(line: bytes) -> bool:
    text = line.decode("utf-8", "backslashreplace")
    return redact(text) != text


def shown_base(request: Request, place: Place) -> str:
    """The directory of the patch as a word for a shell of this host."""
    base = place.shown or place.base
    inside = place.inside and request.pid is not None
    return word(f"/proc/{request.pid}/root{base}" if inside else base)


def word(text: str) -> str:
    """A path as one shell word on one line: what a process calls itself must not become a line of the patch."""
    import shlex  # noqa: PLC0415

    return shlex.quote(visible(text))


# What the target is instead


def what(request: Request) -> str:
    """What the target is, for people."""
    product = request.case.value(Product)
    if product is not None:
        return product.title
    launch = request.case.value(Launch)
    if launch is None:
        return "its command line could not be read"
    return launch.tool or launch.main_class or launch.jar or launch.module or launch.java


def fitting(request: Request, but: str) -> str:
    """Which surfaces fit, as a hint."""
    product = request.case.value(Product)
    known = product.surfaces if product is not None else ()
    return (
        f"--surface {' or '.join(s for s in dict.fromkeys((*known, 'java-opts')) if s != but)} fits"
    )
