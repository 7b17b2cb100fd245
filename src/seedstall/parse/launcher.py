"""A command line taken apart as the JDK's launcher and the JVM do it.

Facts: libjli's ``java.c`` and ``args.c``, HotSpot's ``arguments.cpp``; compared with what the launchers of 8, 11, 17,
21 and 25 print under ``_JAVA_LAUNCHER_DEBUG=1``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from seedstall.model.jdk import LAST_ONE_DOT, JdkVersion
from seedstall.model.jvm import JvmOption, Launch, OptionOrigin
from seedstall.parse.shellwords import option_words


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


JDK_TOOLS = _names(
    "apt extcheck idlj jaotc jar jarsigner java-rmi.cgi javac javadoc javah javap jcmd jconsole jdb jdeprscan jdeps"
    " jfr jhat jhsdb jimage jinfo jjs jlink jmap jmod jnativescan jpackage jps jrunscript jsadebugd jshell jstack jstat"
    " jstatd jwebserver keytool kinit klist ktab native2ascii orbd pack200 policytool rmic rmid rmiregistry schemagen"
    " serialver servertool tnameserv unpack200 wsgen wsimport xjc"
)
"""Launchers with a main class built in: a JVM option takes ``-J`` before it and may stand anywhere."""
JAVA = frozenset(("java", "javaw", "jexec"))
FILE_TOOLS = frozenset(("jimage", "jlink", "jmod"))
"""The tools that expand ``@file`` in the launcher (seen on 17 and 25); the others read theirs, if at all, in Java."""
JSVC = frozenset(("jsvc", "jsvc.exec"))
JSVC_VALUES = _names(
    "-cp -classpath --class-path -home -java-home -jvm -cwd -user -outfile -errfile -pidfile -procname -umask -wait"
)
CLASS_PATH = frozenset(("-cp", "-classpath", "--class-path"))
MODULE_OPTIONS = _names(
    "--module-path -p --upgrade-module-path --add-modules --limit-modules --add-exports --add-opens --add-reads"
    " --patch-module --enable-native-access"
)
"""Handed to the JVM as ``--name=value``; the last since 17 (before, an unknown option that ends the JVM)."""
MAIN_OPTIONS = frozenset(("-m", "--module"))
OTHER_VALUES = frozenset(("-d", "--describe-module", "--source"))
DROPPED = _names(
    "-server -client -hotspot -minimal -zero -d32 -d64 -showversion --show-version --dry-run -XshowSettings"
    " --disable-@files -jre-restrict-search -no-jre-restrict-search -jre-no-restrict-search -debug --list-modules"
    " --show-resolved-modules"
)
"""Consumed by the launcher; the JVM never sees them."""
DROPPED_PREFIXES = ("-XshowSettings:", "-splash:", "-version:", "-XXaltjvm=")
RENAMED = {
    "-verbosegc": "-verbose:gc",
    "-verify": "-Xverify:all",
    "-Xdiag": "-Dsun.java.launcher.diag=true",
    "--validate-modules": "-Djdk.module.validation=true",
    "--show-module-resolution": "-Djdk.module.showModuleResolution=true",
}
ENDING = _names("-version --version -help --help -h -? -X --help-extra -fullversion --full-version")
"""After these the launcher reads no further: it prints and ends."""
OPTION_STARTS = ("-D", "-X", "-javaagent:", "-agentlib:", "-agentpath:")
JDK8_VARIABLE_CHARACTERS = 1023
JDK8_VARIABLE_OPTIONS = 64
"""JDK 8 and before: a longer variable is passed over without a word; of a longer list the rest is (though it is
printed after "Picked up"). HotSpot 8 ``Arguments::parse_options_environment_variable``; seen on 8u504."""
LAST_CLASS_PATH_UNDOES_JAR = 21
MAX_ARGUMENTS = 20_000
"""Arguments looked at: the kernel allows millions, and a hostile process may have them."""
VM_OPTIONS_FILE = "-XX:VMOptionsFile="

ReadFile = Callable[[str], str | None]


def no_file(_path: str) -> str | None:
    """A reader for where no file can be had."""
    return None


def launch(
    argv: Sequence[str],
    environ: Mapping[str, str],
    *,
    jdk: JdkVersion | None = None,
    argument_file: ReadFile = no_file,
    exe: str = "",
) -> Launch:
    """Take a command line apart.

    *jdk* decides what is understood: ``@file`` and ``JDK_JAVA_OPTIONS`` from 9 on; where it is not known, 9 or later is
    taken (an ``@file`` never starts on 8). *argument_file* gives the text of an ``@file`` or options file by the path
    that the command names, ``None`` where it cannot be read. *exe* is the running program's file name (``java``) where
    it is known from elsewhere: then *argv* is its own, whatever ``argv[0]`` says, and no wrapper is looked for.

    Raises:
        ValueError: no ``java`` and no tool of the JDK is in it.
    """
    cut = len(argv) > MAX_ARGUMENTS
    words, variables = tuple(argv[:MAX_ARGUMENTS]), environ
    wrapper: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()
    if not exe:
        from seedstall.parse.wrappers import unwrap  # noqa: PLC0415 - not for a process that runs

        words, variables, wrapper, unknown = unwrap(words, environ, is_launcher)
    if not words:
        raise ValueError("no command")
    name = base_name(exe or words[0])
    reader = _Reader(jdk, argument_file, variables, unknown)
    if name in JDK_TOOLS:
        taken = _tool(reader, words, name)
    elif name in JSVC:
        taken = _jsvc(reader, words)
    elif exe or is_launcher(words[0]):
        taken = _java(reader, words)
    else:
        raise ValueError(f"no java in this command: {name}")
    found = _with_variables(reader, taken)
    return replace(found, wrapper=wrapper, truncated=found.truncated or cut)


def embedded(
    argv: Sequence[str], environ: Mapping[str, str], jdk: JdkVersion | None = None
) -> Launch:
    """A program of its own that loads the JVM: what it hands over is not on its command line.

    ``JAVA_TOOL_OPTIONS`` and ``_JAVA_OPTIONS`` are read by the JVM itself and count all the same.
    """
    reader = _Reader(jdk, no_file, environ)
    if "JDK_JAVA_OPTIONS" in environ:
        reader.ignored.append(("JDK_JAVA_OPTIONS", "only the java launcher reads it"))
    program = tuple(argv[1:MAX_ARGUMENTS])
    taken = Launch(java=argv[0] if argv else "", program=program)
    return _with_variables(reader, taken)


def joined_options(text: str) -> tuple[str, ...]:
    """The options in the JVM's own line of them, where blanks part them and may stand in a value as well.

    A word that begins with a dash begins an option: of ``-Da=b -c`` nobody can tell.
    """
    options: list[list[str]] = []
    for word in text.split(" "):
        if word.startswith("-") or not options:
            options.append([word])
        else:
            options[-1].append(word)
    return tuple(joined for words in options if (joined := " ".join(words)))


def base_name(path: str) -> str:
    """The last part of a path."""
    return path.rpartition("/")[2]


def is_launcher(word: str) -> bool:
    """Whether a word names ``java``, a tool of the JDK or jsvc, by whatever path."""
    name = base_name(word)
    return name in JAVA or name in JDK_TOOLS or name in JSVC


class _Argument(NamedTuple):
    """One argument on its way, with where it stood."""

    text: str
    origin: OptionOrigin
    place: str


class _Reader:
    """What the parts of the launcher share: the version, the environment, how files are read, what could not be."""

    def __init__(
        self,
        jdk: JdkVersion | None,
        read: ReadFile,
        environ: Mapping[str, str],
        unknown: tuple[str, ...] = (),
    ) -> None:
        self.jdk = jdk
        self.environ = environ
        self.unread = list(unknown)
        self.ignored: list[tuple[str, str]] = []
        self._read = read

    @property
    def modular(self) -> bool:
        """Whether it is 9 or later, as far as is known."""
        return self.jdk is None or self.jdk.feature > LAST_ONE_DOT

    @property
    def class_path_undoes_jar(self) -> bool:
        """Whether ``-jar -cp x y.jar`` runs the class y.jar: so on 8, 11, 17 and 21, not on 25."""
        return self.jdk is not None and self.jdk.feature <= LAST_CLASS_PATH_UNDOES_JAR

    def file(self, path: str) -> str | None:
        """The text of a file that the command names."""
        text = self._read(path)
        if text is None and path not in self.unread:
            self.unread.append(path)
        return text


class _Expander:
    """Finds the first program argument while ``@file`` is expanded: ``checkArg`` and ``JLI_PreprocessArg``.

    This is a pass of its own in the launcher, with rules a little simpler than those of the parse that follows.
    """

    def __init__(self, reader: _Reader, *, tool: bool, stopped: bool) -> None:
        self._reader = reader
        self._tool = tool
        self._stopped = stopped
        self._main_found = False
        self._wants_value = False

    def expand(self, argument: _Argument) -> Iterator[_Argument]:
        """The argument itself, or what its file holds. A file named inside a file is not expanded."""
        text = argument.text
        if self._main_found or self._stopped or not text.startswith("@") or text == "@":
            if (
                text.startswith("--source")
                and " " in text
                and not (self._main_found or self._stopped)
            ):
                for word in option_words(text):
                    yield self._checked(argument._replace(text=word))
                return
            yield self._checked(argument)
        elif text.startswith("@@"):
            yield self._checked(argument._replace(text=text[1:]))
        else:
            yield from self._file(text[1:])

    def _file(self, path: str) -> Iterator[_Argument]:
        from seedstall.parse.argfile import file_arguments  # noqa: PLC0415 - few commands have one

        text = self._reader.file(path)
        for found in file_arguments(text or ""):
            place = f"@{path}:{found.line}"
            yield self._checked(_Argument(found.text, OptionOrigin.ARGUMENT_FILE, place))

    def _checked(self, argument: _Argument) -> _Argument:
        text = argument.text
        if self._tool or self._main_found:
            return argument
        if text.startswith("-"):
            self._wants_value = text in CLASS_PATH or text in MODULE_OPTIONS or text in OTHER_VALUES
            self._stopped = self._stopped or text == "--disable-@files"
            self._main_found = text.startswith("--module=")
        else:
            self._main_found = not self._wants_value
            self._wants_value = False
        return argument


def _numbered(words: Iterable[str]) -> Iterator[_Argument]:
    for index, word in enumerate(words):
        if index:
            yield _Argument(word, OptionOrigin.COMMAND_LINE, f"cmdline[{index}]")


def _java(reader: _Reader, words: tuple[str, ...]) -> Launch:
    expander = _Expander(reader, tool=False, stopped=not reader.modular)
    arguments: list[_Argument] = []
    if reader.modular:
        for word in option_words(reader.environ.get("JDK_JAVA_OPTIONS", "")):
            place = "environ JDK_JAVA_OPTIONS"
            first = _Argument(word, OptionOrigin.JDK_JAVA_OPTIONS, place)
            arguments.extend(expander.expand(first))
    elif "JDK_JAVA_OPTIONS" in reader.environ:
        reader.ignored.append(
            ("JDK_JAVA_OPTIONS", "read by the java launcher of JDK 9 and later only")
        )
    for argument in _numbered(words):
        arguments.extend(expander.expand(argument))
        if len(arguments) > MAX_ARGUMENTS:
            break
    return _parsed(reader, words[0], arguments)


def _parsed(reader: _Reader, java: str, arguments: list[_Argument]) -> Launch:
    """``ParseArguments``: options up to the first word that is none."""
    options: list[JvmOption] = []
    module = source = ""
    jar = False
    at = 0
    while at < len(arguments) and arguments[at].text.startswith("-"):
        argument = arguments[at]
        text = argument.text
        value, used = _value(reader, arguments, at)
        at += used
        if text in ENDING:
            return Launch(java=java, options=tuple(options), unread_files=tuple(reader.unread))
        if text == "-jar":
            jar = True
        elif text in MAIN_OPTIONS or text.startswith("--module="):
            module = value or ""
            break
        elif text == "--source" or text.startswith("--source="):
            source = value or "?"
        else:
            # Up to 21 a class path after -jar makes the next word a class again; 25 no longer (seen on both).
            jar = jar and not (reader.class_path_undoes_jar and text in CLASS_PATH)
            options.extend(_option(argument, value))
    what = arguments[at].text if at < len(arguments) and not module else ""
    if jar and what:
        place = arguments[at].place
        options.append(JvmOption(f"-Djava.class.path={what}", arguments[at].origin, place))
    rest = arguments[at + 1 :] if what else arguments[at:]
    program = tuple(argument.text for argument in rest)
    return Launch(
        java=java,
        options=tuple(options),
        main_class="" if jar else what,
        jar=what if jar else "",
        module=module,
        source=source or ("?" if what.endswith(".java") and not jar else ""),
        program=program,
        misplaced=tuple(word for word in program if word.startswith(OPTION_STARTS)),
        truncated=len(arguments) > MAX_ARGUMENTS,
    )


def _value(reader: _Reader, arguments: list[_Argument], at: int) -> tuple[str | None, int]:
    """``GetOpt``: the value of the option at *at*, and how many arguments the two take."""
    text = arguments[at].text
    known = text in CLASS_PATH or (
        reader.modular and (text in MODULE_OPTIONS or text in MAIN_OPTIONS or text in OTHER_VALUES)
    )
    if known:
        following = arguments[at + 1].text if at + 1 < len(arguments) else None
        # 9 and later take no value that begins with a dash (and end); 8 takes the next word whatever it is.
        if following is None or (reader.modular and following.startswith("-")):
            return None, 1
        return following, 2
    if text.startswith("--") and "=" in text and reader.modular:
        return text.partition("=")[2], 1
    return None, 1


def _option(argument: _Argument, value: str | None) -> Iterator[JvmOption]:
    """One launcher option as the JVM is given it."""
    text = argument.text
    name = text.partition("=")[0]
    if text in DROPPED or text.startswith(DROPPED_PREFIXES) or name in ("-d", "--describe-module"):
        return
    if name in CLASS_PATH:
        text = f"-Djava.class.path={value or ''}"
    elif text in MODULE_OPTIONS:
        if value is None:
            return
        text = f"{'--module-path' if text == '-p' else text}={value}"
    elif text.startswith(("-ss", "-ms", "-mx")):
        text = f"-X{text[1:]}"
    else:
        text = RENAMED.get(text, text)
    yield JvmOption(text, argument.origin, argument.place)


def _tool(reader: _Reader, words: tuple[str, ...], name: str) -> Launch:
    """``TranslateApplicationArgs``: all that begins with -J goes to the JVM, wherever it stands."""
    expander = _Expander(reader, tool=True, stopped=not (reader.modular and name in FILE_TOOLS))
    arguments = [a for word in _numbered(words) for a in expander.expand(word)]
    if "JDK_JAVA_OPTIONS" in reader.environ:
        reader.ignored.append(("JDK_JAVA_OPTIONS", f"{name} does not read it: only java does"))
    options: list[JvmOption] = []
    program: list[str] = []
    for argument in arguments:
        if argument.text.startswith("-J"):
            text = argument.text[2:]
            options.extend(_option(argument._replace(text=text), None) if text else ())
        else:
            program.append(argument.text)
    return Launch(
        java=words[0],
        options=tuple(options),
        program=tuple(program),
        tool=name,
        misplaced=tuple(word for word in program if word.startswith(("-D", "-XX"))),
    )


def _jsvc(reader: _Reader, words: tuple[str, ...]) -> Launch:
    """Apache Commons Daemon: its own options among the JVM's, then the class. It reads no ``JDK_JAVA_OPTIONS``."""
    if "JDK_JAVA_OPTIONS" in reader.environ:
        reader.ignored.append(("JDK_JAVA_OPTIONS", "jsvc does not read it: only java does"))
    arguments = list(_numbered(words))
    options: list[JvmOption] = []
    at = 0
    while at < len(arguments) and arguments[at].text.startswith("-"):
        argument = arguments[at]
        name = argument.text
        takes = name in JSVC_VALUES and at + 1 < len(arguments)
        if name in CLASS_PATH and takes:
            value = arguments[at + 1].text
            options.append(JvmOption(f"-Djava.class.path={value}", argument.origin, argument.place))
        elif not takes:
            options.extend(_option(argument, None))
        at += 2 if takes else 1
    program = tuple(a.text for a in arguments[at + 1 :])
    return Launch(
        java=words[0],
        options=tuple(options),
        main_class=arguments[at].text if at < len(arguments) else "",
        program=program,
        misplaced=tuple(word for word in program if word.startswith(OPTION_STARTS)),
    )


def _with_variables(reader: _Reader, taken: Launch) -> Launch:
    """``JAVA_TOOL_OPTIONS`` before, ``_JAVA_OPTIONS`` after the command line: the later one wins."""
    before = _variable(reader, OptionOrigin.JAVA_TOOL_OPTIONS)
    after = _variable(reader, OptionOrigin.JAVA_OPTIONS)
    groups = (before, taken.options, after)
    options = [option for group in groups for option in _options_file(reader, group)]
    return replace(
        taken,
        options=tuple(options[: 2 * MAX_ARGUMENTS]),
        unread_files=tuple(reader.unread),
        ignored=tuple(reader.ignored),
    )


def _variable(reader: _Reader, origin: OptionOrigin) -> tuple[JvmOption, ...]:
    text = reader.environ.get(origin)
    if not text:
        return ()
    words = option_words(text)
    if reader.jdk is not None and not reader.modular:
        length = len(text.encode("utf-8", "surrogateescape"))
        if length > JDK8_VARIABLE_CHARACTERS:
            why = f"{length} bytes long: JDK 8 and before pass over more than {JDK8_VARIABLE_CHARACTERS}"
            reader.ignored.append((origin, why))
            return ()
        if len(words) > JDK8_VARIABLE_OPTIONS:
            why = f"{len(words)} options: JDK 8 and before take the first {JDK8_VARIABLE_OPTIONS}"
            reader.ignored.append((origin, why))
            words = words[:JDK8_VARIABLE_OPTIONS]
    return tuple(JvmOption(word, origin, f"environ {origin}") for word in words)


def _options_file(reader: _Reader, options: tuple[JvmOption, ...]) -> Iterator[JvmOption]:
    """Put the contents of the first ``-XX:VMOptionsFile=`` (9+) in its place. One more is an error in the JVM.

    ``-XX:Flags=`` is left alone: such a file holds VM flags only, never a ``-D``.
    """
    done = not reader.modular
    for option in options:
        if done or not option.text.startswith(VM_OPTIONS_FILE):
            yield option
            continue
        done = True
        path = option.text[len(VM_OPTIONS_FILE) :]
        for word in option_words(reader.file(path) or ""):
            yield JvmOption(word, OptionOrigin.VM_OPTIONS_FILE, path)
