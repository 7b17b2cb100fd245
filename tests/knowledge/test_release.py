from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seedstall.knowledge.release import (
    Maker,
    by_release,
    drains_at_reseed,
    fed_by_hwrng,
    has_extrng,
    read_release,
)
from seedstall.model.kernel import BlockingModel, Certainty

POOL, INIT = BlockingModel.BLOCKING_POOL, BlockingModel.UNTIL_INIT
NEVER, UNKNOWN = BlockingModel.NEVER, BlockingModel.UNKNOWN

CASES = [
    # RHEL and its rebuilds
    ("2.6.18-419.el5", Maker.EL, POOL, 12),
    ("2.6.32-754.35.1.el6.x86_64", Maker.EL, POOL, 12),
    ("3.10.0-514.el7.x86_64", Maker.EL, POOL, 12),
    ("3.10.0-957.el7", Maker.EL, POOL, 12),
    ("3.10.0-1160.59.1.el7.x86_64", Maker.EL, POOL, 12),
    ("3.10.0-962.3.2.lve1.5.49.el7.x86_64", Maker.EL, POOL, 12),
    ("4.14.0-115.el7a.aarch64", Maker.EL, POOL, 12),
    ("4.18.0-80.el8.x86_64", Maker.EL, POOL, 12),
    ("4.18.0-553.66.1.el8_10.x86_64", Maker.EL, POOL, 12),
    ("4.18.0-193.rt13.51.el8.x86_64", Maker.EL, POOL, 12),
    ("5.14.0-70.13.1.el9_0.x86_64", Maker.EL, INIT, 9),
    ("6.12.0-55.el10.x86_64", Maker.EL, INIT, 9),
    # an el tag on another base is a stable branch, packaged (ELRepo, Xen4CentOS)
    ("4.4.245-1.el7.elrepo.x86_64", Maker.PLAIN, POOL, 12),
    ("5.4.199-1.el7.elrepo.x86_64", Maker.PLAIN, POOL, 12),
    ("5.4.226-1.el7.elrepo.x86_64", Maker.PLAIN, INIT, 10),
    ("6.1.0-1.el7.elrepo.x86_64", Maker.PLAIN, INIT, 9),
    ("5.14.0-1.el9.elrepo.x86_64", Maker.PLAIN, INIT, 9),
    ("4.9.241-37.el7.x86_64", Maker.PLAIN, POOL, 12),
    # Ubuntu's own package
    ("4.4.0-21-generic", Maker.UBUNTU, POOL, 12),
    ("4.4.0-210-generic", Maker.UBUNTU, POOL, 12),
    ("4.15.0-193-generic", Maker.UBUNTU, POOL, 12),
    ("4.15.0-193-lowlatency", Maker.UBUNTU, POOL, 12),
    ("4.15.0-194-generic", Maker.UBUNTU, INIT, 11),
    ("4.15.0-193.204-generic", Maker.UBUNTU, POOL, 12),
    ("5.0.0-15-generic", Maker.UBUNTU, POOL, 12),
    ("5.4.0-125-generic", Maker.UBUNTU, POOL, 12),
    ("5.4.0-126-generic", Maker.UBUNTU, INIT, 11),
    ("5.15.0-25-generic", Maker.UBUNTU, INIT, 9),
    ("2.6.32-21-generic", Maker.UBUNTU, POOL, 12),
    # its flavours count ABI numbers of their own: that alone decides nothing
    ("4.15.0-1139-aws", Maker.UBUNTU_FLAVOUR, UNKNOWN, 22),
    ("5.4.0-1009-aws", Maker.UBUNTU_FLAVOUR, UNKNOWN, 22),
    ("5.4.0-1103-gcp", Maker.UBUNTU_FLAVOUR, UNKNOWN, 22),
    ("4.11.0-1009-azure", Maker.UBUNTU_FLAVOUR, UNKNOWN, 22),
    ("5.6.0-1007-oem", Maker.UBUNTU_FLAVOUR, INIT, 9),
    # Debian
    ("3.16.0-4-amd64", Maker.DEBIAN, POOL, 12),
    ("2.6.32-5-amd64", Maker.DEBIAN, POOL, 12),
    ("4.9.0-18-amd64", Maker.DEBIAN, POOL, 12),
    ("4.9.0-19-amd64", Maker.DEBIAN, INIT, 10),
    ("4.19.0-20-cloud-amd64", Maker.DEBIAN, POOL, 12),
    ("4.19.0-21-amd64", Maker.DEBIAN, INIT, 10),
    ("4.19.0-0.bpo.19-amd64", Maker.DEBIAN, UNKNOWN, 13),
    ("4.19.0-0.deb9.24-amd64", Maker.DEBIAN, UNKNOWN, 13),
    ("5.10.0-46-amd64", Maker.DEBIAN, INIT, 9),
    ("6.12.117+deb13-amd64", Maker.PLAIN, INIT, 9),
    # Amazon, Oracle, SUSE
    ("4.14.203-156.332.amzn2.x86_64", Maker.AMAZON, POOL, 12),
    ("4.14.285-215.501.amzn2.x86_64", Maker.AMAZON, INIT, 10),
    ("5.4.190-107.353.amzn2.x86_64", Maker.AMAZON, POOL, 12),
    ("6.1.141-155.222.amzn2023.x86_64", Maker.AMAZON, INIT, 9),
    ("5.4.17-2036.101.2.el7uek.x86_64", Maker.UEK, POOL, 12),
    ("5.4.17-2136.330.7.1.el8uek.x86_64", Maker.UEK, UNKNOWN, 13),
    ("4.1.12-124.48.6.el6uek.x86_64", Maker.UEK, POOL, 12),
    ("5.15.0-3.60.5.1.el8uek.x86_64", Maker.UEK, INIT, 9),
    ("4.12.14-122.124-default", Maker.SUSE, UNKNOWN, 13),
    ("5.3.18-150300.59.90-default", Maker.SUSE, UNKNOWN, 13),
    ("3.0.101-0.47.71-default", Maker.SUSE, UNKNOWN, 13),
    ("5.14.21-150400.24.41-default", Maker.SUSE, INIT, 9),
    # Windows, gVisor
    ("4.4.0-19041-Microsoft", Maker.WSL1, NEVER, 8),
    ("4.19.104-microsoft-standard", Maker.WSL2, POOL, 12),
    ("5.10.16.3-microsoft-standard-WSL2", Maker.WSL2, INIT, 9),
    ("4.19.0-gvisor", Maker.GVISOR, NEVER, 1),
    ("4.4.0", Maker.PLAIN, UNKNOWN, 13),  # what older gVisor calls itself
    # kernel.org and those who build it as it is
    ("4.9.319-tegra", Maker.PLAIN, POOL, 12),
    ("4.9.320", Maker.PLAIN, INIT, 10),
    ("4.14.284", Maker.PLAIN, POOL, 12),
    ("4.14.285", Maker.PLAIN, INIT, 10),
    ("4.14.180-perf+", Maker.PLAIN, POOL, 12),
    ("4.19.248", Maker.PLAIN, POOL, 12),
    ("4.19.249", Maker.PLAIN, INIT, 10),
    ("5.4.199", Maker.PLAIN, POOL, 12),
    ("5.4.201-1-lts", Maker.PLAIN, INIT, 10),
    ("5.4.203-1-pve", Maker.PLAIN, INIT, 10),
    ("4.4.302+", Maker.PLAIN, POOL, 12),
    ("5.5.17-200.fc31.x86_64", Maker.PLAIN, POOL, 12),
    ("3.10.105", Maker.PLAIN, POOL, 12),
    ("5.6.0-rc1", Maker.PLAIN, INIT, 9),
    ("6.18.44-fc-v509", Maker.PLAIN, INIT, 9),
    # a branch alone does not say which sublevel it is
    ("5.4", Maker.PLAIN, UNKNOWN, 13),
    ("4.19.0", Maker.PLAIN, UNKNOWN, 13),
    ("4.15.0", Maker.PLAIN, UNKNOWN, 13),
]


@pytest.mark.parametrize(("text", "maker", "model", "row"), CASES)
def test_release_texts(text: str, maker: Maker, model: BlockingModel, row: int) -> None:
    release = read_release(text)

    assert release is not None
    assert release.maker is maker
    said = by_release(release)
    assert (said.model, said.row) == (model, row)
    assert said.reason


@pytest.mark.parametrize(
    ("text", "model"),
    [
        (
            (
                "Linux version 4.19.0-20-amd64 (debian-kernel@lists.debian.org) (gcc version 8.3.0 (Debian 8.3.0-6))"
                " #1 SMP Debian 4.19.235-1 (2022-03-17)"
            ),
            POOL,
        ),
        (
            (
                "Linux version 4.19.0-0.deb9.24-amd64 (debian-kernel@lists.debian.org) (gcc version 6.3.0 20170516"
                " (Debian 6.3.0-18+deb9u1)) #1 SMP Debian 4.19.282-1~deb9u1 (2023-04-29)"
            ),
            INIT,
        ),
        # the compiler's "Debian 4.9.2-10" is not the kernel's version
        (
            (
                "Linux version 4.9.0-0.bpo.12-amd64 (debian-kernel@lists.debian.org) (gcc version 4.9.2"
                " (Debian 4.9.2-10+deb8u2)) #1 SMP Debian 4.9.320-2~deb8u1 (2022-07-01)"
            ),
            INIT,
        ),
        (
            "Linux web1.2 4.15.0-193-generic #204-Ubuntu SMP Fri Aug 26 19:20:21 UTC 2022 x86_64 GNU/Linux",
            POOL,
        ),
        ("Linux 5.4.0-126-generic #142-Ubuntu SMP Fri Aug 26 12:12:57 UTC 2022", INIT),
        (
            "Linux version 5.4.0-1103-aws (buildd@x) (gcc) #111-Ubuntu SMP (Ubuntu 5.4.0-1103.111-aws 5.4.210)",
            INIT,
        ),
        (
            "Linux version 5.4.0-1069-aws (buildd@x) (gcc) #73-Ubuntu SMP (Ubuntu 5.4.0-1069.73-aws 5.4.174)",
            POOL,
        ),
        ("Linux version 4.4.0 #1 SMP Sun Jan 10 15:06:54 PST 2016", NEVER),  # gVisor's fixed text
        ("Linux version 5.3.18-59.37-default (geeko@buildhost) (gcc) #1 SMP", UNKNOWN),
    ],
)
def test_whole_lines(text: str, model: BlockingModel) -> None:
    release = read_release(text)

    assert release is not None
    assert by_release(release).model is model


@pytest.mark.parametrize("text", ["", "el7", "Ubuntu", "no kernel", "1", "v", "....", "4."])
def test_what_is_no_release(text: str) -> None:
    assert read_release(text) is None


@given(text=st.text(max_size=300), version=st.text(max_size=300))
def test_any_text_is_read_without_a_fuss(text: str, version: str) -> None:
    release = read_release(text, version)
    if release is not None:
        assert by_release(release).reason


@given(base=st.sampled_from(["4.9", "4.14", "4.19", "5.4"]), suffix=st.text(max_size=40))
def test_a_branch_whose_sublevel_is_hidden_is_never_judged_by_chance(
    base: str, suffix: str
) -> None:
    release = read_release(f"{base}.0-x{suffix}")
    if release is not None and release.maker in (Maker.PLAIN, Maker.UBUNTU_FLAVOUR):
        assert by_release(release).model in (UNKNOWN, POOL, INIT)
        if release.upstream is None:
            assert by_release(release).model is UNKNOWN


@pytest.mark.parametrize(
    "piece", ["4.", "-0.bpo.", "-a", "9", ".el", "-4.4", "Debian 4.9.", "Linux "]
)
def test_a_long_hostile_release_takes_no_time(piece: str) -> None:
    begin = time.perf_counter()
    for start in ("", "4.15.0-", "5.4.17"):
        read_release(start + piece * 100_000, piece * 100_000)
    assert time.perf_counter() - begin < 0.5


def test_certainty_follows_the_source() -> None:
    def certainty(text: str) -> Certainty:
        release = read_release(text)
        assert release is not None
        return by_release(release).certainty

    assert certainty("3.10.0-957.el7") is Certainty.HIGH
    assert certainty("4.15.0-193-generic") is Certainty.HIGH
    assert certainty("4.14.203-156.332.amzn2.x86_64") is Certainty.MEDIUM
    assert certainty("4.4.0-250-generic") is Certainty.LOW  # an ESM build nobody read
    assert certainty("4.4.0-19041-Microsoft") is Certainty.LOW


def test_who_has_extrng() -> None:
    def has(text: str) -> bool:
        release = read_release(text)
        assert release is not None
        return has_extrng(release)

    assert has("4.18.0-240.el8.x86_64")
    assert has("5.14.0-70.el9.x86_64")
    assert has("6.12.0-55.el10.x86_64")
    assert has("6.1.141-155.222.amzn2023.x86_64")
    assert not has("4.18.0-193.el8.x86_64")
    assert not has("3.10.0-1160.el7.x86_64")
    assert not has("5.15.0-3.60.5.1.el8uek.x86_64")
    assert not has("4.14.203-156.332.amzn2.x86_64")


def test_whose_count_falls_at_every_reseed() -> None:
    def drains(text: str) -> bool:
        release = read_release(text)
        assert release is not None
        return drains_at_reseed(release)

    assert drains("5.18.0")
    assert drains("5.14.0-162.6.1.el9_1.x86_64")
    assert drains("5.14.0-284.11.1.el9_2.x86_64")
    assert not drains("5.14.0-362.8.1.el9_3.x86_64")
    assert not drains("6.8.0-31-generic")


def test_when_the_kernel_feeds_itself() -> None:
    def feeds(text: str, name: str, quality: int | None = None) -> bool:
        release = read_release(text)
        assert release is not None
        return fed_by_hwrng(release, name, quality)

    assert feeds("4.15.0-193-generic", "virtio_rng.0")
    assert feeds("3.10.0-514.el7.x86_64", "virtio_rng.0")
    assert not feeds("3.10.0-327.el7.x86_64", "virtio_rng.0")
    assert not feeds("2.6.32-754.el6.x86_64", "virtio")
    assert not feeds("4.18.0-553.el8_10.x86_64", "tpm-rng-0")
    assert feeds("6.8.0-31-generic", "tpm-rng-0")
    assert not feeds("6.8.0-31-generic", "tpm-rng-0", 0)
