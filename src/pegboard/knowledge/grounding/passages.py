"""Passages: the sentences of a whole piece that a question or a sentence of an answer rests on.

A model that is shown whole pieces cites them by their numbers. What is stored as the quote of such
a citation is a passage: from the first to the last sentence that carries what was asked or said.
It is cut out of the piece by offsets, so it cannot differ from it.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from msgspec import Struct, structs

from pegboard.core.knowledge import Citation, Evidence, Hit
from pegboard.knowledge.grounding.citations import (
    MIN_ALIGNMENT,
    list_quotes,
)
from pegboard.knowledge.grounding.facts import Fact, find_facts
from pegboard.knowledge.grounding.question import AskedPart, read_question
from pegboard.knowledge.grounding.spans import MAX_SPAN, split_spans
from pegboard.knowledge.grounding.words import find_words, list_stems

_OF_BEST = 0.7
"""The share of the best alignment from which on another sentence belongs to the passage."""
_MIN_GAIN = 0.2
"""The share of a sentence's words that another span of the piece must add."""
_MAX_SPANS = 3
"""Spans of a piece that one sentence of an answer rests on."""


def cite_passages(evidence: Evidence) -> Evidence:
    """Evidence whose citations quote, of their pieces, what the question rests on.

    A piece that shares no word with the question, as one that was found by its meaning, stays
    quoted as a whole.
    """
    parts = read_question(evidence.question)
    spans: dict[str, list[_PlacedSpan]] = {}
    for quote in list_quotes(parts, evidence.retrieval.hits):
        document, start, end = quote.place
        spans.setdefault(document, []).append(
            _PlacedSpan(start, end, quote.alignment, quote.alignments)
        )
    citations = tuple(
        _narrow(
            citation,
            [
                it
                for it in spans.get(citation.document, ())
                if citation.start <= it.start and it.end <= citation.end
            ],
            parts,
        )
        for citation in evidence.citations
    )
    return structs.replace(evidence, citations=citations)


def widen_citations(evidence: Evidence) -> tuple[Citation, ...]:
    """The citations of evidence with their whole pieces as quotes, as a model was shown them."""
    hits = {hit.piece.id: hit for hit in evidence.retrieval.hits}
    return tuple(_widen(it, hits.get(it.piece)) for it in evidence.citations)


def narrow_citation(citation: Citation, sentences: Iterable[str]) -> Citation:
    """A citation of a whole piece that quotes what sentences of an answer rest on.

    It runs from the first to the last sentence that carries one of them. Where none is known to,
    as in another language, the whole piece stays quoted.
    """
    spans = [
        _Span(
            start=span.start, end=span.end, text=span.text, stems=frozenset(list_stems(span.text))
        )
        for span in split_spans(citation.quote)
    ]
    found = [it for sentence in sentences for it in _find_carriers(sentence, spans)]
    if not found:
        return citation
    return _cut(citation, min(it.start for it in found), max(it.end for it in found))


class _PlacedSpan(Struct, frozen=True):
    """A span with its offsets in its document, and how well it supports the question."""

    start: int
    end: int
    alignment: float
    alignments: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class _Span:
    start: int
    end: int
    text: str
    stems: frozenset[str]

    @cached_property
    def facts(self) -> list[Fact]:
        """Read only where the sentence has facts as well."""
        return find_facts(self.text)


def _widen(citation: Citation, hit: Hit | None) -> Citation:
    if hit is None or not citation.quote:
        return citation
    piece = hit.piece
    return structs.replace(citation, quote=piece.text, start=piece.start, end=piece.end)


def _narrow(
    citation: Citation, spans: Sequence[_PlacedSpan], parts: Sequence[AskedPart]
) -> Citation:
    """The best span for the question, with what stands near it and supports it about as well."""
    ordered = sorted(spans, key=lambda it: -it.alignment)
    if not ordered or not ordered[0].alignment:
        return citation
    best = ordered[0]
    least = max(MIN_ALIGNMENT, best.alignment * _OF_BEST)
    wanted = [it for it in ordered if it.alignment >= least]
    for number in range(len(parts)):
        of_part = max(spans, key=lambda it: it.alignments[number])
        if of_part.alignments[number] >= MIN_ALIGNMENT:
            wanted.append(of_part)
    start, end = best.start, best.end
    for span in wanted:
        if max(end, span.end) - min(start, span.start) <= MAX_SPAN:
            start, end = min(start, span.start), max(end, span.end)
    cut = _cut(citation, start - citation.start, end - citation.start)
    return structs.replace(cut, alignment=round(best.alignment, 4))


def _find_carriers(sentence: str, spans: Sequence[_Span]) -> Iterator[_Span]:
    """The spans that carry a sentence, those first that carry most of it."""
    stems = {word.stem for word in find_words(sentence) if word.is_content}
    facts = [fact for fact in find_facts(sentence) if fact.kind != "name"]
    words = max(1, len(stems))
    for _ in range(_MAX_SPANS):
        gains = [
            len(stems & span.stems) / words + sum(_has(span, fact) for fact in facts)
            for span in spans
        ]
        gain = max(gains, default=0.0)
        if gain < _MIN_GAIN:
            return
        best = spans[gains.index(gain)]
        yield best
        stems -= best.stems
        facts = [fact for fact in facts if not _has(best, fact)]


def _has(span: _Span, fact: Fact) -> bool:
    return any(fact.agrees(other) for other in span.facts)


def _cut(citation: Citation, start: int, end: int) -> Citation:
    """A citation of the part of its quote between two offsets in it."""
    return structs.replace(
        citation,
        quote=citation.quote[start:end],
        start=citation.start + start,
        end=citation.start + end,
    )
