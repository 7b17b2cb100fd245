"""What stands before a ``java`` on a command line: sudo, env, timeout, screen, a shell's ``-c``, a server's script."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from seedstall.parse.shellwords import assignment, option_words, shell_commands

SHELLS = frozenset(("sh", "bash", "dash", "ash", "ksh", "zsh", "mksh", "busybox"))
DEPTH = 12
"""Wrappers seen through, one inside the other."""
MAX_SHELL_TEXT = 262_144
"""Characters of a ``-c`` text looked at: Linux hands over no longer argument than 128 KiB."""

# Wrapper: the options that take a separate value, and how many operands stand before the command (man pages of
# sudo 1.9, GNU coreutils 9, util-linux 2.38, strace 6, screen 4.9, GNU time).
_VALUES: dict[str, str] = {
    "sudo": "-C -D -g -h -p -R -r -T -t -U -u --user --group --chdir --host --prompt --chroot --role --type",
    "doas": "-u -C",
    "env": "-u --unset -C --chdir",
    "nice": "-n --adjustment",
    "ionice": "-c --class -n --classdata",
    "timeout": "-k --kill-after -s --signal",
    "nohup": "",
    "setsid": "",
    "stdbuf": "-i -o -e --input --output --error",
    "strace": "-e -o -s -u -E -O -S -a -b -I -P -X --trace --output --string-limit --user --env",
    "ltrace": "-e -o -s -u -a -l -n -x -F",
    "taskset": "",
    "chrt": "-T -P -D",
    "numactl": "-N -m -C -i -p",
    "time": "-f --format -o --output",
    "setpriv": "--reuid --regid --groups --inh-caps --ambient-caps --bounding-set --securebits --pdeathsig",
    "gosu": "",
    "su-exec": "",
    "runuser": "-u --user -g --group -G --supp-group -w",
    "tini": "-p -e",
    "docker-init": "-p -e",
    "dumb-init": "-r --rewrite",
    "catchsegv": "",
    "chroot": "",
    "unshare": "-S -G -R -w --setuid --setgid --root --wd --propagation",
    "nsenter": "-t -S -G --target --setuid --setgid",
    "flock": "-w -E --timeout --conflict-exit-code",
    "cgexec": "-g",
    "systemd-run": "-p --property -u --unit -E --setenv -M --machine -H --host --slice --description --uid --gid",
    "screen": "-S -t -c -s -p -e -h -T -Q",
    "exec": "-a",
    "command": "",
    "builtin": "",
    "xvfb-run": "-n -s -e -f -p -w -a",
    "authbind": "--depth",
    "faketime": "-f",
    "unbuffer": "",
    "chpst": "-u -U -b -e -/ -n -l -L -m -d -o -p -f -c -t",
    "setuidgid": "",
    "s6-setuidgid": "",
    "softlimit": "-a -c -d -f -l -m -o -p -r -s -t",
    "prlimit": "",
    "setarch": "",
    "linux64": "",
    "linux32": "",
}
_OPERANDS = {
    "timeout": 1,
    "taskset": 1,
    "chrt": 1,
    "gosu": 1,
    "su-exec": 1,
    "chroot": 1,
    "flock": 1,
    "faketime": 1,
    "setuidgid": 1,
    "s6-setuidgid": 1,
    "setarch": 1,
}
_TAKES_ASSIGNMENTS = frozenset(("sudo", "env", "doas"))

# A server's own script: the variables it puts on java's command line, in that order, and what it runs
# (apache/tomcat bin/catalina.sh, wildfly/wildfly-core standalone.sh, apache/kafka bin/kafka-run-class.sh,
# apache/activemq bin/activemq, apache/maven bin/mvn).
_SCRIPTS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "catalina.sh": (("JAVA_OPTS", "CATALINA_OPTS"), ("org.apache.catalina.startup.Bootstrap",)),
    "startup.sh": (("JAVA_OPTS", "CATALINA_OPTS"), ("org.apache.catalina.startup.Bootstrap",)),
    "standalone.sh": (("JAVA_OPTS",), ("-jar", "jboss-modules.jar", "org.jboss.as.standalone")),
    "kafka-server-start.sh": (("KAFKA_OPTS",), ("kafka.Kafka",)),
    "activemq": (("ACTIVEMQ_OPTS",), ("-jar", "activemq.jar")),
    "mvn": (("MAVEN_OPTS",), ("org.codehaus.plexus.classworlds.launcher.Launcher",)),
}


class Command(NamedTuple):
    """A command without its wrappers: *words* begins with the program, *environ* is what it gets.

    ``wrapper`` names what was taken off, outermost first; ``unknown`` the shell variables whose value is not known.
    """

    words: tuple[str, ...]
    environ: dict[str, str]
    wrapper: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


class _Peeling:
    """A command while its wrappers come off."""

    def __init__(self, words: Sequence[str], environ: Mapping[str, str]) -> None:
        self.words = list(words)
        self.environ = dict(environ)
        self.wrapper: list[str] = []
        self.unknown: list[str] = []


def unwrap(
    words: Sequence[str], environ: Mapping[str, str], is_launcher: Callable[[str], bool]
) -> Command:
    """See through wrappers to the command that *is_launcher* knows, or as far as wrappers are known.

    Where an unknown program has a launcher among its arguments (``docker run IMAGE java ...``), that one is taken.
    """
    peeling = _Peeling(words, environ)
    for _ in range(DEPTH):
        _take_assignments(peeling)
        if not peeling.words or is_launcher(peeling.words[0]):
            break
        if not _peel(peeling, is_launcher):
            break
    at = next((i for i, word in enumerate(peeling.words) if is_launcher(word)), 0)
    if at:
        peeling.wrapper.append(_name(peeling.words[0]))
        del peeling.words[:at]
    return Command(
        tuple(peeling.words), peeling.environ, tuple(peeling.wrapper), tuple(peeling.unknown)
    )


def _name(word: str) -> str:
    return word.rpartition("/")[2]


def _take_assignments(peeling: _Peeling) -> None:
    while peeling.words and (pair := assignment(peeling.words[0])) is not None:
        peeling.environ[pair[0]] = pair[1]
        del peeling.words[0]


def _peel(peeling: _Peeling, is_launcher: Callable[[str], bool]) -> bool:
    """Take one wrapper off; ``False`` where the first word is none."""
    name = _name(peeling.words[0])
    if name in SHELLS:
        return _shell(peeling, name, is_launcher)
    if name in ("su", "runuser") and "-c" in peeling.words:
        text = peeling.words[peeling.words.index("-c") + 1 :][:1]
        return _text(peeling, name, text[0] if text else "", is_launcher)
    if name in _SCRIPTS:
        return _script(peeling, name)
    if name == "start-stop-daemon":
        return _start_stop_daemon(peeling)
    if name not in _VALUES:
        return False
    return _plain(peeling, name)


def _plain(peeling: _Peeling, name: str) -> bool:
    """A wrapper with options, perhaps assignments, perhaps operands, then the command."""
    takes_value = frozenset(_VALUES[name].split())
    words = peeling.words
    at = 1
    while at < len(words) and words[at].startswith("-") and words[at] != "-":
        option = words[at]
        at += 1
        if option == "--":
            break
        if name == "env" and option in ("-S", "--split-string") and at < len(words):
            words[at : at + 1] = option_words(words[at])
            break
        if name == "env" and option in ("-i", "--ignore-environment"):
            peeling.environ.clear()
        elif name == "env" and option in ("-u", "--unset"):
            peeling.environ.pop(words[at] if at < len(words) else "", None)
        at += _value_follows(option, takes_value)
    if name in _TAKES_ASSIGNMENTS:
        while at < len(words) and (pair := assignment(words[at])) is not None:
            peeling.environ[pair[0]] = pair[1]
            at += 1
    at += _OPERANDS.get(name, 0)
    peeling.wrapper.append(name)
    peeling.words = words[at:]
    return True


def _value_follows(option: str, takes_value: frozenset[str]) -> bool:
    """Whether the next word is this option's value; ``-dmS NAME`` is a cluster, ``-c2`` holds its value itself."""
    if option.startswith("--") or option in takes_value:
        return option in takes_value
    for index, letter in enumerate(option[1:], 2):
        if f"-{letter}" in takes_value:
            return index == len(option)
    return False


def _shell(peeling: _Peeling, name: str, is_launcher: Callable[[str], bool]) -> bool:
    """``sh -c TEXT``, ``bash -lc TEXT``, ``sh SCRIPT ARG...``."""
    words = peeling.words
    at = 1
    while at < len(words) and words[at][:1] in ("-", "+") and len(words[at]) > 1:
        option = words[at]
        at += 1
        if option == "--":
            break
        if not option.startswith("--") and "c" in option[1:]:
            shown = f"{name} {option}"
            return _text(peeling, shown, words[at] if at < len(words) else "", is_launcher)
        at += option in ("-o", "+o", "--rcfile", "--init-file")
    peeling.wrapper.append(name)
    peeling.words = words[at:]
    return True


def _text(peeling: _Peeling, name: str, text: str, is_launcher: Callable[[str], bool]) -> bool:
    """Go on with the command of a shell's text that leads to a launcher; else with the last one."""
    peeling.wrapper.append(name)
    found = last = None
    for command in shell_commands(text[:MAX_SHELL_TEXT], peeling.environ):
        last = command
        if any(is_launcher(word) or _name(word) in _SCRIPTS for word in command.words):
            found = command
            break
    chosen = found or last
    peeling.words = list(chosen.words) if chosen is not None else []
    if chosen is not None:
        peeling.environ.update(chosen.assignments)
        peeling.unknown.extend(chosen.unknown)
    return chosen is not None


def _script(peeling: _Peeling, name: str) -> bool:
    variables, runs = _SCRIPTS[name]
    options = [word for v in variables for word in option_words(peeling.environ.get(v, ""))]
    peeling.wrapper.append(name)
    peeling.words = ["java", *options, *runs, *peeling.words[1:]]
    return True


def _start_stop_daemon(peeling: _Peeling) -> bool:
    """Debian's ``start-stop-daemon --exec PROGRAM ... -- ARGUMENTS``."""
    words = peeling.words
    stop = words.index("--") if "--" in words else len(words)
    program = ""
    for at, word in enumerate(words[:stop]):
        for option in ("--exec", "--startas", "-x", "-a"):
            if word == option and at + 1 < stop:
                program = words[at + 1]
            elif option.startswith("--") and word.startswith(f"{option}="):
                program = word.partition("=")[2]
    if not program:
        return False
    peeling.wrapper.append("start-stop-daemon")
    peeling.words = [program, *words[stop + 1 :]]
    return True
