"""Tomcat as distributions package it: Debian's /etc/default/tomcatN, Red Hat's tomcat.conf and its neighbours."""

from __future__ import annotations

import re

from seedstall.engine.need import Need, egd_need
from seedstall.model.errors import SeedstallError, UsageError
from seedstall.model.evidence import Ask, Got, Ref, Space
from seedstall.model.jvm import TomcatHome
from seedstall.model.surface import SetenvScript
from seedstall.parse import setenv
from seedstall.parse.edit import environment
from seedstall.parse.edit.options import Edit
from seedstall.remedy import place, value
from seedstall.remedy.place import Place
from seedstall.remedy.request import Answer, Request
from seedstall.render import templates

EGD = setenv.EGD
ORDER = ("JAVA_OPTS", "CATALINA_OPTS")
"""As catalina.sh and Red Hat's ``server`` put them on the command line: the later one wins."""
VERSIONS = ("11", "10", "9", "8", "7", "6")
_UNITS = ("etc/systemd/system", "lib/systemd/system", "usr/lib/systemd/system")
_DEFAULTS = re.compile(r"/etc/default/(tomcat\d{0,2})")

# Debian and Ubuntu


def debian_tomcat(request: Request) -> Answer:
    """A patch of /etc/default/tomcatN, where Debian's start script takes JAVA_OPTS from."""
    where = debian_place(request)
    if where is None:
        return _text(request, "fix/debian-tomcat/text.j2", "/etc/default/tomcatN was not seen")
    if where.content is None:
        raise UsageError(
            f"there is no {where.path}: this is no Tomcat of Debian's package",
            place.fitting(request, "debian-tomcat"),
        )
    name = _DEFAULTS.fullmatch(where.path)
    sourced = not _by_systemd(request, name[1] if name else "")
    edit = _debian_edit(request, where, where.content, sourced=sourced)
    then = f"systemctl restart {name[1] if name else 'tomcatN'}"
    return _edited(request, where, edit, then, (*_stronger(request),))


def _debian_edit(request: Request, where: Place, content: bytes, *, sourced: bool) -> Edit:
    try:
        if not sourced:
            return environment.set_egd(content, request.egd, target="JAVA_OPTS", order=ORDER)
        # `tomcat-start.sh` runs in /bin/sh with `set -e` and exports JAVA_OPTS alone (tomcat10 10.1.60-1~deb12u1).
        made = setenv.set_egd(content, request.egd, target="JAVA_OPTS", order=ORDER, own=True)
    except ValueError as error:
        message = f"{where.path} cannot be edited safely: {error}"
        by_hand = setenv.assignment(request.egd, target="JAVA_OPTS")
        raise SeedstallError(message, f"by hand: {by_hand}") from error
    return Edit(made.content, made.line, made.replaced, made.notes)


def debian_place(request: Request) -> Place | None:
    """The file of this instance's package.

    Raises:
        UsageError: the target is no Tomcat, or not the package's own instance.
    """
    if request.given is not None:
        return place.given(request)
    home = request.case.value(TomcatHome)
    if home is None:
        if request.pid is not None:
            raise UsageError(
                f"{request.target} is no Tomcat: {place.what(request)}",
                place.fitting(request, "debian-tomcat"),
            )
        return place.seen(request, *(f"/etc/default/tomcat{n}" for n in VERSIONS))
    match = re.fullmatch(r"/var/lib/(tomcat\d{1,2})/?", home.base)
    if match is None:
        raise UsageError(
            f"this instance ({home.base}) is none of Debian's package, whose base is /var/lib/tomcatN: it reads no"
            " file in /etc/default",
            place.fitting(request, "debian-tomcat"),
        )
    return place.seen(request, f"/etc/default/{match[1]}")


def _by_systemd(request: Request, name: str) -> bool:
    """Whether the package's unit reads the file itself (EnvironmentFile=) and no shell does."""
    for folder in _UNITS if name else ():
        reading = request.source.read(Ref(Space.ROOT, f"{folder}/{name}.service"))
        if isinstance(reading, Got):
            wanted = rf"(?m)^[ \t]*EnvironmentFile[ \t]*=[ \t]*-?/etc/default/{name}[ \t]*$"
            return re.search(wanted.encode(), reading.value) is not None
    return False


def _stronger(request: Request) -> tuple[str, ...]:
    """That the instance's setenv.sh has the last word: CATALINA_OPTS comes behind JAVA_OPTS."""
    script = request.case.value(SetenvScript)
    content = (script.content or script.inherited or b"") if script is not None else b""
    if script is None or f"-D{EGD}".encode() not in content:
        return ()
    path = script.path if script.content is not None else script.inherited_from
    return (f"{path} sets java.security.egd too, and comes later: see --surface tomcat-setenv",)


# Red Hat, Fedora, SUSE

CONF_D = "/etc/tomcat/conf.d"
MAIN = "/etc/tomcat/tomcat.conf"


def rhel_tomcat(request: Request) -> Answer:
    """A patch of the file from which Red Hat's unit or its start script takes CATALINA_OPTS."""
    where = rhel_place(request)
    if where is None:
        return _text(request, "fix/rhel-tomcat/text.j2", "neither tomcat.conf nor conf.d was seen")
    then = f"systemctl restart {_unit(request)}"
    if "/conf.d/" in where.path:
        return _drop_in(request, where, then)
    try:
        edit = environment.set_egd(
            where.content or b"", request.egd, target=_target(where), order=ORDER
        )
    except ValueError as error:
        message = f"{where.path} cannot be edited safely: {error}"
        by_hand = f'CATALINA_OPTS="... -D{EGD}={request.egd}", without $CATALINA_OPTS in it'
        raise SeedstallError(message, f"by hand: {by_hand}") from error
    return _edited(request, where, edit, then)


def _target(where: Place) -> str:
    """CATALINA_OPTS, which start alone uses; JAVA_OPTS where only that is set there."""
    names = [v.name for v in environment.variables(_text_of(where))]
    return "JAVA_OPTS" if "JAVA_OPTS" in names and "CATALINA_OPTS" not in names else "CATALINA_OPTS"


def _text_of(where: Place) -> str:
    return (where.content or b"").decode("utf-8", "surrogateescape")


def _drop_in(request: Request, where: Place, then: str) -> Answer:
    """A file of conf.d, which the start script sources after the environment files: shell, as setenv.sh."""
    content = where.content
    if content is None:
        new = templates.render(
            "fix/rhel-tomcat/conf.d.j2", egd=request.egd, comment=value.comment(request)
        ).encode()
        edit = Edit(new)
    else:
        try:
            made = setenv.set_egd(content, request.egd, order=ORDER, bash=True)
        except ValueError as error:
            message = f"{where.path} cannot be edited safely: {error}"
            raise SeedstallError(message, f"by hand: {setenv.assignment(request.egd)}") from error
        edit = Edit(made.content, made.line, made.replaced, made.notes)
    return _edited(request, where, edit, then)


def rhel_place(request: Request) -> Place | None:
    """Where a setting stands now; else a file of conf.d, where the package has that; else the file it belongs in.

    The unit reads tomcat.conf and then sysconfig (the later one wins); ``/usr/libexec/tomcat/preamble`` then sources
    ``conf.d/*.conf`` in the order of their names.

    Raises:
        UsageError: the target is no Tomcat, or one that was not started in Red Hat's way.
    """
    if request.given is not None:
        return place.given(request)
    home = request.case.value(TomcatHome)
    if home is None and request.pid is not None:
        raise UsageError(
            f"{request.target} is no Tomcat: {place.what(request)}",
            place.fitting(request, "rhel-tomcat"),
        )
    files = (*_conf_d(request), f"/etc/sysconfig/{_unit(request)}", MAIN)
    there = [p for p in files if place.is_there(request, p)]
    if not there and request.pid is not None:
        raise UsageError(
            f"there is neither {MAIN} nor a file in /etc/sysconfig: this is no Tomcat of Red Hat's package",
            place.fitting(request, "rhel-tomcat"),
        )
    found = [w for path in there if (w := place.seen(request, path)) is not None]
    setting = [w for w in found if _sets(w)]
    if setting:
        return setting[0]
    if place.is_there(request, CONF_D):
        return place.seen(request, f"{CONF_D}/seedstall.conf")
    # What sysconfig sets takes the place of tomcat.conf's: the file that sets the variable now is the one.
    using = [w for w in found if b"CATALINA_OPTS=" in (w.content or b"")]
    return next(iter(using or found[::-1]), None)


def _sets(where: Place) -> bool:
    try:
        last = {v.name: v.value for v in environment.variables(_text_of(where))}
    except ValueError:
        return False
    return any(f"-D{EGD}=" in last.get(name, "") for name in ORDER)


def _conf_d(request: Request) -> tuple[str, ...]:
    """The files of conf.d, the one that is sourced last first."""
    reading = request.source.read(Ref(Space.ROOT, CONF_D.lstrip("/"), Ask.LIST))
    if not isinstance(reading, Got):
        return ()
    names = [n.decode("utf-8", "surrogateescape") for n in reading.value.split(b"\0") if n]
    return tuple(f"{CONF_D}/{n}" for n in sorted(names, reverse=True) if n.endswith(".conf"))


def _unit(request: Request) -> str:
    """``tomcat``, or ``tomcat@NAME`` of a named instance, whose base is /var/lib/tomcats/NAME."""
    home = request.case.value(TomcatHome)
    match = re.fullmatch(
        r"/var/lib/tomcats/([\w.-]{1,60})/?", home.base if home is not None else ""
    )
    return f"tomcat@{match[1]}" if match else "tomcat"


# Both


def _edited(
    request: Request, where: Place, edit: Edit, then: str, notes: tuple[str, ...] = ()
) -> Answer:
    if edit.content == where.content:
        at = f" (line {edit.line})" if edit.line else ""
        return Answer(reason=f"{where.path} sets {request.egd} already{at}")
    judgement = egd_need(request.case, request.egd)
    # A wrong setting in this very file is put right even where another place makes up for it now.
    if not edit.replaced or judgement.need is Need.USELESS:
        nothing = value.refused(request, judgement)
        if nothing is not None:
            return nothing
    replaced = tuple(f"line {number}: {option} goes" for number, option in edit.replaced)
    told = (*replaced, *edit.notes, *notes, *value.about(request), *value.told(judgement))
    return place.patched(
        request,
        where,
        edit.content,
        told,
        patch_file="tomcat.patch",
        then=(f"it takes effect with: {then}",),
    )


def _text(request: Request, template: str, unseen: str) -> Answer:
    """What to write by hand, where no file can be looked at."""
    judgement = egd_need(request.case, request.egd)
    nothing = value.refused(request, judgement)
    if nothing is not None:
        return nothing
    text = templates.render(template, egd=request.egd)
    note = f"{unseen}: name a PID, or the file itself, for a patch"
    return Answer(text.encode(), notes=(note, *value.about(request), *value.told(judgement)))


def _debian_written(request: Request) -> Place:
    return _there(debian_place(request))


def _rhel_written(request: Request) -> Place:
    return _there(rhel_place(request))


def _there(found: Place | None) -> Place:
    if found is None:
        raise SeedstallError("the file could not be looked at", "name it")
    return found


ANSWERS = {"debian-tomcat": debian_tomcat, "rhel-tomcat": rhel_tomcat}
PLACES = {"debian-tomcat": _debian_written, "rhel-tomcat": _rhel_written}
