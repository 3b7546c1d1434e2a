"""`VectorIndex`: vectors of tools, and how near they lie to that of a text."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from threading import Lock
from typing import Any

import numpy as np

Floats = np.ndarray[Any, Any]
_FIRST_ROWS = 256
_MAX_UNUSED = 1_000
"""Vectors of former texts that are kept, as a source that comes back has the same tools."""
_USUAL_MEAN, _ASSUMED_TOOLS = 0.1, 20
"""The mean cosine of few tools is drawn to a usual one, as if there were so many more."""
_SORTED_FIRST = 128
_MANY_TEXTS = 3
"""Texts that are compared by blocks of rows."""
_ROUNDING = 1e-5
_BLOCK, _GROUP = 256, 4
"""Rows of a block, and the vectors that are multiplied with it at once."""


class VectorIndex:
    """The vectors of texts by their digests, and which text each tool has. Safe for threads.

    Args:
        embedder: The name of the model that makes the vectors.
    """

    def __init__(self, embedder: str) -> None:
        self.embedder = embedder
        self._lock = Lock()
        self._rows: Floats = np.empty((0, 0), np.float32)
        self._row_of: dict[bytes, int] = {}
        self._digests: list[bytes] = []
        self._digest_of: dict[str, bytes] = {}
        self._names: dict[bytes, dict[str, None]] = {}

    @property
    def size(self) -> int:
        """How many vectors there are."""
        return len(self._digests)

    def name_texts(self, digests: Mapping[str, bytes]) -> list[bytes]:
        """Replace which text each tool has, by name; the digests that have no vector yet."""
        names: dict[bytes, dict[str, None]] = {}
        for name, digest in digests.items():
            names.setdefault(digest, {})[name] = None
        with self._lock:
            self._digest_of, self._names = dict(digests), names
            if len(self._digests) > len(names) + _MAX_UNUSED:
                self._drop_unused()
            return [digest for digest in names if digest not in self._row_of]

    def has(self, digest: bytes) -> bool:
        """Whether there is a vector of a text."""
        return digest in self._row_of

    def find(self, digests: Iterable[bytes]) -> dict[bytes, list[float]]:
        """The vectors of texts, with a length of 1, as far as they are there."""
        with self._lock:
            known = ((digest, self._row_of.get(digest)) for digest in digests)
            return {key: self._rows[row].tolist() for key, row in known if row is not None}

    def put(self, vectors: Mapping[bytes, Sequence[float]]) -> None:
        """Store vectors of texts.

        Raises:
            ValueError: One is no vector, or of another length than those before.
        """
        made = {digest: _to_unit(vector) for digest, vector in vectors.items()}
        with self._lock:
            for digest, vector in made.items():
                if digest not in self._row_of:
                    self._add(digest, vector)

    def measure_all(self, vectors: Sequence[Sequence[float]]) -> "list[Nearness]":
        """How near each tool lies to each of some texts.

        Raises:
            ValueError: One is no vector, or of another length than those of the tools.
        """
        with self._lock:
            count = len(self._digests)
            width = self._rows.shape[1]
            for vector in vectors:
                if count and len(vector) != width:
                    raise ValueError(f"a vector has {len(vector)} numbers, not {width}")
            rows, digests, names = self._rows[:count], self._digests, self._names
            row_of, digest_of = self._row_of, self._digest_of  # they only grow, or are replaced
        units = [_to_unit(vector) for vector in vectors]
        found = _multiply(rows, units) if count else [np.empty(0, np.float32)] * len(units)
        return [Nearness(cosines, digests, names, row_of, digest_of) for cosines in found]

    def _add(self, digest: bytes, vector: Floats) -> None:
        count = len(self._digests)
        if not count:
            self._rows = np.empty((_FIRST_ROWS, len(vector)), np.float32)
        elif len(vector) != self._rows.shape[1]:
            raise ValueError(f"a vector has {len(vector)} numbers, not {self._rows.shape[1]}")
        if count == len(self._rows):
            more = np.empty((max(_FIRST_ROWS, count // 4), len(vector)), np.float32)
            self._rows = np.concatenate([self._rows, more])
        self._rows[count] = vector
        self._digests.append(digest)
        self._row_of[digest] = count

    def _drop_unused(self) -> None:
        kept = [row for row, digest in enumerate(self._digests) if digest in self._names]
        self._rows = self._rows[kept]
        self._digests = [self._digests[row] for row in kept]
        self._row_of = {digest: row for row, digest in enumerate(self._digests)}


class Nearness:
    """How near the tools lie to a text: 0 as far as usual, 1 the same."""

    def __init__(
        self,
        cosines: Floats,
        digests: Sequence[bytes],
        names: Mapping[bytes, Iterable[str]],
        row_of: Mapping[bytes, int],
        digest_of: Mapping[str, bytes],
    ) -> None:
        self._digests = digests
        self._names = names
        self._row_of = row_of
        self._digest_of = digest_of
        count = len(cosines)
        usual = (float(cosines.sum()) + _USUAL_MEAN * _ASSUMED_TOOLS) / (count + _ASSUMED_TOOLS)
        self._usual = min(usual, 0.999)
        self._cosines = cosines

    def score_all(self, names: Iterable[str]) -> list[float]:
        """How near each of these tools lies; 0 for one without a vector."""
        row_of, digest_of, count = self._row_of, self._digest_of, len(self._cosines)
        rows = [row_of.get(digest_of.get(name, b""), count) for name in names]
        known = self._score([row for row in rows if row < count]).tolist()
        if len(known) < len(rows):
            found = iter(known)
            known = [next(found) if row < count else 0.0 for row in rows]
        return [max(0.0, score) for score in known]

    def iterate(self, *, least: float) -> Iterator[tuple[str, float]]:
        """The names of tools that lie at least so near, the nearest first, with their scores."""
        cosine = self._usual + least * (1 - self._usual)
        near = np.flatnonzero(self._cosines >= cosine - _ROUNDING)
        for rows in _split_nearest(near, self._cosines):
            scores = self._score(rows)
            order = np.lexsort((rows, -scores))
            ordered: list[float] = scores[order].tolist()
            for row, score in zip(rows[order].tolist(), ordered, strict=True):
                if score < least:
                    return
                for name in self._names.get(self._digests[int(row)], ()):
                    yield name, score

    def _score(self, rows: Any) -> Floats:
        """The last digits of a product depend on what else is multiplied: they do not count."""
        found: Floats = (np.round(self._cosines[rows], 5) - self._usual) / (1 - self._usual)
        return found


def _multiply(rows: Floats, units: Sequence[Floats]) -> list[Floats]:
    """The cosines of all rows with each unit vector.

    A matrix product of all rows has threads that wait for each other where others use the
    processors. Few vectors are taken row by row; many, by blocks of rows that are too small for
    threads and stay in the cache for all vectors.
    """
    if len(units) < _MANY_TEXTS:
        return [np.vecdot(rows, unit) for unit in units]
    stacked = np.stack(units)
    found: Floats = np.empty((len(units), len(rows)), np.float32)
    for start in range(0, len(rows), _BLOCK):
        block = slice(start, start + _BLOCK)
        columns = rows[block].T
        for first in range(0, len(units), _GROUP):
            group = slice(first, first + _GROUP)
            np.matmul(stacked[group], columns, out=found[group, block])
    return list(found)


def _split_nearest(rows: Floats, cosines: Floats) -> Iterator[Floats]:
    """The nearest of many rows, and then the others: all are seldom asked for."""
    if len(rows) > _SORTED_FIRST:
        order = np.argpartition(cosines[rows], len(rows) - _SORTED_FIRST)
        yield rows[order[-_SORTED_FIRST:]]
        rows = rows[order[:-_SORTED_FIRST]]
    yield rows


def _to_unit(vector: Sequence[float]) -> Floats:
    """The vector with a length of 1.

    Raises:
        ValueError: It has no direction, or a number that is none.
    """
    made: Floats = np.asarray(vector, np.float32)
    length = float(np.linalg.norm(made)) if made.ndim == 1 and made.size else 0.0
    if not length or not math.isfinite(length):
        raise ValueError("a vector has no direction")
    return made / np.float32(length)
