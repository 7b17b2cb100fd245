"""What the readers of all formats hand in, and the seed options found in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from seedstall.knowledge.images import jdk_of_package, jdk_of_path
from seedstall.model.settings import (
    Command,
    ConfigFile,
    Damage,
    Format,
    JdkSpan,
    Placed,
    Reach,
    Scope,
    SecurityEntry,
    SeedOption,
    Setting,
    Variable,
    placed,
)
from seedstall.parse.configfile import launched
from seedstall.parse.configfile.seedword import EGD, SeedWord, meant, seed_words
from seedstall.parse.configfile.words import BLANKS, references, split

SHELL_BLANKS = " \t\n"
"""IFS: where a shell splits an unquoted ``$JAVA_OPTS``."""
MAX_ITEMS = 20_000
"""Variables, commands, entries and options of one file, each: no configuration has a hundredth of it."""
LITERAL = frozenset((Setting.KUBERNETES, Setting.UNIT, Setting.ENVIRONMENT_FILE))
"""Nobody expands ``$NAME`` in these values: Kubernetes knows ``$(NAME)`` alone, systemd nothing at all."""
KUBERNETES_REFERENCE = "$("


class Gathering:
    """One file on its way: its text, and what was found so far."""

    def __init__(self, name: str, text: str, form: Format) -> None:
        """Begin with one scope, the file itself."""
        self.name = name
        self.text = text
        self.form = form
        self.scopes: list[Scope] = [Scope()]
        self.variables: list[Variable] = []
        self.commands: list[Command] = []
        self.entries: list[SecurityEntry] = []
        self.options: list[SeedOption] = []
        self.problems: list[str] = []
        self.whole = False
        self.depth = 0

    def all(self) -> Placed:
        """The file's whole text."""
        return placed(self.text, 0, len(self.text))

    def scope(self, made: Scope) -> int:
        """A new scope; its index."""
        self.scopes.append(made)
        return len(self.scopes) - 1

    def learn(
        self,
        scope: int,
        *,
        name: str = "",
        product: str = "",
        jdk: JdkSpan | None = None,
        container: bool = False,
        windows: bool = False,
    ) -> None:
        """Something more about a scope; what is known already stays."""
        old = self.scopes[scope]
        self.scopes[scope] = replace(
            old,
            name=old.name or name,
            product=old.product or product,
            jdk=old.jdk or jdk,
            container=old.container or container,
            windows=old.windows or windows,
        )

    def problem(self, why: str) -> None:
        """Something was not understood: the file can no longer be called clear."""
        if why not in self.problems and len(self.problems) < 8:  # noqa: PLR2004 - a line for people
            self.problems.append(why)

    def full(self) -> bool:
        """Whether no more is taken."""
        things, options = len(self.variables) + len(self.commands), len(self.options)
        if max(things, options, len(self.entries)) < MAX_ITEMS:
            return False
        self.problem(f"more than {MAX_ITEMS} settings: the rest was not looked at")
        return True

    def variable(
        self,
        name: str,
        value: Placed,
        scope: int,
        how: Setting,
        *,
        refs: tuple[str, ...] | None = None,
        exported: bool = False,
        guarded: bool = False,
        label: tuple[int, int] | None = None,
    ) -> None:
        """A variable and the options in its value. *refs* where an expansion has eaten the names."""
        if self.full():
            return
        named = references(value.text) if refs is None else refs
        made = Variable(
            name=name,
            value=value,
            scope=scope,
            how=how,
            refs=named,
            literal=_literal(value.text) if how in LITERAL else (),
            exported=exported,
            guarded=guarded,
            label=label,
        )
        index = len(self.variables)
        self.variables.append(made)
        if name.upper() in ("JAVA_HOME", "JRE_HOME", "JDK_HOME"):
            self.learn(scope, jdk=jdk_of_path(value.text))
        # The JVM splits at a carriage return, a shell does not: there it becomes part of the last option.
        by_shell = (
            how is Setting.SHELL and "JAVA_OPTIONS" not in name and "TOOL_OPTIONS" not in name
        )
        for word in seed_words(split(value, blanks=SHELL_BLANKS if by_shell else BLANKS)):
            self.option(word, scope, name, variable=index)

    def option(
        self,
        word: SeedWord,
        scope: int,
        carrier: str,
        *,
        reach: Reach = Reach.JVM,
        variable: int | None = None,
        command: int | None = None,
    ) -> None:
        """A seed option that somebody carries."""
        if self.full():
            return
        damage = word.damage
        if damage is Damage.NONE and word.prefix.startswith("-J") and reach is Reach.JVM:
            damage = self._dash_j(command)
        self.options.append(
            SeedOption(
                word=word.option,
                meant=word.meant,
                name=word.name,
                value=word.value,
                scope=scope,
                carrier=carrier,
                damage=damage,
                reach=reach,
                prefix=word.prefix,
                variable=variable,
                command=command,
                at=word.at,
                tail=word.tail,
                apart=word.apart,
            )
        )

    def _dash_j(self, command: int | None) -> Damage:
        """``-J`` is for the JDK's tools: java itself refuses it."""
        if command is None:
            return Damage.NONE
        return Damage.DASH_J if self.commands[command].launcher == "java" else Damage.NONE

    def stray(self, words: Sequence[Placed], scope: int, owner: int | None) -> None:
        """Words that stand outside the value they were meant for: nobody gets them as options."""
        for word in seed_words(words):
            self.option(word, scope, "", reach=Reach.NOBODY, variable=owner)

    def command(
        self,
        words: Sequence[Placed],
        scope: int,
        *,
        by_shell: bool,
        start: bool,
        lists: tuple[int, ...] = (),
    ) -> None:
        """A command line: its variables, its options, the shell text in it."""
        if not words or self.full():
            return
        raw = self.text[words[0].outer[0] : words[-1].outer[1]] if len(lists) < 1 else ""
        refs = references(raw or " ".join(w.text for w in words))
        inner = launched.shell_text(words)
        if inner is not None:
            made = Command(tuple(words), scope, by_shell=by_shell, start=False, refs=refs)
            self.commands.append(made)
            from seedstall.parse.configfile import shellfile  # noqa: PLC0415 - the two call each other

            shellfile.read(self, inner, scope, start=start)
            return
        index = self._start(words, scope, by_shell=by_shell, start=start, refs=refs, lists=lists)
        self._options_of(index)

    def _start(
        self,
        words: Sequence[Placed],
        scope: int,
        *,
        by_shell: bool,
        start: bool,
        refs: tuple[str, ...],
        lists: tuple[int, ...] = (),
    ) -> int:
        found = launched.launcher(words, self.text)
        self.commands.append(
            Command(
                words=tuple(words),
                scope=scope,
                by_shell=by_shell,
                start=start,
                launcher=found.launcher,
                launcher_at=found.launcher_at,
                program_from=found.program_from,
                main_from=found.main_from,
                main_at=found.main_at,
                lists=lists,
                refs=refs,
            )
        )
        if found.launcher and found.launcher_at >= 0:
            told = words[found.launcher_at].text
            self.learn(scope, jdk=jdk_of_path(told) if "/" in told or "\\" in told else None)
        self.learn(scope, product=launched.product(words))
        if launched.installs(words):
            packages = (jdk_of_package(w.text) for w in words)
            self.learn(scope, jdk=next(filter(None, packages), None))
        return len(self.commands) - 1

    def _options_of(self, index: int) -> None:
        command = self.commands[index]
        if launched.base(command.words[0].text) == "sed":
            self._replacements(command)
        if launched.speaks_only(command.words):
            return
        for word in seed_words(command.words):
            reach = _reach(command, word)
            self.option(word, command.scope, "command line", reach=reach, command=index)
        self._option_values(command)

    def _replacements(self, command: Command) -> None:
        """``sed -i 's#A#securerandom.source=B#' java.security``: what it writes there is a setting."""
        from seedstall.parse.configfile.properties import read_security  # noqa: PLC0415 - few files have one

        for word in command.words[1:]:
            new = launched.sed_replacement(word)
            if new is not None and new.text.lstrip().startswith("securerandom."):
                was = self.whole
                read_security(self, new, command.scope)
                self.whole = was

    def _option_values(self, command: Command) -> None:
        """``docker run -e JAVA_OPTS=...``: variables handed over on a command line."""
        texts = [w.text for w in command.words]
        if launched.base(texts[0]) not in ("docker", "podman", "nerdctl", "env", "sudo"):
            return
        for before, word in zip(texts, command.words[1:], strict=False):
            name, equals, _ = word.text.partition("=")
            if not equals or not name.isidentifier():
                continue
            if before in ("-e", "--env") or launched.base(texts[0]) in ("env", "sudo"):
                value = word.part(len(name) + 1, len(word.text))
                self.variable(name, value, command.scope, Setting.SHELL, exported=True)

    def entry(self, name: Placed, value: Placed, scope: int, line: tuple[int, int]) -> None:
        """One ``name=value`` of a security properties file."""
        if not self.full():
            self.entries.append(SecurityEntry(name, value, scope, line))

    def wrong_file(self, name: Placed, value: Placed, scope: int, carrier: str) -> None:
        """A property of seeding in a file whose properties are not the JVM's."""
        found = meant(name.text)
        if found == EGD:
            outer = (name.outer[0], value.outer[1])
            whole = Placed(
                name.text + "=" + value.text,
                [*name.starts, name.outer[1], *value.starts],
                [*name.ends, value.outer[0], *value.ends],
                outer,
            )
            word = SeedWord(found, name, value, whole)
            self.option(word, scope, carrier, reach=Reach.WRONG_FILE)

    def finish(self) -> ConfigFile:
        """The file as it was understood."""
        return ConfigFile(
            name=self.name,
            text=self.text,
            format=self.form,
            scopes=tuple(self.scopes),
            variables=tuple(self.variables),
            commands=tuple(self.commands),
            entries=tuple(self.entries),
            options=tuple(self.options),
            problem="; ".join(self.problems),
            whole=self.whole,
        )


def _literal(text: str) -> tuple[str, ...]:
    """The variables that stand in a value as ``$NAME`` or ``${NAME}``."""
    return tuple(n for n in references(text) if f"{KUBERNETES_REFERENCE}{n})" not in text)


def _reach(command: Command, word: SeedWord) -> Reach:
    if command.program_from is None or word.at < command.program_from:
        return Reach.JVM
    if command.launcher != "java":
        return Reach.JVM if word.prefix.startswith("-J") else Reach.TOOL
    return Reach.PROGRAM
