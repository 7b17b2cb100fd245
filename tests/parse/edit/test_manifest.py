from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from tests.lint_by_hand import lint_text
from tests.parse.edit.editing import RIGHT, VALUE, changed, edited

from seedstall.parse.edit import manifest
from seedstall.parse.edit.change import NoPlaceError
from seedstall.parse.edit.options import Edit

MARKS = ("JAVA_TOOL", "-X", "env", 'value: ""')
"""Of the lines that an edit may change."""
WRONG = "-Djava.security.egd=file:/dev/random"


def editor(data: bytes) -> Edit:
    return manifest.set_egd(data, VALUE)


def deployment(container: str, more: str = "") -> str:
    """A deployment whose first container, of two, has these lines."""
    rows = "".join(f"        {row}\n" if row else "\n" for row in container.split("\n"))
    return f"""# ours
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web}}
spec:
  template:
    spec:
      initContainers:
      - {{name: init, image: "busybox"}}
      containers:
      - name: app   # main
        image: eclipse-temurin:17
{rows}      - name: sidecar
        image: envoy
{more}"""


def environment(text: bytes) -> dict[str, Any]:
    """The variables of the first container, as Kubernetes reads them."""
    document = next(iter(yaml.safe_load_all(text)))
    containers = document["spec"]["template"]["spec"]["containers"]
    assert containers[1] == {"name": "sidecar", "image": "envoy"}
    return {e["name"]: e.get("value") for e in containers[0].get("env") or []}


@pytest.mark.parametrize(
    ("container", "value"),
    [
        ("ports: []", RIGHT),
        ("env: []", RIGHT),
        ("env:", RIGHT),
        ("env: [{name: A, value: b}]", RIGHT),
        ("env: [{name: A, value: b}, ]", RIGHT),
        ("env:\n# first\n- name: A\n  value: b   # tail\n\n# next\nports: []", RIGHT),
        ("env:\n  - name: A\n    value: b", RIGHT),
        ("env:\n-   name: A\n    value: |\n      x\n      y\nports: []", RIGHT),
        ("env: [{name: JAVA_TOOL_OPTIONS, value: -Xa}]", f"-Xa {RIGHT}"),
        ("env:\n- name: JAVA_TOOL_OPTIONS\n  value: -Xa", f"-Xa {RIGHT}"),
        ("env:\n- name: JAVA_TOOL_OPTIONS\n  value: '-Xa'   # x", f"-Xa {RIGHT}"),
        ('env:\n- value: "-Xa"\n  name: JAVA_TOOL_OPTIONS', f"-Xa {RIGHT}"),
        ('env:\n- name: JAVA_TOOL_OPTIONS\n  value: ""', RIGHT),
        (
            "env:\n- name: JAVA_TOOL_OPTIONS\n  value: >-\n    -Xa\n    -Xb\nports: []",
            f"-Xa -Xb {RIGHT}",
        ),
        ("env:\n- name: JAVA_TOOL_OPTIONS\n  value: |\n    -Xa\n    -Xb", f"-Xa\n-Xb {RIGHT}\n"),
        (f"env:\n- name: JAVA_TOOL_OPTIONS\n  value: -Xa {WRONG}", f"-Xa {RIGHT}"),
    ],
)
def test_a_container_of_a_pod(container: str, value: str) -> None:
    text = deployment(container)
    after = edited(editor, text).content
    assert environment(after)["JAVA_TOOL_OPTIONS"] == value
    others = {k: v for k, v in environment(text.encode()).items() if k != "JAVA_TOOL_OPTIONS"}
    assert others.items() <= environment(after).items()
    kept = [row for row in text.split("\n") if not any(mark in row for mark in MARKS)]
    assert all(row in after.decode().split("\n") for row in kept)
    assert lint_text("web.yaml", after) == []


def test_the_same_in_json() -> None:
    text = json.dumps(yaml.safe_load(deployment("env: [{name: A, value: b}]")), indent=2)
    after = edited(editor, text).content
    assert json.loads(after) == yaml.safe_load(after)
    assert environment(after) == {"A": "b", "JAVA_TOOL_OPTIONS": RIGHT}
    assert len(changed(editor, text)) == 3


REF = "env:\n- name: JAVA_TOOL_OPTIONS\n  valueFrom: {configMapKeyRef: {name: cm, key: JAVA_TOOL_OPTIONS}}\n"
MAP = "---\nkind: ConfigMap\nmetadata: {name: cm}\ndata:\n  JAVA_TOOL_OPTIONS: -Xa\n"


def test_a_value_from_elsewhere_is_kept() -> None:
    with pytest.raises(
        NoPlaceError, match="comes from configMapKeyRef cm: what it holds is not in this file"
    ):
        editor(deployment(REF).encode())
    for command, row in (
        (
            'command: ["java", "-jar", "x.jar"]',
            f'        command: ["java", "{RIGHT}", "-jar", "x.jar"]',
        ),
        ("command:\n  - java\n  - -jar\n  - x.jar", f"          - {RIGHT}"),
        ("command:\n- java\nargs:\n- -jar\n- x.jar", f"        - {RIGHT}"),
    ):
        found = edited(editor, deployment(REF + command))
        assert f"+{row}" in changed(editor, deployment(REF + command))
        assert "comes from configMapKeyRef cm" in found.notes[0]
        assert environment(found.content) == {"JAVA_TOOL_OPTIONS": None}


@pytest.mark.parametrize("container", [REF, "envFrom:\n- configMapRef: {name: cm}"])
def test_a_config_map_of_the_same_file(container: str) -> None:
    text = deployment(container, MAP)
    assert changed(editor, text) == [
        "-  JAVA_TOOL_OPTIONS: -Xa",
        f"+  JAVA_TOOL_OPTIONS: -Xa {RIGHT}",
    ]
    assert lint_text("web.yaml", edited(editor, text).content) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (deployment("envFrom:\n- secretRef: {name: s}"), "envFrom may bring JAVA_TOOL_OPTIONS too"),
        (deployment("ports: []"), "if the image itself sets JAVA_TOOL_OPTIONS"),
        (
            deployment("ports: []").replace(
                "    spec:\n      init",
                "    metadata:\n      annotations:\n        instrumentation.opentelemetry.io/inject-java: 'true'\n"
                "    spec:\n      init",
            ),
            "an injector (instrumentation.opentelemetry.io/inject-java) adds options of its own",
        ),
        ("services:\n  a:\n    image: tomcat\n    env_file: x.env\n", "env_file may bring"),
    ],
)
def test_what_cannot_be_seen_is_said(text: str, said: str) -> None:
    assert any(said in note for note in edited(editor, text).notes)


@pytest.mark.parametrize(
    ("service", "value"),
    [
        ("image: tomcat:9", RIGHT),
        ("image: tomcat:9\nenvironment: {}", RIGHT),
        ("image: tomcat:9\nenvironment:\n  A: b", RIGHT),
        ('image: tomcat:9\nenvironment:\n  - A=b\n  - "C=d"', RIGHT),
        ("image: tomcat:9\nenvironment:\n- JAVA_TOOL_OPTIONS=-Xa", f"-Xa {RIGHT}"),
        ("image: tomcat:9\nenvironment: {JAVA_TOOL_OPTIONS: -Xa, B: c}", f"-Xa {RIGHT}"),
        # Handed on from the caller's shell: kept by Compose's own interpolation.
        ("image: tomcat:9\nenvironment:\n- JAVA_TOOL_OPTIONS", f"${{JAVA_TOOL_OPTIONS:-}} {RIGHT}"),
        (
            "image: tomcat:9\nenvironment:\n  JAVA_TOOL_OPTIONS:\n  B: c",
            f"${{JAVA_TOOL_OPTIONS:-}} {RIGHT}",
        ),
    ],
)
def test_a_service_of_compose(service: str, value: str) -> None:
    rows = "".join(f"    {row}\n" for row in service.split("\n"))
    text = f"services:\n  web:\n{rows}  db:\n    image: postgres\n"
    after = edited(editor, text).content
    read = yaml.safe_load(after)["services"]
    assert read["db"] == {"image": "postgres"}
    held = read["web"]["environment"]
    found = held if isinstance(held, dict) else dict(e.partition("=")[::2] for e in held)
    assert found["JAVA_TOOL_OPTIONS"] == value
    assert lint_text("compose.yaml", after) == []


def test_what_an_anchor_brings() -> None:
    merged = (
        "x: &e\n  JAVA_TOOL_OPTIONS: -Xa\n"
        "services:\n  a:\n    image: tomcat\n    environment:\n      <<: *e\n      C: d\n"
    )
    after = yaml.safe_load(edited(editor, merged).content)
    assert after["services"]["a"]["environment"] == {"JAVA_TOOL_OPTIONS": f"-Xa {RIGHT}", "C": "d"}
    for text in (
        "x: &e\n  A: b\nservices:\n  a:\n    image: tomcat\n    environment: *e\n",
        "x: &e\n  environment: {A: b}\nservices:\n  a:\n    <<: *e\n    image: tomcat\n",
    ):
        with pytest.raises(NoPlaceError, match="anchor"):
            editor(text.encode())


def test_which_container_is_meant() -> None:
    both = "services:\n  a: {image: foo}\n  b: {image: bar}\n"
    with pytest.raises(NoPlaceError, match="which container runs java is not told: there are a, b"):
        editor(both.encode())
    one = yaml.safe_load(manifest.set_egd(both.encode(), VALUE, container="b").content)["services"]
    assert one == {
        "a": {"image": "foo"},
        "b": {"image": "bar", "environment": {"JAVA_TOOL_OPTIONS": RIGHT}},
    }
    with pytest.raises(NoPlaceError, match="no container or service is called 'c': there are a, b"):
        manifest.set_egd(both.encode(), VALUE, container="c")
    java = "services:\n  a: {image: openjdk:8}\n  b: {image: kafka}\n  c: {image: redis}\n"
    found = yaml.safe_load(edited(editor, java).content)["services"]
    assert [name for name, service in found.items() if "environment" in service] == ["a", "b"]


def test_ours_is_the_variable_that_the_image_reads() -> None:
    text = "services:\n  es:\n    image: elasticsearch:8.1\n"
    found = yaml.safe_load(edited(editor, text).content)["services"]["es"]["environment"]
    assert found == {"ES_JAVA_OPTS": RIGHT}


@pytest.mark.parametrize("text", ["", "a: b\n", "{{ if }}\n", "services: {}\n", "[", "- - a\n"])
def test_what_cannot_be_edited_safely(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        editor(text.encode())


def test_a_strategic_merge_patch() -> None:
    (one,) = manifest.strategic(
        deployment("env: [{name: JAVA_TOOL_OPTIONS, value: -Xa}]").encode(), VALUE
    )
    assert (one.kind, one.name) == ("Deployment", "web")
    assert one.path == ("spec", "template", "spec", "containers")
    assert one.values == (("app", "JAVA_TOOL_OPTIONS", f"-Xa {RIGHT}"),)
    assert manifest.strategic(edited(editor, deployment("ports: []")).content, VALUE) == ()
    with pytest.raises(NoPlaceError, match="no patch of variables reaches that"):
        manifest.strategic(deployment(REF + 'command: ["java", "-jar", "x"]').encode(), VALUE)


@pytest.mark.parametrize(
    ("text", "oldest"),
    [(deployment("ports: []"), 17), ("services:\n  a:\n    image: tomcat\n", None)],
)
def test_the_jdk_of_the_image(text: str, oldest: int | None) -> None:
    span = manifest.jdk_span(text.encode())
    assert (span.oldest if span is not None else None) == oldest


OWN_SEARCH = "services:\n  es:\n    image: registry.local/search:7\n    environment: {ES_JAVA_OPTS: -Xmx1g}\n"
OPERATED = """apiVersion: elasticsearch.k8s.elastic.co/v1
kind: Elasticsearch
spec: {nodeSets: [{podTemplate: {spec: {containers: [{name: elasticsearch, env: [{name: A, value: b}]}]}}}]}
"""


@pytest.mark.parametrize("text", [OWN_SEARCH, OPERATED])
def test_an_image_that_does_not_tell_is_known_by_what_is_around_it(text: str) -> None:
    """A start script that unsets JAVA_TOOL_OPTIONS takes its own variable, whatever the image is called."""
    done = edited(editor, text).content.decode()
    assert "JAVA_TOOL_OPTIONS" not in done
    (tree,) = yaml.safe_load_all(done)
    assert f"{RIGHT}'" in str(tree)
    assert "ES_JAVA_OPTS" in str(tree)


@pytest.mark.parametrize(
    "image",
    ["danielqsj/kafka-exporter", "prom/elasticsearch-exporter:v1", "strimzi/kafka-operator"],
)
def test_what_watches_over_a_server_of_java_is_none(image: str) -> None:
    text = f"services:\n  a:\n    image: confluentinc/cp-kafka:7\n  b:\n    image: {image}\n"
    tree = yaml.safe_load(edited(editor, text).content)["services"]
    assert (tree["a"]["environment"], tree["b"]) == ({"JAVA_TOOL_OPTIONS": RIGHT}, {"image": image})


@pytest.mark.parametrize(("word", "there"), [("$(JAVA_OPTS)", True), ("$JAVA_OPTS", False)])
def test_without_a_shell_only_what_kubernetes_expands_reaches_the_jvm(
    word: str, *, there: bool
) -> None:
    rows = f'env: [{{name: JAVA_OPTS, value: "{RIGHT}"}}]\ncommand: ["java", "{word}", "-jar", "x"]'
    text = deployment(rows).encode()
    assert (editor(text).content == text) is there
    assert (b"JAVA_TOOL_OPTIONS" in editor(text).content) is not there
