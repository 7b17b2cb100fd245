"""Files below ``/proc``, as bytes: processes, threads, mounts, control groups (proc(5), Linux 2.6 to 6.x).

Every function takes the bytes of one file and raises only ValueError, in time linear in their length: a process
chooses its own name, arguments and paths, so none of it can be trusted.
"""

from __future__ import annotations

from typing import NamedTuple

TICKS_PER_SECOND = 100
"""USER_HZ: what ``/proc`` counts in on every Linux architecture that runs a JVM, whatever CONFIG_HZ is."""
MAX_LINES = 100_000
_MAX_DIGITS = 20
_MAX_NAME = 256


class Stat(NamedTuple):
    """``/proc/PID/stat`` or ``task/TID/stat``. ``cpu_ms`` is user and system time; ``start_ticks`` counts from boot."""

    pid: int
    comm: str
    state: str
    ppid: int
    cpu_ms: int
    threads: int
    start_ticks: int
    processor: int = -1
    """The CPU it last ran on (field 39, kernel 2.2.8); -1 where the line ends before."""


def stat(data: bytes) -> Stat:
    """Parse ``126 (java) S 1 0 ...``. The name may hold spaces and brackets: the last ``)`` ends it.

    Raises:
        ValueError: it does not look like that.
    """
    head, opened, rest = data.partition(b" (")
    comm, closed, tail = rest.rpartition(b") ")
    fields = tail.split(None, 37)
    if not (opened and closed) or len(fields) < 20:  # noqa: PLR2004 - up to field 22, start time
        raise ValueError("not a stat line of /proc")
    return Stat(
        pid=_number(head),
        comm=_text(comm[:_MAX_NAME]),
        state=_text(fields[0][:1]),
        ppid=_number(fields[1]),
        cpu_ms=(_number(fields[11]) + _number(fields[12])) * (1000 // TICKS_PER_SECOND),
        threads=_number(fields[17]),
        start_ticks=_number(fields[19]),
        processor=_number(fields[36]) if len(fields) > 36 else -1,  # noqa: PLR2004 - field 39
    )


class Status(NamedTuple):
    """``/proc/PID/status`` or ``task/TID/status``.

    Ids are real, effective, saved, file system. ``ns_pids`` runs from the reader's pid namespace to the process's own
    (kernel 4.1; empty before). The signal masks are ``None`` where the file lacks them (gVisor): bit N-1 is signal N.
    """

    name: str
    state: str
    tgid: int
    pid: int
    tracer: int
    uids: tuple[int, int, int, int]
    gids: tuple[int, int, int, int]
    ns_pids: tuple[int, ...]
    threads: int
    pending: int | None
    blocked: int | None
    ignored: int | None
    caught: int | None
    cap_eff: int


def status(data: bytes) -> Status:
    """Parse the lines of name, colon, tab, value.

    Raises:
        ValueError: ids or pids are missing or malformed.
    """
    lines: dict[bytes, bytes] = {}
    for line in data.split(b"\n", MAX_LINES)[:200]:
        key, colon, value = line.partition(b":")
        if colon:
            lines.setdefault(key, value.strip())
    own, shared = _mask(lines, b"SigPnd"), _mask(lines, b"ShdPnd")
    return Status(
        name=_text(lines.get(b"Name", b"")[:_MAX_NAME]),
        state=_text(lines.get(b"State", b"?")[:1]),
        tgid=_number(lines.get(b"Tgid", b"")),
        pid=_number(lines.get(b"Pid", b"")),
        tracer=_number(lines.get(b"TracerPid", b"0")),
        uids=_ids(lines.get(b"Uid", b"")),
        gids=_ids(lines.get(b"Gid", b"")),
        ns_pids=tuple(_number(part) for part in lines.get(b"NSpid", b"").split(None, 33)[:33]),
        threads=_number(lines.get(b"Threads", b"1")),
        pending=None if own is None or shared is None else own | shared,
        blocked=_mask(lines, b"SigBlk"),
        ignored=_mask(lines, b"SigIgn"),
        caught=_mask(lines, b"SigCgt"),
        cap_eff=_mask(lines, b"CapEff") or 0,
    )


def switches(data: bytes) -> tuple[int, int] | None:
    """How often a thread that sleeps was switched away from, by itself and by force, out of its ``status``.

    Two equal answers say that it has not run in between. ``None`` where it does not sleep, or the file does not say.
    """
    state = b""
    counts: list[int] = []
    for line in data.split(b"\n", 200)[:200]:
        key, _, value = line.partition(b":\t")
        if key == b"State":
            state = value[:1]
        elif key.endswith(b"voluntary_ctxt_switches"):
            counts.append(_number(value))
    return (counts[0], counts[1]) if state in (b"S", b"D") and len(counts) == 2 else None  # noqa: PLR2004 - both


def has_signal(mask: int, number: int) -> bool:
    """Whether signal *number* is in a mask of `Status`."""
    return bool(mask >> (number - 1) & 1)


class Call(NamedTuple):
    """``task/TID/syscall``. ``number`` is ``None`` for a thread blocked outside a system call, or running."""

    running: bool
    number: int | None = None
    args: tuple[int, ...] = ()
    stack_pointer: int = 0
    program_counter: int = 0


def syscall(data: bytes) -> Call:
    """Parse its three forms (proc_pid_syscall, fs/proc/base.c): ``running``, ``-1 0xSP 0xPC``, and nine fields.

    Raises:
        ValueError: none of them.
    """
    fields = data.split(None, 10)
    if fields == [b"running"]:
        return Call(running=True)
    if len(fields) == 3 and fields[0] == b"-1":  # noqa: PLR2004 - the three fields named above
        return Call(running=False, stack_pointer=_hex(fields[1]), program_counter=_hex(fields[2]))
    if len(fields) != 9:  # noqa: PLR2004 - number, six arguments, SP, PC
        raise ValueError("not a syscall line of /proc")
    args = tuple(_hex(field) for field in fields[1:7])
    return Call(
        running=False,
        number=_number(fields[0]),
        args=args,
        stack_pointer=_hex(fields[7]),
        program_counter=_hex(fields[8]),
    )


def wchan(data: bytes) -> str | None:
    """The kernel function a thread sleeps in; ``None`` for ``0``: running, not permitted, or not asleep yet."""
    name = data.strip()
    return None if name in (b"", b"0") else _text(name[:_MAX_NAME])


def maps_any(data: bytes, *names: str) -> bool:
    """Whether a file of one of these names is mapped. No line is parsed: maps of a JVM run to megabytes."""
    wanted = [f"/{name}".encode() for name in names]
    return any(
        data[at + len(w) : at + len(w) + 1] in (b"\n", b" ", b"")
        for w in wanted
        for at in _places(data, w)
    )


def _places(data: bytes, wanted: bytes) -> list[int]:
    found: list[int] = []
    at = data.find(wanted)
    while at >= 0 and len(found) < 1000:  # noqa: PLR2004 - a library has a handful of mappings
        found.append(at)
        at = data.find(wanted, at + 1)
    return found


def loaded_at(data: bytes, name: bytes) -> int | None:
    """Where the library of that name (``/libjvm.so``) is loaded to be run; ``None`` where it is not.

    A file that is only read may be mapped as well: of a loaded one a part may be executed. Its first byte lies where
    the nearest mapping before that with offset 0 begins.
    """
    starts: dict[bytes, int] = {}
    for at in _places(data, name):
        start = data.rfind(b"\n", 0, at) + 1
        end = data.find(b"\n", at)
        fields = data[start : end if end >= 0 else len(data)].split(None, 5)
        if len(fields) < 6 or not fields[5].removesuffix(b" (deleted)").endswith(name):  # noqa: PLR2004 - the path
            continue
        if not fields[2].strip(b"0"):
            starts[fields[5]] = _hex(b"0x" + fields[0].partition(b"-")[0])
        if b"x" in fields[1] and fields[5] in starts:
            return starts[fields[5]]
    return None


def mapped_files(data: bytes) -> tuple[str, ...]:
    """The files mapped, each once, in order of address; without the mark of a deleted one."""
    files: dict[bytes, None] = {}
    for line in data.split(b"\n", MAX_LINES):
        if b" /" in line:
            fields = line.split(None, 5)
            if len(fields) == 6 and fields[5].startswith(b"/"):  # noqa: PLR2004 - the path is the sixth
                files.setdefault(fields[5].removesuffix(b" (deleted)"))
    return tuple(_text(_unescaped(path)) for path in files)


def mapped_size(data: bytes, path: bytes) -> int:
    """How many bytes of the file *path* are mapped, all its mappings together."""
    size = 0
    wanted = b" " + path + b"\n"
    at = data.find(wanted)
    for _ in range(1000):  # a program has a handful of mappings
        if at < 0:
            break
        line = data.rfind(b"\n", 0, at) + 1
        first, _, last = data[line : line + 40].partition(b" ")[0].partition(b"-")
        size += max(0, _hex_or_0(last) - _hex_or_0(first))
        at = data.find(wanted, at + 1)
    return size


def _hex_or_0(text: bytes) -> int:
    return int(text, 16) if text.isalnum() and len(text) <= 16 and not set(text) - _HEX else 0  # noqa: PLR2004


_HEX = frozenset(b"0123456789abcdef")


def limits(data: bytes) -> dict[str, tuple[int | None, int | None]]:
    """``/proc/PID/limits``: soft and hard by name (``Max processes``); ``None`` for unlimited.

    Raises:
        ValueError: a limit is no number.
    """
    found: dict[str, tuple[int | None, int | None]] = {}
    for line in data.split(b"\n", 64)[1:64]:
        name, soft, hard = line[:26].strip(), line[26:47].strip(), line[47:68].strip()
        if name:
            found[_text(name)] = (_limit(soft), _limit(hard))
    return found


def _limit(text: bytes) -> int | None:
    return None if text == b"unlimited" else _number(text)


REMOTE = ("nfs", "cifs", "smb3", "ceph", "9p", "afs", "lustre", "gpfs", "ocfs2", "gfs2", "fuse")
"""File systems whose server may be gone: even a stat of a file there can hang for ever, as the JVM may hang in it."""


class Mount(NamedTuple):
    """One mount: ``root`` is the directory of its file system that appears at ``point``; ``id`` as fdinfo names it."""

    id: int
    root: str
    point: str
    kind: str
    options: tuple[str, ...]


def mounts(data: bytes, *kinds: str) -> tuple[Mount, ...]:
    """``mountinfo``: the mounts whose file system type starts with one of these; all of them where none is named.

    Lines of other types are not parsed: hosts have thousands.

    Raises:
        ValueError: a line of such a type is malformed.
    """
    marks = [f" - {kind}".encode() for kind in kinds]
    found = [
        _mount(line)
        for line in data.split(b"\n", MAX_LINES)
        if line and (not marks or any(mark in line for mark in marks))
    ]
    return tuple(m for m in found if not kinds or m.kind.startswith(kinds))


def _mount(line: bytes) -> Mount:
    front, dash, back = line.partition(b" - ")
    fields, tail = front.split(b" ", 6), back.split(b" ")
    if not dash or len(fields) < 6 or len(tail) < 3:  # noqa: PLR2004 - proc(5), mountinfo
        raise ValueError("not a line of mountinfo")
    return Mount(
        id=_number(fields[0]),
        root=_text(_unescaped(fields[3])),
        point=_text(_unescaped(fields[4])),
        kind=_text(tail[0]),
        options=tuple(_text(tail[2]).split(",")),
    )


class Cgroup(NamedTuple):
    """One line of ``/proc/PID/cgroup``: no controllers for version 2."""

    controllers: tuple[str, ...]
    path: str


def cgroups(data: bytes) -> tuple[Cgroup, ...]:
    """Parse ``8:pids:/docker/1f`` and ``0::/system.slice``.

    Raises:
        ValueError: a line is malformed.
    """
    found: list[Cgroup] = []
    for line in data.split(b"\n", 200)[:200]:
        if line:
            number, first, rest = line.partition(b":")
            controllers, second, path = rest.partition(b":")
            if not (first and second and number.isdigit() and path.startswith(b"/")):
                raise ValueError("not a line of /proc/PID/cgroup")
            names = _text(controllers).split(",") if controllers else ()
            found.append(Cgroup(tuple(names), _text(path)))
    return tuple(found)


def cgroup_folders(
    groups: tuple[Cgroup, ...], mounted: tuple[Mount, ...], controller: str
) -> tuple[str, ...] | None:
    """The folders whose files govern *controller*: the process's own group, then each ancestor up to the mount.

    Version 1 where the process is in a hierarchy with that controller, version 2 besides: a folder may lack the
    controller's files. ``None`` where the group is not visible from here (another cgroup namespace, not mounted).
    The root group, mounted or not, limits nothing.
    """
    folders: list[str] = []
    for group in groups:
        if group.controllers and controller not in group.controllers:
            continue
        if group.path == "/" and not any(_holds(m, group, controller) for m in mounted):
            continue
        for mount in mounted:
            inside = _below(group.path, mount.root) if _holds(mount, group, controller) else None
            if inside is not None:
                folders += _upwards(mount.point, inside)
                break
        else:
            return None
    return tuple(folders)


def _holds(mount: Mount, group: Cgroup, controller: str) -> bool:
    if not group.controllers:
        return mount.kind == "cgroup2"
    return mount.kind == "cgroup" and controller in mount.options


def _below(path: str, root: str) -> str | None:
    """*path* relative to the group that is mounted; ``None`` where it lies elsewhere (``/../other``)."""
    if ".." in path.split("/"):
        return None
    if root == "/":
        return path.strip("/")
    if path == root or path.startswith(f"{root}/"):
        return path[len(root) :].strip("/")
    return None


def _upwards(point: str, inside: str) -> list[str]:
    parts = inside.split("/", 64)[:64] if inside else []
    return ["/".join([point, *parts[:depth]]) for depth in range(len(parts), -1, -1)]


def io_read_bytes(data: bytes) -> int | None:
    """``/proc/PID/io``: bytes that had to be fetched from a device; ``None`` where it does not say."""
    for line in data.split(b"\n", 16)[:16]:
        key, _, value = line.partition(b": ")
        if key == b"read_bytes" and value.isdigit() and len(value) <= _MAX_DIGITS:
            return int(value)
    return None


def throttled_us(data: bytes) -> int | None:
    """``cpu.stat`` of a control group: microseconds it was held back; ``None`` where it has no limit to count for.

    Version 2 counts microseconds, version 1 nanoseconds (Documentation/scheduler/sched-bwc.rst). A group whose limit
    never applied (``nr_periods 0``) is told apart from none, which lacks the lines.
    """
    for line in data.split(b"\n", 64)[:64]:
        key, _, value = line.partition(b" ")
        if value.isdigit() and len(value) <= _MAX_DIGITS:
            if key == b"throttled_usec":
                return int(value)
            if key == b"throttled_time":
                return int(value) // 1000
    return None


def cpu_periods(data: bytes) -> tuple[int, int]:
    """``nr_periods`` and ``nr_throttled`` of a control group's ``cpu.stat``; 0 for what it lacks."""
    told = {b"nr_periods": 0, b"nr_throttled": 0}
    for line in data.split(b"\n", 64)[:64]:
        key, _, value = line.partition(b" ")
        if key in told and value.isdigit() and len(value) <= _MAX_DIGITS:
            told[key] = int(value)
    return told[b"nr_periods"], told[b"nr_throttled"]


def memory(data: bytes) -> tuple[int, int]:
    """``VmRSS`` and ``VmSwap`` of ``/proc/PID/status`` in KiB; 0 for what it lacks (a zombie has neither)."""
    told = {b"VmRSS": 0, b"VmSwap": 0}
    for line in data.split(b"\n", MAX_LINES)[:MAX_LINES]:
        key, _, value = line.partition(b":")
        words = value.split()
        if key in told and words and words[0].isdigit() and len(words[0]) <= _MAX_DIGITS:
            told[key] = int(words[0])
    return told[b"VmRSS"], told[b"VmSwap"]


def major_faults(data: bytes) -> int:
    """Field 12 of ``/proc/PID/stat``: page faults that had to wait for a disk.

    Raises:
        ValueError: it is no such line.
    """
    fields = data.rpartition(b") ")[2].split(None, 11)
    if len(fields) < 11 or not fields[9].isdigit():  # noqa: PLR2004 - counted from the state, field 3
        raise ValueError("not a stat line of /proc")
    return int(fields[9])


def pressure(data: bytes) -> float | None:
    """``avg10`` of the line ``some`` of a pressure file, in per cent (PSI, 4.20); ``None`` where there is none."""
    for line in data.split(b"\n", 8)[:8]:
        words = line.split(None, 4)
        if words[:1] == [b"some"] and len(words) > 1 and words[1].startswith(b"avg10="):
            try:
                return float(words[1][6:12])
            except ValueError:
                return None
    return None


def cmdline(data: bytes) -> tuple[str, ...]:
    """The arguments. A program that rewrote its title leaves one, with spaces."""
    parts = data.removesuffix(b"\0").split(b"\0", MAX_LINES) if data else []
    return tuple(_text(part) for part in parts)


def environ(data: bytes) -> dict[str, str]:
    """The environment as it was at exec; of a name set twice the first, as getenv(3) finds it."""
    found: dict[str, str] = {}
    for entry in data.split(b"\0", MAX_LINES):
        name, equals, value = entry.partition(b"=")
        if equals:
            found.setdefault(_text(name), _text(value))
    return found


def uptime_ms(data: bytes) -> int:
    """``/proc/uptime``: milliseconds since boot.

    Raises:
        ValueError: no such number.
    """
    whole, _, part = data.split(None, 1)[0].partition(b".") if data.strip() else (b"", b"", b"")
    return _number(whole) * 1000 + _number((part + b"000")[:3])


def all_threads(data: bytes) -> int:
    """Threads on the whole host, of every namespace: the second number of ``1/95`` in ``/proc/loadavg``.

    Raises:
        ValueError: no such number.
    """
    fields = data.split(None, 5)
    if len(fields) < 4:  # noqa: PLR2004 - proc(5), loadavg
        raise ValueError("not /proc/loadavg")
    return _number(fields[3].partition(b"/")[2])


def last_ran_ms(data: bytes) -> int | None:
    """``sched``: when the thread was last accounted as running, in milliseconds since boot; ``None`` if not told.

    It reads 0 from a thread's move to another CPU until it runs there (``migrate_task_rq_fair``, kernel/sched/fair.c):
    taken for a time, that would be "has not run since boot".
    """
    at = data.find(b"se.exec_start")
    if at < 0:
        return None
    value = data[at : at + 200].partition(b":")[2].lstrip(b" ").partition(b"\n")[0]
    whole = value.strip().partition(b".")[0]
    return (int(whole) or None) if whole.isdigit() and len(whole) <= _MAX_DIGITS else None


def sched_pid(data: bytes) -> int | None:
    """``sched``: the pid in its first line, ``java (7, #threads: 20)``: before kernel 4.1 the innermost namespace's."""
    line = data.partition(b"\n")[0]
    number = line[line.rfind(b"(") + 1 :].partition(b",")[0]
    return int(number) if number.isdigit() and len(number) <= _MAX_DIGITS else None


def mount_id(data: bytes) -> int | None:
    """``fdinfo/N``: the id of the mount the descriptor is open on (kernel 3.15)."""
    for line in data.split(b"\n", 10)[:10]:
        key, _, value = line.partition(b":")
        if key == b"mnt_id" and value.strip().isdigit():
            return _number(value)
    return None


class FileStat(NamedTuple):
    """An answer to `Ask.STAT`. Numbers that a captured tree does not hold are -1."""

    mode: int
    rdev: tuple[int, int]
    inode: int
    uid: int
    gid: int
    size: int


def file_stat(data: bytes) -> FileStat:
    """Parse ``MODE RDEV_MAJOR RDEV_MINOR INODE UID GID SIZE``.

    Raises:
        ValueError: it is not that.
    """
    fields = data.split(None, 7)
    if len(fields) != 7 or len(fields[0]) > _MAX_DIGITS:  # noqa: PLR2004 - the seven named
        raise ValueError("not an answer to STAT")
    major, minor, inode, uid, gid, size = (_number(field) for field in fields[1:])
    return FileStat(int(fields[0], 8), (major, minor), inode, uid, gid, size)


def names(data: bytes) -> tuple[str, ...]:
    """An answer to `Ask.LIST`: the names."""
    return tuple(_text(name) for name in data.split(b"\0") if name)


def elf_machine(header: bytes) -> tuple[int, int]:
    """Machine number and word size in bits of an ELF file, from its first 20 bytes.

    Raises:
        ValueError: it is no ELF file.
    """
    if header[:4] != b"\x7fELF" or len(header) < 20:  # noqa: PLR2004 - up to e_machine
        raise ValueError("not an ELF file")
    bits = 64 if header[4] == 2 else 32  # noqa: PLR2004 - ELFCLASS64
    machine = header[18:20]
    if header[5] == 2:  # noqa: PLR2004 - ELFDATA2MSB
        machine = machine[::-1]
    return int.from_bytes(machine, "little"), bits


def cpu_machine(data: bytes) -> str:
    """The architecture that ``/proc/cpuinfo`` is of, by the words only its own form has.

    Raises:
        ValueError: none that we know.
    """
    head = data[:4096]
    for word, machine in _CPU_WORDS:
        if word in head:
            return machine
    raise ValueError("not a processor we know")


_CPU_WORDS = (
    (b"IBM/S390", "s390x"),
    (b"\nflags\t\t:", "x86_64"),
    (b"CPU architecture: 8", "aarch64"),
    (b"CPU architecture: AArch64", "aarch64"),
    (b"CPU architecture:", "arm"),
    (b"rv64", "riscv64"),
    (b"POWER", "ppc64"),
    (b"loongarch64", "loongarch64"),
    (b"mips64", "mips64"),
)


def _number(text: bytes) -> int:
    text = text.strip()
    if len(text) > _MAX_DIGITS or not text.removeprefix(b"-").isdigit():
        raise ValueError(f"not a number: {text[:_MAX_DIGITS]!r}")
    return int(text)


def _hex(text: bytes) -> int:
    if not text.startswith(b"0x") or len(text) > 2 + _MAX_DIGITS:
        raise ValueError(f"not a hexadecimal number: {text[:_MAX_DIGITS]!r}")
    return int(text, 16)


def _mask(lines: dict[bytes, bytes], key: bytes) -> int | None:
    text = lines.get(key)
    if text is None:
        return None
    if len(text) > 2 * _MAX_DIGITS or not text.isalnum():
        raise ValueError(f"not a mask: {key.decode()}")
    return int(text, 16)


def _ids(text: bytes) -> tuple[int, int, int, int]:
    real, effective, saved, file_system = (_number(part) for part in text.split(None, 4)[:4])
    return real, effective, saved, file_system


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _unescaped(path: bytes) -> bytes:
    """A path of maps or mountinfo, where white space and backslash stand in octal (seq_path, mangle_path)."""
    if b"\\" not in path:
        return path
    first, *rest = path.split(b"\\")
    return first + b"".join(_octal(part) for part in rest)


def _octal(part: bytes) -> bytes:
    digits = part[:3]
    if len(digits) == 3 and all(b"0"[0] <= d <= b"7"[0] for d in digits) and digits[0] <= b"3"[0]:  # noqa: PLR2004
        return bytes([int(digits, 8)]) + part[3:]
    return b"\\" + part
