"""Evidence that others gathered: sosreports, must-gathers, folders of files named as people name them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.archives import HEAD, packed
from tests.live.replay import in_process
from tests.old_kernels import unpacked
from tests.sosreports import PS, SOS_3, SOS_4, UNAME

from seedstall.model.errors import SeedstallError
from seedstall.model.evidence import Ask, Got, Ref, Space, Why
from seedstall.source import gathered
from seedstall.source.gathered import Gathered

SEEDING = (
    "30-Nov-2026 14:43:59.084 WARNING [main] org.apache.catalina.util.SessionIdGeneratorBase.createSecureRandom"
    " Creation of SecureRandom instance for session ID generation using [SHA1PRNG] took [386,690] milliseconds.\n"
)


def laid_out(folder: Path, files: Mapping[str, bytes], top: str = "") -> Path:
    for name, data in files.items():
        path = folder / top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder / top.partition("/")[0] if top else folder


def archive(folder: Path, files: Mapping[str, bytes], top: str) -> Path:
    path = folder / "it.tar.xz"
    path.write_bytes(packed({f"{top}/{name}": data for name, data in files.items()}, mode="w:xz"))
    return path


def said(source: Gathered, space: Space, path: str, ask: Ask = Ask.CONTENT) -> bytes | Why:
    reading = source.read(Ref(space, path, ask))
    return reading.value if isinstance(reading, Got) else reading.why


def diagnosed(*arguments: object) -> Any:
    done = in_process("diagnose", *arguments, "--format", "json", "--exit-zero")
    return json.loads(done.stdout)


@pytest.fixture(params=["folder", "archive"])
def sos_4(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    top = "sosreport-app1-2026-11-30-abcdefg"
    if request.param == "folder":
        return laid_out(tmp_path, SOS_4, top)
    return archive(tmp_path, SOS_4, top)


def test_ps_tells_which_thread_waits_in_the_device(sos_4: Path) -> None:
    report = diagnosed(sos_4)
    verdict = report["verdict"]
    assert (verdict["status"], verdict["cause"], verdict["confidence"]) == (
        "stalled",
        "blocking-seed",
        "confirmed",
    )
    (finding,) = [f for f in report["findings"] if f["code"] == "SS101"]
    assert {"origin": "/proc/8712/task/8713/wchan", "excerpt": "random_read"} in finding["evidence"]
    assert report["facts"]["kernel"]["release"] == "3.10.0-957.el7.x86_64"
    assert report["facts"]["kernel"]["entropy_avail"] == 12
    assert report["facts"]["jvm"]["age_ms"] is None, "nobody told"
    assert "geheim" not in json.dumps(report)


def test_what_a_sosreport_leaves_out_was_not_collected(sos_4: Path) -> None:
    (source,) = gathered.opened(str(sos_4))
    for space, path in (
        (Space.PROCESS, "environ"),
        (Space.PROCESS, "maps"),
        (Space.PROCESS, "limits"),
        (Space.PROCESS, "task/8713/syscall"),
        (Space.PROCESS, "task/9/stat"),
        (Space.ROOT, "usr/lib/jvm/java-1.8.0-openjdk/jre/lib/security/java.security"),
        (Space.ATTACH, "threaddump"),
        (Space.MEMORY, "0+1"),
        (Space.KERNEL, "proc/uptime"),
        (Space.KERNEL, "proc/sys/crypto/fips_enabled"),
    ):
        assert said(source, space, path) is Why.NOT_COLLECTED, path
    assert said(source, Space.PROCESS, "fd", Ask.LIST) is Why.NOT_COLLECTED
    random = "proc/sys/kernel/random"
    assert said(source, Space.KERNEL, f"{random}/no_such_setting") is Why.ABSENT, (
        "sysctl -a lists all"
    )
    assert said(source, Space.KERNEL, f"{random}/poolsize") == b"4096\n"
    names = said(source, Space.INPUT, "", Ask.LIST)
    assert names == b"var/log/tomcat/catalina.out\0"


def test_one_by_sos_3_with_the_boot_id_alone(tmp_path: Path) -> None:
    """Without ``sysctl -a`` and a table of threads nothing is said of a pool, and no thread is missed."""
    path = archive(tmp_path, SOS_3, "app1-2026")
    (source,) = gathered.opened(str(path))
    assert said(source, Space.KERNEL, "proc/sys/kernel/random/entropy_avail") is Why.NOT_COLLECTED
    assert said(source, Space.KERNEL, "proc/sys/kernel/random", Ask.LIST) is Why.NOT_COLLECTED
    assert said(source, Space.PROCESS, "task", Ask.LIST) is Why.NOT_COLLECTED
    assert bytes(said(source, Space.PROCESS, "cmdline")).startswith(b"/usr/lib/jvm/")  # type: ignore[arg-type]
    verdict = diagnosed(path)["verdict"]
    assert verdict["status"] in ("unknown", "at-risk")


def test_each_jvm_of_a_report_is_a_case(tmp_path: Path) -> None:
    two = PS + PS.splitlines(keepends=True)[-1].replace(b"8712", b"9100")
    path = archive(tmp_path, {**SOS_3, "sos_commands/process/ps_auxwww": two}, "app1-2026")
    cases = diagnosed(path)["cases"]
    assert [case["target"] for case in cases] == [f"{path}!8712", f"{path}!9100"]


# --- must-gather -----------------------------------------------------------------------------------------------------

POD = "namespaces/shop/pods/web-1"
GATHER = {
    f"{POD}/tomcat/tomcat/logs/current.log": ("2026-11-30T14:43:59.1Z " + SEEDING).encode(),
    f"{POD}/tomcat/tomcat/logs/previous.log": b"",
    f"{POD}/proxy/proxy/logs/current.log": b"2026-11-30T14:43:59.1Z GET /\n",
    f"{POD}/web-1.yaml": b"spec:\n  nodeName: node-7\n",
    "cluster-scoped-resources/core/nodes/node-7.yaml": (
        b"status:\n  nodeInfo:\n    kernelVersion: 3.10.0-957.el7.x86_64\n"
    ),
}


@pytest.mark.parametrize("shape", ["folder", "archive"])
def test_a_must_gather(shape: str, tmp_path: Path) -> None:
    top = "must-gather.local.1/quay-io-x"
    path = laid_out(tmp_path, GATHER, top) if shape == "folder" else archive(tmp_path, GATHER, top)
    report = diagnosed(path)
    assert report["target"] == f"{path}!shop/web-1/tomcat", "the proxy is no Java program"
    verdict = report["verdict"]
    assert (verdict["status"], verdict["cause"], verdict["cost_ms"]) == (
        "slow",
        "blocking-seed",
        386690,
    )
    assert report["facts"]["kernel"]["release"] == "3.10.0-957.el7.x86_64"


def test_a_must_gather_without_java(tmp_path: Path) -> None:
    files = {name: data for name, data in GATHER.items() if "tomcat" not in name}
    with pytest.raises(SeedstallError, match="none of its containers logs as a Java program"):
        gathered.opened(str(laid_out(tmp_path, files, "must-gather.local.1")))


# --- folders ---------------------------------------------------------------------------------------------------------


def test_files_named_as_people_name_them(tmp_path: Path) -> None:
    """Two JVMs by the pids in the names; what is said of the host is said of both."""
    tree = unpacked("seed-4.4.0-210", tmp_path)
    dump = (tree / "jvm/threaddump.txt").read_bytes()
    ticket = laid_out(
        tmp_path / "ticket",
        {
            "jstack_8712.txt": dump,
            "threads_9100_1.txt": b"nothing of a dump\n",
            "uname.txt": b"Linux app1 4.4.0-210-generic #242-Ubuntu SMP x86_64 GNU/Linux\n",
            "ps-elfL.txt": b"",
        },
    )
    first, second = diagnosed(ticket)["cases"]
    assert first["target"] == f"{ticket}!8712"
    assert first["verdict"]["confidence"] == "confirmed", "by the kernel that uname.txt names"
    assert first["facts"]["kernel"]["release"] == "4.4.0-210-generic"
    assert second["facts"]["kernel"]["release"] == "4.4.0-210-generic"
    assert second["verdict"]["status"] == "unknown"


def test_a_folder_of_unpacked_evidence_is_a_case_for_each(tmp_path: Path) -> None:
    """A bundle, a sosreport, a captured tree and a ticket's folder, one beside the other, and a log."""
    fleet = tmp_path / "fleet"
    laid_out(fleet / "a", {"seedstall-bundle": HEAD, "proc/8712/cmdline": b"java\0"})
    laid_out(fleet / "b", {"seedstall-bundle": HEAD, "proc/8712/cmdline": b"java\0"})
    laid_out(fleet / "c", SOS_4, "sosreport-app1-2026")
    laid_out(fleet / "d", {"proc/1/cmdline": b"java\0"})
    laid_out(fleet / "e", {"uname.txt": UNAME, "jstack_8712.txt": b"x\n"})
    laid_out(fleet, {"catalina.out": SEEDING.encode()})
    cases = diagnosed(fleet)["cases"]
    assert sorted(Path(case["target"]).name for case in cases) == [
        "a",
        "b",
        "c",
        "catalina.out",
        "d",
        "e",
    ]


def test_without_a_word_of_the_host_each_file_is_a_case(tmp_path: Path) -> None:
    files = {"jstack_8712.txt": b"x\n", "catalina.out": SEEDING.encode()}
    assert len(diagnosed(laid_out(tmp_path / "t", files))["cases"]) == 2


def test_folders_of_hosts_are_not_one_host(tmp_path: Path) -> None:
    """The kernel of the one must not be said of the other's dump."""
    dump = (unpacked("seed-4.4.0-210", tmp_path) / "jvm/threaddump.txt").read_bytes()
    files = {
        "uname.txt": b"Linux old 4.4.0-210-generic #242-Ubuntu SMP x86_64 GNU/Linux\n",
        "jstack.txt": b"nothing\n",
        "other/jstack.txt": dump,
        "other/uname.txt": b"Linux new 6.1.0-25-amd64 #1 SMP x86_64 GNU/Linux\n",
    }
    cases = diagnosed(laid_out(tmp_path / "ticket", files))["cases"]
    assert "4.4.0-210-generic" not in [
        case["facts"]["kernel"]["release"] for case in cases if case["target"].endswith("other")
    ]
    assert len(cases) > 2, "each file of the folder above, and the host below it"


def test_kubectl_s_copy_of_proc_and_a_log(tmp_path: Path) -> None:
    """``kubectl debug --copy-to`` and ``kubectl cp``: /proc/1 as it came, its empty files no evidence."""
    files = {"proc/1/cmdline": b"java\0App\0", "proc/1/status": b"", "uname.txt": UNAME}
    assert diagnosed(laid_out(tmp_path / "t", files))["verdict"]["status"] == "unknown"
