"""A stand-in for an OpenJ9 JVM, as far as its attach protocol goes: run as a program of its own, in a /tmp of its own.

    python openj9_peer.py FOLDER MODE UID [PID]

With a PID it shares that one's /tmp.

It follows OpenJ9's public source (AttachHandler, WaitLoop, Attachment, Reply, Advertisement; jcl/common/attach.c), with
nothing of seedstall in it. A file called libj9vm29.so is mapped, by which an OpenJ9 JVM is known.
"""

from __future__ import annotations

import ctypes
import encodings.idna  # noqa: F401 - socket asks for it, perhaps when the user has changed
import fcntl
import mmap
import os
import socket
import stat
import sys
import time
from pathlib import Path

COMMON = Path("/tmp/.com_ibm_tools_attach")
RESULT = (
    "#\n#Mon Nov 30 20:00:00 UTC 2026\nopenj9_diagnostics.error=false\n"
    "openj9_diagnostics.errortype=Error in command\n"
    "openj9_diagnostics.string_result=JRE 17 Linux amd64-64-Bit Compressed References\\n\\n"
    '"main" prio\\=5 Id\\=1 RUNNABLE\\n\\tat app.Main.main(Main.java\\:7)\\n\\\\o/ \\u20AC\n'
)
libc = ctypes.CDLL(None, use_errno=True)


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


class Operation(ctypes.Structure):
    _fields_ = (("number", ctypes.c_ushort), ("change", ctypes.c_short), ("flags", ctypes.c_short))


def key_of(path: Path) -> int:
    libc.ftok.argtypes = [ctypes.c_char_p, ctypes.c_int]
    return int(libc.ftok(str(path).encode(), 0xA1))


def semaphore() -> int:
    found = libc.semget(key_of(COMMON / "_notifier"), 1, 0o1000 | 0o666)  # IPC_CREAT
    assert found >= 0, os.strerror(ctypes.get_errno())
    return int(found)


def advertise(mode: str) -> Path:
    os.umask(0)
    COMMON.mkdir(mode=0o1777, exist_ok=True)
    (COMMON / "_notifier").touch(0o666)
    own = COMMON / ("named" if mode == "named" else str(os.getpid()))
    own.mkdir(mode=0o1711)
    (own / "attachNotificationSync").touch(0o666)
    info = own / "attachInfo"
    info.touch(0o600)
    info.write_text(
        f"version=0.1\nuserId=app\nuserUid={os.getuid()}\nprocessId={os.getpid()}\nvmId={own.name}\n"
        f"displayName=app.Main\\ x\nnotifier=_notifier\nglobalSemaphore=true\nreplyFile={own}/replyInfo\n"
        f"attachNotificationSync={own}/attachNotificationSync\n"
    )
    return own


def reply_of(own: Path) -> tuple[str, int] | None:
    file = own / "replyInfo"
    if not file.exists():
        return None
    found = file.stat()
    assert found.st_uid == os.getuid(), "IPC.checkOwnerAccessOnly"
    assert not stat.S_IMODE(found.st_mode) & 0o066
    key, port = file.read_text().splitlines()[:2]
    return key, int(port)


def message(connection: socket.socket) -> str:
    data = b""
    while not data.endswith(b"\0"):
        more = connection.recv(100)
        if not more:
            return ""
        data += more
    return data[:-1].decode()


def serve(key: str, port: int, mode: str) -> None:
    if mode == "silent":
        return
    if mode == "strangers":  # somebody else connects first, and does not know the key
        for text in (b"ATTACH_CONNECTED guess \0", b"GET / HTTP/1.0\r\n\r\n\0"):
            with socket.create_connection(("127.0.0.1", port)) as stranger:
                stranger.sendall(text)
                assert stranger.recv(10) == b"", "it is told nothing"
    where = "::1" if mode == "six" else "127.0.0.1"
    with socket.create_connection((where, port)) as connection:
        connection.sendall(f"ATTACH_CONNECTED {key} \0".encode())
        command = message(connection)
        say(command)
        answer = {
            "error": "openj9_diagnostics.error=true\nopenj9_diagnostics.errormsg=Command\\ not recognized\n",
            "old": "ATTACH_ERR command invalid: " + command,
        }.get(mode, RESULT)
        try:
            if mode == "endless":
                while True:
                    connection.sendall(b"x" * 65536)
            if mode == "drip":
                for _ in range(3000):
                    connection.sendall(b"x")
                    time.sleep(0.001)
            if mode == "hang-up":
                return
            connection.sendall(answer.encode() + b"\0")
            say(message(connection))
        except OSError:
            say("it hung up")


def own_tmp() -> None:
    assert libc.unshare(0x20000) == 0  # CLONE_NEWNS
    assert libc.mount(b"none", b"/", None, 0x44000, None) == 0  # MS_REC | MS_PRIVATE
    assert libc.mount(b"none", b"/tmp", b"tmpfs", 0, b"mode=1777") == 0


def tmp_of(pid: str) -> None:
    fd = os.open(f"/proc/{pid}/ns/mnt", os.O_RDONLY)
    assert libc.setns(fd, 0x20000) == 0
    os.close(fd)


def main(folder: str, mode: str, uid: str, pid: str = "") -> None:
    library = Path(folder, "libj9vm29.so")
    with library.open("rb") as file:
        mapped = mmap.mmap(file.fileno(), 4096, prot=mmap.PROT_READ | mmap.PROT_EXEC)
        tmp_of(pid) if pid else own_tmp()
        os.setgid(int(uid))
        os.setuid(int(uid))
        # Shown as a JVM's would be: after a change of user without exec its files are root's (prctl(2)).
        assert libc.prctl(4, 1, 0, 0, 0) == 0
        own = advertise(mode) if mode != "off" else None
        set_id = semaphore() if own else -1
        say(f"up {set_id}")
        if own is None:
            time.sleep(600)
            return
        with (own / "attachNotificationSync").open("wb") as sync:
            while libc.semop(set_id, ctypes.byref(Operation(0, -1, 0)), 1) == 0:
                found = reply_of(own)
                if found is not None:
                    serve(*found, mode)
                fcntl.lockf(sync, fcntl.LOCK_EX)
                fcntl.lockf(sync, fcntl.LOCK_UN)
                time.sleep(0.3)
        mapped.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
