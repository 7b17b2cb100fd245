"""What a bundle holds besides what this version's rules ask for: for people, and for rules that are not written yet."""

from __future__ import annotations

from typing import Final

OF_PROCESS: Final = (
    "cmdline",
    "environ",
    "maps",
    "stat",
    "status",
    "cgroup",
    "limits",
    "sched",
    "schedstat",
    "wchan",
    "io",
    "mountinfo",
    "exe-header",
)
LINKS_OF_PROCESS: Final = ("exe", "cwd", "root", "ns/pid", "ns/mnt", "ns/net", "ns/user")
OF_TASK: Final = ("stat", "status", "comm", "wchan", "syscall", "sched", "schedstat", "children")
OF_HOST: Final = (
    "proc/version",
    "proc/uptime",
    "proc/loadavg",
    "proc/meminfo",
    "proc/cmdline",
    "proc/self/mountinfo",
    "proc/sys/kernel/osrelease",
    "proc/sys/kernel/hostname",
    "proc/sys/crypto/fips_enabled",
    "proc/pressure/cpu",
    "proc/pressure/io",
    "proc/pressure/memory",
    "etc/os-release",
    "etc/system-fips",
    "sys/hypervisor/type",
    "sys/class/dmi/id/sys_vendor",
    "sys/class/dmi/id/product_name",
    "dmesg",
)
FOLDERS_OF_HOST: Final = ("proc/sys/kernel/random", "sys/class/misc/hw_random")
"""Their names and their files."""
NOT_FILES: Final = ("uuid", "boot_id", "dev", "power", "subsystem", "uevent", "device")
"""What draws (``uuid``), names the boot, or is sysfs's own."""
DEVICES: Final = ("dev/random", "dev/urandom", "dev/hwrng")
CHANGES_OF_PROCESS: Final = ("stat", "status", "schedstat", "sched", "wchan", "io")
"""What a further take reads again, besides all of its threads."""
CHANGES_OF_HOST: Final = (
    "proc/uptime",
    "proc/loadavg",
    "proc/pressure/cpu",
    "proc/pressure/io",
    "proc/pressure/memory",
    "proc/sys/kernel/random/entropy_avail",
)
MOST_TASKS: Final = 5_000
MOST_DESCRIPTORS: Final = 5_000
