"""Texts stay in memory within a bound, and until anything is deleted."""

from pegboard.core.knowledge import ConvertedDocument
from pegboard.storage.sql.knowledge.text_cache import TextCache

TEXT = ConvertedDocument(text="One", media_type="text/plain")


def test_the_texts_that_were_read_last_stay_within_a_bound() -> None:
    cache = TextCache(max_bytes=10)
    cache.add(("d1", 1), TEXT, 5, 0)
    cache.add(("d2", 1), TEXT, 5, 0)
    assert cache.find({"d1": 1}, 0) == {"d1": TEXT}

    cache.add(("d3", 1), TEXT, 5, 0)
    cache.add(("large", 1), TEXT, 11, 0)

    assert cache.find({"d1": 1, "d2": 1, "d3": 1, "large": 1}, 0) == {"d1": TEXT, "d3": TEXT}


def test_another_revision_is_another_text() -> None:
    cache = TextCache()
    cache.add(("d1", 1), TEXT, 5, 0)

    assert cache.find({"d1": 2}, 0) == {}


def test_a_deletion_drops_all_texts_and_those_that_were_read_before_it() -> None:
    cache = TextCache()
    cache.add(("d1", 1), TEXT, 5, 1)

    cache.advance(2)
    cache.add(("d2", 1), TEXT, 5, 1)

    assert cache.find({"d1": 1, "d2": 1}, 2) == {}
    assert cache.find({"d1": 1, "d2": 1}, 1) == {}
