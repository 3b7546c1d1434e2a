"""Tables of a PDF: those with ruled lines by pdfplumber, others by words that stand in columns."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, cast

from pegboard.documents.formats.markdown_text import MarkdownText
from pegboard.documents.formats.pdf_lines import PdfLine, PdfWord

_SLACK = 2.0
_MIN_LINES = 3
_MAX_COLUMNS = 30


@dataclass(slots=True, eq=False)
class PdfTable:
    """A table and where it stands: points from the lower left corner of the page."""

    rows: list[list[str]]
    left: float
    bottom: float
    right: float
    top: float

    def holds(self, line: PdfLine) -> bool:
        """Whether a line stands in it."""
        middle = (line.top + line.bottom) / 2
        center = (line.left + line.right) / 2
        return (
            self.bottom - _SLACK <= middle <= self.top + _SLACK
            and self.left - _SLACK <= center <= self.right + _SLACK
        )


class PdfTables:
    """Finds the ruled tables of pages, as long as its time lasts; then each page is a gap.

    Args:
        file: A PDF that pypdfium2 opens.
        seconds: For all pages together.
    """

    def __init__(self, file: Path, *, seconds: float) -> None:
        self._file = file
        self._ends = time.monotonic() + seconds
        self._opened: Any = None
        self._failed = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._opened is not None:
            self._opened.close()

    def find(self, index: int, page: Any, made: MarkdownText) -> list[PdfTable]:
        """The tables of a page of pypdfium2 that has lines."""
        if time.monotonic() > self._ends:
            made.add_gap("Its tables were not looked for: the file takes too long.", page=index + 1)
            return []
        try:
            return self._find(index, page)
        except Exception:  # noqa: BLE001 - any error that a damaged page causes in the library
            made.add_gap("Its tables could not be read.", page=index + 1)
            return []

    def _find(self, index: int, page: Any) -> list[PdfTable]:
        if self._opened is None:
            import pdfplumber

            self._opened = cast("Any", pdfplumber.open(self._file))
        other = self._opened.pages[index]
        try:
            found = [_table(item, other) for item in other.find_tables()]
        finally:
            other.close()
        if page.get_rotation():
            for table in found:  # its places are those of the turned page
                table.left = table.right = table.top = table.bottom = -1e9
        return [table for table in found if _is_table(table.rows)]


def _table(item: Any, page: Any) -> PdfTable:
    left, top, right, bottom = item.bbox
    base = page.mediabox[1] if page.mediabox else 0
    height = page.mediabox[3] - base if page.mediabox else page.height
    rows = [[(cell or "").strip() for cell in row] for row in item.extract()]
    return PdfTable(rows, left, base + height - bottom, right, base + height - top)


def _is_table(rows: Sequence[Sequence[str]]) -> bool:
    """Whether it has two rows and columns of text: frames around a paragraph are no table."""
    filled = [row for row in rows if any(row)]
    return len(filled) > 1 and sum(any(column) for column in zip(*filled, strict=False)) > 1


@dataclass(slots=True)
class ColumnTable:
    """A table without lines, and how many lines of the page it takes."""

    rows: list[list[str]]
    lines: int


def find_columns(lines: Sequence[PdfLine], at: int) -> ColumnTable | None:
    """A table that begins in a line: rows whose words stand in the same columns, wide apart."""
    first = _cells(lines[at])
    if not 2 <= len(first) <= _MAX_COLUMNS:
        return None
    rows = [first]
    for line in lines[at + 1 :]:
        cells = _cells(line)
        if len(cells) != len(first) or not _fits(rows[-1], cells, line):
            break
        rows.append(cells)
    if len(rows) < _MIN_LINES:
        return None
    texts = [[" ".join(word.text for word in cell) for cell in row] for row in rows]
    longest = max(len(cell) for row in texts for cell in row)
    return ColumnTable(texts, len(rows)) if longest <= 80 else None


def _cells(line: PdfLine) -> list[list[PdfWord]]:
    """The words of a line, parted where the gap is wider than the letters are high."""
    cells: list[list[PdfWord]] = []
    for word in line.words:
        if cells and 0 <= word.left - cells[-1][-1].right < word.height:
            cells[-1].append(word)
        else:
            cells.append([word])
    return cells


def _fits(above: list[list[PdfWord]], row: list[list[PdfWord]], line: PdfLine) -> bool:
    """Whether each cell stands below the one above it, and the row is the next one."""
    distance = above[0][0].bottom - line.bottom
    if not 0 < distance < 4 * max(line.height, 1.0):
        return False
    for upper, lower in zip(above, row, strict=True):
        left = abs(upper[0].left - lower[0].left)
        right = abs(upper[-1].right - lower[-1].right)
        middle = abs(upper[0].left + upper[-1].right - lower[0].left - lower[-1].right) / 2
        if min(left, right, middle) > line.height * 0.6:
            return False
    return True
