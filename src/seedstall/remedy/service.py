"""A drop-in for the systemd service that starts the JVM."""

from __future__ import annotations

import re

from seedstall.engine.need import egd_need
from seedstall.facts.service import Service
from seedstall.knowledge.services import TRANSIENT, UnitName
from seedstall.model.errors import SeedstallError, UsageError
from seedstall.model.evidence import Missing, Why
from seedstall.model.jvm import Environment, Launch, OptionOrigin
from seedstall.parse.edit import environment, unit
from seedstall.parse.edit.options import changed, changes, option, settings
from seedstall.parse.setenv import EGD
from seedstall.remedy import place, value
from seedstall.remedy.place import Place
from seedstall.remedy.request import Answer, Request
from seedstall.render import templates

TOOL_OPTIONS = "JAVA_TOOL_OPTIONS"
"""Every JVM reads it, whatever script starts it; options of the command line beat it."""
_NAMES = ("seedstall.conf", "zz-seedstall.conf", "zzzz-seedstall.conf")
_READ_BY_JAVA = (TOOL_OPTIONS, "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS")
_UNIT_FILE = re.compile(r".*\.service(?:\.d/[^/]+\.conf)?", re.DOTALL)
_OPTION = re.compile(r"-D[A-Za-z.]{1,80}=[^\s\"'\\]*")


def systemd(request: Request) -> Answer:
    """A drop-in for the unit of the process, or a patch of the unit file that was named."""
    if request.given is not None:
        return _unit_file(request)
    service = _service(request)
    if service is None:
        return _text(request)
    judgement = egd_need(request.case, request.egd)
    nothing = value.refused(request, judgement)
    if nothing is not None:
        return nothing
    deciding = _environment_file(request, service)
    if deciding is not None:
        return _in_file(request, deciding, _then(service.name))
    content, notes = _drop_in(request, service)
    where = _place(request, service)
    if where.content == content:
        return Answer(reason=f"{where.path} holds it already: {_then(service.name)}")
    told = (*notes, *value.about(request), *value.told(judgement))
    return place.patched(
        request,
        where,
        content,
        told,
        patch_file="unit.patch",
        then=(f"it takes effect with: {_then(service.name)}",),
    )


def systemd_place(request: Request) -> Place:
    """The drop-in.

    Raises:
        UsageError: the target belongs to no service.
    """
    named = place.given(request)
    if named is not None:
        return named
    service = _service(request)
    if service is None:
        raise UsageError("no unit is known", "name the process, or the file")
    return _environment_file(request, service) or _place(request, service)


def _service(request: Request) -> Service | None:
    reading = request.case.get(Service)
    if isinstance(reading, Missing):
        if request.pid is None:
            return None
        if reading.why is Why.ABSENT:
            raise UsageError(
                f"{request.target} is started by no systemd service: {reading.detail}",
                place.fitting(request, "systemd"),
            )
        raise SeedstallError(f"the unit of {request.target} is not known: {reading}")
    service = reading.value
    if service.fragment.startswith(TRANSIENT):
        raise UsageError(
            f"{service.name.name} is a transient unit: a drop-in would go with it",
            f"start it with: systemd-run -E {TOOL_OPTIONS}={option(request.egd)} ...",
        )
    if service.name.user:
        raise UsageError(
            f"{service.name.name} is run by a user's own systemd",
            f"as that user: systemctl --user edit {service.name.name}, and there [Service] and"
            f' Environment="{TOOL_OPTIONS}={option(request.egd)}"',
        )
    return service


def _then(name: UnitName) -> str:
    return f"systemctl daemon-reload && systemctl restart {place.word(name.name)}"


def _text(request: Request) -> Answer:
    judgement = egd_need(request.case, request.egd)
    nothing = value.refused(request, judgement)
    if nothing is not None:
        return nothing
    text = templates.render("fix/systemd/text.j2", egd=request.egd)
    note = (
        "the unit was not seen: an Environment= of the same variable that it has is replaced whole, so put its value"
        " before the option"
    )
    return Answer(text.encode(), notes=(note, *value.about(request), *value.told(judgement)))


def _unit_file(request: Request) -> Answer:
    where = systemd_place(request)
    content = where.content or b""
    if not unit.is_unit(content) and not _UNIT_FILE.fullmatch(where.path):
        return _in_file(request, where, "systemctl restart UNIT")
    try:
        edit = unit.set_egd(content, request.egd)
    except ValueError as error:
        message = f"{where.path} cannot be edited safely: {error}"
        by_hand = f'Environment="{TOOL_OPTIONS}={option(request.egd)}" below [Service]'
        raise SeedstallError(message, f"by hand: {by_hand}") from error
    if edit.content == content:
        return Answer(reason=f"{where.path} sets {request.egd} already (line {edit.line})")
    judgement = egd_need(request.case, request.egd)
    nothing = value.refused(request, judgement) if not edit.replaced else None
    if nothing is not None:
        return nothing
    replaced = tuple(f"line {number}: {one} goes" for number, one in edit.replaced)
    told = (*replaced, *value.about(request), *value.told(judgement))
    name = where.path.rpartition("/")[2]
    unit_name = name if name.endswith(".service") else "UNIT"
    return place.patched(
        request,
        where,
        edit.content,
        told,
        patch_file="unit.patch",
        then=(f"it takes effect with: {_then(UnitName(unit_name))}",),
    )


def _place(request: Request, service: Service) -> Place:
    """The drop-in that comes last: what a later one sets would win."""
    folder = f"/etc/systemd/system/{service.name.name}.d"
    others = [p.rpartition("/")[2] for p in service.drop_ins]
    last = max((n for n in others if n not in _NAMES), default="")
    name = next((n for n in _NAMES if n > last), "")
    if not name:
        raise SeedstallError(
            f"a drop-in called {last} would come after any of ours", "put the setting into that one"
        )
    path = f"{folder}/{name}"
    found = place.seen(request, path, host=True)
    return found or Place(path, None, path, host=True)


# EnvironmentFile=


def _environment_file(request: Request, service: Service) -> Place | None:
    """The file that beats any Environment=, where it sets the property or JAVA_TOOL_OPTIONS; the last such one."""
    for given in reversed(service.unit.files):
        if not given.value.startswith("/") or set(given.value) & set("*?[%"):
            continue
        where = place.seen(request, given.value, host=True)
        if where is None or where.content is None:
            continue
        target = _target(where.content, "")
        if target and _reaches(request, service, target):
            return where
    return None


def _target(content: bytes, otherwise: str) -> str:
    """The variable of an environment file that holds the setting, or JAVA_TOOL_OPTIONS where that stands in it."""
    try:
        found = environment.variables(content.decode("utf-8", "surrogateescape"))
    except ValueError:
        return otherwise
    setting = [v.name for v in found if settings(v.value)]
    return (*setting[::-1], *(v.name for v in found if v.name == TOOL_OPTIONS), otherwise)[0]


def _in_file(request: Request, where: Place, then: str) -> Answer:
    content = where.content or b""
    target = _target(content, TOOL_OPTIONS)
    try:
        edit = environment.set_egd(content, request.egd, target=target, order=(target,))
    except ValueError as error:
        message = f"{where.path} cannot be edited safely: {error}"
        by_hand = f'{target}="... {option(request.egd)}"'
        raise SeedstallError(message, f"by hand: {by_hand}") from error
    if edit.content == content:
        return Answer(reason=f"{where.path} sets {request.egd} already (line {edit.line})")
    judgement = egd_need(request.case, request.egd)
    nothing = value.refused(request, judgement) if not edit.replaced else None
    if nothing is not None:
        return nothing
    replaced = tuple(f"line {number}: {one} goes" for number, one in edit.replaced)
    told = (*replaced, *edit.notes, *value.about(request), *value.told(judgement))
    return place.patched(
        request,
        where,
        edit.content,
        told,
        patch_file="unit.patch",
        then=(f"it takes effect with: {then}",),
    )


# What the drop-in says


def _drop_in(request: Request, service: Service) -> tuple[bytes, tuple[str, ...]]:
    """The drop-in's content: in the variable that sets it now, in the command, else in JAVA_TOOL_OPTIONS."""
    for name, given in service.unit.environment.items():
        if settings(given.value) and _reaches(request, service, name):
            note = f"{given.place}: {name} sets it now; the drop-in sets that variable anew, with the rest of its value"
            return _variable(request, service, name, given.value), (note, *_beaten(service, name))
    starts = [given for given in service.unit.starts if _in_command(given.value)]
    if starts:
        note = f"{starts[0].place}: the command itself sets it: an update of the package no longer changes it"
        return _commands(request, service), (note,)
    _refuse_beaten(request)
    held, notes = _held(request, service)
    return _variable(request, service, TOOL_OPTIONS, held), (
        f"{TOOL_OPTIONS} reaches every JVM of the unit, and each says so on stderr",
        *notes,
        *_beaten(service, TOOL_OPTIONS),
        *_lost(request, service),
    )


def _reaches(request: Request, service: Service, name: str) -> bool:
    """Whether the variable *name* may get to the JVM: ``JAVA_OPTS`` is nothing to ``java`` itself."""
    starts = [given.value for given in service.unit.starts]
    if name in _READ_BY_JAVA or any(re.search(rf"\$\{{?{name}\b", start) for start in starts):
        return True
    programs = [start.split()[0].rpartition("/")[2].strip("\"'") for start in starts]
    if programs and all(program == "java" for program in programs):
        return False
    variables, launch = request.case.value(Environment), request.case.value(Launch)
    seen = variables is not None and bool(settings(variables.get(name, "")))
    return not (seen and launch is not None and launch.last_property(EGD) is None)


def _in_command(command: str) -> bool:
    return any(settings(m[0]) for m in _OPTION.finditer(command))


def _variable(request: Request, service: Service, name: str, held: str) -> bytes:
    wanted = request.egd.replace("%", "%%")
    try:
        assignment = unit.quoted(name, changed(held, changes(held, wanted)))
    except ValueError as error:
        raise SeedstallError(
            f"no drop-in can be written: {error}", "edit the unit by hand"
        ) from error
    return templates.render(
        "fix/systemd/dropin.conf.j2", unit=service.name.name, variable=name, assignment=assignment
    ).encode("utf-8", "surrogateescape")


def _commands(request: Request, service: Service) -> bytes:
    wanted = option(request.egd).replace("%", "%%")

    def right(match: re.Match[str]) -> str:
        return wanted if settings(match[0]) else match[0]

    commands = [_OPTION.sub(right, given.value) for given in service.unit.starts]
    return templates.render(
        "fix/systemd/dropin.conf.j2", unit=service.name.name, commands=commands
    ).encode("utf-8", "surrogateescape")


def _refuse_beaten(request: Request) -> None:
    """Refuse where a command line that stands in no unit sets it: that beats what the drop-in could set."""
    launch = request.case.value(Launch)
    found = launch.last_property(EGD) if launch is not None else None
    weak = (OptionOrigin.JAVA_TOOL_OPTIONS,)
    if found is not None and found.origin not in weak and found.text != option(request.egd):
        raise UsageError(
            f"{found.place} sets {found.text}, which stands in no unit file and beats {TOOL_OPTIONS}",
            place.fitting(request, "systemd"),
        )


def _held(request: Request, service: Service) -> tuple[str, tuple[str, ...]]:
    """What JAVA_TOOL_OPTIONS holds now, which the drop-in would replace."""
    given = service.unit.environment.get(TOOL_OPTIONS)
    if given is not None:
        return given.value, (f"{given.place}: what {TOOL_OPTIONS} holds is kept",)
    environment = request.case.value(Environment)
    if environment is None:
        why = f"whether something else gives the process a {TOOL_OPTIONS} could not be seen: the drop-in replaces it"
        return "", (why,)
    held = environment.get(TOOL_OPTIONS, "")
    if not held:
        return "", ()
    note = (
        f"the process has a {TOOL_OPTIONS} that stands in no unit file (an EnvironmentFile, the manager or a script"
        " sets it): the drop-in repeats it"
    )
    return held.replace("%", "%%"), (note,)


def _beaten(service: Service, name: str) -> tuple[str, ...]:
    if not service.unit.files:
        return ()
    files = ", ".join(given.value for given in service.unit.files)
    return (f"what {files} sets beats Environment=: if {name} stands there, put the option there",)


def _lost(request: Request, service: Service) -> tuple[str, ...]:
    """That the start script drops the unit's variables (``su -``, ``sudo``, ``env -i``), as far as it shows."""
    environment = request.case.value(Environment)
    if environment is None:
        return ()
    names = [n for n in service.unit.environment if n != TOOL_OPTIONS and n not in environment]
    if not names or len(names) < len(service.unit.environment):
        return ()
    why = f"the process has none of the unit's variables ({names[0]}): what starts it drops them, and would drop"
    return (f"{why} {TOOL_OPTIONS} too",)


# For a product whose start script takes options from a variable of its own


def through(request: Request, name: str) -> Answer | None:
    """A drop-in that adds the option to the variable *name*; ``None`` where no service is known.

    Raises:
        UsageError: it belongs to a transient unit or to a user's own systemd.
    """
    reading = request.case.get(Service)
    service = None if isinstance(reading, Missing) else _service(request)
    if service is None:
        return None
    judgement = egd_need(request.case, request.egd)
    nothing = value.refused(request, judgement)
    if nothing is not None:
        return nothing
    given = service.unit.environment.get(name)
    held = given.value if given is not None else ""
    content = _variable(request, service, name, held)
    where = _place(request, service)
    if where.content == content:
        return Answer(reason=f"{where.path} holds it already: {_then(service.name)}")
    kept = (f"{given.place}: what {name} holds is kept",) if given is not None else ()
    told = (*kept, *_beaten(service, name), *value.about(request), *value.told(judgement))
    return place.patched(
        request,
        where,
        content,
        told,
        patch_file="unit.patch",
        then=(f"it takes effect with: {_then(service.name)}",),
    )


def through_place(request: Request) -> Place | None:
    """The drop-in of `through`; ``None`` where no service is known."""
    if isinstance(request.case.get(Service), Missing):
        return None
    return systemd_place(request)


ANSWERS = {"systemd": systemd}
PLACES = {"systemd": systemd_place}
