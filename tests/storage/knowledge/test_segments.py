"""Entries as bytes, and segments of them: loaded, merged, searched and dropped."""

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from pegboard.core.knowledge import Piece
from pegboard.core.ports.knowledge.index import IndexedPiece
from pegboard.storage.knowledge.entry_codec import (
    TermEntry,
    VectorEntry,
    decode_terms,
    decode_vectors,
    encode_terms,
    encode_vectors,
    hash_term,
    list_ids,
    split_vectors,
)
from pegboard.storage.knowledge.search import search_vectors, search_words
from pegboard.storage.knowledge.segment_cache import SegmentCache, mark_visible, take_best
from pegboard.storage.knowledge.vector_segment import (
    VectorSegment,
    build_matrix,
    merge_matrices,
    repeat_pieces,
)
from pegboard.storage.knowledge.word_segment import (
    WordSegment,
    build_segment,
    find_postings,
    merge_segments,
)

KEY = ("b1", "")


def terms(*words: str) -> TermEntry:
    """The entry of a document whose pieces have these words."""
    pieces = [
        IndexedPiece(
            piece=Piece(
                id=str(number),
                document="d1",
                base="b1",
                number=number,
                text=line,
                start=0,
                end=0,
                page=number,
            ),
            words=line,
        )
        for number, line in enumerate(words, 1)
    ]
    return decode_terms(encode_terms(pieces))


def vectors(*rows: Sequence[Sequence[float]]) -> VectorEntry:
    """The entry of a document whose pieces have these vectors."""
    by_id = {str(number): those for number, those in enumerate(rows, 1)}
    return decode_vectors(encode_vectors(by_id, {key: (int(key), int(key)) for key in by_id})[1])


def find(segments: Sequence[WordSegment], *words: str, wanted: Sequence[int]) -> Any:
    found, _ = search_words(
        dict.fromkeys(words, 1.0), {"b1": segments}, {"b1": np.array(wanted)}, (0, 0), 10
    )
    return [(entry, number) for _, entry, number, _ in found]


def near(segments: Sequence[VectorSegment], row: Sequence[float], wanted: Sequence[int]) -> Any:
    found, passages, _ = search_vectors(row, {"b1": segments}, {"b1": np.array(wanted)}, (0, 0), 10)
    return [(entry, number) for _, entry, number, _ in found], passages


def test_terms_are_read_as_they_were_written() -> None:
    entry = terms("a b a\nc", "")

    assert entry.numbers.tolist() == [1, 2]
    assert entry.owners.tolist() == [0, 0, 1]
    assert entry.lengths.tolist() == [3, 1, 0]
    assert entry.terms.tolist() == [hash_term("a"), hash_term("b"), hash_term("c")]
    assert entry.counts.tolist() == [2, 1, 1]


def test_vectors_are_of_length_one_and_read_by_piece() -> None:
    pieces, body = encode_vectors(
        {"x": [(3.0, 4.0)], "y": [(0.0, 0.0)]}, {"x": (1, 1), "y": (2, 1)}
    )

    assert list_ids(pieces) == ["x", "y"]
    found = split_vectors(pieces, body)
    assert found["x"][0].tolist() == pytest.approx([0.6, 0.8])
    assert found["y"][0].tolist() == [0.0, 0.0]


def test_merged_segments_find_what_each_of_them_found() -> None:
    first = build_segment([(1, terms("red cat", "blue dog")), (2, terms("red dog"))])
    second = build_segment([(5, terms("red red\nblue"))])
    merged = merge_segments([first, second])

    apart = find([first, second], "red", "dog", wanted=[1, 2, 5])
    assert apart == find([merged], "red", "dog", wanted=[1, 2, 5])
    assert apart[0] == (2, 1)
    assert find([merged], "red", wanted=[5]) == [(5, 1)]
    words = np.array([hash_term(word) for word in ("cat", "bird")], "u8")
    assert find_postings(merged, words) == find_postings(first, words)
    assert find_postings(merged, words)[1] == slice(0, 0)


def test_what_is_dropped_leaves_no_trace() -> None:
    segment = build_segment([(1, terms("secret word", "other")), (2, terms("word"))])

    left = merge_segments([segment], np.array([2]))

    assert left.entries.tolist() == [2]
    assert hash_term("secret") not in left.terms.tolist()
    assert find([left], "word", wanted=[1, 2]) == [(2, 1)]
    kept = build_segment([(2, terms("word"))])
    for name in WordSegment.__struct_fields__:
        assert getattr(left, name).tolist() == getattr(kept, name).tolist()


def test_merged_matrices_find_what_each_of_them_found() -> None:
    first = build_matrix([(1, vectors([(1, 0)], [(0, 1), (1, 1)])), (2, vectors([(0.9, 0.1)]))])
    second = build_matrix([(5, vectors([(0.5, 0.5)]))])
    merged = merge_matrices([first, second])

    expected = ([(1, 1), (2, 1), (1, 2), (5, 1)], 5)
    assert near([first, second], (1, 0), [1, 2, 5]) == expected
    assert near([merged], (1, 0), [1, 2, 5]) == expected
    left = merge_matrices([merged], np.array([1, 5]))
    assert near([left], (1, 0), [1, 2, 5]) == ([(1, 1), (1, 2), (5, 1)], 4)
    assert repeat_pieces(left, np.array([True, False, True])).tolist() == [True, False, False, True]


def test_vectors_of_another_length_are_left_out() -> None:
    segment = build_matrix([(1, vectors([(1, 0)])), (2, vectors([(1, 0, 0)]))])

    assert near([segment], (1, 0), [1, 2]) == ([(1, 1)], 1)
    assert near([segment], (1, 0, 0), [1, 2]) == ([], 0)


def test_equal_scores_are_in_the_order_of_entries_and_pieces() -> None:
    segment = build_segment([(7, terms("red", "red")), (3, terms("red"))])
    visible = mark_visible(segment, np.array([3, 7]), (0, 0))
    scores = np.ones(3, "f4")

    best = take_best([("b1", segment, visible, scores)], 2)

    assert [(entry, number) for _, entry, number, _ in best] == [(3, 1), (7, 1)]
    assert mark_visible(segment, np.array([7]), (2, 9)).tolist() == [False, True, False]


def a_cache(**options: Any) -> SegmentCache[TermEntry, WordSegment]:
    return SegmentCache(build_segment, merge_segments, **options)


def test_a_cache_loads_each_entry_once_and_merges_small_segments() -> None:
    cache = a_cache()
    for number in range(1, 9):
        assert cache.list_missing(KEY, np.array([number])) == [number]
        cache.add(KEY, {number: terms("red"), 1: terms("red")})

    assert cache.list_missing(KEY, np.arange(1, 10)) == [9]
    assert len(cache.get(KEY)) < 5
    assert sorted(number for item in cache.get(KEY) for number in item.entries) == [*range(1, 9)]
    assert cache.get(("b2", "")) == ()


def test_a_cache_drops_what_was_deleted_and_bases_that_are_not_asked_for() -> None:
    cache = a_cache(max_bytes=1)
    cache.add(KEY, {1: terms("red"), 2: terms("blue")})
    cache.add(("b2", ""), {3: terms("red")})
    cache.retain(np.array([2, 3]))
    assert cache.get(KEY)[0].entries.tolist() == [2]
    cache.retain(np.array([3]))
    assert cache.bases == ["b2"]

    cache.shrink()

    assert (cache.bases, cache.size) == ([], 0)


def test_a_cache_takes_a_segment_in_place_of_what_is_in_it() -> None:
    cache = a_cache()
    cache.add(KEY, {1: terms("red")})
    whole = build_segment([(1, terms("red")), (2, terms("blue"))])

    cache.add_segment(KEY, whole)
    cache.add_segment(KEY, build_segment([(2, terms("blue"))]))
    cache.add_segment(KEY, build_segment([(2, terms("blue")), (3, terms("cat"))]))

    assert list(cache.get(KEY)) == [whole]
    assert cache.list_missing(KEY, np.array([1, 2, 3])) == [3]


def test_a_cache_answers_while_a_segment_is_built() -> None:
    has_begun, may_end = threading.Event(), threading.Event()

    def build(entries: Sequence[tuple[int, TermEntry]]) -> WordSegment:
        has_begun.set()
        may_end.wait()
        return build_segment(entries)

    cache = SegmentCache(build, merge_segments)
    builder = threading.Thread(target=cache.add, args=(KEY, {1: terms("apple")}))
    builder.start()
    has_begun.wait()
    try:
        assert cache.list_missing(KEY, np.array([1])) == [1]
        assert list(cache.get(KEY)) == []
    finally:
        may_end.set()
        builder.join()

    assert cache.list_missing(KEY, np.array([1])) == []


@pytest.mark.parametrize("count", [1, 40], ids=["few", "all"])
def test_what_is_visible_has_the_same_scores_whatever_else_there_is(count: int) -> None:
    rows = np.random.default_rng(1).standard_normal((40, 8)).astype("f4")
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    entries = [
        (
            number,
            VectorEntry(
                numbers=np.array([1, 1, 2], "u4"),
                pages=np.zeros(3, "u4"),
                rows=rows[[at, at - 1, 3]],
            ),
        )
        for at, number in enumerate(range(1, 41))
    ]
    wanted = {"b1": np.arange(1, count + 1)}
    alone = {"b1": [build_matrix(entries[:count])]}
    among = {"b1": [build_matrix(entries)]}

    found = search_vectors([1.0] * 8, among, wanted, (0, 0), 10)

    assert found == search_vectors([1.0] * 8, alone, wanted, (0, 0), 10)
    assert found[1] == 3 * count
