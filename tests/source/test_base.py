"""Several sources as one."""

from __future__ import annotations

from seedstall.model.evidence import Got, Missing, Reading, Ref, Space, Why
from seedstall.source.base import Combined, Held

REF = Ref(Space.ROOT, "etc/passwd")


class Answers:
    """A source with one answer to everything."""

    def __init__(self, why: Why, detail: str = "") -> None:
        self.answer: Reading[bytes] = Missing(why, (REF,), detail)

    def read(self, _ref: Ref) -> Reading[bytes]:
        return self.answer


def test_the_first_that_knows_anything_answers() -> None:
    nothing, held = Answers(Why.NOT_COLLECTED, "a core holds no files"), Held({REF: b"x"})
    assert Combined(nothing, held).read(REF) == Got(b"x", (REF,))
    looked = Answers(Why.ABSENT)
    assert Combined(nothing, looked, held).read(REF) is looked.answer


def test_where_nobody_knows_anything_the_first_who_says_why_is_heard() -> None:
    silent = Answers(Why.NOT_COLLECTED)
    first, second = Answers(Why.NOT_COLLECTED, "one"), Answers(Why.NOT_COLLECTED, "two")
    assert Combined(silent, first, second, silent).read(REF) is first.answer
    assert Combined(silent, Held({})).read(REF) == Missing(Why.NOT_COLLECTED, (REF,))
    assert Combined().read(REF) == Missing(Why.NOT_COLLECTED, (REF,))
