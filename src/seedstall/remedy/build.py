"""Builds: Maven's jarsigner plugin and its own JVM, Gradle's daemon, Ant's signjar."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from seedstall.model.errors import UsageError
from seedstall.model.evidence import Ask, Got, Ref, Space
from seedstall.model.jvm import Environment, Launch, Product
from seedstall.parse.edit import buildfile, optionlines, propertyvalue
from seedstall.parse.edit.options import option
from seedstall.remedy import edited, place
from seedstall.remedy.place import Place
from seedstall.remedy.request import Answer, Request

JVMARGS = "org.gradle.jvmargs"
GRADLE_DEFAULTS = "-Xmx512m -XX:MaxMetaspaceSize=384m"
"""What Gradle 5 and later take where the property is not set, and only then (gradle/gradle#19750)."""


def maven(request: Request) -> Answer:
    """A patch of the pom whose jarsigner plugin signs."""
    where = maven_place(request)
    by_hand = f"mvn -Djarsigner.arguments=-J{option(request.egd)} ..."
    if where is None or where.content is None:
        return edited.text(request, "fix/maven/text.j2", "the pom.xml was not seen: name it")
    return edited.answer(
        request,
        where,
        buildfile.set_in_pom,
        patch_file="pom.patch",
        by_hand=by_hand,
        notes=(
            "the plugin forks jarsigner: MAVEN_OPTS and .mvn/jvm.config do not reach it, JAVA_TOOL_OPTIONS does",
            "a profile or a child module with <arguments> of its own does not get these",
        ),
    )


def maven_place(request: Request) -> Place | None:
    """The pom that was named, or that of the project that a Maven works on."""
    base = _maven_base(request)
    return _seen(request, f"{base}/pom.xml" if base else "", base)


def jvm_config(request: Request) -> Answer:
    """A patch of ``.mvn/jvm.config``, which Maven's own JVM takes its options from."""
    where = jvm_config_place(request)
    reach = "it is for Maven's own JVM: a jarsigner that a plugin forks takes --surface maven, a test JVM its argLine"
    if where is None:
        return edited.text(request, "fix/jvm-config/text.j2", reach)
    return edited.answer(
        request,
        where,
        # Maven before 3.9 hands a comment to java as well.
        lambda data, egd: optionlines.set_egd(data, egd, comment=""),
        patch_file="jvm-config.patch",
        by_hand=f"a line {option(request.egd)}",
        notes=(
            reach,
            *_beside(request, "MAVEN_OPTS", "comes before the file's options, so the file's wins"),
        ),
    )


def jvm_config_place(request: Request) -> Place | None:
    """The file that was named, or that of the project that a Maven works on."""
    base = _maven_base(request)
    return _seen(request, f"{base}/.mvn/jvm.config" if base else "", base)


def _maven_base(request: Request) -> str:
    """The root of the project, as bin/mvn found it: the nearest directory with a ``.mvn``."""
    launch = request.case.value(Launch)
    found = (
        launch.property_value("maven.multiModuleProjectDirectory") if launch is not None else None
    )
    return (found or "").rstrip("/") if (found or "").startswith("/") else ""


def gradle(request: Request) -> Answer:
    """A patch of ``gradle.properties``, which Gradle's daemon takes its JVM's options from."""
    where = gradle_place(request)
    reach = (
        "it is for Gradle's daemon: a test or a worker takes jvmArgs of its task, a jarsigner that ant.signjar runs"
        f" takes sysproperty(key: 'java.security.egd', value: '{request.egd}') in its closure"
    )
    if where is None:
        return edited.text(request, "fix/gradle/text.j2", reach)
    return edited.answer(
        request,
        where,
        lambda data, egd: propertyvalue.set_egd(data, egd, JVMARGS, default=GRADLE_DEFAULTS),
        patch_file="gradle.patch",
        by_hand=f"{option(request.egd)} in {JVMARGS}",
        then="gradle --stop, and the next build",
        notes=(
            reach,
            *_defaults(where),
            "gradle.properties in GRADLE_USER_HOME beats the project's, and -Dorg.gradle.jvmargs beats both",
        ),
    )


def _defaults(where: Place) -> tuple[str, ...]:
    if propertyvalue.value_of(where.content or b"", JVMARGS) is not None:
        return ()
    return (
        (
            f"{JVMARGS} was not set: once it is, Gradle's own {GRADLE_DEFAULTS} is lost (gradle/gradle#19750), so it is"
            " written down too"
        ),
    )


def gradle_place(request: Request) -> Place | None:
    """The file that was named, or the one of the user whose daemon it is."""
    environment = request.case.value(Environment)
    home = environment.get("GRADLE_USER_HOME", "") if environment is not None else ""
    if not home and environment is not None and environment.get("HOME", "").startswith("/"):
        home = f"{environment['HOME'].rstrip('/')}/.gradle"
    return _seen(request, f"{home}/gradle.properties" if home.startswith("/") else "", home)


def ant(request: Request) -> Answer:
    """A patch of the Ant file that signs."""
    where = ant_place(request)
    if where is None or where.content is None:
        return edited.text(request, "fix/ant/text.j2", "the build.xml was not seen: name it")
    return edited.answer(
        request,
        where,
        buildfile.set_in_ant,
        patch_file="build.patch",
        by_hand=f'<sysproperty key="java.security.egd" value="{request.egd}"/> inside <signjar>',
        notes=(
            "Ant runs the jarsigner program: ANT_OPTS reaches Ant's own JVM alone, JAVA_TOOL_OPTIONS both",
        ),
    )


def ant_place(request: Request) -> Place | None:
    """The file that was named, or the one that an Ant works on."""
    launch = request.case.value(Launch)
    words = launch.program if launch is not None else ()
    flags = ("-f", "-file", "-buildfile")
    named = next((b for a, b in pairwise(words) if a in flags), "build.xml")
    path = _absolute(request, named)
    return _seen(request, path, path.rpartition("/")[0])


def _absolute(request: Request, path: str) -> str:
    """The path as the process means it: below its working directory; ``""`` where that is not known."""
    if path.startswith("/"):
        return path
    reading = request.source.read(Ref(Space.PROCESS, "cwd", Ask.LINK))
    if not isinstance(reading, Got):
        return ""
    cwd = reading.value.decode("utf-8", "surrogateescape")
    return f"{cwd.rstrip('/')}/{path}" if cwd.startswith("/") else ""


def _seen(request: Request, path: str, base: str) -> Place | None:
    if request.given is None and not path:
        return None
    return place.seen(request, path, base=base or "/", within=(base,) if base else ())


def _beside(request: Request, name: str, what: str) -> tuple[str, ...]:
    """That a variable of the process sets it too."""
    environment = request.case.value(Environment)
    held = environment.get(name, "") if environment is not None else ""
    return (f"{name} sets java.security.egd too; it {what}",) if "java.security.egd" in held else ()


def _found(placing: Callable[[Request], Place | None]) -> Callable[[Request], Place]:
    """The file, for ``--undo``."""

    def found(request: Request) -> Place:
        where = placing(request)
        if where is None:
            product = request.case.value(Product)
            title = product.title if product is not None else request.target
            raise UsageError(f"the file was not found by {title}", "name it")
        return where

    return found


ANSWERS = {"maven": maven, "jvm-config": jvm_config, "gradle": gradle, "ant": ant}
PLACES = {
    "maven": _found(maven_place),
    "jvm-config": _found(jvm_config_place),
    "gradle": _found(gradle_place),
    "ant": _found(ant_place),
}
