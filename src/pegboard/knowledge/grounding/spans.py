"""Spans of a piece that can be quoted: sentences, rows of tables and items of lists."""

import re
from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

SpanKind = Literal["sentence", "row", "heading", "code"]

MAX_SPAN = 600
"""Characters of a quote; a longer sentence is cut at a word."""

_LINE = re.compile(r"[^\n]+")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s+\S")
_ROW = re.compile(r"\s*\|.*\|\s*$")
_RULE = re.compile(r"[\s|:=+_*-]*$")
_MARKER = re.compile(
    r"\s*(?:>\s*)*(?:[-*+•·]\s+|\(?\d{1,3}[.)]\s+|\(?[a-zA-Z][.)]\s+)?(?:\[[ xX]\]\s+)?"
)
_LONGEST_ABBREVIATION = 12
_END = re.compile(r"[.!?…]{1,8}[\"'”’»)\]*_]{0,8}(?=\s|$)|[。！？；]+[」』”’）]*")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\"'“„])(?:[A-Za-z]|[A-Z][a-z]?\.[A-Z]|e\.g|i\.e|z\.B|d\.h|u\.a|o\.ä|Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|vs|"
    r"etc|cf|ca|approx|No|Nr|Art|Abs|Fig|Abb|Vol|Inc|Ltd|Co|Corp|bzw|usw|inkl|ggf|vgl|bspw|evtl|Str|"
    r"Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sep|Sept|Okt|Oct|Nov|Dez|Dec|Mio|Mrd|\d{1,2})$"
)
_BLOCK_ENDS = re.compile(r"[.!?…:;。！？：；]\W*$")


class TextSpan(Struct, frozen=True, kw_only=True):
    """A stretch of a text that can be quoted: offsets in characters, `end` excluded.

    Attributes:
        context: What it cannot be understood without: the header of its table, or the sentence
            before it.
    """

    start: int
    end: int
    text: str
    kind: SpanKind = "sentence"
    context: str = ""


def split_spans(text: str) -> list[TextSpan]:
    """The spans of a text, in order, without overlaps; what is blank or a rule is left out."""
    spans: list[TextSpan] = []
    for start, end, kind, header in _split_blocks(text):
        parts = _split_sentences(text, start, end) if kind == "sentence" else [(start, end)]
        for first, last in parts:
            for at, stop in _bound(text, first, last):
                context = header if kind == "row" else _before(spans)
                spans.append(
                    TextSpan(start=at, end=stop, text=text[at:stop], kind=kind, context=context)
                )
    return spans


def _before(spans: list[TextSpan]) -> str:
    return spans[-1].text if spans and spans[-1].kind in {"sentence", "heading"} else ""


def _split_blocks(text: str) -> Iterator[tuple[int, int, SpanKind, str]]:
    """Lines, those of one paragraph joined: start, end, kind, and the header of a row."""
    is_code, header, open_at, open_end = False, "", -1, -1
    for match in _LINE.finditer(text):
        line, start, end = match.group(), match.start(), match.end()
        bare = line.lstrip()
        is_fence = bare.startswith(("```", "~~~"))
        kind = _kind(line, bare, is_code=is_code or is_fence)
        indent = len(line) - len(bare)
        offset = _skip_marker(line, bare) if kind == "sentence" else 0
        joins = (
            open_at >= 0
            and kind == "sentence"
            and offset == indent
            and text.count("\n", open_end, start) == 1
            and _is_wrapped(text[max(open_at, open_end - 80) : open_end], line)
        )
        if joins:
            open_end = end
            continue
        if open_at >= 0:
            yield open_at, open_end, "sentence", ""
            open_at = -1
        if is_fence:
            is_code = not is_code
            continue
        if kind != "row":
            header = ""
        if not bare or (not bare[0].isalnum() and _RULE.match(line)):
            continue
        if kind == "sentence":
            open_at, open_end = start + offset, end
            continue
        yield start, end, kind, header
        if kind == "row" and not header:
            header = line.strip()[:MAX_SPAN]
    if open_at >= 0:
        yield open_at, open_end, "sentence", ""


def _kind(line: str, bare: str, *, is_code: bool) -> SpanKind:
    """What a line is; `bare` is the line without its indent."""
    if is_code:
        return "code"
    if (bare[:1] == "|" and _ROW.match(line)) or line.count("\t") > 1:
        return "row"
    return "heading" if bare[:1] == "#" and _HEADING.match(line) else "sentence"


def _skip_marker(line: str, bare: str) -> int:
    """Where the text of a line begins, behind its indent and the marker of an item."""
    is_word = bare[:1].isalpha() and bare[1:2] not in {".", ")"}
    marker = None if is_word else _MARKER.match(line)
    return marker.end() if marker else len(line) - len(bare)


def _is_wrapped(before: str, line: str) -> bool:
    """Whether a line goes on with the one before, which was broken for its width."""
    last = before.rsplit("\n", 1)[-1].rstrip()[-80:]
    return len(last) > 40 or (not _BLOCK_ENDS.search(last) and line[:1].islower())


def _split_sentences(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    at = start
    for match in _END.finditer(text, start, end):
        if match.group()[0] == "." and _ABBREVIATION.search(
            text[max(at, match.start() - _LONGEST_ABBREVIATION) : match.start()]
        ):
            following = text[match.end() : min(end, match.end() + 8)].lstrip()[:1]
            before = text[max(at, match.start() - 40) : match.start()]
            if match.end() < end and not _is_sentence_end(before, following):
                continue
        yield at, match.end()
        at = match.end()
    yield at, end


def _is_sentence_end(before: str, following: str) -> bool:
    """Whether a dot after what may be an abbreviation ends a sentence all the same."""
    last = before.rsplit(None, 1)[-1] if before.split() else ""
    return last.isdigit() and following.isupper() and len(last) > 2


def _bound(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """A span without white space at its ends, in parts where it is too long."""
    found = text[start:end]
    end -= len(found) - len(found.rstrip())
    start = min(end, start + len(found) - len(found.lstrip()))
    while end - start > MAX_SPAN:
        cut = text.rfind(" ", start + MAX_SPAN // 2, start + MAX_SPAN)
        cut = cut if cut > 0 else start + MAX_SPAN
        yield start, cut
        start = cut
        while start < end and text[start].isspace():
            start += 1
    if any(character.isalnum() for character in text[start:end]):
        yield start, end
