import re
import tarfile
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seedstall.knowledge.stacks import (
    SEEDER_HOLDER,
    classify,
    expected_device,
    is_threaded_seeder,
)
from seedstall.model.jdk import JdkVersion
from seedstall.model.seeding import (
    Algorithm,
    Device,
    Instance,
    Operation,
    SeedRole,
    SeedSetting,
    SeedSource,
    SeedStack,
)
from seedstall.model.threads import Frame, JavaThread, LockAct, LockLine
from seedstall.parse.threaddump import thread_dumps

ROOT = Path(__file__).parents[2]
DUMPS = ROOT / "fixtures" / "jdk-dumps.tar.xz"
P = "sun.security.provider."

# ---------------------------------------------------------------- the real dumps


@cache
def dumps() -> dict[str, str]:
    """The probes that ended blocked: a thread dump each, named ``JDK.SOURCE.OPERATION[.xN].txt``."""
    found: dict[str, str] = {}
    with tarfile.open(DUMPS) as archive:
        for member in archive:
            file = archive.extractfile(member) if member.name.endswith(".txt") else None
            text = file.read().decode() if file else ""
            if "Full thread dump" in text:
                found[Path(member.name).name] = text
    return found


PROBES = [
    "bothblocked.def.nextBytes.x4",
    "dotrandom.def.nextBytes",
    "dotrandom.def.nextBytes.x4",
    "dotrandom.ssl",
    "dotrandom.temp",
    "dotrandom.uuid",
    "none.blk.generateSeed",
    "none.blk.nextBytes",
    "none.blk.nextBytes.x4",
    "none.def.generateSeed",
    "none.def.generateSeed.x4",
    "none.getSeed",
    "none.sha1.generateSeed",
    "none.sha1.nextBytes",
    "none.sha1.nextBytes.x4",
    "none.sha1.nextInt",
    "none.strong.generateSeed",
    "none.strong.nextBytes",
    "noscheme.sha1.nextBytes",
]
NAMES = [
    *(f"{jdk}.{probe}.txt" for jdk in (8, 11, 17, 21, 25) for probe in PROBES),
    *(
        f"{jdk}.none.drbg.{probe}.txt"
        for jdk in (11, 17, 21, 25)
        for probe in ("generateSeed", "nextBytes", "nextBytes.x4")
    ),
    "7src.def.generateSeed.x1.urandom.txt",
    "7src.def.nextBytes.x1.random.txt",
    "7src.def.nextBytes.x3.urandomboth.txt",
    "7src.sha1.nextInt.x1.urandom.txt",
]


def test_the_dumps_are_the_ones_named() -> None:
    assert len(NAMES) == 111
    assert sorted(dumps()) == sorted(NAMES)


def software(name: str) -> Algorithm:
    """The default where the source is no special string."""
    return Algorithm.SHA1PRNG if name.startswith(("7", "8")) else Algorithm.DRBG


def algorithm_of(name: str) -> Algorithm:
    if ".blk." in name or ".strong." in name:
        return Algorithm.NATIVE_PRNG_BLOCKING
    if ".sha1." in name or name == "7src.def.nextBytes.x1.random.txt":
        return Algorithm.SHA1PRNG
    if ".drbg." in name:
        return Algorithm.DRBG
    return software(name) if ".dotrandom." in name else Algorithm.NATIVE_PRNG


def source_of(name: str) -> str:
    told = {
        ".dotrandom.": "file:/dev/./random",
        ".noscheme.": "/dev/urandom",
        "7src.def.nextBytes.x1.random": "file:/dev/random",
        "7src.": "file:/dev/urandom",
    }
    return next((source for part, source in told.items() if part in name), "file:/dev/random")


def jdk_of(name: str) -> JdkVersion:
    return JdkVersion(7 if name.startswith("7src") else int(name.partition(".")[0]))


CALLERS = {".ssl.": "TLS", ".temp.": "File.createTempFile", ".uuid.": "UUID.randomUUID"}
LOCKS = {
    Algorithm.NATIVE_PRNG: "java.lang.Object",
    Algorithm.NATIVE_PRNG_BLOCKING: "java.lang.Object",
    Algorithm.SHA1PRNG: SEEDER_HOLDER,
    Algorithm.DRBG: "sun.security.provider.HashDrbg",
}


@pytest.mark.parametrize("name", NAMES)
def test_real_dump(name: str) -> None:
    (dump,) = thread_dumps(dumps()[name], name)
    stacks = {t.name: stack for t in dump.threads if (stack := classify(t)) is not None}
    count = re.search(r"\.x([0-9])\.", name)
    probes = 2 if "noscheme" in name else int(count[1]) if count else 1
    assert sorted(stacks) == [f"probe-{i}" for i in range(probes)]
    at_work = SeedRole.THREADED if "noscheme" in name else SeedRole.READING
    roles = sorted(stack.role for stack in stacks.values())
    assert roles == sorted([at_work, *[SeedRole.QUEUED] * (probes - 1)])
    generates = "generateSeed" in name or "getSeed" in name
    for stack in stacks.values():
        assert stack.algorithm is algorithm_of(name)
        assert stack.operation is (Operation.GENERATE_SEED if generates else Operation.NEXT_BYTES)
        assert stack.caller == next((c for part, c in CALLERS.items() if part in name), "")
        assert stack.caller_frame == "D.one"
        queued = stack.role is SeedRole.QUEUED
        assert stack.lock_class == (LOCKS[stack.algorithm] if queued else "")
        blocking = stack.algorithm is Algorithm.NATIVE_PRNG_BLOCKING
        assert stack.instance is (Instance.STRONG if blocking else None)
        assert stack.candidates == ()


@pytest.mark.parametrize("name", NAMES)
def test_real_dump_reads_the_device_that_was_dry(name: str) -> None:
    (dump,) = thread_dumps(dumps()[name], name)
    stacks = [stack for thread in dump.threads if (stack := classify(thread)) is not None]
    source = SeedSource(source_of(name), SeedSetting.EGD, "test")
    device = Device.URANDOM if "both" in name else Device.RANDOM
    device = Device.THREADED if "noscheme" in name else device
    for stack in stacks:
        assert expected_device(stack, jdk_of(name), source) is device
        assert expected_device(stack, jdk_of(name), source.value) is device


def test_the_threaded_seeders_own_threads_are_told() -> None:
    for name in (n for n in NAMES if "noscheme" in n):
        (dump,) = thread_dumps(dumps()[name], name)
        noisy = {thread.name for thread in dump.threads if is_threaded_seeder(thread)}
        assert noisy == {"SeedGenerator Thread"}


# ---------------------------------------------------------------- shapes by hand

STATES = {
    "runnable": ("RUNNABLE", "runnable"),
    "blocked": ("BLOCKED", "waiting for monitor entry"),
    "class-init": ("RUNNABLE", "in Object.wait()"),
    "waiting": ("WAITING", "in Object.wait()"),
}


def thread(frames: str, state: str = "runnable", locks: tuple[LockLine, ...] = ()) -> JavaThread:
    """A thread from names, innermost first; ``P.`` stands for the SUN provider's package."""
    names = [re.sub(r"^P\.", P, line.strip()) for line in frames.split("\n") if line.strip()]
    parts = [name.rpartition(".") for name in names]
    what, activity = STATES[state]
    return JavaThread(
        name="t",
        frames=tuple(Frame(class_name, method) for class_name, _, method in parts),
        locks=locks,
        state=what,
        activity=activity,
    )


def told(frames: str, state: str = "runnable", locks: tuple[LockLine, ...] = ()) -> SeedStack:
    stack = classify(thread(frames, state, locks))
    assert stack is not None
    return stack


READ = "java.io.FileInputStream.readBytes\njava.io.FileInputStream.read\n"
READ9 = READ + "java.io.FilterInputStream.read\n"
SEED = "P.SeedGenerator$URLSeedGenerator.getSeedBytes\nP.SeedGenerator.generateSeed\n"
APP = "java.security.SecureRandom.nextBytes\ncom.example.App.main"


def test_sha1prng_before_the_seeder_had_a_holder() -> None:
    """Before JDK-7167656 (7u9, jdk8-b63) engineNextBytes called engineGenerateSeed of its own class."""
    stack = told(
        READ + SEED + "P.SecureRandom.engineGenerateSeed\nP.SecureRandom.engineNextBytes\n" + APP
    )
    assert (stack.algorithm, stack.operation) == (Algorithm.SHA1PRNG, Operation.NEXT_BYTES)
    assert stack.role is SeedRole.READING


def test_seed_through_two_buffers() -> None:
    """Before JDK-6998583 a byte was asked for at a time, of a stream that asked for 8192."""
    stack = told(
        READ
        + "java.io.BufferedInputStream.fill\njava.io.BufferedInputStream.read1\njava.io.BufferedInputStream.read\n"
        * 2
        + "P.SeedGenerator$URLSeedGenerator.getSeedByte\nP.SeedGenerator.getSeedBytes\nP.SeedGenerator.generateSeed\n"
        + "P.SecureRandom.engineGenerateSeed\nP.SecureRandom.engineNextBytes\n"
        + APP
    )
    assert (stack.algorithm, stack.role) == (Algorithm.SHA1PRNG, SeedRole.READING)


@pytest.mark.parametrize(
    ("variant", "algorithm", "instance"),
    [
        ("", Algorithm.NATIVE_PRNG, None),
        ("$Blocking", Algorithm.NATIVE_PRNG_BLOCKING, Instance.STRONG),
        ("$NonBlocking", Algorithm.NATIVE_PRNG_NONBLOCKING, None),
    ],
)
@pytest.mark.parametrize(
    "package", ["sun.security.provider.NativePRNG", "com.ibm.crypto.provider.NativePRNG_Unix"]
)
@pytest.mark.parametrize("bridge", ["", "access$400"])
def test_later_reads_of_the_native_family(
    variant: str, algorithm: Algorithm, instance: Instance | None, package: str, bridge: str
) -> None:
    io = f"{package}$RandomIO."
    frames = [f"{io}readFully", f"{io}ensureBufferValid", f"{io}implNextBytes"]
    frames += [io + bridge] if bridge else []
    stack = told(READ9 + "\n".join([*frames, f"{package}{variant}.engineNextBytes", APP]))
    assert (stack.algorithm, stack.instance) == (algorithm, instance)
    assert (stack.operation, stack.role) == (Operation.NEXT_BYTES, SeedRole.READING)
    assert stack.seed_frame == f"{io}readFully"


def test_ibms_own_generator_is_anothers() -> None:
    stack = told("com.ibm.crypto.provider.IBMSecureRandom.engineNextBytes\n" + APP)
    assert (stack.algorithm, stack.role) == (Algorithm.OTHER, SeedRole.WORKING)
    assert expected_device(stack, JdkVersion(8), "file:/dev/random") is Device.UNKNOWN


def test_set_seed_of_the_blocking_variant_seeds_its_mixer_first() -> None:
    """Seen on 8, 11, 17, 21 and 25 with a dry /dev/random."""
    stack = told(
        READ9
        + "P.NativePRNG$RandomIO.readFully\nP.NativePRNG$RandomIO.getMixRandom\nP.NativePRNG$RandomIO.implSetSeed\n"
        "P.NativePRNG$Blocking.engineSetSeed\njava.security.SecureRandom.setSeed\nP2.main"
    )
    assert (stack.algorithm, stack.operation) == (
        Algorithm.NATIVE_PRNG_BLOCKING,
        Operation.SET_SEED,
    )
    assert expected_device(stack, JdkVersion(17), None) is Device.RANDOM


OPENING = {
    8: (
        "java.io.FileInputStream.open0\njava.io.FileInputStream.open\njava.io.FileInputStream.<init>\n"
        "P.NativePRNG$RandomIO.<init>\nP.NativePRNG$RandomIO.<init>\nP.NativePRNG$1.run\nP.NativePRNG$1.run\n"
        "java.security.AccessController.doPrivileged\nP.NativePRNG.initIO\nP.NativePRNG.<clinit>\n"
        "P.SunEntries.putEntries\nP.Sun.<init>\nsun.reflect.NativeConstructorAccessorImpl.newInstance0\n"
        "java.lang.Class.newInstance\nsun.security.jca.ProviderConfig.getProvider\n"
        "java.security.SecureRandom.getDefaultPRNG\njava.security.SecureRandom.<init>\nApp.main"
    ),
    17: (
        "java.io.FileInputStream.open0\njava.io.FileInputStream.open\njava.io.FileInputStream.<init>\n"
        "P.FileInputStreamPool.getInputStream\nP.NativePRNG$RandomIO.<init>\nP.NativePRNG$1.run\nP.NativePRNG$1.run\n"
        "java.security.AccessController.executePrivileged\njava.security.AccessController.doPrivileged\n"
        "P.NativePRNG.initIO\nP.NativePRNG.<clinit>\nP.SunEntries.<clinit>\nP.Sun.<init>\n"
        "sun.security.jca.ProviderConfig.getProvider\nsun.security.jca.GetInstance.getInstance\n"
        "java.security.SecureRandom.getInstance\nApp.main"
    ),
}


@pytest.mark.parametrize("feature", OPENING)
def test_a_fifo_without_writer_stops_at_its_opening(feature: int) -> None:
    """Seen with ``-Djava.security.egd=file:FIFO`` on 8 to 25: whoever loads the SUN provider stops."""
    stack = told(OPENING[feature])
    assert (stack.algorithm, stack.role) == (Algorithm.NATIVE_PRNG, SeedRole.READING)
    assert stack.caller_frame == "App.main"
    assert expected_device(stack, JdkVersion(feature), "file:/tmp/fifo") is Device.OTHER


HTTP = """
    sun.nio.ch.SocketDispatcher.read0
    sun.nio.ch.NioSocketImpl.read
    java.net.Socket$SocketInputStream.read
    java.io.BufferedInputStream.fill
    java.io.BufferedInputStream.read
    sun.net.www.http.HttpClient.parseHTTPHeader
    sun.net.www.protocol.http.HttpURLConnection.getInputStream
    java.net.URL.openStream
    P.SeedGenerator$URLSeedGenerator$1.run
    java.security.AccessController.doPrivileged
    P.SeedGenerator$URLSeedGenerator.init
    P.SeedGenerator$URLSeedGenerator.<init>
    P.SeedGenerator.<clinit>
    P.SecureRandom$SeederHolder.<clinit>
    P.SecureRandom.engineNextBytes
"""


def test_a_seed_url_that_does_not_answer() -> None:
    stack = told(HTTP + APP)
    assert (stack.algorithm, stack.role) == (Algorithm.SHA1PRNG, SeedRole.READING)
    assert expected_device(stack, JdkVersion(17), "http://127.0.0.1/x") is Device.OTHER


OLD_HTTP = """
    java.net.SocketInputStream.socketRead0
    java.net.SocketInputStream.read
    java.io.BufferedInputStream.fill
    sun.net.www.http.HttpClient.parseHTTP
    java.net.URL.openStream
    P.SeedGenerator$URLSeedGenerator.init
    P.SeedGenerator.<clinit>
    P.SecureRandom.engineNextBytes
"""


@pytest.mark.parametrize("frames", [HTTP, OLD_HTTP])
def test_a_read_over_the_network_is_no_read_of_a_device(frames: str) -> None:
    """Whatever the seed source is thought to be: the stack shows that it is no file."""
    stack = told(frames + APP)
    assert stack.network
    for source in (None, "file:/dev/random", "file:/dev/urandom"):
        assert expected_device(stack, JdkVersion(17), source) is Device.OTHER
        assert expected_device(stack, None, source) is Device.OTHER
    assert not told(READ9 + SEED + "P.SecureRandom.engineNextBytes\n" + APP).network


def test_a_file_url_opened_as_any_other_is_no_network() -> None:
    """Bouncy Castle opens the seed source by ``URL.openStream``, whatever it is."""
    stack = told(
        "java.io.FileInputStream.open0\njava.io.FileInputStream.<init>\n"
        "sun.net.www.protocol.file.FileURLConnection.connect\n"
        "sun.net.www.protocol.file.FileURLConnection.getInputStream\njava.net.URL.openStream\n"
        "org.bouncycastle.jcajce.provider.drbg.DRBG$URLSeededEntropySourceProvider$1.run\n"
        "java.security.AccessController.doPrivileged\n"
        "org.bouncycastle.jcajce.provider.drbg.DRBG$Default.engineNextBytes\n" + APP
    )
    assert (stack.role, stack.network) == (SeedRole.READING, False)


BUFFERED = READ + "java.io.BufferedInputStream.fill\njava.io.BufferedInputStream.read\n"


@pytest.mark.parametrize("streams", [READ, READ9, BUFFERED])
@pytest.mark.parametrize("method", ["engineNextBytes", "engineGenerateSeed", "engineSetSeed"])
def test_what_anybodys_own_provider_reads_is_not_known(streams: str, method: str) -> None:
    assert classify(thread(streams + f"com.acme.HsmSpi.{method}\n" + APP)) is None
    assert classify(thread(streams + f"com.acme.HsmSpi.{method}\n" + APP, "blocked")) is None


@pytest.mark.parametrize(
    "frame",
    [
        "com.ibm.crypto.provider.IBMSecureRandom.engineNextBytes",
        "org.bouncycastle.jcajce.provider.drbg.DRBG$Default.engineNextBytes",
        "org.bouncycastle.crypto.EntropyUtil.generateSeed",
        "shaded.org.bouncycastle.crypto.fips.FipsDRBG.engineNextBytes",
    ],
)
def test_what_a_known_provider_reads_is_its_seed(frame: str) -> None:
    stack = told(BUFFERED + frame + "\n" + APP)
    assert (stack.algorithm, stack.role) == (Algorithm.OTHER, SeedRole.READING)


def test_a_privileged_call_alone_is_no_read() -> None:
    frames = "java.security.AccessController.doPrivileged\nP.SeedGenerator$URLSeedGenerator.init\n"
    assert (
        told(frames + "P.SeedGenerator.<clinit>\nP.SecureRandom.engineNextBytes").role
        is SeedRole.WORKING
    )


def test_the_same_socket_under_an_engine_is_no_seed() -> None:
    """A generator of somebody's own that asks a network service."""
    frames = "java.net.SocketInputStream.socketRead0\njava.net.SocketInputStream.read\ncom.acme.Hsm.engineNextBytes\n"
    assert classify(thread(frames + APP)) is None


DRBG = "P.AbstractDrbg.instantiateIfNecessary\nP.AbstractDrbg.engineNextBytes\nP.DRBG.engineNextBytes\n"


@pytest.mark.parametrize(
    "spelling",
    [
        "$$Lambda$2/0x0000000100067040",
        "$$Lambda$5/0x00007f1c2c0412a0",
        "$$Lambda/0x000000002e0d3c50",
        "$$Lambda$14",
        "$$Lambda",
    ],
)
def test_lambda_spellings(spelling: str) -> None:
    frames = f"P.AbstractDrbg.lambda$static$0\nP.AbstractDrbg{spelling}.getEntropy\nP.AbstractDrbg.getEntropyInput\n"
    stack = told(READ9 + SEED + frames + DRBG + APP)
    assert (stack.algorithm, stack.role) == (Algorithm.DRBG, SeedRole.READING)


def test_hidden_lambda_frames_do_not_end_a_generator() -> None:
    stack = told(
        READ9
        + SEED
        + "P.AbstractDrbg.lambda$static$0\njava.lang.invoke.LambdaForm$DMH.invokeStatic\n"
        "P.AbstractDrbg.getEntropyInput\n" + DRBG + APP
    )
    assert stack.algorithm is Algorithm.DRBG


def test_class_names_with_module_and_loader_or_slashes() -> None:
    names = [
        frame.name for frame in thread(READ9 + SEED + "P.SecureRandom.engineGenerateSeed").frames
    ]
    modular = [f"java.base@17.0.15/{name}" for name in names]
    stack = told(
        "\n".join([*modular, "java.base/java.security.SecureRandom.generateSeed", "app//App.main"])
    )
    assert (stack.algorithm, stack.operation) == (Algorithm.SHA1PRNG, Operation.GENERATE_SEED)
    assert stack.caller_frame == "App.main"
    slashed = tuple(
        Frame(frame.class_name.replace(".", "/"), frame.method)
        for frame in thread(READ + SEED + "P.SecureRandom.engineNextBytes\n" + APP).frames
    )
    found = classify(JavaThread("j9", slashed))
    assert found is not None
    assert (found.algorithm, found.caller_frame) == (Algorithm.SHA1PRNG, "com.example.App.main")


# ---------------------------------------------------------------- cut stacks


def test_a_cut_native_stack_names_the_family() -> None:
    stack = told(READ9 + "P.NativePRNG$RandomIO.readFully\nP.NativePRNG$RandomIO.implGenerateSeed")
    assert (stack.algorithm, stack.operation) == (Algorithm.OTHER, Operation.GENERATE_SEED)
    assert stack.candidates == (
        Algorithm.NATIVE_PRNG,
        Algorithm.NATIVE_PRNG_BLOCKING,
        Algorithm.NATIVE_PRNG_NONBLOCKING,
    )
    # 7 has the first alone, which is hard-wired; from 8 on it can be any device.
    assert expected_device(stack, JdkVersion(17), "file:/dev/urandom") is Device.UNKNOWN


def test_a_cut_mixer_is_not_taken_for_sha1prng() -> None:
    stack = told("P.SecureRandom.engineNextBytes\nP.NativePRNG$RandomIO.implNextBytes", "blocked")
    assert (stack.algorithm, stack.role) == (Algorithm.OTHER, SeedRole.QUEUED)
    assert Algorithm.NATIVE_PRNG in stack.candidates


def test_a_cut_seeder_is_one_of_two_that_read_the_same() -> None:
    stack = told(READ9 + SEED)
    assert (stack.algorithm, stack.candidates) == (
        Algorithm.OTHER,
        (Algorithm.SHA1PRNG, Algorithm.DRBG),
    )
    assert expected_device(stack, JdkVersion(17), "file:/dev/random") is Device.RANDOM
    assert expected_device(stack, JdkVersion(17), "file:/dev/urandom") is Device.URANDOM
    assert expected_device(stack, None, "file:/dev/./urandom") is Device.URANDOM
    assert expected_device(stack, None, "file:/dev/urandom") is Device.UNKNOWN
    assert expected_device(stack, JdkVersion(17), None) is Device.UNKNOWN


def test_frames_lost_in_the_middle() -> None:
    stack = told(
        READ
        + "P.SeedGenerator$URLSeedGenerator.getSeedBytes\njava.security.SecureRandom.generateSeed\nA.b"
    )
    assert (stack.operation, stack.caller_frame) == (Operation.GENERATE_SEED, "A.b")
    assert stack.candidates == (Algorithm.SHA1PRNG, Algorithm.DRBG)


def test_the_device_of_native_prng_needs_no_source() -> None:
    native = "P.NativePRNG$RandomIO.readFully\nP.NativePRNG$RandomIO.implNextBytes\n"
    stack = told(READ9 + native + "P.NativePRNG.engineNextBytes\n" + APP)
    assert expected_device(stack, None, None) is Device.URANDOM
    stack = told(READ9 + native + "P.NativePRNG$Blocking.engineNextBytes\n" + APP)
    assert expected_device(stack, None, None) is Device.RANDOM
    seed = "P.NativePRNG$RandomIO.readFully\nP.NativePRNG$RandomIO.implGenerateSeed\nP.NativePRNG.engineGenerateSeed"
    stack = told(READ + seed)
    assert expected_device(stack, JdkVersion(7, 80), None) is Device.RANDOM
    assert expected_device(stack, JdkVersion(8, 151), None) is Device.UNKNOWN
    assert expected_device(stack, JdkVersion(8, 151), "file:/dev/urandom") is Device.URANDOM
    assert expected_device(stack, None, "file:/dev/random") is Device.RANDOM


# ---------------------------------------------------------------- queues and work


def lock(act: LockAct, class_name: str, depth: int = 0) -> tuple[LockLine, ...]:
    return (LockLine(act, class_name, "0x1", depth),)


def test_contention_on_the_mixer() -> None:
    frames = (
        "P.SecureRandom.engineNextBytes\nP.NativePRNG$RandomIO.implNextBytes\nP.NativePRNG.engineNextBytes\n"
        + APP
    )
    stack = told(
        frames, "blocked", lock(LockAct.WAITING_TO_LOCK, "sun.security.provider.SecureRandom")
    )
    assert (stack.algorithm, stack.role) == (Algorithm.NATIVE_PRNG, SeedRole.QUEUED)
    assert stack.lock_class == "sun.security.provider.SecureRandom"
    digest = "P.SHA.implCompress0\nP.SHA.implCompress\nP.DigestBase.engineUpdate\njava.security.MessageDigest.update\n"
    assert told(digest + frames).role is SeedRole.WORKING


def test_the_lock_of_one_shared_instance() -> None:
    """nextBytes was synchronized up to 8u111; which generator stands behind it the waiting thread does not show."""
    stack = told(APP, "blocked", lock(LockAct.WAITING_TO_LOCK, "java.security.SecureRandom"))
    assert (stack.algorithm, stack.role) == (Algorithm.OTHER, SeedRole.QUEUED)
    assert (stack.lock_class, stack.candidates) == ("java.security.SecureRandom", ())


def test_a_blocked_thread_without_its_lock_line() -> None:
    stack = told(
        "P.NativePRNG$RandomIO.implGenerateSeed\nP.NativePRNG.engineGenerateSeed\n" + APP, "blocked"
    )
    assert (stack.role, stack.lock_class) == (SeedRole.QUEUED, "")


def test_a_lock_line_tells_where_the_header_is_lost() -> None:
    line = lock(LockAct.WAITING_TO_LOCK, "java.lang.Object")
    frames = thread(
        "P.NativePRNG$RandomIO.implGenerateSeed\nP.NativePRNG.engineGenerateSeed\n" + APP
    ).frames
    stack = classify(JavaThread("", frames, line))
    assert stack is not None
    assert stack.role is SeedRole.QUEUED


def test_waiting_for_a_static_initialiser() -> None:
    frames = "P.SecureRandom.engineNextBytes\n" + APP
    assert told(frames).role is SeedRole.WORKING
    for locks in ((), lock(LockAct.CLASS_INIT, SEEDER_HOLDER)):
        stack = told(frames, "class-init", locks)
        assert (stack.role, stack.lock_class) == (SeedRole.QUEUED, SEEDER_HOLDER)


def test_blocked_at_the_pool_of_streams() -> None:
    frames = "P.FileInputStreamPool.getInputStream\nP.SeedGenerator$URLSeedGenerator.init\nP.SeedGenerator.<clinit>\n"
    assert told(frames + "P.SecureRandom.engineGenerateSeed", "blocked").role is SeedRole.QUEUED


def test_blocked_on_something_else_above_a_generator() -> None:
    frames = (
        "java.lang.ClassLoader.loadClass\nP.SeedGenerator.<clinit>\nP.SecureRandom.engineGenerateSeed\n"
        + APP
    )
    assert classify(thread(frames, "blocked")) is None
    assert classify(thread(frames)) is None


def test_pkcs11_is_told_and_not_called_a_read() -> None:
    frames = "sun.security.pkcs11.wrapper.PKCS11.C_GenerateRandom\nsun.security.pkcs11.P11SecureRandom.implNextBytes\n"
    stack = told(frames + "sun.security.pkcs11.P11SecureRandom.engineNextBytes\n" + APP)
    assert (stack.algorithm, stack.role) == (Algorithm.PKCS11, SeedRole.WORKING)
    login = (
        "sun.security.pkcs11.wrapper.PKCS11.C_Initialize\nsun.security.pkcs11.SunPKCS11.<init>\n"
    )
    assert classify(thread(login + "java.security.SecureRandom.<init>\nApp.main")) is None


def test_bouncy_castle_reads_the_seed_source_itself() -> None:
    frames = (
        READ + "java.io.BufferedInputStream.fill\njava.io.BufferedInputStream.read\n"
        "org.bouncycastle.jcajce.provider.drbg.DRBG$URLSeededEntropySourceProvider$2.run\n"
        "java.security.AccessController.doPrivileged\n"
        "org.bouncycastle.jcajce.provider.drbg.DRBG$URLSeededEntropySourceProvider$3.getEntropy\n"
        "org.bouncycastle.crypto.prng.SP800SecureRandom.nextBytes\n"
        "org.bouncycastle.jcajce.provider.drbg.DRBG$Default.engineNextBytes\n"
    )
    stack = told(frames + APP)
    assert (stack.algorithm, stack.role, stack.candidates) == (
        Algorithm.OTHER,
        SeedRole.READING,
        (),
    )
    assert expected_device(stack, JdkVersion(17), "file:/dev/random") is Device.UNKNOWN


def test_bouncy_castle_fed_by_the_jdk() -> None:
    stack = told(
        READ9 + "P.NativePRNG$RandomIO.readFully\nP.NativePRNG$RandomIO.implGenerateSeed\n"
        "P.NativePRNG$Blocking.engineGenerateSeed\njava.security.SecureRandom.generateSeed\n"
        "org.bouncycastle.crypto.fips.FipsSecureRandom.reseed\n"
        "org.bouncycastle.jcajce.provider.BaseSecureRandom.engineNextBytes\n" + APP
    )
    assert (stack.algorithm, stack.caller) == (Algorithm.NATIVE_PRNG_BLOCKING, "Bouncy Castle")
    assert stack.operation is Operation.GENERATE_SEED


# ---------------------------------------------------------------- look-alikes

LOOKUP = (
    "P.SeedGenerator$1.run\njava.security.AccessController.doPrivileged\nP.SeedGenerator.getSystemEntropy\n"
    "P.SecureRandom$SeederHolder.<clinit>\nP.SecureRandom.engineNextBytes\n"
)


@pytest.mark.parametrize(
    "inner",
    [
        "java.net.Inet4AddressImpl.lookupAllHostAddr\njava.net.InetAddress$1.lookupAllHostAddr\njava.net.InetAddress.getLocalHost\n",
        "java.io.UnixFileSystem.list\njava.io.File.list\n",
        "java.net.NetworkInterface.getAll\njava.net.NetworkInterface.getNetworkInterfaces\n",
    ],
)
def test_look_ups_of_a_seeder_are_not_entropy(inner: str) -> None:
    stack = told(inner + LOOKUP + APP)
    assert (stack.role, stack.algorithm) == (SeedRole.LOOKUP, Algorithm.SHA1PRNG)


BYSTANDERS = {
    "pipe": READ + "java.io.BufferedInputStream.fill\njava.io.InputStreamReader.read\nApp.main",
    "socket": "java.net.SocketInputStream.socketRead0\nsun.security.ssl.SSLSocketImpl.readRecord\nApp.main",
    "jar below a generator's start": (
        READ
        + "java.util.zip.ZipFile.open\njava.util.jar.JarFile.<init>\nsun.misc.Launcher$AppClassLoader.loadClass\n"
        "P.SeedGenerator.<clinit>\nP.SecureRandom.engineNextBytes\n" + APP
    ),
    "file in the application's random device reader": READ
    + "com.acme.EntropySource.read\nApp.main",
    "nio of the application": "sun.nio.ch.FileDispatcherImpl.read0\nsun.nio.ch.FileChannelImpl.read\nApp.main",
    "key generation": (
        "java.math.BigInteger.oddModPow\njava.math.BigInteger.primeToCertainty\n"
        "sun.security.rsa.RSAKeyPairGenerator.generateKeyPair\nApp.main"
    ),
    "another class of the provider": READ
    + "P.X509Factory.readOneBlock\nP.X509Factory.engineGenerateCertificate\nA.b",
    "host name": "java.net.Inet4AddressImpl.lookupAllHostAddr\njava.net.InetAddress.getLocalHost\nApp.main",
    "file lock": "sun.nio.ch.FileDispatcherImpl.lock0\nsun.nio.ch.FileChannelImpl.lock\nApp.main",
    "name only": "com.acme.SecureRandom.nextBytes\nApp.main",
    "provider loading": "java.util.ServiceLoader.next\nsun.security.jca.ProviderConfig.getProvider\nApp.main",
    "empty": "",
}


@pytest.mark.parametrize("name", BYSTANDERS)
def test_bystander(name: str) -> None:
    assert classify(thread(BYSTANDERS[name])) is None


def test_a_seed_frame_far_below_a_read_is_not_beside_it() -> None:
    frames = READ + "com.acme.Agent.transform\n" + SEED + "P.SecureRandom.engineNextBytes\n" + APP
    assert classify(thread(frames)) is None


# ---------------------------------------------------------------- hostile input

WORDS = [
    *(
        "java.io.FileInputStream.readBytes",
        "java.io.FilterInputStream.read",
        "java.lang.Object.wait",
        "App.main",
    ),
    *(
        "sun.security.provider.NativePRNG$RandomIO.readFully",
        "sun.security.provider.NativePRNG.engineNextBytes",
    ),
    *(
        "sun.security.provider.SeedGenerator.generateSeed",
        "sun.security.provider.SecureRandom.engineNextBytes",
    ),
    *(
        "sun.security.provider.AbstractDrbg$$Lambda/0x1.getEntropy",
        "java.security.SecureRandom.nextBytes",
    ),
    *(
        "java.security.AccessController.doPrivileged",
        "sun.security.provider.SeedGenerator.getSystemEntropy",
    ),
    "sun.security.provider.SeedGenerator$ThreadedSeedGenerator.getSeedByte",
]


def threads() -> st.SearchStrategy[JavaThread]:
    name = st.sampled_from(WORDS) | st.text(max_size=20)
    frames = st.lists(name, max_size=40).map(
        lambda names: tuple(Frame(n.rpartition(".")[0], n.rpartition(".")[2]) for n in names)
    )
    locks = st.lists(
        st.builds(
            LockLine, st.sampled_from(LockAct), st.text(max_size=10), depth=st.integers(-3, 50)
        ),
        max_size=3,
    ).map(tuple)
    states = st.sampled_from(["", "RUNNABLE", "BLOCKED", "WAITING", "x"])
    activities = st.sampled_from(["", "runnable", "in Object.wait()"])
    return st.builds(JavaThread, st.just("t"), frames, locks, state=states, activity=activities)


@given(threads())
def test_any_thread_is_classified_or_not(one: JavaThread) -> None:
    stack = classify(one)
    is_threaded_seeder(one)
    if stack is None:
        return
    names = {frame.name for frame in one.frames}
    assert stack.seed_frame in names or "$$Lambda" in "".join(names)
    for jdk in (None, JdkVersion(7), JdkVersion(17)):
        for source in (None, "file:/dev/random", "nonsense"):
            assert expected_device(stack, jdk, source) in Device


@given(threads())
def test_a_read_is_called_only_where_a_stream_stands_on_top(one: JavaThread) -> None:
    stack = classify(one)
    if stack is not None and stack.role is SeedRole.READING:
        names = [f"{f.class_name.partition('$$Lambda')[0]}.{f.method}" for f in one.frames]
        above = one.frames[: names.index(stack.seed_frame)]
        assert any(frame.class_name.startswith("java.io.") for frame in above)


def endless() -> Iterator[JavaThread]:
    for word in WORDS:
        frame = Frame(word.rpartition(".")[0], word.rpartition(".")[2])
        yield JavaThread("t", (frame,) * 200_000)
    yield JavaThread("t", (Frame("a" * 1_000_000, "b" * 1_000_000),) * 1_000)
    yield JavaThread("t", (Frame("$$Lambda/" * 200_000, "x"),))


def test_endless_stacks_are_done_with_at_once() -> None:
    start = time.perf_counter()
    for one in endless():
        classify(one)
    assert time.perf_counter() - start < 1
