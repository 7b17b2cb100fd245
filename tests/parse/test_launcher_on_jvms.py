"""The parser against the launchers themselves: what they print of a command line under _JAVA_LAUNCHER_DEBUG."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.machine import JDK8_ROOT, java_of, jdk8_bin

from seedstall.model.jdk import JdkVersion
from seedstall.model.jvm import Launch
from seedstall.parse.launcher import launch

pytestmark = pytest.mark.jvm

OWN = (
    "-Dsun.java.",
    "-Djdk.module.main=",
    "-Dapplication.home=",
    "-Djava.class.path=.",
    "-Djdk.internal.javac.source=",
    "--add-modules=ALL-DEFAULT",
)
"""What the launcher adds of itself (and the class path it takes where none is given)."""


@dataclass(frozen=True)
class Machine:
    """One JDK, and a directory in which its commands run."""

    feature: int
    bin: Path
    here: Path
    root: Path | None = None

    def run(self, argv: Sequence[str], environ: dict[str, str]) -> subprocess.CompletedProcess[str]:
        command = [str(self.bin / argv[0]), *argv[1:]]
        root = self.root

        def enter() -> None:
            if root is not None:
                os.chroot(root)
                os.chdir(Path("/") / self.here.relative_to(root))

        return subprocess.run(
            command,
            cwd=None if root else self.here,
            env={"LANG": "C", **environ},
            capture_output=True,
            encoding="utf-8",
            errors="surrogateescape",
            timeout=60,
            check=False,
            stdin=subprocess.DEVNULL,
            preexec_fn=enter,
        )

    def launch(self, argv: Sequence[str], environ: dict[str, str]) -> Launch:
        def read(name: str) -> str | None:
            path = self.here / name
            return path.read_text(encoding="utf-8") if path.exists() else None

        return launch(argv, environ, jdk=JdkVersion(self.feature), argument_file=read)


@pytest.fixture(
    params=[
        pytest.param(8, id="jdk8", marks=(pytest.mark.jdk8, pytest.mark.root)),
        *(pytest.param(n, id=f"jdk{n}") for n in (17, 25)),
        # 11 and 21 say the same as their neighbours: measured by make matrix, and before a release.
        *(pytest.param(n, id=f"jdk{n}", marks=pytest.mark.matrix) for n in (11, 21)),
    ]
)
def machine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Machine]:
    feature: int = request.param
    if feature == 8:
        programs = jdk8_bin()
        assert programs is not None
        with tempfile.TemporaryDirectory(dir=JDK8_ROOT / "tmp") as inside:
            yield Machine(8, programs, Path(inside), JDK8_ROOT)
        return
    java = java_of(feature)
    if not java.exists():
        pytest.skip(f"needs JDK {feature}: make jvms")
    yield Machine(feature, java.parent, tmp_path)


@pytest.fixture(params=[pytest.param(n, id=f"jdk{n}") for n in (11, 17, 21, 25)])
def modern(request: pytest.FixtureRequest, tmp_path: Path) -> Machine:
    """A JDK of 9 or later."""
    java = java_of(request.param)
    if not java.exists():
        pytest.skip(f"needs JDK {request.param}: make jvms")
    return Machine(request.param, java.parent, tmp_path)


@dataclass(frozen=True)
class Seen:
    """What the launcher says it gave to the JVM and ran."""

    options: list[str]
    main: str
    program: list[str]


def seen(output: str) -> Seen:
    """Read the launcher's trace. The values of these tests hold no line end."""
    options = re.findall(r"^    option\[ ?\d+\] = '(.*)'$", output, re.MULTILINE)
    main = re.search(r"^(?:Main class|JAR file|Module|Source) is '(.*)'$", output, re.MULTILINE)
    after = output[main.end() :] if main else ""
    return Seen(
        [o for o in options if not o.startswith(OWN)],
        main[1] if main else "",
        re.findall(r"^    argv\[ ?\d+\] = '(.*)'$", after, re.MULTILINE),
    )


ARGUMENT_FILES = {
    "plain": "-Dfrom.file=1 -Xmx64m\n",
    "quoted": '"-Dblank=a b" \'-Dquote="\' -Dhalf="x y"z\n"-Dtab=a\\tb" -Dback=a\\tb\n',
    "continued": '"-Dlong=one\\\n      two"\n-Dopen="cut here\nMain\n',
    "comments": "# nothing\n-Da=1 # rest\n-Dlost=x#y\n-Dkept=1\n",
    "withmain": "-Dx=1 Main one -Dtwo=2\n",
    "nested": "-Da=1 @plain Main\n",
    "empty": '""\n-Da=1\n',
    "crlf": "-Da=1\r\n-Db=2\r\n",
    "unended": "-Da=1 -Db",
    "cp": "-cp\nlib\n",
    "stop": "--disable-@files\n",
    "notutf8": "-Da=\u00fc\u4e2d\n",
}

COMMON = [
    "java Main",
    "java -Da=1 -Da=2 Main -Db=3 -Xmx1g",
    "java -cp lib -Da=1 Main",
    "java -classpath lib Main -cp other",
    "java -cp lib1 -cp lib2 Main",
    "java -jar app.jar -Da=1 x",
    "java -jar -Da=1 app.jar -Db=2",
    "java -Da=1 -jar -cp lib app.jar",
    "java -Da Main",
    "java -Da= Main",
    "java -D Main",
    "java -server -Da=1 Main",
    "java -showversion -Da=1 Main",
    "java -verbosegc Main",
    "java -ss512k Main",
    "java -splash:none.png -Da=1 Main",
    "java -XshowSettings:none -Da=1 Main",
    "java -Djava.class.path=x -Da=1 Main",
    "java @plain Main",
    "java Main @plain",
]
SINCE_9 = [
    "java @plain -Da=2 Main",
    "java -Da=2 @plain Main @quoted",
    "java @quoted Main",
    "java @continued",
    "java @comments Main",
    "java @withmain three @plain",
    "java @nested",
    "java @empty Main",
    "java @crlf Main",
    "java @unended Main",
    "java @cp Main",
    "java -cp @plain Main",
    "java -jar @plain app.jar @plain",
    "java --disable-@files -Da=1 @plain x",
    "java -Da=1 @stop @plain x",
    "java @@plain x",
    "java @ x",
    "java @notutf8 Main",
    "java --class-path lib -Da=1 Main",
    "java --class-path=lib -Da=1 Main",
    "java -p mods -Da=1 Main",
    "java --module-path=mods -Da=1 Main",
    "java --upgrade-module-path mods Main",
    "java --add-modules=java.sql -Da=1 Main",
    "java -p mods --module m/c -Da=1",
    "java -p mods --module=m/c -Da=1 @plain",
    "java -p mods -m m -Da=1",
    "java -d java.base -Da=1 Main",
    "java -Xdiag Main",
    "java --show-module-resolution Main",
    "java --source 11 -Da=1 None.java -Db=2",
]
UNSTARTED = [
    "java --add-opens java.base/java.lang=ALL-UNNAMED -Da=1 Main",
    "java --add-exports java.base/sun.nio=ALL-UNNAMED -Da=1 Main -Db=2",
    "java --add-reads x=y --limit-modules java.base -Da=1 Main",
    "java --patch-module java.sql=x -Da=1 Main",
    "java --finalization Main -Da=1",
    "java -cp -Da=1 Main",
]
"""Commands on which some JVM ends before its main class is named: only its options are compared."""


def furnish(here: Path) -> None:
    """The files that the command lines name. The launcher of 8 opens the jar before it reads options."""
    for name, text in ARGUMENT_FILES.items():
        (here / name).write_bytes(text.encode())
    with zipfile.ZipFile(here / "app.jar", "w") as jar:
        jar.writestr("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\nMain-Class: Main\n")


def compare(machine: Machine, line: str, environ: dict[str, str] | None = None) -> None:
    environ = environ or {}
    furnish(machine.here)
    argv = line.split(" ")
    run = machine.run(argv, {**environ, "_JAVA_LAUNCHER_DEBUG": "1"})
    truth = seen(run.stdout)
    unknown = "Unrecognized option: --disable-@files" in run.stderr  # a bug of 11 and 17
    if "JavaVM args:" not in run.stdout or unknown:
        assert run.returncode != 0, "refused by the launcher itself: there is no JVM to speak of"
        return
    mine = machine.launch(argv, environ)
    options = [o.text for o in mine.options if not o.text.startswith(OWN)]
    assert options == truth.options, run.stdout
    if not truth.main:
        return
    if mine.source:
        assert [mine.main_class, *mine.program] == truth.program, run.stdout
        return
    assert (mine.main_class or mine.jar or mine.module) == truth.main, run.stdout
    assert list(mine.program) == truth.program, run.stdout


@pytest.mark.parametrize("line", COMMON)
def test_options_main_and_program_are_what_every_launcher_says(machine: Machine, line: str) -> None:
    compare(machine, line)


@pytest.mark.parametrize("line", [*SINCE_9, *UNSTARTED])
def test_options_main_and_program_are_what_the_launcher_since_9_says(
    modern: Machine, line: str
) -> None:
    compare(modern, line)


@pytest.mark.parametrize(
    "value",
    [
        "-Da=1 -Db=2",
        "  -Da=1\t-Db=2  ",
        "'-Da=x y' -Db=\"z w\"",
        "-Da='x'y\"z\"",
        "-Da=\\n",
        "@plain",
        "-cp lib",
        "--add-opens java.base/java.lang=ALL-UNNAMED",
    ],
)
def test_jdk_java_options_come_before_the_command_line(machine: Machine, value: str) -> None:
    compare(machine, "java -Da=9 Main -Dz", {"JDK_JAVA_OPTIONS": value})


def egd(machine: Machine, argv: list[str], environ: dict[str, str]) -> str | None:
    """What the running JVM has in java.security.egd: the truth."""
    run = machine.run([argv[0], "-XshowSettings:properties", *argv[1:], "-version"], environ)
    found = re.search(r"^    java\.security\.egd = ?(.*)$", run.stderr, re.MULTILINE)
    return found[1] if found else None


A, B, C, D = (f"-Djava.security.egd=file:/{n}" for n in "abcd")


@pytest.mark.parametrize(
    ("options", "environ"),
    [
        ([A], {}),
        ([A, B], {}),
        ([A], {"JAVA_TOOL_OPTIONS": B}),
        ([], {"JAVA_TOOL_OPTIONS": B}),
        ([A], {"_JAVA_OPTIONS": B}),
        ([A], {"JAVA_TOOL_OPTIONS": B, "_JAVA_OPTIONS": C}),
        ([A], {"JDK_JAVA_OPTIONS": B}),
        ([], {"JDK_JAVA_OPTIONS": B, "JAVA_TOOL_OPTIONS": C}),
        ([], {"JDK_JAVA_OPTIONS": B, "_JAVA_OPTIONS": C}),
        ([], {"JAVA_TOOL_OPTIONS": f"{A} {B}"}),
        ([], {"JAVA_TOOL_OPTIONS": "'-Djava.security.egd=file:/x y'"}),
        ([], {"_JAVA_OPTIONS": "-Djava.security.egd=\"file:/x\"'y'"}),
        ([A], {"_JAVA_OPTIONS": "-Djava.security.egd="}),
        ([A, "-Djava.security.egd"], {}),
        ([], {"JAVA_TOOL_OPTIONS": f"-Dpad={'x' * 976} {A}"}),
        ([], {"JAVA_TOOL_OPTIONS": f"-Dpad={'x' * 988} {A}"}),
        ([], {"JAVA_TOOL_OPTIONS": f"-Dpad={'x' * 989} {A}"}),
        ([], {"_JAVA_OPTIONS": f"-Dpad={'x' * 1200} {A}"}),
        ([], {"JAVA_TOOL_OPTIONS": f"{'-Dx=1 ' * 63}{A}"}),
        ([], {"JAVA_TOOL_OPTIONS": f"{'-Dx=1 ' * 64}{A}"}),
        ([], {"JAVA_OPTS": A, "JAVA_OPTIONS": A}),
    ],
)
def test_the_property_that_wins_is_the_one_the_jvm_has(
    machine: Machine, options: list[str], environ: dict[str, str]
) -> None:
    argv = ["java", *options]
    truth = egd(machine, argv, environ)
    mine = machine.launch([*argv, "Main"], environ).property_value("java.security.egd")
    assert mine == truth


@pytest.mark.parametrize(
    ("options", "environ"),
    [
        (["-XX:VMOptionsFile=vm"], {}),
        ([A, "-XX:VMOptionsFile=vm"], {}),
        (["-XX:VMOptionsFile=vm", A], {}),
        ([A], {"JAVA_TOOL_OPTIONS": "-XX:VMOptionsFile=vm"}),
        ([A], {"_JAVA_OPTIONS": "-XX:VMOptionsFile=vm"}),
        (["-XX:VMOptionsFile=vm"], {"JDK_JAVA_OPTIONS": A}),
    ],
)
def test_an_options_file_counts_where_it_stands(
    modern: Machine, options: list[str], environ: dict[str, str]
) -> None:
    machine = modern
    (machine.here / "vm").write_text(f"-Dx='a b'\n  {D}\n-Dy=#1\n")
    argv = ["java", *options]
    truth = egd(machine, argv, environ)
    mine = machine.launch([*argv, "Main"], environ).property_value("java.security.egd")
    assert mine == truth is not None


def test_a_flags_file_cannot_set_a_property(machine: Machine) -> None:
    (machine.here / "flags").write_text("+UseSerialGC\n")
    argv = ["java", "-XX:Flags=flags"]
    assert egd(machine, argv, {}) is None
    (machine.here / "flags").write_text(f"{A}\n")
    run = machine.run([*argv, "-version"], {})
    assert run.returncode != 0, "a -D in it ends the JVM"


TOOLS = [
    "jarsigner -J-Da=1 x.jar alias",
    "jarsigner -keystore k x.jar alias -J-Da=1 -J-Xmx64m",
    "jarsigner @plain -J-Da=1 -Db=2",
    "keytool -J-Da=1 -list @plain -Xmx1g",
    "javac -J-Da=1 None.java @withmain",
    "jlink @tool -J-Dc=1",
]


@pytest.mark.parametrize("line", TOOLS)
def test_the_tools_take_options_behind_a_j(
    full_jdk: Path, tmp_path: Path, line: str, request: pytest.FixtureRequest
) -> None:
    machine = Machine(17, full_jdk, tmp_path)
    (tmp_path / "tool").write_text("-J-Da=1 --list-plugins\n")
    argv = line.split(" ")
    if not (full_jdk / argv[0]).exists():
        pytest.skip(f"this JDK has no {argv[0]}")
    furnish(tmp_path)
    environ = {"JDK_JAVA_OPTIONS": "-Dnever=1"}
    run = machine.run(argv, {**environ, "_JAVA_LAUNCHER_DEBUG": "1"})
    truth = seen(run.stdout)
    mine = machine.launch(argv, environ)
    built_in = ("-Xms8m",)
    assert mine.tool == argv[0]
    assert [o.text for o in mine.options] == [o for o in truth.options if o not in built_in]
    command = re.search(r"-Dsun\.java\.command=(\S+) ?(.*)'", run.stdout)
    assert command is not None
    assert " ".join(mine.program) == command[2]
