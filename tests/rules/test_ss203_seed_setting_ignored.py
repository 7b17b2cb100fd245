"""SS203: settings that do nothing here, and correct lines that must not be blamed."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.facts.jvms_by_hand import Machine, running
from tests.facts_by_hand import JDK7, JDK8, JDK17, NO_POOL, POOL, dumped, seeds
from tests.rules.kernels_by_hand import with_nothing_else

from seedstall.engine.run import run
from seedstall.knowledge.products import recognise
from seedstall.model.finding import Clear, Confidence, Finding, Inconclusive, Severity
from seedstall.model.jdk import JdkVersion
from seedstall.model.jvm import Environment
from seedstall.model.kernel import KernelRandom
from seedstall.model.security import SecurityProperties, SecuritySetting, SeedSettings
from seedstall.model.seeding import Algorithm, SeedSetting, SeedSource
from seedstall.model.verdict import Cause, Status
from seedstall.model.waits import SeedEvidence
from seedstall.parse.launcher import launch
from seedstall.rules.ss203_seed_setting_ignored import seed_setting_ignored

EGD = "-Djava.security.egd=file:/dev/urandom"
DEFAULT = SeedSource("file:/dev/random", SeedSetting.SECURITY_PROPERTY, "java.security:2")


def findings(
    line: str,
    environ: dict[str, str] | None = None,
    jdk: JdkVersion | None = JDK17,
    kernel: KernelRandom | None = POOL,
    evidence: SeedEvidence | None = None,
    properties: SecurityProperties | None = None,
) -> list[Finding]:
    environ = environ or {}
    started = launch(line.split(), environ, jdk=jdk)
    option = started.last_property("java.security.egd")
    value = option.text.partition("=")[2] if option else ""
    source = SeedSource(value, SeedSetting.EGD, option.place) if option and value else DEFAULT
    settings = SeedSettings(started, source, Environment(environ), properties)
    return list(seed_setting_ignored(settings, jdk, recognise(started), kernel, evidence))


def only(found: list[Finding]) -> Finding:
    (one,) = found
    assert one.cause is Cause.INEFFECTIVE_FIX
    return one


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (f"java -jar app.jar {EGD}", "behind app.jar"),
        (f"java -cp x org.example.Main {EGD}", "behind org.example.Main"),
        (f"java -p m -m app/org.example.Main {EGD}", "behind app/org.example.Main"),
        (f"jarsigner {EGD} a.jar k", "write -J-Djava.security.egd"),
        ("java -jar app.jar -Djava.security.edg=x", "behind app.jar"),
        ("java -Djava.security.edg=file:/dev/urandom -jar app.jar", "slip of the pen"),
        ("java -Djava.security.EGD=file:/dev/urandom -jar app.jar", "capitals"),
        ("java -Dsecurerandom.source=file:/dev/urandom -jar app.jar", "security property"),
    ],
)
def test_on_the_command_line(line: str, says: str) -> None:
    found = only(findings(line))
    assert (found.severity, found.status) == (Severity.WARNING, Status.AT_RISK)
    assert found.confidence is Confidence.LIKELY
    assert says in found.sentence
    assert found.fixes


def test_urandom_on_6_and_7_does_nothing() -> None:
    found = only(findings(f"java {EGD} -jar app.jar", jdk=JDK7))
    assert "JDK-6202721" in found.sentence
    assert found.fixes[0].params["egd"] == "file:/dev/./urandom"
    assert findings(f"java {EGD} -jar app.jar", jdk=JDK8) == []


def test_random_on_8_and_later_is_what_holds_anyway() -> None:
    found = only(findings("java -Djava.security.egd=file:/dev/random -jar a.jar"))
    assert "use anyway" in found.sentence


@pytest.mark.parametrize("name", ["JAVA_OPTS", "CATALINA_OPTS", "JAVA_OPTIONS", "JAVA_ARGS"])
def test_a_variable_that_nobody_handed_over(name: str) -> None:
    found = only(findings("java -jar app.jar", {name: f"-Xmx1g '{EGD}'"}))
    assert found.evidence[0].origin == f"environ {name}"
    assert f"no JVM reads {name}" in found.sentence
    assert findings(f"java -Xmx1g {EGD} -jar app.jar", {name: f"-Xmx1g {EGD}"}) == []


def test_variables_that_the_jvm_passes_over() -> None:
    old = only(findings("java -jar app.jar", {"JDK_JAVA_OPTIONS": EGD}, jdk=JDK8))
    assert "JDK 9" in old.sentence
    long = only(findings("java M", {"JAVA_TOOL_OPTIONS": f"-Dx={'y' * 1100} {EGD}"}, jdk=JDK8))
    assert "1023" in long.sentence
    many = only(findings("java M", {"_JAVA_OPTIONS": f"{'-Dx=1 ' * 64}{EGD}"}, jdk=JDK8))
    assert "64" in many.sentence
    assert findings("java M", {"JAVA_TOOL_OPTIONS": f"-Dx={'y' * 1100} {EGD}"}) == []


def test_one_that_another_one_beats() -> None:
    environ = {"_JAVA_OPTIONS": "-Djava.security.egd=file:/dev/random"}
    found = findings(f"java {EGD} -jar app.jar", environ)
    beaten = next(f for f in found if "stronger" in f.sentence)
    assert beaten.severity is Severity.WARNING, (
        "the one that would cure is beaten by one that does not"
    )
    other = findings(f"java -Djava.security.egd=file:/dev/./urandom {EGD} -jar app.jar")
    assert only(other).severity is Severity.NOTE


def test_any_value_where_the_wait_is_strong() -> None:
    waiting = seeds(dumped(algorithm=Algorithm.NATIVE_PRNG_BLOCKING))
    found = only(findings(f"java {EGD} -jar app.jar", evidence=waiting))
    assert "securerandom.strongAlgorithms" in found.sentence
    assert found.fixes[0].surface == "strong-algorithms"
    assert findings(f"java {EGD} -jar app.jar", evidence=seeds(dumped())) == []
    assert findings("java -jar app.jar", evidence=waiting) == []


def test_where_nothing_is_lost_it_is_a_note() -> None:
    modern = only(findings(f"java -jar app.jar {EGD}", kernel=NO_POOL))
    assert (modern.severity, modern.status) == (Severity.NOTE, Status.CLEAR)
    assert [fix.surface for fix in modern.fixes] == ["remove-flag"]
    assert "not needed" in modern.notes[0]
    beside = only(findings(f"java {EGD} -jar app.jar -Djava.security.edg=x"))
    assert beside.severity is Severity.NOTE
    assert "leftover" in beside.notes[0]
    unknown = only(findings(f"java -jar app.jar {EGD}", kernel=None))
    assert unknown.severity is Severity.WARNING


@pytest.mark.parametrize(
    "line",
    [
        f"java -jar -Dx=y {EGD} app.jar",
        f"java -javaagent:a.jar {EGD} -jar app.jar",
        f"java {EGD} -cp x org.example.Main run",
        f"jarsigner a.jar k -J{EGD}",
        "java -jar app.jar -Dspring.profiles.active=x --server.port=1",
        "java -Djava.security.policy=p -Djava.util.secureRandomSeed=true -jar app.jar",
        "java -jar app.jar egd=file:/dev/urandom",
    ],
)
def test_correct_lines_are_not_blamed(line: str) -> None:
    assert findings(line) == []


def test_programs_that_set_properties_themselves_are_only_doubted() -> None:
    found = only(findings(f"java -jar jboss-modules.jar -mp m org.jboss.as.standalone {EGD}"))
    assert (found.severity, found.confidence) == (Severity.NOTE, Confidence.POSSIBLE)


def test_the_files_of_the_security_properties() -> None:
    fine = SecurityProperties(
        "java.security", {"x": SecuritySetting("x", "1", "java.security", 1, 1)}
    )
    line = "java -Djava.security.properties=more -jar app.jar"
    assert findings(line, properties=fine) == []
    gone = replace(fine, problems=("there is no /app/more; the JDK ignores it without a word",))
    found = only(findings(line, properties=gone))
    assert (found.evidence[0].origin, found.confidence) == ("cmdline[1]", Confidence.POSSIBLE)
    (broken,) = findings(line, properties=replace(fine, fatal="no provider is left"))
    assert broken.cause is Cause.PROVIDER_CONFIG
    assert broken.severity is Severity.WARNING
    assert "single equals sign" in broken.notes[0]


def test_secrets_and_control_characters_do_not_get_through() -> None:
    found = only(findings("java -jar a.jar -Djava.security.egd=http://me:hunter2@host/\x1b[31mx"))
    assert "hunter2" not in found.sentence + found.message + found.evidence[0].excerpt
    assert "\x1b" not in found.sentence


def test_a_thousand_of_them_are_cut() -> None:
    line = "java -jar app.jar " + " ".join(f"-Djava.security.edg={n}" for n in range(1000))
    assert len(findings(line)) == 20


def test_the_users_word_alone_is_enough_and_nothing_is_not() -> None:
    said = Machine().input("given/egd", b"file:/dev/urandom").input("given/jdk", b"1.7.0_80")
    reading = said.case.get(SeedSettings)
    settings = getattr(reading, "value", None)
    assert isinstance(settings, SeedSettings)
    assert len(list(seed_setting_ignored(settings, JDK7, None, None, None))) == 1


def test_in_a_case_it_is_clear_or_could_not_look() -> None:
    (outcome,) = run(
        (seed_setting_ignored,), with_nothing_else(Machine().input("given/jdk", b"17"))
    )
    assert isinstance(outcome, Inconclusive)
    (seen,) = run((seed_setting_ignored,), with_nothing_else(running()))
    assert isinstance(seen, Clear)
