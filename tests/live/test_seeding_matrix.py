"""The seeding matrix, measured again on every JVM of the machine: a JDK that behaves otherwise fails by name.

`make test` measures the rows in which releases differ, `make matrix` all of them. A new JDK is measured where it is
the first java on the PATH: ``PATH=/opt/jdk-27/bin:$PATH make matrix``. A JDK 7 is not to be had here: its rows of the
oracle are the 7u provider on an 8 VM, and hold for the tables only.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import TypeAlias

import pytest
from tests.live import seedmeter
from tests.live.seedmeter import Cell, Jvm, Measured, Meter, Row, difference

from seedstall.model.jdk import JdkVersion
from seedstall.model.seeding import Instance, Operation

AT_ONCE = 2
"""Probes at a time: the threaded seeder measures the scheduler, and takes a whole processor for it."""

JVMS = (seedmeter.jdk8(), *seedmeter.jvms())
THREADED = Row("/dev/urandom", Instance.DEFAULT, Operation.GENERATE_SEED)
BORDERS = (
    # JEP 273 (9), JDK-8228613 (11.0.7): what the default is where it is not NativePRNG. First, since it takes 5 s.
    THREADED,
    # JEP 123 (8): this source reaches SHA1PRNG; 6 and 7 read /dev/random all the same.
    Row("file:/dev/urandom", Instance.SHA1PRNG, Operation.NEXT_BYTES),
    # JEP 123 (8): NativePRNG; SHA1PRNG before.
    Row("file:/dev/random", Instance.DEFAULT, Operation.NEXT_BYTES),
    # JEP 123 (8): the first release with a strong instance, which no egd reaches.
    Row("file:/dev/urandom", Instance.STRONG, Operation.NEXT_BYTES),
    # JEP 273 (9): no DRBG before. Seeded from the source that ships, which is another one since 8.
    Row("unset", Instance.DRBG, Operation.NEXT_BYTES),
)

Measurements: TypeAlias = Mapping[Cell, Future[Measured]]


def parameters(cells: Iterable[Cell]) -> list[object]:
    """Each cell with the marks of its JVM."""
    marks = {True: (pytest.mark.jdk8, pytest.mark.root), False: (pytest.mark.jvm,)}
    return [pytest.param(c, id=str(c), marks=marks[c.jvm.root is not None]) for c in cells]


SAMPLE = [
    Cell(jvm, row)
    for row in BORDERS
    for jvm in JVMS
    # The PATH's java is mostly a release that is there anyway.
    if not (row == THREADED and jvm.name == seedmeter.ON_PATH)
]
WHOLE = [Cell(jvm, row) for jvm in JVMS for row in seedmeter.rows()]


@pytest.fixture(scope="module")
def measurements(request: pytest.FixtureRequest) -> Iterator[Measurements]:
    """Every cell that a test of this run asks for, measured two at a time while the first tests compare."""
    meter = seedmeter.meter()
    if meter is None:
        pytest.skip("needs strace (apt-get install strace), or to be allowed mount namespaces")
    tests = [t for t in request.session.items if isinstance(t, pytest.Function)]
    asked = [t.callspec.params.get("cell") for t in tests if hasattr(t, "callspec")]
    with ExitStack() as stack:
        cells = [c for c in dict.fromkeys(asked) if isinstance(c, Cell) and c.jvm.java]
        places = {jvm: stack.enter_context(jvm.classes()) for jvm in {c.jvm for c in cells}}
        pool = ThreadPoolExecutor(AT_ONCE)
        stack.callback(pool.shutdown, cancel_futures=True)
        yield {cell: pool.submit(meter, cell, places[cell.jvm]) for cell in cells}


def check(cell: Cell, measurements: Measurements) -> None:
    if cell.jvm.java is None:
        pytest.skip(f"needs {cell.jvm}: make jvms")
    found = difference(cell, measurements[cell].result())
    assert not found, found


@pytest.mark.parametrize("cell", parameters(SAMPLE))
def test_row_on_a_border(cell: Cell, measurements: Measurements) -> None:
    check(cell, measurements)


@pytest.mark.matrix
@pytest.mark.parametrize("cell", parameters(WHOLE))
def test_row(cell: Cell, measurements: Measurements) -> None:
    check(cell, measurements)


def test_every_row_of_the_oracle_is_measured() -> None:
    rows = seedmeter.rows()
    assert len(rows) == len(set(rows)) == 13 * 9
    assert set(BORDERS) < set(rows)
    assert {cell.jvm for cell in WHOLE} == {cell.jvm for cell in SAMPLE} == set(JVMS)


@pytest.mark.jvm
@pytest.mark.parametrize(
    "row",
    [
        Row("unset", Instance.STRONG, Operation.NEXT_BYTES),
        Row("file:/dev/./urandom", Instance.DRBG, Operation.NEXT_BYTES),
        # Writes to the device what it was given.
        Row("unset", Instance.DEFAULT, Operation.SET_SEED),
        pytest.param(THREADED, marks=pytest.mark.matrix),
    ],
)
def test_fifos_measure_the_same(row: Row, java: Path) -> None:
    if not seedmeter.has_fifos():
        pytest.skip("needs mount namespaces: run the tests as root, or allow user namespaces")
    cell = Cell(Jvm("java", java), row)
    with cell.jvm.classes() as classes:
        assert difference(cell, seedmeter.by_fifo(cell, classes)) == ""


@pytest.mark.parametrize("meter", [seedmeter.by_strace, seedmeter.by_fifo])
def test_a_jvm_that_does_not_start_is_no_measurement(meter: Meter, tmp_path: Path) -> None:
    # Nothing was read: that must not pass for a JDK that reads nothing.
    cell = Cell(Jvm("broken", Path("/bin/false")), BORDERS[0])
    with pytest.raises((AssertionError, FileNotFoundError)):
        meter(cell, tmp_path)


JDK_25 = JdkVersion(25, 3)
RIGHT = (
    (BORDERS[1], Measured(JDK_25, "SHA1PRNG", "/dev/urandom", (20,), 3)),
    (THREADED, Measured(JDK_25, "DRBG", "threaded", (), 5_000)),
    (BORDERS[4], Measured(JdkVersion(8, 504), "none", "none", (), None)),
)


@pytest.mark.parametrize(("row", "measured"), RIGHT)
def test_what_the_tables_say_is_no_difference(row: Row, measured: Measured) -> None:
    assert difference(Cell(JVMS[-1], row), measured) == ""


@pytest.mark.parametrize(
    ("row", "measured", "told"),
    [
        (
            BORDERS[1],
            Measured(JDK_25, "DRBG", "/dev/urandom", (20,), 3),
            "algorithm: expected SHA1PRNG, measured DRBG",
        ),
        (
            BORDERS[1],
            Measured(JDK_25, "SHA1PRNG", "/dev/random", (20,), 3),
            "device read: expected /dev/urandom, measured /dev/random",
        ),
        (
            BORDERS[1],
            Measured(JDK_25, "SHA1PRNG", "/dev/random + /dev/urandom", (20,), 3),
            "device read: expected /dev/urandom, measured /dev/random + /dev/urandom",
        ),
        (
            BORDERS[1],
            Measured(JDK_25, "SHA1PRNG", "/dev/urandom", (32,), 3),
            "bytes of each read: expected (20,), measured (32,)",
        ),
        (
            THREADED,
            Measured(JDK_25, "DRBG", "none", (), 5_000),
            "device read: expected threaded, measured none",
        ),
        (
            THREADED,
            Measured(JDK_25, "DRBG", "threaded", (), 4_999),
            "delay: expected 5000 ms at least, measured 4999",
        ),
        (
            BORDERS[4],
            Measured(JdkVersion(8, 504), "DRBG", "/dev/random", (32,), 3),
            "algorithm: expected none, measured DRBG; device read: expected none, measured /dev/random",
        ),
    ],
)
def test_a_difference_is_told_by_name(row: Row, measured: Measured, told: str) -> None:
    cell = Cell(Jvm("jdk99", None), row)
    asked = f"egd {row.egd!r}, instance {row.instance}, operation {row.operation}"
    assert difference(cell, measured) == f"jdk99 (JDK {measured.jdk}), {asked}: {told}"
