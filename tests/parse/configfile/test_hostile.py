"""Whatever stands in a file: it is read in bounded time, and nothing is raised."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.lint_by_hand import linted

from seedstall.model.finding import Crashed
from seedstall.model.report import Report
from seedstall.model.settings import Format
from seedstall.parse import configfile
from seedstall.render import lint as page

NAMES = (
    "Dockerfile", "compose.yaml", "app.service", "tomcat.conf", "setenv.sh", "setenv.bat", "jvm.options",
    "java.security", "gradle.properties", "pom.xml", "build.gradle", "notes", "app.properties",
)  # fmt: skip
PIECES = (
    "-Djava.security.egd=file:/dev/urandom", "-Djava.security.edg=/dev/urandom", "“-Djava.security.egd=", "\u00a0-D",
    "java -jar app.jar ", "JAVA_OPTS=", "export ", "ENV ", "FROM openjdk:7\n", "CMD [", "ENTRYPOINT ", "RUN <<EOF\n",
    "EOF\n", '"', "'", "\\\n", "\\", "$JAVA_OPTS", "${X:-", "}", "$(", ")", "\n", "\r\n", "  - ", "env:\n", "name: ",
    "value: |\n  ", "services:\n", "&a ", "*a ", "{", "[", "]", ", ", "#", "<argLine>", "</argLine>", "<!--", "-->",
    "securerandom.strongAlgorithms=", "securerandom.source=", "security.provider.1=SUN\n", "Environment=", "ExecStart=",
    "[Service]\n", "set ", "%X%", "^\n", "rem ", "9-:", "sh -c ", "rngd -r /dev/urandom", "apt-get install haveged ",
    "systemProperty('", "-Djava.security.properties==", "BCFIPS", "\ufffc", "\t", "=", " ", "echo '", "' > a.sh\n",
)  # fmt: skip
TEXTS = st.lists(st.sampled_from(PIECES), max_size=60).map("".join)


def lint(name: str, data: bytes) -> Report:
    return linted({name: data})


def check(name: str, data: bytes) -> None:
    report = lint(name, data)

    assert [o for o in report.outcomes if isinstance(o, Crashed)] == []
    assert page.render(report, verbose=1)


@settings(max_examples=400, deadline=None)
@given(st.sampled_from(NAMES), st.binary(max_size=400))
def test_any_bytes(name: str, data: bytes) -> None:
    check(name, data)


@settings(max_examples=1200, deadline=None)
@given(st.sampled_from(NAMES), TEXTS)
def test_texts_made_of_what_such_files_hold(name: str, text: str) -> None:
    check(name, text.encode("utf-8", "surrogatepass"))


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(list(Format)), TEXTS)
def test_any_text_as_any_format(form: Format, text: str) -> None:
    file = configfile.read("x", text.encode("utf-8", "surrogatepass"), form=form)

    for option in file.options:
        start, end = option.word.place()
        assert 0 <= start <= end <= len(file.text)
    for variable in file.variables:
        start, end = variable.value.place()
        assert 0 <= start <= end <= len(file.text)


REPEATED = (
    "[", "{", "<", "(", "`", "'", '"', "\\", "\\\n", "$(", "${a:-", "a=(", "if x; then ", "a: ", "- ", "? ", "&a ",
    "*a ", "[a, ", "<a ", "<a>", "<!--", "'a' ", "//", "/*", "a=b ", "a=b\n", "-D", "-Djava.security.egd=x ",
    "\u00a0", "“", "ENV a ", "ENV a=b\n", "RUN <<A\n", "FROM a\n", "CMD [“a”,", "#\n", "^\n", "%a%", "Environment=a ",
    "ExecStart=a ; ", "java -jar a -Djava.security.egd=b\n", "sh -c ", "echo 'x' > a.sh\n", "${{", "{{", "9-:-D\n",
    "- -Djava.security.egd=/dev/urandom\n", "&x [*x,", "a\\\n", "-Djava.security.egd=file:/dev/urandom\u00a0", "\r",
    "systemProperty('a', ", "- &a [*a]\n", "securerandom.strongAlgorithms=a,", "apt-get install haveged\n",
    "case a in ", "<<A ", "FROM a AS b\n", "cat > a.sh <<A\nx\nA\n", "sed s/a/b/ ", "set a=b ", "<a b='c' ", "$a ",
)  # fmt: skip
LENGTH = 20_000
LIMIT_S = 2.0
"""Seconds for a file of that length: what is linear takes half a second of them at the most."""


@pytest.mark.parametrize("name", NAMES)
def test_repetition_takes_linear_time(name: str) -> None:
    slow = []
    for piece in REPEATED:
        data = (piece * (LENGTH // len(piece))).encode()
        began = time.process_time()
        lint(name, data)
        took = time.process_time() - began
        if took > LIMIT_S:
            slow.append((piece, round(took, 1)))

    assert slow == []


def test_a_bomb_of_aliases_is_bounded() -> None:
    rows = ["seed: random", "a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    rows += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 12)]
    began = time.process_time()
    file = configfile.read("bomb.yaml", "\n".join(rows).encode())

    assert time.process_time() - began < 5
    assert "aliases" in file.problem


def test_an_alias_inside_itself() -> None:
    assert configfile.read("loop.yaml", b"a: &a\n  env: *a\n  b: [*a]\n").problem == ""
