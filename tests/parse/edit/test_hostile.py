"""Any bytes: an edit comes back that keeps what it promises, or a ValueError, and quickly."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.parse.edit.editing import RIGHT, VALUE

from seedstall.parse.edit import (
    buildfile,
    chartvalues,
    dockerfile,
    manifest,
    optionlines,
    propertyvalue,
    tomcatcontext,
)
from seedstall.parse.edit.options import Edit

Editor = Callable[[bytes], Edit]


def tomcat(data: bytes) -> Edit:
    return tomcatcontext.set_algorithm(data)


EDITORS: dict[str, Editor] = {
    "optionlines": partial(optionlines.set_egd, value=VALUE),
    "properties": partial(propertyvalue.set_egd, value=VALUE, name="org.gradle.jvmargs"),
    "dockerfile": partial(dockerfile.set_egd, value=VALUE),
    "manifest": partial(manifest.set_egd, value=VALUE),
    "values": partial(chartvalues.set_egd, value=VALUE),
    "pom": partial(buildfile.set_in_pom, value=VALUE),
    "ant": partial(buildfile.set_in_ant, value=VALUE),
    "context": tomcat,
}
PIECES = st.sampled_from(
    (
        *(
            "FROM a\n",
            "ENV JAVA_TOOL_OPTIONS=",
            "ENTRYPOINT [",
            '"java", ',
            '"-jar", "x"]\n',
            "<<E\n",
            "RUN ",
        ),
        *(
            "services:\n",
            "  a:\n",
            "    image: openjdk\n",
            "    environment:\n",
            "      - A=b\n",
            "env:\n",
            "<<: *x",
            "&x ",
        ),
        *(
            "JAVA_TOOL_OPTIONS",
            ": ",
            "- ",
            "{",
            "}",
            "[",
            "]",
            "'",
            '"',
            ",",
            "|\n",
            ">-\n",
            "#",
            "\t",
            "javaOpts: ",
        ),
        *(
            "<Context>",
            "<Manager ",
            "/>",
            "</Context>",
            "<signjar ",
            "<plugin><artifactId>",
            "maven-jarsigner-plugin",
        ),
        *(
            "</artifactId></plugin>",
            "<!--",
            "-->",
            "<![CDATA[",
            "]]>",
            "<project>",
            "</project>",
            'a="b"',
        ),
        *(
            "org.gradle.jvmargs",
            "=",
            "\\",
            "\r\n",
            "\n",
            " ",
            RIGHT,
            "-Djava.security.egd=file:/dev/random",
            "8:",
            "\ufeff",
        ),
        *("-Djava.security.edg=file:/dev/urandom", "“", "”", "ä", "$JAVA_OPTS", "\u0085", "\x0b"),
    )
)
TEXTS = st.lists(PIECES, max_size=30).map("".join).map(str.encode)


@pytest.mark.parametrize("name", EDITORS)
@given(data=st.one_of(TEXTS, st.binary(max_size=200)))
def test_an_edit_that_can_be_done_again_or_a_value_error(name: str, data: bytes) -> None:
    editor = EDITORS[name]
    try:
        found = editor(data)
    except ValueError:
        return
    again = editor(found.content)
    assert again.content == found.content
    if data not in (b"", found.content):
        _kept(data, found)


def _kept(old: bytes, found: Edit) -> None:
    """Nothing but what names the option or the algorithm came or went, and what goes around it."""
    glue = b"\"'<>/ \t\r\n,:{}[]-=#"
    new = found.content
    for mark in (
        VALUE.encode(),
        b"java.security.egd",
        b"JAVA_TOOL_OPTIONS",
        b"NativePRNGNonBlocking",
    ):
        new = new.replace(mark, b"")
    assert len(new.translate(None, glue)) <= len(old.translate(None, glue)) + 400


@pytest.mark.parametrize("name", EDITORS)
@pytest.mark.parametrize(
    "data",
    [
        b"[" * 15_000,
        b"<a>" * 8_000,
        b"- " * 15_000,
        b"\\\n" * 15_000,
        b"FROM a\n" * 5_000,
        b"FROM a\n" + b"ENV A=b \\\n" * 8_000,
        b"-Djava.security.egd=file:/dev/random\n" * 500,
        b"<!DOCTYPE a [" + b'<!ENTITY b "&b;">' * 1_000 + b"]><a/>",
        b"a: &a [x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\n" + b"c: [*b,*b,*b,*b,*b,*b]\n" * 500,
        b"x" * (5 << 20),
    ],
    ids=range(10),
)
def test_hostile_files_take_no_time(name: str, data: bytes) -> None:
    begun = time.process_time()
    with contextlib.suppress(ValueError):
        EDITORS[name](data)
    assert time.process_time() - begun < 5


@pytest.mark.parametrize("name", ["manifest", "dockerfile", "optionlines"])
def test_more_settings_than_anybody_wrote(name: str) -> None:
    wrong = "-Djava.security.egd=file:/dev/random"
    text = {
        "manifest": "services:\n  w:\n    image: openjdk:8\n    environment:\n"
        + "".join(f"      - A{i}=$B {wrong}\n" for i in range(5000)),
        "dockerfile": "FROM openjdk:8\n" + "".join(f'ENV A{i}="$B {wrong}"\n' for i in range(5000)),
        "optionlines": f"{wrong}\n" * 5000,
    }[name]
    with pytest.raises(ValueError, match="no file for a program to edit"):
        EDITORS[name](text.encode())
