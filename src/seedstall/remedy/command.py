"""Flags on a command line: ``java`` itself, and the tools of the JDK."""

from __future__ import annotations

from seedstall.engine.need import egd_need
from seedstall.model.errors import UsageError
from seedstall.model.evidence import Got, Ref, Space
from seedstall.model.jvm import Launch, OptionOrigin
from seedstall.model.redact import redact_argv, visible
from seedstall.parse import procfs, setenv
from seedstall.remedy import place, value
from seedstall.remedy.request import Answer, Request
from seedstall.render import templates

EGD = setenv.EGD


def java_opts(request: Request) -> Answer:
    """The plain flag."""
    judgement = egd_need(request.case, request.egd)
    nothing = value.refused(request, judgement)
    if nothing is not None:
        return nothing
    text = templates.render("fix/java-opts/text.j2", egd=request.egd)
    notes = (
        "it goes before -jar or the main class: behind it, it is an argument of the program",
        *_instead(request),
        *value.about(request),
        *value.told(judgement),
    )
    return Answer(text.encode(), notes=notes)


def _instead(request: Request) -> tuple[str, ...]:
    """The flag that the command line has already: beside it, the last of the two would count."""
    launch = request.case.value(Launch)
    option = launch.last_property(EGD) if launch is not None else None
    if option is None or option.origin is not OptionOrigin.COMMAND_LINE:
        return ()
    return (f"it takes the place of {visible(option.text)}: of two the last one counts",)


def jarsigner(request: Request) -> Answer:
    """The command line of a JDK tool with the flag in it."""
    launch = request.case.value(Launch)
    if launch is not None and not launch.tool:
        raise UsageError(
            f"{request.target} is no JDK tool: {place.what(request)}",
            place.fitting(request, "jarsigner"),
        )
    judgement = egd_need(request.case, request.egd)
    nothing = value.refused(request, judgement)
    if nothing is not None:
        return nothing
    notes = (*value.about(request), *value.told(judgement))
    argv = _argv(request)
    if not argv:
        text = templates.render("fix/jarsigner/text.j2", egd=request.egd)
        more = "your own arguments follow; keytool and the other JDK tools take -J-D... as well"
        return Answer(text.encode(), notes=(more, *notes))
    command = [argv[0], f"-J-D{EGD}={request.egd}", *filter(_unrelated, argv[1:])]
    shown = redact_argv(command)
    if tuple(command) != tuple(shown):
        notes = ("secrets are left out (*****): put them back", *notes)
    import shlex  # noqa: PLC0415

    line = visible(shlex.join(shown))
    text = templates.render("fix/jarsigner/text.j2", egd=request.egd, command=line)
    return Answer(text.encode("utf-8", "backslashreplace"), notes=notes)


def _argv(request: Request) -> tuple[str, ...]:
    """The tool's own command line; empty where it could not be had."""
    reading = request.source.read(Ref(Space.PROCESS, "cmdline"))
    return procfs.cmdline(reading.value) if isinstance(reading, Got) else ()


def _unrelated(argument: str) -> bool:
    """Whether an argument has nothing to do with the seed source."""
    if not argument.startswith("-J-D"):
        return True
    name, _, value = argument.removeprefix("-J-D").partition("=")
    return name != EGD and not setenv.near_miss(name, value)


ANSWERS = {"java-opts": java_opts, "jarsigner": jarsigner}
