"""Which reader takes which format, and texts that are files inside other files (here-documents, ConfigMaps)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from seedstall.knowledge.images import jdk_of_file
from seedstall.model.settings import Format, Placed, Setting
from seedstall.parse.configfile.gather import Gathering
from seedstall.parse.configfile.recognise import recognise

Reader: TypeAlias = Callable[[Gathering, Placed, int], None]


def reader(form: Format) -> Reader:
    """The reader of a format. Imported when it is asked for."""
    from seedstall.parse.configfile import (  # noqa: PLC0415 - each run needs one or two of them
        batch,
        commandline,
        dockerfile,
        environmentfile,
        gradle,
        jvmoptions,
        manifest,
        properties,
        unit,
        xmltext,
    )

    readers: dict[Format, Reader] = {
        Format.DOCKERFILE: dockerfile.read,
        Format.MANIFEST: manifest.read,
        Format.UNIT: unit.read,
        Format.ENVIRONMENT_FILE: environmentfile.read,
        Format.SHELL: _shell,
        Format.BATCH: batch.read,
        Format.JVM_OPTIONS: jvmoptions.read,
        Format.SECURITY: properties.read_security,
        Format.PROPERTIES: properties.read,
        Format.XML: xmltext.read,
        Format.GRADLE: gradle.read,
        Format.COMMAND_LINE: commandline.read,
        Format.UNRECOGNISED: _unrecognised,
    }
    return readers[form]


def _shell(gathering: Gathering, whole: Placed, scope: int) -> None:
    from seedstall.parse.configfile import shellfile  # noqa: PLC0415 - as above

    shellfile.read(gathering, whole, scope, start=True)


def _unrecognised(gathering: Gathering, whole: Placed, scope: int) -> None:
    """Options in a file of a kind that is not known: they are looked at, and the file is not called clear."""
    from seedstall.parse.configfile.words import lines  # noqa: PLC0415 - as above

    gathering.problem("not recognised as any kind of settings file")
    for line in lines(whole):
        if line.text.lstrip()[:1] not in ("#", ";", "!") and "-D" in line.text[:20_000]:
            gathering.variable("this line", line, scope, Setting.BUILD)


def read(gathering: Gathering, name: str, whole: Placed, scope: int) -> None:
    """A text that becomes the file *name* (``>> setenv.sh``, a key of a ConfigMap)."""
    form = recognise(name, whole.text)
    inside = (
        Format.SHELL,
        Format.ENVIRONMENT_FILE,
        Format.JVM_OPTIONS,
        Format.SECURITY,
        Format.PROPERTIES,
        Format.UNIT,
        Format.XML,
    )
    if form not in inside:
        return
    gathering.learn(scope, jdk=jdk_of_file(name))
    was = gathering.whole
    reader(form)(gathering, whole, scope)
    gathering.whole = was
