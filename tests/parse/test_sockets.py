"""The kernel's tables of sockets."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from seedstall.parse import sockets

HEAD = b"  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
TCP = HEAD + (
    b"   0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 27731 1 x 100 0\n"
    b"   1: 0100007F:C001 0700000A:1538 02 00000001:00000000 01:00000064 00000002     0        0 27732 2 x 200\n"
    b"   2: 0100007F:C002 0100007F:1F90 01 00000000:00000000 00:00000000 00000000     0        0 27733 1 x 20 4\n"
)
TCP6 = HEAD + (
    b"   0: 00000000000000000000000000000000:1F90 00000000000000000000000000000000:0000 0A 0:0 00:0 0 0 0 41 1 x\n"
    b"   1: 0000000000000000FFFF00000100007F:C001 0000000000000000FFFF00000100007F:0035 02 0:0 00:0 0 0 0 42 1 x\n"
    b"   2: B80D0120000000000000000001000000:C001 B80D0120000000000000000002000000:01BB 02 0:0 00:0 0 0 0 43 1 x\n"
)


def test_connections_have_another_end() -> None:
    assert sockets.connections(TCP, "tcp") == [
        sockets.Connection("27732", "10.0.0.7:5432", sockets.SYN_SENT, "tcp"),
        sockets.Connection("27733", "127.0.0.1:8080", 1, "tcp"),
    ]
    assert [(c.peer, c.protocol) for c in sockets.connections(TCP6, "tcp6")] == [
        ("127.0.0.1:53", "tcp"),
        ("[2001:db8:0:0:0:0:0:2]:443", "tcp"),
    ]


def test_what_listens_at_a_port() -> None:
    assert sockets.listening(TCP, 8080) == {"27731"}
    assert sockets.listening(TCP6, 8080) == {"41"}
    assert sockets.listening(TCP, 0xC001) == set()
    assert sockets.listening(TCP, 0xF90) == set(), "the whole port, not the end of it"


@given(st.binary(), st.integers(1, 65535))
def test_any_bytes_are_read(data: bytes, port: int) -> None:
    sockets.connections(data, "udp")
    sockets.listening(HEAD + data, port)


@given(st.lists(st.binary(min_size=1, max_size=12), min_size=10, max_size=12))
def test_any_fields_are_read(fields: list[bytes]) -> None:
    line = b" ".join(fields)
    sockets.connections(HEAD + line, "tcp")
    sockets.listening(HEAD + line, 80)
