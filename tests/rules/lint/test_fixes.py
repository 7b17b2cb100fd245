"""A corrected line is right: put in its place, nothing is found there any more, and a shell reads what was meant."""

from __future__ import annotations

import json
import shlex
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.lint_by_hand import corrected, findings, grave, linted, mended

from seedstall.model.finding import Severity

FOLDER = Path(__file__).parents[3] / "fixtures/lint"
CASES: list[dict[str, Any]] = tomllib.loads((FOLDER / "expect.toml").read_text("utf-8"))["case"]
# A fix of these leaves something that a person must do elsewhere: another list, another file.
OPEN = {("SS206", "json-quotes/wrong/pod.yaml")}


def fixable() -> list[tuple[dict[str, Any], int]]:
    return [(c, i) for c in CASES for i, row in enumerate(c.get("findings", [])) if row[3]]


@pytest.mark.parametrize(("case", "index"), fixable())
def test_a_corrected_line_is_no_longer_found(case: dict[str, Any], index: int) -> None:
    files = {name: (FOLDER / name).read_bytes().decode() for name in case["files"]}
    said = {key: case[key] for key in ("jdk", "kernel") if key in case}
    code, finding = findings(linted(files, **said))[index]
    name, _, number = finding.evidence[0].origin.rpartition(":")
    files[name] = mended(files[name], finding)
    after = findings(linted(files, **said))

    again = [f for c, f in after if c == code and f.evidence[0].origin == f"{name}:{number}"]
    assert [f for f in again if f.severity >= finding.severity] == []
    assert len([f for _, f in after if f.severity >= Severity.WARNING]) <= len(
        [row for row in case["findings"] if row[2] in ("warning", "error")]
    )


WRONG = st.sampled_from(
    [
        "-Djava.security.edg=file:/dev/urandom",
        "-Djava.security.egd=/dev/urandom",
        "-Djava.security.egd=file:/dev/.urandom",
        "-Djava.security.egd=file:///dev/random",
        "-Dsecurerandom.source=file:/dev/urandom",
        "--Djava.security.egd=file:/dev/urandom",
    ]
)
OTHERS = st.lists(st.sampled_from(["-Xmx1g", "-Da=b", "-Dtitle=x:y", "-XX:+UseG1GC"]), max_size=3)
QUOTINGS = st.sampled_from(
    [
        'export X="{0}"\n',
        "export X='{0}'\n",
        'X="$X {0}"\n',
        'X="${{X:-{0}}}"\n',
        "X=\\\n'{0}'\n",
        'X="a\\"b {0}"\n',
    ]
)
EXPECTED = "-Djava.security.egd=file:/dev/urandom"


@settings(max_examples=150, deadline=None)
@given(WRONG, OTHERS, OTHERS, QUOTINGS)
def test_a_shell_reads_the_right_option(
    wrong: str, before: list[str], after: list[str], form: str
) -> None:
    text = form.format(" ".join([*before, wrong, *after]))
    script = "JAVA_HOME=/usr/lib/jvm/java-17-openjdk\n" + text
    bad = [f for _, f in findings(linted({"setenv.sh": script}))]
    assert len(bad) == 1
    fixed = mended(script, bad[0])

    shown = subprocess.run(
        ["bash", "-c", f'{fixed}\nprintf "%s" "$X"'], capture_output=True, text=True, check=True
    )
    assert EXPECTED in shown.stdout.split()
    assert wrong not in shown.stdout.split()
    assert set(before + after) <= set(shown.stdout.split())
    assert grave(linted({"setenv.sh": fixed})) == []


@pytest.mark.parametrize(
    "text",
    [
        'java -Djava.security.edg="file:/dev/urandom" -jar a.jar',
        "java '-Djava.security.edg=file:/dev/urandom' -jar a.jar",
        'java "-Djava.security.edg"=file:/dev/urandom -jar a.jar',
        'java -jar a.jar "-Djava.security.egd=file:/dev/urandom" x',
        "java -jar a.jar -Djava.security.egd='file:/dev/urandom'",
        'java -cp "a:b" com.example.Main -Djava.security.egd=file:/dev/urandom y',
        'java -jar "my app.jar" -Djava.security.edg="file:/dev/urandom"',
    ],
)
def test_quotes_on_a_command_line_survive(text: str) -> None:
    (_, finding), *_ = findings(linted({"start.sh": text}, jdk="17"))
    words = shlex.split(corrected(finding))

    assert EXPECTED in words
    main = words.index("-jar") if "-jar" in words else words.index("com.example.Main")
    assert words.index(EXPECTED) < main
    assert sorted(w for w in words if "security" not in w) == sorted(
        w for w in shlex.split(text) if "security" not in w
    )


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(["--a=b", "x", "-y", "1"]), max_size=3))
def test_a_json_list_stays_one_with_the_same_words(after: list[str]) -> None:
    wrong = ["java", "-Xmx1g", "-jar", "/a.jar", *after, EXPECTED]
    text = f"FROM openjdk:17\nENTRYPOINT {json.dumps(wrong)}\n"
    (_, finding), *_ = findings(linted({"Dockerfile": text}))
    words = json.loads(corrected(finding).removeprefix("ENTRYPOINT "))

    assert sorted(words) == sorted(wrong)
    assert words.index(EXPECTED) < words.index("-jar")


@settings(max_examples=60, deadline=None)
@given(st.booleans(), st.lists(st.sampled_from(["--a=b", "x", "'q'"]), max_size=2))
def test_a_yaml_list_stays_one_with_the_same_words(flow: bool, after: list[str]) -> None:  # noqa: FBT001 - hypothesis and parametrize hand it over
    wrong = ["java", "-jar", "/a.jar", EXPECTED, *after]
    listed = yaml.safe_dump({"command": wrong}, default_flow_style=flow).replace("\n", "\n    ")
    if flow:
        listed = "command: " + yaml.safe_dump(wrong, default_flow_style=True, width=1000)
    text = f"services:\n  a:\n    image: openjdk:17\n    {listed}"
    (_, finding), *_ = findings(linted({"compose.yaml": text}))
    words = yaml.safe_load(mended(text, finding))["services"]["a"]["command"]

    assert sorted(words) == sorted(wrong)
    assert words.index(EXPECTED) < words.index("-jar")
