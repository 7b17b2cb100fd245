"""java.security and the files that are added to it."""

from __future__ import annotations

from pathlib import Path

import javaproperties  # type: ignore[import-untyped,unused-ignore]
import pytest
from tests.engine.held import HeldFacts
from tests.facts_by_hand import DEFAULT_SOURCE, JDK7, JDK17, POOL, stack, task
from tests.remedy.patching import applied

from seedstall.model.errors import SeedstallError, UsageError
from seedstall.model.evidence import Ask, Missing, Ref, Space, Why
from seedstall.model.jvm import JavaHome, JvmOption, Launch, OptionOrigin
from seedstall.model.security import SecurityProperties, SecuritySetting
from seedstall.model.seeding import Algorithm
from seedstall.model.waits import SeedEvidence, SeedWait
from seedstall.remedy.registry import answer, place
from seedstall.remedy.request import Answer, GivenFile, Request
from seedstall.source.base import Held

HOME = "/usr/lib/jvm/java-17"
MASTER = f"{HOME}/conf/security/java.security"
REAL = "/etc/java-17/security/java.security"
EXTRA = "/srv/extra.security"
SHIPPED = "# x\nsecurerandom.source=file:/dev/random\nsecurerandom.strongAlgorithms=NativePRNGBlocking:SUN,DRBG:SUN\n"
WAITS = SeedEvidence(waits=(SeedWait(stack=stack(), task=task()),))
STRONG = SeedEvidence(waits=(SeedWait(stack=stack(algorithm=Algorithm.NATIVE_PRNG_BLOCKING)),))


def request(
    *facts: object, files: dict[str, str] | None = None, waits: SeedEvidence = WAITS
) -> Request:
    held: dict[Ref, bytes | Why] = {}
    texts = {MASTER: SHIPPED, REAL: SHIPPED} if files is None else files
    for path, text in texts.items():
        held[Ref(Space.ROOT, path[1:])] = text.encode()
        for space in (Space.ROOT, Space.KERNEL):
            held[Ref(space, path[1:], Ask.STAT)] = b"100644 0 0 1 0 0 9"
    held[Ref(Space.ROOT, MASTER[1:], Ask.LINK)] = REAL.encode()
    for path in [
        f"{HOME}/{n}/java.security"[1:]
        for n in ("conf/security", "lib/security", "jre/lib/security")
    ]:
        held.setdefault(Ref(Space.ROOT, path), Why.ABSENT)
        held.setdefault(Ref(Space.ROOT, path, Ask.STAT), Why.ABSENT)
    known = (POOL, waits, DEFAULT_SOURCE, *facts)
    jdk = () if any(isinstance(f, type(JDK17)) for f in facts) else (JDK17,)
    return Request(HeldFacts(*known, *jdk), Held(held), "4711", 4711)


def properties(*files: str, source: str = MASTER) -> SecurityProperties:
    setting = SecuritySetting("securerandom.source", "file:/dev/random", source, 2, 2)
    return SecurityProperties(MASTER, {"securerandom.source": setting}, files=files or (MASTER,))


def content(found: Answer) -> str:
    assert found.write is not None
    return found.write.content.decode()


def test_the_file_itself_behind_the_link(tmp_path: Path) -> None:
    found = answer("java-security", request(properties()))
    assert found.write is not None
    assert found.write.path == REAL
    made = content(found)
    assert javaproperties.loads(made) == {
        **javaproperties.loads(SHIPPED),
        "securerandom.source": "file:/dev/urandom",
    }
    applied(found.output, REAL[1:], SHIPPED.encode(), tmp_path, made.encode())
    assert any(f"{MASTER} is a link: the file itself is {REAL}" in note for note in found.notes)
    assert any("every program that this JDK runs" in note for note in found.notes)
    again = answer("java-security", request(properties(), files={MASTER: made}))
    assert f"{REAL}:2 says securerandom.source=file:/dev/urandom already" in again.reason
    assert place("java-security", request(properties())).path == REAL


def test_strong_instances_get_the_other_property() -> None:
    found = answer("java-security", request(properties(), waits=STRONG))
    loaded = javaproperties.loads(content(found))
    assert (
        loaded["securerandom.strongAlgorithms"]
        == "NativePRNGNonBlocking:SUN,NativePRNGBlocking:SUN,DRBG:SUN"
    )
    assert loaded["securerandom.source"] == "file:/dev/random"


def test_the_value_is_that_of_the_jdk() -> None:
    assert "source=file:/dev/./urandom" in content(
        answer("java-security", request(properties(), JDK7))
    )


def test_by_the_java_home_where_the_properties_are_not_known() -> None:
    lacking = {MASTER: SHIPPED}
    found = answer("java-security", request(JavaHome(HOME, "told"), files=lacking))
    assert found.write is not None
    assert found.write.path == REAL
    none = request(JavaHome(HOME, "told"), files={})
    assert any("there is no" in note for note in answer("java-security", none).notes)
    with pytest.raises(SeedstallError, match="could not be looked at"):
        answer("java-security", request(files={}))


def test_what_beats_it_is_named() -> None:
    wrong = "-Djava.security.egd=file:/dev/random"
    launch = Launch("java", (JvmOption(wrong, OptionOrigin.COMMAND_LINE, "cmdline[1]"),))
    with pytest.raises(UsageError, match=r"cmdline\[1\] sets .* which beats"):
        answer("java-security", request(properties(), launch))
    with pytest.raises(UsageError, match=f"{EXTRA}:2 sets securerandom.source") as error:
        answer("java-security", request(properties(MASTER, EXTRA, source=EXTRA)))
    assert error.value.hint == "seedstall fix 4711 --surface security-properties"


def test_the_file_that_the_jvm_adds_already(tmp_path: Path) -> None:
    launch = Launch(
        "java", (JvmOption(f"-Djava.security.properties={EXTRA}", OptionOrigin.COMMAND_LINE),)
    )
    files = {MASTER: SHIPPED, EXTRA: "networkaddress.cache.ttl=5\n"}
    asked = request(properties(MASTER, EXTRA), launch, files=files)
    found = answer("security-properties", asked)
    assert found.write is not None
    assert found.write.path == EXTRA
    made = content(found)
    assert javaproperties.loads(made) == {
        "networkaddress.cache.ttl": "5",
        "securerandom.source": "file:/dev/urandom",
    }
    applied(found.output, EXTRA[1:], b"networkaddress.cache.ttl=5\n", tmp_path, made.encode())
    assert place("security-properties", asked).path == EXTRA


@pytest.mark.parametrize("text", ["root:x:0:0:root:/root:/bin/bash\n", "%wheel ALL=(ALL) ALL\n"])
def test_what_the_process_alone_calls_a_properties_file_is_left_alone(text: str) -> None:
    launch = Launch(
        "java", (JvmOption(f"-Djava.security.properties={EXTRA}", OptionOrigin.COMMAND_LINE),)
    )
    asked = request(properties(MASTER, EXTRA), launch, files={MASTER: SHIPPED, EXTRA: text})
    with pytest.raises(SeedstallError, match="holds no security property") as error:
        answer("security-properties", asked)
    assert f"seedstall fix {EXTRA} --surface security-properties" in error.value.hint


@pytest.mark.parametrize(
    ("waits", "expected"),
    [
        (WAITS, {"securerandom.source": "file:/dev/urandom"}),
        (STRONG, {"securerandom.strongAlgorithms": "NativePRNGNonBlocking:SUN"}),
    ],
)
def test_a_file_to_be_added(waits: SeedEvidence, expected: dict[str, str]) -> None:
    found = answer("security-properties", request(properties(), waits=waits))
    assert javaproperties.loads(found.output.decode()) == expected
    assert b"-Djava.security.properties=/path" in found.output
    assert found.write is None
    with pytest.raises(UsageError, match="nothing to take back"):
        place("security-properties", request(properties()))


def test_a_file_that_was_named() -> None:
    given = GivenFile("/opt/jdk/conf/security/java.security", SHIPPED.encode())
    found = answer("java-security", Request(HeldFacts(JDK17), Held({}), "x", None, given=given))
    assert found.output.startswith(b"# patch -p1 -d /opt/jdk/conf/security < java.security.patch\n")
    assert "source=file:/dev/urandom" in content(found)


def test_a_file_that_is_damaged_is_left_alone() -> None:
    given = GivenFile("/x/java.security", b"securerandom.source=\\u00\n")
    with pytest.raises(SeedstallError, match="cannot be edited safely"):
        answer("java-security", Request(HeldFacts(JDK17), Held({}), "x", None, given=given))


def test_without_a_jdk_to_look_at() -> None:
    asked = Request(HeldFacts(JDK17, POOL, WAITS, DEFAULT_SOURCE), Held({}), "dump.txt", None)
    found = answer("java-security", asked)
    assert javaproperties.loads(found.output.decode()) == {
        "securerandom.source": "file:/dev/urandom"
    }
    assert found.write is None


def test_missing_is_no_crash() -> None:
    missing: dict[type[object], Missing] = {
        SecurityProperties: Missing(Why.DENIED, (Ref(Space.ROOT, "x"),))
    }
    asked = Request(
        HeldFacts(JDK17, POOL, WAITS, DEFAULT_SOURCE, missing=missing), Held({}), "4711", 4711
    )
    with pytest.raises(SeedstallError, match="denied"):
        answer("java-security", asked)
