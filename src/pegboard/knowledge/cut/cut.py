"""Cuts a document into pieces."""

import hashlib
from collections import Counter

from pegboard.core.knowledge import ConvertedDocument, Piece
from pegboard.core.ports.embedder import Embedder
from pegboard.errors import InvalidRequest
from pegboard.knowledge.cut.fixed import pack_fixed
from pegboard.knowledge.cut.pack import Group, pack_headings, pack_recursive
from pegboard.knowledge.cut.semantic import pack_semantic
from pegboard.knowledge.cut.settings import CutSettings
from pegboard.knowledge.cut.spans import CutSpan, find_spans

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
    leaves the ids of the others as they are.

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
    pieces: list[Piece] = []
    seen: Counter[tuple[str, int, str]] = Counter()
    for group in groups:
        start, end = group[0].start, group[-1].end
        text = document.text[start:end]
        if not text.strip():
            continue
        heading = _heading(document.text, group)
        place = (text, group[0].page, heading)
        seen[place] += 1
        pieces.append(
            Piece(
                id=_id(id, place, seen[place]),
                document=id,
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
    text, spans = document.text, find_spans(document)
    match settings.method:
        case "recursive":
            return pack_recursive(text, spans, tokens)
        case "heading":
            return pack_headings(text, spans, tokens)
        case "fixed":
            return pack_fixed(text, spans, tokens, settings.overlap)
        case "semantic":
            if embedder is None:
                raise InvalidRequest("Cutting by meaning needs an embedding model.")
            return await pack_semantic(text, spans, tokens, embedder)


def _heading(text: str, group: Group) -> str:
    """The headings above the first text of a piece; in a table that goes on, its head too."""
    first = next((span for span in group if span.kind != "heading"), group[0])
    titles = list(first.heading)
    if first.kind == "table" and not first.opens:
        titles.append(_table_head(text, first))
    return " > ".join(title for title in titles if title)[:_MAX_HEADING]


def _table_head(text: str, span: CutSpan) -> str:
    start = text.rfind("\n\n", 0, span.start) + 1
    return text[start : span.start].lstrip("\n").split("\n")[0].strip("| ").replace(" | ", ", ")


def _id(document: str, place: tuple[str, int, str], count: int) -> str:
    text, page, heading = place
    named = "\0".join((document, str(page), heading, str(count), text))
    return hashlib.sha256(named.encode("utf-8", "surrogatepass")).hexdigest()[:32]
