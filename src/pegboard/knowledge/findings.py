"""Finds what in a document is not what it seems: orders to a model, hidden text, data in links.

A rule stands here when text that people write for people hardly ever meets it: that a reader *must*
do something, or may *ignore* a warning, is no order to a model.
"""

import re
import unicodedata
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import Any, cast

from msgspec.structs import replace

from pegboard.core.knowledge import ConvertedDocument, DocumentFinding, FindingKind
from pegboard.knowledge.link_rules import explain_link, iterate_links
from pegboard.knowledge.order_rules import ORDER_RULES

_MAX_FINDINGS = 1000
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff]+"
)
_TAG = re.compile("[\U000e0000-\U000e007f]")
_FLAG = "\U0001f3f4"
_SELECTORS = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{3}")
_ZERO_WIDTH = re.compile("[\u200b-\u200d\u2060-\u2064\ufeff\u180e\u3164\uffa0]{3}")
_OVERRIDE = re.compile("[\u202d\u202e]")
_EMBEDDING = re.compile("[\u202a\u202b\u2066-\u2068]")
_LETTER = re.compile(r"[^\n]")
_LINE_REACH = 200


SERIOUS: frozenset[FindingKind] = frozenset({"orders", "hidden"})
"""The kinds for which a document is held back until somebody has reviewed it."""


def find_in_document(document: ConvertedDocument) -> ConvertedDocument:
    """The same document with the findings in its text beside those of its conversion, in order."""
    starts = [page.start for page in document.pages]
    found: list[DocumentFinding] = list(document.findings)
    for finding in find_in_text(document.text):
        page = 0
        if starts:
            page = document.pages[max(bisect_right(starts, finding.start) - 1, 0)].number
        found.append(replace(finding, page=page))
    return replace(document, findings=tuple(sorted(found, key=lambda item: (item.start, item.end))))


def find_in_text(text: str) -> list[DocumentFinding]:
    """The findings in a text, in order; at most a thousand."""
    found = [*find_orders(text), *find_invisible(text), *find_links(text)]
    return sorted(found, key=lambda item: (item.start, item.end))[:_MAX_FINDINGS]


def blank_findings(text: str, findings: Sequence[DocumentFinding]) -> str:
    """A text with spaces in place of serious findings; its offsets and lines stay as they are."""
    parts: list[str] = []
    at = 0
    for finding in sorted(findings, key=lambda item: item.start):
        start = max(at, finding.start)
        if finding.kind in SERIOUS and start < finding.end:
            parts += [text[at:start], _LETTER.sub(" ", text[start : finding.end])]
            at = finding.end
    return "".join([*parts, text[at:]])


def find_orders(text: str) -> list[DocumentFinding]:
    """Where the text speaks to a model rather than to a reader."""
    read, offsets = _fold(text)
    spans: list[tuple[int, int, str]] = []
    for pattern, reason in _compiled_orders():
        for match in pattern.finditer(read):
            start, end = cast("tuple[int, int]", match.span())
            if offsets is not None:
                start, end = offsets[start], offsets[end - 1] + 1
            spans.append((start, end, reason))
            if len(spans) >= _MAX_FINDINGS:
                break
    return list(_merge("orders", spans))


def find_links(text: str) -> list[DocumentFinding]:
    """Links and pictures whose address carries data away, or is not the one that they name."""
    spans: list[tuple[int, int, str]] = []
    for link in iterate_links(text):
        reason = explain_link(link.label, link.address, is_picture=link.is_picture)
        if reason:
            spans.append((link.start, link.end, reason))
    return list(_merge("link", spans))


def find_invisible(text: str) -> list[DocumentFinding]:
    """Characters that are not shown and carry text, or show it in another order."""
    spans: list[tuple[int, int, str]] = []
    if text.isascii():
        return []
    for run in _INVISIBLE.finditer(text):
        reason = _explain_invisible(text, run)
        if reason:
            spans.append((run.start(), run.end(), reason))
    return list(_merge("hidden", spans))


def _explain_invisible(text: str, run: re.Match[str]) -> str:
    letters = run.group()
    if _TAG.search(letters) and text[max(run.start() - 1, 0) : run.start()] != _FLAG:
        return "It has Unicode tags, which are letters that are not shown."
    if _SELECTORS.search(letters):
        return "It has a row of variation selectors, which can carry text that is not shown."
    if _ZERO_WIDTH.search(letters):
        return "It has a row of characters without width, which can carry text that is not shown."
    if _OVERRIDE.search(letters):
        return "It shows text in another order than it stands."
    if _EMBEDDING.search(letters) and not _is_right_to_left(text, run.start(), run.end()):
        return "It has marks of a writing direction that no letter near them has."
    return ""


def _is_right_to_left(text: str, start: int, end: int) -> bool:
    near = text[max(start - _LINE_REACH, 0) : end + _LINE_REACH]
    return any(unicodedata.bidirectional(letter) in ("R", "AL", "AN") for letter in near)


def _fold(text: str) -> tuple[str, "array[int] | None"]:
    """The text as it is read, without what is not shown, and where each of its letters stood.

    Letters of other alphabets that look like Latin ones, as wide or mathematical ones do, become
    these. Without any of this the offsets are None: they are the same.
    """
    if text.isascii():
        return text, None
    table = _folds()
    if not _INVISIBLE.search(text) and not any(ord(letter) in table for letter in set(text)):
        return text, None
    read: list[str] = []
    offsets = array("Q")
    for at, letter in enumerate(text):
        folded = letter if letter.isascii() else table.get(ord(letter), letter)
        if folded and not _INVISIBLE.match(folded):
            read.append(folded)
            offsets.append(at)
    return "".join(read), offsets


@cache
def _folds() -> dict[int, str]:
    """Letters that are a form of one ASCII letter."""
    ranges = (
        (0xFF01, 0xFF5F), (0x1D400, 0x1D800), (0x2100, 0x2140), (0x24B6, 0x24EA),
    )  # fmt: skip
    found: dict[int, str] = {}
    for first, last in ranges:
        for code in range(first, last):
            folded = unicodedata.normalize("NFKC", chr(code))
            if len(folded) == 1 and folded.isascii() and not chr(code).isascii():
                found[code] = folded
    for tag in range(0xE0020, 0xE007F):
        found[tag] = chr(tag - 0xE0000)
    return found


@cache
def _compiled_orders() -> Sequence[tuple[Any, str]]:
    """The rules by RE2, whose time grows with the text alone."""
    import re2 as library

    re2 = cast("Any", library)
    options = re2.Options()
    options.case_sensitive = False
    options.never_capture = True
    options.log_errors = False
    options.max_mem = 64 << 20
    return [(re2.compile(rule, options), reason) for rule, reason in ORDER_RULES]


def _merge(kind: FindingKind, spans: Iterable[tuple[int, int, str]]) -> Iterator[DocumentFinding]:
    """A finding for each place; overlapping ones are one."""
    place: tuple[int, int, str] | None = None
    for start, end, reason in sorted(spans):
        if place is not None and start < place[1]:
            place = (place[0], max(place[1], end), place[2])
            continue
        if place is not None:
            yield DocumentFinding(kind=kind, start=place[0], end=place[1], reason=place[2])
        place = (start, end, reason)
    if place is not None:
        yield DocumentFinding(kind=kind, start=place[0], end=place[1], reason=place[2])
