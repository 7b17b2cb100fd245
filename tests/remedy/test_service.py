"""The systemd drop-in: what systemd itself makes of the unit with it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tests.engine.held import HeldFacts
from tests.facts_by_hand import DEFAULT_SOURCE, JDK17, POOL, stack, task
from tests.parse.edit.test_unit import by_systemd
from tests.remedy.patching import applied

from seedstall.facts.service import service
from seedstall.knowledge.services import UnitName, unit_of
from seedstall.model.errors import SeedstallError, UsageError
from seedstall.model.evidence import Ask, Missing, Reading, Ref, Space, Unavailable, Why
from seedstall.model.jvm import Environment, JvmOption, Launch, OptionOrigin
from seedstall.model.waits import SeedEvidence, SeedWait
from seedstall.remedy.registry import answer, place
from seedstall.remedy.request import Answer, GivenFile, Request
from seedstall.source.base import Held

RIGHT = "-Djava.security.egd=file:/dev/urandom"
WRONG = "-Djava.security.egd=file:/dev/random"
HUNG = (JDK17, POOL, SeedEvidence(waits=(SeedWait(stack=stack(), task=task()),)), DEFAULT_SOURCE)
FOLDER = "/etc/systemd/system"
DROP_IN = f"{FOLDER}/t-app.service.d/seedstall.conf"


class Host(Held):
    """This host: the unit's files, and a process in the unit's control group."""

    def __init__(self, files: dict[str, str], cgroup: str = "/system.slice/t-app.service") -> None:
        held: dict[Ref, bytes | Why] = {Ref(Space.PROCESS, "cgroup"): f"0::{cgroup}\n".encode()}
        listed: dict[str, set[str]] = {}
        for path, text in files.items():
            held[Ref(Space.KERNEL, path.lstrip("/"))] = text.encode()
            folder, _, name = path.lstrip("/").rpartition("/")
            listed.setdefault(folder, set()).add(name)
        for folder, names in listed.items():
            data = "".join(f"{n}\0" for n in sorted(names)).encode()
            held[Ref(Space.KERNEL, folder, Ask.LIST)] = data
        super().__init__(held)

    def read(self, ref: Ref) -> Reading[bytes]:
        found = super().read(ref)
        if ref.space is Space.KERNEL and isinstance(found, Missing):
            return Missing(Why.ABSENT, (ref,))
        return found


def request(
    files: dict[str, str], *facts: object, cgroup: str = "/system.slice/t-app.service"
) -> Request:
    source = Host(files, cgroup)
    missing: dict[type[object], Missing] = {}
    known: tuple[object, ...] = ()
    try:
        known = (service(source),)
    except Unavailable as error:
        from seedstall.facts.service import Service

        missing[Service] = error.missing
    return Request(HeldFacts(*HUNG, *known, *facts, missing=missing), source, "4711", 4711)


def content(found: Answer) -> str:
    assert found.write is not None
    assert (found.write.path, found.write.host) == (DROP_IN, True)
    return found.write.content.decode()


UNIT = "/usr/lib/systemd/system/t-app.service"
PLAIN = "[Service]\nExecStart=/usr/bin/java -jar /srv/app.jar\n"
CASES: dict[str, tuple[dict[str, str], tuple[object, ...], dict[str, str], str]] = {
    "plain": ({UNIT: PLAIN}, (Environment({}),), {"JAVA_TOOL_OPTIONS": RIGHT}, ""),
    "kept": (
        {
            UNIT: PLAIN,
            f"{FOLDER}/t-app.service.d/override.conf": '[Service]\nEnvironment="JAVA_TOOL_OPTIONS=-Xmx1g"\n',
        },
        (),
        {"JAVA_TOOL_OPTIONS": f"-Xmx1g {RIGHT}"},
        "",
    ),
    "of another": (
        {UNIT: PLAIN},
        (Environment({"JAVA_TOOL_OPTIONS": "-Da=50%"}),),
        {"JAVA_TOOL_OPTIONS": f"-Da=50% {RIGHT}"},
        "",
    ),
    "its own variable": (
        {
            UNIT: f'[Service]\nEnvironment="JAVA_OPTS=-Dq=\\"a\\" {WRONG} -Xmx1g" B=2\nExecStart=/srv/run.sh\n'
        },
        (),
        {"JAVA_OPTS": f'-Dq="a" {RIGHT} -Xmx1g', "B": "2"},
        "",
    ),
    "a variable that java does not read": (
        {
            UNIT: f"[Service]\nEnvironment=JAVA_OPTS={WRONG}\nExecStart=/usr/bin/java -jar /srv/app.jar\n"
        },
        (Environment({}),),
        {"JAVA_OPTS": WRONG, "JAVA_TOOL_OPTIONS": RIGHT},
        "",
    ),
    "a variable that the script drops": (
        {UNIT: f"[Service]\nEnvironment=JAVA_OPTS={WRONG}\nExecStart=/srv/run.sh\n"},
        (Environment({"JAVA_OPTS": WRONG}), Launch("java")),
        {"JAVA_OPTS": WRONG, "JAVA_TOOL_OPTIONS": RIGHT},
        "",
    ),
    "a variable of the command": (
        {
            UNIT: f"[Service]\nEnvironment=JAVA_OPTS={WRONG}\nExecStart=/usr/bin/java $JAVA_OPTS -jar /srv/app.jar\n"
        },
        (Environment({"JAVA_OPTS": WRONG}), Launch("java")),
        {"JAVA_OPTS": RIGHT},
        "",
    ),
    "in the command": (
        {UNIT: f"[Service]\nExecStart=/usr/bin/java {WRONG} -jar /srv/app.jar --x=1\n"},
        (),
        {},
        f"/usr/bin/java {RIGHT} -jar /srv/app.jar --x=1",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_systemd_makes_of_it(name: str, tmp_path: Path) -> None:
    files, facts, environment, command = CASES[name]
    found = answer("systemd", request(files, *facts))
    made = content(found)
    applied(found.output, DROP_IN[1:], None, tmp_path, made.encode())
    units = tmp_path / "units"
    for path, text in {**files, DROP_IN: made}.items():
        file = units / path.rpartition("/system/")[2]
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
    unit = (units / "t-app.service").read_text("utf-8")
    theirs = by_systemd({"app": unit}, units)["app"]
    assert theirs[0] == environment
    if command:
        assert theirs[1] == [command]
    again = answer("systemd", request({**files, DROP_IN: made}, *facts))
    assert (again.output, again.write) == (b"", None)
    assert "already" in again.reason
    assert place("systemd", request(files)).path == DROP_IN
    verified = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", units / "t-app.service"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Unknown" not in verified.stderr
    assert "seedstall.conf" not in verified.stderr, verified.stderr


def test_the_notes_say_what_becomes_of_what_is_there() -> None:
    notes = "\n".join(answer("systemd", request(CASES["kept"][0])).notes)
    assert (
        f"{FOLDER}/t-app.service.d/override.conf:2: what JAVA_TOOL_OPTIONS holds is kept" in notes
    )
    notes = "\n".join(
        answer("systemd", request(CASES["of another"][0], *CASES["of another"][1])).notes
    )
    assert "stands in no unit file" in notes
    notes = "\n".join(answer("systemd", request({UNIT: PLAIN})).notes)
    assert "could not be seen" in notes
    dropped = request(
        {UNIT: "[Service]\nEnvironment=A=1\nExecStart=/bin/su - x\n"}, Environment({"PATH": "/bin"})
    )
    assert "what starts it drops them" in "\n".join(answer("systemd", dropped).notes)


def test_a_file_that_beats_the_unit_is_the_one_to_edit() -> None:
    files = {
        UNIT: "[Service]\nEnvironmentFile=-/etc/default/app\nExecStart=/srv/run.sh\n",
        "/etc/default/app": 'JAVA_TOOL_OPTIONS="-Xmx1g"\n',
    }
    found = answer("systemd", request(files))
    assert found.write is not None
    assert found.write.path == "/etc/default/app"
    assert found.write.content.decode() == f'JAVA_TOOL_OPTIONS="-Xmx1g {RIGHT}"\n'
    assert place("systemd", request(files)).path == "/etc/default/app"
    files["/etc/default/app"] = "OTHER=1\n"
    found = answer("systemd", request(files))
    assert content(found)
    assert any("/etc/default/app sets beats Environment=" in note for note in found.notes)


def test_a_later_drop_in_is_outdone() -> None:
    files = {UNIT: PLAIN, f"{FOLDER}/t-app.service.d/tuning.conf": "[Service]\nEnvironment=A=1\n"}
    found = answer("systemd", request(files))
    assert found.write is not None
    assert found.write.path.endswith("/zz-seedstall.conf")


def test_a_command_line_that_no_unit_holds_is_not_outdone() -> None:
    launch = Launch("java", (JvmOption(WRONG, OptionOrigin.COMMAND_LINE, "cmdline[3]"),))
    with pytest.raises(UsageError, match=r"cmdline\[3\] sets .* which stands in no unit file"):
        answer("systemd", request({UNIT: PLAIN}, launch))


@pytest.mark.parametrize(
    ("cgroup", "message"),
    [
        ("/user.slice/user-0.slice/session-3.scope", "started by no systemd service"),
        ("/system.slice/docker-" + "a" * 64 + ".scope", "it runs in a container"),
        (
            "/user.slice/user-1.slice/user@1.service/app.slice/x.service",
            "run by a user's own systemd",
        ),
    ],
)
def test_what_no_system_service_starts(cgroup: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        answer("systemd", request({}, cgroup=cgroup))


def test_a_transient_unit_keeps_no_drop_in() -> None:
    with pytest.raises(UsageError, match="transient"):
        answer("systemd", request({"/run/systemd/transient/t-app.service": PLAIN}))


def test_units_by_control_group() -> None:
    assert unit_of(["/system.slice/tomcat10.service"]) == UnitName("tomcat10.service")
    assert unit_of(["/system.slice/system-app.slice/app@one.service"]) == UnitName(
        "app@one.service"
    )
    assert unit_of(["/system.slice/x.service/sub"]) == UnitName("x.service")
    assert unit_of(
        ["/", "/user.slice/user-1.slice/user@1.service/app.slice/y.service"]
    ) == UnitName("y.service", user=True)
    assert unit_of(["/user.slice/user-1.slice/user@1.service/init.scope"]) is None
    assert unit_of(["/a.service/b.scope", "/"]) is None
    assert UnitName("app@one.service").names == ("app@one.service", "app@.service")


def test_a_unit_file_that_was_named(tmp_path: Path) -> None:
    given = GivenFile("/srv/app.service", PLAIN.encode(), "deploy/app.service")
    found = answer("systemd", Request(HeldFacts(JDK17), Held({}), "x", None, given=given))
    assert found.output.startswith(b"# patch -p1 -d deploy < unit.patch\n")
    assert found.write is not None
    applied(found.output, "app.service", PLAIN.encode(), tmp_path, found.write.content)
    assert b"systemctl restart app.service" in "".join(found.write.then).encode()


def test_without_a_unit_the_text_warns() -> None:
    found = answer("systemd", Request(HeldFacts(*HUNG), Held({}), "dump.txt", None))
    assert f'Environment="JAVA_TOOL_OPTIONS={RIGHT}"'.encode() in found.output
    assert any("is replaced whole" in note for note in found.notes)


@pytest.mark.parametrize(
    "text", ["", "[Unit]\nDescription=x\n", "[Unit]\r[Service]\rType=simple\r"]
)
@pytest.mark.parametrize(
    "path", ["/etc/systemd/system/x.service", "/etc/systemd/system/x.service.d/y.conf"]
)
def test_a_unit_without_its_section_is_no_environment_file(path: str, text: str) -> None:
    named = GivenFile(path, text.encode())
    asked = Request(HeldFacts(*HUNG), Host({}), "what was said", None, given=named)
    with pytest.raises(SeedstallError, match=r"no \[Service\] section"):
        answer("systemd", asked)
