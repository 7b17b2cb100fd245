from __future__ import annotations

import re
import shlex

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.parse.shell.shells import SHELLS, sourced, valid

from seedstall.parse.setenv import (
    MAX_KEPT,
    NoPlaceError,
    assignment,
    check_value,
    egd_values,
    essence,
    near_miss,
    set_egd,
)
from seedstall.parse.shell.script import UnfinishedError

RIGHT = "file:/dev/urandom"
OPTION = f"-Djava.security.egd={RIGHT}"
WRONG = "-Djava.security.egd=file:/dev/random"
LINE = f'CATALINA_OPTS="$CATALINA_OPTS {OPTION}"'


def edited(text: str, value: str = RIGHT) -> str:
    return set_egd(text.encode(), value).content.decode()


def words(value: bytes) -> list[str]:
    """As catalina.sh's eval splits them."""
    return shlex.split(value.decode("utf-8", "surrogateescape"))


def settings_in(value: bytes) -> list[str]:
    return [w for w in words(value) if w.startswith("-Djava.security.egd")]


# What is asked of every edit


def holds(before: bytes, *, exact: bool = True, **environment: str) -> None:
    """After the edit, every shell that took the file gives Tomcat the value, once, and all its other options."""
    edit = set_egd(before, RIGHT)
    assert set_egd(edit.content, RIGHT).content == edit.content, "idempotent"
    for shell in SHELLS:
        errors = valid(shell, before) or sourced(shell, before).errors
        if (
            "syntax error" in errors.lower()
            or "Bad substitution" in errors
            or "declare: not found" in errors
        ):
            continue  # no file for this shell
        assert not valid(shell, edit.content)
        old, new = (
            sourced(shell, before, **environment),
            sourced(shell, edit.content, **environment),
        )
        found = settings_in(new.java) + settings_in(new.catalina)
        assert found[-1:] == [OPTION], (shell, edit.content)
        if exact:
            assert settings_in(new.catalina) == [OPTION], (shell, edit.content)
            assert settings_in(new.java) == [], (shell, edit.content)
        for kept, now in zip(old.values, new.values, strict=True):
            assert set(others(now)) >= set(others(kept)), (shell, edit.content)


def others(value: bytes) -> list[str]:
    return [w for w in words(value) if not any(n in w for n in ("egd", "edg", "securerandom"))]


SHAPES = {
    "empty": "",
    "comments": "#!/bin/sh\n# settings of this instance\n",
    "no last line end": 'CATALINA_OPTS="-Xmx1g"',
    "no settings": "JAVA_HOME=/opt/java\nexport JAVA_HOME\n",
    "a comment": f"# {OPTION}\n",
    "a comment behind": f'CATALINA_OPTS="-Da=b" # {OPTION}\n',
    "double quotes": f'CATALINA_OPTS="$CATALINA_OPTS {WRONG} -Xmx1g"\n',
    "single quotes": f"CATALINA_OPTS='{WRONG}'\n",
    "no quotes": f"CATALINA_OPTS={WRONG}\n",
    "half quotes": 'CATALINA_OPTS=$CATALINA_OPTS" -Djava.security.egd="file:/dev/random\n',
    "value in quotes": "CATALINA_OPTS=\"-Da=b -Djava.security.egd='file:/dev/random' -Dc=d\"\n",
    "option in quotes": f'CATALINA_OPTS="-Da=\'x y\' \\"{WRONG}\\" -Xmx1g"\n',
    "exported": f'export CATALINA_OPTS="{WRONG}"\n',
    "exported later": f'CATALINA_OPTS="{WRONG}"\nexport CATALINA_OPTS\n',
    "two on a line": f'JAVA_HOME=/opt/java; CATALINA_OPTS="{WRONG}"; export JAVA_HOME\n',
    "braces": f'CATALINA_OPTS="${{CATALINA_OPTS}} {WRONG}"\n',
    "continued": f'CATALINA_OPTS="-Da=b \\\n  {WRONG} \\\n  -Xmx1g"\n',
    "over lines": f'CATALINA_OPTS="-Da=b\n  {WRONG}\n  -Xmx1g"\n',
    "typing error": 'CATALINA_OPTS="-Djava.security.edg=file:/dev/./urandom"\n',
    "security property": 'CATALINA_OPTS="-Dsecurerandom.source=file:/dev/urandom"\n',
    "no value": 'CATALINA_OPTS="-Djava.security.egd -Da=b"\n',
    "no scheme": 'CATALINA_OPTS="-Djava.security.egd=/dev/urandom"\n',
    "the famous one": 'CATALINA_OPTS="-Djava.security.egd=file:/dev/./urandom"\n',
    "twice": f'CATALINA_OPTS="{WRONG} -Da=b {WRONG}"\n',
    "twice, in two lines": f'CATALINA_OPTS="{WRONG}"\nCATALINA_OPTS="$CATALINA_OPTS {WRONG}"\n',
    "overwritten later": f'CATALINA_OPTS="{OPTION}"\nCATALINA_OPTS="-Xmx1g"\n',
    "JAVA_OPTS": f'JAVA_OPTS="$JAVA_OPTS {WRONG}"\nCATALINA_OPTS="-Da=b"\n',
    "JAVA_OPTS, with others": f'JAVA_OPTS="-Da=b {WRONG} -Dc=d"\n',
    "both": f'JAVA_OPTS="{WRONG}"\nCATALINA_OPTS="{WRONG} -Da=b"\n',
    "_JAVA_OPTIONS": f'_JAVA_OPTIONS="{WRONG}"\nexport _JAVA_OPTIONS\n',
    "through a variable": f'SECURITY="{WRONG}"\nCATALINA_OPTS="$CATALINA_OPTS $SECURITY"\n',
    "value in a variable": 'EGD=file:/dev/random\nCATALINA_OPTS="-Djava.security.egd=$EGD -Da=b"\n',
    "default": f": ${{CATALINA_OPTS:={WRONG}}}\n",
    "default in quotes": f'CATALINA_OPTS="${{CATALINA_OPTS:-{WRONG}}} -Da=b"\n',
    "glued": f'CATALINA_OPTS="${{CATALINA_OPTS}}{WRONG}"\n',
    "appended": f'CATALINA_OPTS="-Da=b"\nJAVA_OPTS="-Dc=d {WRONG}"\n',
    "if": f'if [ -n "$JAVA_HOME" ]; then\n  CATALINA_OPTS="{WRONG}"\nelse\n  CATALINA_OPTS="{WRONG}2"\nfi\n',
    "if without else": f'if [ -n "$JAVA_HOME" ]; then\n  CATALINA_OPTS="{WRONG}"\nfi\n',
    "and": f'[ -z "$CATALINA_OPTS" ] && CATALINA_OPTS="{WRONG}"\n',
    "case": f'case "$HOSTNAME" in\n  a*) CATALINA_OPTS="{WRONG}" ;;\n  *) CATALINA_OPTS="-Da=b" ;;\nesac\n',
    "guarded": f'case "$CATALINA_OPTS" in *egd=*) ;; *) CATALINA_OPTS="$CATALINA_OPTS {WRONG}" ;; esac\n',
    "loop": f'for o in -Da {WRONG} -Dc; do CATALINA_OPTS="$CATALINA_OPTS $o"; done\n',
    "function": f'add() {{\n  CATALINA_OPTS="$CATALINA_OPTS $1"\n}}\nadd {WRONG}\nadd -Xmx1g\n',
    "group": f'{{ CATALINA_OPTS="{WRONG}"; }}\n',
    "unset": f'CATALINA_OPTS="{WRONG}"\nunset CATALINA_OPTS\n',
    "subshell": f'(CATALINA_OPTS="{WRONG}")\n',
    "set -u": 'set -u\nJAVA_HOME="/opt/java"\n',
    "set -e": f'set -e\nCATALINA_OPTS="{WRONG}"\nfalse || true\n',
    "echo": f'echo "using {WRONG}" >/dev/null\n',
    "grep": f'if echo "$CATALINA_OPTS" | grep -q java.security.egd; then :; fi\nCATALINA_OPTS="{WRONG}"\n',
    "heredoc": f"cat >/dev/null <<EOF\nCATALINA_OPTS={OPTION}\nEOF\n",
    "heredoc with quotes": "cat >/dev/null <<'EOF'\nit's \"open\nEOF\nCATALINA_OPTS=-Da=b\n",
    "read-only": 'readonly CATALINA_OPTS="-Xmx1g"\n',
    "read-only later": 'CATALINA_OPTS="-Xmx1g"\nreadonly CATALINA_OPTS\n',
    "return at the end": 'CATALINA_OPTS="-Xmx1g"\nreturn 0\n',
    "return, wrong": f'CATALINA_OPTS="{WRONG}"\nreturn\nCATALINA_OPTS="-Xmx1g"\n',
    "exit": 'CATALINA_OPTS="-Da=b"; exit 0; JUNK=1\n',
    "return somewhere": '[ -n "$JAVA_HOME" ] || return\nCATALINA_OPTS="$CATALINA_OPTS -Xmx1g"\n',
    "continued comment": "JAVA_HOME=/opt/java # note \\\n",
    "open continuation": "export JAVA_HOME=/opt/java \\\n",
    "backslash at the end": "JAVA_HOME=/opt/java\\",
    "substitution": 'CATALINA_OPTS="-Dhost=$(echo "a)b")"\n',
    "backquotes": 'CATALINA_OPTS="-Dhost=`echo "a"`"\n',
    "arithmetic": 'N=$((1 + (2 * 3)))\nCATALINA_OPTS="-Dn=$N"\n',
    "apostrophe in a comment": '# don\'t\nCATALINA_OPTS="-Da=b"\n',
    "hash in a word": 'CATALINA_OPTS="-Da=#b"\nJAVA_HOME=a#b\n',
}
BASH_ONLY = {
    "append": f'CATALINA_OPTS+=" {WRONG}"\n',
    "array": f'OPTS=(-Da=b "{WRONG}")\nCATALINA_OPTS="${{OPTS[*]}}"\n',
    "array, appended": 'OPTS=(-Da=b)\nOPTS+=(-Dc=d)\nCATALINA_OPTS="${OPTS[@]}"\n',
    "double brackets": f'if [[ -n $JAVA_HOME && $HOME != /root* ]]; then CATALINA_OPTS="{WRONG}"; fi\n',
    "function keyword": f'function add {{ CATALINA_OPTS+=" $1"; }}\nadd "{WRONG}"\n',
    "here-string": f'cat <<< "x" >/dev/null\nCATALINA_OPTS="{WRONG}"\n',
    "declare": f'declare -x CATALINA_OPTS="{WRONG}"\n',
    "read-only": f'declare -r CATALINA_OPTS="-Da=b {WRONG}"\n',
    "ansi": f"CATALINA_OPTS=$'-Da=b {WRONG}'\n",
    "pattern": f'CATALINA_OPTS="${{CATALINA_OPTS//foo/bar}} {WRONG}"\n',
}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_every_shape_gives_it_once(shape: str) -> None:
    holds(shape.encode())
    holds(shape.encode(), JAVA_HOME="/opt/java", CATALINA_OPTS="-Denv=1")


@pytest.mark.parametrize("shape", BASH_ONLY.values(), ids=BASH_ONLY)
def test_every_bash_shape_gives_it_once(shape: str) -> None:
    assert not valid("bash", shape.encode())
    holds(shape.encode())
    holds(shape.encode(), JAVA_HOME="/opt/java")


UNSEEN = {
    "in a here-document": f'CATALINA_OPTS="$(cat <<EOF\n{WRONG}\nEOF\n)"\n',
    "by eval": f"eval 'CATALINA_OPTS=\"{WRONG}\"'\n",
    "by a command": f'CATALINA_OPTS="$(echo {WRONG})"\n',
    "returns before it is overwritten": f'[ -n "$JAVA_HOME" ] || return\nCATALINA_OPTS="{WRONG}"\n',
    "returns in a loop": 'for i in a b; do [ -n "$JAVA_HOME" ] || return\nCATALINA_OPTS=""\ndone\n',
    "returns, then overwritten": '[ -n "$JAVA_HOME" ] || return\nCATALINA_OPTS="-Xmx1g"\n',
}


@pytest.mark.parametrize("shape", UNSEEN.values(), ids=UNSEEN)
def test_where_it_cannot_be_followed_a_later_one_wins_and_it_is_said(shape: str) -> None:
    holds(shape.encode(), exact=False)
    holds(shape.encode(), exact=False, JAVA_HOME="/opt/java")


def test_what_it_cannot_follow_it_says() -> None:
    for shape in (UNSEEN["in a here-document"], UNSEEN["by a command"]):
        assert "command substitution" in set_egd(shape.encode(), RIGHT).notes[0]
    (note,) = set_egd(SHAPES["return somewhere"].encode(), RIGHT).notes
    assert note.startswith("line 1 may end the script")
    (note,) = set_egd(UNSEEN["returns in a loop"].encode(), RIGHT).notes
    assert note.startswith("the script may end at line 1")


# What stays


@pytest.mark.parametrize(
    "text",
    [
        f'CATALINA_OPTS="$CATALINA_OPTS {OPTION}"\n',
        f"CATALINA_OPTS='{OPTION}'",
        f'JAVA_OPTS="{OPTION}"\n',
        f'CATALINA_OPTS="{WRONG} {OPTION}"\n',
        f'if [ -n "$A" ]; then CATALINA_OPTS="{OPTION}"; else CATALINA_OPTS="-Da=b {OPTION}"; fi\n',
        f'CATALINA_OPTS="{OPTION}"\n'
        + 'if [ "$A" ]; then CATALINA_OPTS="$CATALINA_OPTS -Da"; fi\n' * 40,
        f'SECURITY="{OPTION}"\nexport CATALINA_OPTS="-Da=b $SECURITY"\n',
        f'EGD={RIGHT}\nCATALINA_OPTS="-Djava.security.egd=$EGD"\n',
        f'set_it() {{ CATALINA_OPTS="$CATALINA_OPTS {OPTION}"; }}\nset_it\n',
    ],
)
def test_what_is_right_stays(text: str) -> None:
    edit = set_egd(text.encode(), RIGHT)
    assert edit.content == text.encode()
    assert not edit.replaced


def test_it_is_put_at_the_end() -> None:
    assert edited('# mine\nCATALINA_OPTS="-Xmx1g"\n').endswith(
        f'-Xmx1g"\n# SecureRandom: seed from a device that '
        f"does not block (written by seedstall)\n{LINE}\n"
    )


def test_a_wrong_one_is_replaced_where_it_stands() -> None:
    text = f'# mine\nexport CATALINA_OPTS="-Da=b {WRONG}\t-Xmx1g" # why not\nJAVA_HOME=/x\n'
    assert edited(text) == text.replace(WRONG, OPTION)
    edit = set_egd(text.encode(), RIGHT)
    assert edit.replaced == ((2, WRONG),)
    assert edit.line == 2


def test_a_wrong_one_of_all_commands_moves_to_those_that_start() -> None:
    text = f'JAVA_OPTS="$JAVA_OPTS {WRONG}"\nJAVA_HOME=/x\n'
    assert edited(text).splitlines()[0] == "JAVA_HOME=/x"
    assert edited(text).splitlines()[-1] == LINE


def test_crlf_is_kept_and_is_no_part_of_the_value() -> None:
    for text in (
        'JAVA_HOME="/x"\r\nCATALINA_OPTS="-Da=b"\r\n',
        f'CATALINA_OPTS="{WRONG}"\r\nJAVA_HOME="/x"\r\n',
        f'JAVA_OPTS="{WRONG}"\r\n',
    ):
        edit = set_egd(text.encode(), RIGHT)
        assert edit.content.count(b"\n") == edit.content.count(b"\r\n")
        assert "CRLF" in edit.notes[-1]
        assert set_egd(edit.content, RIGHT).content == edit.content
        for shell in SHELLS:
            assert settings_in(sourced(shell, edit.content).catalina) == [OPTION]
            assert settings_in(sourced(shell, edit.content).java) == []


def test_bytes_that_are_no_utf8_are_kept() -> None:
    text = b'# J\xe4mmerlich \xff\nCATALINA_OPTS="-Dx=\xe9 ' + WRONG.encode() + b'"'
    edit = set_egd(text, RIGHT)
    assert edit.content == text.replace(WRONG.encode(), OPTION.encode())


# What cannot be done


@pytest.mark.parametrize(
    "text",
    [
        'CATALINA_OPTS="-Da',
        "A='",
        "if true; then\n",
        "cat <<EOF\n",
        "f() {\n",
        "case a in\n",
        "A=$(b",
        "A=${b",
        "a &&\n",
        "A=`b",
    ],
)
def test_what_never_ends_is_not_touched(text: str) -> None:
    with pytest.raises(UnfinishedError, match="line"):
        set_egd(text.encode(), RIGHT)


def test_what_holds_nul_is_no_script() -> None:
    with pytest.raises(ValueError, match="NUL"):
        set_egd(b"\x7fELF\0", RIGHT)


def test_where_no_place_is_left_it_says_so() -> None:
    with pytest.raises(NoPlaceError):
        set_egd(b"readonly CATALINA_OPTS=\n", "file:/a;b")


def test_a_grammar_it_does_not_know_gets_a_last_line_that_wins() -> None:
    text = "coproc cat ) (\n"
    edit = set_egd(text.encode(), RIGHT)
    assert edit.content.decode().endswith(LINE + "\n")
    assert "not fully understood" in edit.notes[0]
    assert set_egd(edit.content, RIGHT).content == edit.content


# Values


@pytest.mark.parametrize(
    "value", ["file:/dev/urandom", "file:/a;b&c|d", "file:/$HOME/(x)*?#[a]<b>", "file:/%20a"]
)
@pytest.mark.parametrize("text", ["", 'readonly A="b"\n', f'CATALINA_OPTS="{WRONG}"\n', "set -u\n"])
def test_any_value_reaches_java_whole(value: str, text: str) -> None:
    content = set_egd(text.encode(), value).content
    assert set_egd(content, value).content == content
    for shell in SHELLS:
        assert words(sourced(shell, content, HOME="/root").catalina) == [
            f"-Djava.security.egd={value}"
        ]


@pytest.mark.parametrize(
    "value", ["", "file:/a b", "a'b", 'a"b', "a\nb", "a\\b", "a`b", "a\x00", "fäil", "a\x7fb"]
)
def test_values_that_cannot_be_written_anywhere_are_refused(value: str) -> None:
    with pytest.raises(ValueError, match=r"value|write it as"):
        check_value(value)
    with pytest.raises(ValueError, match=r"value|write it as"):
        set_egd(b"", value)


@pytest.mark.parametrize(
    ("value", "escaped"),
    [("file:/a b", "%20"), ("fäil", "%C3%A4"), ("\u017f", "%C5%BF"), ("file:/\udcff", "%FF")],
)
def test_a_refused_character_is_shown_as_the_url_wants_it(value: str, escaped: str) -> None:
    with pytest.raises(ValueError, match=f"write it as {escaped}$"):
        check_value(value)


def test_the_line() -> None:
    assert assignment(RIGHT) == LINE
    assert (
        assignment(RIGHT, target="JAVA_OPTS", nounset=True)
        == f'JAVA_OPTS="${{JAVA_OPTS:-}} {OPTION}"'
    )


@pytest.mark.parametrize(
    ("name", "value", "missed"),
    [
        ("java.security.edg", "file:/dev/urandom", True),
        ("java.security.egb", "file:/dev/random", True),
        ("Java.Security.Egd", "file:/dev/random", True),
        ("java.secuirty.egd", "file:/dev/random", True),
        ("securerandom.source", "file:/dev/urandom", True),
        ("java.security.egd", "file:/dev/urandom", False),
        ("java.security.edg", "something", False),
        ("java.security.policy", "/etc/random.policy", False),
        ("a", "random", False),
        ("x" * 10_000, "random", False),
    ],
)
def test_near_misses(name: str, value: str, missed: bool) -> None:  # noqa: FBT001 - a parameter
    assert near_miss(name, value) is missed


def test_values_as_eval_splits_them() -> None:
    text = f"""-Da='{WRONG}' "{OPTION}" \\-Djava.security.egd=x -Djava.security.egd '-Djava.security.egd=a b"""
    assert egd_values(text) == (RIGHT, "x", "", "a b")


# Anything at all


NAMES = ["CATALINA_OPTS", "JAVA_OPTS", "SEC", "OTHER"]
VALUES = ["file:/dev/random", "/dev/urandom", RIGHT, "file:/dev/./urandom", "$EGD", "${EGD:-x}"]
OPTIONS = [
    *("-Xmx1g", "-Da=b", "$SEC", "${OTHER}", "$CATALINA_OPTS", "$JAVA_OPTS"),
    *(
        f"-D{name}={value}"
        for value in VALUES
        for name in ("java.security.egd", "java.security.edg")
    ),
]
CONDITIONS = ['[ -n "$X" ]', "true", "false", '[ "$CATALINA_OPTS" = a ]']
SMALL = [
    *("@n=@v", "@n=@v", "export @n=@v", "true # x", "true", "unset OTHER", "JAVA_HOME=/x"),
    *(": ${SEC:=-Da}", "A=b true", f"EGD={RIGHT}", "EGD=x", "return", "@c || return"),
]
LARGE = [
    *SMALL,
    "if @c; then @b\nfi",
    "if @c; then @b\nelse @b\nfi",
    'case "$X" in\na) @b\n;; *) @b\n;;\nesac',
    "for i in a b; do @b\ndone",
    "@c && { @b\n}",
    "f() { @b\n}\nf @o",
    "( @b\n)",
    "cat >/dev/null <<EOF\n@o\nEOF",
]


@st.composite
def scripts(draw: st.DrawFn) -> str:
    """Statements made of the templates; ``@b`` is a block of further ones."""

    def filled(depth: int) -> str:
        template = draw(st.sampled_from(LARGE if depth < 3 else SMALL))
        return re.sub("@[nvocb]", lambda mark: part(mark[0], depth), template)

    def part(mark: str, depth: int) -> str:
        if mark == "@b":
            return "\n".join(filled(depth + 1) for _ in range(draw(st.integers(1, 2))))
        if mark == "@v":
            items = draw(st.lists(st.sampled_from(OPTIONS), max_size=4))
            single = " ".join(items).replace("$", "")
            return draw(
                st.sampled_from(
                    [f'"{" ".join(items)}"', f"'{single}'", f'""{"".join(items[:1])}""']
                )
            )
        return draw(st.sampled_from({"@n": NAMES, "@o": OPTIONS, "@c": CONDITIONS}[mark]))

    body = "\n".join(filled(0) for _ in range(draw(st.integers(0, 6))))
    return body + draw(st.sampled_from(["", "\n", "\n\n# end\n"]))


@settings(max_examples=100, deadline=None)
@given(scripts(), st.sampled_from(["", "1"]))
@example(
    'for i in a b; do CATALINA_OPTS="$CATALINA_OPTS -Djava.security.egd=file:/dev/random"\ndone',
    "1",
)
def test_any_script_gives_it_in_real_shells(script: str, x: str) -> None:
    before = script.encode()
    edit = set_egd(before, RIGHT)
    assert set_egd(edit.content, RIGHT).content == edit.content
    for shell in SHELLS[:2]:
        assert not valid(shell, before)
        assert not valid(shell, edit.content)
        new = sourced(shell, edit.content, X=x)
        old = sourced(shell, before, X=x)
        found = egd_values(f"{new.java.decode()} {new.catalina.decode()}")
        assert found[-1:] == (RIGHT,), edit.content.decode()
        if edit.content != before and not edit.notes:
            assert egd_values(new.catalina.decode()) == (RIGHT,), edit.content.decode()
            assert egd_values(new.java.decode()) == (), edit.content.decode()
        for kept, now in zip(old.values, new.values, strict=True):
            assert others(now) == others(kept)


@given(
    st.binary(max_size=400)
    | st.text("CATALINA_OPTS=\"'$(){}`\\;&|<>#\n \t[]if fi do", max_size=200).map(str.encode)
)
@example(b"<\\")
@settings(deadline=2000)
def test_any_bytes_raise_only_value_errors(data: bytes) -> None:
    try:
        edit = set_egd(data, RIGHT)
    except ValueError:
        return
    assert set_egd(edit.content, RIGHT).content == edit.content


@pytest.mark.parametrize(
    "text",
    [
        "((" * 30_000,
        "$((" * 30_000,
        '"${a' * 20_000,
        "`" * 60_000,
        "<<a\n" * 20_000,
        "A=" + "$A" * 40_000 + "\n",
        "A=$A$A$A\n" * 12_000,
        f'CATALINA_OPTS="{WRONG}"\n' * 2_000,
        "f() { g; g; g; }\n" * 3_000 + "f\n" * 3_000,
        "if a; then b; fi\n" * 7_000,
        "a && " * 20_000 + "b\n",
        "x=1\n" * 30_000,
        "{ " * 50_000,
        "CATALINA_OPTS=" + "a" * 130_000,
    ],
    ids=range(14),
)
@pytest.mark.timeout(30)
def test_hostile_files_take_bounded_time(text: str) -> None:
    try:
        set_egd(text.encode(), RIGHT)
    except ValueError:
        return
    assert MAX_KEPT < 20


@given(
    st.lists(
        st.sampled_from([WRONG, OPTION, "-Da", "-Djava.sec", "-Xmx1g", " ", "'x y'", "\ufffc"]),
        max_size=6,
    )
)
def test_the_essence_keeps_what_matters(parts: list[str]) -> None:
    for joint in ("", " "):
        text = joint.join(parts)
        assert egd_values(essence(text) + " ") == egd_values(text)
        if parts and "'" not in text:
            for tail in (" -Da", "urity.egd=x", " -Djava.security.egd=y"):
                assert egd_values(essence(text) + tail) == egd_values(text + tail)
