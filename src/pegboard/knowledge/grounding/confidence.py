"""Stage 5, confidence: how far the evidence carries, and whether it is enough."""

from collections.abc import Sequence

from pegboard.core.knowledge import BaseLook, Confidence, Hit, QuestionPart
from pegboard.knowledge.grounding.citations import MIN_ALIGNMENT, QuotedSpan
from pegboard.knowledge.grounding.question import AskedPart
from pegboard.knowledge.grounding.words import find_words, list_stems

THRESHOLD = 0.4
"""From which confidence on the evidence is enough."""
_MIN_SUPPORT = 0.43
"""The alignment that a part of the question needs to be covered."""
_WELL_FOUND = 0.5
"""The score of a piece that is more likely than not an answer."""
_BARELY_FOUND = 0.3
"""The score below which a piece is no answer to a question that names no kind of answer."""
_BEST = 3
_NAMED = 4


def measure_confidence(
    hits: Sequence[Hit],
    alignments: Sequence[float],
    *,
    covered: int,
    parts: int,
    threshold: float = THRESHOLD,
) -> Confidence:
    """`0.4 * retrieval + 0.4 * alignment + 0.2 * coverage`.

    Args:
        hits: What was found; their scores are calibrated, so it means the same with and without a
            reranker.
        alignments: Of the quotes.
        covered: How many parts of the question have evidence.
        parts: How many there are.
        threshold: From where on it is enough.
    """
    retrieval = _mean_best([hit.score for hit in hits])
    alignment = _mean_best(alignments)
    coverage = covered / parts if parts else 0.0
    value = 0.4 * retrieval + 0.4 * alignment + 0.2 * coverage
    return Confidence(
        value=round(value, 4),
        retrieval=round(retrieval, 4),
        alignment=round(alignment, 4),
        coverage=round(coverage, 4),
        threshold=threshold,
    )


def covers(part: AskedPart, quote: QuotedSpan, *, at: int) -> bool:
    """Whether a quote answers a part of a question.

    Where the question says what kind of answer it wants (a figure, a date, a name, yes or no), the
    span decides. Where it does not (*how do I ...*), every passage on the topic shares its words,
    and the answer often stands in several sentences: there the score of the piece counts as well,
    unless a model has picked the quote.

    Args:
        part: Of the question.
        quote: A span that was found.
        at: The position of the part in the question.
    """
    alignment, score = quote.alignments[at], quote.hit.score
    if part.kind != "text" or quote.is_picked:
        return alignment >= _MIN_SUPPORT
    if score >= _WELL_FOUND:
        return alignment >= MIN_ALIGNMENT
    return alignment >= _MIN_SUPPORT and score >= _BARELY_FOUND


def explain_shortage(
    parts: Sequence[AskedPart], open_parts: Sequence[QuestionPart], quotes: Sequence[QuotedSpan]
) -> str:
    """Why the evidence is not enough, in a sentence."""
    if not quotes:
        return "Nothing was found for the question."
    asked = {part.text: part for part in parts}
    pieces = {quote.hit.piece.id: quote.hit.piece.text for quote in quotes}
    found = {stem for text in pieces.values() for stem in list_stems(text)}
    sentences: list[str] = []
    for missing in open_parts:
        part = asked[missing.text]
        words = _name_words(part, [stem for stem in part.stems if stem not in found])
        if words:
            sentences.append(f"No piece speaks of {words}.")
        elif part.kind not in {"text", "polarity"}:
            sentences.append(f"Pieces speak of it, and none names {_WANTED[part.kind]}.")
        else:
            sentences.append("Pieces speak of it, and none answers the question.")
    return " ".join(dict.fromkeys(sentences)) or "What was found supports an answer too little."


def describe_looks(looks: Sequence[BaseLook]) -> str:
    """What was looked at, in a sentence."""
    pieces = sum(look.pieces for look in looks)
    documents = sum(look.documents for look in looks)
    waiting = sum(len(look.not_ready) for look in looks)
    failures = [look.name for look in looks if look.failure]
    text = f"Searched {_count(pieces, 'piece')} of {_count(documents, 'document')}."
    if waiting:
        verbs = "is not ready and was" if waiting == 1 else "are not ready and were"
        text += f" {_count(waiting, 'document')} {verbs} not searched."
    if failures:
        text += f" Not searched: {', '.join(failures)}."
    return text


_WANTED = {
    "person": "a person",
    "date": "a date",
    "place": "a place",
    "number": "a number",
    "money": "an amount",
    "duration": "a length of time",
    "frequency": "how often",
    "reason": "a reason",
}


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _name_words(part: AskedPart, stems: Sequence[str]) -> str:
    words = {word.stem: word.text for word in reversed(find_words(part.text))}
    named = [words[stem] for stem in stems if stem in words][:_NAMED]
    return ", ".join(f"'{word}'" for word in named)


def _mean_best(values: Sequence[float]) -> float:
    best = sorted(values, reverse=True)[:_BEST]
    return min(1.0, max(0.0, sum(best) / len(best))) if best else 0.0
