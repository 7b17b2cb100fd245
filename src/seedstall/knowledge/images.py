"""What an image's name or a path tells: which JDK is in it, and whose start script.

Names as their publishers give them on Docker Hub, quay.io, gcr.io and Red Hat's registry (2015 to 2026). A name that
says nothing gives nothing: ``tomcat:9`` has had several JDKs.
"""

from __future__ import annotations

import re

from seedstall.model.jdk import LAST_ONE_DOT
from seedstall.model.settings import JdkSpan

_JAVA_NAMES = frozenset(
    [
        "openjdk",
        "java",
        "jdk",
        "jre",
        "eclipse-temurin",
        "temurin",
        "amazoncorretto",
        "corretto",
        "ibm-semeru-runtimes",
        "semeru",
        "sapmachine",
        "zulu-openjdk",
        "zulu-openjdk-alpine",
        "zulu-openjdk-debian",
        "zulu-openjdk-centos",
        "adoptopenjdk",
        "ibmjava",
        "graalvm-ce",
        "liberica-openjdk-alpine",
        "liberica-openjdk-debian",
        "liberica-runtime-container",
        "microsoft-openjdk",
        "dragonwell",
        "graalvm-community",
        "jdk-community",
        "alpine-java",
        "alpine-oraclejdk8",
    ]
)
"""Images whose tag is the JDK's version."""
_FEATURE = r"(1\.[5-8]|[5-9]|1[0-9]|2[0-9])"
_TAG = re.compile(rf"(?<![0-9.a-z]){_FEATURE}(?:(?:\.0)?[._]|u([0-9]{{1,3}})|(?![0-9.]))")
_WORD = re.compile(
    rf"(?:openjdk|open|java|jdk|jre|temurin|corretto|zulu|semeru|liberica|jvm)[-_]?{_FEATURE}(?:u([0-9]{{1,3}}))?(?![0-9])",
    re.IGNORECASE,
)
_PATH = re.compile(
    rf"(?:openjdk|java|jdk|jre|temurin|corretto|zulu|semeru|liberica|graalvm)[-_]?(?:ce-java|jdk-|hotspot-)?{_FEATURE}"
    r"(?:u([0-9]{1,3})|\.0_([0-9]{1,3}))?(?![0-9])",
    re.IGNORECASE,
)
_PACKAGE = re.compile(
    rf"(?:openjdk|temurin|zulu|msopenjdk|bellsoft-java|java)-?{_FEATURE}(?:\.0)?(?:-(?:jdk|jre|openjdk|amazon)[a-z-]*)?(?![0-9.])"
)
MAX_NAME = 512

_PRODUCTS = (
    ("keycloak", re.compile(r"(?:^|/)keycloak(?:-x)?$|rhbk|sso-keycloak")),
    ("wildfly", re.compile(r"(?:^|/)wildfly|jboss-eap|eap[0-9]{1,2}-|(?:^|/)jboss$")),
    ("tomcat", re.compile(r"(?:^|/)tomcat")),
    ("feeder", re.compile(r"(?:^|/)(?:haveged|rng-?tools|rngd|jitterentropy)")),
)
_OLD_KEYCLOAK = 17
"""The release with which the Quarkus distribution and kc.sh became the default (Keycloak 17, February 2022)."""


def image_parts(image: str) -> tuple[str, str]:
    """An image's repository and tag: ``registry:5000/a/b:1@sha256:...`` gives ``registry:5000/a/b`` and ``1``."""
    name = image[:MAX_NAME].partition("@")[0]
    head, colon, tag = name.rpartition(":")
    if not colon or "/" in tag:
        return name, ""
    return head, tag


def jdk_of_image(image: str) -> JdkSpan | None:
    """The JDK that an image's name promises; ``None`` where it names none."""
    repository, tag = image_parts(image.lower())
    last = repository.rpartition("/")[2]
    if last in _JAVA_NAMES and (found := _span(_TAG.search(tag), image)):
        return found
    return _span(_WORD.search(tag), image) or _span(_WORD.search(last), image)


def product_of_image(image: str) -> str:
    """Whose start script an image runs (``keycloak``, ``wildfly``, ``tomcat``, ``feeder``), ``""`` if not known."""
    repository, tag = image_parts(image.lower())
    found = next((key for key, pattern in _PRODUCTS if pattern.search(repository)), "")
    if found == "keycloak":
        release = re.match(r"([0-9]{1,2})(?![0-9])", tag)
        if repository.startswith("jboss/") or (release and int(release[1]) < _OLD_KEYCLOAK):
            return "wildfly"
    return found


def jdk_of_path(path: str) -> JdkSpan | None:
    """The JDK whose home a path is, or is below: ``/usr/lib/jvm/java-7-openjdk-amd64/bin/java``."""
    return _span(_PATH.search(path[:MAX_NAME]), path[:MAX_NAME])


def jdk_of_package(word: str) -> JdkSpan | None:
    """The JDK that a distribution's package holds: ``openjdk-8-jdk``, ``java-1.8.0-openjdk``, ``openjdk17``."""
    return _span(_PACKAGE.match(word[:MAX_NAME].lower()), word[:MAX_NAME])


def jdk_of_file(path: str) -> JdkSpan | None:
    """The JDKs that keep their ``java.security`` at such a path."""
    found = jdk_of_path(path)
    if found is not None:
        return found
    if "jre/lib/security" in path:
        return JdkSpan(1, LAST_ONE_DOT, path)
    return JdkSpan(LAST_ONE_DOT + 1, None, path) if "conf/security" in path else None


def _span(match: re.Match[str] | None, told_by: str) -> JdkSpan | None:
    if match is None:
        return None
    feature = int(match[1].removeprefix("1."))
    updates = [group for group in match.groups()[1:] if group]
    return JdkSpan(feature, feature, told_by, int(updates[0]) if updates else None)
