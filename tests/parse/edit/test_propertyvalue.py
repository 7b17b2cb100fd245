from __future__ import annotations

import javaproperties
import pytest
from tests.parse.edit.editing import RIGHT, VALUE, changed, edited

from seedstall.parse.edit import propertyvalue
from seedstall.parse.edit.options import Edit
from seedstall.parse.setenv import COMMENT

NAME = "org.gradle.jvmargs"


def editor(data: bytes) -> Edit:
    return propertyvalue.set_egd(data, VALUE, NAME, default="-Xmx512m")


@pytest.mark.parametrize(
    ("text", "rows", "value"),
    [
        ("a=b\n", [f"+{COMMENT}", f"+{NAME}=-Xmx512m {RIGHT}"], f"-Xmx512m {RIGHT}"),
        (f"{NAME}=-Xmx1g\n", [f"-{NAME}=-Xmx1g", f"+{NAME}=-Xmx1g {RIGHT}"], f"-Xmx1g {RIGHT}"),
        (
            f"{NAME} : -Xmx1g \\\n  -Da=b\n",
            ["-  -Da=b", f"+  -Da=b {RIGHT}"],
            f"-Xmx1g -Da=b {RIGHT}",
        ),
        (f"{NAME}=\n", [f"-{NAME}=", f"+{NAME}={RIGHT}"], RIGHT),
        (f"{NAME}\n", [f"-{NAME}", f"+{NAME}={RIGHT}"], RIGHT),
        (
            f"{NAME}=-Djava.security.egd=file\\:/dev/random -Da=b\n",
            [
                f"-{NAME}=-Djava.security.egd=file\\:/dev/random -Da=b",
                f"+{NAME}={RIGHT} -Da=b",
            ],
            f"{RIGHT} -Da=b",
        ),
        # The last one counts; another property's option is not this one's.
        (
            f"{NAME}=-Xa\n{NAME}=-Xb\nother={RIGHT}\n",
            [f"-{NAME}=-Xb", f"+{NAME}=-Xb {RIGHT}"],
            f"-Xb {RIGHT}",
        ),
    ],
)
def test_the_least_change(text: str, rows: list[str], value: str) -> None:
    assert changed(editor, text) == rows
    read = javaproperties.loads(edited(editor, text).content.decode("latin-1"))
    assert read[NAME] == value
    before = javaproperties.loads(text)
    assert {k: v for k, v in read.items() if k != NAME} == {
        k: v for k, v in before.items() if k != NAME
    }


def test_a_last_line_that_goes_on_does_not_swallow_ours() -> None:
    found = edited(editor, "a=b\\").content.decode()
    assert javaproperties.loads(found) == {"a": "b", NAME: f"-Xmx512m {RIGHT}"}


@pytest.mark.parametrize("data", [b"a=b\r\n", "a=Jährlich\r\n".encode("latin-1")])
def test_line_ends_and_encoding_stay(data: bytes) -> None:
    found = edited(editor, data).content
    assert found.startswith(data)
    assert found.count(b"\r\n") == found.count(b"\n") == 3


def test_the_value_now() -> None:
    assert propertyvalue.value_of(f"{NAME}=-Xa\n{NAME}=-Xb\n".encode(), NAME) == "-Xb"
    assert propertyvalue.value_of(b"a=b", NAME) is None
