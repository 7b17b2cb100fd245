"""SS214: an entropy daemon where it may not feed."""

from __future__ import annotations

from collections.abc import Iterator

from seedstall.model.finding import Confidence, Disposition, Finding, Fix, When
from seedstall.model.rule import rule
from seedstall.model.settings import Command, ConfigFile, Placed, Settings
from seedstall.model.verdict import Cause
from seedstall.parse.configfile import change
from seedstall.parse.configfile.launched import base, installs
from seedstall.rules.lint import line

PACKAGES = frozenset(
    (
        "haveged",
        "rng-tools",
        "rng-tools5",
        "rng-tools-debian",
        "jitterentropy-rngd",
        "jitterentropy-rngd-hwrng",
        "ekeyd",
        "clrngd",
    )
)
DAEMONS = frozenset(("haveged", "rngd", "jitterentropy-rngd", "ekeyd", "clrngd"))


@rule("SS214", "feeder-in-container")
def feeder_in_container(settings: Settings) -> Iterator[Finding]:
    """An entropy daemon is put into a container that may not feed the pool.

    ## What it detects
    haveged, rng-tools and the like installed or started by a Dockerfile; started in a Compose service or a pod that
    has neither ``privileged: true`` nor the capability SYS_ADMIN.

    ## Why it matters
    The pool is the host's, and the ioctl RNDADDENTROPY needs CAP_SYS_ADMIN: in an ordinary container the daemon runs
    and feeds nothing. haveged itself asks "maybe running in a container?", and rngd's unit refuses containers.

    ## Fix
    Take it out of the image. On a kernel before 5.6 run it on the host, or give the virtual machine virtio-rng.
    """
    for file in settings.files:
        for command in file.commands:
            scope = file.scopes[command.scope]
            if not scope.container or scope.privileged:
                continue
            yield from _in_command(file, command)
        started = {
            c.scope for c in file.commands if any(base(w.text) in DAEMONS for w in c.words[:6])
        }
        for index, scope in enumerate(file.scopes):
            if index in started:
                continue
            if scope.product == "feeder" and scope.container and scope.privileged is False:
                yield from _by_image(file, scope.image)


def feeder_packages(command: Command) -> list[Placed]:
    """The entropy daemons that a command installs."""
    if not installs(command.words):
        return []
    return [w for w in command.words if w.text.partition("=")[0] in PACKAGES]


def _in_command(file: ConfigFile, command: Command) -> Iterator[Finding]:
    words = command.words
    if installs(words):
        packages = feeder_packages(command)
        for word in packages:
            yield _found(
                file,
                word,
                f"{word.text} is installed in an image",
                _without(file, command, packages),
            )
        return
    for word in words[:6]:
        if base(word.text) in DAEMONS:
            yield _found(file, word, f"{base(word.text)} is started in a container", [])
            return


def _without(file: ConfigFile, command: Command, packages: list[Placed]) -> list[change.Splice]:
    """The packages out of the line, each with the blanks before it; the line's other packages stay."""
    named = [w for w in command.words if not w.text.startswith("-")]
    others = [w for w in named[2:] if w not in packages]
    if not others:
        return []
    edits: list[change.Splice] = []
    for word in packages:
        start, end = word.outer
        while start > 0 and file.text[start - 1] in " \t":
            start -= 1
        begin = file.text.rfind("\n", 0, start) + 1
        stop = file.text.find("\n", end)
        rest = file.text[end : len(file.text) if stop < 0 else stop]
        if begin == start and rest.strip() == "\\" and stop >= 0:
            edits.append((begin, stop + 1, ""))  # a line of its own in a continued list
        else:
            edits.append((start, end, ""))
    return edits


def _by_image(file: ConfigFile, image: str) -> Iterator[Finding]:
    at = file.text.find(image)
    if at >= 0 and image:
        part = Placed(
            image,
            range(at, at + len(image)),
            range(at + 1, at + len(image) + 1),
            (at, at + len(image)),
        )
        yield _found(file, part, f"{image} is started as an ordinary container", [])


def _found(file: ConfigFile, word: Placed, what: str, edits: list[change.Splice]) -> Finding:
    return line.made(
        file,
        word.place()[0],
        message=f"{word.text} inside a container",
        does=(
            f"{what}: without CAP_SYS_ADMIN it cannot feed the pool, which is the host's; it has no effect, on every"
            " kernel"
        ),
        cause=Cause.INEFFECTIVE_FIX,
        confidence=Confidence.LIKELY,
        fixes=line.corrected(file, edits, "the package left out", Disposition.REVIEW)
        or (
            Fix(
                surface="rngd",
                title="feed the pool on the host instead",
                when=When.NOW,
                restart=False,
                needs_root=True,
                disposition=Disposition.REVIEW,
            ),
        ),
        notes=(
            "on a kernel before 5.6 run it on the host instead, or give the machine virtio-rng",
        ),
    )
