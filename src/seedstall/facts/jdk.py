"""Which JDK a process runs: its java.home and its version, from the cheapest evidence that says it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from seedstall.facts.inputs import InputTexts
from seedstall.model.evidence import Ask, Got, Missing, Ref, Space, Unavailable, Why
from seedstall.model.jdk import JdkVersion, VmFamily
from seedstall.model.jvm import JavaHome, JvmProcess
from seedstall.parse import javahome, procfs, tomcatstart
from seedstall.parse.hsperf import hsperf_strings
from seedstall.parse.jdkversion import jdk_version as parsed_version
from seedstall.parse.jdkversion import vm_banner
from seedstall.parse.text import Text
from seedstall.source.base import Source

GIVEN = Ref(Space.INPUT, "given/jdk")
MAX_PERF_FOLDERS = 256
MAX_BANNERS = 1_000
BANNER_LENGTH = 400
_TEXTS = (
    b"Full thread dump ",
    b"1CIJAVAVERSION",
    b"JVM version is ",
    b'"runtimeVersion"',
    _TO_FILE := b"\n#",
    tomcatstart.MARK,
    b"JVM Version:",
    b"java version ",
    b"openjdk version ",
    b"java.base@",
    b'"java.base"',
)
"""What names a JDK in a text, the surest first: a dump's banner, a javacore's, the serviceability agent's,
``Thread.dump_to_file``'s (as JSON, as text), Tomcat's lines at its start (whole, or pasted without the class),
``java -version``, the module in a frame (as text, as JSON)."""


def root_path(source: Source) -> str:
    """The root directory of the process as ``/proc`` shows it: ``/``, or a chroot's directory."""
    reading = source.read(Ref(Space.PROCESS, "root", Ask.LINK))
    return _text(reading.value).rstrip("/") or "/" if isinstance(reading, Got) else "/"


def rooted(path: str, ask: Ask = Ask.CONTENT) -> Ref:
    """A file by its absolute path in the process's own root."""
    return Ref(Space.ROOT, path.lstrip("/"), ask)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def java_home(source: Source) -> JavaHome:
    """The java.home, by the virtual machine's library that is mapped, else by the program.

    Raises:
        Unavailable: neither can be had, or none of them is laid out like a JDK.
    """
    maps = source.read(Ref(Space.PROCESS, "maps"))
    found = javahome.mapped_library(maps.value) if isinstance(maps, Got) else None
    if found is not None:
        library, replaced = javahome.inside(found[0], root_path(source)), found[1]
        home = javahome.home_of_library(library)
        if home is not None:
            return JavaHome(home, "maps", library, replaced)
    exe = source.read(Ref(Space.PROCESS, "exe", Ask.LINK))
    if isinstance(exe, Missing):
        raise Unavailable(exe)
    program = _text(exe.value)
    told = program.removesuffix(javahome.DELETED)
    home = javahome.home_of_program(javahome.inside(told, root_path(source)))
    if home is None:
        detail = f"{told} is not in the bin directory of a JDK, and no libjvm.so is mapped"
        raise Unavailable(Missing(Why.ABSENT, exe.origins, detail))
    return JavaHome(home, "exe", replaced=told != program)


# --- the version ------------------------------------------------------------------------------------------------------


def jdk_version(
    source: Source, home: JavaHome | None, process: JvmProcess | None, texts: InputTexts | None
) -> JdkVersion:
    """The version, by what the target itself says; what the user says (``--jdk``) counts where it says nothing.

    Tried in this order: the ``release`` file, hsperfdata, the program's own constant, libjvm.so's own line, a thread
    dump's banner or another text handed over. Where the files on disk were replaced since the start, hsperfdata goes
    first.

    Raises:
        Unavailable: nothing says it.
    """
    tried: list[Missing] = []
    found = next(_evidence(source, home, process, texts, tried), None)
    given = source.read(GIVEN)
    said = parsed_version(_text(given.value)) if isinstance(given, Got) else None
    if found is None:
        if said is not None:
            return replace(said, told_by="--jdk")
        raise Unavailable(_why_not(tried))
    if home is not None and javahome.is_openj9(home.libjvm):
        found = replace(found, family=VmFamily.OPENJ9)
    return _confirmed(found, said)


def _confirmed(found: JdkVersion, said: JdkVersion | None) -> JdkVersion:
    """Evidence and the user's word together: the word fills in an update, and a contradiction is noted."""
    if said is None:
        return found
    if said.feature != found.feature:
        return _contradicted(found, said)
    if found.update is None and said.update is not None:
        return replace(found, update=said.update, text=said.text, told_by=f"{found.told_by}, --jdk")
    if said.update is not None and said.update != found.update:
        return _contradicted(found, said)
    return found


def _contradicted(found: JdkVersion, said: JdkVersion) -> JdkVersion:
    words = f"--jdk says {said}, {found.told_by} says {found}"
    return replace(found, conflict=f"{words}; {found.conflict}" if found.conflict else words)


def _why_not(tried: list[Missing]) -> Missing:
    """The most telling reason: denied before absent before never collected."""
    order = (Why.DENIED, Why.VANISHED, Why.MALFORMED, Why.TRUNCATED, Why.ABSENT)
    for why in order:
        for missing in tried:
            if missing.why is why:
                return missing
    return tried[0] if tried else Missing(Why.NOT_COLLECTED, (GIVEN,), "say --jdk VERSION")


def _evidence(
    source: Source,
    home: JavaHome | None,
    process: JvmProcess | None,
    texts: InputTexts | None,
    tried: list[Missing],
) -> Iterator[JdkVersion]:
    """What says the version, the best first. Each is looked at only when the one before said nothing."""
    looks: list[Callable[[], JdkVersion | None]] = []
    if home is not None:
        looks.append(lambda: _release(source, home, tried))
    looks.append(lambda: _hsperf(source, process))
    if home is not None and home.replaced:
        looks.reverse()
    looks.append(lambda: _program(source, tried))
    if home is not None:
        looks.append(lambda: _library(source, home, tried))
    looks.append(lambda: _from_texts(source, texts, tried))
    for look in looks:
        version = look()
        if version is not None:
            yield version


def _understood(text: str, place: str) -> JdkVersion | None:
    try:
        return replace(parsed_version(text), told_by=place)
    except ValueError:
        return None


def _release(source: Source, home: JavaHome, tried: list[Missing]) -> JdkVersion | None:
    """``release`` (7 and later) lies in java.home, on 8 and before in the JDK above its ``jre``."""
    folders = [home.path]
    if home.path.endswith("/jre"):
        folders.append(home.path.removesuffix("/jre"))
    for folder in folders:
        path = f"{folder}/release"
        reading = source.read(rooted(path))
        if isinstance(reading, Missing):
            tried.append(reading)
        elif (found := _understood(_text(reading.value), path)) is not None:
            return found
    return None


PERFORMANCE_DATA = b"hsperfdata_"
TEMPORARY = rooted("tmp", Ask.LIST)
"""Where the JVM's performance data lie, whatever its ``java.io.tmpdir`` is (os::get_temp_directory)."""


def perf_strings(source: Source, process: JvmProcess | None) -> dict[str, str]:
    """What the JVM published in ``/tmp/hsperfdata_USER/PID``; empty where there is none.

    Its owner must be the process's: anyone may put such a file into ``/tmp``.
    """
    found = _perf_file(source, process)
    return found[1] if found is not None else {}


def _perf_file(source: Source, process: JvmProcess | None) -> tuple[str, dict[str, str]] | None:
    if process is None:
        return None
    listed = source.read(TEMPORARY)
    if isinstance(listed, Missing):
        return None
    # Ours alone are decoded: a /tmp may hold a hundred thousand names.
    folders = [_text(n) for n in listed.value.split(b"\0") if n.startswith(PERFORMANCE_DATA)]
    for folder in folders[:MAX_PERF_FOLDERS]:
        path = f"tmp/{folder}/{process.inner_pid}"
        status = source.read(rooted(path, Ask.STAT))
        if isinstance(status, Missing):
            continue
        try:
            if procfs.file_stat(status.value).uid not in (process.uid, -1):
                continue
            reading = source.read(rooted(path))
            if isinstance(reading, Got):
                return f"/{path}", hsperf_strings(reading.value)
        except ValueError:
            continue
    return None


def _hsperf(source: Source, process: JvmProcess | None) -> JdkVersion | None:
    found = _perf_file(source, process)
    if found is None:
        return None
    path, told = found
    built = vm_banner(told.get("sun.rt.internalVersion", ""))
    version = _understood(f"java.version={told.get('java.property.java.version', '')}", path)
    if version is None:
        # 6 and early 7 publish the virtual machine's version only.
        own = built or vm_banner(f"VM ({told.get('java.property.java.vm.version', '')})")
        version = None if own is None else replace(own, told_by=path)
    if version is None:
        return None
    vendor = told.get("java.property.java.vm.vendor", "")
    return replace(version, vendor=vendor, family=built.family if built else version.family)


def _program(source: Source, tried: list[Missing]) -> JdkVersion | None:
    """The constant in the ``java`` or ``jarsigner`` that runs."""
    exe = source.read(Ref(Space.PROCESS, "exe", Ask.LINK))
    if isinstance(exe, Missing):
        tried.append(exe)
        return None
    path = javahome.inside(_text(exe.value), root_path(source))
    if path.endswith(javahome.DELETED) or javahome.home_of_program(path) is None:
        return None
    reading = source.read(rooted(path))
    if isinstance(reading, Missing):
        tried.append(reading)
        return None
    from seedstall.parse.elf import launcher_version  # noqa: PLC0415 - the release file says it as a rule

    try:
        text = launcher_version(reading.value)
    except ValueError:
        return None
    return _understood(f"java.version={text}", path)


def _library(source: Source, home: JavaHome, tried: list[Missing]) -> JdkVersion | None:
    """The line in libjvm.so: for a program that is no launcher of the JDK (jsvc, an embedded JVM)."""
    if not home.libjvm or home.replaced:
        return None
    reading = source.read(rooted(home.libjvm))
    if isinstance(reading, Missing):
        tried.append(reading)
        return None
    from seedstall.parse.elf import jvm_banner  # noqa: PLC0415 - the last resort

    try:
        found = vm_banner(jvm_banner(reading.value))
    except ValueError as error:
        tried.append(Missing(Why.MALFORMED, reading.origins, str(error)))
        return None
    return None if found is None else replace(found, told_by=home.libjvm)


# --- texts ------------------------------------------------------------------------------------------------------------


def _from_texts(source: Source, read: InputTexts | None, tried: list[Missing]) -> JdkVersion | None:
    """Banners in what was handed over, or in a captured JVM's reply. A live JVM is not asked for this.

    Only a captured source says of a file in the process's root that it never held it.
    """
    texts = list(handed(read))
    if any(m.why is Why.NOT_COLLECTED and m.origins[0].space is Space.ROOT for m in tried):
        reply = source.read(Ref(Space.ATTACH, "threaddump"))
        texts.append(("threaddump", Text(reply.value) if isinstance(reply, Got) else reply))
    tried += [text for _, text in texts if isinstance(text, Missing)]
    held = [(name, text) for name, text in texts if isinstance(text, Text)]
    for mark in _TEXTS:
        found = [
            _placed(version, name, text)
            for name, text in held
            for version in _banners(text.data, mark, name)
        ]
        if found:
            return _last_of(found)
    return None


def _placed(version: JdkVersion, name: str, text: Text) -> JdkVersion:
    """With the line's number in the original."""
    number = version.told_by.removeprefix(f"{name}:")
    if not number.isdigit():
        return version
    return replace(version, told_by=f"{name}:{original(text, int(number))}")


def original(text: Text, line: int) -> int:
    """The number that line *line* of *text* has in the original."""
    if text.numbers is None:
        return line
    return text.numbers[min(line, len(text.numbers)) - 1] if text.numbers else 1


def handed(read: InputTexts | None) -> Iterator[tuple[str, Text | Missing]]:
    """The texts handed over, by name, unpacked and in one encoding; and why others could not be read."""
    if read is None:
        return
    yield from read.texts
    for missing in read.unread:
        yield missing.origins[0].path if missing.origins else "", missing


def _last_of(found: list[JdkVersion]) -> JdkVersion:
    """The last one counts: logs are appended to. Another release before it is told."""
    last = found[-1]
    other = next((v for v in found if (v.feature, v.update) != (last.feature, last.update)), None)
    if other is None:
        return last
    return replace(last, conflict=f"{other.told_by} says {other}, {last.told_by} says {last}")


def _banners(data: bytes, mark: bytes, name: str) -> Iterator[JdkVersion]:
    if mark == tomcatstart.MARK:
        start = tomcatstart.last_start(data)
        version = _understood(f"java.version={start.jvm_version}", "") if start else None
        if start and version:
            yield replace(version, told_by=f"{name}:{start.jvm_line}")
        return
    if mark == _TO_FILE:
        from seedstall.parse.threaddump.tofile import stated  # noqa: PLC0415 - imports json

        version = _understood(f"java.version={stated(data)}", "") if stated(data) else None
        if version is not None:
            yield replace(version, told_by=f"{name}:3")
        return
    at = data.find(mark)
    number, counted = 1, 0
    for _ in range(MAX_BANNERS):
        if at < 0:
            return
        number += data.count(b"\n", counted, at)
        counted = at
        end = data.find(b"\n", at, at + BANNER_LENGTH)
        line = data[at : end if end >= 0 else at + BANNER_LENGTH].decode("utf-8", "replace")
        version = _banner(mark, line.strip())
        if version is not None:
            yield replace(version, told_by=f"{name}:{number}")
        at = data.find(mark, at + len(mark))


def _banner(mark: bytes, line: str) -> JdkVersion | None:
    try:
        if mark == b"JVM Version:":
            # Tomcat prints java.runtime.version: complete, so that no update means 0.
            return parsed_version(f"java.version={line.partition(':')[2].strip()}")
        if mark.endswith(b"version "):
            return parsed_version(line)
        if mark == b"JVM version is ":
            return vm_banner(
                f"OpenJDK VM ({line.removeprefix('JVM version is').strip()} mixed mode)"
            )
        if mark in (b'"runtimeVersion"', b'"java.base"', b"java.base@"):
            return _of_module(line)
    except ValueError:
        return None
    return vm_banner(line)


def _of_module(line: str) -> JdkVersion | None:
    """The version in a frame's module, or in a member of JSON."""
    import re  # noqa: PLC0415 - only for such a text

    match = re.search(
        r'(?:"runtimeVersion"|"moduleVersion")\s{0,9}:\s{0,9}"([^"]{1,60})"|^java\.base@([\w.+-]{1,60})/',
        line,
    )
    told = (match[1] or match[2]) if match else ""
    return parsed_version(f"java.version={told}") if told[:1].isdigit() else None


PROVIDERS = (java_home, jdk_version)
