"""What a configuration file is. Apart from the settings found in one: the table of surfaces needs the names alone."""

from __future__ import annotations

from enum import StrEnum


class Format(StrEnum):
    """What a file is."""

    DOCKERFILE = "Dockerfile"
    MANIFEST = "YAML manifest"
    """Compose, Kubernetes, and any other YAML or JSON that describes containers."""
    UNIT = "systemd unit"
    ENVIRONMENT_FILE = "environment file"
    """``NAME=value`` lines that no shell reads: systemd's EnvironmentFile, ``docker run --env-file``."""
    SHELL = "shell script"
    BATCH = "Windows batch file"
    JVM_OPTIONS = "JVM options file"
    SECURITY = "java.security file"
    PROPERTIES = "properties file"
    XML = "XML build file"
    GRADLE = "Gradle build script"
    COMMAND_LINE = "command line"
    UNRECOGNISED = "unrecognised file"
