from __future__ import annotations

import pytest

from seedstall.parse.edit.options import changed, changes, last_value, without

RIGHT = "file:/dev/urandom"
OPTION = f"-Djava.security.egd={RIGHT}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", OPTION),
        ("-Xmx1g", f"-Xmx1g {OPTION}"),
        ("-Xmx1g ", f"-Xmx1g {OPTION}"),
        ("-Djava.security.egd=file:/dev/random", OPTION),
        ("-a -Djava.security.egd=file:/dev/random -b", f"-a {OPTION} -b"),
        ("-Djava.security.egd -b", f"{OPTION} -b"),
        (f"-a {OPTION} -b {OPTION}", f"-a -b {OPTION}"),
        ("-Djava.security.edg=file:/dev/urandom -b", f"{OPTION} -b"),
        ("-Dsecurerandom.source=file:/dev/urandom", OPTION),
        (OPTION, OPTION),
        ("-Djava.security.egdx=1", f"-Djava.security.egdx=1 {OPTION}"),
    ],
)
def test_it_is_set_once(text: str, expected: str) -> None:
    made = changed(text, changes(text, RIGHT))
    assert made == expected
    assert changes(made, RIGHT) == []
    assert last_value(made) == RIGHT


def test_all_are_taken_out() -> None:
    text = f"{OPTION} -a {OPTION} -b"
    assert changed(text, without(text)) == "-a -b"
    assert last_value("-a -b") is None
