"""An inverted index over the terms of several documents, in arrays.

BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009) over passages, with a
fixed usual length in place of the average one. How rare a term is counts the passages that the
caller may see, so that what they may not see changes neither score nor rank.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from msgspec import Struct

from pegboard.storage.knowledge.entry_codec import Array, TermEntry

_K1 = 1.2
_B = 0.75
_USUAL_LENGTH = 130.0
"""Terms of a usual passage: its words, and its pairs of words."""
_SCALE = (_K1 + 1) / 255
"""Gains are stored in steps of this, a byte each."""


class WordSegment(Struct, frozen=True, kw_only=True):
    """The terms of some entries.

    Attributes:
        entries: The numbers of the entries.
        entry_of: Of each piece, the index of its entry.
        numbers: Of each piece, its number in its document.
        pages: Of each piece.
        firsts: Of each piece, its first passage.
        piece_of: Of each passage, its piece.
        terms: Hashes of all terms, sorted.
        starts: Of each term, where its postings start; one more for their end.
        passages: Of each posting.
        gains: Of each posting: what a passage gains by the term, before its rarity.
    """

    entries: Array
    entry_of: Array
    numbers: Array
    pages: Array
    firsts: Array
    piece_of: Array
    terms: Array
    starts: Array
    passages: Array
    gains: Array

    @property
    def size(self) -> int:
        """Bytes of all arrays."""
        return sum(getattr(self, name).nbytes for name in self.__struct_fields__)


def build_segment(entries: Sequence[tuple[int, TermEntry]]) -> WordSegment:
    """The index of some entries."""
    pieces = np.cumsum([0, *(len(entry.numbers) for _, entry in entries)])
    passages = np.cumsum([0, *(len(entry.owners) for _, entry in entries)])
    items = list(enumerate(entry for _, entry in entries))
    return _arrange(
        entries=np.array([number for number, _ in entries], "i8"),
        entry_of=np.repeat(np.arange(len(entries), dtype="i4"), np.diff(pieces)),
        numbers=_join([entry.numbers for _, entry in items], "i4"),
        pages=_join([entry.pages for _, entry in items], "i4"),
        piece_of=_join([entry.owners + np.uint32(pieces[at]) for at, entry in items], "i4"),
        terms=_join([entry.terms for _, entry in items], "u8"),
        passages=_join([entry.passages + np.uint32(passages[at]) for at, entry in items], "u4"),
        gains=_join([_to_gains(entry) for _, entry in items], "u1"),
    )


def merge_segments(segments: Sequence[WordSegment], keep: Array | None = None) -> WordSegment:
    """One segment of several, without the entries that are not in `keep`, which is sorted."""
    if keep is not None:
        segments = [_drop(segment, keep) for segment in segments]
    entries = np.cumsum([0, *(len(item.entries) for item in segments)])
    pieces = np.cumsum([0, *(len(item.numbers) for item in segments)])
    passages = np.cumsum([0, *(len(item.piece_of) for item in segments)])
    items = list(enumerate(segments))
    return _arrange(
        entries=_join([item.entries for item in segments], "i8"),
        entry_of=_join([item.entry_of + np.int32(entries[at]) for at, item in items], "i4"),
        numbers=_join([item.numbers for item in segments], "i4"),
        pages=_join([item.pages for item in segments], "i4"),
        piece_of=_join([item.piece_of + np.int32(pieces[at]) for at, item in items], "i4"),
        terms=_join([_repeat_terms(item) for item in segments], "u8"),
        passages=_join([item.passages + np.uint32(passages[at]) for at, item in items], "u4"),
        gains=_join([item.gains for item in segments], "u1"),
    )


def find_postings(segment: WordSegment, terms: Array) -> list[slice]:
    """Where the postings of each of these terms are; an empty slice for one that is not there."""
    if not len(segment.terms):
        return [slice(0, 0)] * len(terms)
    at = np.minimum(np.searchsorted(segment.terms, terms), len(segment.terms) - 1)
    is_there = segment.terms[at] == terms
    starts = np.where(is_there, segment.starts[at], 0)
    stops = np.where(is_there, segment.starts[at + 1], 0)
    return list(map(slice, starts.tolist(), stops.tolist()))


def score_pieces(segment: WordSegment, weights: Sequence[tuple[slice, float]]) -> Array:
    """The score of each piece: that of its best passage."""
    scores = np.zeros(len(segment.piece_of), "f4")
    for postings, weight in weights:
        # a passage is once in the postings of a term
        scores[segment.passages[postings]] += segment.gains[postings] * np.float32(weight * _SCALE)
    if len(segment.firsts) == len(scores):  # each piece is one passage
        return scores
    return np.maximum.reduceat(scores, segment.firsts)


def _arrange(*, terms: Array, passages: Array, gains: Array, **arrays: Any) -> WordSegment:
    order = np.argsort(terms, kind="stable")
    terms = terms[order]
    is_first = np.empty(len(terms), bool)
    is_first[:1] = True
    np.not_equal(terms[1:], terms[:-1], out=is_first[1:])
    starts = np.flatnonzero(is_first)
    piece_of = arrays["piece_of"]
    return WordSegment(
        terms=terms[starts],
        starts=np.append(starts, len(terms)).astype("u4"),
        passages=passages[order],
        gains=gains[order],
        firsts=np.searchsorted(piece_of, np.arange(len(arrays["numbers"]))).astype("i4"),
        **arrays,
    )


def _drop(segment: WordSegment, keep: Array) -> WordSegment:
    """The segment without entries that are not in `keep`."""
    of_entry = np.isin(segment.entries, keep, assume_unique=True)
    if of_entry.all():
        return segment
    of_piece = of_entry[segment.entry_of]
    of_passage = of_piece[segment.piece_of]
    of_posting = of_passage[segment.passages]
    return _arrange(
        entries=segment.entries[of_entry],
        entry_of=_renumber(of_entry)[segment.entry_of[of_piece]],
        numbers=segment.numbers[of_piece],
        pages=segment.pages[of_piece],
        piece_of=_renumber(of_piece)[segment.piece_of[of_passage]],
        terms=_repeat_terms(segment)[of_posting],
        passages=_renumber(of_passage)[segment.passages[of_posting]].astype("u4"),
        gains=segment.gains[of_posting],
    )


def _renumber(kept: Array) -> Array:
    """The new index of each item that is kept."""
    return (np.cumsum(kept) - 1).astype("i4")


def _repeat_terms(segment: WordSegment) -> Array:
    return np.repeat(segment.terms, np.diff(segment.starts))


def _to_gains(entry: TermEntry) -> Array:
    norm = _K1 * (1 - _B + _B * entry.lengths[entry.passages] / _USUAL_LENGTH)
    counts = entry.counts.astype("f4")
    return np.rint(counts * (_K1 + 1) / (counts + norm) / _SCALE).astype("u1")


def _join(arrays: Sequence[Array], kind: str) -> Array:
    return np.concatenate(arrays).astype(kind, copy=False) if arrays else np.empty(0, kind)
