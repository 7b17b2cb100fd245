from __future__ import annotations

from xml.dom.minidom import parseString

import pytest
from tests.lint_by_hand import lint_text
from tests.parse.edit.editing import RIGHT, VALUE, changed, edited

from seedstall.parse.edit import buildfile, tomcatcontext
from seedstall.parse.edit.change import NoPlaceError
from seedstall.parse.edit.options import Edit

OPTION = f"-J{RIGHT}"


def pom(data: bytes) -> Edit:
    return buildfile.set_in_pom(data, VALUE)


def ant(data: bytes) -> Edit:
    return buildfile.set_in_ant(data, VALUE)


def plugin(inner: str) -> str:
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <!-- Jährlich: <plugin> -->
  <build><plugins>
    <plugin>
      <artifactId>maven-jar-plugin</artifactId>
    </plugin>
    <plugin>
      <artifactId>maven-jarsigner-plugin</artifactId>{inner}
    </plugin>
  </plugins></build>
</project>
"""


def texts(pom: bytes | str) -> list[str]:
    """The arguments of the plugin, as an XML parser reads them."""
    document = parseString(pom)  # noqa: S318 - of our own making
    found = document.getElementsByTagName("argument")
    return ["".join(getattr(n, "data", "") for n in e.childNodes).strip() for e in found]


def configured(*arguments: str) -> str:
    inner = "".join(f"<argument>{a}</argument>" for a in arguments)
    return f"\n<configuration><arguments>{inner}</arguments></configuration>"


@pytest.mark.parametrize(
    "inner",
    [
        "",
        "\n      <configuration/>",
        "\n      <configuration>\n      </configuration>",
        "\n      <configuration>\n        <alias>a</alias>\n      </configuration>",
        "\n      <configuration><arguments/></configuration>",
        configured("-tsa", "x"),
        configured("-J-Djava.security.egd=file:/dev/random"),
        configured(RIGHT),
        f"<executions><execution>{configured('-verbose')}</execution></executions>",
    ],
)
def test_the_arguments_of_the_plugin(inner: str) -> None:
    after = edited(pom, plugin(inner)).content
    arguments, before = texts(after), texts(plugin(inner))
    assert arguments.count(OPTION) == 1
    assert [a for a in arguments if a != OPTION] == [a for a in before if "egd" not in a]
    assert lint_text("pom.xml", after, jdk="17") == []


def test_as_a_person_would_write_it() -> None:
    assert changed(
        pom, plugin("\n      <configuration>\n        <alias>a</alias>\n      </configuration>")
    ) == [
        "+        <arguments>",
        f"+          <argument>{OPTION}</argument>",
        "+        </arguments>",
    ]


@pytest.mark.parametrize(
    ("old", "rows"),
    [
        (
            '\t<signjar jar="a.jar" alias="x"/>',
            ['-\t<signjar jar="a.jar" alias="x"/>', '+\t<signjar jar="a.jar" alias="x">',
             f'+\t\t<sysproperty key="java.security.egd" value="{VALUE}"/>', "+\t</signjar>"],
        ),
        (
            "  <signjar jar='a'>\n    <sysproperty key='java.security.egd' value='file:/dev/random'/>\n  </signjar>",
            ["-    <sysproperty key='java.security.egd' value='file:/dev/random'/>",
             f"+    <sysproperty key='java.security.egd' value='{VALUE}'/>"],
        ),
        (
            '  <exec executable="${bin}/jarsigner">\n    <arg line="-tsa x"/>\n  </exec>',
            [f'+    <arg value="{OPTION}"/>'],
        ),
    ],
)  # fmt: skip
def test_what_signs_with_ant(old: str, rows: list[str]) -> None:
    text = f"<project>\n{old}\n</project>\n"
    assert changed(ant, text) == rows
    parseString(edited(ant, text).content)  # noqa: S318 - of our own making
    assert lint_text("build.xml", edited(ant, text).content, jdk="17") == []


@pytest.mark.parametrize(
    ("editor", "text", "said"),
    [
        (pom, "<project/>", "does not configure maven-jarsigner-plugin"),
        (pom, '<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>', "declarations of its own"),
        (pom, "<a", "no XML at line 1"),
        (pom, "", "no XML"),
        (ant, "<project/>", "no <signjar>"),
        (ant, "<project><signjar>text</signjar></project>", "holds text"),
    ],
)
def test_what_cannot_be_edited(editor: object, text: str, said: str) -> None:
    with pytest.raises(NoPlaceError, match=said):
        editor(text.encode())  # type: ignore[operator]


def test_line_ends_and_encoding_stay() -> None:
    text = plugin("").replace("\n", "\r\n")
    after = edited(pom, text).content
    assert after.count(b"\r\n") == after.count(b"\n")
    latin = text.replace("UTF-8", "ISO-8859-1").encode("latin-1")
    assert "Jährlich".encode("latin-1") in edited(pom, latin).content


# Tomcat's context.xml


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        (
            "<Context>\n    <WatchedResource>x</WatchedResource>\n    <!-- <Manager/> -->\n</Context>",
            ['+    <Manager secureRandomAlgorithm="NativePRNGNonBlocking"/>'],
        ),
        (
            '<Context><Manager pathname=""/></Context>',
            ['-<Context><Manager pathname=""/></Context>',
             '+<Context><Manager pathname="" secureRandomAlgorithm="NativePRNGNonBlocking"/></Context>'],
        ),
        (
            "<Context><Manager secureRandomAlgorithm='SHA1PRNG'/></Context>",
            ["-<Context><Manager secureRandomAlgorithm='SHA1PRNG'/></Context>",
             "+<Context><Manager secureRandomAlgorithm='NativePRNGNonBlocking'/></Context>"],
        ),
        (
            '<Context><Manager>\n<SessionIdGenerator length="9"/></Manager></Context>',
            ['-<SessionIdGenerator length="9"/></Manager></Context>',
             '+<SessionIdGenerator length="9" secureRandomAlgorithm="NativePRNGNonBlocking"/></Manager></Context>'],
        ),
    ],
)  # fmt: skip
def test_the_generator_of_session_ids(text: str, rows: list[str]) -> None:
    assert changed(tomcatcontext.set_algorithm, text) == rows


@pytest.mark.parametrize(
    "text", ["<Server/>", '<Context><Manager secureRandomClass="a.B"/></Context>']
)
def test_where_it_has_no_place(text: str) -> None:
    with pytest.raises(NoPlaceError):
        tomcatcontext.set_algorithm(text.encode())
