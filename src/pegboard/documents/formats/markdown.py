"""Markdown: the text stays as it is, and its blocks are found line by line."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

from pegboard.core.knowledge import BlockKind, ConvertedDocument, TextBlock
from pegboard.documents.formats.encodings import decode_text
from pegboard.documents.formats.markdown_text import MarkdownText
from pegboard.documents.formats.media_types import MARKDOWN
from pegboard.documents.formats.refusal import refuse_file

_FRONT = re.compile(r"\A---[ \t]*\n(.{0,20000}?)\n(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_HEADING = re.compile(r" {0,3}(#{1,6})(?:[ \t]|$)")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+\S")
_RULE = re.compile(r" {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}$")
_TABLE_RULE = re.compile(r" {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


def read_markdown(file: Path) -> ConvertedDocument:
    """The document of a Markdown file.

    Raises:
        DocumentUnreadable: It is no text, or has none.
    """
    text = decode_text(file.read_bytes())
    front = _FRONT.match(text)
    said = _read_front(front.group(1)) if front else {}
    body = text[front.end() :] if front else text
    body = body.strip("\n")
    if not body.strip():
        raise refuse_file("empty", "It has no text.")
    made = MarkdownText()
    blocks = list(find_blocks(body))
    made.add_source(body, blocks)
    made.tables = sum(block.kind == "table" for block in blocks)
    title = str(said.get("title") or "")
    for block in blocks:
        if not title and block.kind == "heading" and block.level == 1:
            title = _heading_text(body[block.start : block.end])
    date = _DATE.match(str(said.get("date") or ""))
    return made.finish(
        media_type=MARKDOWN,
        converter="pegboard markdown 1",
        title=title,
        date=date.group() if date else "",
    )


def find_blocks(text: str) -> Iterator[TextBlock]:
    """The blocks of Markdown, in order; offsets count its characters."""
    lines = _lines(text)
    at = 0
    while at < len(lines):
        if not lines[at][0].strip():
            at += 1
            continue
        kind, level, last = _block_at(lines, at)
        end = lines[last][1] + len(lines[last][0].rstrip())
        yield TextBlock(kind, lines[at][1], end, level)
        at = last + 1


def _lines(text: str) -> list[tuple[str, int]]:
    """The lines, each with its offset."""
    found: list[tuple[str, int]] = []
    offset = 0
    for line in text.split("\n"):
        found.append((line, offset))
        offset += len(line) + 1
    return found


def _block_at(lines: list[tuple[str, int]], at: int) -> tuple[BlockKind, int, int]:
    """Kind, level and last line of the block that begins in a line."""
    line = lines[at][0]
    heading = _HEADING.match(line)
    if heading:
        return "heading", len(heading.group(1)), at
    fence = _FENCE.match(line)
    if fence:
        return "code", 0, _end_of_fence(lines, at, fence.group(1))
    following = lines[at + 1][0] if at + 1 < len(lines) else ""
    if "|" in line and "|" in following and _TABLE_RULE.match(following):
        return "table", 0, _end_of_paragraph(lines, at)
    if line.startswith(("    ", "\t")):
        return "code", 0, _end_of_indented(lines, at)
    if _ITEM.match(line) and not _RULE.match(line):
        return "list", 0, _end_of_list(lines, at)
    underline = _UNDERLINE.match(following)
    if underline and not _RULE.match(line):
        return "heading", 1 if "=" in following else 2, at + 1
    return "paragraph", 0, _end_of_paragraph(lines, at)


def _end_of_fence(lines: list[tuple[str, int]], at: int, mark: str) -> int:
    for last in range(at + 1, len(lines)):
        line = lines[last][0].strip()
        if len(line) >= len(mark) and not line.strip(mark[0]):
            return last
    return len(lines) - 1


def _end_of_indented(lines: list[tuple[str, int]], at: int) -> int:
    last = at
    for number in range(at + 1, len(lines)):
        line = lines[number][0]
        if line.strip():
            if not line.startswith(("    ", "\t")):
                break
            last = number
    return last


def _end_of_list(lines: list[tuple[str, int]], at: int) -> int:
    """A list goes on over an empty line if an item or an indented line follows."""
    last = at
    for number in range(at + 1, len(lines)):
        line = lines[number][0]
        if not line.strip():
            continue
        is_after_gap = number > last + 1
        if _HEADING.match(line) or _FENCE.match(line):
            break
        if is_after_gap and not (_ITEM.match(line) or line.startswith(("  ", "\t"))):
            break
        last = number
    return last


def _end_of_paragraph(lines: list[tuple[str, int]], at: int) -> int:
    last = at
    for number in range(at + 1, len(lines)):
        line = lines[number][0]
        if not line.strip() or _HEADING.match(line) or _FENCE.match(line):
            break
        last = number
    return last


def _heading_text(heading: str) -> str:
    return heading.split("\n", maxsplit=1)[0].strip().strip("#").strip()


def _read_front(front: str) -> dict[str, Any]:
    """What the lines at the start say of the document; nothing if they are no mapping."""
    import yaml

    try:
        read = yaml.load(front, Loader=yaml.BaseLoader)  # noqa: S506 - it makes strings alone
    except (yaml.YAMLError, RecursionError):
        return {}
    return cast("dict[str, Any]", read) if isinstance(read, dict) else {}
