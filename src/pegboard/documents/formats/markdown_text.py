"""The text of a document while it is read: Markdown with pages, blocks and what is hidden."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import cast

from msgspec.structs import replace

from pegboard.core.knowledge import (
    BlockKind,
    ConvertedDocument,
    DocumentFinding,
    Gap,
    PageSpan,
    Receipt,
    TextBlock,
)
from pegboard.documents.formats.refusal import refuse_file

MAX_CHARACTERS = 30_000_000
"""Of the text of one document."""
_MAX_FINDINGS = 1000
_NEAR = 6
"""So few characters between two hidden stretches are marks of Markdown."""
_FENCE = re.compile(r"^(`{3,})", re.MULTILINE)
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")


@dataclass(frozen=True, slots=True)
class Run:
    """A stretch of text.

    Attributes:
        hidden: Why a reader does not see it; empty when they do.
    """

    text: str
    hidden: str = ""


Cell = Sequence[Run]


class MarkdownText:
    """Puts the text of a document together, block by block, and knows where everything stands."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._pages: list[PageSpan] = []
        self._page: tuple[int, str, int] | None = None
        self._blocks: list[TextBlock] = []
        self._findings: list[DocumentFinding] = []
        self._joiner = ""
        self.tables = 0
        self.pictures = 0
        self.edges = 0
        self.notes = 0
        self.comments = 0
        self.pages_in = 0
        self.gaps: list[Gap] = []

    @property
    def length(self) -> int:
        """How many characters there are."""
        return self._length

    @property
    def page(self) -> int:
        """The number of the page that is open; 0 for none."""
        return self._page[0] if self._page else 0

    def text_since(self, start: int) -> str:
        """The text from an offset on."""
        parts: list[str] = []
        left = self._length - start
        for part in reversed(self._parts):
            if left <= 0:
                break
            parts.append(part[-left:])
            left -= len(part)
        return "".join(reversed(parts))

    def start_page(self, number: int, label: str = "") -> None:
        """Begin a page; the one before ends here."""
        self.end_page()
        if self._length:
            self._write("\n\n")
        self._joiner = ""
        self._page = (number, label, self._length)

    def end_page(self) -> None:
        """End the page that is open, if one is."""
        if self._page is not None:
            number, label, start = self._page
            self._pages.append(PageSpan(number, start, self._length, label))
            self._page = None

    def add_heading(self, content: str | Cell, level: int) -> None:
        """Add a heading, of level 1 to 6."""
        level = min(max(level, 1), 6)
        runs = _one_line(content)
        if _is_blank(runs):
            return
        self._add("heading", [Run("#" * level + " "), *runs], level=level)

    def add_paragraph(self, content: str | Cell) -> None:
        """Add a paragraph."""
        runs = _clean(content)
        if not _is_blank(runs):
            self._add("paragraph", runs)

    def add_item(self, content: str | Cell, *, depth: int = 0, number: int = 0) -> None:
        """Add an item of a list.

        Args:
            content: Its text.
            depth: Of its list in others, from 0.
            number: Its number; 0 for a bullet.
        """
        runs = _one_line(content)
        if _is_blank(runs):
            return
        mark = f"{number}. " if number else "- "
        self._add("list", [Run("  " * min(depth, 6) + mark), *runs])

    def add_table(self, rows: Sequence[Sequence[str | Cell]]) -> None:
        """Add a table, the first row as its head; rows and columns without text are left out."""
        if all(isinstance(cell, str) for row in rows for cell in row):
            self._add_plain_table(cast("Sequence[Sequence[str]]", rows))
            return
        grid = [[_one_line(cell) for cell in row] for row in rows]
        grid = [row for row in grid if not all(_is_blank(cell) for cell in row)]
        if not grid:
            return
        width = max(len(row) for row in grid)
        for row in grid:
            row.extend([] for _ in range(width - len(row)))
        kept = [at for at in range(width) if not all(_is_blank(row[at]) for row in grid)]
        runs: list[Run] = []
        for number, row in enumerate(grid):
            for at in kept:
                runs.append(Run("| "))
                runs.extend(Run(run.text.replace("|", "\\|"), run.hidden) for run in row[at])
                runs.append(Run(" "))
            runs.append(Run("|\n"))
            if number == 0:
                runs.append(Run("| --- " * len(kept) + "|\n"))
        runs[-1] = Run("|" if len(grid) > 1 else "| --- " * len(kept) + "|")
        self.tables += 1
        self._add("table", runs)

    def _add_plain_table(self, rows: Sequence[Sequence[str]]) -> None:
        """The same for cells without hidden text: in less memory, because there may be millions."""
        width = max((len(row) for row in rows), default=0)
        kept = sorted({at for row in rows for at, cell in enumerate(row) if cell.strip()})
        if not kept:
            return
        lines: list[str] = []
        for row in rows:
            if any(cell.strip() for cell in row):
                cells = [*row, *[""] * (width - len(row))]
                lines.append("".join(f"| {_flatten(cells[at])} " for at in kept) + "|")
                if len(lines) == 1:
                    lines.append("| --- " * len(kept) + "|")
        self.tables += 1
        self._add("table", [Run("\n".join(lines))])

    def add_code(self, code: str, language: str = "") -> None:
        """Add a stretch of code, its lines as they are."""
        code = _UNPRINTABLE.sub("", code.replace("\r\n", "\n")).strip("\n")
        if not code.strip():
            return
        longest = max((len(mark) for mark in _FENCE.findall(code)), default=2)
        fence = "`" * max(3, longest + 1)
        self._add("code", [Run(f"{fence}{language}\n{code}\n{fence}")])

    def add_picture(self, text: str) -> None:
        """Add what is written in a picture, or what it shows."""
        runs = _clean(text)
        if not _is_blank(runs):
            self._add("picture", runs)

    def add_source(self, text: str, blocks: Iterable[TextBlock]) -> None:
        """Add text that is Markdown already; the blocks count from its beginning."""
        start = self._length
        self._write(text)
        self._blocks += [
            TextBlock(block.kind, block.start + start, block.end + start, block.level)
            for block in blocks
        ]
        self._joiner = "\n\n"

    def add_gap(self, reason: str, *, page: int = 0) -> None:
        """Record that something did not come out."""
        self.gaps.append(Gap(page, reason))

    def hide(self, start: int, end: int, reason: str) -> None:
        """Record that a reader does not see a stretch of the text.

        When there are too many of them, the last one reaches over all that follow.
        """
        last = self._findings[-1] if self._findings else None
        page = self.page
        is_full = len(self._findings) >= _MAX_FINDINGS
        if last and (
            is_full or ((last.reason, last.page) == (reason, page) and start - last.end <= _NEAR)
        ):
            self._findings[-1] = replace(last, end=max(last.end, end))
        else:
            self._findings.append(
                DocumentFinding(kind="hidden", start=start, end=end, page=page, reason=reason)
            )

    def finish(
        self, *, media_type: str, converter: str, title: str = "", date: str = ""
    ) -> ConvertedDocument:
        """The document; nothing can be added after this."""
        self.end_page()
        text = "".join(self._parts)
        return ConvertedDocument(
            text=text,
            media_type=media_type,
            title=" ".join(_UNPRINTABLE.sub(" ", title).split())[:300],
            date=date,
            pages=tuple(self._pages),
            blocks=tuple(self._blocks),
            findings=tuple(self._findings),
            receipt=Receipt(
                pages_in=self.pages_in,
                pages_out=len({page.number for page in self._pages}),
                tables=self.tables,
                pictures=self.pictures,
                characters=len(text),
                gaps=tuple(self.gaps),
                edges=self.edges,
                notes=self.notes,
                comments=self.comments,
            ),
            converter=converter,
        )

    def _add(self, kind: BlockKind, runs: Iterable[Run], *, level: int = 0) -> None:
        is_item = kind == "list" and bool(self._blocks) and self._blocks[-1].kind == "list"
        if self._joiner:
            self._write("\n" if is_item else self._joiner)
        start = self._length
        for run in runs:
            if run.hidden and run.text.strip():
                self.hide(self._length, self._length + len(run.text), run.hidden)
            self._write(run.text)
        if is_item and self._joiner:
            before = self._blocks.pop()
            start = before.start
        self._blocks.append(TextBlock(kind, start, self._length, level))
        self._joiner = "\n\n"

    def _write(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)
        if self._length > MAX_CHARACTERS:
            raise refuse_file(
                "too_large", f"It has more than {MAX_CHARACTERS:,} characters of text."
            )


def _flatten(cell: str) -> str:
    return " ".join(_UNPRINTABLE.sub("", cell).split()).replace("|", "\\|")


def _clean(content: str | Cell) -> list[Run]:
    """Text without control characters, spaces at its ends, and empty lines."""
    runs = [Run(content)] if isinstance(content, str) else list(content)
    cleaned = [
        Run(_UNPRINTABLE.sub("", run.text.replace("\r\n", "\n")), run.hidden) for run in runs
    ]
    cleaned = [run for run in cleaned if run.text]
    if cleaned:
        cleaned[0] = Run(cleaned[0].text.lstrip(), cleaned[0].hidden)
        cleaned[-1] = Run(cleaned[-1].text.rstrip(), cleaned[-1].hidden)
    return cleaned


def _one_line(content: str | Cell) -> list[Run]:
    """The same in one line."""
    runs = [Run(re.sub(r"\s+", " ", run.text), run.hidden) for run in _clean(content)]
    return [run for run in runs if run.text]


def _is_blank(runs: Cell) -> bool:
    return not any(run.text.strip() for run in runs)
