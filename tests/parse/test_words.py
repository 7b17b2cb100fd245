"""A digest may only ever say what a search of the text itself says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from seedstall.parse import words

PIECES = st.sampled_from(
    [
        b"OOMKilled",
        b"Reason: ",
        b"10:00:01 ",
        b"\n",
        b"\n\n",
        b" probe failed: ",
        b"at ",
        b"x",
        b"1",
    ]
)


@given(data=st.one_of(st.binary(max_size=300), st.lists(PIECES, max_size=60).map(b"".join)))
@pytest.mark.parametrize("step", [1, 7, 1 << 20])
def test_a_word_is_found_where_a_search_finds_it(data: bytes, step: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(words, "_SHORT", -1)
        patch.setattr(words, "_STEP", step)
        words._digest.cache_clear()
        for word in (b"OOMKilled", b" probe failed: ", b"10", b"d\nR", data[3:9], data[-4:]):
            assert words.find(data, word) == data.find(word)
            assert words.holds(data, word) == (word in data)


def test_places_are_all_of_them_up_to_so_many() -> None:
    data = b"a OOMKilled b\n" * 30_000

    assert list(words.places(data, b"OOMKilled", 3)) == [2, 16, 30]
    assert len(list(words.places(data, b"OOMKilled", 1 << 20))) == 30_000
    assert list(words.places(data, b"Listening for transport ", 3)) == []


def test_a_text_without_sentences_that_come_again_is_held_in_bounds() -> None:
    data = b"\n".join(
        f"gh{number:x}ij".translate(str.maketrans("abcdef0123456789", "ghijklmnopqrstuv")).encode()
        for number in range(300_000)
    )

    assert len(words._digest(data)) <= len(data)
    assert words.find(data, b"nowhere in it") == -1
