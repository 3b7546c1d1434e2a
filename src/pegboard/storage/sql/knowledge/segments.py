"""Segments of knowledge bases in a database, from which a process loads a base at once.

They repeat what rows of `piece_terms` say, many documents in one row. A segment is deleted together
with the row of any document that is in it, in the same transaction, so that no trace of a deleted
document stays; `pack` makes it anew from those that are left.
"""

import asyncio
from collections.abc import Sequence

from msgspec import Struct
from sqlalchemy import delete, func, select

from pegboard.core.record_snapshot import clean_text
from pegboard.storage.databases.database import StorageDatabase
from pegboard.storage.databases.transaction import Transaction
from pegboard.storage.knowledge.entry_codec import decode_terms
from pegboard.storage.knowledge.segment_codec import decode_segment, encode_segment
from pegboard.storage.knowledge.word_segment import WordSegment, build_segment
from pegboard.storage.knowledge_tables import (
    DOCUMENTS,
    KNOWLEDGE_CHANGES,
    PIECE_SEGMENTS,
    PIECE_TERMS,
)
from pegboard.storage.sql.knowledge.entry_bodies import read_bodies

_MIN_PIECES = 2_000
"""Pieces outside of segments from which on they are packed: a process loads fewer in a blink."""
_MIN_SEGMENT = 500
_MAX_PIECES = 4_000
"""Of a segment, 4 MB, which goes with any document that is deleted from it: the writer of a
database is held as long as that takes. With smaller segments each question takes longer."""
_READ_AT_ONCE = 50
_COUNTED_AT_ONCE = 500


class StoredSegment(Struct, frozen=True):
    """A segment that is stored.

    Attributes:
        number: Of its row.
        first: The least number of an entry that may be in it.
        last: The greatest.
        pieces: How many pieces it has.
    """

    number: int
    first: int
    last: int
    pieces: int


class _Entries(Struct, frozen=True):
    """Entries that become one segment: their numbers in order, and how many pieces they have."""

    numbers: Sequence[int]
    pieces: int


def list_segments(transaction: Transaction, base: str) -> list[StoredSegment]:
    """The segments of a base, in the order of their entries."""
    table = PIECE_SEGMENTS.c
    columns = (table.number, table.first, table.last, table.pieces)
    statement = select(*columns).where(table.base == base).order_by(table.first, table.number)
    return [StoredSegment(*row) for row in transaction.all(statement)]


def read_segment(transaction: Transaction, number: int) -> WordSegment | None:
    """A segment; None if it is not there any more, or of another version."""
    found = read_bodies(transaction, PIECE_SEGMENTS, [number])
    return decode_segment(found[0][1]) if found else None


class SegmentPacker:
    """Packs the entries of bases into segments."""

    def __init__(self, database: StorageDatabase) -> None:
        """Keep them there."""
        self._database = database

    async def pack(self, base: str) -> None:
        """Put the entries of a base that are in no segment into segments, if there are many."""
        key = clean_text(base)
        chosen = await self._database.read(lambda transaction: _choose(transaction, key))
        for entries in chosen:
            bodies: dict[int, bytes] = {}
            for at in range(0, len(entries.numbers), _READ_AT_ONCE):
                those = entries.numbers[at : at + _READ_AT_ONCE]
                bodies |= await self._database.read(
                    lambda it, those=those: read_bodies(it, PIECE_TERMS, those)
                )
            if len(bodies) == len(entries.numbers):  # else it is being changed: next time
                body = await asyncio.to_thread(_build, bodies)
                await self._database.run(
                    lambda it, entries=entries, body=body: _store(it, key, entries, body)
                )


def _choose(transaction: Transaction, base: str) -> list[_Entries]:
    """The entries of a base that are to be packed."""
    statement = (
        select(DOCUMENTS.c.terms, DOCUMENTS.c.pieces)
        .where(DOCUMENTS.c.base == base, DOCUMENTS.c.terms > 0)
        .order_by(DOCUMENTS.c.terms)
    )
    rows = [(row.terms, row.pieces) for row in transaction.all(statement)]
    segments = list_segments(transaction, base)
    loose = sum(pieces for number, pieces in rows if not _find(segments, number))
    if loose < _MIN_PIECES:
        return []
    # Small segments are packed anew, together with what has come since.
    stay = [item for item in segments if item.pieces > _MAX_PIECES // 2]
    chosen: list[_Entries] = []
    numbers: list[int] = []
    pieces, after = 0, -1

    def end() -> None:
        if pieces >= _MIN_SEGMENT:
            chosen.append(_Entries(numbers, pieces))

    for number, count in rows:
        if _find(stay, number):
            continue
        before = sum(item.last < number for item in stay)
        if before != after or (numbers and pieces + count > _MAX_PIECES):
            end()
            numbers, pieces, after = [], 0, before
        numbers.append(number)
        pieces += count
    end()
    return chosen


def _find(segments: Sequence[StoredSegment], entry: int) -> bool:
    return any(item.first <= entry <= item.last for item in segments)


def _build(bodies: dict[int, bytes]) -> bytes:
    entries = [(number, decode_terms(body)) for number, body in sorted(bodies.items())]
    return encode_segment(build_segment(entries))


def _are_there(transaction: Transaction, base: str, numbers: Sequence[int]) -> bool:
    """Whether all of these entries are still in the base."""
    table = PIECE_TERMS.c
    statement = select(func.count()).select_from(PIECE_TERMS).where(table.base == base)
    found = 0
    for at in range(0, len(numbers), _COUNTED_AT_ONCE):
        those = numbers[at : at + _COUNTED_AT_ONCE]
        row = transaction.first(statement.where(table.number.in_(those)))
        found += row[0] if row else 0
    return found == len(numbers)


def _store(transaction: Transaction, base: str, entries: _Entries, body: bytes) -> None:
    """Store a segment, unless any of its entries was deleted, or another server has stored it."""
    insert = transaction.insert(KNOWLEDGE_CHANGES).values(id=1, number=0)
    transaction.execute(insert.on_conflict_do_nothing(index_elements=["id"]))
    # Deletions count themselves in this row: they come before this, or delete what it stores.
    transaction.first(select(KNOWLEDGE_CHANGES.c.number).with_for_update())
    numbers = entries.numbers
    if not _are_there(transaction, base, numbers):
        return
    first, last = numbers[0], numbers[-1]
    for item in list_segments(transaction, base):
        if item.first <= last and item.last >= first:
            if item.pieces >= entries.pieces:
                return
            transaction.execute(
                delete(PIECE_SEGMENTS).where(PIECE_SEGMENTS.c.number == item.number)
            )
    values = {"base": base, "first": first, "last": last, "pieces": entries.pieces, "body": body}
    transaction.execute(transaction.insert(PIECE_SEGMENTS).values(values))
