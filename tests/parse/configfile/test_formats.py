"""Each format's own rules: what is a setting in it, where it stands, and what is none."""

from __future__ import annotations

import json
from collections.abc import Callable

import javaproperties
import pytest
import yaml
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from seedstall.model.settings import ConfigFile, Format, Reach, Setting, placed
from seedstall.parse import configfile
from seedstall.parse.configfile.properties import properties
from seedstall.parse.configfile.yamltree import Listing, Node, Scalar, Table, documents


def read(name: str, text: str) -> ConfigFile:
    return configfile.read(name, text.encode())


def variables(file: ConfigFile) -> dict[str, str]:
    return {v.name: v.value.text for v in file.variables}


def commands(file: ConfigFile) -> list[list[str]]:
    return [[w.text for w in c.words] for c in file.commands]


def options(file: ConfigFile) -> list[tuple[str, str]]:
    return [(o.word.text, str(o.reach)) for o in file.options]


# Dockerfile


def test_env_in_both_notations() -> None:
    file = read(
        "Dockerfile",
        'FROM a\nENV A=b C="d e" \\\n  F=g\\ h\nENV OLD one "two" $X\nenv lower=1\n',
    )

    assert variables(file) == {
        "A": "b", "C": "d e", "F": "g h", "OLD": "one two \ufffc", "lower": "1",
    }  # fmt: skip
    assert next(v for v in file.variables if v.name == "OLD").refs == ("X",)


def test_the_escape_directive() -> None:
    file = read("Dockerfile", "# escape=`\nFROM a\nENV A=b `\n  C=d\\\n")

    assert variables(file) == {"A": "b", "C": "d\\"}


def test_the_image_tells_the_jdk_of_its_stage() -> None:
    file = read(
        "Dockerfile",
        "ARG V=7\nFROM openjdk:${V}-jre AS base\nFROM base\nFROM --platform=x eclipse-temurin:21\n",
    )

    assert [str(s.jdk) for s in file.scopes[1:]] == ["JDK 7", "JDK 7", "JDK 21"]
    assert [s.parent for s in file.scopes[1:]] == [None, 1, None]


def test_entrypoint_and_cmd_make_one_command_and_the_last_ones_count() -> None:
    file = read(
        "Dockerfile",
        'FROM a\nCMD ["x"]\nENTRYPOINT ["java", "-jar"]\nCMD ["a.jar", "-Djava.security.egd=b:c"]\n',
    )

    assert commands(file) == [["java", "-jar", "a.jar", "-Djava.security.egd=b:c"]]
    assert file.commands[0].lists == (2,)
    assert options(file) == [("-Djava.security.egd=b:c", "the program")]


def test_a_shell_form_is_shell_text() -> None:
    file = read("Dockerfile", "FROM a\nRUN a && \\\n # no\n b c\nCMD exec java $O -jar x.jar\n")

    assert commands(file) == [["a"], ["b", "c"], ["exec", "java", "\ufffc", "-jar", "x.jar"]]
    assert [c.start for c in file.commands] == [False, False, True]


def test_here_documents_are_scripts_or_files() -> None:
    file = read(
        "Dockerfile",
        "FROM a\nRUN <<EOF\nexport A=b\nEOF\nCOPY <<'X' /etc/setenv.sh\nC=d\nX\nENV E=f\n",
    )

    assert variables(file) == {"A": "b", "C": "d", "E": "f"}


@pytest.mark.parametrize(
    ("line", "broken"),
    [
        ('["java", "-jar"]', False),
        ("[“java”, “-jar”]", True),
        ("['java', '-jar']", True),
        ('["java" "-jar"]', True),
        ('["java", "-jar",]', True),
        ('[ "$A" = "b" ]', False),
        ("[ -f /x ] && java", False),
        ("java [“x”]", False),
    ],
)
def test_what_was_meant_as_a_list_and_is_none(line: str, broken: bool) -> None:  # noqa: FBT001 - hypothesis and parametrize hand it over
    file = read("Dockerfile", f"FROM a\nCMD {line}\n")

    assert any(c.broken_list for c in file.commands) == broken


def test_an_onbuild_instruction_counts() -> None:
    assert variables(read("Dockerfile", "FROM a\nONBUILD ENV A=b\n")) == {"A": "b"}


def test_a_healthcheck_is_no_start() -> None:
    file = read("Dockerfile", "FROM a\nHEALTHCHECK --interval=3s CMD java -jar check.jar\n")

    assert [c.start for c in file.commands] == [False]


# YAML


def scalars(node: Node) -> list[Scalar]:
    if isinstance(node, Scalar):
        return [node]
    children = node.items if isinstance(node, Listing) else [n for pair in node.pairs for n in pair]
    return [s for child in children for s in scalars(child)]


def tree(text: str) -> list[Node]:
    return documents(placed(text, 0, len(text)))


VALUES = st.recursive(
    st.text(alphabet="ab -:'\"\\#é\n$", max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text("ab", min_size=1, max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(max_examples=300)
@given(VALUES, st.sampled_from([None, True, False]), st.sampled_from([None, '"', "'", "|", ">"]))
def test_scalars_are_those_of_yaml_and_stand_where_they_say(
    value: object,
    flow: bool | None,  # noqa: FBT001 - hypothesis hands it over
    style: str | None,
) -> None:
    text = yaml.safe_dump(value, default_flow_style=flow, default_style=style, allow_unicode=True)
    expected = [e.value for e in yaml.parse(text) if isinstance(e, yaml.ScalarEvent)]
    (root,) = tree(text)
    found = scalars(root)

    assert [s.value.text for s in found] == expected
    for scalar in found:
        for character, start, end in zip(
            scalar.value.text, scalar.value.starts, scalar.value.ends, strict=True
        ):
            assert 0 <= start <= end <= len(text)
            written = text[start:end]
            if scalar.exact and character not in "\n ":
                assert character in written or written.startswith("\\")


@pytest.mark.parametrize(
    "text",
    [
        "a: |\n  one\n    two\n\n  three\n",
        "a: |-\n  one\n  two\n",
        "a: |2\n    one\n",
        "a: >-\n  one\n  two\n",
        "a: >\n  one\n  two\n",
        'a: "one\\u00e9\\ttwo"\n',
        "a: 'it''s'\n",
        "a: one\n  two\n",
        'a: "one\n  two"\n',
    ],
)
def test_every_style_has_exact_places(text: str) -> None:
    (root,) = tree(text)
    key, value = scalars(root)

    assert yaml.safe_load(text)["a"] == value.value.text
    assert value.exact
    at = value.value.text.find("two")
    if at >= 0:
        start, end = value.value.place(at, at + 3)
        assert text[start:end] == "two"
    assert key.value.text == "a"


def test_anchors_are_the_nodes_they_name() -> None:
    (root,) = tree("a: &x {k: v}\nb: *x\n")

    assert isinstance(root, Table)
    assert root.get("a") is root.get("b")


def test_deep_nesting_is_refused() -> None:
    with pytest.raises(ValueError, match="nested deeper"):
        tree("[" * 100)


def test_environments_in_their_notations() -> None:
    file = read(
        "compose.yaml",
        "services:\n  a:\n    image: openjdk:8\n    environment: {A: b}\n"
        "  c:\n    image: openjdk:11\n    environment:\n      - D=e f\n      - G\n",
    )

    assert variables(file) == {"A": "b", "D": "e f"}
    assert [str(file.scopes[v.scope].jdk) for v in file.variables] == ["JDK 8", "JDK 11"]


def test_a_pod_its_annotations_and_privileges() -> None:
    file = read(
        "pod.yaml",
        "kind: Pod\nmetadata:\n  annotations: {instrumentation.opentelemetry.io/inject-java: 'true'}\n"
        "spec:\n  containers:\n"
        "    - {name: a, image: b, env: [{name: X, value: y}, {name: Z, valueFrom: {}}]}\n"
        "    - {name: c, image: d, securityContext: {privileged: true}}\n",
    )

    assert variables(file) == {"X": "y"}
    assert file.variables[0].how is Setting.KUBERNETES
    first, second = (s for s in file.scopes if s.container)
    assert first.injected.startswith("instrumentation")
    assert (first.privileged, second.privileged) == (False, True)


def test_jobs_of_ci_run_shell_text() -> None:
    file = read(
        "ci.yml",
        "jobs:\n  a:\n    steps:\n      - run: |\n          export A=b\n          java -jar x\n",
    )

    assert variables(file) == {"A": "b"}
    assert commands(file) == [["java", "-jar", "x"]]


def test_a_task_definition_in_json() -> None:
    text = json.dumps(
        {
            "containerDefinitions": [
                {
                    "name": "a",
                    "image": "openjdk:7",
                    "environment": [{"name": "A", "value": "b"}],
                    "entryPoint": ["java"],
                    "command": ["-jar", "x.jar", "-Djava.security.egd=file:/dev/urandom"],
                }
            ]
        }
    )
    file = read("task.json", text)

    assert variables(file) == {"A": "b"}
    assert options(file) == [("-Djava.security.egd=file:/dev/urandom", "the program")]


def test_a_template_is_read_by_line_and_never_clear() -> None:
    file = read(
        "values.yaml",
        "{{- if .Values.x }}\nenv:\n  JAVA_OPTS: -Djava.security.egd=file:/dev/urandom {{ .Values.o }}\n",
    )

    assert options(file) == [("-Djava.security.egd=file:/dev/urandom", "the JVM")]
    assert file.problem


# systemd


def test_a_unit() -> None:
    file = read(
        "a.service",
        '[Service]\nEnvironment=A=b "C=d e" \'F=g h\'\nEnvironment=Q="r s"\n'
        "# Environment=NO=1\n;Environment=NO=1\nEnvironmentFile=-/etc/default/a\n"
        "ExecStartPre=-/bin/true\nExecStart=@/usr/lib/jvm/java-8-openjdk/bin/java java -jar \\\n# no\n  a.jar\n",
    )

    assert variables(file) == {"A": "b", "C": "d e", "F": "g h", "Q": "r s"}
    assert commands(file)[-1] == ["/usr/lib/jvm/java-8-openjdk/bin/java", "-jar", "a.jar"]
    assert file.scopes[0].sources == ("/etc/default/a",)
    assert str(file.scopes[0].jdk) == "JDK 8"


def test_what_is_no_assignment_is_nobodys() -> None:
    file = read(
        "a.service", "[Service]\nEnvironment=A=-Xmx1g -Djava.security.egd=file:/dev/urandom\n"
    )

    assert options(file) == [("-Djava.security.egd=file:/dev/urandom", "nobody")]


# Environment files, shell, batch


def test_an_environment_file() -> None:
    file = read("etc/sysconfig/a", "# X=1\n;X=2\nA=\"b $C\"\nD='e'\nF=g \\\nh\nno\n")

    assert variables(file) == {"A": "b $C", "D": "e", "F": "g h"}
    assert file.variables[0].literal == ("C",)


def test_a_shell_script() -> None:
    file = read(
        "setenv.sh",
        "A=b\nexport C='d e' F\nG=\"${G:-h}\"\nif x; then I=j; fi\nK+=l\nM=n java -jar o\n"
        "su - u -c 'java -jar p'\nX=$(cat f)\n",
    )

    assert [(v.name, v.value.text) for v in file.variables] == [
        ("A", "b"), ("C", "d e"), ("G", "\ufffc"), ("G", "h"), ("I", "j"), ("K", "l"), ("M", "n"), ("X", "\ufffc"),
    ]  # fmt: skip
    assert [v.name for v in file.variables if v.guarded] == ["I"]
    assert ["java", "-jar", "p"] in commands(file)


def test_a_shell_script_that_is_not_understood_is_read_by_line() -> None:
    file = read(
        "setenv.sh", 'A=b\nif ((; then\nJAVA_OPTS="-Djava.security.edg=file:/dev/urandom"\n'
    )

    assert options(file) == [("-Djava.security.edg=file:/dev/urandom", "the JVM")]
    assert "line" in file.problem


def test_what_is_not_understood_and_holds_no_word_of_ours_is_no_problem() -> None:
    assert read("setenv.sh", "if ((; then\nA=b\n").problem == ""


def test_windows_line_ends_in_a_shell_script_are_part_of_the_value() -> None:
    file = read("setenv.sh", "export JAVA_OPTS=-Djava.security.egd=file:/dev/urandom\r\n")

    assert options(file) == [("-Djava.security.egd=file:/dev/urandom\r", "the JVM")]


def test_a_batch_file() -> None:
    file = read(
        "setenv.bat",
        '@echo off\r\nrem set X=1\r\n:: set X=2\r\n@set A=b %A%\r\nset "C=d e"\r\n'
        "if not defined F set F=g ^\r\n-h\r\ncall java.exe -jar x.jar\r\n",
    )

    assert variables(file) == {"A": "b \ufffc", "C": "d e", "F": "g -h"}
    assert file.scopes[0].windows
    assert file.commands[0].launcher == "java"


# JVM options, properties


def test_jvm_options_with_prefixes() -> None:
    file = read(
        "jvm.options",
        "# -Djava.security.egd=a:1\n7:-Djava.security.egd=a:2\n8-13:-Djava.security.egd=a:3\n"
        "14-:-Djava.security.egd=a:4\n  -Djava.security.egd=a:5  \n-Xmx1g -Djava.security.egd=a:6\n",
    )

    assert [(o.word.text[-5:], str(file.scopes[o.scope].jdk)) for o in file.options] == [
        ("d=a:2", "JDK 7"), ("d=a:3", "JDK 8 to 13"), ("d=a:4", "JDK 14 and later"), ("a:5  ", "None"),
        ("d=a:6", "None"),
    ]  # fmt: skip


@settings(max_examples=400)
@given(st.text(alphabet="ab=: \t\\\n\r\f#!u0041é", max_size=60))
def test_properties_are_those_of_java(text: str) -> None:
    assume("\\u" not in text)
    expected = list(javaproperties.loads(text, object_pairs_hook=list))
    found = [(p.name.text, p.value.text) for p in properties(placed(text, 0, len(text)))]

    assert found == expected


def test_unicode_escapes_in_properties() -> None:
    (found,) = properties(placed("secure\\u0072andom.source=a", 0, 27))

    assert found.name.text == "securerandom.source"
    assert found.name.place(6, 7) == (6, 12)


def test_security_entries_and_what_they_tell_of_the_jdk() -> None:
    file = read(
        "java.security",
        "security.provider.1=SUN\nsecurerandom.source=a:b\nsecurerandom.drbg.config=\n",
    )

    assert file.whole
    assert [e.name.text for e in file.entries] == ["security.provider.1", "securerandom.source"]
    assert str(file.scopes[0].jdk) == "JDK 9 and later"
    assert str(read("/opt/jre/lib/security/java.security", "a=b").scopes[0].jdk) == "JDK 1 to 8"


def test_other_properties_files() -> None:
    assert options(read("gradle.properties", "systemProp.java.security.egd=a:b\n")) == [
        ("-Djava.security.egd=a:b", "the JVM")
    ]
    assert options(
        read("sonar.properties", "sonar.web.javaOpts=-Xmx1g -Djava.security.egd=a:b\n")
    ) == [("-Djava.security.egd=a:b", "the JVM")]
    (option,) = read("application.properties", "java.security.egd=file:/dev/urandom\n").options
    assert option.reach is Reach.WRONG_FILE


# XML, Gradle, command lines


def test_xml_texts_attributes_and_comments() -> None:
    file = read(
        "build.xml",
        '<?xml version="1.0"?><project><!-- <jvmarg value="-Djava.security.egd=a:1"/> -->'
        '<java><jvmarg value="-Djava.security.egd=a:2"/><arg value="-Djava.security.egd=a:3"/></java>'
        '<sysproperty key="java.security.egd" value="a:4"/><x><![CDATA[-Djava.security.egd=a:5]]></x>'
        "<y>-Da=&lt; -Djava.security.egd=a:6</y></project>",
    )

    assert options(file) == [
        ("-Djava.security.egd=a:2", "the JVM"),
        ("-Djava.security.egd=a:3", "the program"),
        ("-Djava.security.egd=a:4", "the JVM"),
        ("-Djava.security.egd=a:5", "the JVM"),
        ("-Djava.security.egd=a:6", "the JVM"),
    ]


def test_an_open_element_is_a_problem() -> None:
    assert "never closed" in read("pom.xml", "<project><a>-Djava.security.egd=a:b").problem


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("jvmArgs '-Djava.security.egd=a:b'", 1),
        ('jvmArgs("-Xmx1g", "-Djava.security.egd=a:b")', 1),
        ('jvmArgs """-Djava.security.egd=a:b"""', 1),
        ("systemProperty 'java.security.egd', 'a:b'", 1),
        ('systemProperties["java.security.egd"] = "a:b"', 1),
        ("systemProperties = ['java.security.egd': 'a:b']", 1),
        ("// jvmArgs '-Djava.security.egd=a:b'", 0),
        ("/* jvmArgs '-Djava.security.egd=a:b' */", 0),
        ("put 'java.security.egd', 'a:b'", 0),
        ("it's = '-Djava.security.egd=a:b'\n", 0),
    ],
)
def test_gradle_literals(text: str, count: int) -> None:
    assert len(read("build.gradle", text).options) == count


@pytest.mark.parametrize(
    "text",
    [
        "java -jar a.jar -Djava.security.egd=file:/dev/urandom",
        "$ sudo -u app /usr/bin/java -jar a.jar -Djava.security.egd=file:/dev/urandom\n",
        "[root@host ~]# nohup java -jar a.jar -Djava.security.egd=file:/dev/urandom &",
        "java -Dname=O'Neil -jar a.jar -Djava.security.egd=file:/dev/urandom",
        "java -cp a:b \\\n com.example.Main \\\n -Djava.security.egd=file:/dev/urandom\n",
        r"C:\jdk\bin\java.exe -jar C:\a.jar -Djava.security.egd=file:/dev/urandom",
        "docker run --rm openjdk:8 java -jar a.jar -Djava.security.egd=file:/dev/urandom",
    ],
)
def test_a_bare_command_line(text: str) -> None:
    file = read("command.txt", text)

    assert file.format is Format.COMMAND_LINE
    assert options(file) == [("-Djava.security.egd=file:/dev/urandom", "the program")]
    assert file.problem == ""


READERS: list[tuple[str, str, Callable[[ConfigFile], bool]]] = [
    ("empty.sh", "", lambda f: f.problem == "it is empty"),
    ("unknown", "some words\nand more random words\n", lambda f: "not recognised" in f.problem),
    ("a.sh", "\0\1", lambda f: "NUL" in f.problem),
]


@pytest.mark.parametrize(("name", "text", "holds"), READERS)
def test_what_cannot_be_looked_at_says_so(
    name: str, text: str, holds: Callable[[ConfigFile], bool]
) -> None:
    assert holds(read(name, text))


def test_encodings() -> None:
    line = "CATALINA_OPTS=“-Djava.security.egd=file:/dev/urandom”\n"

    for data in (
        line.encode(),
        b"\xef\xbb\xbf" + line.encode(),
        line.encode("utf-16"),
        line.encode("cp1252"),
    ):
        assert len(configfile.read("setenv.sh", data).options) == 1


def test_a_file_too_long_is_not_read() -> None:
    assert "longer" in configfile.read("a.sh", b"#" * (configfile.MAX_BYTES + 1)).problem
