from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.parse.shell.shells import SHELLS, sourced, valid

from seedstall.parse.shell.grammar import MAX_TEXT, closed, parse
from seedstall.parse.shell.scanner import line_of
from seedstall.parse.shell.script import (
    Assignment,
    Block,
    BlockKind,
    Function,
    Kind,
    Node,
    Piece,
    Simple,
    UnfinishedError,
)


def one(text: str) -> Node:
    (node,) = parse(text)
    return node


def assigned(text: str) -> Assignment:
    node = one(text)
    assert isinstance(node, Simple)
    (found,) = node.assignments
    return found


def plain(pieces: tuple[Piece, ...]) -> str:
    return "".join(p.text if p.kind is Kind.CHAR else f"<{p.text}>" for p in pieces)


def words(text: str) -> list[str]:
    node = one(text)
    assert isinstance(node, Simple)
    return [plain(word.pieces) for word in node.words]


def block(text: str, kind: BlockKind) -> Block:
    node = one(text)
    assert isinstance(node, Block)
    assert node.kind is kind
    return node


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("A=b", "b"),
        ("A=", ""),
        ('A="b c"', "b c"),
        ("A='b \" $c'", 'b " $c'),
        ('A="b\\"c\\$d\\e"', 'b"c$d\\e'),
        ("A=b\\ c\\\\", "b c\\"),
        ("A=b\"c\"'d'", "bcd"),
        ("A=b\\\nc", "bc"),
        ('A="b\\\nc"', "bc"),
        ("A=$B${C}x$1$@", "<B><C>x<1><@>"),
        ('A="$B ${C:-d e}"', "<B> <C>"),
        ('A="${B:-"x y"}z"', "<B>z"),
        ("A=$(b 'c)' \"d)\" $(e))f", "<$(b 'c)' \"d)\" $(e))>f"),
        ("A=$((1 + (2)))f", "<$((1 + (2)))>f"),
        ("A=`b \\` c`d", "<`b \\` c`>d"),
        ("A=$(case x in x) y;; esac)z", "<$(case x in x) y;; esac)>z"),
        ("A=$(# comment )\n)z", "<$(# comment )\n)>z"),
        ("A=$'b\\'c\\td'", "b'c\td"),
        ('A=$"b"', "b"),
        ("A=$", "$"),
        ("A=a#b", "a#b"),
        ("A=(b 'c d' $E)", "b c d <E>"),
        ("A=(b # note\n c)", "b c"),
    ],
)
def test_values(text: str, value: str) -> None:
    assert plain(assigned(text).value) == value


@given(st.text("ab \"'$\\{}()\n#=;", max_size=30))
def test_every_piece_knows_its_place(text: str) -> None:
    try:
        nodes = parse(text)
    except ValueError:
        return
    for node in nodes:
        assert text[node.start : node.end].strip()
        for word in node.words if isinstance(node, Simple) else ():
            for piece in word.pieces:
                raw = text[piece.start : piece.end]
                assert raw == piece.text or raw[:1] in "\\$"


def test_runs_tell_stretches_of_quotes_apart() -> None:
    runs = [p.run for p in assigned("A=a\"b\"'c'd").value]
    assert runs[0] == runs[3] == 0
    assert len({*runs}) == 3


@pytest.mark.parametrize(
    ("text", "name", "append"),
    [
        ("A=b", "A", False),
        ("A+=b", "A", True),
        ("_a1=b", "_a1", False),
        ("A[0]=b", "A", False),
        ("A[$i]+=b", "", False),
    ],
)
def test_names(text: str, name: str, append: bool) -> None:  # noqa: FBT001 - a parameter
    node = one(text)
    assert isinstance(node, Simple)
    found = [(a.name, a.append) for a in node.assignments]
    assert found == ([(name, append)] if name else [])


@pytest.mark.parametrize("text", ["1A=b", "A-B=c", '"A"=b', "\\A=b", "=b", "$A=b", "A =b"])
def test_what_only_looks_like_an_assignment(text: str) -> None:
    node = one(text)
    assert isinstance(node, Simple)
    assert node.assignments == ()


def test_commands_and_their_words() -> None:
    assert words('A=b export C="d e" f # note') == ["export", "C=d e", "f"]
    assert words("a >b 2>&1 <c d >>e <<<f &>g") == ["a", "d"]
    assert words("a <(b c) d") == ["a", "<<(b c)>", "d"]
    assert words("a b=c") == ["a", "b=c"]
    assert len(parse("a; b & c\nd")) == 4
    assert words("a \\\n b") == ["a", "b"]


def test_blocks() -> None:
    found = block("if a; then b; elif c; then d; else e; fi >f", BlockKind.IF)
    assert (len(found.parts), found.total) == (5, True)
    assert not block("if a\nthen\nb\nfi", BlockKind.IF).total
    loop = block("for x in a 'b c'; do d; done", BlockKind.LOOP)
    assert (loop.variable, [plain(w.pieces) for w in loop.words]) == ("x", ["a", "b c"])
    assert block("for x; do d; done", BlockKind.LOOP).words == ()
    assert block("for ((i=0; i<2; i++)); do a; done", BlockKind.LOOP).variable == ""
    assert block("while a; do b; done", BlockKind.LOOP).parts[0]
    assert block("until a; do b; done | c", BlockKind.SUBSHELL).parts
    case = block('case "$x" in a|b) c;; (d) e ;& *) f\nesac', BlockKind.CASE)
    assert (len(case.parts), case.total) == (3, True)
    assert not block("case x in a*) b;; esac", BlockKind.CASE).total
    assert block("{ a; b; }", BlockKind.GROUP).parts
    assert block("(a; b)", BlockKind.SUBSHELL).parts
    assert block("((x++))", BlockKind.GROUP).parts == ()
    assert block("[[ a && ( b || c ) ]]", BlockKind.GROUP).parts == ()
    assert len(block("a && ! b || c", BlockKind.CHAIN).parts) == 3
    assert block("a &", BlockKind.SUBSHELL).parts


@pytest.mark.parametrize(
    "text", ["f() { a; }", "f () ( a )", "function f { a; }", "function f() { a; }", "f()\n{ a\n}"]
)
def test_functions(text: str) -> None:
    node = one(text)
    assert isinstance(node, Function)
    assert node.name == "f"


def test_here_documents_are_passed_over() -> None:
    for text in (
        "cat <<EOF\nA='\nEOF\nB=c\n",
        "cat <<'E F'\n$(\nE F\nB=c\n",
        "cat <<-EOF\n\tif\n\tEOF\nB=c\n",
        "cat <<A <<B\n'\nA\n\"\nB\nB=c\n",
        "A=$(cat <<EOF\n)\nEOF\n)\nB=c\n",
        "cat <<EOF && true\n(\nEOF\nB=c\n",
        "cat <<\\EOF\n`\nEOF\nB=c\n",
    ):
        assert assigned(text[text.index("B=c") :]).name == "B"
        last = parse(text)[-1]
        assert isinstance(last, Simple)
        assert last.assignments[0].name == "B"
        assert not valid("bash", text.encode())


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a\n'b", 2),
        ('"', 1),
        ("a\nif b\n", 2),
        ("<<E\n", 2),
        ("${a", 1),
        ("$(a\n\n", 1),
        ("a |", 1),
        ("a ||\n", 1),
        ("case", 1),
        ("for", 1),
        ("[[ a", 1),
        ("f() ", 1),
        ("A=(b", 1),
        ("!", 1),
        ("if", 1),
    ],
)
def test_what_never_ends(text: str, line: int) -> None:
    with pytest.raises(UnfinishedError, match=f"line {line}"):
        parse(text)


@pytest.mark.parametrize(
    "text",
    [
        ")",
        "a ) b",
        "then",
        "fi",
        ";;",
        "a (",
        "if a; fi; b",
        "case a in b c) d;; esac",
        "> ",
        "a <\nb",
        "{ a; ) }",
        "; ;",
    ],
)
def test_what_is_not_understood(text: str) -> None:
    with pytest.raises(ValueError, match="line"):
        parse(text)


def test_limits() -> None:
    with pytest.raises(ValueError, match="longer than"):
        parse("#" * (MAX_TEXT + 1))
    with pytest.raises(ValueError, match="nested too deeply"):
        parse("(" * 100 + "a")
    assert not closed("#" * (MAX_TEXT + 1))


def test_closed_looks_at_quotes_alone() -> None:
    assert closed("fi ) 'a' \"b\" `c` $(d) <<E\n'\nE\n")
    for text in ("'", '"', "`", "$(a", "<<E\n'"):
        assert not closed(text)


def test_lines_count_from_one() -> None:
    assert [line_of("a\nb\n", n) for n in (0, 2, 4)] == [1, 2, 3]


# What a real shell makes of a value is what its pieces say.

literal = st.text("ab'\"\\ $`\t#~*", max_size=12)


@given(literal)
def test_quoting_agrees_with_real_shells(text: str) -> None:
    script = f"CATALINA_OPTS={text}"
    try:
        (node,) = parse(script)
    except ValueError:
        assert (
            valid("dash", script.encode())
            or valid("bash", script.encode())
            or text.rstrip(" \t").endswith("\\")
        )
        return
    if (
        not isinstance(node, Simple)
        or node.words
        or any(p.kind is not Kind.CHAR for p in node.assignments[0].value)
    ):
        return
    if (
        "~" in text or "$'" in text or '$"' in text
    ):  # tildes are left alone; $'..' and $".." are bash's
        return
    expected = plain(node.assignments[0].value)
    for shell in SHELLS[:2]:
        assert sourced(shell, script.encode()).catalina.decode() == expected
