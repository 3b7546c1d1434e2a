"""Spans packed into pieces: as many as fit, parted at headings and pages."""

from collections.abc import Callable, Sequence

from pegboard.core.text.measure import measure_text
from pegboard.knowledge.cut.spans import CutSpan, split_span

_ENOUGH = 0.4
"""From this share of a full piece on, a heading begins the next one."""

Group = list[CutSpan]


def pack_recursive(text: str, spans: Sequence[CutSpan], tokens: int) -> list[Group]:
    """Pieces of as many blocks as fit; a heading begins one unless the last is small."""

    def is_new_section(group: Group, _: CutSpan) -> bool:
        return _size(text, group) >= tokens * _ENOUGH

    return _pack(text, spans, tokens, is_new_section)


def pack_headings(text: str, spans: Sequence[CutSpan], tokens: int) -> list[Group]:
    """One piece for each section; one that is too long is parted like a text without headings."""
    return _pack(text, spans, tokens, lambda _group, _span: True)


def _pack(
    text: str,
    spans: Sequence[CutSpan],
    tokens: int,
    is_new_section: Callable[[Group, CutSpan], bool],
) -> list[Group]:
    groups: list[Group] = []
    group: Group = []
    for whole in spans:
        for span in split_span(text, whole, tokens):
            if group and _begins(text, group, span, tokens, is_new_section):
                headings = _take_headings(group, span)
                groups.append(group)
                group = headings
            group.append(span)
    if group:
        groups.append(group)
    return [group for group in groups if group]


def _begins(
    text: str,
    group: Group,
    span: CutSpan,
    tokens: int,
    is_new_section: Callable[[Group, CutSpan], bool],
) -> bool:
    if group[-1].page != span.page:
        return True
    has_text = any(item.kind != "heading" for item in group)
    if span.kind == "heading" and has_text and is_new_section(group, span):
        return True
    return is_full(text, group, span, tokens)


def is_full(text: str, group: Group, span: CutSpan, tokens: int) -> bool:
    """Whether a piece has no room for a span.

    Headings make room for the text below them, unless they fill much of a piece themselves.
    """
    if measure_text(text[group[0].start : span.end]) <= tokens:
        return False
    has_text = any(item.kind != "heading" for item in group)
    return has_text or span.kind == "heading" or _size(text, group) >= tokens * _ENOUGH


def _take_headings(group: Group, span: CutSpan) -> Group:
    """The headings at the end of a piece, which belong to what follows on the same page."""
    taken: Group = []
    while (
        len(group) > 1
        and group[-1].kind == "heading"
        and group[-1].page == span.page
        and any(item.kind != "heading" for item in group)
    ):
        taken.insert(0, group.pop())
    return taken


def _size(text: str, group: Group) -> int:
    return measure_text(text[group[0].start : group[-1].end])
