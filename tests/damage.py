"""What paste buffers, log collectors, browsers, mail and ticket programs do to a text, as functions from text to bytes.

`WRAPPINGS` put something around or before each line, or another encoding around all: a dump can be had back whole.
`DAMAGE` changes the lines themselves. `LOSSES` take something away for good: the answer may be less sure, never other.
"""

from __future__ import annotations

import base64
import bz2
import csv
import email.message
import email.policy
import gzip
import html
import io
import json
import lzma
import quopri
import random
import re
import tarfile
import textwrap
import zipfile
from collections.abc import Callable

Change = Callable[[str], str | bytes]
LOG = "30-Nov-2026 14:21:18.123 INFO [exec-1] com.foo.Bar.baz request (x) done"


def each(change: Callable[[int, str], str]) -> Callable[[str], str]:
    """Change each line, given its index."""
    return lambda text: "".join(change(i, line) + "\n" for i, line in enumerate(text.split("\n")))


def before(prefix: Callable[[int], str]) -> Callable[[str], str]:
    """Put a prefix before each line."""
    return each(lambda i, line: prefix(i) + line)


def clock(i: int) -> str:
    return f"14:{21 + i // 60 % 30}:{i % 60:02}"


def docker(number: int, line: str) -> str:
    """One object a line, as Docker's json-file driver writes it."""
    time = f"2026-11-30T{clock(number)}.123456789Z"
    return json.dumps({"log": line + "\n", "stream": "stdout", "time": time})


def cri(width: int) -> Callable[[str], str]:
    """What containerd and CRI-O write: a line longer than *width* in pieces (``P``), the last one ``F``."""

    def change(i: int, line: str) -> str:
        pieces = [line[at : at + width] for at in range(0, max(1, len(line)), width)]
        marks = ["P"] * (len(pieces) - 1) + ["F"]
        stamp = f"2026-11-30T{clock(i)}.{i * 7919 % 10**9:09}Z stdout"
        return "\n".join(
            f"{stamp} {mark} {piece}" for mark, piece in zip(marks, pieces, strict=True)
        )

    return each(change)


def export(text: str) -> str:
    """``journalctl -o export``: one entry a line, its fields below each other, an empty line after it."""
    return "".join(
        f"__CURSOR=s=1;i={i:x}\n__REALTIME_TIMESTAMP=17330000{i:08}\n_HOSTNAME=web1\nPRIORITY=6\n"
        f"SYSLOG_IDENTIFIER=tomcat\n_PID=4711\nMESSAGE={line}\n\n"
        for i, line in enumerate(text.split("\n"))
    )


def journal_json(text: str) -> str:
    """``journalctl -o json``: keys in no order of ours."""
    return "".join(
        json.dumps(
            {
                "__REALTIME_TIMESTAMP": f"17330000{i:08}",
                "PRIORITY": "6",
                "MESSAGE": line,
                "_PID": "4711",
                "SYSLOG_IDENTIFIER": "tomcat",
            }
        )
        + "\n"
        for i, line in enumerate(text.split("\n"))
    )


def logback_json(text: str) -> str:
    """A JSON encoder's lines (logstash): the message in the middle."""
    return "".join(
        json.dumps({"@timestamp": f"2026-11-30T{clock(i)}.1Z", "message": line, "level": "INFO"})
        + "\n"
        for i, line in enumerate(text.split("\n"))
    )


def wrapped(width: int) -> Callable[[str], str]:
    """As a mail program breaks lines: at blanks, the indentation of the rest lost."""
    return lambda text: "\n".join(
        "\n".join(textwrap.wrap(line, width, break_long_words=False)) if len(line) > width else line
        for line in text.split("\n")
    )


def chopped(width: int) -> Callable[[str], str]:
    """As a terminal breaks lines: wherever they come to *width*."""
    return lambda text: "\n".join(
        line[at : at + width]
        for line in text.split("\n")
        for at in range(0, max(1, len(line)), width)
    )


def mail(subtype: str, encoding: str) -> Callable[[str], bytes]:
    """A mail of two parts, with the text in the first (plain or HTML) or as an attachment."""

    def change(text: str) -> bytes:
        message = email.message.EmailMessage(policy=email.policy.SMTP)
        message["From"], message["To"] = "a@example.org", "b@example.org"
        message["Subject"] = "Tomcat hängt beim Start"
        body = f"<html><body><p>See:</p><pre>{html.escape(text)}</pre></body></html>"
        message.set_content(
            body if subtype == "html" else "Hello,\n\nsee this:\n\n" + text + "\nRegards\n",
            subtype="html" if subtype == "html" else "plain",
            cte=encoding,
        )
        message.add_attachment(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20, "image", "png")
        return message.as_bytes()

    return change


def attached(text: str) -> bytes:
    message = email.message.EmailMessage(policy=email.policy.SMTP)
    message["Subject"] = "dump"
    message.set_content("The dump is attached.\n")
    message.add_attachment(text.encode(), "application", "octet-stream", filename="dump.txt")
    return message.as_bytes()


def zipped(text: str) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("case/readme.txt", "see dump.txt\n")
        archive.writestr("case/dump.txt", text)
    return file.getvalue()


def tarred(mode: str) -> Callable[[str], bytes]:
    def change(text: str) -> bytes:
        file = io.BytesIO()
        with tarfile.open(fileobj=file, mode=mode) as archive:  # type: ignore[call-overload]
            for name, data in (
                ("case/readme.txt", b"see dump.txt\n"),
                ("case/dump.txt", text.encode()),
            ):
                member = tarfile.TarInfo(name)
                member.size = len(data)
                archive.addfile(member, io.BytesIO(data))
        return file.getvalue()

    return change


def in_csv(text: str) -> str:
    """A cell of a ticket system's export: quotes doubled."""
    file = io.StringIO()
    csv.writer(file).writerows([["id", "text"], [1, text], [2, "another"]])
    return file.getvalue()


def row(line: str) -> str:
    """A line in a cell of its own, as a log viewer exports what it shows."""
    file = io.StringIO()
    csv.writer(file, quoting=csv.QUOTE_ALL, lineterminator="").writerow(["10:00", "web-1", line])
    return file.getvalue()


WRAPPINGS: dict[str, Change] = {
    "none": lambda s: s,
    # log collectors
    "docker's JSON": each(docker),
    "CRI": cri(10**6),
    "CRI in pieces": cri(90),
    "kubectl --prefix": before(lambda _: "[pod/web-7f9c/tomcat] "),
    "kubectl --prefix --timestamps": before(
        lambda i: f"[pod/web-7f9c/tomcat] 2026-11-30T{clock(i)}.{i * 7919 % 10**9:09}Z "
    ),
    "docker-compose": before(lambda _: "tomcat-1  | "),
    "docker-compose 1": before(lambda _: "tomcat_1  | "),
    "docker-compose in colours": before(lambda _: "\x1b[36mtomcat_1  |\x1b[0m "),
    "journalctl": before(lambda i: f"Nov 30 {clock(i)} web1 java[4711]: "),
    "journalctl -o short-iso": before(lambda i: f"2026-11-30T{clock(i)}+0100 web1 tomcat[4711]: "),
    "journalctl -o short-precise": before(
        lambda i: f"Nov 30 {clock(i)}.{i * 7919 % 10**6:06} web1 java[4711]: "
    ),
    "journalctl -o short-monotonic": before(lambda i: f"[{i * 0.37:12.6f}] web1 java[4711]: "),
    "journalctl -o json": journal_json,
    "journalctl -o export": export,
    "syslog RFC 3164": before(lambda i: f"<30>Nov 30 {clock(i)} web1 tomcat[4711]: "),
    "syslog RFC 5424": before(
        lambda i: f"<30>1 2026-11-30T{clock(i)}.{i % 1000:03}Z web1 tomcat 4711 - - "
    ),
    "ISO times": before(lambda i: f"2026-11-30T{clock(i)}.{i % 1000:03}+01:00 "),
    "times in brackets": before(lambda i: f"[2026-11-30T{clock(i)}.{i % 1000:03}Z] "),
    "times and level": before(
        lambda i: f"2026-11-30 {clock(i)},{i % 1000:03} INFO  [stdout] (main) "
    ),
    "jsvc's": before(lambda i: f"INFO   | jvm 1    | 2026/11/30 {clock(i)} | "),
    "logstash": logback_json,
    "maven": before(lambda _: "[INFO] "),
    "ant": before(lambda _: "     [java] "),
    "CI": before(lambda i: f"2026-11-30T{clock(i)}.1234567Z "),
    "GitLab CI": before(lambda i: f"2026-11-30T{clock(i)}.123456Z 01O "),
    # gutters, quoting
    "gutter": before(lambda i: f"{i + 1:5} "),
    "gutter with colon": before(lambda i: f"{i + 1}: "),
    "gutter with tab": before(lambda i: f"{i + 1}\t"),
    "grep -n of a file": before(lambda i: f"catalina.out:{i + 1}:"),
    "quoted": before(lambda _: "> "),
    "quoted without blank": before(lambda _: ">"),
    "quoted twice": before(lambda _: "> > "),
    "quoted three times": before(lambda _: ">>> "),
    "quoted with a bar": before(lambda _: "| "),
    "diff": before(lambda _: "+"),
    "comment": before(lambda _: "# "),
    "log lines between": each(lambda i, line: f"{line}\n{LOG}" if i % 5 == 4 else line),
    # markup
    "HTML": html.escape,
    "HTML twice": lambda s: html.escape(html.escape(s)),
    "<br/> for line ends": lambda s: html.escape(s).replace("\n", "<br/>"),
    "<br /> at line ends": lambda s: html.escape(s).replace("\n", "<br />\n"),
    "<pre>": lambda s: f"<html><body><pre>{html.escape(s)}</pre></body></html>",
    "<p> around lines": each(lambda _, line: f"<p>{html.escape(line)}</p>"),
    "a table with a gutter": lambda s: (
        "<table>"
        + each(
            lambda i, line: (
                f'<tr><td class="n">{i + 1}</td><td class="c">{html.escape(line)}</td></tr>'
            )
        )(s)
        + "</table>"
    ),
    "<li> around lines": each(
        lambda _, line: f'<li class="L1"><span>{html.escape(line)}</span></li>'
    ),
    "{noformat}": lambda s: f"As seen:\n{{noformat}}\n{s}{{noformat}}\nThanks\n",
    "{code}": lambda s: f"As seen:\n{{code:title=dump|borderStyle=solid}}\n{s}{{code}}\nThanks\n",
    "fenced": lambda s: f"I saw this:\n\n```\n{s}```\n",
    "indented code": before(lambda _: "    "),
    "prose around": lambda s: f"I saw this:\n\n{s}\nWhat can I do?\n",
    "Markdown's escapes": lambda s: re.sub(r"([$_<>#])", r"\\\1", s),
    "a string in JSON": lambda s: json.dumps({"id": 1, "dump": s}),
    "a string in JSON, indented": lambda s: json.dumps({"id": 1, "dump": s, "user": "a"}, indent=2),
    "a list of lines in JSON": lambda s: json.dumps({"id": 1, "lines": s.split("\n")}, indent=1),
    "a block in YAML": lambda s: "case:\n  id: 1\n  dump: |\n" + before(lambda _: "    ")(s),
    "a cell in CSV": in_csv,
    "rows in CSV": each(lambda _, line: row(line)),
    # mails
    "quoted-printable": lambda s: quopri.encodestring(s.encode()),
    "a mail, 8bit": mail("plain", "8bit"),
    "a mail, quoted-printable": mail("plain", "quoted-printable"),
    "a mail, base64": mail("plain", "base64"),
    "an HTML mail, quoted-printable": mail("html", "quoted-printable"),
    "a mail with the dump attached": attached,
    "base64": lambda s: base64.encodebytes(s.encode()),
    # encodings
    "byte order mark": lambda s: b"\xef\xbb\xbf" + s.encode(),
    "UTF-16 with mark": lambda s: s.encode("utf-16"),
    "UTF-16 LE": lambda s: s.encode("utf-16-le"),
    "UTF-16 BE": lambda s: s.encode("utf-16-be"),
    "UTF-32 with mark": lambda s: s.encode("utf-32"),
    "CRLF": lambda s: s.replace("\n", "\r\n"),
    "CR": lambda s: s.replace("\n", "\r"),
    "CR CR LF": lambda s: s.replace("\n", "\r\r\n"),
    "colours": each(lambda _, line: f"\x1b[32m{line}\x1b[0m"),
    # packings
    "gzip": lambda s: gzip.compress(s.encode()),
    "bzip2": lambda s: bz2.compress(s.encode()),
    "xz": lambda s: lzma.compress(s.encode()),
    "zip": zipped,
    "tar": tarred("w"),
    "tar.gz": tarred("w:gz"),
    "tar.xz": tarred("w:xz"),
}

DAMAGE: dict[str, Callable[[str], str]] = {
    "indentation lost": each(lambda _, line: line.lstrip()),
    "tabs to blanks": lambda s: s.replace("\t", "    "),
    "indented": before(lambda _: " " * 8),
    "blanks at line ends": each(lambda _, line: line + "   "),
    "doubled at": each(lambda i, line: line.replace("\tat ", "\tat at ") if i % 3 == 0 else line),
    "at lost": lambda s: s.replace("\tat ", "\t"),
    "lock ids eaten": lambda s: re.sub(r"<0x[0-9a-f]+>", "<>", s),
    "lock ids gone": lambda s: re.sub(r"<0x[0-9a-f]+>", "", s),
    "lock ids in odd letters": lambda s: s.replace("<0x", "<0\u0445"),
    "opening quotes lost": lambda s: re.sub(r'^"', "", s, flags=re.MULTILINE),
    "curled quotes": lambda s: re.sub(r'^"([^"\n]*)"', "\u201c\\1\u201d", s, flags=re.MULTILINE),
    "guillemets": lambda s: re.sub(r'^"([^"\n]*)"', "\u00ab\\1\u00bb", s, flags=re.MULTILINE),
    "straight single quotes": lambda s: re.sub(r'^"([^"\n]*)"', r"'\1'", s, flags=re.MULTILINE),
    "no-break spaces": lambda s: s.replace("\t", "\u00a0\u00a0").replace(" ", "\u00a0"),
    "zero-width spaces": lambda s: s.replace(".", ".\u200b"),
    "soft hyphens": lambda s: s.replace("Secure", "Secure\u00ad"),
    "double spacing": lambda s: s.replace("\n", "\n\n"),
    "blank lines lost": lambda s: re.sub(r"\n\n+", "\n", s),
    "blanks in blank lines": lambda s: s.replace("\n\n", "\n \n"),
    "a thread a line": lambda s: re.sub(r"\s*\n\s+(?=at |- |java)", " ", s),
    "wrapped at 72": wrapped(72),
    "wrapped at 60": wrapped(60),
    "broken at column 80": chopped(80),
    "blanks around $": lambda s: s.replace("$", " $ "),
    "frames folded": lambda s: re.sub(r"(?m)^(\tat .{30,}?)\(", "\\1(\n", s),
    "e-mail protection": lambda s: re.sub(r"\(java\.base@[\d.]+/", "([email protected]/", s),
    "e-mail protection without brackets": lambda s: re.sub(
        r"at java\.base@[\d.]+/", "at [email protected]/", s
    ),
    "e-mail protection in HTML": lambda s: re.sub(
        r"java\.base@[\d.]+/",
        '<a href="/cdn-cgi/l/email-protection" class="__cf_email__" data-cfemail="ab01">[email&#160;protected]</a>/',
        s,
    ),
    "NUL bytes": lambda s: s.replace("\tat ", "\0\tat "),
    "header lost but for the name": lambda s: re.sub(r'(?m)^("[^"\n]*").*tid=.*$', r"\1", s),
    "banner lost": lambda s: s[s.index('"') :],
}
"""Each can be had back whole, or nearly: same thread, same generator, same operation."""

LOSSES: dict[str, Callable[[str], str]] = {
    "the first half": lambda s: s[: len(s) // 2],
    "the last half": lambda s: s[len(s) // 2 :],
    "every third line lost": lambda s: "\n".join(
        line for i, line in enumerate(s.split("\n")) if i % 3 != 1
    ),
    "the innermost five frames lost": lambda s: re.sub(
        r'(?m)(^".*\n(?:   java.*\n)?)(?:\tat .*\n){1,5}', r"\1", s
    ),
    "the outer frames lost": lambda s: re.sub(r"(?m)((?:^\tat .*\n){2})(?:^\t.*\n)+", r"\1", s),
}
"""What is lost may be the evidence: then less is said, and nothing else."""


def torn(text: str, seed: int) -> str:
    """*text* up to a place chosen by *seed*."""
    return text[: random.Random(seed).randrange(len(text) // 10, len(text))]  # noqa: S311 - the same places each time
