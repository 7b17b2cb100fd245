from __future__ import annotations

import pytest

from seedstall.facts.surfaces import setenv_script
from seedstall.model.evidence import Ask, Ref, Space, Unavailable, Why
from seedstall.model.jvm import TomcatHome
from seedstall.model.surface import SetenvScript
from seedstall.source.base import Held

HOME = TomcatHome("/srv/one", "/opt/tomcat")
BASE_STAT = b"40755 0 0 77 0 0 4096"
ABSENT = Why.ABSENT


def root(path: str, ask: Ask = Ask.CONTENT) -> Ref:
    return Ref(Space.ROOT, path, ask)


def script(changes: dict[Ref, bytes | Why], home: TomcatHome = HOME) -> SetenvScript:
    held: dict[Ref, bytes | Why] = {
        root("srv/one/bin/setenv.sh"): ABSENT,
        root("opt/tomcat/bin/setenv.sh"): ABSENT,
        root("srv/one", Ask.STAT): BASE_STAT,
        Ref(Space.KERNEL, "srv/one", Ask.STAT): BASE_STAT,
        root("opt/tomcat/bin/catalina.sh", Ask.STAT): b"100755 0 0 5 0 0 24055",
        root("opt/tomcat/bin/daemon.sh", Ask.STAT): ABSENT,
        root("bin/sh", Ask.LINK): b"dash",
    }
    return setenv_script(Held(held | changes), home)


def test_the_instances_own_file() -> None:
    found = script({root("srv/one/bin/setenv.sh"): b"A=b\n"})
    assert found == SetenvScript("/srv/one", b"A=b\n", launcher=True, bash=False)
    assert found.path == "/srv/one/bin/setenv.sh"


def test_none_yet() -> None:
    assert script({}).content is None
    assert script({}).inherited is None


def test_the_homes_file_is_used_where_the_instance_has_none() -> None:
    found = script({root("opt/tomcat/bin/setenv.sh"): b"A=b\n"})
    assert found.content is None
    assert (found.inherited, found.inherited_from) == (b"A=b\n", "/opt/tomcat/bin/setenv.sh")


def test_the_instances_file_hides_the_homes() -> None:
    both = {root("srv/one/bin/setenv.sh"): b"", root("opt/tomcat/bin/setenv.sh"): b"A=b\n"}
    found = script({**both})
    assert found.content == b""
    assert found.inherited is None


def test_one_directory_for_both() -> None:
    found = script({}, TomcatHome("/opt/tomcat", "/opt/tomcat/"))
    assert found.path == "/opt/tomcat/bin/setenv.sh"
    assert found.content is None
    assert found.inherited is None


@pytest.mark.parametrize("why", [Why.DENIED, Why.NOT_COLLECTED, Why.VANISHED, Why.TRUNCATED])
@pytest.mark.parametrize("where", ["srv/one", "opt/tomcat"])
def test_could_not_look_is_not_none(why: Why, where: str) -> None:
    with pytest.raises(Unavailable) as error:
        script({root(f"{where}/bin/setenv.sh"): why})
    assert error.value.missing.why is why


def test_a_base_that_leads_anywhere_is_not_guessed() -> None:
    with pytest.raises(ValueError, match="no absolute path"):
        script({}, TomcatHome(".", "."))


@pytest.mark.parametrize(
    ("here", "on_host"),
    [
        (BASE_STAT, True),
        (b"40755 0 0 78 0 0 4096", False),
        (Why.ABSENT, False),
        (Why.DENIED, False),
    ],
)
def test_whether_it_is_a_file_of_this_host(here: bytes | Why, on_host: bool) -> None:  # noqa: FBT001 - a parameter
    assert script({Ref(Space.KERNEL, "srv/one", Ask.STAT): here}).on_host is on_host


def test_whether_a_script_sources_it() -> None:
    catalina, daemon = (root(f"opt/tomcat/bin/{n}.sh", Ask.STAT) for n in ("catalina", "daemon"))
    assert script({catalina: ABSENT, daemon: b"100755 0 0 5 0 0 1"}).launcher is True
    assert script({catalina: ABSENT}).launcher is False
    assert script({catalina: Why.DENIED}).launcher is None


@pytest.mark.parametrize(
    ("link", "bash"),
    [
        (b"bash", True),
        (b"/usr/bin/bash", True),
        (b"dash", False),
        (b"/bin/busybox", False),
        (b"/etc/alternatives/sh", None),
        (Why.MALFORMED, None),
    ],
)
def test_which_shell_runs_it(link: bytes | Why, bash: bool | None) -> None:  # noqa: FBT001 - a parameter
    assert script({root("bin/sh", Ask.LINK): link}).bash is bash
