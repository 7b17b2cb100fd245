"""What is done on the host, for every program on it: a daemon, a device for a virtual machine, another kernel."""

from __future__ import annotations

from functools import partial

from seedstall.engine.case import Case
from seedstall.engine.need import Need, feeder_need
from seedstall.knowledge.hypervisors import LIVE, PROXMOX, VIRTIO
from seedstall.model.kernel import Distribution, Feeders, KernelRandom, Machine
from seedstall.remedy.request import Answer, Request
from seedstall.render import templates

UNSURE = "is not known, since the kernel is not known: say --kernel RELEASE (uname -r of that host)"
_OLD_KERNEL = (
    "this kernel does not feed its pool from it by itself (3.17 and RHEL 7.3 are the first): start rngd in the guest as"
    " well, which reads /dev/hwrng"
)


def daemon(surface: str, request: Request) -> Answer:
    """Commands that install and start that daemon on the host."""
    from seedstall.knowledge.daemons import daemon_commands  # noqa: PLC0415

    judgement = feeder_need(request.case)
    if judgement.need is not Need.WANTED:
        return Answer(reason=f"an entropy daemon would be useless: {judgement.reason}")
    kernel = request.case.value(KernelRandom)
    advice = daemon_commands(surface, request.case.value(Distribution), kernel)
    if advice.useless:
        return Answer(reason=advice.useless)
    if advice.unsure:
        return Answer(reason=f"whether an entropy daemon would help {UNSURE}")
    running = _running(request.case)
    if running and not request.force:
        return Answer(reason=running)
    notes = [advice.note] if advice.note else []
    if not advice.commands:
        return Answer(reason="no command is known for that host", notes=tuple(notes))
    if _updates(request):
        notes.append("--surface kernel-update does away with the wait for good")
    text = templates.render(f"fix/{surface}/text.j2", commands="\n".join(advice.commands))
    return Answer(text.encode(), notes=("as root, on the host", *notes))


def _updates(request: Request) -> bool:
    from seedstall.knowledge.daemons import kernel_commands  # noqa: PLC0415

    kernel, known = request.case.value(KernelRandom), request.case.value(Distribution)
    return bool(kernel_commands(known, kernel).commands)


def kernel_update(request: Request) -> Answer:
    """Commands for the kernel within the host's release that has no blocking pool."""
    from seedstall.knowledge.daemons import kernel_commands  # noqa: PLC0415

    kernel = request.case.value(KernelRandom)
    advice = kernel_commands(request.case.value(Distribution), kernel)
    if advice.useless:
        return Answer(reason=advice.useless)
    if advice.unsure:
        return Answer(reason=f"whether another kernel would help {UNSURE}")
    text = templates.render("fix/kernel-update/text.j2", commands="\n".join(advice.commands))
    notes = ("as root, on the host; what hangs now is freed by no other kernel before the reboot",)
    return Answer(text.encode(), notes=(*notes, *filter(None, (advice.note,))))


def virtio(surface: str, request: Request) -> Answer:
    """The virtio-rng device that a hypervisor gives its guest; this very machine is the guest."""
    from seedstall.knowledge.release import fed_by_hwrng, read_release  # noqa: PLC0415

    kernel = request.case.value(KernelRandom)
    if kernel is not None and kernel.can_block is False and not request.force:
        reason = f"on this kernel /dev/random does not block after boot ({kernel.reason})"
        return Answer(reason=f"a virtio-rng device would change nothing: {reason}")
    feeders = request.case.value(Feeders)
    if feeders is not None and "virtio" in feeders.hwrng and not request.force:
        return Answer(reason=f"the machine has one already ({feeders.hwrng})")
    machine = request.case.value(Machine)
    if machine is not None and surface not in machine.surfaces and not request.force:
        return Answer(reason=_unfit(machine), notes=("--force prints it all the same",))
    notes = [f"this machine runs on {machine.title} ({machine.told_by})"] if machine else []
    if machine is not None and machine.none:
        notes.append(machine.none)
    release = read_release(kernel.release) if kernel is not None and kernel.release else None
    if release is not None and not fed_by_hwrng(release, "virtio_rng.0", None):
        notes.append(_OLD_KERNEL)
    if surface in LIVE:
        notes.append("what waits now goes on within seconds of its being attached")
    elif surface == PROXMOX:
        notes.append("it frees nothing that hangs now: the machine is stopped for it")
    text = templates.render(f"fix/{surface}/text.j2")
    return Answer(text.encode(), notes=("on the hypervisor, not in the guest", *notes))


def _unfit(machine: Machine) -> str:
    if not machine.title:
        return f"this is no virtual machine that is known ({machine.told_by}): rngd or haveged feeds its pool"
    fitting = " or ".join(machine.surfaces)
    other = f": --surface {fitting}" if fitting else f": {machine.none}"
    return f"this machine runs on {machine.title} ({machine.told_by}){other}"


def _running(case: Case) -> str:
    """What feeds the pool already."""
    feeders = case.value(Feeders)
    if feeders is None:
        return ""
    if feeders.running:
        daemon = feeders.running[0]
        return f"{daemon.name} runs already (process {daemon.pid}): if the pool is dry all the same, see its log"
    if feeders.self_feeding:
        return f"the kernel feeds its pool from {feeders.hwrng} by itself"
    return ""


ANSWERS = {
    **{name: partial(daemon, name) for name in ("rngd", "haveged", "jitterentropy")},
    **{name: partial(virtio, name) for name in VIRTIO},
    "kernel-update": kernel_update,
}
