"""What stands now in the places where remedies go."""

from __future__ import annotations

from seedstall.model.evidence import Ask, Got, Missing, Ref, Space, Unavailable, Why
from seedstall.model.jvm import TomcatHome
from seedstall.model.surface import SetenvScript
from seedstall.source.base import Source


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
        on_host=_on_host(source, base),
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


def _on_host(source: Source, base: str) -> bool:
    """Whether that directory is the same one on this host: by inode and owner.

    A service with PrivateTmp has a mount namespace of its own and yet the host's files, so namespaces do not tell.
    """
    seen = source.read(_root(base, Ask.STAT))
    here = source.read(Ref(Space.KERNEL, base.lstrip("/"), Ask.STAT))
    return not (isinstance(seen, Got) and (isinstance(here, Missing) or here.value != seen.value))


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
