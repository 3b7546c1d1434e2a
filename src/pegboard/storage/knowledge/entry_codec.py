"""What the pieces of a document are found by, as the bytes of a row.

An entry has everything of one document: the terms of its passages, or the vectors of a model. It is
never changed, so that a process may keep what it has loaded.
"""

import json
import struct
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.json import decode as json_decode

from pegboard.core.ports.knowledge.index import IndexedPiece
from pegboard.errors import InvalidRequest

Array = np.ndarray[Any, Any]

_HEADER = struct.Struct("<III")
_MAX_COUNT = 255


class TermEntry(Struct, frozen=True, kw_only=True):
    """The terms of the pieces of a document.

    Attributes:
        numbers: Of each piece, its number in the document.
        pages: Of each piece.
        owners: Of each passage, the index of its piece; in order.
        lengths: Of each passage, how many terms it has.
        passages: Of each posting, the index of its passage.
        terms: Of each posting, the hash of its term.
        counts: Of each posting, how often the term stands in the passage.
    """

    numbers: Array
    pages: Array
    owners: Array
    lengths: Array
    passages: Array
    terms: Array
    counts: Array


class VectorEntry(Struct, frozen=True, kw_only=True):
    """Vectors of one model, of length 1, for passages of pieces of a document.

    Attributes:
        numbers: Of each vector, the number of its piece.
        pages: Of each vector, the page of its piece.
        rows: The vectors.
    """

    numbers: Array
    pages: Array
    rows: Array


@lru_cache(maxsize=200_000)
def hash_term(term: str) -> int:
    """64 bits of a term; two of the same hash are as good as impossible."""
    return int.from_bytes(blake2b(term.encode(errors="replace"), digest_size=8).digest(), "little")


def encode_terms(pieces: Sequence[IndexedPiece]) -> bytes:
    """The entry of all pieces of a document."""
    owners: list[int] = []
    lengths: list[int] = []
    passages: list[int] = []
    terms: list[int] = []
    counts: list[int] = []
    for index, item in enumerate(pieces):
        for line in item.words.split("\n"):
            found = Counter(line.split(" ")) if line else Counter[str]()
            passages += [len(owners)] * len(found)
            terms += map(hash_term, found)
            counts += (min(count, _MAX_COUNT) for count in found.values())
            owners.append(index)
            lengths.append(found.total())
    parts = (
        np.array([item.piece.number for item in pieces], "<u4"),
        np.array([item.piece.page for item in pieces], "<u4"),
        np.array(owners, "<u4"),
        np.array(lengths, "<u4"),
        np.array(passages, "<u4"),
        np.array(terms, "<u8"),
        np.array(counts, "u1"),
    )
    header = _HEADER.pack(len(pieces), len(owners), len(terms))
    return header + b"".join(part.tobytes() for part in parts)


def decode_terms(body: bytes) -> TermEntry:
    """What `encode_terms` wrote."""
    pieces, passages, postings = _HEADER.unpack_from(body)
    read = _Reader(body)
    return TermEntry(
        numbers=read.take("<u4", pieces),
        pages=read.take("<u4", pieces),
        owners=read.take("<u4", passages),
        lengths=read.take("<u4", passages),
        passages=read.take("<u4", postings),
        terms=read.take("<u8", postings),
        counts=read.take("u1", postings),
    )


def encode_vectors(
    vectors: Mapping[str, Sequence[Sequence[float]]], places: Mapping[str, tuple[int, int]]
) -> tuple[str, bytes]:
    """The ids of pieces as JSON, and the entry of their vectors.

    Args:
        vectors: By id of the piece; not empty.
        places: By id of the piece, its number and page.

    Raises:
        InvalidRequest: They are of several lengths, or hold what is no number.
    """
    ids = list(vectors)
    counts = [len(vectors[key]) for key in ids]
    try:
        rows = np.array([row for key in ids for row in vectors[key]], "<f4")
    except ValueError as error:
        raise InvalidRequest("The vectors of an embedding model are of several lengths.") from error
    if rows.ndim != 2 or not rows.shape[1]:
        raise InvalidRequest("The vectors of an embedding model are empty.")
    if not np.isfinite(rows).all():
        raise InvalidRequest("A vector of an embedding model holds what is no number.")
    rows = to_unit(rows)
    header = _HEADER.pack(len(ids), *rows.shape)
    numbers = np.repeat(np.array([places[key][0] for key in ids], "<u4"), counts)
    pages = np.repeat(np.array([places[key][1] for key in ids], "<u4"), counts)
    body = b"".join((header, numbers.tobytes(), pages.tobytes(), rows.tobytes()))
    return json.dumps([ids, counts]), body


def decode_vectors(body: bytes) -> VectorEntry:
    """What `encode_vectors` wrote."""
    _, count, width = _HEADER.unpack_from(body)
    read = _Reader(body)
    return VectorEntry(
        numbers=read.take("<u4", count),
        pages=read.take("<u4", count),
        rows=read.take("<f4", count * width).reshape(count, width),
    )


def split_vectors(pieces: str, body: bytes) -> dict[str, list[Any]]:
    """The vectors by the id of their piece."""
    ids, counts = json_decode(pieces)
    rows = decode_vectors(body).rows
    ends = np.cumsum(counts)
    return {
        key: list(rows[end - count : end])
        for key, count, end in zip(ids, counts, ends, strict=True)
    }


def list_ids(pieces: str) -> list[str]:
    """The ids of the pieces of a row of vectors."""
    ids, _ = json_decode(pieces)
    return ids


def to_unit(rows: Array) -> Array:
    """Vectors of length 1; one of zeros stays."""
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    return np.ascontiguousarray(rows / np.where(lengths > 0, lengths, 1), "<f4")


class _Reader:
    """Reads arrays one after the other."""

    def __init__(self, body: bytes) -> None:
        self._body = body
        self._offset = _HEADER.size

    def take(self, kind: str, count: int) -> Array:
        array = np.frombuffer(self._body, kind, count, self._offset)
        self._offset += array.nbytes
        return array
