from __future__ import annotations

import pytest

from seedstall.facts.settings import settings
from seedstall.model.evidence import Ask, Ref, Space, Unavailable, Why
from seedstall.model.settings import Format
from seedstall.source.base import Held


def source(files: dict[str, bytes | Why], **said: str) -> Held:
    listing = b"".join(name.encode() + b"\0" for name in files)
    contents: dict[Ref, bytes | Why] = {Ref(Space.INPUT, n): d for n, d in files.items()}
    contents |= {Ref(Space.INPUT, f"given/{k}"): v.encode() for k, v in said.items()}
    return Held({**contents, Ref(Space.INPUT, "", Ask.LIST): listing})


def test_files_and_the_jdk_that_was_named() -> None:
    found = settings(source({"setenv.sh": b"A=b\n", "x.service": b"[Service]\n"}, jdk="8u151"))

    assert [f.format for f in found.files] == [Format.SHELL, Format.UNIT]
    assert str(found.jdk) == "8u151"


def test_a_file_that_cannot_be_read_is_told() -> None:
    found = settings(source({"a.sh": Why.DENIED, "b.sh": b"A=b\n"}))

    assert [f.name for f in found.files] == ["b.sh"]
    assert found.unread == (("a.sh", "denied"),)


def test_a_file_that_a_unit_names_is_an_environment_file() -> None:
    unit = b"[Service]\nEnvironmentFile=-/etc/default/app\n"
    found = settings(source({"app.service": unit, "etc/default/app": b'A="$A b"\n'}))

    assert found.files[1].format is Format.ENVIRONMENT_FILE
    assert found.files[1].variables[0].literal == ("A",)


def test_nothing_handed_over() -> None:
    with pytest.raises(Unavailable):
        settings(Held({}))


def test_a_jdk_that_is_none() -> None:
    with pytest.raises(ValueError, match="not a JDK version"):
        settings(source({"a.sh": b""}, jdk="x"))
