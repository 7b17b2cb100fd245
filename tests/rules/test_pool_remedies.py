from __future__ import annotations

from seedstall.knowledge.kernel import KernelEvidence, decide
from seedstall.model.kernel import Distribution
from seedstall.rules import pool_remedies

POOL = decide(KernelEvidence(release="4.15.0-193-generic"))
NO_POOL = decide(KernelEvidence(release="6.8.0-31-generic"))
UBUNTU = Distribution("ubuntu", "18.04", ("debian",), "Ubuntu 18.04.6 LTS")


def test_the_commands_of_the_hosts_distribution() -> None:
    (fix,) = pool_remedies.feeder(UBUNTU, POOL, "feed it")

    assert (fix.surface, fix.title, fix.needs_root, fix.restart) == ("rngd", "feed it", True, False)
    assert fix.params["commands"].splitlines() == [
        "apt-get update",
        "apt-get install -y haveged",
        "systemctl enable --now haveged",
    ]


def test_nothing_where_it_would_be_useless() -> None:
    assert pool_remedies.feeder(UBUNTU, NO_POOL, "feed it") == ()
    assert list(pool_remedies.notes(UBUNTU, NO_POOL)) == []


def test_what_is_said_besides() -> None:
    said = " ".join(pool_remedies.notes(UBUNTU, POOL))

    assert "2023-05-31" in said
    assert "4.15.0-194" in said
