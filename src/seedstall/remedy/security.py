"""The JDK's security properties: the master file of that JDK, a file that is added to it."""

from __future__ import annotations

from dataclasses import dataclass

from seedstall.engine.need import Judgement, Need, egd_need, strong_need, strong_only
from seedstall.knowledge.egd import STRONG_NONBLOCKING, strong_advice
from seedstall.model.errors import SeedstallError, UsageError
from seedstall.model.evidence import Missing
from seedstall.model.jvm import JavaHome, Launch
from seedstall.model.security import SecurityProperties
from seedstall.parse.edit import properties
from seedstall.parse.properties import entries
from seedstall.parse.security import EXTRA
from seedstall.parse.setenv import EGD
from seedstall.remedy import place, value
from seedstall.remedy.place import Place
from seedstall.remedy.request import Answer, Request
from seedstall.render import templates

SOURCE = "securerandom.source"
STRONG = "securerandom.strongAlgorithms"
NEXT_START = "it takes effect at the next start of every program that this JDK runs"
_FAMILIES = (
    "security.", "securerandom.", "ssl.", "keystore.", "jdk.", "networkaddress.", "login.", "policy.", "package.",
    "krb5.", "ocsp.", "crypto.", "sun.", "java.", "jceks.", "fips.", "com.", "org.", "auth.", "cert.", "system.",
)  # fmt: skip
"""How the names of security properties begin: java.security of JDK 8 to 25, and those of providers."""
MASTERS = (
    "conf/security/java.security",
    "lib/security/java.security",
    "jre/lib/security/java.security",
)


def strong_algorithms(request: Request) -> Answer:
    """A security properties file for getInstanceStrong."""
    advice = strong_advice()
    judgement = strong_need(request.case, advice.value)
    # A value for java.security.egd says nothing of this file.
    nothing = value.refused(request, judgement, insists=request.force)
    if nothing is not None:
        return nothing
    text = templates.render("fix/strong-algorithms/text.j2", value=advice.value)
    return Answer(text.encode(), notes=(advice.why, *value.told(judgement)))


@dataclass(frozen=True, slots=True)
class _Entry:
    """The property to set, and whether that is needed."""

    name: str
    value: str
    why: str
    judgement: Judgement
    insists: bool


def _wanted(request: Request, content: bytes | None) -> _Entry:
    """``securerandom.source``; where only getInstanceStrong waits, ``securerandom.strongAlgorithms``."""
    if not strong_only(request.case) or request.value:
        judgement = egd_need(request.case, request.egd)
        return _Entry(SOURCE, request.egd, value.why(request), judgement, request.insists)
    advice = strong_advice()
    judgement = strong_need(request.case, advice.value)
    return _Entry(STRONG, _in_front(content or b""), advice.why, judgement, request.force)


def _in_front(content: bytes) -> str:
    """Our algorithm before the ones that are listed: getInstanceStrong() takes the first that there is."""
    try:
        found = list(entries(content, STRONG.__eq__))
    except ValueError:
        found = []
    listed = [a.strip() for a in (found[-1].value if found else "").split(",")]
    others = [a for a in listed if a and a != STRONG_NONBLOCKING]
    return ",".join((STRONG_NONBLOCKING, *others))


# java.security itself


def java_security(request: Request) -> Answer:
    """A patch of the very java.security that this JVM reads, links seen through."""
    where = java_security_place(request)
    if where is None or where.content is None:
        return _security_text(request, where)
    entry = _wanted(request, where.content)
    if entry.name == SOURCE:
        _refuse_beaten(request, where)
    return _set(request, where, entry, "java.security.patch", (_everything(request),))


def _everything(request: Request) -> str:
    launch = request.case.value(Launch)
    whose = f" ({launch.java})" if launch is not None else ""
    return f"it holds for every program that this JDK runs{whose}"


def java_security_place(request: Request) -> Place | None:
    """The master file of the target's java.home; where a file added with -Djava.security.properties sets it, that one.

    Raises:
        SeedstallError: it could not be looked at.
    """
    if request.given is not None:
        return place.given(request)
    settings = request.case.get(SecurityProperties)
    if not isinstance(settings, Missing):
        return place.seen(request, settings.value.master)
    home = request.case.value(JavaHome)
    if home is not None:
        paths = [f"{home.path}/{m}" for m in MASTERS]
        there = [p for p in paths if place.is_there(request, p)]
        return place.seen(request, *(there or paths[:1]))
    if request.pid is not None:
        raise SeedstallError(
            f"the java.security of {request.target} could not be looked at: {settings}",
            "run as root or as its user, or name the file",
        )
    return None


def _refuse_beaten(request: Request, where: Place) -> None:
    """Refuse where a stronger setting decides: the system property, or a file that is added to this one."""
    launch = request.case.value(Launch)
    found = launch.last_property(EGD) if launch is not None else None
    if found is not None and found.text.partition("=")[2]:
        raise UsageError(
            f"{found.place} sets {found.text}, which beats {where.path}",
            place.fitting(request, "java-security"),
        )
    settings = request.case.value(SecurityProperties)
    setting = settings.settings.get(SOURCE) if settings is not None else None
    if settings is not None and setting is not None and setting.file != settings.master:
        raise UsageError(
            f"{setting.place} sets {SOURCE} and beats {where.path}",
            f"seedstall fix {request.target} --surface security-properties",
        )


def _security_text(request: Request, where: Place | None) -> Answer:
    entry = _wanted(request, None)
    nothing = value.refused(request, entry.judgement, insists=entry.insists)
    if nothing is not None:
        return nothing
    text = templates.render("fix/java-security/text.j2", egd=request.egd)
    missing = (
        f"there is no {where.path}" if where is not None else "the JDK's java.security was not seen"
    )
    note = f"{missing}: name a PID, or the file itself, for a patch"
    return Answer(text.encode(), notes=(note, *value.about(request), *value.told(entry.judgement)))


def _set(
    request: Request, where: Place, entry: _Entry, patch_file: str, notes: tuple[str, ...]
) -> Answer:
    content = where.content or b""
    try:
        edit = properties.set_property(content, entry.name, entry.value)
    except ValueError as error:
        message = f"{where.path} cannot be edited safely: {error}"
        raise SeedstallError(message, f"by hand: {entry.name}={entry.value}") from error
    if edit.content == content:
        return Answer(reason=f"{where.path}:{edit.line} says {entry.name}={entry.value} already")
    if not edit.replaced or entry.judgement.need is not Need.WANTED:
        nothing = value.refused(request, entry.judgement, insists=entry.insists)
        if nothing is not None:
            return nothing
    replaced = tuple(f"line {number}: {old} goes" for number, old in edit.replaced)
    about = value.about(request) if entry.name == SOURCE else (entry.why,)
    told = (*replaced, *notes, *about, *value.told(entry.judgement))
    return place.patched(
        request, where, edit.content, told, patch_file=patch_file, why=entry.why, then=(NEXT_START,)
    )


# A file that is added to it


def security_properties(request: Request) -> Answer:
    """The file that -Djava.security.properties names already, with the entry in it; else one to be named so."""
    where = _extra(request)
    if where is not None and where.content is not None:
        if request.given is None:
            _check_family(request, where)
        entry = _wanted(request, where.content)
        notes = ("it is read because the JVM has -Djava.security.properties already",)
        if request.given is not None:
            notes = ("start java with -Djava.security.properties=FILE and one =",)
        return _set(request, where, entry, "security.patch", notes)
    entry = _wanted(request, None)
    nothing = value.refused(request, entry.judgement, insists=entry.insists)
    if nothing is not None:
        return nothing
    text = templates.render("fix/security-properties/file.j2", entry=entry.name, value=entry.value)
    about = value.about(request) if entry.name == SOURCE else (entry.why,)
    return Answer(text.encode(), notes=(*about, *value.told(entry.judgement)))


def _check_family(request: Request, where: Place) -> None:
    """Refuse a file that only the process calls one of security properties: root would write where it points.

    Raises:
        SeedstallError: no security property stands in it.
    """
    try:
        names = [e.name for e in entries(where.content or b"", lambda _: True)]
    except ValueError:
        names = [""]
    if names and not any(name.startswith(_FAMILIES) for name in names):
        raise SeedstallError(
            f"{where.path} holds no security property, though -D{EXTRA} of {request.target} names it",
            f"if it is meant, name it: seedstall fix {place.word(where.path)} --surface security-properties"
            " --jdk VERSION",
        )


def security_properties_place(request: Request) -> Place:
    """The file that is added.

    Raises:
        UsageError: the JVM has none.
    """
    where = _extra(request)
    if where is None:
        raise UsageError(
            "this JVM has no -Djava.security.properties=FILE: there is nothing to take back"
        )
    return where


def _extra(request: Request) -> Place | None:
    if request.given is not None:
        return place.given(request)
    settings = request.case.value(SecurityProperties)
    launch = request.case.value(Launch)
    named = launch.property_value(EXTRA) if launch is not None else None
    if settings is None or not named:
        return None
    added = [f for f in settings.files if f != settings.master]
    return place.seen(request, added[-1]) if added else None


ANSWERS = {
    "strong-algorithms": strong_algorithms,
    "java-security": java_security,
    "security-properties": security_properties,
}


def _java_security_written(request: Request) -> Place:
    where = java_security_place(request)
    if where is None:
        raise SeedstallError("the JDK's java.security was not seen", "name a PID, or the file")
    return where


PLACES = {
    "java-security": _java_security_written,
    "security-properties": security_properties_place,
}
