"""What stands now in the places where remedies go."""

from __future__ import annotations

from collections import deque

from seedstall.model.evidence import Ask, Got, Missing, Ref, Space, Unavailable, Why
from seedstall.model.jvm import TomcatHome
from seedstall.model.surface import SetenvScript
from seedstall.source.base import Source

MAX_LINKS = 40
"""As the kernel's."""


def setenv_script(source: Source, home: TomcatHome) -> SetenvScript:
    """The instance's ``bin/setenv.sh``, through the root of the process.

    Raises:
        Unavailable: whether there is one, or what is in it, could not be had.
        ValueError: CATALINA_BASE is no absolute path.
    """
    if not home.base.startswith("/"):
        message = f"CATALINA_BASE {home.base!r} is no absolute path"
        raise ValueError(message)
    base = home.base.rstrip("/")
    content = _content(source, f"{base}/bin/setenv.sh")
    inherited = None
    from_home = f"{home.home.rstrip('/')}/bin/setenv.sh" if home.home.startswith("/") else ""
    if content is None and from_home and home.home.rstrip("/") != base:
        inherited = _content(source, from_home)
    return SetenvScript(
        base=home.base,
        content=content,
        inherited=inherited,
        inherited_from=from_home if inherited is not None else "",
        on_host=on_host(source, base),
        launcher=_launcher(source, home.home),
        bash=_bash(source),
    )


def _root(path: str, ask: Ask = Ask.CONTENT) -> Ref:
    return Ref(Space.ROOT, path.lstrip("/"), ask)


def _content(source: Source, path: str) -> bytes | None:
    """A file's bytes; ``None`` where there is none. Could not look is not "none"."""
    reading = source.read(_root(path))
    if isinstance(reading, Got):
        return reading.value
    if reading.why is Why.ABSENT:
        return None
    raise Unavailable(reading)


def on_host(source: Source, path: str) -> bool:
    """Whether that file or directory is the same one on this host: by inode and owner; of a new one, its directory.

    A service with PrivateTmp has a mount namespace of its own and yet the host's files, so namespaces do not tell.
    """
    while path:
        seen = source.read(_root(path, Ask.STAT))
        if isinstance(seen, Got):
            here = source.read(Ref(Space.KERNEL, path.lstrip("/"), Ask.STAT))
            return isinstance(here, Got) and here.value == seen.value
        path = path.rpartition("/")[0]
    return True


def real_path(source: Source, path: str, *, host: bool = False) -> str:
    """*path* in the target's root (with *host*: on this host), all links resolved as far as they can be read.

    ``patch`` refuses to write through a link, so a patch must name the file itself.
    """
    space = Space.KERNEL if host else Space.ROOT
    todo = deque(part for part in path.split("/") if part)
    done: list[str] = []
    links = 0
    while todo and links <= MAX_LINKS:
        part = todo.popleft()
        if part in (".", ".."):
            if part == ".." and done:
                done.pop()
            continue
        reading = source.read(Ref(space, "/".join((*done, part)), Ask.LINK))
        if not isinstance(reading, Got):
            done.append(part)
            continue
        links += 1
        target = reading.value.decode("utf-8", "surrogateescape")
        if target.startswith("/"):
            done.clear()
        todo.extendleft(reversed([p for p in target.split("/") if p]))
    return "/" + "/".join((*done, *todo))


def _launcher(source: Source, home: str) -> bool | None:
    """Whether a script that sources setenv.sh is there. RHEL's own packages start Tomcat without one."""
    readings = [
        source.read(_root(f"{home.rstrip('/')}/bin/{name}", Ask.STAT))
        for name in ("catalina.sh", "daemon.sh")
    ]
    if any(isinstance(r, Got) for r in readings):
        return True
    return False if all(isinstance(r, Missing) and r.why is Why.ABSENT for r in readings) else None


def _bash(source: Source) -> bool | None:
    """Whether ``/bin/sh`` is bash: RHEL's and SUSE's is, Debian's is dash, Alpine's busybox. Told by its link."""
    link = source.read(_root("bin/sh", Ask.LINK))
    name = link.value.rpartition(b"/")[2] if isinstance(link, Got) else b""
    return {b"bash": True, b"dash": False, b"busybox": False, b"ash": False}.get(name)


PROVIDERS = (setenv_script,)
