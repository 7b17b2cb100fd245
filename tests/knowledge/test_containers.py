"""How control groups name containers: paths as the runtimes write them."""

from __future__ import annotations

import pytest

from seedstall.knowledge.containers import container_of

ID = "4f1d2c3b" * 8
SHORT = "4f1d2c3b4f1d"
POD = "kubepods-burstable-pod12345678_1234_1234_1234_123456789012.slice"


@pytest.mark.parametrize(
    ("path", "found"),
    [
        (f"/docker/{ID}", ("Docker", SHORT)),
        (f"/system.slice/docker-{ID}.scope", ("Docker", SHORT)),
        (f"/system.slice/docker-{ID}.scope/init.scope", ("Docker", SHORT)),
        (
            f"/kubepods.slice/kubepods-burstable.slice/{POD}/cri-containerd-{ID}.scope",
            ("containerd", SHORT),
        ),
        (f"/kubepods.slice/{POD}/crio-{ID}.scope", ("CRI-O", SHORT)),
        (f"/kubepods/burstable/pod1234-5678/{ID}", ("Kubernetes", SHORT)),
        (f"/machine.slice/libpod-{ID}.scope/container", ("Podman", SHORT)),
        (
            f"/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-{ID}.scope",
            ("Podman", SHORT),
        ),
        ("/lxc/web", ("LXC", "web")),
        ("/lxc.payload.web/system.slice/tomcat.service", ("LXC", "web")),
        ("/machine.slice/machine-web.scope/payload", ("systemd-nspawn", "web")),
        (f"/ecs/{ID}", ("ECS", SHORT)),
        (f"/docker/{ID}/docker/{'ab' * 32}", ("Docker", "ab" * 6)),
        (f"/somebody/{ID}", ("", SHORT)),
        # on the host
        ("/", None),
        ("/system.slice/docker.service", None),
        ("/system.slice/tomcat9.service", None),
        ("/user.slice/user-1000.slice/session-2.scope", None),
        (f"/machine.slice/libpod-conmon-{ID}.scope", None),
        ("/docker/buildkit", None),
        ("/init.scope", None),
    ],
)
def test_runtime_and_id(path: str, found: tuple[str, str] | None) -> None:
    assert container_of([path]) == found
    assert container_of(["/", path]) == found


def test_a_hostile_depth_is_cut() -> None:
    assert container_of(["/x" * 1_000_000]) is None
