"""Word documents: headings, paragraphs, lists, tables, notes, comments, headers and footers.

They are parted where pages break. Headers stand once, before the text; what belongs to no one place
of the text stands behind it.
"""

import re
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any, cast

from pegboard.core.knowledge import ConvertedDocument
from pegboard.documents.formats.markdown_text import MarkdownText, Run
from pegboard.documents.formats.media_types import DOCX
from pegboard.documents.formats.package_check import check_package
from pegboard.documents.formats.refusal import refuse_file

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"
_BREAK = "\f"
_HEADING = re.compile(r"heading ([1-9])$", re.IGNORECASE)
_LEFT_OUT = frozenset((f"{_W}del", f"{_W}moveFrom", f"{_W}instrText", f"{_W}delText"))
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_TEXT_BOX = f"{_W}txbxContent"
_TINY = 4  # in half points
_MAX_DEPTH = 60
_MAX_NAME = 100


def read_docx(file: Path) -> ConvertedDocument:
    """The document of a Word file; page breaks that Word recorded, or the author made, part pages.

    Raises:
        DocumentUnreadable: It is damaged, unfolds to too much, or has no text.
    """
    import docx

    check_package(file)
    opened = cast("Any", docx.Document(str(file)))
    made = MarkdownText()
    writer = _Writer(made, opened)
    writer.write()
    if not made.length:
        raise refuse_file("empty", "It has no text.")
    said = opened.core_properties
    date = said.modified or said.created
    return made.finish(
        media_type=DOCX,
        converter=f"python-docx {version('python-docx')}",
        title=said.title or writer.title,
        date=date.date().isoformat() if date else "",
    )


class _Writer:
    """Writes the parts of a document in their order."""

    def __init__(self, made: MarkdownText, opened: Any) -> None:
        self._made = made
        self._opened = opened
        self._body = opened.element.body
        self._relations = opened.part.rels
        self._styles = {style.style_id: style for style in opened.styles}
        self._default = _default_style(opened)
        self._counters: dict[tuple[str, int], int] = {}
        breaks = sum(1 for _ in self._body.iter(f"{_W}lastRenderedPageBreak")) + sum(
            item.get(f"{_W}type") == "page" for item in self._body.iter(f"{_W}br")
        )
        self._has_pages = breaks > 0
        self._is_fresh = True
        self._read: set[str] = set()
        self.title = ""

    def write(self) -> None:
        """Write all of it."""
        if self._has_pages:
            self._start_page()
        self._write_edges("header")
        self._is_fresh = True
        self._write_blocks(self._body, 0)
        for kind in ("footnotes", "endnotes", "comments"):
            self._write_notes(kind)
        self._write_edges("footer")
        self._made.end_page()
        self._made.pages_in = self._number if self._has_pages else 0
        self._made.pictures += _count_pictures(self._body)

    _number = 0

    def _start_page(self) -> None:
        self._number += 1
        self._made.start_page(self._number)
        self._is_fresh = True

    def _break_page(self) -> None:
        """Begin a page, unless one has just begun: Word records a break of the author twice."""
        if not self._is_fresh:
            self._start_page()

    def _write_blocks(self, parent: Any, depth: int) -> None:
        for child in parent:
            if child.tag == f"{_W}p":
                self._write_paragraph(child)
            elif child.tag == f"{_W}tbl":
                self._write_table(child)
            elif child.tag in (f"{_W}sdt", f"{_W}sdtContent", f"{_W}ins", f"{_W}customXml"):
                if depth > _MAX_DEPTH:
                    raise refuse_file("broken", "Its parts are nested too deeply.")
                self._write_blocks(child, depth + 1)

    def _write_paragraph(self, element: Any) -> None:
        properties = element.find(f"{_W}pPr")
        if properties is not None and _is_on(properties.find(f"{_W}pageBreakBefore")):
            self._break_page()
        style = self._style_of(properties)
        parts = _part_at_breaks(self._runs(element, style))
        for number, runs in enumerate(parts):
            if number:
                self._break_page()
            if any(run.text.strip() for run in runs):
                self._is_fresh = False
                self._write_text(runs, style, properties)
        for box in _outermost(element, _TEXT_BOX):
            self._is_fresh = False
            self._write_blocks(box, 1)

    def _write_text(self, runs: list[Run], style: Any, properties: Any) -> None:
        level = _level_of(style, properties)
        if level:
            text = "".join(run.text for run in runs).strip()
            if level == 1 and not self.title:
                self.title = text
            self._made.add_heading(runs, level)
            return
        numbering = _numbering_of(style, properties)
        if numbering is not None:
            depth, number = self._count(*numbering)
            self._made.add_item(runs, depth=depth, number=number)
        elif style is not None and str(style.name).lower() in ("code", "source code", "macro text"):
            self._made.add_code("".join(run.text for run in runs))
        else:
            self._made.add_paragraph(runs)

    def _style_of(self, properties: Any) -> Any:
        named = None if properties is None else properties.find(f"{_W}pStyle")
        return self._default if named is None else self._styles.get(named.get(f"{_W}val"))

    def _count(self, list_id: str, depth: int) -> tuple[int, int]:
        """The depth of an item, and its number; 0 for a bullet."""
        if self._format_of(list_id, depth) in ("bullet", "none", ""):
            return depth, 0
        for key in [key for key in self._counters if key[0] == list_id and key[1] > depth]:
            del self._counters[key]
        number = self._counters.get((list_id, depth), 0) + 1
        self._counters[list_id, depth] = number
        return depth, number

    def _format_of(self, list_id: str, depth: int) -> str:
        try:
            numbering = self._opened.part.numbering_part.element
        except (KeyError, NotImplementedError):
            return "bullet"
        for item in numbering.findall(f"{_W}num"):
            if item.get(f"{_W}numId") != list_id:
                continue
            abstract = item.find(f"{_W}abstractNumId").get(f"{_W}val")
            for definition in numbering.findall(f"{_W}abstractNum"):
                if definition.get(f"{_W}abstractNumId") != abstract:
                    continue
                for level in definition.findall(f"{_W}lvl"):
                    shape = level.find(f"{_W}numFmt")
                    if level.get(f"{_W}ilvl") == str(depth) and shape is not None:
                        return str(shape.get(f"{_W}val"))
        return "bullet"

    def _runs(self, element: Any, style: Any) -> Iterator[Run]:
        """The stretches of text of a paragraph, as far as they are not deleted."""
        is_hidden_style = bool(style is not None and style.font.hidden)
        links = _Links(self._relations)
        for child in _walk(element):
            if child.tag == f"{_W}r":
                hidden = _explain(child, is_hidden=is_hidden_style)
                for part in child:
                    text = _text_of(part)
                    if text:
                        yield from links.open_for(child)
                        yield Run(text, hidden if text != _BREAK else "")
            elif child.tag == f"{_W}hyperlink":
                yield from links.close()
                links.enter(child)
        yield from links.close()

    def _write_table(self, element: Any) -> None:
        rows: list[list[list[Run]]] = []
        for row in _children(element, "tr"):
            cells: list[list[Run]] = []
            for cell in _children(row, "tc"):
                cells.append(self._cell(cell))
                cells += [[] for _ in range(_width(cell) - 1)]
            rows.append(cells)
        if rows:
            self._is_fresh = False
            self._made.add_table(rows)

    def _cell(self, cell: Any) -> list[Run]:
        runs: list[Run] = []
        merge = cell.find(f"{_W}tcPr/{_W}vMerge")
        if merge is not None and merge.get(f"{_W}val") != "restart":
            return runs
        for paragraph in cell.iter(f"{_W}p"):
            if runs:
                runs.append(Run(" "))
            style = self._style_of(paragraph.find(f"{_W}pPr"))
            runs.extend(
                Run(run.text.replace(_BREAK, " "), run.hidden)
                for run in self._runs(paragraph, style)
            )
        return runs

    def _write_notes(self, kind: str) -> None:
        """Write footnotes, endnotes or comments; a comment begins with its author."""
        for relation in self._opened.part.rels.values():
            if relation.is_external or not relation.reltype.endswith(f"/{kind}"):
                continue
            with self._read_part(relation) as root:
                for note in root:
                    if note.get(f"{_W}type") not in (None, "normal"):
                        continue
                    author = str(note.get(f"{_W}author") or "") if kind == "comments" else ""
                    start = [Run(f"Comment by {author[:_MAX_NAME]}: ")] if author else []
                    for paragraph in note.iter(f"{_W}p"):
                        text = [run for run in self._runs(paragraph, None) if run.text != _BREAK]
                        if any(run.text.strip() for run in text):
                            self._made.add_paragraph([*start, *text])
                            start = []
                    if kind == "comments":
                        self._made.comments += 1
                    else:
                        self._made.notes += 1

    def _write_edges(self, edge: str) -> None:
        """Write the headers or footers that sections use, each text once."""
        seen: set[str] = set()
        for reference in self._body.iter(f"{_W}{edge}Reference"):
            relation = self._opened.part.rels.get(reference.get(_RELATION) or "")
            if relation is None or relation.is_external:
                continue
            with self._read_part(relation) as root:
                text = "".join(root.itertext()).strip()
                if text and text not in seen:
                    self._made.edges += 1
                    title = self.title
                    self._write_blocks(root, 1)
                    self.title = title
                seen.add(text)

    @contextmanager
    def _read_part(self, relation: Any) -> Generator[Any]:
        """The root of another part of the file, whose links are its own."""
        from docx.oxml import parse_xml

        part, before = relation.target_part, self._relations
        self._relations = part.rels
        root = parse_xml(part.blob)
        if part.partname not in self._read:
            self._read.add(part.partname)
            self._made.pictures += _count_pictures(root)
        try:
            yield root
        finally:
            self._relations = before


class _Links:
    """Writes the links of a paragraph around their text."""

    def __init__(self, relations: Any) -> None:
        self._relations = relations
        self._element: Any = None
        self._address = ""
        self._is_open = False

    def enter(self, element: Any) -> None:
        """A link begins; it has no text yet."""
        key = element.get(_RELATION)
        relation = self._relations.get(key) if key else None
        self._element = element
        self._address = relation.target_ref if relation and relation.is_external else ""

    def open_for(self, run: Any) -> Iterator[Run]:
        """What stands before a stretch: the end of a link, or the start of one."""
        inside = self._element is not None and self._element in run.iterancestors()
        if not inside:
            yield from self.close()
        elif self._address and not self._is_open:
            self._is_open = True
            yield Run("[")

    def close(self) -> Iterator[Run]:
        """The end of the link that is open, if one is."""
        if self._is_open:
            yield Run(f"]({self._address.replace(' ', '%20').replace(')', '%29')})")
        self._is_open = False
        self._element = None


def _count_pictures(root: Any) -> int:
    return sum(1 for _ in root.iter(f"{_W}drawing", f"{_W}pict"))


def _walk(element: Any) -> Iterator[Any]:
    """What is inside a paragraph, without what is deleted and without text boxes."""
    waiting = list(reversed(element))
    while waiting:
        child = waiting.pop()
        if child.tag in _LEFT_OUT or child.tag in (_TEXT_BOX, _FALLBACK):
            continue
        yield child
        waiting += reversed(child)


def _outermost(element: Any, tag: str) -> Iterator[Any]:
    waiting = list(reversed(element))
    while waiting:
        child = waiting.pop()
        if child.tag == tag:
            yield child
        elif child.tag != _FALLBACK:
            waiting += reversed(child)


def _children(element: Any, name: str) -> Iterator[Any]:
    """Rows or cells, also those in content controls."""
    for child in element:
        if child.tag == f"{_W}{name}":
            yield child
        elif child.tag in (f"{_W}sdt", f"{_W}sdtContent", f"{_W}ins"):
            yield from _children(child, name)


def _text_of(part: Any) -> str:
    if part.tag == f"{_W}t":
        return part.text or ""
    if part.tag in (f"{_W}tab", f"{_W}ptab"):
        return "\t"
    if part.tag == f"{_W}lastRenderedPageBreak":
        return _BREAK
    if part.tag in (f"{_W}br", f"{_W}cr"):
        return _BREAK if part.get(f"{_W}type") == "page" else "\n"
    return "-" if part.tag == f"{_W}noBreakHyphen" else ""


def _part_at_breaks(runs: Iterator[Run]) -> list[list[Run]]:
    parts: list[list[Run]] = [[]]
    for run in runs:
        if run.text == _BREAK:
            parts.append([])
        else:
            parts[-1].append(run)
    return parts


def _explain(run: Any, *, is_hidden: bool) -> str:
    """Why a reader does not see a stretch; empty if they do."""
    properties = run.find(f"{_W}rPr")
    vanish = None if properties is None else properties.find(f"{_W}vanish")
    if _is_on(vanish) or (is_hidden and vanish is None):
        return "It is formatted as hidden text."
    if properties is None:
        return ""
    size = properties.find(f"{_W}sz")
    points = "" if size is None else str(size.get(f"{_W}val"))
    if points.isdecimal() and int(points) < _TINY:
        return "Its letters are too small to see."
    color, ground = properties.find(f"{_W}color"), properties.find(f"{_W}shd")
    mark = properties.find(f"{_W}highlight")
    is_white = color is not None and str(color.get(f"{_W}val")).upper() == "FFFFFF"
    if is_white and ground is None and mark is None and not _has_ground(run):
        return "Its letters have the colour of the page."
    return ""


def _has_ground(run: Any) -> bool:
    """Whether its paragraph, cell, row or table is shaded, or has a style that may do it."""
    for parent in run.iterancestors(f"{_W}p", f"{_W}tc", f"{_W}tbl", _TEXT_BOX):
        if parent.tag == _TEXT_BOX:
            return True
        for properties in parent:
            if not properties.tag.endswith("Pr"):
                continue
            shade = properties.find(f"{_W}shd")
            filled = shade is not None and str(shade.get(f"{_W}fill")).upper()
            if (filled and filled not in ("AUTO", "FFFFFF")) or (
                properties.find(f"{_W}tblStyle") is not None
            ):
                return True
    return False


def _is_on(switch: Any) -> bool:
    return switch is not None and switch.get(f"{_W}val") not in ("0", "false", "off")


def _level_of(style: Any, properties: Any) -> int:
    """The level of a heading; 0 for text."""
    outline = None if properties is None else properties.find(f"{_W}outlineLvl")
    level = "" if outline is None else str(outline.get(f"{_W}val"))
    if re.fullmatch(r"[0-8]", level):
        return int(level) + 1
    for _ in range(10):
        if style is None:
            return 0
        name = str(style.name or "")
        found = _HEADING.match(name)
        if found:
            return int(found.group(1))
        if name.lower() == "title":
            return 1
        style = style.base_style
    return 0


def _numbering_of(style: Any, properties: Any) -> tuple[str, int] | None:
    """The list and depth of an item; None for no item."""
    found = None if properties is None else properties.find(f"{_W}numPr")
    for _ in range(10):
        if found is not None or style is None:
            break
        found = style.element.find(f"{_W}pPr/{_W}numPr")
        style = style.base_style
    if found is None:
        return None
    number, depth = found.find(f"{_W}numId"), found.find(f"{_W}ilvl")
    list_id = "0" if number is None else str(number.get(f"{_W}val"))
    at = "0" if depth is None else str(depth.get(f"{_W}val"))
    return None if list_id == "0" else (list_id, int(at) if at.isdecimal() else 0)


def _width(cell: Any) -> int:
    span = cell.find(f"{_W}tcPr/{_W}gridSpan")
    value = "1" if span is None else str(span.get(f"{_W}val"))
    return min(max(int(value), 1), 50) if value.isdecimal() and len(value) < 4 else 1


def _default_style(opened: Any) -> Any:
    for style in opened.styles:
        if style.type == 1 and style.element.get(f"{_W}default") == "1":
            return style
    return None
