"""Security properties merged as java.security.Security does it, and compared with real JVMs."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.machine import java_of

import seedstall.effect
from seedstall.model.evidence import Got, Missing, Reading, Ref, Space, Why
from seedstall.model.jdk import JdkVersion
from seedstall.model.security import SecurityProperties
from seedstall.parse.security import security_properties

MASTER = "/opt/jdk/conf/security/java.security"
SHIPPED = """\
# head
security.provider.1=SUN
securerandom.source=file:/dev/random
securerandom.strongAlgorithms=NativePRNGBlocking:SUN,DRBG:SUN
security.overridePropertiesFile=true
"""
JDK8 = JdkVersion(8, 504)
JDK17 = JdkVersion(17, 15)
JDK25 = JdkVersion(25, 2)
URANDOM = "securerandom.source=file:/dev/urandom\n"


def merged(
    master: str = SHIPPED,
    extra: str | None = None,
    jdk: JdkVersion | None = JDK17,
    denied: tuple[str, ...] = (),
    **files: str,
) -> SecurityProperties:
    at = {f"/{name.replace('__', '/')}": text for name, text in files.items()}

    def read(path: str) -> Reading[bytes]:
        ref = Ref(Space.ROOT, path.lstrip("/"))
        if path in denied:
            return Missing(Why.DENIED, (ref,))
        return (
            Got(at[path].encode("latin-1"), (ref,)) if path in at else Missing(Why.ABSENT, (ref,))
        )

    return security_properties(
        MASTER,
        master.encode("latin-1"),
        read,
        jdk=jdk,
        extra=extra,
        directory="/app",
        variables={"java.home": "/opt/jdk", "x": "etc"},
    )


def test_the_master_alone() -> None:
    found = merged()
    assert found.value("securerandom.source") == "file:/dev/random"
    assert found.settings["securerandom.source"].place == f"{MASTER}:3"
    assert (found.overridden, found.problems, found.fatal, found.unread) == ((), (), "", ())


def test_the_last_of_two_lines_counts() -> None:
    found = merged(SHIPPED + URANDOM)
    assert found.value("securerandom.source") == "file:/dev/urandom"
    assert found.settings["securerandom.source"].line == 6
    assert [s.place for s in found.overridden] == [f"{MASTER}:3"]


def test_blanks_at_the_end_are_kept_in_the_file_and_trimmed_by_the_jdk() -> None:
    found = merged("securerandom.source=file:/dev/urandom \t\n")
    assert found.settings["securerandom.source"].value == "file:/dev/urandom \t"
    assert found.value("securerandom.source") == "file:/dev/urandom"


@pytest.mark.parametrize(
    "extra",
    [
        "/etc/more",
        "../etc/more",
        "file:/etc/more",
        "file:///etc/more",
        "${/}${x}/more",
        "${java.home}/../../etc/more",
    ],
)
def test_an_appended_file_wins(extra: str) -> None:
    found = merged(extra=extra, etc__more=URANDOM)
    assert found.value("securerandom.source") == "file:/dev/urandom"
    assert found.value("securerandom.strongAlgorithms") is not None
    assert found.files == (MASTER, "/etc/more")
    assert not found.replaced


def test_a_missing_appended_file_is_ignored_without_a_word() -> None:
    found = merged(extra="/etc/gone")
    assert found.value("securerandom.source") == "file:/dev/random"
    assert "no /etc/gone" in found.problems[0]
    assert found.fatal == ""


@pytest.mark.parametrize("extra", ["", "${not.set}/more"])
def test_a_value_that_names_nothing_is_ignored(extra: str) -> None:
    found = merged(extra=extra, etc__more=URANDOM)
    assert "names no file" in found.problems[0]


def test_what_could_not_be_read_is_said() -> None:
    assert merged(extra="/etc/secret", denied=("/etc/secret",)).unread == ("/etc/secret: denied",)
    assert merged(extra="http://host/x").unread == ("http://host/x: a URL, which is not fetched",)


def test_the_master_may_forbid_it() -> None:
    master = SHIPPED.replace("File=true", "File=false")
    found = merged(master, extra="/etc/more", etc__more=URANDOM)
    assert found.value("securerandom.source") == "file:/dev/random"
    assert "is not true" in found.problems[0]
    allowed = merged(SHIPPED.replace("true", "TRUE "), extra="/etc/more", etc__more=URANDOM)
    assert allowed.value("securerandom.source") == "file:/dev/urandom"


def test_a_replacing_file_of_one_line_leaves_no_provider() -> None:
    found = merged(extra="=/etc/more", etc__more=URANDOM)
    assert found.replaced
    assert found.value("securerandom.source") == "file:/dev/urandom"
    assert found.value("securerandom.strongAlgorithms") is None
    assert "no security provider" in found.fatal
    whole = merged(extra="=/etc/more", etc__more=SHIPPED)
    assert whole.fatal == ""


@pytest.mark.parametrize(
    ("jdk", "stays"),
    [
        (JDK8, False),
        (JdkVersion(11, 13), False),
        (JdkVersion(11, 21), True),
        (JdkVersion(17, 15), True),
        (JdkVersion(21, 8), True),
        (JDK25, True),
    ],
)
def test_a_missing_replacing_file(jdk: JdkVersion, stays: object) -> None:
    found = merged(extra="=/etc/gone", jdk=jdk)
    assert (found.value("securerandom.source") is not None) is stays
    assert bool(found.fatal) is not stays


@pytest.mark.parametrize("jdk", [JdkVersion(17, 3), JdkVersion(11), None])
def test_where_the_update_is_not_known_it_is_not_guessed(jdk: JdkVersion | None) -> None:
    found = merged(extra="=/etc/gone", jdk=jdk)
    assert found.fatal == ""
    assert "may stay" in found.problems[0]


def test_includes_count_since_24() -> None:
    master = SHIPPED + "include more\n"
    new = merged(master, jdk=JDK25, opt__jdk__conf__security__more=URANDOM)
    assert new.value("securerandom.source") == "file:/dev/urandom"
    assert new.settings["securerandom.source"].file == "/opt/jdk/conf/security/more"
    old = merged(master, jdk=JDK17, opt__jdk__conf__security__more=URANDOM)
    assert old.value("securerandom.source") == "file:/dev/random"
    assert "24" in old.problems[0]


def test_an_include_takes_effect_where_it_stands() -> None:
    master = "include /etc/more\n" + SHIPPED
    found = merged(master, jdk=JDK25, etc__more=URANDOM)
    assert found.value("securerandom.source") == "file:/dev/random"


def test_an_include_that_fails_ends_the_jvm() -> None:
    assert "no /etc/gone" in merged(SHIPPED + "include /etc/gone\n", jdk=JDK25).fatal
    circle = merged(
        SHIPPED + "include /etc/a\n", jdk=JDK25, etc__a="include b\n", etc__b="include a\n"
    )
    assert "leads to itself" in circle.fatal


def test_a_malformed_escape_is_an_error_as_in_the_jdk() -> None:
    with pytest.raises(ValueError, match="Invalid"):
        merged("securerandom.source=\\u12\n")


# --- the real thing ---------------------------------------------------------------------------------------------------

PROBE_FILES = {
    "urandom": "securerandom.source = file:/dev/urandom  \n",
    "dotted": "securerandom.source=file:/dev/./urandom",
    "escaped": "secure\\u0072andom.source=fi\\\n   le:/dev/./urandom",
    "twice": "securerandom.source=file:/dev/./random\nsecurerandom.source:file:/dev/./urandom\n",
    "including": "include dotted\n",
    "beaten": "include dotted\nsecurerandom.source=file:/dev/urandom\n",
    "circle": "include circle\n",
    "lost": "include gone\n",
    "empty": "",
}
DEBUG = re.compile(r"NativePRNG egdUrl: (.*)")
PROBE = Path(seedstall.effect.__file__).parent / "probe"


@pytest.mark.jvm
@pytest.mark.parametrize("feature", [11, 17, 21, 25])
@pytest.mark.parametrize(
    "extra",
    [
        *PROBE_FILES,
        "gone",
        "=urandom",
        "=gone",
        "=empty",
        "{here}/urandom",
        "file:{here}/urandom",
        "${{/}}{here}/dotted",
    ],
)
def test_real_jvms_merge_the_same(feature: int, extra: str, tmp_path: Path) -> None:
    java = java_of(feature)
    if not java.exists():
        pytest.skip(f"needs JDK {feature}: make jvms")
    for name, text in PROBE_FILES.items():
        (tmp_path / name).write_bytes(text.encode("latin-1"))
    extra = extra.format(here=tmp_path)
    master = java.parent.parent / "conf/security/java.security"
    found = security_properties(
        str(master),
        master.read_bytes(),
        reader(),
        jdk=version(java),
        extra=extra,
        directory=str(tmp_path),
        variables={"java.home": str(java.parent.parent)},
    )
    settings = [f"-Djava.security.properties={extra}", "-Djava.security.debug=provider"]
    run = subprocess.run(
        [java, *settings, "-cp", PROBE, "SeedProbe", "default", "nextBytes"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    truth = DEBUG.search(run.stdout + run.stderr)
    if found.fatal:
        assert run.returncode != 0, "no SecureRandom can be had"
    else:
        assert truth is not None, run.stderr
        assert truth[1].strip() == found.value("securerandom.source")


def version(java: Path) -> JdkVersion:
    text = (java.parent.parent / "release").read_text()
    found = re.search(r'JAVA_VERSION="(\d+)\.0\.(\d+)"', text)
    assert found is not None
    return JdkVersion(int(found[1]), int(found[2]))


def reader() -> Callable[[str], Reading[bytes]]:
    def read(path: str) -> Reading[bytes]:
        ref = Ref(Space.ROOT, path.lstrip("/"))
        try:
            return Got(Path(path).read_bytes(), (ref,))
        except OSError:
            return Missing(Why.ABSENT, (ref,))

    return read
