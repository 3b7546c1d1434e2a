"""Search over loaded segments: by words with BM25, and by vectors with the cosine."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from pegboard.storage.knowledge.entry_codec import Array, hash_term, to_unit
from pegboard.storage.knowledge.segment_cache import Found, mark_visible, take_best
from pegboard.storage.knowledge.vector_segment import (
    VectorSegment,
    compare_passages,
    repeat_pieces,
    select_pieces,
    take_nearest,
)
from pegboard.storage.knowledge.word_segment import WordSegment, find_postings, score_pieces

Wanted = Mapping[str, Array]
"""By base, the numbers of the entries that the caller may see, sorted."""
Pages = tuple[int, int]
_NEGLIGIBLE = 0.08
"""A term that weighs less than this share of the heaviest one does not count: such terms stand in
nearly every passage, cost most of the time, and change no order that matters."""

_FEW = 0.2
"""Up to this share of the pieces of a segment, the visible ones are copied before they are compared
with the question: reading the others would take longer."""


def search_words(
    terms: Mapping[str, float],
    segments: Mapping[str, Sequence[WordSegment]],
    wanted: Wanted,
    pages: Pages,
    limit: int,
) -> tuple[list[Found], dict[str, float]]:
    """The best pieces, and how rare each term is among the passages in the scope."""
    hashes = np.array([hash_term(term) for term in terms], "u8")
    parts = [
        (base, segment, mark_visible(segment, wanted[base], pages))
        for base, those in segments.items()
        for segment in those
    ]
    total = 0
    counts = dict.fromkeys(terms, 0)
    postings: list[list[tuple[str, slice]]] = []
    for _, segment, visible in parts:
        seen = visible[segment.piece_of]
        is_whole = bool(seen.all())
        total += int(np.count_nonzero(seen))
        those = [
            (term, found)
            for term, found in zip(terms, find_postings(segment, hashes), strict=True)
            if found.stop
        ]
        for term, found in those:
            counts[term] += (
                found.stop - found.start
                if is_whole
                else int(np.count_nonzero(seen[segment.passages[found]]))
            )
        postings.append(those)
    rarities = {
        term: math.log(1 + (total - count + 0.5) / (count + 0.5)) for term, count in counts.items()
    }
    weights = {term: weight * rarities[term] for term, weight in terms.items()}
    least = _NEGLIGIBLE * max(weights.values(), default=0.0)
    scored = [
        (
            base,
            segment,
            visible,
            score_pieces(
                segment,
                [(found, weights[term]) for term, found in those if weights[term] > least],
            ),
        )
        for (base, segment, visible), those in zip(parts, postings, strict=True)
    ]
    return take_best(scored, limit), rarities


def search_vectors(
    vector: Sequence[float],
    segments: Mapping[str, Sequence[VectorSegment]],
    wanted: Wanted,
    pages: Pages,
    limit: int,
) -> tuple[list[Found], int, float]:
    """The nearest pieces, the number of all passages in the scope, and their mean cosine.

    Pieces at a right angle or beyond are left out.
    """
    row = to_unit(np.array(vector, "f4"))
    passages, total = 0, 0.0
    scored: list[tuple[str, VectorSegment, Array, Array]] = []
    for base, those in segments.items():
        for whole in those:
            segment = whole
            if segment.rows.shape[1] != len(row):
                continue
            visible = mark_visible(segment, wanted[base], pages)
            if np.count_nonzero(visible) < _FEW * len(visible):
                segment = select_pieces(segment, visible)
                visible = np.ones(len(segment.numbers), bool)
            cosines = compare_passages(segment, row)
            seen = cosines if visible.all() else cosines[repeat_pieces(segment, visible)]
            passages += len(seen)
            total += float(seen.sum(dtype="f8"))
            scored.append((base, segment, visible, take_nearest(segment, cosines)))
    return take_best(scored, limit), passages, round(total / passages, 5) if passages else 0.0
