from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from tests.engine.held import HeldFacts
from tests.facts_by_hand import JDK17, POOL
from tests.lint_by_hand import lint_text
from tests.machine import Seedstall
from tests.remedy.patching import applied

from seedstall.model.errors import SeedstallError, UsageError
from seedstall.model.jvm import Container, Environment, Launch, Product
from seedstall.remedy.registry import answer, place
from seedstall.remedy.request import Answer, GivenFile, Request
from seedstall.source.base import Held

RIGHT = "-Djava.security.egd=file:/dev/urandom"
DOCKERFILE = b'FROM eclipse-temurin:17\nCMD ["java", "-jar", "x.jar"]\n'
COMPOSE = b"services:\n  web:\n    image: openjdk:8   # ours\n"
MANIFEST = b"""kind: Deployment
metadata: {name: web}
spec:
  template:
    spec:
      containers:
      - name: app
        image: openjdk:7
        env:
        - name: JAVA_TOOL_OPTIONS
          value: -Xmx1g
"""
VALUES = b"extraEnvVars: []\n"
FILES = {
    "docker": ("Dockerfile", DOCKERFILE),
    "compose": ("compose.yaml", COMPOSE),
    "kubernetes": ("web.yaml", MANIFEST),
    "helm": ("values.yaml", VALUES),
}


def asked(
    surface: str,
    *facts: object,
    file: tuple[str, bytes] | None = None,
    container: str = "",
    pid: int | None = None,
    force: bool = True,
) -> Answer:
    given = GivenFile(f"/srv/{file[0]}", file[1], file[0]) if file is not None else None
    request = Request(
        HeldFacts(*facts), Held({}), "x", pid, force=force, given=given, container=container
    )
    return answer(surface, request)


@pytest.mark.parametrize("surface", FILES)
def test_a_patch_of_the_file_that_was_named(surface: str, tmp_path: Path) -> None:
    name, old = FILES[surface]
    found = asked(surface, file=(name, old))
    assert found.write is not None
    assert (found.write.path, found.write.host) == (f"/srv/{name}", True)
    new = found.write.content
    applied(found.output, name, old, tmp_path, new)
    again = asked(surface, file=(name, new))
    assert again.output == b""
    assert "already (line" in again.reason
    assert not [row for row in lint_text(name, new) if row[2] != "note"]
    request = Request(HeldFacts(), Held({}), "x", None, given=GivenFile(f"/srv/{name}", old, name))
    assert place(surface, request).content == old


@pytest.mark.parametrize(
    ("surface", "value"),
    [
        ("docker", "file:/dev/urandom"),
        ("compose", "file:/dev/urandom"),
        ("kubernetes", "file:/dev/./urandom"),
        ("helm", "file:/dev/./urandom"),
    ],
)
def test_the_value_is_for_the_jdk_of_the_image(surface: str, value: str) -> None:
    found = asked(surface, file=FILES[surface])
    assert found.write is not None
    assert f"-Djava.security.egd={value}".encode() in found.write.content
    unknown = any("which JDK it is, is not known" in note for note in found.notes)
    assert unknown == (surface == "helm")
    told = asked(surface, JDK17, file=FILES[surface])
    assert told.write is not None
    assert RIGHT.encode() in told.write.content


def test_a_strategic_merge_patch_of_the_manifest() -> None:
    found = asked("kubernetes-patch", JDK17, file=("web.yaml", MANIFEST))
    head, _, body = found.output.decode().partition("\n")
    assert head == "# kubectl patch deployment web --type strategic --patch-file THIS_FILE"
    containers = yaml.safe_load(body)["spec"]["template"]["spec"]["containers"]
    env = [{"name": "JAVA_TOOL_OPTIONS", "value": f"-Xmx1g {RIGHT}"}]
    assert containers == [{"name": "app", "env": env}]
    assert found.write is None
    pod = MANIFEST.replace(b"Deployment", b"Pod").replace(b"  template:\n    spec:\n", b"")
    pod = pod.replace(b"spec:\n      cont", b"spec:\n      cont")
    notes = asked("kubernetes-patch", JDK17, file=("pod.yaml", pod)).notes
    assert any("cannot be changed: delete it" in note for note in notes)
    with pytest.raises(SeedstallError, match="names no kind"):
        asked("kubernetes-patch", file=("c.yaml", COMPOSE))


def test_one_container_of_several() -> None:
    both = b"services:\n  a: {image: openjdk}\n  b: {image: kafka}\n"
    found = asked("compose", JDK17, file=("compose.yaml", both), container="b")
    assert found.write is not None
    assert b"a: {image: openjdk}" in found.write.content
    with pytest.raises(SeedstallError, match="no container or service is called 'z'") as caught:
        asked("compose", file=("compose.yaml", both), container="z")
    assert "by hand: " in (caught.value.hint or "")


@pytest.mark.parametrize("surface", ["docker", "compose", "kubernetes", "kubernetes-patch", "helm"])
def test_what_the_process_has_is_kept(surface: str) -> None:
    held = Environment(
        {"JAVA_TOOL_OPTIONS": "-javaagent:/otel.jar -Djava.security.egd=file:/dev/random"}
    )
    found = asked(surface, JDK17, POOL, held, Launch("java"), Container(inside=True), pid=4711)
    text = found.output.decode()
    assert f"-javaagent:/otel.jar {RIGHT}" in text
    assert "/dev/random" not in text
    assert any("has a JAVA_TOOL_OPTIONS already" in note for note in found.notes)
    if surface != "docker":
        assert yaml.safe_load(text) is not None


def test_a_script_that_ignores_the_usual_variable() -> None:
    es = Product("elasticsearch", "Elasticsearch")
    held = Environment({"ES_JAVA_OPTS": "-Xmx1g"})
    for surface in ("docker", "compose", "kubernetes", "kubernetes-patch", "helm"):
        text = asked(surface, JDK17, es, held, pid=4711).output.decode()
        assert "JAVA_TOOL_OPTIONS" not in text
        assert "ES_JAVA_OPTS" in text
        assert f"-Xmx1g {RIGHT}" in text


def test_what_cannot_be_seen_is_said() -> None:
    found = asked("kubernetes", JDK17)
    assert any("could not be seen" in note for note in found.notes)
    bare = asked("docker", JDK17, Environment({}), Container(inside=False), pid=4711)
    assert any("runs in no container" in note for note in bare.notes)
    with pytest.raises(UsageError, match="a program of the JDK: jarsigner"):
        asked("docker", Launch("jarsigner", tool="jarsigner"), pid=4711)
    with pytest.raises(UsageError):
        place("docker", Request(HeldFacts(), Held({}), "x", None))


def test_the_command_line(tmp_path: Path, seedstall: Seedstall) -> None:
    file = tmp_path / "compose.yaml"
    both = b"services:\n  a: {image: openjdk}\n  b: {image: openjdk}\n"
    file.write_bytes(both)
    done = seedstall("fix", file, "--container", "b", "--jdk", "17", "--apply")
    assert done.returncode == 0, done.stderr
    services = yaml.safe_load(file.read_bytes())["services"]
    assert services["a"] == {"image": "openjdk"}
    assert services["b"]["environment"] == {"JAVA_TOOL_OPTIONS": RIGHT}
    assert "docker compose up -d" in done.stderr
    assert seedstall("fix", file, "--undo").returncode == 0
    assert file.read_bytes() == both


POD = b"""apiVersion: v1
kind: Pod
spec:
  containers:
  - name: app
    image: openjdk:17
    env:
    - name: JAVA_TOOL_OPTIONS
      value: "$(JAVA_TOOL_OPTIONS) -Xmx1g"
"""


@pytest.mark.parametrize(
    ("surface", "name", "data", "word"),
    [
        ("kubernetes", "pod.yaml", POD, "the JVM does not start"),
        (
            "docker",
            "Dockerfile",
            b'FROM openjdk:17\nCMD ["java", "$JAVA_OPTS", "-jar", "x"]\n',
            "main class",
        ),
    ],
)
def test_what_still_keeps_the_jvm_from_starting_is_said(
    surface: str, name: str, data: bytes, word: str
) -> None:
    """Also of a file whose setting is in place already."""
    found = asked(surface, file=(name, data))
    assert [n for n in found.notes if n.startswith("SS212, line ") and word in n]
    assert found.write is not None
    again = asked(surface, file=(name, found.write.content))
    assert "already" in again.reason
    assert [n for n in again.notes if n.startswith("SS212, line ")]
