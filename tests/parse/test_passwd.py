"""/etc/passwd."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from seedstall.parse.passwd import user_names


def test_the_first_name_of_an_id_counts() -> None:
    data = b"root:x:0:0:root:/root:/bin/sh\ntoor:x:0:0::/root:/bin/sh\ntomcat:x:998:998::/:/x\n"
    assert user_names(data) == {0: "root", 998: "tomcat"}


def test_lines_that_are_none_are_passed_over() -> None:
    assert user_names(b"#\n+\n+::::::\n:x:1:1\na:x:-1:1:\nb:x:99999999999:1:\nc:x:7:7:\xff\n") == {
        7: "c"
    }


@given(st.binary())
def test_any_bytes(data: bytes) -> None:
    user_names(data)
