"""Rows of vectors in a database: one for each document and embedding model, seldom more."""

from collections.abc import Mapping, Sequence

from sqlalchemy import select

from pegboard.core.record_snapshot import clean_text
from pegboard.storage.databases.transaction import Transaction
from pegboard.storage.knowledge.entry_codec import encode_vectors, list_ids
from pegboard.storage.knowledge_tables import DOCUMENTS, PIECE_VECTORS, PIECES

Vectors = Mapping[str, Sequence[Sequence[float]]]
"""By id of the piece."""
_DOCUMENTS_AT_ONCE = 500


def insert_vectors(
    transaction: Transaction,
    document: str,
    base: str,
    embedder: str,
    vectors: Vectors,
    places: Mapping[str, tuple[int, int]],
) -> None:
    """Store vectors of pieces of a document, if there are any.

    Args:
        transaction: In which.
        document: Its id.
        base: Its base.
        embedder: The name of the model.
        vectors: Those to store.
        places: Of each piece, its number and page.
    """
    if not vectors:
        return
    ordered = {key: vectors[key] for key in sorted(vectors, key=lambda key: places[key])}
    pieces, body = encode_vectors(ordered, places)
    values = {
        "document": document,
        "base": base,
        "embedder": clean_text(embedder),
        "pieces": pieces,
        "body": body,
    }
    transaction.execute(transaction.insert(PIECE_VECTORS).values(values))


def list_known(transaction: Transaction, document: str, embedder: str) -> set[str]:
    """The ids of the pieces of a document with vectors of a model."""
    table = PIECE_VECTORS.c
    wanted = (table.document == document, table.embedder == clean_text(embedder))
    rows = transaction.all(select(table.pieces).where(*wanted))
    return {key for row in rows for key in list_ids(row.pieces)}


def list_bare(transaction: Transaction, base: str, embedder: str) -> set[str]:
    """The ids of the pieces of a base without vectors of a model.

    Vectors are of pieces that are there, so that only documents with fewer of them than pieces
    have their pieces read.
    """
    base = clean_text(base)
    table = PIECE_VECTORS.c
    wanted = (table.base == base, table.embedder == clean_text(embedder))
    known: dict[str, set[str]] = {}
    for row in transaction.all(select(table.document, table.pieces).where(*wanted)):
        known.setdefault(row.document, set()).update(list_ids(row.pieces))
    columns = (DOCUMENTS.c.id, DOCUMENTS.c.pieces)
    there = (DOCUMENTS.c.base == base, DOCUMENTS.c.terms > 0)
    documents = transaction.all(select(*columns).where(*there))
    bare = [row.id for row in documents if len(known.get(row.id, ())) < row.pieces]
    found: set[str] = set()
    for at in range(0, len(bare), _DOCUMENTS_AT_ONCE):
        those = bare[at : at + _DOCUMENTS_AT_ONCE]
        statement = select(PIECES.c.document, PIECES.c.id).where(PIECES.c.document.in_(those))
        rows = transaction.all(statement)
        found |= {row.id for row in rows if row.id not in known.get(row.document, ())}
    return found
