"""``securerandom.strongAlgorithms`` in the files at hand, and the providers beside it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from seedstall.model.settings import ConfigFile, Placed, SecurityEntry, Settings
from seedstall.parse.configfile import change
from seedstall.parse.configfile.properties import FIPS_PROVIDER, PROVIDER
from seedstall.rules.lint import line

NONBLOCKING = "NativePRNGNonBlocking"
_CLASSES = {
    "bouncycastlefipsprovider": "BCFIPS",
    "bouncycastleprovider": "BC",
    "sun.security.provider.sun": "SUN",
    "bouncycastlejsseprovider": "BCJSSE",
}


@dataclass(frozen=True, slots=True)
class StrongList:
    """One ``securerandom.strongAlgorithms``: its entries as ``(algorithm, provider)``, and the file's providers.

    ``providers`` and ``fips`` are empty where the file lists none.
    """

    file: ConfigFile
    entry: SecurityEntry
    entries: tuple[tuple[str, str], ...]
    providers: tuple[str, ...]
    fips: tuple[str, ...]

    @property
    def start(self) -> int:
        """Where its value begins, or would."""
        return self.entry.value.place()[0]

    def edits(self, new: str) -> list[change.Splice]:
        """Another value in its place."""
        return change.swap(self.entry.value, new)


def strong_lists(settings: Settings) -> Iterator[StrongList]:
    """The one that counts in each file: the last."""
    for file in settings.files:
        found = [e for e in file.entries if e.name.text == line.STRONG]
        for scope in dict.fromkeys(e.scope for e in found):
            last = [e for e in found if e.scope == scope][-1]
            yield StrongList(
                file,
                last,
                _entries(last.value),
                providers(file, scope, PROVIDER),
                providers(file, scope, FIPS_PROVIDER),
            )


def _entries(value: Placed) -> tuple[tuple[str, str], ...]:
    pieces = (piece.strip().partition(":") for piece in value.text.split(",")[:50])
    return tuple((name.strip(), provider.strip()) for name, _, provider in pieces if name.strip())


def providers(file: ConfigFile, scope: int, prefix: str) -> tuple[str, ...]:
    """The providers that a file lists, by their names as far as a class tells it."""
    found = (
        e.value.text.split()[0]
        for e in file.entries
        if e.scope == scope and e.name.text.startswith(prefix) and e.value.text.split()
    )
    return tuple(_name(word) for word in found)


def _name(word: str) -> str:
    last = word.lower().rpartition(".")[2]
    return _CLASSES.get(word.lower()) or _CLASSES.get(last) or word


def is_fips_software(provider: str) -> bool:
    """Whether a provider is a FIPS module in software that takes its own seed from ``getInstanceStrong()``."""
    name = provider.upper()
    return "FIPS" in name and "NSS" not in name and "PKCS11" not in name
