"""Whether a JVM can be asked for a dump without harm. Looks only, and refuses on what it cannot see.

Two things make a handshake dangerous. The JVM learns of it by SIGQUIT, whose default is death: before the JVM has
installed its handler, and with ``-Xrs`` for ever, the signal ends it (seen on 8 to 21; JDK-8342449 gave the client of
24 the same look at SigCgt). And it answers by starting a thread: at its thread limit that ends it too ("unable to
create native thread ... Error occurred during initialization of VM", seen on 11 to 25), whichever limit it is. Where
its attach socket exists already, neither signal nor thread is needed, and only the first group of guards applies.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from seedstall.model.evidence import Ask, Got, Missing, Reading, Ref, Space, Unavailable, Why
from seedstall.model.jvm import JvmProcess
from seedstall.parse import procfs
from seedstall.source.base import Source

SIGQUIT = 3
SPARE = 3
"""Threads that must be left: the Attach Listener, and two that others start meanwhile."""

SPARE_FILES = 8
"""Descriptors that must be left: for two clients, and what others open meanwhile."""
SPARE_KB = 64 << 10
"""Memory that must be left besides the stacks: 20,000 threads with deep stacks make a dump of about 50 MiB."""
SPARE_MAPPINGS = 32

_CAP_SYS_ADMIN = 21
_CAP_SYS_RESOURCE = 24
# include/linux/proc_ns.h: the inodes of the initial namespaces, the same on every boot.
_INITIAL_USER = "user:[4026531837]"
_INITIAL_PID = "pid:[4026531836]"
_DISABLE = "DisableAttachMechanism"

Guard = Callable[[Source, JvmProcess], str]


def refusal(source: Source, process: JvmProcess, guards: tuple[Guard, ...]) -> Missing | None:
    """Why the JVM must not be touched; ``None`` where none of *guards* speaks against it.

    `QUESTION` before its attach socket is used, `SIGNAL` besides before one is called for. The detail names the guard's
    reason; where a guard could not look, it is that reading's own reason.
    """
    for guard in guards:
        try:
            reason = guard(source, process)
        except Unavailable as error:
            missing = error.missing
            detail = (
                f"cannot make sure that the JVM comes to no harm: {missing.detail or missing.why}"
            )
            return Missing(missing.why, missing.origins, detail)
        except ValueError as error:
            return Missing(
                Why.REFUSED, (), f"cannot make sure that the JVM comes to no harm: {error}"
            )
        if reason:
            return Missing(Why.REFUSED, (), reason)
    return None


def _bytes(
    source: Source, path: str, space: Space = Space.PROCESS, ask: Ask = Ask.CONTENT
) -> bytes:
    reading = source.read(Ref(space, path, ask))
    if isinstance(reading, Missing):
        raise Unavailable(reading)
    return reading.value


def _value(reading: Reading[bytes], default: bytes = b"") -> bytes:
    return reading.value if isinstance(reading, Got) else default


# --- always ----------------------------------------------------------------------------------------------------------


def _alive(source: Source, _process: JvmProcess) -> str:
    state = procfs.stat(_bytes(source, "stat")).state
    if state in "ZX":
        return "it has ended: only a zombie is left"
    if state in "Tt":
        by = procfs.status(_bytes(source, "status")).tracer
        return (
            f"it is stopped by its debugger (process {by})"
            if by
            else "it is stopped (SIGSTOP, Ctrl-Z): kill -CONT lets it go on"
        )
    return ""


def _hotspot(source: Source, _process: JvmProcess) -> str:
    maps = _bytes(source, "maps")
    if _OPENJ9 in maps:
        return (
            "it is an OpenJ9 JVM, which speaks another attach protocol: seedstall dump PID asks it by that, and"
            " kill -3 makes it write a javacore file"
        )
    if not procfs.maps_any(maps, "libjvm.so"):
        return "it is not a HotSpot JVM, or not one yet: no libjvm.so is mapped"
    return ""


def is_openj9(source: Source) -> bool:
    """Whether it is OpenJ9's virtual machine, which is asked in another way.

    Raises:
        Unavailable: its maps may not be read.
    """
    return _OPENJ9 in _bytes(source, "maps")


_OPENJ9 = b"/libj9vm"


def _not_debugged(source: Source, _process: JvmProcess) -> str:
    """A debugger may stop the JVM at each signal (gdb does at SIGQUIT); strace hands it on."""
    tracer = procfs.status(_bytes(source, "status")).tracer
    if not tracer:
        return ""
    comm = _value(source.read(Ref(Space.KERNEL, f"proc/{tracer}/comm"))).strip()
    if comm in (b"strace", b"ltrace", b"perf"):
        return ""
    return f"it is being debugged by process {tracer} ({comm.decode('utf-8', 'replace') or '?'})"


def _thawed(source: Source, _process: JvmProcess) -> str:
    for folder in _folders(source, "freezer") or ():
        state = _value(_kernel(source, f"{folder}/freezer.state")).strip()
        events = _value(_kernel(source, f"{folder}/cgroup.events"))
        wanted = _value(_kernel(source, f"{folder}/cgroup.freeze")).strip()
        if state in (b"FROZEN", b"FREEZING") or wanted == b"1" or b"frozen 1" in events:
            return f"its control group is frozen: {folder}"
    return ""


def _room_for_descriptors(source: Source, _process: JvmProcess) -> str:
    """Whether accept(2) of the JVM will find a descriptor: at an error its listener ends, and answers nobody any more.

    The descriptor for the next client is taken while it waits, so that the harm shows with the one after (seen on 11
    to 25: from then on jstack and we wait in vain).
    """
    allocated, _, most = (_bytes(source, "proc/sys/fs/file-nr", Space.KERNEL).split() + [b""] * 3)[
        :3
    ]
    if int(allocated) + SPARE_FILES > int(most):
        return f"no room for one more file (fs.file-nr: {int(allocated)} of {int(most)}): its listener would end"
    limit = procfs.limits(_bytes(source, "limits")).get("Max open files", (0, 0))[0]
    if limit is None or _number(source, b"FDSize") + SPARE_FILES <= limit:
        return ""  # the table has fewer places than the limit: no need to count
    used = _descriptors(source)
    if used + SPARE_FILES <= limit:
        return ""
    return f"no room for one more file (RLIMIT_NOFILE: {used} of {limit}): its attach listener would end for good"


def _descriptors(source: Source) -> int:
    """How many are open: the size of the directory (Linux 6.2), else its names."""
    size = procfs.file_stat(_bytes(source, "fd", ask=Ask.STAT)).size
    return size or len(procfs.names(_bytes(source, "fd", ask=Ask.LIST)))


def _number(source: Source, name: bytes) -> int:
    """A number of ``status`` that is not among those parsed: ``VmSize`` in kB, ``FDSize``."""
    for line in _bytes(source, "status").split(b"\n"):
        if line.startswith(name + b":"):
            return int(line.split()[1])
    raise ValueError(f"the kernel does not tell {name.decode()}")


def _room_in_memory(source: Source, _process: JvmProcess) -> str:
    """Whether it gets memory for a thread's stack and its dump's text; without, it ends itself (seen on 11 to 25)."""
    need = SPARE_KB + SPARE * _stack_kb(source)
    limits = procfs.limits(_bytes(source, "limits"))
    for name, measure, told in (
        ("Max address space", b"VmSize", "RLIMIT_AS"),
        ("Max data size", b"VmData", "RLIMIT_DATA"),
    ):
        most = limits.get(name, (None, None))[0]
        if most is not None and _number(source, measure) + need > most >> 10:
            return _short(told, _number(source, measure), most >> 10)
    return _room_for_commitment(source, need)


def _short(what: str, now_kb: int, most_kb: int) -> str:
    return f"little room for memory ({what}: {now_kb >> 10} of {most_kb >> 10} MiB): asked for a dump it may end itself"


def _room_for_commitment(source: Source, need_kb: int) -> str:
    """With ``vm.overcommit_memory`` 2 the kernel promises no more than it has (mm/util.c, __vm_enough_memory)."""
    reading = _kernel(source, "proc/sys/vm/overcommit_memory")
    if _value(reading).strip() != b"2":
        return ""
    told: dict[bytes, int] = {}
    for line in _bytes(source, "proc/meminfo", Space.KERNEL).split(b"\n"):
        name, _, amount = line.partition(b":")
        if name in (b"CommitLimit", b"Committed_AS"):
            told[name] = int(amount.split()[0])
    most, now = told[b"CommitLimit"], told[b"Committed_AS"]
    if now + need_kb <= most:
        return ""
    return _short("CommitLimit", now, most)


def _stack_kb(source: Source) -> int:
    """What a new thread reserves: 1 MiB where no option says more."""
    sizes = [1024]
    for word in _words(source):
        found = _STACK.fullmatch(word) if word.startswith("-X") else None
        if found is not None:
            unit = (found[2] or found[4] or ("k" if found[3] else "")).lower()
            sizes.append(
                int(found[1] or found[3]) * {"": 1, "k": 1024, "m": 1 << 20, "g": 1 << 30}[unit]
                >> 10
            )
    return min(max(sizes), 1 << 20)


_STACK = re.compile(r"-Xss(\d{1,12})([kKmMgG]?)|-XX:(?:VM)?ThreadStackSize=(\d{1,12})([kKmMgG]?)")


# --- before a signal -------------------------------------------------------------------------------------------------


def _attach_allowed(source: Source, process: JvmProcess) -> str:
    """``-XX:+DisableAttachMechanism``: the JVM would print its dump into its own output instead."""
    words = _words(source)
    last = [word for word in words if word in (f"-XX:+{_DISABLE}", f"-XX:-{_DISABLE}")][-1:]
    told = _performance_data(source, process)
    if f"+{_DISABLE}".encode() in told or last == [f"-XX:+{_DISABLE}"]:
        return f"attaching is switched off (-XX:+{_DISABLE}): kill -3 makes it print a dump into its own output"
    hidden = next((word for word in words if word.startswith(_OPTION_FILES)), "")
    if hidden and not told and not last:
        return (
            f"options of its stand in a file ({hidden}) and it publishes none of them (no hsperfdata): whether"
            f" attaching is switched off (-XX:+{_DISABLE}) cannot be told"
        )
    return ""


_OPTION_FILES = ("@", "-XX:Flags=", "-XX:VMOptionsFile=")
"""How a command line or an environment variable leads to a file with more options."""


def _words(source: Source) -> list[str]:
    """Its options as they were given, in the order in which the JVM takes them: the last of two wins."""
    argv = procfs.cmdline(_bytes(source, "cmdline"))
    environ = procfs.environ(_value(source.read(Ref(Space.PROCESS, "environ"))))
    before, after = environ.get("JAVA_TOOL_OPTIONS", ""), environ.get("_JAVA_OPTIONS", "")
    launcher = environ.get("JDK_JAVA_OPTIONS", "")
    return [*before.split(), *launcher.split(), *argv, *after.split()]


def _performance_data(source: Source, process: JvmProcess) -> bytes:
    """``/tmp/hsperfdata_USER/PID``, where the JVM notes its options, those of argument files and flag files too."""
    listed = source.read(Ref(Space.ROOT, "tmp", Ask.LIST))
    folders = [n for n in procfs.names(_value(listed)) if n.startswith("hsperfdata_")][:1000]
    path = f"{process.inner_pid}"
    readings = (source.read(Ref(Space.ROOT, f"tmp/{folder}/{path}")) for folder in folders)
    return b"".join(reading.value for reading in readings if isinstance(reading, Got))


def _catches(source: Source, _process: JvmProcess) -> str:
    caught = procfs.status(_bytes(source, "status")).caught
    if caught is None:
        return "the kernel does not tell which signals it handles"
    if not procfs.has_signal(caught, SIGQUIT):
        return "it does not handle SIGQUIT, which would end it: it is still starting, or was started with -Xrs"
    return ""


def _handled_by_the_jvm(source: Source, process: JvmProcess) -> str:
    """With ``-Xrs`` the JVM leaves SIGQUIT alone: a handler is then the program's (sun.misc.Signal), and may quit."""
    words = _words(source)
    data = _performance_data(source, process)
    told = any(option.encode() in data for option in _REDUCED)
    if told or any(word in _REDUCED for word in words):
        return (
            "it was started with -Xrs: SIGQUIT is not for the JVM, and what the program's own handler does with it"
            " cannot be told"
        )
    return ""


_REDUCED = ("-Xrs", "-XX:+ReduceSignalUsage")


def _its_own_handler(source: Source, _process: JvmProcess) -> str:
    """Whether the handler is the JVM's: a program that embeds one may take SIGQUIT for itself (uwsgi quits at it).

    The JDK's own launchers (java, jarsigner and the rest in ``bin``), those that jpackage makes, and jsvc leave it
    alone. Of any other program it cannot be told.
    """
    exe = (
        _bytes(source, "exe", ask=Ask.LINK)
        .decode("utf-8", "surrogateescape")
        .removesuffix(" (deleted)")
    )
    folder, _, name = exe.rpartition("/")
    if name in ("java", "jsvc"):
        return ""
    files = procfs.mapped_files(_bytes(source, "maps"))
    home = next((f.rpartition("/lib/")[0] for f in files if f.endswith("/libjvm.so")), "")
    if home and folder in (f"{home.removesuffix(end)}/bin" for end in ("", "/jre", "/lib/runtime")):
        return ""
    return f"{exe} is a program with a JVM inside: whether SIGQUIT makes it dump or quit cannot be told from outside"


def _deliverable(source: Source, _process: JvmProcess) -> str:
    """SIGQUIT must reach a thread: HotSpot blocks it in all but the VM thread and those it did not start."""
    first = procfs.status(_bytes(source, "status"))
    if first.pending is None or first.blocked is None:
        return "the kernel does not tell its pending signals"
    if procfs.has_signal(first.pending, SIGQUIT):
        return "a SIGQUIT sent earlier is still pending: it does not get to its signals"
    if not procfs.has_signal(first.blocked, SIGQUIT):
        return ""
    for tid in procfs.names(_bytes(source, "task", ask=Ask.LIST)):
        reading = source.read(Ref(Space.PROCESS, f"task/{tid}/status"))
        if isinstance(reading, Got):
            blocked = procfs.status(reading.value).blocked
            if blocked is not None and not procfs.has_signal(blocked, SIGQUIT):
                return ""
    return "every thread of it blocks SIGQUIT"


def _room_for_mappings(source: Source, _process: JvmProcess) -> str:
    """A thread's stack is a mapping or two, and its guard pages split it."""
    reading = _kernel(source, "proc/sys/vm/max_map_count")
    if isinstance(reading, Missing):
        raise Unavailable(reading)
    most, now = int(reading.value), _bytes(source, "maps").count(b"\n")
    if now + SPARE_MAPPINGS <= most:
        return ""
    return _full("vm.max_map_count", now, most)


# --- room for one more thread ----------------------------------------------------------------------------------------


def _room_in_cgroups(source: Source, _process: JvmProcess) -> str:
    folders = _folders(source, "pids")
    if folders is None:
        detail = (
            "its control group is not visible from here, nor its limit of threads: run on the host"
        )
        raise Unavailable(Missing(Why.REFUSED, (Ref(Space.PROCESS, "cgroup"),), detail))
    for folder in folders:
        limit, current = (
            _kernel(source, f"{folder}/pids.max"),
            _kernel(source, f"{folder}/pids.current"),
        )
        if isinstance(limit, Missing) or isinstance(current, Missing):
            for reading in (limit, current):
                if isinstance(reading, Missing) and reading.why is not Why.ABSENT:
                    raise Unavailable(reading)
            continue  # the root group, or one without this controller
        most, now = limit.value.strip(), current.value.strip()
        if most != b"max" and int(now) + SPARE > int(most):
            return _full(f"pids.max of {folder}", int(now), int(most))
    return ""


def _room_on_host(source: Source, _process: JvmProcess) -> str:
    total = _all_threads(source)
    for name in ("threads-max", "pid_max"):
        most = int(_bytes(source, f"proc/sys/kernel/{name}", Space.KERNEL))
        if total + SPARE > most:
            return _full(f"kernel.{name}", total, most)
    return ""


def _room_for_user(source: Source, _process: JvmProcess) -> str:
    """RLIMIT_NPROC counts the threads of the real user over all its processes (kernel/fork.c, copy_process)."""
    most = procfs.limits(_bytes(source, "limits")).get("Max processes", (0, 0))[0]
    if most is None:
        return ""
    if _all_threads(source) + SPARE <= most:
        return ""  # all threads of all users are fewer than the limit: no need to count
    status = procfs.status(_bytes(source, "status"))
    if _exempt(source, status):
        return ""
    now = _threads_of(source, status.uids[0])
    return _full(f"RLIMIT_NPROC of uid {status.uids[0]}", now, most) if now + SPARE > most else ""


def _full(what: str, now: int, most: int) -> str:
    return f"no room for one more thread ({what}: {now} of {most}): asked for a dump it would end itself"


def _all_threads(source: Source) -> int:
    """Threads on the whole host, whatever namespace we are in.

    Raises:
        Unavailable: lxcfs shows a container's own number instead.
    """
    mounts = _bytes(source, "proc/self/mountinfo", Space.KERNEL)
    if b" /proc/loadavg " in mounts:
        detail = "lxcfs hides how many threads the host has"
        raise Unavailable(Missing(Why.REFUSED, (Ref(Space.KERNEL, "proc/loadavg"),), detail))
    return procfs.all_threads(_bytes(source, "proc/loadavg", Space.KERNEL))


def _exempt(source: Source, status: procfs.Status) -> bool:
    """Whether the kernel lets the user pass the limit: root, or two capabilities, in the initial user namespace."""
    theirs = _value(source.read(Ref(Space.PROCESS, "ns/user", Ask.LINK)))
    ours = _value(source.read(Ref(Space.KERNEL, "proc/self/ns/user", Ask.LINK)))
    if theirs != _INITIAL_USER.encode() or ours != theirs:
        return False
    return status.uids[0] == 0 or any(
        status.cap_eff >> cap & 1 for cap in (_CAP_SYS_ADMIN, _CAP_SYS_RESOURCE)
    )


def _threads_of(source: Source, uid: int) -> int:
    """The threads of every process with that real user.

    Raises:
        Unavailable: not all of them can be seen from here.
    """
    if (
        _value(source.read(Ref(Space.KERNEL, "proc/self/ns/pid", Ask.LINK)))
        != _INITIAL_PID.encode()
    ):
        detail = f"the threads of uid {uid} outside this pid namespace cannot be counted"
        raise Unavailable(Missing(Why.REFUSED, (), detail))
    count = 0
    for name in procfs.names(_bytes(source, "proc", Space.KERNEL, Ask.LIST)):
        if name.isascii() and name.isdigit():
            reading = _kernel(source, f"proc/{name}/status")
            if isinstance(reading, Got):
                status = procfs.status(reading.value)
                count += status.threads if status.uids[0] == uid else 0
            elif reading.why is Why.DENIED:
                raise Unavailable(reading)
    return count


# --- control groups --------------------------------------------------------------------------------------------------


def _kernel(source: Source, path: str) -> Reading[bytes]:
    return source.read(Ref(Space.KERNEL, path.lstrip("/")))


def _folders(source: Source, controller: str) -> tuple[str, ...] | None:
    """The target's control groups with that controller, and their ancestors.

    ``None`` where they are not visible from here: a sidecar or debug container sees only its own.
    """
    reading = source.read(Ref(Space.PROCESS, "cgroup"))
    if isinstance(reading, Missing):
        if reading.why is Why.ABSENT:  # a kernel without control groups
            return ()
        raise Unavailable(reading)
    mounted = procfs.mounts(_bytes(source, "proc/self/mountinfo", Space.KERNEL), "cgroup")
    return procfs.cgroup_folders(procfs.cgroups(reading.value), mounted, controller)


QUESTION: tuple[Guard, ...] = (_alive, _hotspot, _thawed, _room_for_descriptors, _room_in_memory)
SIGNAL: tuple[Guard, ...] = (
    _not_debugged,
    _attach_allowed,
    _catches,
    _handled_by_the_jvm,
    _its_own_handler,
    _deliverable,
    _room_in_cgroups,
    _room_on_host,
    _room_for_user,
    _room_for_mappings,
)
OPENJ9: tuple[Guard, ...] = (
    _alive,
    _thawed,
    _not_debugged,
    _room_for_descriptors,
    _room_in_memory,
    _room_for_mappings,
    _room_in_cgroups,
    _room_on_host,
    _room_for_user,
)
"""Before an OpenJ9 JVM is asked: no signal is sent, but it starts a thread for us."""
