from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.memoryimages import RELEASES, Image, image

from seedstall.parse.hotspot.memory import Pages
from seedstall.parse.hotspot.symbols import Exported
from seedstall.parse.vmstructs import LackingError, Names, Strings, Tables, tables


def tables_of(held: Image) -> Tables:
    pages = Pages(held.memory())
    return tables(pages, Exported(pages, int(held.maps.split(b"-")[0], 16)))


@pytest.mark.parametrize("feature", RELEASES)
def test_the_tables_of_each_release_are_read(feature: int) -> None:
    told = tables_of(image(feature))
    assert told.offset("JavaThread._thread_state") > 0
    assert told.static("Abstract_VM_Version._vm_major_version") > 0
    assert told.size("ConstMethod") % 8 == 0
    assert told.constant("frame::entry_frame_call_wrapper_offset") == -6
    assert told.kinds["JavaThread._anchor"] == "JavaFrameAnchor"
    assert len(told.sizes) > 300


@pytest.mark.parametrize(
    ("feature", "present", "absent"),
    [
        (8, "CodeCache._heap", "CodeCache._heaps"),
        (11, "Threads._thread_list", "ThreadsSMRSupport._java_thread_list"),
        (17, "CompressedOops._narrow_oop._base", "CompressedOops._base"),
        (25, "CompressedOops._base", "Universe._narrow_oop._base"),
    ],
)
def test_presence_of_names_tells_the_releases_apart(
    feature: int, present: str, absent: str
) -> None:
    told = tables_of(image(feature))
    assert told.static(absent, present) == told.statics[present]
    with pytest.raises(LackingError, match=absent):
        told.static(absent)
    with pytest.raises(LackingError, match="NoSuchType or NoOther"):
        told.size("NoSuchType", "NoOther")


class Strewn:
    """Strings too far apart to be read at once."""

    def read(self, address: int, length: int) -> bytes:
        text = {0x10000: b"alpha\0", 0x1000000000: b"beta\0"}.get(address & -4096, b"")
        return text.ljust(4096, b"\0")[address % 4096 :][:length].ljust(length, b"\0")


def test_strings_that_lie_apart_are_found_too() -> None:
    strings = Strings(Pages(Strewn()))
    rows = [(0x10000, 1), (0x1000000000, 2)]
    strings.take_in(pointer for pointer, _ in rows)
    assert not strings.together
    names = Names(strings, rows)
    assert (names["alpha"], names.get("beta"), names.get("gamma")) == (1, 2, None)
    assert list(names) == ["beta", "alpha"]


class Together:
    def read(self, address: int, length: int) -> bytes:
        return (b"xalpha\0alpha\0".ljust(4096, b"\0"))[address % 4096 :][:length].ljust(
            length, b"\0"
        )


def test_a_string_that_is_the_tail_of_another_is_that_string() -> None:
    strings = Strings(Pages(Together()))
    rows = [(0x10001, 7), (0x10000, 8)]
    strings.take_in(pointer for pointer, _ in rows)
    assert Names(strings, rows)["alpha"] == 7


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 400),
    st.integers(0, 4088),
    st.binary(min_size=1, max_size=8),
    st.sampled_from(RELEASES),
)
def test_damaged_tables_are_met_with_an_error_or_an_answer(
    page: int, at: int, damage: bytes, feature: int
) -> None:
    held = image(feature)
    address = sorted(held.pages)[-1 - page % len(held.pages)]
    data = bytearray(held.pages[address])
    data[at : at + len(damage)] = damage
    held.pages[address] = bytes(data)
    try:
        told = tables_of(held)
    except ValueError:
        return
    assert told.fields
