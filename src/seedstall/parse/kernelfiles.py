"""What the kernel's and the distribution's small files say: bytes to values, nothing judged.

Every function takes whatever bytes a source found, reads a bounded part of them, and raises only ``ValueError``.
"""

from __future__ import annotations

import re
from typing import NamedTuple

MAX_TEXT = 4096
MAX_LOG = 8 * 1024 * 1024
"""Bytes of a kernel log that are looked at: ``CONFIG_LOG_BUF_SHIFT`` allows 32 MiB, boot lines stand first."""
MAX_MESSAGES = 256
MAX_SYMBOLS = 64 * 1024 * 1024
MAX_BITS = 1 << 24

_LOG_STAMP = r"(?:<\d{1,3}>)?\[ {0,12}(\d{1,10}\.\d{1,9})\]"


class Message(NamedTuple):
    """One line of the kernel log about random numbers.

    ``at`` is in seconds since boot, ``None`` where the line has no such stamp (``dmesg -T``, a journal);
    ``text`` is what follows ``random:``.
    """

    at: float | None
    text: str


class Node(NamedTuple):
    """A ``STAT`` answer: ``mode`` with its type bits, ``rdev`` of a device."""

    mode: int
    rdev: tuple[int, int]


def names(listing: bytes) -> tuple[str, ...]:
    """The names in a ``LIST`` answer (each ended by NUL)."""
    return tuple(n.decode("utf-8", "replace") for n in listing.split(b"\0") if n)


def count(data: bytes) -> int:
    r"""A number of bits as the sysctl files print it (``256\n``).

    Raises:
        ValueError: it is not a number, or no possible one.
    """
    text = data[:32].strip()
    if not text.isdigit():
        raise ValueError(f"not a number of bits: {text[:20]!r}")
    value = int(text)
    if value > MAX_BITS:
        raise ValueError(f"no pool has {value} bits")
    return value


def switch(data: bytes) -> bool:
    """``0`` or ``1``, as in ``/proc/sys/crypto/fips_enabled``.

    Raises:
        ValueError: it is neither.
    """
    text = data[:8].strip()
    if text not in (b"0", b"1"):
        raise ValueError(f"neither 0 nor 1: {text!r}")
    return text == b"1"


def line(data: bytes) -> str:
    """The first line of a one-line file, trimmed, fit to be shown.

    Raises:
        ValueError: there is no text in it.
    """
    text = data[:MAX_TEXT].decode("utf-8", "replace").partition("\n")[0].strip("\0\r\t ")
    if not text:
        raise ValueError("an empty line")
    return text


def uptime_s(data: bytes) -> float:
    """Seconds since boot from ``/proc/uptime`` (``47.86 18.30``).

    Raises:
        ValueError: it does not begin with a number of seconds.
    """
    first = data[:64].split(maxsplit=1)
    whole, _, part = first[0].partition(b".") if first else (b"", b"", b"")
    if not whole.isdigit() or not (part.isdigit() or not part) or len(whole) > 12:  # noqa: PLR2004 - 30000 years
        raise ValueError("no uptime")
    return float(first[0])


def generators(data: bytes) -> tuple[str, ...]:
    """Names in ``hw_random/rng_available`` or ``rng_current``.

    The list is empty where there is none, and ends with the word ``none`` from about 6.12 on.
    """
    words = data[:MAX_TEXT].decode("utf-8", "replace").split()
    return tuple(w for w in words[:64] if w != "none")


def cpu_flags(data: bytes) -> frozenset[str]:
    """The ``flags`` (x86) or ``Features`` (arm) of the first CPU in ``/proc/cpuinfo``; empty where it has none."""
    for row in data[: 64 * 1024].decode("utf-8", "replace").splitlines():
        name, _, value = row.partition(":")
        if name.strip() in ("flags", "Features"):
            return frozenset(value.split()[:1024])
    return frozenset()


def random_messages(log: bytes) -> tuple[Message, ...]:
    """The lines of the random driver (and gVisor's first line) in a kernel log, in order.

    Until 5.5 the text ``random: `` stands in each message; Ubuntu 5.4.0-125 says ``crng init done``
    without it. Other parts of the kernel also write "random", so only the driver's own prefix counts.
    """
    found: list[Message] = []
    for raw in log[:MAX_LOG].split(b"\n"):
        if b"random: " not in raw and b"crng " not in raw and b"Starting gVisor" not in raw:
            continue
        message = _message(raw[:512].decode("utf-8", "replace"))
        if message is not None:
            found.append(message)
            if len(found) == MAX_MESSAGES:
                break
    return tuple(found)


def _message(text: str) -> Message | None:
    head, sign, tail = text.partition("kernel: ")  # a journal's or syslog's prefix
    if sign and "random: " not in head:
        text = tail
    stamp = re.match(_LOG_STAMP, text)
    at = float(stamp.group(1)) if stamp else None
    if stamp:
        text = text[stamp.end() :]
    elif text.startswith("["):  # dmesg -T
        text = text.partition("]")[2]
    text = text.strip()
    if text.startswith("random: "):
        return Message(at, text.removeprefix("random: "))
    if text.startswith(("crng init done", "crng done", "Starting gVisor")):
        return Message(at, text)
    return None


def log_release(log: bytes) -> str:
    """What follows ``Linux version`` in the first line of a kernel log; ``""`` where the log has lost it."""
    start = log.find(b"Linux version ", 0, 64 * 1024)
    return line(log[start:]) if start >= 0 else ""


def random_symbols(kallsyms: bytes, wanted: frozenset[str]) -> frozenset[str]:
    """Which of *wanted* are names in ``/proc/kallsyms`` (addresses may be zeroed)."""
    data = kallsyms[:MAX_SYMBOLS]
    return frozenset(name for name in wanted if b" " + name.encode() + b"\n" in data)


def os_release(data: bytes) -> dict[str, str]:
    """The variables of ``/etc/os-release``: shell assignments, quotes and backslashes as in os-release(5)."""
    values: dict[str, str] = {}
    for row in data[: 16 * MAX_TEXT].decode("utf-8", "replace").splitlines()[:256]:
        name, sign, value = row.strip().partition("=")
        if sign and name.isidentifier():
            values[name] = _unquoted(value.strip())
    return values


def _unquoted(value: str) -> str:
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        quote, value = value[0], value[1:-1]
        if quote == '"':
            value = re.sub(r"\\([\"$`\\])", r"\1", value)
    return value[:256]


# How the one-line release files of the time before os-release name themselves, and the ID os-release would give.
_RELEASE_NAMES = (
    ("CentOS Stream", "centos"),
    ("CentOS", "centos"),
    ("Red Hat Enterprise Linux", "rhel"),
    ("Scientific Linux", "scientific"),
    ("Oracle Linux", "ol"),
    ("Amazon Linux", "amzn"),
    ("AlmaLinux", "almalinux"),
    ("Rocky Linux", "rocky"),
    ("Fedora", "fedora"),
    ("SUSE Linux Enterprise", "sles"),
    ("openSUSE", "opensuse"),
)


def release_line(data: bytes) -> tuple[str, str, str]:
    """``(id, version, text)`` from ``/etc/redhat-release`` and its like (``CentOS release 6.10 (Final)``).

    Raises:
        ValueError: no distribution that is known writes this.
    """
    text = line(data)[:200]
    for name, identity in _RELEASE_NAMES:
        if text.startswith(name):
            found = re.search(r"\d{1,4}(?:\.\d{1,4}){0,2}", text)
            return identity, found.group() if found else "", text
    raise ValueError(f"not a release line: {text[:60]!r}")


def node(stat: bytes) -> Node:
    """A ``STAT`` answer taken apart: ``MODE RDEV_MAJOR RDEV_MINOR ...``, the mode in octal.

    Raises:
        ValueError: it is not one.
    """
    fields = stat[:256].split()
    if len(fields) < 3 or not re.fullmatch(rb"(?:0o)?[0-7]{1,7}", fields[0]):  # noqa: PLR2004 - mode and two numbers
        raise ValueError(f"not a stat line: {stat[:40]!r}")
    if not all(re.fullmatch(rb"\d{1,10}", f) for f in fields[1:3]):
        raise ValueError(f"not a device number: {stat[:40]!r}")
    return Node(int(fields[0], 8), (int(fields[1]), int(fields[2])))
