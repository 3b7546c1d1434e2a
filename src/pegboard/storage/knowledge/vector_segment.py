"""Vectors of several documents as one matrix, searched exactly."""

from collections.abc import Sequence

import numpy as np
from msgspec import Struct, structs

from pegboard.storage.knowledge.entry_codec import Array, VectorEntry


class VectorSegment(Struct, frozen=True, kw_only=True):
    """The vectors of some entries.

    Attributes:
        entries: The numbers of the entries.
        entry_of: Of each piece, the index of its entry.
        numbers: Of each piece, its number in its document.
        pages: Of each piece.
        firsts: Of each piece, its first row.
        rows: The vectors, of length 1; those of a piece follow each other.
    """

    entries: Array
    entry_of: Array
    numbers: Array
    pages: Array
    firsts: Array
    rows: Array

    @property
    def size(self) -> int:
        """Bytes of all arrays."""
        return sum(getattr(self, name).nbytes for name in self.__struct_fields__)


def build_matrix(entries: Sequence[tuple[int, VectorEntry]]) -> VectorSegment:
    """One segment of some entries; vectors of another length than the first are left out."""
    width = entries[0][1].rows.shape[1]
    entries = [item for item in entries if item[1].rows.shape[1] == width]
    numbers = np.concatenate([entry.numbers for _, entry in entries]).astype("i4")
    entry_of = np.repeat(
        np.arange(len(entries), dtype="i4"), [len(entry.numbers) for _, entry in entries]
    )
    is_first = np.empty(len(numbers), bool)
    is_first[:1] = True
    is_first[1:] = (numbers[1:] != numbers[:-1]) | (entry_of[1:] != entry_of[:-1])
    firsts = np.flatnonzero(is_first).astype("i4")
    return VectorSegment(
        entries=np.array([number for number, _ in entries], "i8"),
        entry_of=entry_of[firsts],
        numbers=numbers[firsts],
        pages=np.concatenate([entry.pages for _, entry in entries]).astype("i4")[firsts],
        firsts=firsts,
        rows=np.concatenate([entry.rows for _, entry in entries]),
    )


def merge_matrices(segments: Sequence[VectorSegment], keep: Array | None = None) -> VectorSegment:
    """One segment of several, without the entries that are not in `keep`, which is sorted."""
    if keep is not None:
        segments = [_drop(segment, keep) for segment in segments]
    width = segments[0].rows.shape[1]
    segments = [item for item in segments if item.rows.shape[1] == width]
    entries = np.cumsum([0, *(len(item.entries) for item in segments)])
    rows = np.cumsum([0, *(len(item.rows) for item in segments)])
    items = list(enumerate(segments))
    return VectorSegment(
        entries=np.concatenate([item.entries for item in segments]),
        entry_of=np.concatenate([item.entry_of + np.int32(entries[at]) for at, item in items]),
        numbers=np.concatenate([item.numbers for item in segments]),
        pages=np.concatenate([item.pages for item in segments]),
        firsts=np.concatenate([item.firsts + np.int32(rows[at]) for at, item in items]),
        rows=np.concatenate([item.rows for item in segments]),
    )


def select_pieces(segment: VectorSegment, visible: Array) -> VectorSegment:
    """The segment without the pieces that are not visible, in the same order."""
    counts = np.diff(segment.firsts, append=np.int32(len(segment.rows)))
    kept = counts[visible]
    return VectorSegment(
        entries=segment.entries,
        entry_of=segment.entry_of[visible],
        numbers=segment.numbers[visible],
        pages=segment.pages[visible],
        firsts=(np.cumsum(kept) - kept).astype("i4"),
        rows=segment.rows[np.repeat(visible, counts)],
    )


def compare_passages(segment: VectorSegment, vector: Array) -> Array:
    """The cosine of each row.

    Row by row: a product of the matrix would have its own threads, which wait for each other as
    long as others use the processors, and the last digits of a row would depend on the others,
    which a caller may not learn of. They are rounded away.
    """
    cosines: Array = np.vecdot(segment.rows, vector)
    return np.round(cosines, 5)


def take_nearest(segment: VectorSegment, cosines: Array) -> Array:
    """The cosine of each piece: that of its nearest passage."""
    if len(segment.firsts) == len(cosines):  # each piece has one row
        return cosines
    return np.maximum.reduceat(cosines, segment.firsts)


def repeat_pieces(segment: VectorSegment, of_piece: Array) -> Array:
    """What holds for each piece, for each of its rows."""
    return np.repeat(of_piece, np.diff(segment.firsts, append=np.int32(len(segment.rows))))


def _drop(segment: VectorSegment, keep: Array) -> VectorSegment:
    of_entry = np.isin(segment.entries, keep, assume_unique=True)
    if of_entry.all():
        return segment
    kept = select_pieces(segment, of_entry[segment.entry_of])
    return structs.replace(
        kept,
        entries=segment.entries[of_entry],
        entry_of=(np.cumsum(of_entry) - 1).astype("i4")[kept.entry_of],
    )
