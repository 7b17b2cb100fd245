"""Fixed Dockerfiles and manifests, looked at by linters of their own: hadolint and the API's schema."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml
from tests.engine.held import HeldFacts

from seedstall.remedy.registry import answer
from seedstall.remedy.request import GivenFile, Request
from seedstall.source.base import Held

HADOLINT = Path(sys.executable).with_name("hadolint")
DOCKERFILES = {
    "exec form": b'FROM eclipse-temurin:17\nCMD ["java", "-jar", "x.jar"]\n',
    "shell form": b"FROM eclipse-temurin:17\nCMD exec java $JAVA_OPTS -jar x.jar\n",
    "a variable": b'FROM eclipse-temurin:8\nENV JAVA_TOOL_OPTIONS="-Xmx1g"\nENTRYPOINT ["/run.sh"]\n',
    "two stages": b"FROM maven:3 AS build\nRUN mvn -q package\nFROM eclipse-temurin:21\nCOPY --from=build /t/x.jar /\n"
    b'ENTRYPOINT ["java", "-Xmx1g", \\\n  "-jar", "/x.jar"]\n',
}
POD = """\
spec:
  containers:
  - name: app
    image: eclipse-temurin:17
"""
MANIFESTS = {
    "Pod": f"apiVersion: v1\nkind: Pod\nmetadata: {{name: web}}\n{POD}",
    "with env": "apiVersion: v1\nkind: Pod\nmetadata: {name: web}\n"
    f"{POD}    env:\n    - name: JAVA_TOOL_OPTIONS\n      value: -Xmx1g\n",
    "Deployment": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec:\n"
    "  selector: {matchLabels: {app: web}}\n  template:\n    metadata: {labels: {app: web}}\n"
    + "".join(f"    {line}\n" for line in POD.splitlines()),
    "CronJob": "apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: web}\nspec:\n  schedule: '0 3 * * *'\n"
    "  jobTemplate:\n    spec:\n      template:\n"
    + "".join(f"        {line}\n" for line in POD.splitlines())
    + "          restartPolicy: Never\n",
}


def fixed(surface: str, name: str, old: bytes) -> bytes:
    given = GivenFile(f"/srv/{name}", old, name)
    found = answer(surface, Request(HeldFacts(), Held({}), "x", None, force=True, given=given))
    assert found.write is not None
    return found.write.content


def findings(content: bytes) -> list[tuple[str, str]]:
    done = subprocess.run(
        [HADOLINT, "--no-fail", "--format", "json", "-"],
        input=content,
        capture_output=True,
        check=True,
    )
    return sorted((row["code"], row["level"]) for row in json.loads(done.stdout))


@pytest.mark.parametrize("old", DOCKERFILES.values(), ids=list(DOCKERFILES))
def test_hadolint_finds_nothing_that_it_did_not_find_before(old: bytes) -> None:
    new = fixed("docker", "Dockerfile", old)

    assert new != old
    assert findings(new) == findings(old)


def test_hadolint_would_find_a_broken_one() -> None:
    assert findings(b"FROM eclipse-temurin:17\nENVX a=b\n") != findings(
        b"FROM eclipse-temurin:17\n"
    )


@pytest.mark.parametrize("manifest", MANIFESTS.values(), ids=list(MANIFESTS))
def test_a_manifest_is_valid_as_the_api_reads_it(manifest: str) -> None:
    old: Any = yaml.safe_load(manifest)
    kubernetes_validate.validate(old, "1.31", strict=True)

    new = yaml.safe_load(fixed("kubernetes", "web.yaml", manifest.encode()))

    assert new != old
    kubernetes_validate.validate(new, "1.31", strict=True)


def test_the_schema_would_refuse_a_broken_one() -> None:
    broken = yaml.safe_load(MANIFESTS["Pod"])
    broken["spec"]["containers"][0]["env"] = {"JAVA_TOOL_OPTIONS": "-Xmx1g"}

    with pytest.raises(kubernetes_validate.ValidationError):
        kubernetes_validate.validate(broken, "1.31", strict=True)
