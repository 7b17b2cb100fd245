"""What a file is, by its name, and where that does not say it by its content."""

from __future__ import annotations

import re

from seedstall.model.settings import Format

_NAMES: tuple[tuple[Format, tuple[str, ...]], ...] = (
    # Sourced by ZooKeeper's zkEnv.sh and by ActiveMQ's start script, whatever their names let think.
    (Format.SHELL, (r"(?:^|/)java\.env$", r"(?:^|/)bin/env$")),
    (
        Format.DOCKERFILE,
        (r"(?:^|/)(?:Docker|Container)file(?:[.-][^/]*)?$", r"\.(?:docker|container)file$"),
    ),
    (Format.MANIFEST, (r"\.(?:ya?ml|json)(?:\.(?:tpl|j2|tmpl|gotmpl))?$",)),
    (
        Format.UNIT,
        (
            r"\.(?:service|socket|timer)$",
            r"\.service\.d/[^/]+\.conf$",
            r"(?:^|/)(?:override|drop-?in)\.conf$",
        ),
    ),
    (Format.BATCH, (r"\.(?:bat|cmd)$",)),
    (
        Format.JVM_OPTIONS,
        (
            r"(?:^|/)jvm[^/]*\.(?:options|config)$",
            r"\.(?:vmoptions|options)$",
            r"\.options\.d/[^/]+$",
        ),
    ),
    (
        Format.SECURITY,
        (r"(?:^|[/.-])java\.security(?:[.-][^/]*)?$", r"\.security$", r"security\.properties$"),
    ),
    (Format.PROPERTIES, (r"\.properties$",)),
    (Format.GRADLE, (r"\.(?:gradle|gradle\.kts)$",)),
    (Format.XML, (r"\.xml$", r"\.pom$")),
    (
        Format.ENVIRONMENT_FILE,
        (
            r"(?:^|[/_-])sysconfig[/_-][^/]*$",
            r"\.sysconfig$",
            r"(?:^|/)tomcat(?:[89]|1[0-9])?\.conf$",
            r"\.env$",
            r"(?:^|/)\.?env(?:\.[^/]*)?$",
            r"(?:^|/)environment$",
        ),
    ),
    (
        Format.SHELL,
        (
            r"\.(?:sh|bash|ksh|zsh|dash)$",
            r"(?:^|/)(?:standalone|domain|appclient|run)\.conf$",
            r"(?:^|[/_-])default[/_-][^/]*$",
            r"(?:^|/)\.(?:bashrc|profile|bash_profile|activemqrc|mavenrc)$",
            r"(?:^|/)(?:profile|init)\.d/",
        ),
    ),
)
_BY_NAME = tuple((re.compile("|".join(patterns), re.IGNORECASE), form) for form, patterns in _NAMES)
_SHELL_SIGNS = re.compile(
    r"^[ \t]*(?:export[ \t]|if[ \t]|\.[ \t]|source[ \t]|case[ \t]|function[ \t]|for[ \t]|fi\b)",
    re.MULTILINE,
)
_ASSIGNMENT = re.compile(r"^[ \t]*(?:export[ \t]+)?[A-Za-z_][A-Za-z0-9_]*\+?=", re.MULTILINE)
_SECTION = re.compile(r"^\[(?:Unit|Service|Install|Socket|Timer)\][ \t]*\r?$", re.MULTILINE)
_FROM = re.compile(r"^[ \t]*(?:FROM|ARG)[ \t]+\S+", re.IGNORECASE | re.MULTILINE)
_DOCKER = re.compile(
    r"^[ \t]*(?:FROM|RUN|CMD|ENTRYPOINT|ENV|COPY)[ \t]+\S", re.IGNORECASE | re.MULTILINE
)
_SECURITY = re.compile(
    r"^[ \t]*(?:securerandom\.(?:source|strongAlgorithms|drbg\.config)|security\.provider\.[0-9]+)[ \t]*[=:]",
    re.MULTILINE,
)
_YAML = re.compile(
    r"^(?:apiVersion|kind|services|version|containers|spec|image|data|jobs|stages)[ \t]*:",
    re.MULTILINE,
)
_JAVA = re.compile(
    r"(?:^|[\s/\\\"'])(?:java|javaw|jarsigner|keytool|rngd|haveged|mvn|catalina\.sh|docker|podman)"
    r"(?:\.exe)?[\"']?(?:[ \t]|$)",
    re.MULTILINE,
)
_PROPERTY = re.compile(
    r"^[ \t]*[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z0-9_-]+)+[ \t]*[=:]", re.MULTILINE
)
HEAD = 64 * 1024
"""Characters by which the content is judged."""


def recognise(name: str, text: str) -> Format:
    """The format of a file called *name* that holds *text*."""
    path = name.replace("\\", "/")
    head = text[:HEAD]
    for suffix in (".bak", ".orig", ".old", ".dist", ".sample", ".example", ".j2", ".tpl", ".in"):
        path = path.removesuffix(suffix)
    found = next((form for pattern, form in _BY_NAME if pattern.search(path)), None)
    if found is Format.ENVIRONMENT_FILE and _SHELL_SIGNS.search(head):
        # What has shell commands in it is read by a shell (RHEL 6 and Debian source such files).
        return Format.SHELL
    if found is Format.SHELL and head.lstrip().startswith(("[Unit]", "[Service]")):
        return Format.UNIT
    if found in (Format.PROPERTIES, None) and _SECURITY.search(head):
        return Format.SECURITY
    return found or _by_content(head)


def _by_content(head: str) -> Format:  # noqa: PLR0911 - one return for each sign
    start = head.lstrip("\ufeff \t\r\n")
    if not start:
        return Format.UNRECOGNISED
    if start.startswith("#!"):
        return Format.SHELL
    if start.startswith(("<?xml", "<project", "<settings", "<!--")):
        return Format.XML
    if _SECTION.search(head):
        return Format.UNIT
    if _FROM.search(head) and len(_DOCKER.findall(head)) > 1:
        return Format.DOCKERFILE
    if _YAML.search(head) or start.startswith(("{", "---")):
        return Format.MANIFEST
    if start.lower().startswith(("@echo off", "@echo", "rem ", "set ")):
        return Format.BATCH
    return _loose(head, start)


def _loose(head: str, start: str) -> Format:
    """Formats that only the shape of their lines shows."""
    if "\n-" in "\n" + start and _all_options(head):
        return Format.JVM_OPTIONS
    if _JAVA.search(head):
        return (
            Format.SHELL
            if _ASSIGNMENT.search(head) or _SHELL_SIGNS.search(head)
            else Format.COMMAND_LINE
        )
    if _ASSIGNMENT.search(head):
        return Format.SHELL
    if _PROPERTY.search(head):
        return Format.PROPERTIES
    if re.match(r"-[A-Za-z]", start) and "\n" not in start.strip():
        return Format.JVM_OPTIONS
    return Format.UNRECOGNISED


def _all_options(head: str) -> bool:
    rows = [row.strip() for row in head.split("\n")]
    rows = [row for row in rows if row and not row.startswith("#")]
    return bool(rows) and all(re.match(r"(?:[0-9]+(?:-[0-9]*)?:)?-", row) for row in rows)
