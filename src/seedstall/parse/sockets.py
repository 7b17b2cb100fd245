"""The kernel's tables of sockets: ``/proc/PID/net/tcp`` and its like (Documentation/networking/proc_net_tcp.rst)."""

from __future__ import annotations

from typing import NamedTuple

SYN_SENT = 2
LISTEN = 10
MAX_LINES = 50_000


class Connection(NamedTuple):
    """One socket: its inode as text, its other end as ``10.0.0.7:5432``, and the kernel's number of its state."""

    inode: str
    peer: str
    state: int
    protocol: str


def connections(data: bytes, table: str) -> list[Connection]:
    """The sockets of one table (``tcp``, ``tcp6``, ``udp``, ``udp6``) that have another end.

    Lines that are none are left out.
    """
    found: list[Connection] = []
    for fields in _rows(data):
        peer, state = _address(fields[2]), fields[3]
        if peer and not peer.endswith(":0"):
            found.append(
                Connection(_text(fields[9]), peer, int(state, 16), table.removesuffix("6"))
            )
    return found


def listening(data: bytes, port: int) -> set[str]:
    """The inodes of the sockets that listen at *port*."""
    wanted = b":%04X" % port
    return {
        _text(fields[9])
        for fields in _rows(data)
        if fields[1].endswith(wanted) and int(fields[3], 16) == LISTEN
    }


def _rows(data: bytes) -> list[list[bytes]]:
    rows = (line.split(None, 11) for line in data.split(b"\n", MAX_LINES)[1:])
    return [row for row in rows if len(row) > 9 and len(row[3]) == 2 and _is_hex(row[3])]  # noqa: PLR2004


def _is_hex(text: bytes) -> bool:
    return text.isalnum() and all(c in b"0123456789ABCDEFabcdef" for c in text)


def _address(text: bytes) -> str:
    """``0100007F:1F90`` as ``127.0.0.1:8080``: the address in words of four bytes of the machine's own order.

    Every architecture that runs a JVM today but s390x is little-endian; there the bytes stand reversed.
    """
    host, colon, port = text.partition(b":")
    if not colon or len(host) not in (8, 32) or not _is_hex(host) or not _is_hex(port):
        return ""
    if len(port) > 4:  # noqa: PLR2004 - sixteen bits
        return ""
    raw = bytes.fromhex(host.decode("ascii"))
    address = b"".join(raw[at : at + 4][::-1] for at in range(0, len(raw), 4))
    if address[:12] == b"\0" * 10 + b"\xff\xff":  # an IPv4 address in IPv6's form
        address = address[12:]
    if len(address) == 4:  # noqa: PLR2004 - IPv4
        return f"{'.'.join(map(str, address))}:{int(port, 16)}"
    groups = (address[at : at + 2].hex() for at in range(0, 16, 2))
    return f"[{':'.join(group.lstrip('0') or '0' for group in groups)}]:{int(port, 16)}"


def _text(data: bytes) -> str:
    return data.decode("ascii", "replace")
