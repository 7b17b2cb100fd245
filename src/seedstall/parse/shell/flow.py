"""What variables can hold when a script ends: every branch followed, nothing executed.

A value is the set of texts it may be. What the script alone does not tell (another program's output, a variable of
the caller) is the one character `UNKNOWN` in them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from seedstall.parse.shell.script import (
    DECLARING,
    Assignment,
    Block,
    BlockKind,
    Function,
    Kind,
    Node,
    Piece,
    Simple,
    Word,
)

UNKNOWN = "\ufffc"
MAX_TEXTS = 16
"""Texts kept for one variable: more are reduced to what matters of them, and then to one unknown text."""
MAX_LENGTH = 16 * 1024
MAX_STEPS = 20_000
"""Commands followed: functions that call each other would multiply."""
MAX_CALLS = 5
"""Depth of calls followed."""

Texts: TypeAlias = frozenset[str]
ANYTHING: Texts = frozenset((UNKNOWN,))
NOTHING: Texts = frozenset(("",))


@dataclass(frozen=True, slots=True)
class Ending:
    """One way in which the script ends.

    ``start`` is the place of the top-level command in which it ends early, ``None`` at the text's end. ``failed`` marks
    an assignment to a read-only variable, at which a POSIX shell gives up; ``start`` is then where it was made so.
    """

    values: Mapping[str, Texts]
    start: int | None = None
    failed: bool = False


def endings(
    nodes: tuple[Node, ...],
    given: Mapping[str, Texts],
    essence: Callable[[str], str],
    *,
    bash: bool | None = None,
) -> tuple[Ending, ...]:
    """Every way in which the script ends, with the values then. *given* holds what the caller sets.

    *essence* reduces a text to what matters of it, where a variable can hold too many (ten independent ``if``
    give a thousand). *bash* is whether the shell is bash, where ``+=`` and ``declare`` do something (in dash and ash
    they are commands that are not found); ``None``: either.

    Raises:
        ValueError: there is too much to follow.
    """
    flow = _Flow(essence, bash)
    env: _Env | None = _Env(dict(given), {})
    for node in nodes:
        flow.top = node.start
        env = flow.run(node, env)
        if env is None:
            break
    if env is not None:
        flow.ended.append(Ending(env.values))
    return tuple(flow.ended)


@dataclass(slots=True)
class _Env:
    values: dict[str, Texts]
    fixed: dict[str, int]
    """Read-only variables, and the place of the top-level command that made them so."""

    def copy(self) -> _Env:
        return _Env(dict(self.values), dict(self.fixed))


@dataclass(slots=True)
class _Flow:
    """The walk. Commands return the variables behind them, ``None`` where nothing follows."""

    essence: Callable[[str], str]
    bash: bool | None
    functions: dict[str, Function] = field(default_factory=dict[str, Function])
    ended: list[Ending] = field(default_factory=list[Ending])
    returned: list[list[_Env]] = field(default_factory=list[list[_Env]])
    """For each call in progress, the variables at its ``return``s."""
    locals: list[dict[str, Texts]] = field(default_factory=list[dict[str, Texts]])
    steps: int = 0
    top: int = 0
    muted: int = 0
    """Above 0 in a subshell: its endings are not the script's."""

    # Values

    def join(self, envs: Iterable[_Env | None]) -> _Env | None:
        """What holds behind branches: each variable may be what any of them left."""
        living = [e for e in envs if e is not None]
        if not living:
            return None
        first, *others = living
        joined = first.copy()
        for other in others:
            for name in joined.values.keys() | other.values.keys():
                mine, theirs = joined.values.get(name, ANYTHING), other.values.get(name, ANYTHING)
                if mine is not theirs:
                    joined.values[name] = self.bounded(mine | theirs)
            joined.fixed |= other.fixed
        return joined

    def bounded(self, texts: Texts) -> Texts:
        if len(texts) > MAX_TEXTS or any(len(t) > MAX_LENGTH for t in texts):
            texts = frozenset(map(self.essence, texts))
        if len(texts) > MAX_TEXTS or any(len(t) > MAX_LENGTH for t in texts):
            return ANYTHING
        return texts

    def product(self, left: Texts, right: Texts) -> Texts:
        if right == NOTHING:
            return left
        if len(left) * len(right) > MAX_TEXTS:
            left, right = frozenset(map(self.essence, left)), frozenset(map(self.essence, right))
        if len(left) * len(right) > MAX_TEXTS * MAX_TEXTS:
            return ANYTHING
        return self.bounded(frozenset(a + b for a in left for b in right))

    # Commands

    def run_all(self, nodes: tuple[Node, ...], env: _Env | None) -> _Env | None:
        for node in nodes:
            if env is None:
                return None
            env = self.run(node, env)
        return env

    def run(self, node: Node, env: _Env | None) -> _Env | None:
        self.steps += 1
        if self.steps > MAX_STEPS:
            message = "too many commands to follow"
            raise ValueError(message)
        if env is None:
            return None
        match node:
            case Simple():
                return self.simple(node, env)
            case Function():
                self.functions[node.name] = node
                return env
            case Block():
                return self.block(node, env)

    def block(self, block: Block, env: _Env) -> _Env | None:
        match block.kind:
            case BlockKind.GROUP:
                return self.run_all(block.parts[0], env) if block.parts else env
            case BlockKind.SUBSHELL:
                self.muted += 1
                for part in block.parts:
                    self.run_all(part, env.copy())
                self.muted -= 1
                return env
            case BlockKind.CHAIN:
                return self.chain(block, env)
            case BlockKind.IF:
                return self.conditional(block, env)
            case BlockKind.CASE:
                for word in block.words:
                    self.texts(word.pieces, env)
                arms = [self.run_all(arm, env.copy()) for arm in block.parts]
                return self.join(arms if block.total else [*arms, env])
            case BlockKind.LOOP:
                return self.loop(block, env)

    def chain(self, block: Block, env: _Env) -> _Env | None:
        now: _Env | None = env
        for index, part in enumerate(block.parts):
            after = self.run_all(part, now.copy() if now is not None else None)
            now = after if index == 0 else self.join((now, after))
        return now

    def conditional(self, block: Block, env: _Env) -> _Env | None:
        after: list[_Env | None] = []
        now: _Env | None = env
        parts = block.parts
        pairs = len(parts) // 2
        for index in range(pairs):
            now = self.run_all(parts[2 * index], now)
            after.append(
                self.run_all(parts[2 * index + 1], now.copy() if now is not None else None)
            )
        after.append(self.run_all(parts[-1], now) if block.total else now)
        return self.join(after)

    def loop(self, block: Block, env: _Env) -> _Env | None:
        if block.variable:
            items = [self.texts(word.pieces, env) for word in block.words] or [ANYTHING]
            env = env.copy()
            env.values[block.variable] = self.bounded(frozenset[str]().union(*items))
        now: _Env | None = self.run_all(block.parts[0], env)
        for _ in range(2):
            once = self.run_all(block.parts[1], now.copy() if now is not None else None)
            now = self.join((now, once))
        return now

    # Simple commands

    def simple(self, command: Simple, env: _Env) -> _Env | None:
        for word in command.words:
            self.texts(word.pieces, env)  # for the := in it
        name = command.words[0].plain if command.words else None
        for assignment in command.assignments:
            if command.words and name not in (":", ".", "export", "eval", "set", "unset"):
                continue  # for that command alone
            if not self.assign(assignment, env):
                return None
        if name is None:
            return env
        return self.builtin(name, command, env)

    def builtin(self, name: str, command: Simple, env: _Env) -> _Env | None:
        arguments = command.words[1:]
        if name in DECLARING:
            return self.declare(name, arguments, env)
        if name in self.functions:
            return self.call(self.functions[name], arguments, env)
        match name:
            case "return" | "exit":
                self.leave(name, env)
                return None
            case "exec" if arguments:
                self.leave("exit", env)
                return None
            case "eval":
                self.evaluate(arguments, env)
            case "set" | "shift":
                self.positional(name, arguments, env)
            case _:
                for word in _variables(name, arguments):
                    env.values[word.plain or ""] = NOTHING if name == "unset" else ANYTHING
        return env

    def declare(self, name: str, arguments: tuple[Word, ...], env: _Env) -> _Env | None:
        if name in ("declare", "typeset") and not self.bash:
            if self.bash is False:
                return env
            self.bash = True
            done = self.declare(name, arguments, env.copy())
            self.bash = None
            return self.join((env, done))
        fixing = name == "readonly"
        for word in arguments:
            plain = word.plain or ""
            if plain.startswith("-"):
                fixing = fixing or (name in ("declare", "typeset") and "r" in plain)
                continue
            found = word.assignment()
            variable = found.name if found else plain
            if self.locals and name not in {"export", "readonly"}:
                self.locals[-1].setdefault(variable, env.values.get(variable, ANYTHING))
            if found and not self.assign(found, env):
                return None
            if fixing:
                env.fixed.setdefault(variable, self.top)
        return env

    def assign(self, assignment: Assignment, env: _Env) -> bool:
        if assignment.name in env.fixed:
            self.end(Ending(dict(env.values), env.fixed[assignment.name], failed=True))
            return False
        value = self.texts(assignment.value, env)
        if assignment.append:
            old = env.values.get(assignment.name, ANYTHING)
            grown = old if self.bash is False else self.product(old, value)
            value = grown if self.bash is not None else self.bounded(old | grown)
        env.values[assignment.name] = value
        return True

    def evaluate(self, arguments: tuple[Word, ...], env: _Env) -> None:
        """``eval``: every variable that its text names may be anything afterwards."""
        for word in arguments:
            for text in self.texts(word.pieces, env):
                for name in list(env.values):
                    if name in text:
                        env.values[name] = ANYTHING

    def positional(self, name: str, arguments: tuple[Word, ...], env: _Env) -> None:
        if name == "shift":
            for key in ("@", "*", *"123456789"):
                env.values[key] = ANYTHING
            return
        plain = [w.plain for w in arguments]
        if "--" in plain:
            self.parameters(arguments[plain.index("--") + 1 :], env)

    def parameters(self, arguments: tuple[Word, ...], env: _Env) -> None:
        items = [self.texts(word.pieces, env) for word in arguments]
        together = NOTHING
        for index, item in enumerate(items):
            together = self.product(
                together, item if index == 0 else self.product(frozenset((" ",)), item)
            )
        for number in range(1, 10):
            env.values[str(number)] = items[number - 1] if number <= len(items) else NOTHING
        env.values["@"] = env.values["*"] = together

    def call(self, function: Function, arguments: tuple[Word, ...], env: _Env) -> _Env | None:
        if len(self.returned) >= MAX_CALLS:
            return env
        saved = {key: env.values.get(key, ANYTHING) for key in ("@", "*", *"123456789")}
        inner = env.copy()
        self.parameters(arguments, inner)
        self.returned.append([])
        self.locals.append({})
        after = self.run_all(function.body, inner)
        joined = self.join([*self.returned.pop(), after])
        hidden = self.locals.pop()
        if joined is not None:
            joined.values.update(saved)
            joined.values.update(hidden)
        return joined

    def leave(self, how: str, env: _Env) -> None:
        if how == "return" and self.returned:
            self.returned[-1].append(env)
        else:
            self.end(Ending(dict(env.values), self.top))

    def end(self, ending: Ending) -> None:
        if not self.muted:
            self.ended.append(ending)

    # Words

    def texts(self, pieces: Iterable[Piece], env: _Env) -> Texts:
        """What the pieces may come to. Carries out the assignments of ``${NAME:=word}``."""
        texts = NOTHING
        literal: list[str] = []
        for piece in pieces:
            if piece.kind is Kind.CHAR:
                literal.append(piece.text)
                continue
            if literal:
                texts = self.product(texts, frozenset(("".join(literal),)))
                literal = []
            value = self.parameter(piece, env) if piece.kind is Kind.PARAM else ANYTHING
            texts = self.product(texts, value)
        return self.product(texts, frozenset(("".join(literal),))) if literal else texts

    def parameter(self, piece: Piece, env: _Env) -> Texts:
        value = env.values.get(piece.text, ANYTHING)
        operator = piece.operator.removeprefix(":")
        if not operator:
            return value if piece.operator == "" else ANYTHING
        if operator not in ("-", "=", "+", "?"):
            self.texts(piece.word, env)
            return ANYTHING
        word = self.texts(piece.word, env)
        if operator == "?":
            return value
        if operator == "+":
            return NOTHING | word
        kept = value - NOTHING if piece.operator.startswith(":") else value
        perhaps_unset = value & (NOTHING | ANYTHING)
        chosen = self.bounded(kept | word) if perhaps_unset else kept
        if operator == "=":
            env.values[piece.text] = chosen
        return chosen


def _variables(name: str, arguments: tuple[Word, ...]) -> tuple[Word, ...]:
    """The words that name variables which the command sets to something not known, or unsets."""
    if name in ("unset", "read", "mapfile", "readarray", "getopts", "let"):
        return arguments
    if name == "printf" and len(arguments) > 1 and arguments[0].plain == "-v":
        return arguments[1:2]
    return ()
