"""Which module answers for which surface."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module

from seedstall.engine.need import unseen
from seedstall.knowledge.surfaces import ADVICE
from seedstall.model.errors import UsageError
from seedstall.remedy.place import Place
from seedstall.remedy.request import Answer, Request

MODULES: dict[str, str] = {
    "java-opts": "command",
    "jarsigner": "command",
    "tomcat-setenv": "tomcat",
    "debian-tomcat": "distribution",
    "rhel-tomcat": "distribution",
    "systemd": "service",
    "java-security": "security",
    "security-properties": "security",
    "docker": "container",
    "compose": "container",
    "kubernetes": "container",
    "kubernetes-patch": "container",
    "helm": "container",
    "maven": "build",
    "jvm-config": "build",
    "gradle": "build",
    "ant": "build",
    **dict.fromkeys(
        (
            "wildfly",
            "weblogic",
            "liberty",
            "jetty",
            "debian-jetty",
            "kafka",
            "zookeeper",
            "cassandra",
            "elasticsearch",
            "activemq",
            "jenkins",
            "jenkins-agent",
            "keycloak",
            "nexus",
            "sonarqube",
            "tomcat-manager",
        ),
        "product",
    ),
    "strong-algorithms": "security",
    **dict.fromkeys(
        (
            "rngd",
            "haveged",
            "jitterentropy",
            "virtio-libvirt",
            "virtio-qemu",
            "virtio-proxmox",
            "virtio-firecracker",
            "kernel-update",
        ),
        "host",
    ),
    **dict.fromkeys(ADVICE, "advice"),
}
"""Imported when asked for. A module holds ``ANSWERS`` and, for what ``--apply`` writes, ``PLACES``, by surface."""

NOTHING_READ = "what was said"
"""The target's name where no evidence was handed over: then a file is edited because its user wants it so."""

Answering = Callable[[Request], Answer]
Placing = Callable[[Request], Place]


def answering(surface: str) -> Answering:
    """What gives the answer of *surface*."""
    found: Answering = import_module(f"seedstall.remedy.{MODULES[surface]}").ANSWERS[surface]
    return found


def answer(surface: str, request: Request) -> Answer:
    """What *surface* gives for *request*.

    Raises:
        UsageError: the surface does not fit the target.
        SeedstallError: what is needed could not be read, or a file cannot be edited safely.
    """
    found = answering(surface)(request)
    if not found.output:
        return found
    if request.given is not None and request.target == NOTHING_READ:
        return found
    note = unseen(request.case, request.target, live=request.pid is not None)
    return replace(found, notes=(note, *found.notes)) if note else found


def place(surface: str, request: Request) -> Place:
    """The file that ``--apply`` writes for *surface*, for ``--undo``.

    Raises:
        UsageError: it writes none, or does not fit the target.
        SeedstallError: it could not be looked at.
    """
    placing = places(surface).get(surface)
    if placing is None:
        raise UsageError(
            f"--surface {surface} is printed, never written: there is nothing to take back"
        )
    return placing(request)


def places(surface: str) -> dict[str, Placing]:
    """What finds the file of each surface of that one's module."""
    module = import_module(f"seedstall.remedy.{MODULES[surface]}")
    found: dict[str, Placing] = getattr(module, "PLACES", {})
    return found
