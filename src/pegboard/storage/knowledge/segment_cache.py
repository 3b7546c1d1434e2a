"""What a process has loaded of the entries of knowledge bases: some segments for each base."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from typing import Generic, Protocol, TypeVar

import numpy as np

from pegboard.storage.knowledge.entry_codec import Array

Entry = TypeVar("Entry")

MAX_BYTES = 2**30
"""Of segments that stay loaded; beyond it the bases that were not asked for longest are dropped."""
_MAX_MERGED = 48 * 2**20
"""Bytes of a segment that is not merged any more."""


class Segment(Protocol):
    """Several entries, ready to be searched."""

    @property
    def entries(self) -> Array: ...

    @property
    def entry_of(self) -> Array: ...

    @property
    def numbers(self) -> Array: ...

    @property
    def pages(self) -> Array: ...

    @property
    def size(self) -> int: ...


Kind = TypeVar("Kind", bound=Segment)
Key = tuple[str, str]
"""A base, and an embedder or nothing."""


class SegmentCache(Generic[Entry, Kind]):
    """Segments by base. Safe for several threads."""

    def __init__(
        self,
        build: Callable[[Sequence[tuple[int, Entry]]], Kind],
        merge: Callable[..., Kind],
        *,
        max_bytes: int = MAX_BYTES,
    ) -> None:
        """Start empty."""
        self._build = build
        self._merge = merge
        self._max_bytes = max_bytes
        self._building = threading.Lock()
        """Held for seconds; `_lock` never is, since the event loop waits for it."""
        self._lock = threading.Lock()
        self._segments: OrderedDict[Key, tuple[Kind, ...]] = OrderedDict()

    @property
    def size(self) -> int:
        """Bytes of all segments."""
        with self._lock:
            return sum(item.size for segments in self._segments.values() for item in segments)

    @property
    def bases(self) -> list[str]:
        """The bases of which anything is loaded."""
        with self._lock:
            return sorted({base for base, _ in self._segments})

    def list_missing(self, key: Key, wanted: Array) -> list[int]:
        """The numbers of the wanted entries that are not loaded."""
        with self._lock:
            known = [item.entries for item in self._segments.get(key, ())]
        if not known:
            return wanted.tolist()
        return np.setdiff1d(wanted, np.concatenate(known), assume_unique=True).tolist()

    def add(self, key: Key, entries: Mapping[int, Entry]) -> None:
        """Load entries; those that are loaded already are left out."""
        with self._building:
            with self._lock:
                segments = self._segments.get(key, ())
            loaded = {number for item in segments for number in item.entries.tolist()}
            new = [(number, entries[number]) for number in sorted(entries) if number not in loaded]
            if not new:
                return
            segments = (*segments, self._build(new))
            while len(segments) > 1 and _is_merged(segments[-2], segments[-1]):
                segments = (*segments[:-2], self._merge(segments[-2:]))
            with self._lock:
                self._segments[key] = segments

    def add_segment(self, key: Key, segment: Kind) -> None:
        """Load a segment that was built before, in place of what is loaded of the same entries.

        It is left out where a loaded segment has some of its entries and others, too.
        """
        with self._building:
            with self._lock:
                segments = self._segments.get(key, ())
            others: list[Kind] = []
            known = 0
            for item in segments:
                shared = int(np.count_nonzero(np.isin(item.entries, segment.entries)))
                if 0 < shared < len(item.entries):
                    return
                known += shared
                if not shared:
                    others.append(item)
            if known == len(segment.entries):
                return
            with self._lock:
                self._segments[key] = (segment, *others)

    def get(self, key: Key) -> Sequence[Kind]:
        """The segments of a base, which are never changed."""
        with self._lock:
            if key not in self._segments:
                return ()
            self._segments.move_to_end(key)
            return self._segments[key]

    def shrink(self) -> None:
        """Drop the bases that were not asked for longest, until the rest fits."""
        with self._lock:
            sizes = {
                key: sum(item.size for item in segments) for key, segments in self._segments.items()
            }
            total = sum(sizes.values())
            for key, size in sizes.items():
                if total <= self._max_bytes:
                    return
                del self._segments[key]
                total -= size

    def retain(self, numbers: Array) -> None:
        """Drop every entry that is not among these."""
        with self._building:
            with self._lock:
                before = dict(self._segments)
            for key, segments in before.items():
                kept = tuple(self._retain(item, numbers) for item in segments)
                kept = tuple(item for item in kept if len(item.entries))
                with self._lock:
                    if kept and key in self._segments:
                        self._segments[key] = kept
                    else:
                        self._segments.pop(key, None)

    def _retain(self, segment: Kind, numbers: Array) -> Kind:
        if np.isin(segment.entries, numbers).all():
            return segment
        return self._merge([segment], numbers)


def _is_merged(left: Segment, right: Segment) -> bool:
    return left.size <= 2 * right.size and left.size + right.size <= _MAX_MERGED


def mark_visible(segment: Segment, wanted: Array, pages: tuple[int, int]) -> Array:
    """Whether each piece of a segment is of a wanted entry and between two pages (0: no bound).

    Args:
        segment: Whose pieces.
        wanted: The numbers of entries, sorted.
        pages: The first and the last page.
    """
    at = np.searchsorted(wanted, segment.entries)
    is_wanted = np.zeros(len(segment.entries), bool)
    within = at < len(wanted)
    is_wanted[within] = wanted[at[within]] == segment.entries[within]
    visible = is_wanted[segment.entry_of]
    first, last = pages
    if first:
        visible &= segment.pages >= first
    if last:
        visible &= segment.pages <= last
    return visible


Found = tuple[str, int, int, float]
"""A base, the number of an entry, the number of a piece in its document, and a score."""


def take_best(found: Sequence[tuple[str, Segment, Array, Array]], limit: int) -> list[Found]:
    """The best pieces of several segments with a score above zero, best first.

    Equal scores are in the order of the entries and pieces, which does not depend on what else is
    loaded.

    Args:
        found: A base, its segment, whether each piece counts, and its score.
        limit: At most so many.
    """
    if limit < 1 or not found:
        return []
    parts: list[tuple[Array, Array, Array, Array]] = []
    floor = 0.0
    for at, (_, segment, visible, every) in enumerate(found):
        scores = every if visible.all() else np.where(visible, every, 0)
        # What is below the last of the best so far is none of them.
        candidates = np.flatnonzero(scores >= floor if floor else scores > 0)
        if len(candidates) > limit:
            kept = scores[candidates]
            least = np.partition(kept, len(kept) - limit)[len(kept) - limit]
            floor = max(floor, float(least))
            candidates = candidates[kept >= least]
        entries = segment.entries[segment.entry_of[candidates]]
        of_segment = np.full(len(candidates), at)
        parts.append((of_segment, entries, segment.numbers[candidates], scores[candidates]))
    segments, entries, numbers, scores = (
        np.concatenate(arrays) for arrays in zip(*parts, strict=True)
    )
    order = np.lexsort((numbers, entries, -scores))[:limit]
    columns = (it[order].tolist() for it in (segments, entries, numbers, scores))
    return [
        (found[at][0], entry, number, score)
        for at, entry, number, score in zip(*columns, strict=True)
    ]
