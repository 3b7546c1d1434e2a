"""Cuts a document into pieces."""

import asyncio
import hashlib
from collections import Counter
from collections.abc import Sequence

from pegboard.core.knowledge import ConvertedDocument, Piece
from pegboard.core.ports.embedder import Embedder
from pegboard.errors import InvalidRequest
from pegboard.knowledge.cut.fixed import pack_fixed
from pegboard.knowledge.cut.pack import Group, pack_headings, pack_recursive
from pegboard.knowledge.cut.semantic import pack_semantic
from pegboard.knowledge.cut.settings import CutSettings
from pegboard.knowledge.cut.spans import find_spans

MIN_TOKENS, MAX_TOKENS = 20, 8000
_MAX_HEADING = 300


async def cut(
    document: ConvertedDocument,
    settings: CutSettings,
    *,
    id: str,  # noqa: A002 - it is known by its id
    base: str,
    embedder: Embedder | None = None,
) -> list[Piece]:
    """The pieces of a document, in order; a piece stands on one page.

    The id of a piece depends on its text, its page and its headings, so that a change on one page
    leaves the ids of the others as they are. One that has only moved to another page is known by
    `find_embedded`.

    Args:
        document: What to cut.
        settings: How.
        id: Of the document.
        base: The id of its base.
        embedder: For `semantic`.

    Raises:
        InvalidRequest: The sizes make no sense, or `semantic` has no embedder.
        Unavailable: The embedder does not answer.
    """
    groups = await _group(document, settings, embedder)
    return await asyncio.to_thread(_make_pieces, document, groups, id, base)


def _make_pieces(
    document: ConvertedDocument, groups: Sequence[Group], id_: str, base: str
) -> list[Piece]:
    pieces: list[Piece] = []
    seen: Counter[tuple[str, int, str]] = Counter()
    table_head = ""
    for group in groups:
        start, end = group[0].start, group[-1].end
        text = document.text[start:end]
        heading = _heading(group, table_head)
        table_head = _find_table_head(document.text, group, table_head)
        if not text.strip():
            continue
        place = (text, group[0].page, heading)
        seen[place] += 1
        pieces.append(
            Piece(
                id=_id(id_, place, seen[place]),
                document=id_,
                base=base,
                number=len(pieces) + 1,
                text=text,
                start=start,
                end=end,
                page=group[0].page,
                heading=heading,
            )
        )
    return pieces


async def _group(
    document: ConvertedDocument, settings: CutSettings, embedder: Embedder | None
) -> list[Group]:
    tokens = settings.tokens
    if not MIN_TOKENS <= tokens <= MAX_TOKENS or not 0 <= settings.overlap <= tokens // 2:
        raise InvalidRequest(
            f"A piece has {MIN_TOKENS} to {MAX_TOKENS} tokens, and overlaps by half of it at most."
        )
    if settings.method != "semantic":
        return await asyncio.to_thread(_pack, document, settings)
    if embedder is None:
        raise InvalidRequest("Cutting by meaning needs an embedding model.")
    spans = await asyncio.to_thread(find_spans, document)
    return await pack_semantic(document.text, spans, tokens, embedder)


def _pack(document: ConvertedDocument, settings: CutSettings) -> list[Group]:
    text, spans, tokens = document.text, find_spans(document), settings.tokens
    match settings.method:
        case "heading":
            return pack_headings(text, spans, tokens)
        case "fixed":
            return pack_fixed(text, spans, tokens, settings.overlap)
        case _:
            return pack_recursive(text, spans, tokens)


def _heading(group: Group, table_head: str) -> str:
    """The headings above the first text of a piece; in a table that goes on, its head too."""
    first = next((span for span in group if span.kind != "heading"), group[0])
    titles = list(first.heading)
    if first.kind == "table" and not first.opens:
        titles.append(table_head)
    return " > ".join(title for title in titles if title)[:_MAX_HEADING]


def _find_table_head(text: str, group: Group, before: str) -> str:
    """The first row of the last table that begins in a piece; else the one before."""
    for span in reversed(group):
        if span.kind == "table" and span.opens:
            row = text[span.start : span.end].lstrip("\n").split("\n", 1)[0]
            return row.strip("| ").replace(" | ", ", ")
    return before


def _id(document: str, place: tuple[str, int, str], count: int) -> str:
    text, page, heading = place
    named = "\0".join((document, str(page), heading, str(count), text))
    return hashlib.sha256(named.encode("utf-8", "surrogatepass")).hexdigest()[:32]
