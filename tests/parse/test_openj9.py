"""What OpenJ9's attach protocol says."""

from __future__ import annotations

import contextlib
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seedstall.parse.openj9 import Advertisement, advertisement, result

OK = b"#\n#Mon Nov 30\nopenj9_diagnostics.error=false\nopenj9_diagnostics.errortype=Error in command\n"


def test_who_it_is() -> None:
    text = b"version=0.1\nuserUid=1000\nprocessId=8712\nvmId=8712\ndisplayName=org.x.Main\\ start\n"
    assert advertisement(text) == Advertisement(8712, 1000)
    assert advertisement(b"processId=5\nuserUid=99999999999999999999\n") == Advertisement(5, -1)


@pytest.mark.parametrize("text", [b"", b"processId=\n", b"processId=x\n", b"vmId=7\n", b"\0\xff"])
def test_who_does_not_say(text: bytes) -> None:
    with pytest.raises(ValueError, match="names no process"):
        advertisement(text)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (b"", ""),
        (b"one\\ntwo\\r\\n\\tthree", "one\ntwo\r\n\tthree"),
        (b"a\\=b\\:c\\#d\\!\\\\n", "a=b:c#d!\\n"),
        (b"\\u20AC \\ud83d\\ude00 \\ud83d", "€ 😀 \ufffd"),
        (b"\xe9\\", "é\\"),
        (b"\\u12", "u12"),
    ],
)
def test_escapes(value: bytes, text: str) -> None:
    assert result(OK + b"openj9_diagnostics.string_result=" + value + b"\n").decode() == text


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (b"openj9_diagnostics.error=true\nopenj9_diagnostics.errormsg=Command\\ x\n", "Command x"),
        (
            b"openj9_diagnostics.error=true\nopenj9_diagnostics.errortype=java.lang.Y\n",
            "java.lang.Y",
        ),
        (b"ATTACH_ERR command invalid: x", "command invalid"),
        (OK, "Error in command"),
        (b"", "an empty answer"),
    ],
)
def test_errors(reply: bytes, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        result(reply)


@settings(deadline=None)
@given(st.binary(max_size=300))
def test_any_bytes(data: bytes) -> None:
    for parse in (advertisement, result):
        for each in (data, OK + b"openj9_diagnostics.string_result=" + data):
            with contextlib.suppress(ValueError):
                parse(each)


def test_a_large_answer_takes_linear_time() -> None:
    began = time.perf_counter()
    data = OK + b"openj9_diagnostics.string_result=" + b"\\tat a.B\\n\\\\" * 200_000
    assert len(result(data)) > 1_000_000
    assert time.perf_counter() - began < 5
