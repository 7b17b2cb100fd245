"""What a command line starts: java or a tool of the JDK, where its own options end, whose script it is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from seedstall.model.settings import UNKNOWN, Placed
from seedstall.parse.configfile.words import only_reference, references
from seedstall.parse.launcher import JDK_TOOLS, launch

SHELLS = frozenset(("sh", "bash", "dash", "ash", "ksh", "zsh", "mksh", "busybox"))
JAVA_VARIABLES = frozenset(
    ("JAVA", "JAVACMD", "JAVA_CMD", "JAVA_EXE", "JAVA_BIN", "RUNJAVA", "_RUNJAVA", "JAVAEXE", "JAVA_PATH", "_JAVACMD")
)
"""Variables by which start scripts call the launcher."""
TAKES_PATH = frozenset(("-cp", "-classpath", "--class-path", "-jar", "-m", "--module", "-p", "--module-path"))
OWN_DEFINES = frozenset(
    "mvn mvnw mvnd gradle gradlew ant sbt standalone.sh domain.sh jboss-cli.sh kc.sh activemq karaf kc.bat"
    " asadmin liberty server sonar-scanner".split()
)
"""Programs that take ``-D`` themselves, and set the property (or start java with it) on their own."""
SPEAKERS = frozenset(("echo", "printf", "grep", "egrep", "fgrep", "sed", "awk", "cat", "test", "[", "expr", "logger", "tee", ":"))
"""Commands to which an option is only text."""
INSTALLERS = frozenset(
    ("apt-get", "apt", "aptitude", "yum", "dnf", "microdnf", "apk", "zypper", "pacman", "tdnf", "rpm", "dpkg")
)
_PRODUCTS = {
    "kc.sh": "keycloak",
    "standalone.sh": "wildfly",
    "domain.sh": "wildfly",
    "catalina.sh": "tomcat",
    "startup.sh": "tomcat",
}
MAX_WORDS = 5_000


@dataclass(frozen=True, slots=True)
class Launched:
    """As in `seedstall.model.settings.Command`; ``launcher_at`` is -1 where the image's own entry point starts java."""

    launcher: str = ""
    launcher_at: int = 0
    program_from: int | None = None
    main_from: int | None = None


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


def launcher(words: Sequence[Placed], text: str, *, literal: bool) -> Launched:
    """Find the launcher. *text* is the file, for the names of variables; *literal*: nobody expands ``$NAME`` here."""
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
    start = len(kept) - len(found.program) if found.program else None
    main = _main(texts, start, found.jar, found.module) if start is not None else None
    return Launched(
        name,
        -1 if virtual else next((kept[i] for i, t in enumerate(texts) if base(t) == name), 0),
        kept[start] if start is not None else None,
        kept[main] if main is not None else None,
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
    if jar:
        wanted = ("-jar",)
    elif module:
        wanted = ("-m", "--module")
    else:
        at = start - 1
        return at if at > 0 and not base(texts[at]).endswith(".sh") else None
    found = [i for i, t in enumerate(texts[:start]) if t in wanted or t.startswith("--module=")]
    return found[-1] if found else None


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
