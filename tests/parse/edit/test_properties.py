from __future__ import annotations

from contextlib import suppress

import javaproperties  # type: ignore[import-untyped,unused-ignore]
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seedstall.parse.edit.properties import COMMENT, set_property

NAME, VALUE = "securerandom.source", "file:/dev/urandom"
LINE = f"{NAME}={VALUE}"


def edited(text: str) -> str:
    edit = set_property(text.encode("latin-1"), NAME, VALUE)
    again = set_property(edit.content, NAME, VALUE)
    assert again.content == edit.content, "idempotent"
    made = edit.content.decode("latin-1")
    before, after = javaproperties.loads(text), javaproperties.loads(made)
    assert after == {**before, NAME: VALUE}
    return made


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{NAME}=file:/dev/random\n", f"{LINE}\n"),
        (f"a=b\n{NAME}=file:/dev/random", f"a=b\n{LINE}"),
        (f"  {NAME} : file:/dev/random\r\nc=d\r\n", f"  {LINE}\r\nc=d\r\n"),
        (f"{NAME}=file:\\\n   /dev/random\nc=d\n", f"{LINE}\nc=d\n"),
        (f"{NAME}=x\n{NAME}=y\n", f"{NAME}=x\n{LINE}\n"),
        (f"#{NAME}=x\n", f"#{NAME}=x\n{COMMENT}\n{LINE}\n"),
        ("", f"{COMMENT}\n{LINE}\n"),
        ("a=b", f"a=b\n{COMMENT}\n{LINE}\n"),
        ("a=b\\\n", f"a=b\\\n\n{COMMENT}\n{LINE}\n"),
        ("a=b\\\r", f"a=b\\\r\n\n{COMMENT}\n{LINE}\n"),
        ("\\\r#\\", f"\\\r#\\\n\n{COMMENT}\n{LINE}\n"),
        ("# a\\", f"# a\\\n{COMMENT}\n{LINE}\n"),
        ("secure\\u0072andom.source=x\n", f"{LINE}\n"),
        (f"{NAME}\n", f"{LINE}\n"),
        ("\xe9=\xff\n", f"\xe9=\xff\n{COMMENT}\n{LINE}\n"),
    ],
)
def test_the_entry_that_counts_is_set(text: str, expected: str) -> None:
    assert edited(text) == expected


def test_what_is_right_stays() -> None:
    text = f"a=b\n{NAME} = {VALUE}\n".encode()
    edit = set_property(text, NAME, VALUE)
    assert (edit.content, edit.line, edit.replaced) == (text, 2, ())


def test_what_went_is_told() -> None:
    edit = set_property(f"\n{NAME}=old\n".encode(), NAME, VALUE)
    assert edit.replaced == ((2, f"{NAME}=old"),)


@pytest.mark.parametrize("value", ["", "a\nb", " a", "\xe9"])
def test_a_value_that_no_line_holds(value: str) -> None:
    with pytest.raises(ValueError, match="cannot be written"):
        set_property(b"", NAME, value)


@given(st.text(st.sampled_from(list("#!=: \\\t\r\nabu")), max_size=60))
def test_every_file_reads_back(text: str) -> None:
    with suppress(ValueError):
        edited(text)


@given(st.binary(max_size=80))
def test_any_bytes(data: bytes) -> None:
    with suppress(ValueError):
        set_property(data, NAME, VALUE)
