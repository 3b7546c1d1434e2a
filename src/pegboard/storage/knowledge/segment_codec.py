"""A segment of words as the bytes of a row, which are searched as they are.

The header names the version and how many numbers each array has; the arrays follow, each at a
multiple of eight bytes.
"""

import struct

import numpy as np

from pegboard.storage.knowledge.entry_codec import Array
from pegboard.storage.knowledge.word_segment import WordSegment

_VERSION = 1
"""Grows with whatever changes what the arrays mean, the gains of a term among it."""
_KINDS = {
    "entries": "<i8",
    "entry_of": "<i4",
    "numbers": "<i4",
    "pages": "<i4",
    "firsts": "<i4",
    "piece_of": "<i4",
    "terms": "<u8",
    "starts": "<u4",
    "passages": "<u4",
    "gains": "u1",
}
_HEADER = struct.Struct(f"<{1 + len(_KINDS)}Q")
_STEP = 8


def encode_segment(segment: WordSegment) -> bytes:
    """The bytes of a segment."""
    arrays: list[Array] = [getattr(segment, name).astype(kind) for name, kind in _KINDS.items()]
    parts = [_HEADER.pack(_VERSION, *map(len, arrays))]
    for array in arrays:
        parts += [array.tobytes(), bytes(-array.nbytes % _STEP)]
    return b"".join(parts)


def decode_segment(body: bytes) -> WordSegment | None:
    """What `encode_segment` wrote, without a copy; None if another version did."""
    version, *counts = _HEADER.unpack_from(body)
    if version != _VERSION:
        return None
    arrays: dict[str, Array] = {}
    offset = _HEADER.size
    for (name, kind), count in zip(_KINDS.items(), counts, strict=True):
        array = arrays[name] = np.frombuffer(body, kind, count, offset)
        offset += array.nbytes + -array.nbytes % _STEP
    return WordSegment(**arrays)
