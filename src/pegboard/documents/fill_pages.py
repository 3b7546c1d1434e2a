"""Puts the text of pages that were read elsewhere into a document."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence

from msgspec.structs import replace

from pegboard.core.knowledge import (
    ConvertedDocument,
    DocumentFinding,
    PageSpan,
    TextBlock,
)


def find_empty_pages(document: ConvertedDocument) -> list[int]:
    """The numbers of the pages that have no text, and are gaps."""
    gaps = {gap.page for gap in document.receipt.gaps}
    return [
        page.number for page in document.pages if page.start == page.end and page.number in gaps
    ]


def fill_pages(document: ConvertedDocument, texts: Mapping[int, str]) -> ConvertedDocument:
    """A document with text for some of its empty pages, by their number; they are no gaps then."""
    parts: list[str] = []
    length = 0
    pages: list[PageSpan] = []
    added: list[TextBlock] = []
    shifts: list[int] = []
    for page in document.pages:
        own = texts.get(page.number, "").strip() or document.text[page.start : page.end]
        if parts and length:
            parts.append("\n\n")
            length += 2
        shifts.append(length - page.start)
        pages.append(PageSpan(page.number, length, length + len(own), page.label))
        if page.start == page.end and own:
            added.append(TextBlock("picture", length, length + len(own)))
        parts.append(own)
        length += len(own)
    blocks = [*_shift_blocks(document, shifts), *added]
    text = "".join(parts)
    gaps = tuple(gap for gap in document.receipt.gaps if not texts.get(gap.page, "").strip())
    return replace(
        document,
        text=text,
        pages=tuple(pages),
        blocks=tuple(sorted(blocks, key=lambda block: block.start)),
        findings=tuple(_shift_findings(document, shifts)),
        receipt=replace(document.receipt, characters=len(text), gaps=gaps),
    )


def _shift_blocks(document: ConvertedDocument, shifts: Sequence[int]) -> list[TextBlock]:
    starts = [page.start for page in document.pages]
    moved: list[TextBlock] = []
    for block in document.blocks:
        by = shifts[bisect_right(starts, block.start) - 1]
        moved.append(TextBlock(block.kind, block.start + by, block.end + by, block.level))
    return moved


def _shift_findings(document: ConvertedDocument, shifts: Sequence[int]) -> list[DocumentFinding]:
    starts = [page.start for page in document.pages]
    moved: list[DocumentFinding] = []
    for finding in document.findings:
        by = shifts[bisect_right(starts, finding.start) - 1]
        moved.append(replace(finding, start=finding.start + by, end=finding.end + by))
    return moved
