"""PDF: pages, paragraphs, headings by the size of letters, lists, and tables where they stand."""

import re
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, cast

from pegboard.core.knowledge import ConvertedDocument
from pegboard.documents.formats.markdown_text import MarkdownText, Run
from pegboard.documents.formats.media_types import PDF
from pegboard.documents.formats.pdf_lines import PdfLine, PdfPageText
from pegboard.documents.formats.pdf_tables import PdfTable, PdfTables, find_columns
from pegboard.documents.formats.refusal import refuse_file

MAX_PAGES = 20_000
_TABLE_SECONDS = 60.0
_WRONG_PASSWORD = 4  # FPDF_ERR_PASSWORD
_LARGER = 1.12
_MAX_HEADING = 200
_BULLET = re.compile(r"[•‣◦▪●○■·\u2013\uf0b7\uf0a7]$")
_NUMBER = re.compile(r"(\d{1,3})[.)]$")
_DATE = re.compile(r"D:(\d{4})(\d{2})(\d{2})")
_WORD = re.compile(r"\w{2,}")
_LOST_SHARE = 0.02


@dataclass(slots=True)
class _Page:
    number: int
    label: str
    lines: list[PdfLine]
    tables: list[PdfTable] = field(default_factory=list[PdfTable])
    pictures: int = 0
    words: Counter[str] = field(default_factory=Counter[str])


def read_pdf(file: Path) -> ConvertedDocument:
    """The document of a PDF.

    Raises:
        DocumentUnreadable: It is encrypted, damaged, has no pages or too many.
    """
    opened = open_pdf(file)
    try:
        said = cast("dict[str, str]", opened.get_metadata_dict())
        made = MarkdownText()
        made.pages_in = len(opened)
        _check_pages(made.pages_in)
        with PdfTables(file, seconds=_TABLE_SECONDS) as tables:
            pages = [_read_page(opened, index, tables, made) for index in range(made.pages_in)]
        _write_pages(made, [page for page in pages if page is not None])
    finally:
        opened.close()
    date = _DATE.match(said.get("ModDate") or said.get("CreationDate") or "")
    title = said.get("Title") or ""
    return made.finish(
        media_type=PDF,
        converter=_version(),
        title="" if title.lower() in ("untitled", "(anonymous)", "anonymous") else title,
        date="-".join(date.groups()) if date else "",
    )


def open_pdf(file: Path) -> Any:
    """An open document of pypdfium2.

    Raises:
        DocumentUnreadable: It is encrypted or damaged.
    """
    import pypdfium2

    try:
        return pypdfium2.PdfDocument(file)
    except pypdfium2.PdfiumError as error:
        if getattr(error, "err_code", None) == _WRONG_PASSWORD:
            raise refuse_file(
                "encrypted", "It is encrypted; save it without a password."
            ) from error
        raise refuse_file("broken", "It is cut short or damaged.") from error


def _check_pages(count: int) -> None:
    if count == 0:
        raise refuse_file("empty", "It has no pages.")
    if count > MAX_PAGES:
        raise refuse_file("too_large", f"It has {count:,} pages; at most {MAX_PAGES:,} are read.")


def _version() -> str:
    from importlib.metadata import version

    return f"pypdfium2 {version('pypdfium2')}, pdfplumber {version('pdfplumber')}"


def _read_page(opened: Any, index: int, tables: PdfTables, made: MarkdownText) -> _Page | None:
    """The lines and tables of a page; None, with a gap, when it cannot be opened."""
    import pypdfium2
    import pypdfium2.raw as pdfium

    try:
        page = opened[index]
        text_page = page.get_textpage()
    except pypdfium2.PdfiumError:
        made.add_gap("This page is damaged.", page=index + 1)
        return None
    try:
        reader = PdfPageText(page, text_page)
        lines = reader.read()
        pictures = paths = 0
        for thing in page.get_objects(max_depth=2):
            pictures += thing.type == pdfium.FPDF_PAGEOBJ_IMAGE
            paths += thing.type == pdfium.FPDF_PAGEOBJ_PATH
        if pictures and reader.hidden_letters > reader.letters * 0.8:
            _show_all(lines)  # the text layer of a scanned page
        label = str(opened.get_page_label(index) or "")
        read = _Page(index + 1, "" if label == str(index + 1) else label, lines)
        read.pictures = pictures
        read.words.update(word for line in lines for word in _WORD.findall(line.text))
        if paths and lines:
            read.tables = tables.find(index, page, made)
        return read
    finally:
        text_page.close()
        page.close()


def _show_all(lines: list[PdfLine]) -> None:
    for line in lines:
        for word in line.words:
            word.hidden = ""


def _write_pages(made: MarkdownText, pages: list[_Page]) -> None:
    layout = _Layout(pages)
    for page in pages:
        made.pictures += page.pictures
        if not page.lines:
            reason = "This page is a picture without text." if page.pictures else ""
            if reason:
                made.add_gap(reason, page=page.number)
        made.start_page(page.number, page.label)
        start = made.length
        _write_page(made, page, layout)
        _check_words(made, page, made.text_since(start))
    made.end_page()


def _check_words(made: MarkdownText, page: _Page, text: str) -> None:
    """Record a gap when words of the page are not in its text."""
    lost = page.words - Counter(_WORD.findall(text))
    count, total = sum(lost.values()), sum(page.words.values())
    if count > max(3, total * _LOST_SHARE):
        made.add_gap(f"{count} of {total} words did not come out.", page=page.number)


class _Layout:
    """Which letters are larger than those of the text, and how far its lines are apart."""

    def __init__(self, pages: list[_Page]) -> None:
        sizes: Counter[float] = Counter()
        bold = 0
        for page in pages:
            for line in page.lines:
                length = len(line.text)
                sizes[line.height] += length
                bold += length if line.bold else 0
        self.body = sizes.most_common(1)[0][0] if sizes else 0.0
        larger = sorted((size for size in sizes if size > self.body * _LARGER), reverse=True)
        self._levels: dict[float, int] = {}
        level, first = 0, 0.0
        for size in larger:
            if size < first * 0.94 or not level:
                level, first = min(level + 1, 5), size
            self._levels[size] = level
        self._bold_level = min(level + 1, 6)
        self._leading = _usual_leading(pages, self.body)
        self._bold_is_rare = bold < sum(sizes.values()) * 0.3

    def goes_on(self, paragraph: list[PdfLine], line: PdfLine) -> bool:
        """Whether a line belongs to the paragraph above it."""
        last = paragraph[-1]
        height = max(last.height, 1.0)
        if abs(line.height - last.height) > 0.08 * height or line.bold != last.bold:
            return False
        if _BULLET.match(line.words[0].text) or _NUMBER.match(line.words[0].text):
            return False
        is_large = last.height in self._levels
        furthest = 1.35 if is_large else self._leading * 1.2 + 0.1
        if not -0.5 < (_middle(last) - _middle(line)) / height < furthest:
            return False
        return not is_large or _is_aligned(last, line)

    def level_of(self, paragraph: list[PdfLine]) -> int:
        """The level of a paragraph that is a heading; 0 for text."""
        text = " ".join(line.text for line in paragraph)
        if len(text) > _MAX_HEADING or not any(letter.isalpha() for letter in text):
            return 0
        level = self._levels.get(paragraph[0].height, 0)
        if level or len(paragraph) > 1 or not self._bold_is_rare:
            return level
        is_title = paragraph[0].bold and text[-1] not in ".,;:!?" and len(text) <= 100
        return self._bold_level if is_title and paragraph[0].height >= self.body * 0.95 else 0


def _write_page(made: MarkdownText, page: _Page, layout: _Layout) -> None:
    waiting = sorted(page.tables, key=lambda table: -table.top)
    paragraph: list[PdfLine] = []
    at = 0
    while at < len(page.lines):
        line = page.lines[at]
        table = next((item for item in page.tables if item.holds(line)), None)
        if table is not None:
            _end_paragraph(made, paragraph, layout)
            paragraph = []
            if table in waiting:
                waiting.remove(table)
                made.add_table(table.rows)
            at += 1
            continue
        columns = find_columns(page.lines, at) if not page.tables else None
        if columns is not None:
            _end_paragraph(made, paragraph, layout)
            paragraph = []
            made.add_table(columns.rows)
            at += columns.lines
            continue
        if paragraph and not layout.goes_on(paragraph, line):
            _end_paragraph(made, paragraph, layout)
            paragraph = []
        paragraph.append(line)
        at += 1
    _end_paragraph(made, paragraph, layout)
    for table in waiting:
        made.add_table(table.rows)


def _usual_leading(pages: list[_Page], body: float) -> float:
    """How far lines of the text are apart, in heights of their letters.

    The line above is a full one, so that the one below goes on with its text; of several distances
    that are often, the smallest, because rows of tables are further apart.
    """
    counts: Counter[float] = Counter()
    for page in pages:
        edge = max((line.right for line in page.lines), default=0.0) * 0.85
        for above, line in pairwise(page.lines):
            if body and above.height == line.height == body and above.right > edge:
                distance = (_middle(above) - _middle(line)) / body
                if 0.6 < distance < 2.2:
                    counts[round(distance * 20) / 20] += 1
    often = max(counts.values(), default=0) * 0.25
    return min((distance for distance, count in counts.items() if count >= often), default=1.1)


def _is_aligned(above: PdfLine, line: PdfLine) -> bool:
    slack = line.height
    center = abs(above.left + above.right - line.left - line.right) / 2
    return abs(above.left - line.left) < slack or center < slack


def _middle(line: PdfLine) -> float:
    return (line.top + line.bottom) / 2


def _end_paragraph(made: MarkdownText, lines: list[PdfLine], layout: _Layout) -> None:
    if not lines:
        return
    runs = _join(lines)
    level = layout.level_of(lines)
    if level:
        made.add_heading(runs, level)
        return
    first = lines[0].words[0].text
    if len(lines[0].words) > 1 and _BULLET.match(first):
        made.add_item(runs[2:])
    elif len(lines[0].words) > 1 and (number := _NUMBER.match(first)):
        made.add_item(runs[2:], number=int(number.group(1)) or 1)
    else:
        made.add_paragraph(runs)


def _join(lines: list[PdfLine]) -> list[Run]:
    """The lines as one; a word that a hyphen parts at the end of a line is whole again."""
    runs: list[Run] = []
    for line in lines:
        own = line.runs
        if runs:
            last = runs[-1]
            is_parted = re.search(r"[^\W\d_]-$", last.text) and own[0].text[:1].islower()
            if is_parted:
                runs[-1] = Run(last.text[:-1], last.hidden)
            else:
                runs.append(Run(" ", last.hidden if last.hidden == own[0].hidden else ""))
        runs += own
    return runs
