"""Whose a bundle is, out of it: hosts, users, addresses and paths get other names, the same ones everywhere.

What tells how a JVM seeds stays: names that every Linux, JDK and product has, numbers, class names of Java. Of a class
name goes what is part of the host's name too (``com.acme`` on ``app1.acme.com``).
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterable

from seedstall.knowledge.commonnames import DIRECTORIES, FILES, LABELS, USERS, is_common
from seedstall.model.bundle import MANIFEST
from seedstall.model.redactfile import changed

_SHORTEST = 3
"""Letters of a name that is looked for everywhere: a shorter one is part of too many words."""
_LONGEST_LINE = 1 << 16
_RUN = re.compile(r"[A-Za-z0-9]+(?:[._-]+[A-Za-z0-9]+)*")
_PARTS = re.compile(r"([._-]+)")
_DOTTED = re.compile(r"(?<![\w.-])[A-Za-z0-9][\w-]{0,62}(?:\.[\w-]{1,63}){1,8}(?![\w-])")
_MOUNT = re.compile(
    r"(?<= - )((?:nfs4?|cifs|smb3|ceph|glusterfs|fuse\.\S{1,40}) )(/{0,2})([^\s/:,]{1,253})(?=[:/])"
)
"""In mountinfo: whose server a file system is on."""
_NAMED = re.compile(r"(?:takes/\d+/)?proc/\d+/(?:task/\d+/)?(?:stat|status|sched)")
"""Files that hold the name that a thread or a program gave itself."""
_COMM = re.compile(r"(?:takes/\d+/)?proc/\d+/(?:task/\d+/)?comm")
_LONGEST_COMM = 15
_CLASS = re.compile(r"(?:[\w$]+\.)+(?:[A-Z]\w*[a-z])")
"""A name of Java's: packages, and a class with small letters in it."""
_HOST_FILE = re.compile(r"(?:takes/\d+/)?proc/sys/kernel/(?:hostname|domainname)")
_IPV4 = re.compile(r"(?<![\w.-])(?:\d{1,3}\.){3}\d{1,3}(?![\w+-]|\.\d)")
_VERSION = re.compile(r"(?:1\.[4-8]\.0|9\.0|11\.0|17\.0|21\.0|25\.0)\.")
"""JDK versions have up to four numbers: no address of a private network begins so."""
_IPV6 = re.compile(r"(?<![\w:.])[0-9A-Fa-f]{0,4}(?::[0-9A-Fa-f]{0,4}){2,7}(?:%\w{1,15})?(?![\w:])")
_MAC = re.compile(r"(?<![\w:-])(?:[0-9A-Fa-f]{2}[:-]){5}[0-9A-Fa-f]{2}(?![\w:-])")
_MAIL = re.compile(
    r"(?<![\w.+-])[\w.+-]{1,64}@([\w-]{1,63}(?:\.[\w-]{1,63}){0,5}\.[A-Za-z]{2,24})(?![\w-])"
)
_AUTHORITY = re.compile(r"(://(?:[^\s/@\"']{1,200}@)?)([A-Za-z0-9][A-Za-z0-9.-]{0,252})")
_HOST_OF = re.compile(
    r"(?i)(?<![\w.-])[a-z0-9][a-z0-9-]{0,62}(?:\.[a-z0-9][a-z0-9-]{0,62}){0,6}"
    r"\.(?:local|internal|intranet|corp|lan|localdomain|home)(?![\w-])"
)
_PART = r"[^/\s\"'`:;,=<>|(){}\0*?&!]"
_PATH = re.compile(rf"(?<![\w.)\]/])(?:/{_PART}{{1,255}}){{1,64}}")
_URL_PATH = re.compile(rf"(?<=\w)(?:/{_PART}{{1,255}}){{1,64}}")
_RELATIVE = re.compile(
    rf"(?<![\w./-])[\w.-]{{1,255}}(?:/{_PART}{{1,255}}){{1,64}}|(?<![\w./-])[\w.-]{{1,250}}\.(?:jar|war|ear)(?![\w.])"
)
_ENDINGS = (
    ".jar",
    ".war",
    ".ear",
    ".so",
    ".out",
    ".log",
    ".txt",
    ".xml",
    ".properties",
    ".conf",
    ".cfg",
    ".sh",
    ".service",
    ".slice",
    ".scope",
    ".mount",
    ".jsa",
    ".pid",
    ".lock",
    ".tmp",
    ".options",
    ".p12",
    ".jks",
    ".pem",
)
_ARGUMENTS = re.compile(r"(?:takes/\d+/)?(?:proc/\d+/(?:cmdline|environ)|jvm/properties\.txt)")
_SOCKETS = re.compile(r"(?:takes/\d+/)?proc/\d+/net/(?:tcp|udp)6?")
_HEX_ADDRESS = re.compile(r"(?<![0-9A-F])([0-9A-F]{8}|[0-9A-F]{32})(?=:[0-9A-F]{4}\b)")
_OF_KERNEL = re.compile(
    r"(?:takes/\d+/)?(?:probe/.*|proc/sys/kernel/(?!hostname|domainname).*|proc/pressure/.*|proc/(?:version|uptime|meminfo|loadavg)"
    r"|sys/(?!fs/).*|proc/\d+/(?:task/\d+/)?(?:stat|status|sched|schedstat|syscall|wchan|children|stack|io|limits|exe-header))"
)
_KEPT_FOLDERS = ("proc", "sys", "dev", "root", "jvm", "logs", "given", "takes", "probe")
HOST_VARIABLES = re.compile(
    r"(?:HOST|COMPUTERNAME|(?:.*_)?(?:HOST|NODE|POD|CONTAINER|SERVER|INSTANCE|CLUSTER)_?NAME|(?:.*_)?NAMESPACE)"
)
USER_VARIABLES = ("USER", "LOGNAME", "USERNAME", "SUDO_USER")


class Anonymiser:
    """The other names. One for a whole bundle: what is renamed once has that name everywhere."""

    def __init__(self, hosts: Iterable[str] = (), users: Iterable[str] = ()) -> None:
        """Know the names of hosts and users that are to be found in any text."""
        self._names: dict[str, str] = {}
        self._counts: dict[str, int] = {}
        self._own: set[str] = set()
        self._domains: set[str] = set()
        """Of hosts that are known: what ends so is a host of theirs."""
        self._begins: dict[str, set[int]] = {}
        """By the first part of a known name: of how many parts such names are."""
        for host in hosts:
            self.learn_host(host, own=True)
        for user in users:
            self.learn_user(user)

    def _fresh(self, kind: str) -> int:
        self._counts[kind] = self._counts.get(kind, 0) + 1
        return self._counts[kind]

    def _alias(self, name: str, kind: str) -> str:
        key = f"{kind}:{name}"
        if key not in self._names:
            self._names[key] = f"{kind}{self._fresh(kind)}"
        return self._names[key]

    def learn_host(self, name: str, *, own: bool = False) -> None:
        """A host's name: each part of it that is not everybody's is looked for from now on.

        In names of classes only those of the *own* host: a log that names https://liquibase.example must not make
        liquibase.Liquibase a stranger.
        """
        labels = re.split(r"[.\s]+", name.strip())[:16]
        for label in labels:
            key = label.lower()
            everybodys = key in LABELS or key in DIRECTORIES or key in FILES or key in USERS
            if len(label) >= _SHORTEST and not everybodys and not label.isdigit():
                self._learn(label, "host")
                self._own |= {key} if own else set()
        for at in range(1, len(labels) - 1):
            if any(label.lower() in self._names for label in labels[at:]):
                self._domains.add(".".join(labels[at:]).lower())

    def learn_user(self, name: str) -> None:
        """A user's name."""
        if len(name) >= _SHORTEST and name not in USERS:
            self._learn(name, "user")
            self._own.add(name.lower())

    def _learn(self, name: str, kind: str) -> None:
        """From now on *name* is looked for, in capitals too."""
        key = name.lower()
        if key in self._names:
            return
        self._names[key] = self._alias(key, kind)
        parts = _PARTS.split(key)
        self._begins.setdefault(parts[0], set()).add(len(parts))

    def _known(self, text: str) -> str:
        """*text* with other names for those that are known, also between dots, dashes and underscores."""
        return _RUN.sub(self._in_run, text)

    def _in_run(self, run: re.Match[str]) -> str:
        if run[0].lower() in self._names:
            return self._names[run[0].lower()]
        parts = _PARTS.split(run[0])
        is_class = _CLASS.match(run[0]) is not None
        shown: list[str] = []
        at = 0
        while at < len(parts):
            for size in sorted(self._begins.get(parts[at].lower(), ()), reverse=True):
                name = "".join(parts[at : at + size]).lower()
                other = self._names.get(name)
                if other is not None and (not is_class or name in self._own):
                    shown.append(other)
                    at += size
                    break
            else:
                shown.append(parts[at])
                at += 1
            shown += parts[at : at + 1]
            at += 1
        return "".join(shown)

    # --- texts -------------------------------------------------------------------------------------------------------

    def file(self, path: str, data: bytes) -> bytes:
        """The file *path* of a bundle (as it was called before) with other names in it."""
        of_kernel = self._of_kernel(path, data)
        if of_kernel is not None:
            return of_kernel
        if path.endswith("/maps"):
            return b"\n".join(self._mapping(line) for line in data.split(b"\n"))
        if _SOCKETS.fullmatch(path):
            return _HEX_ADDRESS.sub(self._hex, data.decode("latin-1")).encode("latin-1")
        if path.endswith(("/cmdline", "/environ")):
            return _encoded(self._lines(self.argument, _decoded(data), "\0"))
        shown = self.argument if _ARGUMENTS.fullmatch(path) else self.text
        return changed(data, lambda text: self._lines(shown, text, "\n"), self._binary)

    def _of_kernel(self, path: str, data: bytes) -> bytes | None:
        """A file whose form is the kernel's, with the names in it; ``None`` for any other."""
        if _HOST_FILE.fullmatch(path):
            found = _encoded(self._host_alone(_decoded(data)))
        elif _COMM.fullmatch(path):
            found = _encoded(self.comm(_decoded(data.rstrip(b"\n")))) + b"\n"
        elif _NAMED.fullmatch(path):
            found = self._comm_in(path, data)
        elif path.endswith("proc/version"):
            found = _encoded(self._known(_decoded(data)))  # who built it, and where
        elif _OF_KERNEL.fullmatch(path) or path.endswith(MANIFEST) or data.startswith(b"\x7fELF"):
            found = data  # lines of a manifest are made of renamed readings; programs are the JDK's
        else:
            return None
        return found

    def _lines(self, shown: Callable[[str], str], text: str, mark: str) -> str:
        return mark.join(self._in_pieces(shown, line) for line in text.split(mark))

    def learn(self, path: str, data: bytes) -> None:
        """Find names of hosts in the file *path*, before any file is renamed: one may name what others mention."""
        if _HOST_FILE.fullmatch(path):
            self.learn_host(_decoded(data), own=True)
            return
        if data.startswith(b"\x7fELF") or path.endswith(MANIFEST):
            return
        changed(data, self._learn_from, lambda _: b"")

    def _learn_from(self, text: str) -> str:
        for mount in _MOUNT.finditer(text) if " - " in text else ():
            self._host(mount[3].rpartition("@")[2])
        for form, group, sign in ((_AUTHORITY, 2, "://"), (_MAIL, 1, "@"), (_HOST_OF, 0, ".")):
            for found in form.finditer(text) if sign in text else ():
                self._host(found[group])
        for found in _DOTTED.finditer(text) if self._domains else ():
            self._of_domain(found)
        return ""

    def _host_alone(self, text: str) -> str:
        """The host's name by itself: also one that is too short to be looked for."""
        self.learn_host(text, own=True)
        labels = text.strip().split(".")
        return ".".join(self._label(label) for label in labels) + "\n" if text.strip() else text

    def _label(self, label: str) -> str:
        known = self._names.get(label.lower(), label)
        is_short = known == label and len(label) < _SHORTEST and label.lower() not in LABELS
        return self._alias(label.lower(), "host") if is_short else known

    def _comm_in(self, path: str, data: bytes) -> bytes:
        """A file of numbers with the name that a thread has in the kernel."""
        if path.endswith("/stat"):
            first, last = data.find(b"(") + 1, data.rfind(b")")
        else:
            first = len(b"Name:\t") if path.endswith("/status") else 0
            last = data.find(b" (") if path.endswith("/sched") else data.find(b"\n")
        if first > last:
            return data
        return data[:first] + _encoded(self.comm(_decoded(data[first:last]))) + data[last:]

    def comm(self, name: str) -> str:
        """A thread's name as the kernel has it. It was cut at 15 bytes, perhaps within a name that is known."""
        for word in re.finditer(r"(?<![A-Za-z0-9])[A-Za-z0-9]", name if _is_cut(name) else ""):
            rest = name[word.start() :].lower()
            if len(rest) < _SHORTEST:
                break
            whole = next((n for n in self._names if n.startswith(rest) and ":" not in n), None)
            if whole is not None:
                return self.text(name[: word.start()]) + self._names[whole]
        return self.text(name)

    def _mapping(self, line: bytes) -> bytes:
        """A line of ``maps``: what stands behind the inode is one path, blanks and all."""
        fields = line.split(None, 5)
        if len(fields) < 6:  # noqa: PLR2004
            return line
        return line[: len(line) - len(fields[5])] + self.link(fields[5])

    def link(self, text: bytes) -> bytes:
        """The text of a link: one path."""
        shown = _decoded(text)
        return _encoded(self.path(shown) if shown.startswith("/") else self.argument(shown))

    def _in_pieces(self, shown: Callable[[str], str], line: str) -> str:
        if len(line) <= _LONGEST_LINE:
            return shown(line)
        pieces = (line[at : at + _LONGEST_LINE] for at in range(0, len(line), _LONGEST_LINE))
        return "".join(map(shown, pieces))

    def text(self, text: str) -> str:
        """A line of any text."""
        if "/" in text:
            text = _AUTHORITY.sub(lambda m: m[1] + self._host(m[2]), text)
            text = _PATH.sub(lambda m: self.path(m[0]), text)
            if "://" in text:
                text = _URL_PATH.sub(
                    lambda m: self.path(m[0]) if "://" in m.string[: m.start()][-300:] else m[0],
                    text,
                )
        if "@" in text:
            text = _MAIL.sub(lambda m: f"{self._alias(m[0], 'mail')}@{self._host(m[1])}", text)
        if ":" in text:
            text = _MAC.sub(lambda m: self._mac(m[0]), text)
            text = _IPV6.sub(lambda m: self._address(m[0]), text)
        if "." in text:
            text = _IPV4.sub(lambda m: self._address(m[0]), text)
            text = _HOST_OF.sub(lambda m: self._host(m[0]), text)
            if self._domains:
                text = _DOTTED.sub(self._of_domain, text)
        return self._known(text)

    def _of_domain(self, match: re.Match[str]) -> str:
        """A dotted name: that of a host where it ends as one of ours does."""
        parts = match[0].lower().split(".")
        ends = (".".join(parts[at:]) for at in range(1, len(parts)))
        return self._host(match[0]) if any(end in self._domains for end in ends) else match[0]

    def argument(self, text: str) -> str:
        """An argument, a variable, a property: relative paths are paths there too, and blanks part none."""
        if text.startswith("/") and ":" not in text and "=" not in text:
            return self._known(self.path(text))
        text = _RELATIVE.sub(lambda m: self.path(m[0]), text)
        return self.text(text)

    def _binary(self, data: bytes) -> bytes:
        """Texts in it keep their length: what would be renamed is crossed out."""
        text = data.decode("latin-1")

        def crossed(match: re.Match[str]) -> str:
            return match[0] if self.text(match[0]) == match[0] else _crossed(match[0])

        return re.sub(r"[\x20-\x7e]{3,400}", lambda m: _words(m[0], crossed), text).encode(
            "latin-1"
        )

    # --- names -------------------------------------------------------------------------------------------------------

    def _host(self, name: str) -> str:
        if _IPV4.fullmatch(name):
            return self._address(name)
        if not any(c.isalpha() for c in name):
            return name
        self.learn_host(name)
        return ".".join(self._names.get(label.lower(), label) for label in name.split("."))

    def _address(self, text: str) -> str:
        bare, percent, zone = text.partition("%")
        if _VERSION.match(bare):
            return text
        try:
            found = ipaddress.ip_address(bare)
        except ValueError:
            return text
        if (
            found.is_loopback
            or found.is_unspecified
            or found.is_multicast
            or bare.startswith("255.")
        ):
            return text
        return self._other(found) + percent + zone

    def _other(self, found: ipaddress.IPv4Address | ipaddress.IPv6Address) -> str:
        mapped = getattr(found, "ipv4_mapped", None)
        if mapped is not None:
            return f"::ffff:{self._other(mapped)}"
        key = f"address:{found}"
        if key not in self._names:
            if found.version == 4:  # noqa: PLR2004
                number = self._fresh("v4")
                # 198.18.0.0/15 is nobody's (RFC 2544), as 2001:db8::/32 is (RFC 3849).
                self._names[key] = str(
                    ipaddress.IPv4Address((198 << 24) + (18 << 16) + number % (1 << 17))
                )
            else:
                self._names[key] = str(
                    ipaddress.IPv6Address((0x20010DB8 << 96) + self._fresh("v6"))
                )
        return self._names[key]

    def _mac(self, text: str) -> str:
        key = f"mac:{text.lower()}"
        if key not in self._names:
            number = self._fresh("mac") % (1 << 24)
            self._names[key] = (
                f"02:00:00:{number >> 16:02x}:{number >> 8 & 255:02x}:{number & 255:02x}"
            )
        return self._names[key]

    def _hex(self, match: re.Match[str]) -> str:
        """An address of ``/proc/net/tcp``: words of four bytes, each in the order of a little-endian machine."""
        words = [bytes.fromhex(match[1][at : at + 8])[::-1] for at in range(0, len(match[1]), 8)]
        found = ipaddress.ip_address(b"".join(words))
        other = ipaddress.ip_address(self._address(str(found))).packed
        if len(other) < len(match[1]) // 2:
            return match[1]
        return "".join(other[at : at + 4][::-1].hex().upper() for at in range(0, len(other), 4))

    def path(self, path: str) -> str:
        """A path, each part that is not everybody's under another name; it ends as it ended."""
        return "/".join(self.component(part) for part in path.split("/"))

    def component(self, part: str) -> str:
        """One part of a path."""
        if part.lower() in self._names:
            return self._names[part.lower()]
        if part.startswith("hsperfdata_"):
            user = part.removeprefix("hsperfdata_")
            self.learn_user(user)
            return f"hsperfdata_{self._names.get(user.lower(), user)}"
        if len(part) < _SHORTEST or is_common(part) or part.startswith(("%", "$", "-")):
            return self._known(part)
        deleted = " (deleted)" if part.endswith(" (deleted)") else ""
        stem = part.removesuffix(" (deleted)")
        if deleted and is_common(stem):
            return self._known(part)
        ending = next((e for e in _ENDINGS if stem.endswith(e)), "")
        dot = "." if stem.startswith(".") else ""
        return f"{dot}{self._alias(stem.removesuffix(ending), 'name')}{ending}{deleted}"

    def member(self, path: str) -> str:
        """A path of a bundle: the kernel's own names stay."""
        prefix, rest = "", path
        taken = re.match(r"takes/\d+/", path)
        if taken is not None:
            prefix, rest = taken[0], path[taken.end() :]
        top, slash, below = rest.partition("/")
        if top in ("root", "logs", "etc", "usr", "lib") and slash:
            return f"{prefix}{top}/{self.path(below)}"
        if rest.startswith("sys/fs/cgroup/"):
            *folders, name = rest.removeprefix("sys/fs/cgroup/").split("/")
            return "/".join((prefix + "sys/fs/cgroup", *map(self.component, folders), name))
        return path

    def names(self, listed: bytes) -> bytes:
        """The names of a directory, each ended by a NUL byte."""
        shown = (_encoded(self.component(_decoded(name))) for name in listed.split(b"\0")[:-1])
        return b"".join(name + b"\0" for name in sorted(shown))


def _is_cut(name: str) -> bool:
    return len(name.encode("utf-8", "surrogateescape")) >= _LONGEST_COMM


def _words(text: str, crossed: Callable[[re.Match[str]], str]) -> str:
    return re.sub(r"\S+", crossed, text)


def _crossed(word: str) -> str:
    """A word with its letters and digits crossed out behind an option's name."""
    name, equals, value = word.partition("=")
    if not equals:
        name, value = "", word
    return name + equals + re.sub(r"[A-Za-z0-9]", "x", value)


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
