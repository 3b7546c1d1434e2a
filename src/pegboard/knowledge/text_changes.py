"""What changed between two texts of a document, line by line."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal

from msgspec import Struct

_MAX_DEPTH = 6
"""How often the lines between anchors are looked at again; it bounds what hostile text costs."""

Span = tuple[int, int]
"""Offsets in characters of one text, the end excluded."""
_Range = tuple[int, int, int, int]
"""Lines of the text before, and lines of the text after; the ends excluded."""


class TextChange(Struct, frozen=True, kw_only=True):
    """Lines that follow each other and were added, removed or changed.

    Attributes:
        before: Where they stood; empty, at the place where they were added, for new ones.
        after: Where they stand; empty, at the place where they stood, for removed ones.
    """

    kind: Literal["added", "removed", "changed"]
    before: Span
    after: Span


def find_changes(before: str, after: str) -> list[TextChange]:
    """The changes from one text to another, in order; white space does not count.

    Lines that stand once in both texts are anchors (patience diff): unlike the longest common
    subsequence they cost little more than sorting, whatever the texts say.
    """
    old, new = _find_lines(before), _find_lines(after)
    old_words = [_normalize(before[start:end]) for start, end in old]
    new_words = [_normalize(after[start:end]) for start, end in new]
    found: list[TextChange] = []
    for first, last, start, end in _merge(_compare(old_words, new_words)):
        kind = "added" if first == last else "removed" if start == end else "changed"
        spans = (_cover(old, first, last), _cover(new, start, end))
        found.append(TextChange(kind=kind, before=spans[0], after=spans[1]))
    return found


def _find_lines(text: str) -> list[Span]:
    """Where lines with any text stand."""
    found: list[Span] = []
    start = 0
    for line in text.split("\n"):
        end = start + len(line)
        if line and not line.isspace():
            found.append((start, end))
        start = end + 1
    return found


def _normalize(line: str) -> str:
    return " ".join(line.split())


def _cover(lines: Sequence[Span], first: int, last: int) -> Span:
    if first < last:
        return lines[first][0], lines[last - 1][1]
    place = lines[first][0] if first < len(lines) else lines[-1][1] if lines else 0
    return place, place


def _compare(old: Sequence[str], new: Sequence[str]) -> Iterator[_Range]:
    """The ranges that differ, in order."""
    waiting: list[tuple[_Range, int]] = [((0, len(old), 0, len(new)), 0)]
    while waiting:
        (first, last, start, end), depth = waiting.pop()
        while first < last and start < end and old[first] == new[start]:
            first, start = first + 1, start + 1
        while first < last and start < end and old[last - 1] == new[end - 1]:
            last, end = last - 1, end - 1
        if first == last and start == end:
            continue
        whole = (first, last, start, end)
        anchors = _find_anchors(old, new, whole) if depth < _MAX_DEPTH else []
        if not anchors or first == last or start == end:
            yield whole
            continue
        ranges: list[_Range] = []
        for here, there in (*anchors, (last, end)):
            ranges.append((first, here, start, there))
            first, start = here, there
        waiting += [(it, depth + 1) for it in reversed(ranges)]


def _find_anchors(old: Sequence[str], new: Sequence[str], within: _Range) -> list[tuple[int, int]]:
    """Pairs of lines that stand once on both sides, in the same order: as many as there are."""
    first, last, start, end = within
    old_counts, new_counts = Counter(old[first:last]), Counter(new[start:end])
    places = {line: at for at, line in enumerate(new[start:end], start) if new_counts[line] == 1}
    pairs = [
        (at, places[line])
        for at, line in enumerate(old[first:last], first)
        if old_counts[line] == 1 and line in places
    ]
    # The longest rising run of the second numbers.
    tops: list[int] = []
    rows: list[int] = []
    links: list[int] = []
    for row, (_, there) in enumerate(pairs):
        height = bisect_left(tops, there)
        links.append(rows[height - 1] if height else -1)
        tops[height : height + 1] = [there]
        rows[height : height + 1] = [row]
    found: list[tuple[int, int]] = []
    row = rows[-1] if rows else -1
    while row >= 0:
        found.append(pairs[row])
        row = links[row]
    return found[::-1]


def _merge(ranges: Iterator[_Range]) -> Iterator[_Range]:
    """Ranges that touch on both sides are one."""
    held: _Range | None = None
    for found in ranges:
        if held is not None and (held[1], held[3]) == (found[0], found[2]):
            held = (held[0], found[1], held[2], found[3])
            continue
        if held is not None:
            yield held
        held = found
    if held is not None:
        yield held
