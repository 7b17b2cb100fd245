"""What a capture reads for ``fix``: every file that it would edit."""

from __future__ import annotations

import pytest

from seedstall.engine.case import Case
from seedstall.facts import providers, service, surfaces
from seedstall.facts.keepers import DPKG, UCF
from seedstall.model.errors import SeedstallError
from seedstall.model.evidence import Ask, Got, Missing, Reading, Ref, Space, Why
from seedstall.remedy.registry import answering
from seedstall.remedy.request import Request
from seedstall.remedy.survey import SURVEYED, survey
from seedstall.source.base import Held, Recorder, Source

UNIT = "[Service]\nExecStart=/usr/libexec/tomcat10/tomcat-start.sh\nEnvironmentFile=/etc/x\n"
FILES = {
    "/base/bin/setenv.sh": "CATALINA_OPTS=-Xmx1g\n",
    "/home/bin/catalina.sh": ". setenv.sh\n",
    "/var/lib/tomcat10/bin/setenv.sh": "CATALINA_OPTS=-Xmx2g\n",
    "/etc/default/tomcat10": "JAVA_OPTS=-Xmx3g\n",
    "/etc/tomcat/tomcat.conf": "JAVA_OPTS=-Xmx4g\n",
    "/etc/tomcat/conf.d/java.conf": "CATALINA_OPTS=-Xmx5g\n",
    "/lib/systemd/system/tomcat10.service": UNIT,
    "/etc/systemd/system/tomcat10.service.d/more.conf": "[Service]\nNice=1\n",
    "/etc/x": "JAVA_TOOL_OPTIONS=-Xmx6g\n",
}
MAIN = "org.apache.catalina.startup.Bootstrap"


class Root(Held):
    """A whole root: what is not held is not there."""

    def read(self, ref: Ref) -> Reading[bytes]:
        found = super().read(ref)
        if ref.space in (Space.ROOT, Space.KERNEL) and isinstance(found, Missing):
            return Missing(Why.ABSENT, (ref,))
        return found


class Replay:
    """What was recorded, and no more."""

    def __init__(self, recorded: Recorder) -> None:
        self._readings = recorded.readings

    def read(self, ref: Ref) -> Reading[bytes]:
        return self._readings.get(ref) or Missing(Why.NOT_COLLECTED, (ref,))


def host(base: str) -> Source:
    """A Tomcat of *base*, run by a unit, and the files above in its root."""
    held: dict[Ref, bytes | Why] = {
        Ref(Space.PROCESS, "cmdline"): "\0".join(
            ("/usr/bin/java", f"-Dcatalina.base={base}", "-Dcatalina.home=/home", MAIN, "start", "")
        ).encode(),
        Ref(Space.PROCESS, "environ"): b"",
        Ref(Space.PROCESS, "cgroup"): b"0::/system.slice/tomcat10.service\n",
        Ref(Space.PROCESS, "exe", Ask.LINK): b"/usr/bin/java",
    }
    folders: dict[str, set[str]] = {}
    for path, text in FILES.items():
        name = path.strip("/")
        folder, _, last = name.rpartition("/")
        folders.setdefault(folder, set()).add(last)
        for space in (Space.ROOT, Space.KERNEL):
            held[Ref(space, name)] = text.encode()
            held[Ref(space, name, Ask.STAT)] = b"100644 0 0 1 0 0 9"
    for folder, names in folders.items():
        for space in (Space.ROOT, Space.KERNEL):
            listed = "".join(f"{n}\0" for n in sorted(names))
            held[Ref(space, folder, Ask.LIST)] = listed.encode()
            held[Ref(space, folder, Ask.STAT)] = b"40755 0 0 2 0 0 9"
    return Root(held)


def asked(source: Source, surface: str, pid: int | None) -> str:
    known = dict.fromkeys((*providers(), *surfaces.PROVIDERS, *service.PROVIDERS))
    request = Request(Case(source, known), source, "4711", pid, force=True)
    try:
        return answering(surface)(request).output.decode()
    except (SeedstallError, ValueError):
        return ""


@pytest.mark.parametrize("base", ["/base", "/var/lib/tomcat10", "/usr/share/tomcat"])
def test_all_that_fix_reads_is_captured(base: str) -> None:
    captured = Recorder(host(base))
    survey(captured, "4711", 4711)
    for surface in SURVEYED:
        fixed = Recorder(host(base))
        asked(fixed, surface, 4711)
        wanted = {ref for ref in fixed.readings if ref.path not in (DPKG, UCF)}
        assert wanted <= set(captured.readings), surface
    assert not {ref for ref in captured.readings if ref.path in (DPKG, UCF)}


@pytest.mark.parametrize(
    ("base", "surface", "line"),
    [
        ("/base", "tomcat-setenv", " CATALINA_OPTS=-Xmx1g\n"),
        ("/var/lib/tomcat10", "tomcat-setenv", " CATALINA_OPTS=-Xmx2g\n"),
        ("/var/lib/tomcat10", "debian-tomcat", "JAVA_OPTS=-Xmx3g\n"),
        ("/usr/share/tomcat", "rhel-tomcat", "conf.d/seedstall.conf\n"),
        ("/base", "systemd", "-Xmx6g"),
    ],
)
def test_a_bundle_gives_the_same_patch_as_the_host(base: str, surface: str, line: str) -> None:
    captured = Recorder(host(base))
    survey(captured, "4711", 4711)
    replayed = asked(Replay(captured), surface, None)
    assert line in replayed
    assert replayed == asked(host(base), surface, 4711)


def test_a_secret_that_was_hidden_makes_no_patch_to_be_applied() -> None:
    captured = Recorder(host("/base"))
    survey(captured, "4711", 4711)
    ref = Ref(Space.ROOT, "base/bin/setenv.sh")
    captured.readings[ref] = Got(b"CATALINA_OPTS=-Dpassword=*****\n", (ref,))
    source = Replay(captured)
    known = dict.fromkeys((*providers(), *surfaces.PROVIDERS, *service.PROVIDERS))
    request = Request(Case(source, known), source, "x.tar.gz", None, force=True)
    notes = answering("tomcat-setenv")(request).notes
    assert [note for note in notes if "run fix on that host" in note]
