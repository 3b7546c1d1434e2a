"""Stretches of a document that are not parted: its blocks, and what is cut out of large ones."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence

from msgspec import Struct

from pegboard.core.knowledge import BlockKind, ConvertedDocument, PageSpan, TextBlock
from pegboard.core.text.measure import BYTES_PER_UNIT, measure_text

_WHOLE = 2
"""Tables and code of up to so many pieces stay whole."""
_PARAGRAPH = re.compile(r"\n[ \t]*\n\s*")
_SENTENCE = re.compile(r"(?<=[.!?…])\s+|(?<=[.!?…][\"')\]])\s+|(?<=[\u3002\uff01\uff1f])\s*|\n")
_WORD = re.compile(r"(\S+)\s*")


class CutSpan(Struct, frozen=True):
    """A stretch of a document: offsets in characters, `end` excluded.

    Attributes:
        page: Where it stands, from 1; 0 for a document without pages.
        heading: The headings above it, its own included.
        opens: Whether it begins its block.
    """

    start: int
    end: int
    kind: BlockKind
    page: int
    heading: tuple[str, ...]
    opens: bool = True


def find_spans(document: ConvertedDocument) -> list[CutSpan]:
    """The blocks of a document; without blocks, its paragraphs."""
    blocks = document.blocks or tuple(_paragraphs(document.text))
    starts = [page.start for page in document.pages]
    spans: list[CutSpan] = []
    above: list[tuple[int, str]] = []
    for block in blocks:
        if block.kind == "heading":
            title = _title(document.text[block.start : block.end])
            above = [(level, text) for level, text in above if level < block.level]
            above.append((block.level, title))
        heading = tuple(text for _, text in above)
        for page, start, end in _part_by_page(block, document.pages, starts):
            spans.append(CutSpan(start, end, block.kind, page, heading))
    return spans


def _paragraphs(text: str) -> Iterator[TextBlock]:
    at = 0
    for gap in _PARAGRAPH.finditer(text):
        if gap.start() > at:
            yield TextBlock("paragraph", at, gap.start())
        at = gap.end()
    if text[at:].strip():
        yield TextBlock("paragraph", at, at + len(text[at:].rstrip()))


def _part_by_page(
    block: TextBlock, pages: Sequence[PageSpan], starts: Sequence[int]
) -> Iterator[tuple[int, int, int]]:
    """A block by the pages that it stands on: page, start, end."""
    if not pages:
        yield 0, block.start, block.end
        return
    at = max(bisect_right(starts, block.start) - 1, 0)
    start = block.start
    while at + 1 < len(pages) and starts[at + 1] < block.end:
        if starts[at + 1] > start:
            yield pages[at].number, start, starts[at + 1]
            start = starts[at + 1]
        at += 1
    yield pages[at].number, start, block.end


def _title(heading: str) -> str:
    return heading.split("\n", maxsplit=1)[0].strip().strip("#").strip()


def split_span(text: str, span: CutSpan, tokens: int) -> list[CutSpan]:
    """A span in parts that fit: by lines, sentences, words, or letters.

    Tables and code stay whole while they are no longer than two pieces.
    """
    limit = tokens * _WHOLE if span.kind in ("table", "code") else tokens
    if measure_text(text[span.start : span.end]) <= limit:
        return [span]
    parts = list(_parts(text, span, tokens))
    return [
        CutSpan(start, end, span.kind, span.page, span.heading, opens=start == span.start)
        for start, end in parts
    ]


def split_sentences(text: str, span: CutSpan) -> list[CutSpan]:
    """The sentences of a paragraph; anything else stays one."""
    if span.kind != "paragraph":
        return [span]
    return [
        CutSpan(start, end, span.kind, span.page, span.heading, opens=start == span.start)
        for start, end in _split(text, span.start, span.end, _SENTENCE)
    ]


def _parts(text: str, span: CutSpan, tokens: int) -> Iterator[tuple[int, int]]:
    """Where the parts of a large span begin and end."""
    by_line = span.kind in ("table", "code", "list")
    pieces = _split(text, span.start, span.end, re.compile(r"\n") if by_line else _SENTENCE)
    start = end = -1
    for first, last in pieces:
        for inner_first, inner_last in _fit(text, first, last, tokens):
            if start >= 0 and measure_text(text[start:inner_last]) <= tokens:
                end = inner_last
                continue
            if start >= 0:
                yield start, end
            start, end = inner_first, inner_last
    if start >= 0:
        yield start, end


def _split(text: str, start: int, end: int, separator: re.Pattern[str]) -> list[tuple[int, int]]:
    parts: list[tuple[int, int]] = []
    at = start
    for gap in separator.finditer(text, start, end):
        if text[at : gap.start()].strip():
            parts.append((at, gap.start()))
        at = gap.end()
    if text[at:end].strip():
        parts.append((at, end))
    return parts


def _fit(text: str, start: int, end: int, tokens: int) -> Iterator[tuple[int, int]]:
    """A line or sentence that is too long by words, and a word that is too long by letters."""
    if measure_text(text[start:end]) <= tokens:
        yield start, end
        return
    at = first = start
    for word in _WORD.finditer(text, start, end):
        if first < at and measure_text(text[first : word.end()]) > tokens:
            yield first, first + len(text[first:at].rstrip())
            first = at
        at = word.end()
        while _is_too_long(text, first, word.end(1), tokens):
            middle = first + cut_length(text[first : first + tokens * BYTES_PER_UNIT], tokens)
            yield first, middle
            first = middle
    if text[first:end].strip():
        yield first, end


def _is_too_long(text: str, start: int, end: int, tokens: int) -> bool:
    """Whether a word does not fit; of a long one nothing is copied."""
    is_long = end - start >= tokens * BYTES_PER_UNIT
    return is_long or measure_text(text[start:end]) > tokens


def cut_length(text: str, tokens: int) -> int:
    """How many letters of a text fit, at least one; a letter and its marks stay together."""
    length = max(1, (tokens - 1) * BYTES_PER_UNIT)
    if not text[:length].isascii():
        encoded = text[:length].encode("utf-8", "surrogatepass")[: max(4, length)]
        length = max(1, len(encoded.decode("utf-8", "ignore")))
    return length
