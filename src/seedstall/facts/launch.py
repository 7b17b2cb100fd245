"""How a process was launched: its environment, and its command line taken apart."""

from __future__ import annotations

from dataclasses import replace

from seedstall.facts.inputs import InputTexts
from seedstall.facts.jdk import handed, original, perf_strings, root_path, rooted
from seedstall.model.evidence import Ask, Got, Missing, Ref, Space, Unavailable, Why
from seedstall.model.jdk import JdkVersion
from seedstall.model.jvm import Environment, JvmOption, JvmProcess, Launch, OptionOrigin
from seedstall.parse import javahome, launcher, procfs
from seedstall.parse.text import Text
from seedstall.parse.tomcatstart import last_start
from seedstall.source.base import Source

OLD_LIMIT = 4096
"""Before Linux 4.2 ``/proc/PID/cmdline`` gave no more than a page."""
ARGUMENTS = "java.rt.vmArgs"
BOOTSTRAP = "org.apache.catalina.startup.Bootstrap"


def environment(source: Source) -> Environment:
    """The variables the process was started with.

    Raises:
        Unavailable: they cannot be read.
    """
    reading = source.read(Ref(Space.PROCESS, "environ"))
    if isinstance(reading, Missing):
        raise Unavailable(reading)
    return Environment(procfs.environ(reading.value))


def launch(
    source: Source,
    environment: Environment | None,
    jdk: JdkVersion | None,
    process: JvmProcess | None,
    texts: InputTexts | None,
) -> Launch:
    """The command line as the launcher took it apart, argument files read as they are now.

    Where such a file can no longer be read, or the command line is cut, the JVM's own list of its options
    (``java.rt.vmArgs`` in hsperfdata) stands in. Of files alone, a Tomcat's log tells the options of its last start.

    Raises:
        Unavailable: there is no command line.
        ValueError: no java is in it.
    """
    reading = source.read(Ref(Space.PROCESS, "cmdline"))
    if isinstance(reading, Missing):
        told = _from_log(texts) if reading.why is Why.NOT_COLLECTED else None
        if told is None:
            raise Unavailable(reading)
        return told
    argv = procfs.cmdline(reading.value)
    if not argv:
        detail = "the process has no arguments: it is ending, or it erased them"
        raise Unavailable(Missing(Why.ABSENT, reading.origins, detail))
    variables = environment if environment is not None else Environment({})
    program = _program(source)
    if program and not launcher.is_launcher(program):
        found = launcher.embedded(argv, variables, jdk)
    else:
        found = launcher.launch(
            argv,
            variables,
            jdk=jdk,
            argument_file=lambda path: _text_file(source, path),
            exe=program,
        )
    found = replace(
        found,
        truncated=found.truncated or _is_cut(reading.value),
        environ_read=environment is not None,
    )
    own = bool(program) and not launcher.is_launcher(program)
    return (
        _completed(source, found, process)
        if found.unread_files or found.truncated or own
        else found
    )


def _from_log(texts: InputTexts | None) -> Launch | None:
    """What Tomcat lists of its JVM's options at a start: the JVM's own list, complete where it is there at all."""
    for name, log in handed(texts):
        start = last_start(log.data) if isinstance(log, Text) else None
        if isinstance(log, Text) and start is not None and start.options:
            options = tuple(
                JvmOption(text, OptionOrigin.VM_ARGUMENTS, f"{name}:{original(log, line)}")
                for text, line in start.options
            )
            return Launch(java="", options=options, main_class=BOOTSTRAP)
    return None


def _program(source: Source) -> str:
    """The file name of the program that runs; ``""`` where it may not be read."""
    exe = source.read(Ref(Space.PROCESS, "exe", Ask.LINK))
    if isinstance(exe, Missing):
        return ""
    path = exe.value.decode("utf-8", "surrogateescape").removesuffix(javahome.DELETED)
    return launcher.base_name(path)


def _is_cut(data: bytes) -> bool:
    return len(data) in (OLD_LIMIT - 1, OLD_LIMIT) and not data.endswith(b"\0")


def working_directory(source: Source) -> str | None:
    """The directory that relative paths of the command line are meant from. A JVM never changes it."""
    cwd = source.read(Ref(Space.PROCESS, "cwd", Ask.LINK))
    if isinstance(cwd, Missing):
        return None
    path = cwd.value.decode("utf-8", "surrogateescape")
    return javahome.inside(path, root_path(source)) or "/"


def _text_file(source: Source, path: str) -> str | None:
    if not path.startswith("/"):
        directory = working_directory(source)
        if directory is None:
            return None
        path = f"{directory}/{path}"
    reading = source.read(rooted(path))
    return reading.value.decode("utf-8", "surrogateescape") if isinstance(reading, Got) else None


def _completed(source: Source, found: Launch, process: JvmProcess | None) -> Launch:
    """Options by the JVM's own word, which is one line of all of them in order of effect, parted by blanks."""
    told = perf_strings(source, process).get(ARGUMENTS)
    if told is None:
        return found
    options = tuple(
        JvmOption(text, OptionOrigin.VM_ARGUMENTS, f"hsperfdata {ARGUMENTS}")
        for text in launcher.joined_options(told)
    )
    class_path = tuple(o for o in found.options if o.text.startswith("-Djava.class.path="))
    return replace(found, options=(*class_path, *options), unread_files=())


PROVIDERS = (environment, launch)
