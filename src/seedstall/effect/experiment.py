"""First uses of a generator, each in a JVM of its own on a dry ``/dev/random``: what it reads, and whether it waits.

Both devices are FIFOs that we hold the other end of (chamber.py). That of ``/dev/random`` is empty, that of
``/dev/urandom`` is not, and what is missing of either at the end was read: an open descriptor proves nothing. A JVM
that waits is seen inside its read of the empty one; it is kept there for a while, then the device is filled, and the
JVM must go on: so each start shows the starved and the healthy device, and that it was this device it waited for.

Where no namespace may be had, the same FIFOs are named by ``java.security.egd``, in the place of the device that the
setting ends at. That reaches every use of the seed source, and no other.

Nothing is asked of, sent to or taken from the target: what is known of it comes from ``/proc``. Our JVMs have a process
group each; whatever they leave behind comes to us (PR_SET_CHILD_SUBREAPER) and is ended, too.
"""

from __future__ import annotations

import os
import secrets
import select
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from seedstall.effect.chamber import HERE
from seedstall.effect.probejvm import Fifo, Launch, Orphans, ProbeJvm, number
from seedstall.effect.starvation import How, thread_inside
from seedstall.knowledge.seedsource import URL_RANDOM, Target, destination
from seedstall.model.errors import SeedstallError
from seedstall.model.redact import visible
from seedstall.model.seeding import Device, Instance, Operation
from seedstall.model.trial import Outcome, Question, Series, Setting, Trial, Use
from seedstall.source.family import children_of

PROBE = Path(__file__).parent / "probe/SeedMeter.class"
HOLD_S = 0.4
"""How long a JVM is kept waiting once it is seen in its read: a healthy read takes some microseconds."""
BLIND_S = 3.0
"""Where no system call may be seen: a first use that takes longer than this is given bytes, to see whether it waits."""
LIMIT_S = 20.0
"""Longer than the threaded seeder needs (8 to 9 s)."""
POLL_S = 0.01
FRUGAL = (
    "-XX:+IgnoreUnrecognizedVMOptions",
    # A JVM removes what it takes for stale from /tmp/hsperfdata_USER: the target's own file, where that lives in
    # another pid namespace (perfMemory_linux.cpp, cleanup_sharedmem_resources).
    "-XX:-UsePerfData",
    "-XX:+DisableAttachMechanism",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-Xmx32m",
    f"-XX:ErrorFile={HERE}/hs_err",
)
"""A small JVM that leaves nothing. None of these has to do with seeds."""
THREADED_NAME = "SeedGenerator T"
"""``SeedGenerator Thread``, as far as the kernel keeps a name (sun/security/provider/SeedGenerator.java)."""
PROPERTIES = "seedstall.security"
KEPT = ("PATH", "HOME", "USER", "LOGNAME", "TMPDIR")
"""Variables that a ``java`` which is a script may need. No other is handed on: options hide in many."""
CHARSET = ("LC_ALL", "LC_CTYPE", "LANG")
"""Strongest first: what a JVM reads its command line and file names by."""
QUIET_J9 = "-Xshareclasses:none -Xdump:none"
"""OpenJ9 keeps a class cache of its user's, and writes javacores and heap dumps into the working directory."""


@dataclass(frozen=True, slots=True)
class Subject:
    """The ``java`` to be tried, and in whose place.

    ``java`` is a path inside ``root`` (or inside the root of the process whose ``/proc/PID`` ``process_fd`` is).
    ``user`` is uid, gid and groups where they are not ours. ``keep`` are paths that must stay to be seen.
    """

    java: str
    root: Path | None = None
    process_fd: int = -1
    user: tuple[int, int, tuple[int, ...]] | None = None
    cwd: str = ""
    keep: tuple[str, ...] = ()
    env: Mapping[str, str] | None = None

    def environment(self) -> dict[str, str]:
        """What the JVM gets: of the target's only the character set, in which a path of its settings is written."""
        given = os.environ if self.env is None else self.env
        env = {name: given[name] for name in KEPT if name in given}
        charset = next((given[name] for name in CHARSET if given.get(name)), "C")
        ours = {"LANG": "C", "LC_CTYPE": charset}
        ours |= dict.fromkeys(("OPENJ9_JAVA_OPTIONS", "IBM_JAVA_OPTIONS"), QUIET_J9)
        return {"PATH": "/usr/bin:/bin", **env, **ours}

    def words(self) -> list[str]:
        """The same for chamber.py."""
        words = [f"keep={path}" for path in (self.java, *self.keep)]
        words += [f"process={self.process_fd}"] if self.process_fd >= 0 else []
        words += [f"root={self.root}"] if self.root is not None else []
        words += [f"cwd={self.cwd}"] if self.cwd else []
        if self.user is not None:
            uid, gid, groups = self.user
            words += [f"uid={uid}", f"gid={gid}", f"groups={','.join(map(str, groups))}"]
        return words


class Laboratory:
    """Runs questions, some at a time. A context manager: leaving it ends every process and removes every file of it."""

    def __init__(
        self,
        subject: Subject,
        settings: Sequence[Setting],
        *,
        at_once: int = 2,
        limit_s: float = LIMIT_S,
        how: How | None = None,
    ) -> None:
        """Find out by what means a device can be made dry; *how* forces ``egd``.

        Raises:
            SeedstallError: by none.
        """
        self._subject = subject
        self._settings = {setting.name: setting for setting in settings}
        self._at_once = max(1, at_once)
        self._limit_s = limit_s
        self.how = How.MOUNT
        self._active: list[ProbeJvm] = []
        self._folder: Path | None = None
        """Only where there is no namespace: whatever ends us, a tmpfs of a namespace leaves nothing."""
        self.no_namespace = ""
        self.came_up = False
        """Whether the probe said a word in any JVM."""
        self._orphans = Orphans()
        try:
            self.how = self._means(how)
        except BaseException:
            self.close()
            raise

    def _means(self, forced: How | None) -> How:
        if forced is How.EGD:
            self.no_namespace = "not asked for"
            return How.EGD
        with ProbeJvm(self._launch(None)) as start:
            answer = start.answer
        if answer in tuple(How):
            return How(answer)
        subject = self._subject
        elsewhere = subject.root is not None or subject.process_fd >= 0
        if elsewhere:
            raise SeedstallError(
                f"cannot start a JVM in that place on a dry random device: {answer}",
                "as root it can, where a mount namespace may be made",
            )
        self.no_namespace = answer
        return How.EGD

    # --- the questions -----------------------------------------------------------------------------------------------

    def series(
        self, questions: Sequence[Question], told: Callable[[Trial], None] = lambda _: None
    ) -> Series:
        """The trials of *questions*, in that order; *told* hears of each as it ends."""
        begin = time.monotonic()
        ended: dict[Question, Trial] = {}
        waiting = list(questions)
        running: dict[Question, _Experiment] = {}
        while waiting or running:
            while waiting and len(running) < self._at_once:
                question = waiting.pop(0)
                refused = self._uncovered(question)
                if refused:
                    ended[question] = Trial(question, Outcome.NOT_COVERED, why=refused)
                    told(ended[question])
                else:
                    running[question] = self._start(question)
            self._pause(running.values())
            for question, experiment in list(running.items()):
                trial = experiment.step()
                if trial is not None:
                    del running[question]
                    self._active.remove(experiment.start)
                    self.came_up |= experiment.came_up
                    experiment.start.close()
                    ended[question] = trial
                    told(trial)
        seconds = time.monotonic() - begin
        return Series(tuple(ended[q] for q in questions), str(self.how), seconds, self.no_namespace)

    @staticmethod
    def _pause(running: Iterable[_Experiment]) -> None:
        outputs = [e.start.output for e in running if e.start.output >= 0]
        if outputs:
            select.select(outputs, [], [], POLL_S)
        # An output that has ended is always ready.
        time.sleep(POLL_S / 10)

    def _uncovered(self, question: Question) -> str:
        """Why the egd FIFO does not reach that use; ``""`` where it does, or a namespace is had."""
        if self.how is not How.EGD:
            return ""
        use, setting = question.use, self._settings[question.setting]
        if use.instance in (Instance.SHA1PRNG, Instance.DRBG) and use.operation is not (
            Operation.SET_SEED
        ):
            return ""
        if use.instance is Instance.STRONG:
            return f"no egd reaches getInstanceStrong(): {_NEEDS}"
        if use == Use(Instance.NATIVE_PRNG, Operation.GENERATE_SEED):
            return "" if _stand_in(setting) else _NO_SOURCE
        return f"an egd that names our FIFO changes the default generator: {_NEEDS}"

    def _start(self, question: Question) -> _Experiment:
        start = ProbeJvm(self._launch(question))
        self._active.append(start)
        return _Experiment(question, start, self._limit_s)

    def _launch(self, question: Question | None) -> Launch:
        """How *question* is put; ``None``: how it is found out whether any can be."""
        subject, token = self._subject, secrets.token_hex(8)
        setting = self._settings[question.setting] if question is not None else _BARE
        files = {} if setting.properties is None else {PROPERTIES: setting.properties}
        words, egd, fifos = [f"copy={PROBE}"], setting.egd, None
        if question is None:
            words.append("check=1")
        elif self.how is How.EGD:
            here = self._place(token, files)
            words, fifos = [f"dir={here}"], _fifos(here)
            stand_in = _stand_in(setting)
            egd = (here / stand_in[1:]).as_uri() if stand_in else egd
        command = [subject.java, *FRUGAL]
        command += [f"-Djava.security.egd={egd}"] if egd is not None else []
        command += [*setting.options, "-cp", HERE, "SeedMeter", "first", token]
        if question is not None:
            command += [question.use.instance, question.use.operation, "0"]
        return Launch(
            [*words, *subject.words()],
            command,
            subject.environment(),
            subject.process_fd,
            token,
            fifos,
            files if fifos is None else {},
        )

    def _place(self, name: str, files: Mapping[str, bytes]) -> Path:
        """A directory that holds the probe, and *files*."""
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="seedstall-"))
        here = self._folder / name
        here.mkdir()
        for folder in (self._folder, here):
            folder.chmod(0o755)  # the JVM may be another user's
        shutil.copy(PROBE, here)
        for file, data in files.items():
            (here / file).write_bytes(data)
        return here

    # --- the end -----------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """End what was started, whatever came of it, and take the files away. Again is harmless."""
        for start in self._active:
            start.close()
        self._active.clear()
        self._orphans.end()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close it."""
        self.close()


_NEEDS = "it takes a mount namespace (run as root, or where user namespaces are allowed)"
_NO_SOURCE = f"this setting does not end at a random device: {_NEEDS}"


_BARE = Setting("", "")


def _fifos(here: Path) -> tuple[Path, Path]:
    """FIFOs whose paths end as the devices' do."""
    fifos = (here / "dev/random", here / "dev/urandom")
    fifos[0].parent.mkdir()
    for fifo in fifos:
        os.mkfifo(fifo)
        fifo.chmod(0o666)
    return fifos


def _stand_in(setting: Setting) -> str:
    """The device in whose place a FIFO is named by egd; the shipped seed source is ``/dev/random`` (8 and later)."""
    value = setting.egd or setting.source or URL_RANDOM
    target = destination(value).target
    return str(target) if target in (Target.RANDOM, Target.URANDOM) else ""


class _Experiment:
    """One trial: starts a JVM, waits for its word, lets it go, watches, fills the device, reads the result."""

    def __init__(self, question: Question, start: ProbeJvm, limit_s: float) -> None:
        self._question = question
        self.start = start
        self._limit_s = limit_s
        self._jvm = 0
        self._gone_at = 0.0
        self._waits_since: float | None = None
        self._fed_at: float | None = None
        self._seen = ""
        self._threaded = False

    @property
    def came_up(self) -> bool:
        """Whether the probe said that it is there."""
        return self._jvm > 0

    def step(self) -> Trial | None:
        """Look once; the trial when it is over."""
        if self.start.fifos is None or self.start.answer not in tuple(How):
            return self._failed(self.start.answer)
        random, urandom = self.start.fifos
        urandom.fill()
        now = time.monotonic()
        more = self.start.read()
        if self.start.flooded:
            return self._failed(f"it prints without end: {self.start.tail()}")
        if not self._jvm:
            return self._before(now, random, urandom, more=more)
        return self._result(random, urandom, more=more) or self._watch(now, random)

    def _result(self, random: Fifo, urandom: Fifo, *, more: bool) -> Trial | None:
        """The trial, if the probe has said its last word, or can say none any more."""
        done, failed = self.start.said("done"), self.start.said("failed")
        if done is not None:
            return self._done(done, (random.taken(), urandom.taken()))
        if failed is not None:
            return self._error(failed.get("error", ""))
        return self._failed(self._ended()) if not more else None

    def _before(self, now: float, random: Fifo, urandom: Fifo, *, more: bool) -> Trial | None:
        """Until the probe says that it is there."""
        ready = self.start.said("ready")
        if ready is not None:
            self._jvm = self._own(ready.get("pid", ""))
            random.mark()
            urandom.mark()
            self._gone_at = time.monotonic()
            self.start.go()
            return None
        if not more:
            return self._failed(self._ended())
        if now - self.start.began > self._limit_s:
            return self._failed(self._silent(random))
        return None

    def _own(self, text: str) -> int:
        """The JVM's id: its word, if that process is of the group that we started; else the one we started."""
        pid = number(text)
        if pid:
            with suppress(OSError, OverflowError):
                if os.getpgid(pid) == self.start.pid:
                    return pid
        return self.start.pid

    def _silent(self, random: Fifo) -> str:
        for pid in (self.start.pid, *children_of(self.start.pid)):
            with suppress(OSError):
                if thread_inside(pid, random.stat) is not None:
                    return "it reads /dev/random before any JVM is there: is java a script?"
        said = self.start.tail()
        limit = f"no sign of a JVM within {self._limit_s:g} s"
        return f"{limit}; it printed: {said}" if said else limit

    def _ended(self) -> str:
        code = self.start.code()
        how = f"it ended with exit code {code}" if code is not None else "it closed its output"
        if code is not None and code < 0:
            how = f"it was ended by signal {-code}"
        said = self.start.tail()
        if "UnsupportedClassVersionError" in said:
            return "the probe needs Java 8 or later"
        return f"{how}: {said}" if said else how

    def _watch(self, now: float, random: Fifo) -> Trial | None:
        """See where it is, and fill the device when it was kept waiting long enough."""
        if self._fed_at is not None:
            random.fill()
        elif self._kept_long_enough(now, random):
            self._fed_at = now
        return self._over() if now - self._gone_at > self._limit_s else None

    def _kept_long_enough(self, now: float, random: Fifo) -> bool:
        tid = None
        with suppress(OSError):
            tid = thread_inside(self._jvm, random.stat)
        if tid is None:
            self._waits_since = None
            # No system call may be seen, or it works: bytes that nobody wants do no harm.
            threaded = now - self._gone_at > HOLD_S and self._is_threaded()
            return now - self._gone_at > BLIND_S and not threaded
        self._waits_since = self._waits_since or now
        if now - self._waits_since < HOLD_S:
            return False
        self._seen = f"thread {tid} of process {self._jvm} stayed inside its read of /dev/random"
        return True

    def _is_threaded(self) -> bool:
        if not self._threaded:
            with suppress(OSError):
                for tid in os.listdir(f"/proc/{self._jvm}/task"):  # noqa: PTH208 - often
                    comm = Path(f"/proc/{self._jvm}/task/{tid}/comm").read_bytes()
                    self._threaded |= comm.startswith(THREADED_NAME.encode())
        return self._threaded

    # --- what came of it ---------------------------------------------------------------------------------------------

    def _done(self, said: Mapping[str, str], taken: tuple[int, int]) -> Trial:
        nanos = number(said.get("nanos", ""))
        ms = None if nanos is None else nanos / 1e6
        held = None
        if self._fed_at is not None and taken[0]:
            held = self._fed_at - (self._waits_since or self._gone_at)
            ms = None if ms is None else max(0.0, ms - held * 1000)
        outcome, device = self._verdict(taken)
        seen = self._seen
        if outcome is Outcome.BLOCKS and not seen:
            seen = "it went on when bytes were put into /dev/random, and took them"
        return Trial(
            self._question,
            outcome,
            device,
            said.get("algorithm", ""),
            said.get("provider", ""),
            ms,
            None if held is None else round(held * 1000),
            taken,
            seen,
            said=said,
        )

    def _verdict(self, taken: tuple[int, int]) -> tuple[Outcome, Device]:
        if taken[0]:
            return Outcome.BLOCKS, Device.RANDOM
        if self._threaded:
            return Outcome.DELAYED, Device.THREADED
        return Outcome.GOES_ON, Device.URANDOM if taken[1] else Device.NONE

    def _error(self, error: str) -> Trial:
        why = visible(error[:300])
        # getInstanceStrong() is there since 8: where it finds nothing, its list names nothing that is there.
        strong = self._question.use.instance is Instance.STRONG
        if "NoSuchAlgorithmException" in error and not strong:
            return Trial(self._question, Outcome.NO_GENERATOR, Device.NONE, why=why)
        return Trial(self._question, Outcome.THROWS, Device.NONE, why=why)

    def _over(self) -> Trial:
        """It did not end: filled or not, which is no proof of a wait on the device."""
        why = f"not done within {self._limit_s:g} s"
        if self._seen:
            why += f"; {self._seen}, and it did not go on when that was filled"
            return Trial(self._question, Outcome.BLOCKS, Device.RANDOM, seen=self._seen, why=why)
        return self._failed(why)

    def _failed(self, why: str) -> Trial:
        return Trial(self._question, Outcome.FAILED, why=visible(why))
