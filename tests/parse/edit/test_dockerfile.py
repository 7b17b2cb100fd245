from __future__ import annotations

import pytest
from tests.lint_by_hand import lint_text
from tests.parse.edit.editing import RIGHT, VALUE, changed, edited

from seedstall.parse.edit import dockerfile
from seedstall.parse.edit.change import NoPlaceError
from seedstall.parse.edit.options import Edit
from seedstall.parse.setenv import COMMENT

JAVA = "FROM eclipse-temurin:17\n"
NEW_ENV = [f"+{COMMENT}", f'+ENV JAVA_TOOL_OPTIONS="${{JAVA_TOOL_OPTIONS:-}} {RIGHT}"']
WRONG = "-Djava.security.egd=file:/dev/random"


def editor(data: bytes) -> Edit:
    return dockerfile.set_egd(data, VALUE)


def swapped(old: str, new: str) -> list[str]:
    return [f"-{old}", f"+{new}"]


COMMANDS = [
    ('ENTRYPOINT ["java","-jar","app.jar"]', f'ENTRYPOINT ["java","{RIGHT}", "-jar","app.jar"]'),
    ('CMD ["java", "-cp", "x", "Main"]', f'CMD ["java", "-cp", "x", "{RIGHT}", "Main"]'),
    ("CMD java $OPTS -jar app.jar", f"CMD java $OPTS {RIGHT} -jar app.jar"),
    (
        'ENTRYPOINT ["sh","-c","exec java -jar x"]',
        f'ENTRYPOINT ["sh","-c","exec java {RIGHT} -jar x"]',
    ),
    # What is there is put right where it stands, or comes to where the JVM sees it.
    (f'CMD ["java", "{WRONG}", "Main"]', f'CMD ["java", "{RIGHT}", "Main"]'),
    (f'CMD ["java", "-jar", "x.jar", "{RIGHT}"]', f'CMD ["java", "{RIGHT}", "-jar", "x.jar"]'),
    ("CMD [“java”, “-jar”, “x.jar”]", f'CMD ["java", "{RIGHT}", "-jar", "x.jar"]'),
]


@pytest.mark.parametrize(("old", "new"), COMMANDS)
def test_a_command_that_shows_java(old: str, new: str) -> None:
    assert changed(editor, f"{JAVA}{old}\n") == swapped(old, new)
    assert lint_text("Dockerfile", edited(editor, f"{JAVA}{old}\n").content) == []


def test_entrypoint_has_it_where_that_starts_java() -> None:
    text = JAVA + 'ENTRYPOINT ["java"]\nCMD ["-jar", "x.jar"]\n'
    assert changed(editor, text) == swapped(
        'ENTRYPOINT ["java"]', f'ENTRYPOINT ["java", "{RIGHT}"]'
    )


VARIABLES = [
    ('ENV JAVA_TOOL_OPTIONS="-Xmx1g" A=b', f'ENV JAVA_TOOL_OPTIONS="-Xmx1g {RIGHT}" A=b'),
    ("ENV JAVA_TOOL_OPTIONS=-Xmx1g", f'ENV JAVA_TOOL_OPTIONS="-Xmx1g {RIGHT}"'),
    ("ENV JAVA_TOOL_OPTIONS -Xmx1g -Da=b", f"ENV JAVA_TOOL_OPTIONS -Xmx1g -Da=b {RIGHT}"),
    ("ENV JAVA_TOOL_OPTIONS='-Xmx1g'", f"ENV JAVA_TOOL_OPTIONS='-Xmx1g {RIGHT}'"),
    ('ENV JAVA_TOOL_OPTIONS=""', f'ENV JAVA_TOOL_OPTIONS="{RIGHT}"'),
    ("ENV JAVA_TOOL_OPTIONS=-Xa\\ -Xb", f'ENV JAVA_TOOL_OPTIONS=-Xa\\ -Xb" {RIGHT}"'),
    (f"ENV JAVA_TOOL_OPTIONS={WRONG}", f"ENV JAVA_TOOL_OPTIONS={RIGHT}"),
    (f'ENV CATALINA_OPTS="{WRONG}"', f'ENV CATALINA_OPTS="{RIGHT}"'),
]


@pytest.mark.parametrize(("old", "new"), VARIABLES)
def test_a_variable_keeps_what_it_holds(old: str, new: str) -> None:
    text = f'FROM tomcat:9\n{old}\nCMD ["catalina.sh", "run"]\n'
    assert changed(editor, text) == swapped(old, new)
    assert lint_text("Dockerfile", edited(editor, text).content, jdk="17") == []


@pytest.mark.parametrize(
    "text",
    [
        "FROM tomcat:9\n",
        'FROM tomcat:9\nCMD ["catalina.sh", "run"]\n',
        "FROM a AS x\nENV JAVA_TOOL_OPTIONS=-Xa\nFROM x\nCMD run.sh\n",
        "FROM a\nCOPY <<E /y\nENV JAVA_TOOL_OPTIONS=1\nCMD x\nE\n",
        "# escape=`\nFROM a\nENV A=b `\n  C=d\nCMD run\n",
    ],
)
def test_a_new_variable_in_the_last_stage(text: str) -> None:
    assert changed(editor, text) == NEW_ENV
    assert lint_text("Dockerfile", edited(editor, text).content, jdk="17") == []


def test_before_the_command_and_in_no_other_stage() -> None:
    text = "FROM maven AS build\nCMD mvn\nFROM tomcat:9\nUSER x\nCMD run.sh\nEXPOSE 1\n"
    after = edited(editor, text).content.decode().split("\n")
    assert after.index("CMD run.sh") == after.index(NEW_ENV[1][1:]) + 1
    assert after[:4] == text.split("\n")[:4]


def test_a_variable_that_nobody_reads_does_not_count() -> None:
    text = f'{JAVA}ENV JAVA_OPTS="{WRONG}"\nCMD java -jar x.jar\n'
    assert changed(editor, text) == [
        f'-ENV JAVA_OPTS="{WRONG}"',
        "-CMD java -jar x.jar",
        '+ENV JAVA_OPTS=""',
        f"+CMD java {RIGHT} -jar x.jar",
    ]
    assert lint_text("Dockerfile", edited(editor, text).content) == []


@pytest.mark.parametrize(
    ("image", "name"),
    [("eclipse-temurin:17", "JAVA_TOOL_OPTION"), ("openjdk:8", "JDK_JAVA_OPTIONS")],
)
def test_a_variable_that_no_jvm_of_the_image_knows(image: str, name: str) -> None:
    text = f'FROM {image}\nENV {name}="-Xmx1g {RIGHT}"\nCMD run.sh\n'
    found = edited(editor, text).content.decode()
    assert f'ENV {name}="-Xmx1g"\n' in found
    assert NEW_ENV[1][1:] in found
    assert lint_text("Dockerfile", found) == []


def test_a_script_that_unsets_the_variable() -> None:
    text = 'FROM docker.elastic.co/elasticsearch/elasticsearch:8.1\nENV ES_JAVA_OPTS="-Xmx1g"\n'
    assert changed(editor, text)[1] == f'+ENV ES_JAVA_OPTS="-Xmx1g {RIGHT}"'


def test_line_ends_stay() -> None:
    text = 'FROM tomcat:9\r\nCMD ["catalina.sh", "run"]\r\n'
    after = edited(editor, text).content
    assert after.count(b"\r\n") == after.count(b"\n") == 4
    assert edited(editor, "FROM tomcat:9").content.startswith(b"FROM tomcat:9\n#")


@pytest.mark.parametrize(
    "text",
    ["", "RUN x\n", "FROM a\nRUN <<E\nx\n", "FROM a\nRUN x \\"],
)
def test_what_cannot_be_edited_safely(text: str) -> None:
    with pytest.raises(NoPlaceError):
        editor(text.encode())


@pytest.mark.parametrize(
    ("text", "oldest"),
    [
        ("FROM openjdk:7\n", 7),
        ("ARG T=21\nFROM eclipse-temurin:${T}\n", 21),
        ("FROM tomcat\n", None),
    ],
)
def test_the_jdk_of_the_last_stage(text: str, oldest: int | None) -> None:
    span = dockerfile.jdk_span(text.encode())
    assert (span.oldest if span is not None else None) == oldest


@pytest.mark.parametrize(
    ("keyword", "what"), [("ENTRYPOINT", "--entrypoint"), ("CMD", "IMAGE COMMAND")]
)
def test_what_takes_the_place_of_the_command(keyword: str, what: str) -> None:
    (note,) = edited(editor, f'{JAVA}{keyword} ["java", "-jar", "x"]\n').notes
    assert what in note


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("FROM nginx:1.25\n", False),
        ('FROM scratch\nENTRYPOINT ["/app"]\n', False),
        (JAVA, True),
        ("FROM tomcat:9\n", True),
        ("FROM ours\nENV JAVA_OPTS=-Xmx1g\n", True),
        ("FROM ours\nCMD java @args\n", True),
    ],
)
def test_a_file_that_shows_no_jvm_is_not_taken_for_granted(text: str, *, shown: bool) -> None:
    assert (dockerfile.NO_JAVA in edited(editor, text).notes) is not shown
