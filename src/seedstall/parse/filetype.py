"""Files that people hand over and that are no text: what each is by its first bytes, and what to hand over instead.

Signatures from the formats' own documents: hprof (JDK, heapDumper.cpp), JFR chunks (FLR), the class file (JVMS 4.1),
PDF, RTF, PNG, JPEG, GIF, pcap and pcapng, SQLite, CFB (Outlook, old Office), systemd's journal, perf.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class FileType(NamedTuple):
    """What a file is, and what a person may hand over instead of it."""

    what: str
    instead: str


HEAD: Final = 512
"""Bytes that tell."""
_THREADS: Final = "a thread dump says where threads wait: jstack PID, or kill -3"
_PICTURE: Final = "a picture is not read: paste the text itself into a file"
_PROGRAM: Final = "start it and name its PID"
_FIRST_BYTES: Final = (
    (b"JAVA PROFILE ", FileType("a heap dump (hprof)", _THREADS)),
    (b"\x00\x12portable heap dump", FileType("a heap dump (phd)", "javacore*.txt has the threads")),
    (b"FLR\x00", FileType("a flight recording", "jfr print --events jdk.ThreadDump FILE > dump.txt")),
    (b"%PDF-", FileType("a PDF document", "pdftotext -layout FILE text.txt")),
    (b"{\\rtf", FileType("a text in RTF", "save it as plain text")),
    (b"\x89PNG\r\n\x1a\n", FileType("a picture (PNG)", _PICTURE)),
    (b"\xff\xd8\xff", FileType("a picture (JPEG)", _PICTURE)),
    (b"GIF87a", FileType("a picture (GIF)", _PICTURE)),
    (b"GIF89a", FileType("a picture (GIF)", _PICTURE)),
    (b"II*\x00", FileType("a picture (TIFF)", _PICTURE)),
    (b"MM\x00*", FileType("a picture (TIFF)", _PICTURE)),
    (b"\xca\xfe\xba\xbe\x00", FileType("a Java class file", _PROGRAM)),
    (b"\xac\xed\x00\x05", FileType("serialised Java objects", _THREADS)),
    (b"\xd4\xc3\xb2\xa1", FileType("a packet capture (pcap)", "ss -tnp, or a thread dump, says who waits for whom")),
    (b"\xa1\xb2\xc3\xd4", FileType("a packet capture (pcap)", "ss -tnp, or a thread dump, says who waits for whom")),
    (b"\x4d\x3c\xb2\xa1", FileType("a packet capture (pcap)", "ss -tnp, or a thread dump, says who waits for whom")),
    (b"\n\r\r\n", FileType("a packet capture (pcapng)", "ss -tnp, or a thread dump, says who waits for whom")),
    (b"SQLite format 3\x00", FileType("an SQLite database", _THREADS)),
    (b"LPKSHHRH", FileType("a journal file of systemd", "journalctl --file FILE > journal.txt")),
    (b"PERFILE2", FileType("a recording of perf", "perf script -i FILE > stacks.txt")),
    (b"MDMP", FileType("a minidump of Windows", _THREADS)),
    (b"ElfFile\x00", FileType("an event log of Windows", "wevtutil qe FILE /lf:true /f:text > events.txt")),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", FileType("a mail or document of Office", "save it as text")),
    (b"nBpRoFiLeR", FileType("a profiler's snapshot (VisualVM)", _THREADS)),
    (b"PAR1", FileType("a Parquet file", "export it as JSON lines or CSV")),
    (b"!<arch>\n", FileType("a library or package (ar)", _PROGRAM)),
    (b"\xed\xab\xee\xdb", FileType("a package (RPM)", _PROGRAM)),
)  # fmt: skip
_ZIP: Final = b"PK\x03\x04"
_ZIP_NAME: Final = 30
_ZIPPED: Final = (
    (b"META-INF/", FileType("a Java archive (jar)", _PROGRAM)),
    (b"WEB-INF/", FileType("a web application (war)", "name the PID of the server that runs it")),
    (b"[Content_Types].xml", FileType("a document of Office", "save it as text")),
    (b"mimetypeapplication/vnd.oasis", FileType("an OpenDocument file", "save it as text")),
)
_PE: Final = 0x3C


def filetype(head: bytes) -> FileType | None:
    """What a file is that begins with *head* (`HEAD` bytes, or all of it); ``None`` where it may be a text."""
    if head.startswith(_ZIP):
        name = head[_ZIP_NAME:]
        return next((found for start, found in _ZIPPED if name.startswith(start)), None)
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return FileType("a picture (WebP)", _PICTURE)
    if head[4:8] == b"ftyp" and head[:1] == b"\x00":
        return FileType("a film or a picture (MP4, HEIC)", _PICTURE)
    if head.startswith(b"MZ") and b"\x00" in head[2:_PE]:
        return FileType("a program of Windows", _PROGRAM)
    return next((found for magic, found in _FIRST_BYTES if head.startswith(magic)), None)
