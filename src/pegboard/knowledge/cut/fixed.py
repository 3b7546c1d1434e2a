"""Pieces of the same length, whatever stands in them."""

import re
from collections.abc import Sequence

from pegboard.core.text.measure import measure_text
from pegboard.knowledge.cut.pack import Group
from pegboard.knowledge.cut.spans import CutSpan, cut_length

_WORD = re.compile(r"\S+")


def pack_fixed(text: str, spans: Sequence[CutSpan], tokens: int, overlap: int) -> list[Group]:
    """Pieces of so many tokens, each with the last ones of the piece before it; pages part them."""
    groups: list[Group] = []
    for start, end in _pages(spans):
        words = _words(text, spans[start].start, spans[end - 1].end, tokens)
        for first, last in _windows(text, words, tokens, min(overlap, tokens // 2)):
            at = words[first][0]
            above = spans[start]
            for span in spans[start:end]:
                if span.start > at:
                    break
                above = span
            groups.append([CutSpan(at, words[last][1], "paragraph", above.page, above.heading)])
    return groups


def _pages(spans: Sequence[CutSpan]) -> list[tuple[int, int]]:
    """The spans of each page: from which one on, and to which one."""
    found: list[tuple[int, int]] = []
    start = 0
    for at in range(1, len(spans) + 1):
        if at == len(spans) or spans[at].page != spans[start].page:
            found.append((start, at))
            start = at
    return found


def _words(text: str, start: int, end: int, tokens: int) -> list[tuple[int, int]]:
    """The words; one that is longer than a piece counts as several."""
    words: list[tuple[int, int]] = []
    for word in _WORD.finditer(text, start, end):
        at, last = word.span()
        while measure_text(text[at:last]) > tokens:
            middle = at + cut_length(text[at:last], tokens)
            words.append((at, middle))
            at = middle
        if at < last:
            words.append((at, last))
    return words


def _windows(
    text: str, words: Sequence[tuple[int, int]], tokens: int, overlap: int
) -> list[tuple[int, int]]:
    """The first and last word of each piece."""
    windows: list[tuple[int, int]] = []
    first = 0
    while first < len(words):
        last = first
        while (
            last + 1 < len(words)
            and measure_text(text[words[first][0] : words[last + 1][1]]) <= tokens
        ):
            last += 1
        windows.append((first, last))
        if last + 1 == len(words):
            break
        following = last + 1
        while (
            overlap
            and following - 1 > first
            and measure_text(text[words[following - 1][0] : words[last][1]]) <= overlap
        ):
            following -= 1
        first = following
    return windows
