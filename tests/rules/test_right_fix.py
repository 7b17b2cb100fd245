"""The right fix by JDK, stack, kernel, program and FIPS set-up: ``right-fix.csv`` is the table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests import facts_by_hand as by_hand
from tests.engine.held import HeldFacts

from seedstall.engine.conclude import conclude
from seedstall.engine.run import run
from seedstall.model.finding import Disposition, Finding, When
from seedstall.model.jdk import JdkVersion
from seedstall.model.jvm import JvmProcess, LiveProcess, Product
from seedstall.model.kernel import Distribution, KernelRandom, Machine
from seedstall.model.security import FipsProvider, FipsSetup, SeedFile
from seedstall.model.seeding import (
    Algorithm,
    Instance,
    Operation,
    SeedRole,
    SeedSetting,
    SeedSource,
)
from seedstall.model.tasks import FileKind
from seedstall.model.threads import Frame
from seedstall.model.waits import SeedEvidence, SeedStacks, SeedWait
from seedstall.rules import ALL

TABLE = Path(__file__).with_name("right-fix.csv")
EL7 = Distribution("centos", "7", ("rhel",), "CentOS 7")
UBUNTU = Distribution("ubuntu", "18.04", ("debian",), "Ubuntu 18.04.6 LTS")
BIONIC = replace(by_hand.POOL, release="4.15.0-193-generic")
QEMU = Machine("QEMU or KVM", ("virtio-libvirt", "virtio-proxmox", "virtio-qemu"), told_by="dmi")
TOMCAT = Product("tomcat", "Apache Tomcat", ("tomcat-setenv", "java-opts"))
JARSIGNER = Product("jarsigner", "jarsigner", ("jarsigner",))
PROCESS = JvmProcess(8712, 8712, 0, 0, "S", 1, 20)


class Row(NamedTuple):
    jdk: int
    stack: str
    kernel: str
    program: str
    fips: str
    now: tuple[str, ...]
    next: tuple[str, ...]
    egd: str
    never: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.jdk}-{self.stack}-{self.kernel}-{self.program}-{self.fips}"


def rows() -> Iterator[Row]:
    lines = [x for x in TABLE.read_text("utf-8").splitlines() if not x.startswith("#")]
    for line in lines[1:]:
        jdks, stacks, kernels, programs, fips, now, later, egd, never = line.split("|")
        every = (jdks.split(), stacks.split(), kernels.split(), programs.split(), fips.split())
        for jdk, stack, kernel, program, setup in product(*every):
            told = (tuple(now.split()), tuple(later.split()), egd, tuple(never.split()))
            yield Row(int(jdk), stack, kernel, program, setup, *told)


STACKS: dict[str, dict[str, Any]] = {
    "sha1": {},
    "cured": {},
    "drbg": {"algorithm": Algorithm.DRBG},
    "generate-seed": {"algorithm": Algorithm.NATIVE_PRNG, "operation": Operation.GENERATE_SEED},
    "strong": {"algorithm": Algorithm.NATIVE_PRNG_BLOCKING, "instance": Instance.STRONG},
    "pkcs11": {"algorithm": Algorithm.PKCS11},
    "network": {"network": True},
    "threaded": {"role": SeedRole.THREADED},
    "no-device": {"role": SeedRole.THREADED},
}


def _without_a_stack(row: Row) -> SeedWait:
    if row.stack == "hidden":  # the kernel's view alone: which generator waits is not seen
        return SeedWait(task=by_hand.task())
    main = by_hand.thread()
    own = replace(main, frames=(*main.frames[:2], Frame("com.acme.Token", "read")))
    return SeedWait(java=own, task=by_hand.task())


def wait_of(row: Row) -> SeedWait:
    if row.stack in ("hidden", "own-read"):
        return _without_a_stack(row)
    stack = replace(by_hand.stack(), product="", caller="com.acme.Token")
    wait = replace(by_hand.dumped(), stack=replace(stack, **STACKS[row.stack]))
    if row.kernel == "fifo":
        wait = replace(wait, task=by_hand.task(FileKind.FIFO))
    if row.fips == "bcfips-stack" and wait.java is not None:
        entropy = Frame("org.bouncycastle.crypto.fips.FipsDRBG", "getEntropy")
        wait = replace(wait, java=replace(wait.java, frames=(*wait.java.frames, entropy)))
    return wait


def kernel_of(row: Row) -> tuple[object, ...]:
    known: dict[str, tuple[object, ...]] = {
        "pool": (by_hand.POOL, EL7),
        "ubuntu-pool": (BIONIC, UBUNTU),
        "ubuntu-vm": (BIONIC, UBUNTU, QEMU),
        "no-pool": (by_hand.NO_POOL,),
        "fifo": (by_hand.NO_POOL, PROCESS, LiveProcess(8712)),
        "unknown": (),
    }
    return known[row.kernel]


FIPS = {
    "bcfips": FipsSetup(FipsProvider.BOUNCY_CASTLE, "java.security:60", sun=True),
    "bcfips-hybrid": FipsSetup(FipsProvider.BOUNCY_CASTLE, "java.security:60", True, hybrid=True),  # noqa: FBT003 - sun
    "nss": FipsSetup(FipsProvider.NSS, "java.security:90", sun=True, kernel=True),
    "openjceplus": FipsSetup(FipsProvider.OPENJCEPLUS, "java.security:90", sun=True),
    "no-sun": FipsSetup(FipsProvider.NONE, sun=False),
}


@cache
def finding_of(row: Row) -> Finding:
    wait = () if row.stack == "contention" else (wait_of(row),)
    queued = tuple(
        replace(by_hand.dumped(f"worker-{n}"), stack=by_hand.stack(SeedRole.QUEUED))
        for n in range(4 if row.stack == "contention" else 0)
    )
    seeds = SeedEvidence(waits=wait, queued=queued, threads=5, dumps=1)
    jdk = JdkVersion(row.jdk, 1, f"1.{row.jdk}.0" if row.jdk < 9 else f"{row.jdk}.0.1")
    source = by_hand.DEFAULT_SOURCE
    if row.stack == "cured":
        source = SeedSource("file:/dev/urandom", SeedSetting.EGD, "cmdline[1]")
    if row.stack == "threaded":
        source = SeedSource("/dev/urandom", SeedSetting.EGD, "cmdline[1]")
    facts: list[object] = [jdk, seeds, SeedStacks(seeds), source, *kernel_of(row)]
    if row.stack == "no-device":
        facts[3] = SeedSource("file:/dev/urandom", SeedSetting.EGD, "cmdline[1]")
        facts.append(SeedFile("/dev/urandom", there=False, readable=False))
    if row.program != "-":
        facts.append({"tomcat": TOMCAT, "jarsigner": JARSIGNER}[row.program])
    if row.fips in FIPS:
        facts.append(FIPS[row.fips])
    case = HeldFacts(*facts)
    finding = conclude(tuple(run(ALL, case)), case.value(SeedEvidence)).finding
    assert finding is not None
    return finding


def surfaces(finding: Finding, when: When) -> tuple[str, ...]:
    return tuple(fix.surface for fix in finding.fixes if fix.when is when)


@pytest.mark.parametrize("row", list(rows()), ids=str)
def test_the_right_fix_in_order(row: Row) -> None:
    finding = finding_of(row)
    offered = {fix.surface for fix in finding.fixes}

    now = tuple(s for s in surfaces(finding, When.NOW) if s != "capture")
    assert (now, surfaces(finding, When.NEXT_START)) == (row.now, row.next)
    if row.egd and row.next[0] != "device-node":
        assert {f.params["egd"] for f in finding.fixes if "egd" in f.params} == {row.egd}
    assert not offered & set(row.never)


def test_what_changes_behaviour_is_a_persons_decision() -> None:
    changing = {"rngd", "haveged", "strong-algorithms", "bcfips-hybrid", "kernel-update", "restart"}
    seen: set[str] = set()
    for row in rows():
        for fix in finding_of(row).fixes:
            if fix.surface in changing:
                seen.add(fix.surface)
                assert fix.disposition is Disposition.REVIEW
            if fix.params.get("egd"):
                # The plain form keeps the default generator from 8 on; /./ is the cure on 6 and 7, and changes it.
                assert (fix.disposition is Disposition.REVIEW) == (row.jdk < 8)
    assert seen == changing


def test_why_a_fix_is_not_offered_under_fips_is_said() -> None:
    refused = [r for r in rows() if r.fips != "-" and r.stack in ("strong", "hidden")]
    assert len(refused) > 20
    for row in refused:
        notes = " ".join(finding_of(row).notes)
        assert "not offered" in notes or "has no part in it" in notes or "nothing reads" in notes


def test_what_is_saved_comes_right_before_the_restart() -> None:
    (row, *_) = (r for r in rows() if r.kernel == "fifo")
    names = [fix.surface for fix in finding_of(row).fixes]
    assert names[names.index("restart") - 1] == "capture"


def test_no_pool_no_daemon() -> None:
    for row in rows():
        if (
            isinstance(kernel := next(iter(kernel_of(row)), None), KernelRandom)
            and not kernel.can_block
        ):
            assert not {"rngd", "haveged", "stir-pool"} & {f.surface for f in finding_of(row).fixes}
