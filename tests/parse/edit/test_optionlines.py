from __future__ import annotations

import pytest
from tests.lint_by_hand import lint_text
from tests.parse.edit.editing import RIGHT, VALUE, changed, edited

from seedstall.parse.edit import optionlines
from seedstall.parse.edit.options import Edit
from seedstall.parse.setenv import COMMENT

WRONG = "-Djava.security.egd=file:/dev/random"
ADDED = [f"+{COMMENT}", f"+{RIGHT}"]


def editor(data: bytes) -> Edit:
    return optionlines.set_egd(data, VALUE)


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("-Xmx1g\n# note\n", ADDED),
        (f"{WRONG}\n", [f"-{WRONG}", f"+{RIGHT}"]),
        (f"-Xmx1g {WRONG} -Da=b\n", [f"--Xmx1g {WRONG} -Da=b", f"+-Xmx1g {RIGHT} -Da=b"]),
        (
            "-Djava.security.edg=file:/dev/urandom\n",
            ["--Djava.security.edg=file:/dev/urandom", f"+{RIGHT}"],
        ),
        (
            "-Djava.security.egd = file:/dev/urandom\n",
            ["--Djava.security.egd = file:/dev/urandom", f"+{RIGHT}"],
        ),
        (
            f'-Djava.security.egd="{VALUE}"\n',
            [f'--Djava.security.egd="{VALUE}"', f"+{RIGHT}"],
        ),
        (f"{RIGHT}\n", []),
        # Of several the last one counts: it is put right, the others go with their lines.
        (f"{WRONG}\n-Xmx1g\n{WRONG}\n", [f"-{WRONG}", f"-{WRONG}", f"+{RIGHT}"]),
        # A line for some JDKs alone is no setting for all.
        (f"8:{WRONG}\n", [f"-8:{WRONG}", f"+8:{RIGHT}", *ADDED]),
        (f"11-:{RIGHT}\n", ADDED),
    ],
)
def test_the_least_change(text: str, rows: list[str]) -> None:
    assert changed(editor, text) == rows


def test_what_was_put_right_is_named_with_its_line() -> None:
    found = edited(editor, f"-Xmx1g\n{WRONG}\n")
    assert found.replaced == ((2, WRONG),)
    assert found.line == 2


@pytest.mark.parametrize(
    ("data", "tail"),
    [
        (b"-Xmx1g\r\n-Da=b\r\n", f"{COMMENT}\r\n{RIGHT}\r\n".encode()),
        (b"-Xmx1g", f"\n{COMMENT}\n{RIGHT}\n".encode()),
        (b"\xef\xbb\xbf-Xmx1g\n", f"{COMMENT}\n{RIGHT}\n".encode()),
        ("# Jährlich\n".encode("cp1252"), f"{COMMENT}\n{RIGHT}\n".encode()),
        ("\ufeff# Jährlich\n".encode("utf-16-le"), f"{COMMENT}\n{RIGHT}\n".encode("utf-16-le")),
    ],
)
def test_line_ends_and_encoding_stay(data: bytes, tail: bytes) -> None:
    assert edited(editor, data).content == data + tail


def test_lines_that_it_needs() -> None:
    def with_exec(data: bytes) -> Edit:
        return optionlines.set_egd(data, VALUE, comment="", needs=("--exec",))

    assert changed(with_exec, "-Xmx1g\n") == ["+--exec", f"+{RIGHT}"]
    assert changed(with_exec, f"{RIGHT}\n") == ["+--exec"]
    assert changed(with_exec, f"--exec\n{RIGHT}\n") == []


@pytest.mark.parametrize("value", ["", "file:/dev/$(x)", "a b", 'a"b', "ä", "a;b"])
def test_a_value_that_means_something_else_there(value: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        optionlines.set_egd(b"", value)


def test_lint_finds_nothing_after_it() -> None:
    for text in ("-Xmx1g\n", f"{WRONG}\n", f"8:{WRONG}\n"):
        after = edited(editor, text).content
        assert lint_text("config/jvm.options", after, jdk="17") == []


def test_what_an_options_file_sets() -> None:
    assert [o.word.text for o in optionlines.sets(f"-Xmx1g\n{WRONG}\n".encode())] == [WRONG]
    assert optionlines.sets(b"# -Djava.security.egd=x\n") == []
