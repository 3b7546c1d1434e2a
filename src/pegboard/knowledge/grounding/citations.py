"""Stage 2, citations: quotes that stand, word for word, in a piece.

A quote is taken from the text of its piece by offsets, so it cannot differ from it. What a model
wants to quote is looked for there, and left out if it does not stand there.
"""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet

from msgspec import Struct

from pegboard.core.knowledge import Citation, Hit
from pegboard.knowledge.grounding.alignment import align
from pegboard.knowledge.grounding.question import AskedPart, read_question
from pegboard.knowledge.grounding.spans import MAX_SPAN, TextSpan, split_spans
from pegboard.knowledge.grounding.words import list_stems

MIN_ALIGNMENT = 0.3
"""From which alignment on a quote is shown."""
MAX_QUOTE = 1_200
"""Characters of a quote of a model; a longer one is not looked for."""
_OF_BEST = 0.7
"""The share of the best alignment of its part that a quote reaches."""
_PER_PIECE = 2
_MARKS = str.maketrans("“”„«»‘’‚–—‑[]【】‹", '"' * 5 + "'" * 3 + "-" * 3 + "()()<")
"""Marks in which a quote may differ from its text: as models write them, and as they see them."""


class QuotedSpan(Struct, frozen=True, kw_only=True):
    """A span of a piece that was found, and how well it supports each part of the question.

    Attributes:
        stems: Of the words that say what the span is about.
        is_picked: Whether a model has picked it, and given the alignments.
    """

    hit: Hit
    span: TextSpan
    alignments: tuple[float, ...] = ()
    stems: frozenset[str] = frozenset()
    is_picked: bool = False

    @property
    def alignment(self) -> float:
        """How well it supports the part that it supports best."""
        return max(self.alignments, default=0.0)

    @property
    def place(self) -> tuple[str, int, int]:
        """Document and offsets in its text."""
        start = self.hit.piece.start
        return self.hit.piece.document, start + self.span.start, start + self.span.end


def extract_citations(question: str, hits: Sequence[Hit], *, limit: int = 8) -> list[Citation]:
    """The quotes that support a question best, numbered in the order of the hits."""
    parts = read_question(question)
    return number_quotes(choose_quotes(list_quotes(parts, hits), parts, limit=limit))


def list_quotes(parts: Sequence[AskedPart], hits: Sequence[Hit]) -> list[QuotedSpan]:
    """All spans of the hits, with their alignment; what two pieces share is listed once."""
    usable = [hit for hit in hits if _has_offsets(hit)]
    spans_of = [
        [(span, frozenset(list_stems(span.text))) for span in split_spans(hit.piece.text)]
        for hit in usable
    ]
    texts = [frozenset[str]().union(*(stems for _, stems in spans)) for spans in spans_of]
    weights = _weigh(parts, texts)
    quotes: dict[tuple[str, int, int], QuotedSpan] = {}
    for hit, spans, text in zip(usable, spans_of, texts, strict=True):
        named = list_stems(f"{hit.piece.heading[:MAX_SPAN]}\n{hit.title[:MAX_SPAN]}")
        around = text.union(named)
        for span, stems in spans:
            if span.kind == "heading":
                continue
            quote = QuotedSpan(
                hit=hit,
                span=span,
                alignments=tuple(
                    align(part, span, stems=stems, around=around, weights=weights) for part in parts
                ),
                stems=stems,
            )
            quotes.setdefault(quote.place, quote)
    return list(quotes.values())


def choose_quotes(
    quotes: Sequence[QuotedSpan], parts: Sequence[AskedPart], *, limit: int = 8
) -> list[QuotedSpan]:
    """The best quotes of each part, at most two of a piece, in the order of the hits."""
    chosen: list[QuotedSpan] = []
    for number in range(len(parts)):
        best = sorted(quotes, key=lambda quote: -quote.alignments[number])
        least = max(MIN_ALIGNMENT, best[0].alignments[number] * _OF_BEST) if best else 1.0
        chosen += [quote for quote in best if quote.alignments[number] >= least][:limit]
    kept: list[QuotedSpan] = []
    seen: Counter[str] = Counter()
    for quote in chosen:
        if len(kept) == limit:
            break
        if seen[quote.hit.piece.id] < _PER_PIECE and quote not in kept:
            seen[quote.hit.piece.id] += 1
            kept.append(quote)
    return _order(kept)


def number_quotes(quotes: Iterable[QuotedSpan]) -> list[Citation]:
    """Quotes as citations, numbered from 1."""
    return [make_citation(number, quote) for number, quote in enumerate(quotes, start=1)]


def make_citation(number: int, quote: QuotedSpan) -> Citation:
    """A quote as a citation; its offsets count in the text of the document."""
    piece = quote.hit.piece
    _, start, end = quote.place
    return Citation(
        number=number,
        piece=piece.id,
        document=piece.document,
        base=piece.base,
        quote=quote.span.text,
        start=start,
        end=end,
        title=quote.hit.title,
        edition=quote.hit.edition,
        page=piece.page,
        heading=piece.heading,
        alignment=round(quote.alignment, 4),
    )


def find_quote(quote: str, text: str) -> tuple[int, int] | None:
    """Where a quote stands in a text; None if it does not.

    White space, the shape of quotation marks, dashes and brackets, and marks around it may differ;
    words, figures and their order may not.
    """
    wanted = quote[: MAX_QUOTE + 1].strip().strip("\"'“”„«»").strip()
    if len(wanted) > MAX_QUOTE or not any(character.isalnum() for character in wanted):
        return None
    at = text.find(wanted)
    if at >= 0:
        return at, at + len(wanted)
    pattern = r"\s+".join(re.escape(_fold(word)) for word in wanted.split())
    found = re.search(pattern, _fold(text))
    return (found.start(), found.end()) if found else None


def verify_citation(citation: Citation, text: str) -> bool:
    """Whether the quote of a citation stands at its offsets in the text of the document."""
    return bool(citation.quote) and text[citation.start : citation.end] == citation.quote


def quote_of(hit: Hit, start: int, end: int, *, alignments: tuple[float, ...]) -> QuotedSpan:
    """A stretch of the piece of a hit as a quote that a model has picked."""
    span = TextSpan(start=start, end=end, text=hit.piece.text[start:end])
    stems = frozenset(list_stems(span.text))
    return QuotedSpan(hit=hit, span=span, alignments=alignments, stems=stems, is_picked=True)


def _has_offsets(hit: Hit) -> bool:
    """Whether offsets in the text of a piece are offsets in its document."""
    return len(hit.piece.text) == hit.piece.end - hit.piece.start


def _order(quotes: Sequence[QuotedSpan]) -> list[QuotedSpan]:
    order: dict[str, int] = {}
    for quote in quotes:
        order.setdefault(quote.hit.piece.id, len(order))
    return sorted(quotes, key=lambda quote: (order[quote.hit.piece.id], quote.span.start))


def _weigh(parts: Sequence[AskedPart], texts: Sequence[AbstractSet[str]]) -> Mapping[str, float]:
    """How much a word of the question says: less where every piece has it."""
    stems = {stem for part in parts for stem in part.stems}
    count = len(texts)
    return {
        stem: 1.0 + math.log((count + 1) / (sum(stem in text for text in texts) + 1))
        for stem in stems
    }


def _fold(text: str) -> str:
    """A text of the same length in which marks of one kind look alike."""
    folded = text.translate(_MARKS)
    return "".join(
        plain if len(plain := unicodedata.normalize("NFKC", character)) == 1 else character
        for character in folded
    )
