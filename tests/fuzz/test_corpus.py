"""What was once found, or reached something new, goes through its parser again: quickly, and without an error."""

from __future__ import annotations

import time

from tests.fuzz.fuzz import check, kept


def test_the_corpus_kept() -> None:
    corpus = kept()
    assert len(corpus) > 100

    slow: dict[str, float] = {}
    for name, data in corpus.items():
        start = time.process_time()
        check(data)
        took = time.process_time() - start
        if took > 2:
            slow[name] = took

    assert not slow
