"""Web pages: headings, paragraphs, lists, tables, code, links and pictures of their main part."""

import re
from collections.abc import Iterator
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, cast

from pegboard.core.knowledge import ConvertedDocument
from pegboard.documents.formats.encodings import decode_text
from pegboard.documents.formats.hidden_html import HiddenElements
from pegboard.documents.formats.markdown_text import MarkdownText, Run
from pegboard.documents.formats.media_types import HTML
from pegboard.documents.formats.refusal import refuse_file

_CHARSET = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?([\w-]{1,40})""", re.IGNORECASE)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_DROPPED = (
    "script", "style", "noscript", "template", "svg", "iframe", "object", "canvas", "button",
    "input", "select", "textarea", "nav", "dialog", "title", "meta", "link",
)  # fmt: skip
_BLOCKS = frozenset((
    "address", "article", "aside", "blockquote", "body", "dd", "details", "div", "dl", "dt",
    "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6",
    "header", "hr", "html", "li", "main", "ol", "p", "pre", "section", "summary", "table", "ul",
    "tbody", "thead", "tfoot", "tr", "td", "th", "caption",
))  # fmt: skip
_DATES = ("date", "dcterms.date", "dc.date", "article:published_time", "last-modified")
_LEAST_MAIN_TEXT = 200
_MAX_DEPTH = 150


def read_html(file: Path) -> ConvertedDocument:
    """The document of a web page; scripts, styles, menus and forms are left out.

    Raises:
        DocumentUnreadable: It has no text.
    """
    from bs4 import BeautifulSoup

    data = file.read_bytes()
    charset = _CHARSET.search(data[:4096])
    declared = charset.group(1).decode("ascii") if charset else ""
    page = cast("Any", BeautifulSoup(decode_text(data, declared=declared), _parser()))
    title = page.title.get_text(" ", strip=True) if page.title else ""
    date = _find_date(page)
    hidden = HiddenElements("\n".join(style.get_text() for style in page("style")))
    for element in page(_DROPPED):
        element.decompose()
    made = MarkdownText()
    _Writer(made, hidden).write(_main(page))
    if not made.length:
        raise refuse_file("empty", "It has no text.")
    return made.finish(
        media_type=HTML, converter=f"beautifulsoup4 {_version()}", title=title, date=date
    )


def _parser() -> str:
    """The one that closes what pages leave open, where it is installed."""
    return "lxml" if find_spec("lxml") else "html.parser"


def _version() -> str:
    return version("beautifulsoup4")


def _find_date(page: Any) -> str:
    for tag in page("meta"):
        named = str(tag.get("name") or tag.get("property") or tag.get("http-equiv") or "")
        found = _DATE.match(str(tag.get("content") or ""))
        if named.lower() in _DATES and found:
            return found.group()
    return ""


def _main(page: Any) -> Any:
    """The part that is the page's own, where the page says which it is."""
    for name in ("main", "article"):
        found = page.find_all(name)
        if len(found) == 1 and len(found[0].get_text(strip=True)) >= _LEAST_MAIN_TEXT:
            return found[0]
    return page.body or page


class _Writer:
    """Writes the elements of a page as blocks."""

    def __init__(self, made: MarkdownText, hidden: HiddenElements) -> None:
        self._made = made
        self._hidden = hidden
        self._runs: list[Run] = []

    def write(self, element: Any) -> None:
        """Write all of an element."""
        self._write_inside(element, "", 0, 0)
        self._flush()

    def _flush(self) -> None:
        runs, self._runs = self._runs, []
        self._made.add_paragraph(list(_squeeze(runs)))

    def _write_inside(self, element: Any, hidden: str, depth: int, lists: int) -> None:
        for child in element.children:
            if not getattr(child, "name", None):
                if _is_text(child):
                    self._runs.append(Run(str(child), hidden))
            elif depth > _MAX_DEPTH:
                self._runs.append(Run(child.get_text(" ", strip=True), hidden))
            elif child.name in _BLOCKS:
                self._flush()
                self._write_block(
                    child, hidden or self._hidden.find_reason(child), depth + 1, lists
                )
                self._flush()
            else:
                self._write_inline(
                    child, hidden or self._hidden.find_reason(child), depth + 1, lists
                )

    def _write_block(self, element: Any, hidden: str, depth: int, lists: int) -> None:
        name = element.name
        if name in ("h1", "h2", "h3", "h4", "h5", "h6"):
            self._made.add_heading(self._inline_of(element, hidden, depth), int(name[1]))
        elif name == "pre":
            self._made.add_code(element.get_text(), _language(element))
        elif name == "table":
            self._write_table(element, hidden, depth, lists)
        elif name in ("ul", "ol"):
            self._write_list(element, hidden, depth, lists)
        else:
            self._write_inside(element, hidden, depth, lists)

    def _write_inline(self, element: Any, hidden: str, depth: int, lists: int) -> None:
        if element.name == "br":
            self._runs.append(Run("\n", hidden))
        elif element.name == "img":
            self._made.pictures += 1
            source = _address(element, "src")
            if source or element.get("alt"):
                self._runs.append(
                    Run(f"![{_label(str(element.get('alt') or ''))}]({source})", hidden)
                )
        elif element.name == "a" and _address(element, "href"):
            self._runs.append(Run("[", hidden))
            self._write_inside(element, hidden, depth, lists)
            self._runs.append(Run(f"]({_address(element, 'href')})", hidden))
        elif element.name == "code":
            self._runs.append(Run(f"`{element.get_text()}`", hidden))
        else:
            self._write_inside(element, hidden, depth, lists)

    def _write_list(self, element: Any, hidden: str, depth: int, lists: int) -> None:
        number = 0
        for child in element.children:
            if getattr(child, "name", None) != "li":
                continue
            number += 1
            reason = hidden or self._hidden.find_reason(child)
            nested = list(_nested_lists(child))
            for item in nested:
                item.extract()
            blocks = child.find(("table", "pre"))
            if blocks is not None:
                self._write_inside(child, reason, depth, lists)
                self._flush()
            else:
                self._made.add_item(
                    self._inline_of(child, reason, depth),
                    depth=lists,
                    number=number if element.name == "ol" else 0,
                )
            for item in nested:
                if depth > _MAX_DEPTH:
                    self._made.add_item([Run(item.get_text(" ", strip=True), reason)], depth=lists)
                else:
                    self._write_list(
                        item, reason or self._hidden.find_reason(item), depth + 1, lists + 1
                    )

    def _write_table(self, element: Any, hidden: str, depth: int, lists: int) -> None:
        """A table of data; one of a page's layout, with blocks in its cells, is written as text."""
        if element.find(("table", "h1", "h2", "h3", "pre")) or depth > _MAX_DEPTH:
            self._write_inside(element, hidden, depth, lists)
            return
        caption = element.find("caption")
        if caption is not None:
            self._made.add_paragraph(self._inline_of(caption, hidden, depth))
        rows: list[list[list[Run]]] = []
        for row in element.find_all("tr"):
            reason = hidden or self._hidden.find_reason(row)
            cells: list[list[Run]] = []
            for cell in row.find_all(("td", "th")):
                own = reason or self._hidden.find_reason(cell)
                cells.append(self._inline_of(cell, own, depth))
                cells += [[] for _ in range(_span(cell) - 1)]
            rows.append(cells)
        self._made.add_table(rows)

    def _inline_of(self, element: Any, hidden: str, depth: int) -> list[Run]:
        """The text of an element in one line, blocks in it parted by spaces."""
        kept, self._runs = self._runs, []
        self._gather(element, hidden, depth)
        runs, self._runs = self._runs, kept
        return list(_squeeze(runs))

    def _gather(self, element: Any, hidden: str, depth: int) -> None:
        for child in element.children:
            if not getattr(child, "name", None):
                if _is_text(child):
                    self._runs.append(Run(str(child), hidden))
                continue
            reason = hidden or self._hidden.find_reason(child)
            if depth > _MAX_DEPTH:
                self._runs.append(Run(child.get_text(" ", strip=True), reason))
            elif child.name in _BLOCKS:
                self._runs.append(Run(" "))
                self._gather(child, reason, depth + 1)
                self._runs.append(Run(" "))
            else:
                self._write_inline(child, reason, depth + 1, 0)


def _squeeze(runs: list[Run]) -> Iterator[Run]:
    """The same with one space for many; line breaks of the page itself stay."""
    after_space = True
    for run in runs:
        if run.text == "\n":
            yield run
            after_space = True
            continue
        text = re.sub(r"\s+", " ", run.text)
        if after_space:
            text = text.lstrip(" ")
        if text:
            after_space = text.endswith(" ")
            yield Run(text, run.hidden)


def _nested_lists(item: Any) -> Iterator[Any]:
    """The lists in an item, without those in them."""
    waiting = list(reversed(list(item.children)))
    while waiting:
        child = waiting.pop()
        if getattr(child, "name", None) in ("ul", "ol"):
            yield child
        elif getattr(child, "name", None):
            waiting += reversed(list(child.children))


def _is_text(node: Any) -> bool:
    """Whether it is text that a page shows: comments and declarations are not."""
    return type(node).__name__ == "NavigableString"


def _address(element: Any, attribute: str) -> str:
    """Where it leads; empty for scripts and data inside the page."""
    address = re.sub(r"\s", "", str(element.get(attribute) or ""))[:2000]
    scheme = re.match(r"[a-zA-Z][a-zA-Z0-9+.-]*:", address)
    if address.startswith("#") or (
        scheme and scheme.group().lower() not in ("http:", "https:", "mailto:")
    ):
        return ""
    return address.replace(")", "%29").replace("(", "%28")


def _label(text: str) -> str:
    return " ".join(text.split()).replace("]", ")").replace("[", "(")[:500]


def _language(element: Any) -> str:
    code = element.find("code") or element
    for name in code.get("class") or ():
        found = re.match(r"(?:language|lang|highlight)-([\w+#-]{1,30})$", str(name))
        if found:
            return found.group(1)
    return ""


def _span(cell: Any) -> int:
    width = str(cell.get("colspan") or "1")
    return min(max(int(width), 1), 50) if width.isdecimal() and len(width) < 4 else 1
