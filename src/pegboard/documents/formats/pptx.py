"""Presentations: each slide is a page with its title, text, tables and notes."""

from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Any, cast

from pegboard.core.knowledge import ConvertedDocument
from pegboard.documents.formats.markdown_text import MarkdownText, Run
from pegboard.documents.formats.media_types import PPTX
from pegboard.documents.formats.package_check import check_package, count_parts
from pegboard.documents.formats.refusal import refuse_file

_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_SLIDES = r"ppt/slides/slide\d+\.xml"
_MAX_DEPTH = 20
_TINY = 200  # in hundredths of a point


def read_pptx(file: Path) -> ConvertedDocument:
    """The document of a presentation.

    Raises:
        DocumentUnreadable: It is damaged, unfolds to too much, or has no text.
    """
    import pptx

    check_package(file)
    opened = cast("Any", pptx.Presentation(str(file)))
    made = MarkdownText()
    made.pages_in = count_parts(file, _SLIDES)
    titles: list[str] = []
    for number, slide in enumerate(opened.slides, 1):
        made.start_page(number)
        titles.append(_write_slide(made, slide, (opened.slide_width, opened.slide_height)))
    made.end_page()
    if not made.length:
        raise refuse_file("empty", "It has no text.")
    missing = made.pages_in - len(titles)
    if missing > 0:
        made.add_gap(f"{missing} slides of the file are in no order, and did not come out.")
    said = opened.core_properties
    date = said.modified or said.created
    title = "" if said.title == "PowerPoint Presentation" else said.title
    return made.finish(
        media_type=PPTX,
        converter=f"python-pptx {version('python-pptx')}",
        title=title or next(iter(titles), ""),
        date=date.date().isoformat() if date else "",
    )


def _write_slide(made: MarkdownText, slide: Any, size: tuple[int, int]) -> str:
    """Write a slide, and return its title."""
    hidden = "Its slide is hidden." if slide.element.get("show") == "0" else ""
    title = slide.shapes.title
    text = ""
    if title is not None and title.has_text_frame:
        text = " ".join(title.text_frame.text.split())
        made.add_heading([Run(text, hidden)], 2)
    for shape in _shapes(slide.shapes, 0):
        if title is None or shape.shape_id != title.shape_id:
            _write_shape(made, shape, hidden or _explain_place(shape, size))
    if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
        notes = slide.notes_slide.notes_text_frame.text.strip()
        if notes:
            made.add_paragraph([Run(f"Notes: {notes}", hidden)])
    return text


def _shapes(shapes: Any, depth: int) -> Iterator[Any]:
    for shape in shapes:
        if hasattr(shape, "shapes") and depth < _MAX_DEPTH:
            yield from _shapes(shape.shapes, depth + 1)
        else:
            yield shape


def _write_shape(made: MarkdownText, shape: Any, hidden: str) -> None:
    if getattr(shape, "has_table", False):
        made.add_table(
            [[[Run(cell.text, hidden)] for cell in row.cells] for row in shape.table.rows]
        )
    elif getattr(shape, "has_chart", False):
        _write_chart(made, shape.chart, hidden)
    elif shape.has_text_frame:
        is_list = len(shape.text_frame.paragraphs) > 1
        for paragraph in shape.text_frame.paragraphs:
            runs = list(_runs(paragraph, hidden))
            if is_list:
                made.add_item(runs, depth=paragraph.level or 0)
            else:
                made.add_paragraph(runs)
    elif hasattr(shape, "image"):
        made.pictures += 1


def _runs(paragraph: Any, hidden: str) -> Iterator[Run]:
    for element in paragraph._p:  # noqa: SLF001 - `runs` leaves fields and breaks out
        if element.tag == f"{_A}br":
            yield Run("\n", hidden)
        text = element.find(f"{_A}t")
        if text is None or not text.text:
            continue
        properties = element.find(f"{_A}rPr")
        size = "" if properties is None else str(properties.get("sz") or "")
        is_tiny = size.isdecimal() and int(size) < _TINY
        yield Run(text.text, hidden or ("Its letters are too small to see." if is_tiny else ""))


def _write_chart(made: MarkdownText, chart: Any, hidden: str) -> None:
    """A chart as the table of its numbers."""
    try:
        names = [str(name) for name in chart.plots[0].categories]
        rows: list[list[list[Run]]] = [[[Run("")], *([Run(name, hidden)] for name in names)]]
        for series in chart.plots[0].series:
            values = ["" if value is None else f"{value:g}" for value in series.values]
            rows.append(
                [[Run(str(series.name), hidden)], *([Run(value, hidden)] for value in values)]
            )
    except (KeyError, ValueError, IndexError, AttributeError):
        made.add_gap("A chart could not be read.", page=made.page)
        return
    made.add_table(rows)


def _explain_place(shape: Any, size: tuple[int, int]) -> str:
    """Why a shape is not seen: it lies beside the slide; empty if it is."""
    if None in (shape.left, shape.top, shape.width, shape.height):
        return ""
    is_inside = (
        shape.left < size[0]
        and shape.top < size[1]
        and shape.left + shape.width > 0
        and shape.top + shape.height > 0
    )
    return "" if is_inside else "It lies outside of the slide."
