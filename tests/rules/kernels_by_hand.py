"""Cases of which neither the kernel nor a wait is known."""

from __future__ import annotations

from tests.facts.jvms_by_hand import Machine

from seedstall.engine.case import Case
from seedstall.facts import jvm, process
from seedstall.model.evidence import Missing, Unavailable, Why
from seedstall.model.kernel import KernelRandom
from seedstall.model.waits import SeedEvidence
from seedstall.source.base import Held, Source


def no_kernel(_source: Source) -> KernelRandom:
    raise Unavailable(Missing(Why.NOT_COLLECTED))


def no_seeds(_source: Source) -> SeedEvidence:
    raise Unavailable(Missing(Why.NOT_COLLECTED))


def with_nothing_else(machine: Machine) -> Case:
    """Its case, where kernel and waits are not known."""
    providers = (*jvm.PROVIDERS, *process.PROVIDERS, no_kernel, no_seeds)
    return Case(Held(dict(machine.held)), providers)
