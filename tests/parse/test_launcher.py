"""Command lines taken apart. That the launchers do the same is shown in test_launcher_on_jvms."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seedstall.model.jdk import JdkVersion
from seedstall.model.jvm import Launch, OptionOrigin
from seedstall.parse.launcher import (
    JDK8_VARIABLE_CHARACTERS,
    JDK8_VARIABLE_OPTIONS,
    embedded,
    joined_options,
    launch,
)

EGD = "-Djava.security.egd=file:/dev/urandom"
JDK8 = JdkVersion(8, 151)
JDK17 = JdkVersion(17, 15)


def of(line: str, jdk: JdkVersion | None = JDK17, /, **environ: str) -> Launch:
    return launch(line.split(), environ, jdk=jdk)


def options(found: Launch) -> list[str]:
    return [option.text for option in found.options]


def test_options_end_at_the_main_class() -> None:
    found = of(f"java -Xmx1g -cp a.jar:b.jar {EGD} org.example.Main one -Dlate=1")
    assert options(found) == ["-Xmx1g", "-Djava.class.path=a.jar:b.jar", EGD]
    assert found.main_class == "org.example.Main"
    assert found.program == ("one", "-Dlate=1")
    assert found.misplaced == ("-Dlate=1",)
    assert found.property_value("java.security.egd") == "file:/dev/urandom"


def test_the_jar_ends_them_too_but_not_the_word_jar() -> None:
    right = of(f"java -jar {EGD} app.jar run")
    assert right.jar == "app.jar"
    assert EGD in options(right)
    assert right.misplaced == ()
    wrong = of(f"java -jar app.jar {EGD}")
    assert wrong.misplaced == (EGD,)
    assert wrong.property_value("java.security.egd") is None


def test_an_agent_is_no_jar_to_run() -> None:
    found = of(f"java -javaagent:agent.jar=x {EGD} -jar app.jar")
    assert options(found)[:2] == ["-javaagent:agent.jar=x", EGD]
    assert found.jar == "app.jar"


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (
            "java --add-opens java.base/java.lang=ALL-UNNAMED",
            "--add-opens=java.base/java.lang=ALL-UNNAMED",
        ),
        (
            "java --add-opens=java.base/java.lang=ALL-UNNAMED",
            "--add-opens=java.base/java.lang=ALL-UNNAMED",
        ),
        ("java -p mods", "--module-path=mods"),
        ("java --module-path=mods", "--module-path=mods"),
        ("java --class-path x", "-Djava.class.path=x"),
        ("java --class-path=x", "-Djava.class.path=x"),
        ("java -ss512k", "-Xss512k"),
    ],
)
def test_options_with_a_value_of_their_own(line: str, text: str) -> None:
    found = of(f"{line} Main x")
    assert options(found) == [text]
    assert found.main_class == "Main"


def test_modules() -> None:
    found = of("java -p mods -m app/org.example.Main -Dlate=1")
    assert found.module == "app/org.example.Main"
    assert found.program == found.misplaced == ("-Dlate=1",)
    assert of("java -p mods --module=app x").module == "app"


def test_source_files() -> None:
    assert of("java --source 21 Hello x").source == "21"
    found = of("java -Da=1 Hello.java x")
    assert (found.source, found.main_class, found.program) == ("?", "Hello.java", ("x",))


def test_what_prints_and_ends_runs_nothing() -> None:
    found = of("java -Da=1 -version Main")
    assert (found.main_class, options(found)) == ("", ["-Da=1"])


def test_8_takes_any_value_and_knows_no_argument_files() -> None:
    found = of("java -cp -Da=1 @file Main", JDK8)
    assert options(found) == ["-Djava.class.path=-Da=1"]
    assert found.main_class == "@file"


FILES = {"args": f"-Xmx1g {EGD}\n", "main": "-Da=1 Main one\n", "vm": f"{EGD} '-Db=x y'"}


def with_files(line: str, jdk: JdkVersion | None = JDK17, **environ: str) -> Launch:
    return launch(line.split(), environ, jdk=jdk, argument_file=FILES.get)


def test_argument_files_have_their_place() -> None:
    found = with_files("java -Da=1 @args Main @args")
    (egd,) = [o for o in found.options if o.text == EGD]
    assert (egd.origin, egd.place) == (OptionOrigin.ARGUMENT_FILE, "@args:1")
    assert found.program == ("@args",)
    assert with_files("java @args Main", None).property_value("java.security.egd")


def test_a_main_class_in_a_file_ends_the_options() -> None:
    found = with_files(f"java @main two {EGD} @args")
    assert found.main_class == "Main"
    assert found.program == ("one", "two", EGD, "@args")
    assert found.misplaced == (EGD,)


def test_a_file_that_cannot_be_read_is_named() -> None:
    found = with_files("java @gone Main @neither")
    assert found.unread_files == ("gone",)
    assert found.main_class == "Main"


def test_an_options_file_counts_where_it_stands() -> None:
    found = with_files("java -Djava.security.egd=x -XX:VMOptionsFile=vm Main")
    assert found.property_value("java.security.egd") == "file:/dev/urandom"
    assert found.options[-1].origin is OptionOrigin.VM_OPTIONS_FILE
    late = with_files("java -XX:VMOptionsFile=vm -Djava.security.egd=x Main")
    assert late.property_value("java.security.egd") == "x"
    assert with_files("java -XX:VMOptionsFile=gone Main").unread_files == ("gone",)


def test_variables_by_strength() -> None:
    found = of(
        "java -Da=line Main",
        JDK17,
        JAVA_TOOL_OPTIONS="-Da=tool",
        JDK_JAVA_OPTIONS="-Da=launcher",
        _JAVA_OPTIONS="-Da=last",
    )
    assert [(o.text, str(o.origin)) for o in found.options] == [
        ("-Da=tool", "JAVA_TOOL_OPTIONS"),
        ("-Da=launcher", "JDK_JAVA_OPTIONS"),
        ("-Da=line", "command line"),
        ("-Da=last", "_JAVA_OPTIONS"),
    ]
    assert found.property_value("a") == "last"
    assert found.ignored == ()


def test_jdk_java_options_before_9_and_for_tools() -> None:
    old = of("java Main", JDK8, JDK_JAVA_OPTIONS=EGD)
    assert options(old) == []
    assert old.ignored[0][0] == "JDK_JAVA_OPTIONS"
    tool = of("jarsigner x.jar k", JDK17, JDK_JAVA_OPTIONS=EGD)
    assert options(tool) == []
    assert tool.ignored[0][0] == "JDK_JAVA_OPTIONS"


def test_8_passes_over_long_variables() -> None:
    room = JDK8_VARIABLE_CHARACTERS - len(f"-Dx= {EGD}")
    fits = f"-Dx={'y' * room} {EGD}"
    assert of("java Main", JDK8, JAVA_TOOL_OPTIONS=fits).property_value("java.security.egd")
    long = of("java Main", JDK8, JAVA_TOOL_OPTIONS=f"{fits} ")
    assert options(long) == []
    assert long.ignored[0][0] == "JAVA_TOOL_OPTIONS"
    umlauts = of("java Main", JDK8, _JAVA_OPTIONS=f"-Dx={'ü' * 512}")
    assert umlauts.ignored, "the limit counts bytes"
    assert of("java Main", JDK17, JAVA_TOOL_OPTIONS=f"{fits} ").ignored == ()


def test_8_takes_the_first_64_options_of_a_variable() -> None:
    many = "-Dx=1 " * (JDK8_VARIABLE_OPTIONS - 1)
    assert of("java Main", JDK8, JAVA_TOOL_OPTIONS=many + EGD).property_value("java.security.egd")
    more = of("java Main", JDK8, JAVA_TOOL_OPTIONS=f"{many}-Dx=1 {EGD}")
    assert more.property_value("java.security.egd") is None
    assert "64" in more.ignored[0][1]


def test_tools_take_options_behind_j_anywhere() -> None:
    found = of("/opt/jdk/bin/jarsigner -J-Xmx64m -tsa http://tsa a.jar key -J" + EGD)
    assert found.tool == "jarsigner"
    assert options(found) == ["-Xmx64m", EGD]
    assert found.program == ("-tsa", "http://tsa", "a.jar", "key")
    wrong = of(f"jarsigner {EGD} a.jar key")
    assert wrong.misplaced == (EGD,)


def test_jsvc_has_options_of_its_own() -> None:
    found = of(
        f"jsvc.exec -java-home /opt/jdk -user tomcat -cp a.jar -Dx=1 {EGD} Boot start -Dlate=1"
    )
    assert options(found) == ["-Djava.class.path=a.jar", "-Dx=1", EGD]
    assert found.main_class == "Boot"
    assert found.misplaced == ("-Dlate=1",)


def test_the_running_program_is_believed_before_argv_0() -> None:
    renamed = launch(["my service", "-Da=1", "Main"], {}, jdk=JDK17, exe="java")
    assert (options(renamed), renamed.main_class) == (["-Da=1"], "Main")
    tool = launch(["whatever", "-J-Da=1", "x.jar"], {}, jdk=JDK17, exe="jarsigner")
    assert (tool.tool, options(tool)) == ("jarsigner", ["-Da=1"])


def test_no_java_is_said() -> None:
    for argv in (["python3", "-m", "http.server"], [], ["sh", "-c", "sleep 1"], ["sudo"]):
        with pytest.raises(ValueError, match=r"java|command"):
            launch(argv, {}, jdk=JDK17)


def test_an_embedded_jvm_has_the_variables_only() -> None:
    found = embedded(
        ["/opt/ide", "-Dx=1"], {"JAVA_TOOL_OPTIONS": EGD, "JDK_JAVA_OPTIONS": "-Dy=1"}, JDK17
    )
    assert options(found) == [EGD]
    assert found.program == ("-Dx=1",)
    assert found.ignored[0][0] == "JDK_JAVA_OPTIONS"


def test_the_jvms_own_line_is_parted_at_dashes() -> None:
    assert joined_options("-Da=1 -Db=x y -Xmx1g") == ("-Da=1", "-Db=x y", "-Xmx1g")
    assert joined_options("") == ()


ODD_WORDS = (
    "java jarsigner jsvc sudo env sh -c -jar -cp -m --module=m -p @a @@a @ -- -J -J-Da=1 -D -Da=1 --source"
    " -XX:VMOptionsFile=a -version A=b catalina.sh timeout 5 -u"
)
WORDS = st.one_of(
    st.sampled_from(ODD_WORDS.split()),
    st.text(max_size=12),
)
ODD = st.lists(WORDS, max_size=12)
NAMES = st.sampled_from(
    ("JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "CATALINA_OPTS", "A")
)
JDKS = st.sampled_from((None, JdkVersion(6), JDK8, JdkVersion(9), JDK17, JdkVersion(25)))


@given(
    ODD,
    st.dictionaries(NAMES, st.text(max_size=40)),
    JDKS,
    st.text(max_size=30),
    st.sampled_from(("", "java", "jarsigner", "other")),
)
def test_any_command_line_is_taken_or_refused(
    argv: list[str], environ: dict[str, str], jdk: JdkVersion | None, file: str, exe: str
) -> None:
    try:
        found = launch(argv, environ, jdk=jdk, argument_file=lambda _: file, exe=exe)
    except ValueError:
        return
    assert isinstance(found, Launch)
    assert set(found.misplaced) <= set(found.program)


@given(
    st.lists(st.binary(max_size=20).map(lambda b: b.decode("utf-8", "surrogateescape")), max_size=8)
)
def test_undecodable_bytes_come_back(words: list[str]) -> None:
    found = launch(["java", "-Dx=1", "Main", *words], {}, jdk=JDK17)
    assert found.program == tuple(words)


def test_a_million_arguments_are_cut_and_said() -> None:
    start = time.monotonic()
    found = launch(["java", *["-Da=1"] * 1_000_000, "Main"], {}, jdk=JDK17)
    assert found.truncated
    assert time.monotonic() - start < 5


def test_files_that_grow_are_cut() -> None:
    start = time.monotonic()
    text = "-Da=1 " * 100_000
    found = launch(["java", *["@x"] * 1000, "Main"], {}, jdk=JDK17, argument_file=lambda _: text)
    assert found.truncated
    assert time.monotonic() - start < 5
