"""All that is known of a JVM by how it was launched and what it was launched with."""

from __future__ import annotations

from seedstall.facts import container, jdk, launch, product, seedrisk, seedsource

PROVIDERS = (
    *jdk.PROVIDERS,
    *launch.PROVIDERS,
    *seedsource.PROVIDERS,
    *product.PROVIDERS,
    *container.PROVIDERS,
    *seedrisk.PROVIDERS,
)
