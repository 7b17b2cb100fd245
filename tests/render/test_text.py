from __future__ import annotations

from dataclasses import replace

import pytest
from tests.render_by_hand import FINDING, report

from seedstall.model.evidence import Missing, Ref, Space, Why
from seedstall.model.finding import Fired, Fix, Inconclusive, When
from seedstall.model.kernel import BlockingModel, Certainty, KernelRandom
from seedstall.render import text
from seedstall.render.view import case_view
from seedstall.rules.seed_remedies import feeder


def test_the_first_line_is_the_answer() -> None:
    assert text.render(report()).splitlines()[0] == (
        'stalled (blocking-seed, confirmed): "main" waits in read of /dev/random'
    )


def test_quiet_is_the_first_line_alone() -> None:
    assert len(text.render(report(), quiet=True).splitlines()) == 1


def test_what_frees_it_now_comes_before_the_next_start() -> None:
    shown = text.render(report())

    assert shown.index("now: feed the pool (as root)") < shown.index("at the next start:")
    assert "seedstall fix 8712 --surface tomcat-setenv > setenv.patch" in shown


def test_what_was_not_looked_at_is_said_with_its_reason() -> None:
    shown = text.render(report())

    assert "kernel:dmesg denied: needs CAP_SYSLOG (SS103)" in shown
    assert "the rule itself failed: KeyError: 'x' (SS302)" in shown


def test_escape_codes_are_shown_not_obeyed() -> None:
    shown = text.render(report())

    assert "\x1b" not in shown
    assert "\\x1b[31m" in shown


def test_what_was_done_to_the_target_is_said() -> None:
    assert "done to 8712: sigquit+attach threaddump (3 ms)" in text.render(report())


def test_secrets_are_redacted_unless_a_person_chose_otherwise() -> None:
    shown = report(target="x -storepass hunter2")

    assert "hunter2" not in text.render(shown)
    assert "hunter2" in text.render(shown, redacted=False)


def test_commands_hold_what_was_said_and_are_quoted_for_a_shell() -> None:
    shown = text.render(report(target="a b.txt", words="'a b.txt' --kernel 3.10.0-957.el7"))

    assert "seedstall fix 'a b.txt' --kernel 3.10.0-957.el7 --surface tomcat-setenv" in shown


@pytest.mark.parametrize("target", ["hung.tar.gz", "tree", "dump.txt", "-"])
def test_a_file_never_says_that_nothing_else_frees_the_process(target: str) -> None:
    stuck = replace(FINDING, fixes=FINDING.fixes[:1])
    verdict = replace(report().verdict, finding=stuck)
    fired = (Fired("SS101", "blocking-seed", (stuck,), ()),)
    for facts, named in (
        ({"jvm": {"pid": 4711}}, "4711"),
        ({"jvm": {"pid": None}}, "PID"),
        ({}, "PID"),
    ):
        shown = report(target=target, verdict=verdict, outcomes=fired, facts=facts)
        for told in (text.render(shown), str(case_view(shown, 1, redacted=True).nothing_now)):
            assert "nothing but a restart" not in told
            assert f"look on that host, while it runs: seedstall diagnose {named} there" in told


def test_a_kernel_that_is_not_known_is_left_to_be_filled_in() -> None:
    asked = feeder(None)
    known = feeder(KernelRandom(BlockingModel.BLOCKING_POOL, Certainty.HIGH, ""))

    assert (
        text.command(asked, "post.txt") == "seedstall fix post.txt --kernel RELEASE --surface rngd"
    )
    assert text.command(known, "post.txt") == "seedstall fix post.txt --surface rngd"
    assert "JVM" not in asked.title


def test_what_a_file_can_never_hold_is_told_only_when_asked() -> None:
    never = Missing(Why.NOT_COLLECTED, (Ref(Space.KERNEL, "dmesg"),))
    one = report(outcomes=(Inconclusive("SS103", "crng-not-ready", (never,)),))

    assert "not looked at" not in text.render(one)
    assert "SS103: kernel:dmesg not collected" in text.render(one, verbose=1)


# --- cores -----------------------------------------------------------------------------------------------------------

CORE: dict[str, object] = {
    "written_by": "kernel",
    "signal": 6,
    "bytes": 95 << 20,
    "bytes_expected": 350 << 20,
    "cut": True,
    "threads": 20,
    "libjvm_refused": "/opt/jdk/lib/server/libjvm.so here is not the one that ran",
}


def test_a_core_says_who_wrote_it_and_how_much_is_there() -> None:
    told = report(facts={"core": CORE})
    shown = text.render(told)
    assert (
        "core: written by the kernel at signal 6, cut: 95 of 350 MiB are there, 20 threads" in shown
    )
    assert "core: /opt/jdk/lib/server/libjvm.so here is not the one that ran" in shown
    assert "cannot tell" not in shown
    assert "a core cannot tell how long it had waited" in text.render(told, verbose=1)
    whole = CORE | {"cut": False, "written_by": "gdb", "signal": None, "libjvm_refused": None}
    shown = text.render(report(facts={"core": whole}))
    assert "core: written by gdb, 350 MiB, 20 threads" in shown


def test_binaries_are_shown_to_who_asks_for_more() -> None:
    binaries = {
        "machine": "x86_64",
        "native_image": False,
        "vdso_getrandom": True,
        "vm_vendor": None,
    }
    told = report(facts={"jvm": {"binaries": binaries}})
    assert "binaries" not in text.render(told)
    shown = text.render(told, verbose=1)
    assert "  native image    no\n" in shown
    assert "  vdso getrandom  yes\n" in shown
    assert "vendor" not in shown


def test_what_helps_now_comes_first_and_alternatives_take_a_line_each() -> None:
    feed = Fix(
        surface="haveged",
        title="feed the pool",
        when=When.NOW,
        needs_root=True,
        takes="within seconds",
    )
    device = "give the machine a virtio-rng device"
    fixes = (
        feed,
        Fix(surface="virtio-libvirt", title=device, when=When.NOW, where="hypervisor"),
        Fix(surface="virtio-qemu", title=device, when=When.NOW, where="hypervisor"),
        Fix(surface="stir-pool", title="type 41 keys", when=When.NOW, params={"command": "find /"}),
        Fix(
            surface="capture",
            title="save what that destroys",
            when=When.NOW,
            params={"command": "seedstall capture 1"},
        ),
        Fix(surface="java-opts", title="-Dx"),
        Fix(surface="none", title="nothing: it is well"),
    )
    whole = report()
    finding = replace(FINDING, fixes=fixes)
    shown = text.render(replace(whole, verdict=replace(whole.verdict, finding=finding)))
    lines = shown[shown.index("what to do") :].splitlines()[1:10]
    assert lines == [
        "  now: feed the pool (as root; within seconds)",
        "    seedstall fix 8712 --surface haveged",
        f"  or {device} (hypervisor): --surface virtio-libvirt or virtio-qemu",
        "  or type 41 keys",
        "    find /",
        "  save what that destroys",
        "    seedstall capture 1",
        "  at the next start: -Dx",
        "    seedstall fix 8712 --surface java-opts",
    ]
    assert "  or nothing: it is well" in shown


def test_a_line_end_in_a_files_name_begins_no_line() -> None:
    shown = text.render(report(target="a\nb.txt: clear"), named=True)
    assert shown.startswith("a\\x0ab.txt: clear: ")
