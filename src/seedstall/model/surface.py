"""Files in which remedies are written down, as they are now."""

from __future__ import annotations

from seedstall.model.record import dataclass


@dataclass(frozen=True, slots=True)
class SetenvScript:
    """A Tomcat instance's ``bin/setenv.sh``.

    ``base`` is CATALINA_BASE as the process sees it. ``content`` is ``None`` where the instance has no such file; then
    ``catalina.sh`` sources the one in CATALINA_HOME, if there is one: ``inherited``, its path in ``inherited_from``.
    ``on_host`` is false where the process sees other files than this host does (a container, a chroot). ``launcher`` is
    whether CATALINA_HOME has the ``catalina.sh`` or ``daemon.sh`` that would source it, ``None`` if unknown. ``bash``
    is whether ``/bin/sh``, which runs it, is bash there.
    """

    base: str
    content: bytes | None
    inherited: bytes | None = None
    inherited_from: str = ""
    on_host: bool = True
    launcher: bool | None = None
    bash: bool | None = None

    @property
    def path(self) -> str:
        """Its path, as the process sees it."""
        return f"{self.base.rstrip('/')}/bin/setenv.sh"
