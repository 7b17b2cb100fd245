"""Which program runs on the JVM, and where a Tomcat's directories are."""

from __future__ import annotations

from seedstall.facts.launch import working_directory
from seedstall.knowledge.products import recognise
from seedstall.model.evidence import Missing, Unavailable, Why
from seedstall.model.jvm import Launch, Product, TomcatHome
from seedstall.source.base import Source


def product(_source: Source, launch: Launch) -> Product:
    """The program, by its command line."""
    return recognise(launch)


def tomcat_home(source: Source, launch: Launch) -> TomcatHome:
    """CATALINA_BASE and CATALINA_HOME, as the process sees them; the one stands for the other where it is not set.

    Raises:
        Unavailable: the command line names neither: it is no Tomcat of its own (embedded, or none).
    """
    base = launch.property_value("catalina.base") or launch.property_value("catalina.home")
    home = launch.property_value("catalina.home") or base
    if not base or not home:
        raise Unavailable(Missing(Why.ABSENT, (), "no -Dcatalina.base and no -Dcatalina.home"))
    return TomcatHome(base=_absolute(source, base), home=_absolute(source, home))


def _absolute(source: Source, path: str) -> str:
    if not path.startswith("/") and (directory := working_directory(source)) is not None:
        path = f"{directory}/{path}"
    return path.rstrip("/") or "/"


PROVIDERS = (product, tomcat_home)
