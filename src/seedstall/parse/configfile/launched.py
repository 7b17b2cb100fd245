"""What a command line starts: java or a tool of the JDK, where its own options end, whose script it is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from seedstall.model.settings import UNKNOWN, Placed
from seedstall.parse.configfile.words import only_reference, references, replaced
from seedstall.parse.launcher import JDK_TOOLS, launch

SHELLS = frozenset(("sh", "bash", "dash", "ash", "ksh", "zsh", "mksh", "busybox"))
JAVA_VARIABLES = frozenset(
    (
        "JAVA",
        "JAVACMD",
        "JAVA_CMD",
        "JAVA_EXE",
        "JAVA_BIN",
        "RUNJAVA",
        "_RUNJAVA",
        "JAVAEXE",
        "JAVA_PATH",
        "_JAVACMD",
    )
)
"""Variables by which start scripts call the launcher."""
TAKES_PATH = frozenset(
    ("-cp", "-classpath", "--class-path", "-jar", "-m", "--module", "-p", "--module-path")
)
OWN_DEFINES = frozenset(
    [
        "mvn",
        "mvnw",
        "mvnd",
        "gradle",
        "gradlew",
        "ant",
        "sbt",
        "standalone.sh",
        "domain.sh",
        "jboss-cli.sh",
        "kc.sh",
        "activemq",
        "karaf",
        "kc.bat",
        "asadmin",
        "liberty",
        "server",
        "sonar-scanner",
    ]
)
"""Programs that take ``-D`` themselves, and set the property (or start java with it) on their own."""
SPEAKERS = frozenset(
    (
        "echo",
        "printf",
        "grep",
        "egrep",
        "fgrep",
        "sed",
        "awk",
        "cat",
        "test",
        "[",
        "expr",
        "logger",
        "tee",
        ":",
    )
)
"""Commands to which an option is only text."""
INSTALLERS = frozenset(
    (
        "apt-get",
        "apt",
        "aptitude",
        "yum",
        "dnf",
        "microdnf",
        "apk",
        "zypper",
        "pacman",
        "tdnf",
        "rpm",
        "dpkg",
    )
)
_PRODUCTS = {
    "kc.sh": "keycloak",
    "standalone.sh": "wildfly",
    "domain.sh": "wildfly",
    "catalina.sh": "tomcat",
    "startup.sh": "tomcat",
}
MAX_WORDS = 5_000
SHORTEST, LONGEST = 4, 4_000
"""Characters of a ``sed`` substitution that is looked at."""


@dataclass(frozen=True, slots=True)
class Launched:
    """As in `Command`; ``launcher_at`` is -1 where the image's own entry point starts java."""

    launcher: str = ""
    launcher_at: int = 0
    program_from: int | None = None
    main_from: int | None = None
    main_at: int | None = None


def base(word: str) -> str:
    """A program's name: without its folder, Windows' ``.exe`` and unknown parts before it."""
    name = word.replace("\\", "/").rpartition("/")[2]
    return name[:-4] if name.lower().endswith(".exe") else name


def shell_text(words: Sequence[Placed]) -> Placed | None:
    """The text that ``sh -c TEXT``, ``bash -lc TEXT`` or ``su -c TEXT`` hands to a shell; ``None`` where none does."""
    for at, word in enumerate(words[:40]):
        name = base(word.text)
        if name in SHELLS:
            return _behind_c(words, at)
        if name in ("su", "runuser", "eval"):
            return _behind_c(words, at) if name != "eval" else None
        if name == "java" or name in JDK_TOOLS:
            return None
    return None


def _behind_c(words: Sequence[Placed], at: int) -> Placed | None:
    for index in range(at + 1, min(len(words) - 1, at + 12)):
        option = words[index].text
        if option == "--command" or re.fullmatch(r"-[a-z]{0,6}c", option):
            return words[index + 1]
        if not option.startswith(("-", "+")) and base(words[at].text) not in ("su", "runuser"):
            return None
    return None


def launcher(words: Sequence[Placed], text: str) -> Launched:
    """Find the launcher. *text* is the file: the names of variables stand there."""
    kept: list[int] = []
    texts: list[str] = []
    for index, word in enumerate(words[:MAX_WORDS]):
        shown = _shown(word, text, texts)
        if shown is not None:
            kept.append(index)
            texts.append(shown)
    if not texts or any(base(t) in OWN_DEFINES for t in texts[:6]):
        return Launched()
    virtual = texts[0].startswith("-") and "-jar" in texts
    try:
        found = launch(["java", *texts] if virtual else texts, {})
    except ValueError:
        return Launched()
    name = found.tool or "java"
    start = len(kept) - len(found.program)
    runs = bool(found.jar or found.module or found.main_class)
    main = _main(texts, start, found.jar, found.module) if runs and start > 0 else None
    return Launched(
        name,
        -1 if virtual else next((kept[i] for i, t in enumerate(texts) if base(t) == name), 0),
        kept[start] if found.program and start >= 0 else None,
        kept[main] if main is not None else None,
        kept[start - 1] if runs and start > 0 else None,
    )


def _shown(word: Placed, text: str, before: list[str]) -> str | None:
    """The word as the launcher is shown it; ``None`` for one that may be no word or several."""
    shown = word.text.replace("\\", "/") if not before else word.text
    bare = shown.strip(UNKNOWN)
    if not bare or only_reference(bare) or re.fullmatch("%[A-Za-z_]+%", bare):
        if before and before[-1] in TAKES_PATH:
            return "unknown"
        names = references(text[word.outer[0] : word.outer[1]])
        if any(name in JAVA_VARIABLES for name in names) and not any(t == "java" for t in before):
            return "java"
        return None
    if not before or base(shown) in ("java", "javaw"):
        return "java" if base(shown) in ("java", "javaw") else shown
    return shown


def _main(texts: list[str], start: int, jar: str, module: str) -> int | None:
    """The word before which a JVM option must stand, counted in *texts*; ``None`` in a server's own script."""
    wanted: tuple[str, ...]
    if jar:
        wanted = ("-jar",)
    elif module:
        wanted = ("-m", "--module")
    else:
        at = start - 1
        return at if at > 0 and not base(texts[at]).endswith(".sh") else None
    found = [i for i, t in enumerate(texts[:start]) if t in wanted or t.startswith("--module=")]
    return found[-1] if found else None


def sed_replacement(word: Placed) -> Placed | None:
    """The new text of a substitution ``s/old/new/``; ``None`` where *word* is none."""
    text = word.text
    if not SHORTEST <= len(text) <= LONGEST or text[0] != "s" or text[1].isalnum():
        return None
    marks: list[int] = []
    at = 1
    while at < len(text) and len(marks) < 3:  # noqa: PLR2004 - three delimiters
        if text[at] == "\\":
            at += 1
        elif text[at] == text[1]:
            marks.append(at)
        at += 1
    if len(marks) < 3:  # noqa: PLR2004 - as above
        return None
    return replaced(word.part(marks[1] + 1, marks[2]), "\\" + text[1], text[1])


def product(words: Sequence[Placed]) -> str:
    """Whose start script the command calls."""
    for word in words[:12]:
        if (found := _PRODUCTS.get(base(word.text))) is not None:
            return found
    return ""


def installs(words: Sequence[Placed]) -> bool:
    """Whether it installs packages."""
    return any(base(w.text) in INSTALLERS for w in words[:6]) and any(
        w.text in ("install", "add", "in", "-S", "-Sy", "-i") for w in words[:12]
    )


def speaks_only(words: Sequence[Placed]) -> bool:
    """Whether the command only prints, searches or edits text."""
    name = base(words[0].text)
    return name in SPEAKERS
