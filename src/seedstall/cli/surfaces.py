"""What ``seedstall fix`` gives for each surface: something to print, something to write, or the reason for neither."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from seedstall.engine.case import Case
from seedstall.engine.need import Judgement, Need, egd_need, feeder_need, strong_need, unseen
from seedstall.knowledge.egd import EgdFault, egd_problem, right_egd, strong_advice
from seedstall.model.errors import SeedstallError, UsageError
from seedstall.model.evidence import Got, Missing, Ref, Space, Why
from seedstall.model.jdk import JdkVersion
from seedstall.model.jvm import Launch, Product, TomcatHome
from seedstall.model.kernel import Distribution, Feeders, KernelRandom
from seedstall.model.redact import redact, redact_argv, visible
from seedstall.model.surface import SetenvScript
from seedstall.parse import procfs, setenv
from seedstall.render import templates
from seedstall.source.base import Source

EGD = setenv.EGD
COMMENT = "# SecureRandom seed source (written by seedstall)"
"""Above a value that was said: whether that one blocks is not for us to say."""


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked: for which case, with which value said, and whether also where it is not needed.

    ``pid`` is ``None`` where no live process is a target.
    """

    case: Case
    source: Source
    target: str
    pid: int | None
    value: str = ""
    force: bool = False

    @property
    def jdk(self) -> JdkVersion | None:
        """The JDK, as far as it is known."""
        return self.case.value(JdkVersion)

    @property
    def egd(self) -> str:
        """The value said, else the one that is right for this JDK."""
        return self.value or right_egd(self.jdk).value

    @property
    def insists(self) -> bool:
        """Whether it is printed even where nothing waits."""
        return self.force or bool(self.value)


@dataclass(frozen=True, slots=True)
class Write:
    """A file to write: ``path`` as the process sees it, its ``content``, and what was ``read`` of it."""

    path: str
    content: bytes
    read: bytes | None
    within: tuple[str, ...] = ()
    """CATALINA_BASE and CATALINA_HOME: no link leads out of them."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a surface gives. ``output`` is empty where there is nothing to do, and ``reason`` says why."""

    output: bytes = b""
    reason: str = ""
    notes: tuple[str, ...] = ()
    write: Write | None = None


def answer(surface: str, request: Request) -> Answer:
    """What *surface* gives for *request*.

    Raises:
        UsageError: the surface does not fit the target.
        SeedstallError: what is needed could not be read, or a file cannot be edited safely.
    """
    found = _ANSWERS[surface](request)
    if not found.output:
        return found
    note = unseen(request.case, request.target, live=request.pid is not None)
    return replace(found, notes=(note, *found.notes)) if note else found


# The value


def check_value(value: str, jdk: JdkVersion | None) -> tuple[str, ...]:
    """Warnings about a value said with ``--set-egd``.

    Raises:
        UsageError: it cannot be written down, breaks every SecureRandom, or gives numbers that are known.
    """
    try:
        setenv.check_value(value)
    except ValueError as error:
        raise UsageError(f"--set-egd: {error}") from error
    problem = egd_problem(value, jdk)
    if problem is None:
        return ()
    if problem.fault in (EgdFault.REFUSED, EgdFault.NO_RANDOMNESS):
        message = f"--set-egd {value}: {problem.message}"
        raise UsageError(message, f"--set-egd {problem.better}")
    return (f"--set-egd {value}: {problem.message}; {problem.better} is the usual value",)


def _about_value(request: Request) -> tuple[str, ...]:
    """Why this value, and what is not known about it."""
    if request.value:
        return check_value(request.value, request.jdk)
    why = right_egd(request.jdk).why
    if request.jdk is not None:
        return (why,)
    unknown = (
        "which JDK it is, is not known: say --jdk VERSION for the value that changes the least"
    )
    return (why, unknown)


def _refused(
    request: Request, judgement: Judgement, *, insists: bool | None = None
) -> Answer | None:
    """The answer that there is nothing to do, unless the user insists."""
    if judgement.need is Need.WANTED or (request.insists if insists is None else insists):
        return None
    notes = judgement.notes
    if judgement.need is Need.USELESS:
        notes += ("--force prints it all the same",)
    return Answer(reason=judgement.reason, notes=notes)


def _told(judgement: Judgement) -> tuple[str, ...]:
    """What is said beside an output: also why it would be useless, where it is printed all the same."""
    return (judgement.reason, *judgement.notes) if judgement.reason else judgement.notes


# Flags


def java_opts(request: Request) -> Answer:
    """The plain flag."""
    judgement = egd_need(request.case, request.egd)
    nothing = _refused(request, judgement)
    if nothing is not None:
        return nothing
    text = templates.render("fix/java-opts/text.j2", egd=request.egd)
    notes = (
        "it goes before -jar or the main class: behind it, it is an argument of the program",
        *_about_value(request),
        *_told(judgement),
    )
    return Answer(text.encode(), notes=notes)


def jarsigner(request: Request) -> Answer:
    """The command line of a JDK tool with the flag in it."""
    launch = request.case.value(Launch)
    if launch is not None and not launch.tool:
        raise UsageError(
            f"{request.target} is no JDK tool: {_what(request)}", _fitting(request, "jarsigner")
        )
    judgement = egd_need(request.case, request.egd)
    nothing = _refused(request, judgement)
    if nothing is not None:
        return nothing
    notes = (*_about_value(request), *_told(judgement))
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


def strong_algorithms(request: Request) -> Answer:
    """A security properties file for getInstanceStrong."""
    advice = strong_advice()
    judgement = strong_need(request.case, advice.value)
    # A value for java.security.egd says nothing of this file.
    nothing = _refused(request, judgement, insists=request.force)
    if nothing is not None:
        return nothing
    text = templates.render("fix/strong-algorithms/text.j2", value=advice.value)
    return Answer(text.encode(), notes=(advice.why, *_told(judgement)))


# The host


def rngd(request: Request) -> Answer:
    """Commands that start an entropy daemon on the host."""
    from seedstall.knowledge.distributions import feeder_commands  # noqa: PLC0415

    judgement = feeder_need(request.case)
    if judgement.need is not Need.WANTED:
        return Answer(reason=f"an entropy daemon would be useless: {judgement.reason}")
    kernel = request.case.value(KernelRandom)
    advice = feeder_commands(request.case.value(Distribution), kernel)
    if advice.useless:
        return Answer(reason=advice.useless)
    if advice.unsure:
        reason = (
            "whether an entropy daemon would help is not known, since the kernel is not known:"
            " say --kernel RELEASE (uname -r of that host)"
        )
        return Answer(reason=reason)
    running = _running(request.case)
    if running and not request.force:
        return Answer(reason=running)
    notes = [advice.note] if advice.note else []
    if advice.kernel_update:
        notes.append(f"a kernel without the pool does away with the wait: {advice.kernel_update}")
    if not advice.commands:
        return Answer(reason="no command is known for that host", notes=tuple(notes))
    text = templates.render("fix/rngd/text.j2", commands="\n".join(advice.commands))
    return Answer(text.encode(), notes=("as root, on the host", *notes))


def _running(case: Case) -> str:
    """What feeds the pool already."""
    feeders = case.value(Feeders)
    if feeders is None:
        return ""
    if feeders.running:
        daemon = feeders.running[0]
        return f"{daemon.name} runs already (process {daemon.pid}): if the pool is dry all the same, see its log"
    if feeders.self_feeding:
        return f"the kernel feeds its pool from {feeders.hwrng} by itself"
    return ""


# Tomcat


def tomcat_setenv(request: Request) -> Answer:
    """A patch of the instance's bin/setenv.sh, and the same as a file to write."""
    reading = request.case.get(SetenvScript)
    if isinstance(reading, Missing):
        return _setenv_unseen(request, reading)
    return _setenv(request, reading.value)


def script_of(request: Request) -> SetenvScript:
    """The instance's setenv.sh, for ``--undo``.

    Raises:
        UsageError: the target is no Tomcat.
        SeedstallError: it could not be looked at.
    """
    reading = request.case.get(SetenvScript)
    if isinstance(reading, Missing):
        raise _no_script(request, reading)
    return reading.value


def homes(request: Request) -> tuple[str, ...]:
    """CATALINA_BASE and CATALINA_HOME, as the process sees them."""
    home = request.case.value(TomcatHome)
    return (home.base, home.home) if home is not None else ()


def _no_script(request: Request, missing: Missing) -> SeedstallError:
    if isinstance(request.case.get(TomcatHome), Missing):
        return UsageError(
            f"{request.target} is no Tomcat: {_what(request)}", _fitting(request, "tomcat-setenv")
        )
    if missing.why is Why.DENIED:
        message = f"setenv.sh could not be read: {missing}"
        return SeedstallError(message, "run as root or as the user that runs Tomcat")
    return SeedstallError(f"setenv.sh could not be looked at: {missing}")


def _setenv_unseen(request: Request, missing: Missing) -> Answer:
    """Without an instance to look at: a patch that makes a new file."""
    if request.pid is not None:
        raise _no_script(request, missing)
    judgement = egd_need(request.case, request.egd)
    nothing = _refused(request, judgement)
    if nothing is not None:
        return nothing
    content = _new_script(request, inherits=False)
    line = setenv.assignment(request.egd)
    notes = (
        (
            "the instance's own bin/setenv.sh was not seen: this makes a new file;"
            f" where there is one (in CATALINA_BASE or CATALINA_HOME), put this line at its end instead: {line}"
        ),
        *_about_value(request),
        *_told(judgement),
    )
    return _patched(request, None, content, None, notes)


def _setenv(request: Request, script: SetenvScript) -> Answer:
    value = request.egd
    if script.content is None:
        return _new_setenv(request, script)
    edit = _edited(script.content, request, script.path, bash=script.bash)
    if edit.content == script.content:
        return Answer(
            reason=f"{script.path} sets {value} already (line {edit.line}){_restart(request)}"
        )
    in_environment = b"_JAVA_OPTIONS" not in script.content
    judgement = egd_need(request.case, value, in_environment=in_environment)
    # A wrong setting in this very file is put right even where another place makes up for it now.
    if not edit.replaced or judgement.need is Need.USELESS:
        nothing = _refused(request, judgement)
        if nothing is not None:
            return nothing
    replaced = tuple(f"line {number}: {option} goes" for number, option in edit.replaced)
    notes = (*replaced, *edit.notes, *_about_value(request), *_told(judgement))
    return _patched(request, script.content, edit.content, script, notes)


def _new_setenv(request: Request, script: SetenvScript) -> Answer:
    value, inherited = request.egd, script.inherited
    notes: tuple[str, ...] = ()
    if inherited is not None:
        edit = _edited(inherited, request, script.inherited_from, bash=script.bash)
        if edit.content == inherited:
            where = f"{script.inherited_from}, which this instance uses,"
            return Answer(
                reason=f"{where} sets {value} already (line {edit.line}){_restart(request)}"
            )
        notes += (
            (
                f"this instance has no setenv.sh and uses {script.inherited_from}:"
                " the new file sources that one first, since it would take its place"
            ),
            *(
                f"{script.inherited_from}:{n}: {o} stays, the new setting comes later and wins"
                for n, o in edit.replaced
            ),
        )
    judgement = egd_need(request.case, value)
    nothing = _refused(request, judgement)
    if nothing is not None:
        return nothing
    content = _new_script(request, inherits=inherited is not None)
    return _patched(
        request, None, content, script, (*notes, *_about_value(request), *_told(judgement))
    )


def _comment(request: Request) -> str:
    """The line above the setting: true for the value that stands below it."""
    return setenv.COMMENT if request.egd == right_egd(request.jdk).value else COMMENT


def _new_script(request: Request, *, inherits: bool) -> bytes:
    return templates.render(
        "fix/tomcat-setenv/setenv.sh.j2",
        egd=request.egd,
        inherits=inherits,
        comment=_comment(request),
    ).encode()


def _edited(content: bytes, request: Request, path: str, *, bash: bool | None) -> setenv.ShellEdit:
    value = request.egd
    try:
        edit = setenv.set_egd(content, value, bash=bash)
        if edit.content == content:
            return edit
        # Also a comment of an earlier --apply, where the value below it is another now.
        true = edit.content.replace(setenv.COMMENT.encode(), _comment(request).encode())
        return replace(edit, content=true)
    except ValueError as error:
        message = f"{path} cannot be edited safely: {error}"
        raise SeedstallError(message, f"by hand: {setenv.assignment(value)}") from error


def _restart(request: Request) -> str:
    """What to do where the file is right and the process is not."""
    launch = request.case.value(Launch)
    if launch is None or launch.property_value(EGD) == request.egd:
        return ""
    return ": it takes effect when this Tomcat is started again"


def _patched(
    request: Request,
    old: bytes | None,
    new: bytes,
    script: SetenvScript | None,
    notes: tuple[str, ...],
) -> Answer:
    from seedstall.render.patch import unified  # noqa: PLC0415 - difflib

    base = _shown_base(request, script)
    preamble = (
        f"patch -p1 -d {base} < setenv.patch",
        right_egd(request.jdk).why if not request.value else f"-D{EGD}={request.value}, as asked",
    )
    patch = unified(old, new, "bin/setenv.sh", preamble=preamble, secret=_secret)
    if patch.secrets:
        notes += (
            f"the patch repeats {patch.secrets} line(s) of setenv.sh that may hold a password; pass it on to nobody",
        )
    if script is not None and not script.on_host and request.pid is not None:
        notes += (
            (
                f"{script.path} is inside a container or another root: there the command is"
                f" patch -p1 -d {_word(script.base)}; what is written is lost when a container is made anew,"
                " so change its image too"
            ),
        )
    if script is not None and script.launcher is False:
        notes += (
            (
                "neither catalina.sh nor daemon.sh stands in CATALINA_HOME: a Tomcat that a package starts in its"
                " own way may never read setenv.sh; look for tomcat.conf"
            ),
        )
    write = Write(script.path, new, old, homes(request)) if script is not None else None
    return Answer(patch.data, notes=notes, write=write)


def _secret(line: bytes) -> bool:
    text = line.decode("utf-8", "backslashreplace")
    return redact(text) != text


def _shown_base(request: Request, script: SetenvScript | None) -> str:
    if script is None:
        return "CATALINA_BASE"
    inside = request.pid is not None and not script.on_host
    return _word(f"/proc/{request.pid}/root{script.base}" if inside else script.base)


def _word(text: str) -> str:
    """A path as one shell word on one line: what a process calls itself must not become a line of the patch."""
    import shlex  # noqa: PLC0415

    return shlex.quote(visible(text))


def _what(request: Request) -> str:
    """What the target is instead, for people."""
    product = request.case.value(Product)
    if product is not None:
        return product.title
    launch = request.case.value(Launch)
    if launch is None:
        return "its command line could not be read"
    return launch.tool or launch.main_class or launch.jar or launch.module or launch.java


def _fitting(request: Request, but: str) -> str:
    product = request.case.value(Product)
    known = [s for s in (product.surfaces if product is not None else ()) if s in _ANSWERS]
    return (
        f"--surface {' or '.join(s for s in dict.fromkeys((*known, 'java-opts')) if s != but)} fits"
    )


_ANSWERS: dict[str, Callable[[Request], Answer]] = {
    "tomcat-setenv": tomcat_setenv,
    "java-opts": java_opts,
    "jarsigner": jarsigner,
    "strong-algorithms": strong_algorithms,
    "rngd": rngd,
}
