"""The answer: status, cause, confidence, one sentence."""

from __future__ import annotations

from enum import StrEnum


class Status(StrEnum):
    """What became of the target."""

    STALLED = "stalled"
    """Waiting now, or at the moment the evidence was taken."""
    SLOW = "slow"
    AT_RISK = "at-risk"
    ENDED = "ended"
    CLEAR = "clear"
    UNKNOWN = "unknown"


class Progress(StrEnum):
    """Whether what waits gets on."""

    STUCK = "stuck"
    PROGRESSING = "progressing"


class Cause(StrEnum):
    """Why, in the contract's words."""

    BLOCKING_SEED = "blocking-seed"
    THREADED_SEED = "threaded-seed"
    CRNG_NOT_READY = "crng-not-ready"
    PRNG_CONTENTION = "prng-contention"
    INEFFECTIVE_FIX = "ineffective-fix"
    HARMFUL_FIX = "harmful-fix"
    FEEDER_DOWN = "feeder-down"
    PROVIDER_CONFIG = "provider-config"
    DNS = "other:dns"
    JAR_SCAN = "other:jar-scan"
    CLASS_INIT = "other:class-init"
    DEADLOCK = "other:deadlock"
    CONTENTION = "other:contention"
    JDWP_SUSPEND = "other:jdwp-suspend"
    STOPPED = "other:stopped"
    CPU_THROTTLED = "other:cpu-throttled"
    CPU_SPIN = "other:cpu-spin"
    GC = "other:gc"
    MEMORY = "other:memory"
    IO = "other:io"
    FILE_LOCK = "other:file-lock"
    CONNECT = "other:connect"
    MIGRATION = "other:migration"
    NATIVE_INIT = "other:native-init"
    AGENT = "other:agent"
    CHILD = "other:child"
    SAFEPOINT = "other:safepoint"
    KILLED = "other:killed"
    WAITING = "other:waiting"
    APPLICATION = "other:application"
    NONE = "none"
