"""Texts that two programs had a hand in, one after the other: each wraps in a way of its own."""

from __future__ import annotations

import codecs
import html
import io
import json
import tarfile
import zipfile
from email.message import EmailMessage

import pytest
from tests.texts import live

from seedstall.parse.text import plain
from seedstall.parse.threaddump import thread_dumps

DUMP = live("tomcat10-jdk17-hang.txt")
WORDS = DUMP.decode()
LINES = WORDS.split("\n")


def zipped() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as packed:
        packed.writestr("a.txt", "see the other\n")
        packed.writestr("b/dump.txt", WORDS.encode("utf-16"))
    return file.getvalue()


def tarred() -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w:gz") as packed:
        entry = tarfile.TarInfo("d.txt")
        entry.size = len(DUMP)
        packed.addfile(entry, io.BytesIO(DUMP))
    return file.getvalue()


def mail(attached: bytes) -> EmailMessage:
    told = EmailMessage()
    told["From"], told["To"], told["Subject"] = "a@example.org", "b@example.org", "slow"
    told.set_content("see below")
    told.add_attachment(attached, maintype="application", subtype="zip", filename="d.zip")
    return told


def forwarded(told: EmailMessage) -> EmailMessage:
    outer = EmailMessage()
    outer["From"], outer["To"], outer["Subject"] = "b@example.org", "c@example.org", "Fwd"
    outer.set_content("please look")
    outer.add_attachment(told)
    return outer


def docker(lines: list[str]) -> str:
    stamp = "2026-11-30T14:21:18.123456789Z"
    return "".join(
        json.dumps({"log": f"{line}\n", "stream": "stdout", "time": stamp}) + "\n" for line in lines
    )


def cri(lines: list[str]) -> str:
    return "".join(f"2026-11-30T14:21:18.123456789Z stdout F {line}\n" for line in lines)


HALF = len(LINES) // 2
BREAKS = html.escape(WORDS).replace("\n", "<br/>")
TEXTS: dict[str, bytes] = {
    "a zip in a mail": mail(zipped()).as_bytes(),
    "a tar in a mail": mail(tarred()).as_bytes(),
    "a mail in a mail": forwarded(mail(DUMP)).as_bytes(),
    "a mail in a mail in a mail": forwarded(forwarded(mail(zipped()))).as_bytes(),
    "of CRI, then of Docker": (cri(LINES[:HALF]) + docker(LINES[HALF:])).encode(),
    "of Docker, then of CRI": (docker(LINES[:HALF]) + cri(LINES[HALF:])).encode(),
    "a log in UTF-16 to which a dump was appended": codecs.BOM_UTF16_LE
    + "start\r\n".encode("utf-16-le")
    + DUMP,
    "a page in a feed": f"<rss><description>&lt;p&gt;{html.escape(BREAKS)}&lt;/p&gt;</description></rss>".encode(),
    "names with places to break": html.escape(WORDS).replace("java.", "java.<wbr>").encode(),
    "indented as Chinese pages do": WORDS.replace("\t", "\N{IDEOGRAPHIC SPACE}" * 2).encode(),
    "colours with colons": "".join(f"\x1b[38:5:196m{x}\x1b[39m\x1b(B\n" for x in LINES).encode(),
}


@pytest.mark.parametrize("kind", TEXTS)
def test_the_threads_come_out(kind: str) -> None:
    (expected,) = thread_dumps(DUMP, "x")

    dumps = thread_dumps(plain(TEXTS[kind]), "x")

    assert [t.name for d in dumps for t in d.threads] == [t.name for t in expected.threads]
    assert [[f.name for f in t.frames] for d in dumps for t in d.threads] == [
        [f.name for f in t.frames] for t in expected.threads
    ]


def test_mails_in_mails_end_somewhere() -> None:
    head = "From: a@example.org\nTo: b@example.org\nMIME-Version: 1.0\nContent-Type: message/rfc822\n\n"
    plain((head * 3000 + "x").encode())
    parted = "".join(
        f"From: a\nTo: b\nContent-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n"
        "Content-Type: message/rfc822\n\n"
        for n in range(2000)
    )
    plain(parted.encode())
