from __future__ import annotations

import pytest

from seedstall.knowledge.images import (
    image_parts,
    jdk_of_file,
    jdk_of_image,
    jdk_of_package,
    jdk_of_path,
    product_of_image,
)


def told(span: object) -> str:
    return str(span) if span is not None else ""


@pytest.mark.parametrize(
    ("image", "expected"),
    [
        ("openjdk:7", "JDK 7"),
        ("openjdk:8-jre-alpine", "JDK 8"),
        ("openjdk:1.8.0", "JDK 8"),
        ("java:openjdk-7-jre", "JDK 7"),
        ("eclipse-temurin:17.0.5_8-jre", "JDK 17"),
        ("tomcat:9-jdk11-openjdk", "JDK 11"),
        ("tomcat:8.5-jre8", "JDK 8"),
        ("maven:3-eclipse-temurin-21", "JDK 21"),
        ("registry:5000/ubi8/openjdk-11:1.3", "JDK 11"),
        ("gcr.io/distroless/java17-debian12", "JDK 17"),
        ("adoptopenjdk/openjdk11:alpine", "JDK 11"),
        ("ibm-semeru-runtimes:open-17-jdk", "JDK 17"),
        ("openjdk:17@sha256:7abc", "JDK 17"),
        ("container-registry.oracle.com/java/jdk:17", "JDK 17"),
        ("tomcat:9", ""),
        ("openjdk:latest", ""),
        ("openjdk", ""),
        ("openjdk:alpine3.17", ""),
        ("alpine:3.17", ""),
        ("node:17", ""),
        ("", ""),
    ],
)
def test_the_jdk_that_an_image_promises(image: str, expected: str) -> None:
    assert told(jdk_of_image(image)) == expected


def test_an_update_in_a_tag() -> None:
    span = jdk_of_image("openjdk:8u151-jdk")

    assert span is not None
    assert (span.oldest, span.update) == (8, 151)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/usr/lib/jvm/java-7-openjdk-amd64", "JDK 7"),
        ("/usr/java/jdk1.6.0_45", "JDK 6"),
        ("/opt/jdk8u292-b10/bin/java", "JDK 8"),
        ("/opt/jdk-17.0.2/bin/java", "JDK 17"),
        ("/usr/lib/jvm/jre-11", "JDK 11"),
        ("/usr/lib/jvm/default-java", ""),
        ("/opt/java/openjdk", ""),
    ],
)
def test_the_jdk_of_a_path(path: str, expected: str) -> None:
    assert told(jdk_of_path(path)) == expected


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("openjdk-8-jdk", "JDK 8"),
        ("java-1.8.0-openjdk-headless", "JDK 8"),
        ("openjdk17", "JDK 17"),
        ("java-17-amazon-corretto", "JDK 17"),
        ("default-jdk", ""),
        ("libopenjdk", ""),
    ],
)
def test_the_jdk_of_a_package(word: str, expected: str) -> None:
    assert told(jdk_of_package(word)) == expected


def test_where_a_file_of_the_jdk_lies() -> None:
    assert told(jdk_of_file("/opt/x/jre/lib/security/java.security")) == "JDK 1 to 8"
    assert told(jdk_of_file("/opt/x/conf/security/java.security")) == "JDK 9 and later"
    assert told(jdk_of_file("java.security")) == ""


@pytest.mark.parametrize(
    ("image", "expected"),
    [
        ("quay.io/keycloak/keycloak:24.0", "keycloak"),
        ("jboss/keycloak:16.1.1", "wildfly"),
        ("quay.io/keycloak/keycloak:15.0", "wildfly"),
        ("quay.io/wildfly/wildfly:30", "wildfly"),
        ("tomcat:9", "tomcat"),
        ("harbur/haveged", "feeder"),
        ("example/mykeycloakclient", ""),
        ("nginx", ""),
    ],
)
def test_whose_start_script_an_image_runs(image: str, expected: str) -> None:
    assert product_of_image(image) == expected


def test_an_image_with_a_port_and_a_digest() -> None:
    assert image_parts("r:5000/a/b:1@sha256:x") == ("r:5000/a/b", "1")
    assert image_parts("r:5000/a/b") == ("r:5000/a/b", "")
