"""Stage 4, conflicts: quotes of different documents that contradict each other.

Three looks, without a model: sentences that say the same but for a figure, a date, a name or a
negation; different answers to a question that asks for one of these; yes and no to a question. A
model that is configured judges pairs of quotes instead (`model_judge.py`).
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from msgspec import Struct

from pegboard.core.knowledge import ConflictJudge, Hit
from pegboard.knowledge.grounding.citations import QuotedSpan, list_quotes
from pegboard.knowledge.grounding.question import AskedPart, find_answers, read_question
from pegboard.knowledge.grounding.sentence_conflicts import (
    Sentence,
    compare_sentences,
    read_sentence,
)
from pegboard.knowledge.grounding.stance import find_stance
from pegboard.knowledge.grounding.words import list_stems

_MIN_SHARED = 2
_MIN_ANSWER = 0.6
"""The alignment of two quotes whose figures, dates or names are compared as answers."""
_MIN_STANCE = 0.2
_LIMIT = 8
"""Conflicts of one question."""
_ANSWER_JUDGES: Mapping[str, ConflictJudge] = {
    "person": "names",
    "place": "names",
    "date": "dates",
    "number": "figures",
    "money": "figures",
    "duration": "figures",
}


class ConflictPair(Struct, frozen=True, kw_only=True):
    """Two quotes of different documents that contradict each other."""

    first: QuotedSpan
    second: QuotedSpan
    judge: ConflictJudge
    about: str = ""


def find_conflicts(question: str, hits: Sequence[Hit]) -> list[ConflictPair]:
    """The conflicts between the pieces that were found for a question, without a model."""
    parts = read_question(question)
    return compare_quotes(parts, list_quotes(parts, hits))


def compare_quotes(parts: Sequence[AskedPart], quotes: Sequence[QuotedSpan]) -> list[ConflictPair]:
    """The conflicts between quotes, without a model; one for each pair of documents and matter."""
    pairs = [*_compare_sentences(quotes)]
    for number, part in enumerate(parts):
        if part.kind in _ANSWER_JUDGES:
            pairs += _compare_answers(part, number, quotes)
        elif part.kind == "polarity":
            pairs += _compare_stances(part, quotes)
    return _drop_repeats(pair for pair in pairs if may_conflict(pair.first, pair.second))


def may_conflict(first: QuotedSpan, second: QuotedSpan) -> bool:
    """Whether two quotes are of different documents, and differ by more than marks and spaces."""
    if first.hit.piece.document == second.hit.piece.document:
        return False
    return _plain(first.span.text) != _plain(second.span.text)


def _plain(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())


def _drop_repeats(pairs: Iterator[ConflictPair]) -> list[ConflictPair]:
    kept: dict[object, ConflictPair] = {}
    for pair in pairs:
        documents = frozenset((pair.first.hit.piece.document, pair.second.hit.piece.document))
        spans = frozenset((pair.first.place, pair.second.place))
        if any(spans == frozenset((old.first.place, old.second.place)) for old in kept.values()):
            continue
        kept.setdefault((documents, pair.judge, pair.about), pair)
    return list(kept.values())[:_LIMIT]


def _compare_sentences(quotes: Sequence[QuotedSpan]) -> Iterator[ConflictPair]:
    sentences = [_read(quote) for quote in quotes]
    by_stem: dict[str, list[int]] = defaultdict(list)
    for number, sentence in enumerate(sentences):
        for stem in sentence.content:
            by_stem[stem].append(number)
    shared: dict[tuple[int, int], int] = defaultdict(int)
    for numbers in by_stem.values():
        for pair in combinations(numbers, 2):
            shared[pair] += 1
    for (first, second), count in shared.items():
        one, other = quotes[first], quotes[second]
        if count < _MIN_SHARED or one.hit.piece.document == other.hit.piece.document:
            continue
        found = compare_sentences(sentences[first], sentences[second])
        if found is not None:
            yield ConflictPair(first=one, second=other, judge=found.judge, about=found.about)


def _read(quote: QuotedSpan) -> Sentence:
    return read_sentence(quote.span.text, is_row=quote.span.kind == "row")


def _compare_answers(
    part: AskedPart, number: int, quotes: Sequence[QuotedSpan]
) -> Iterator[ConflictPair]:
    """Different figures, dates or names where two documents answer the same question."""
    answers: dict[str, QuotedSpan] = {}
    for quote in quotes:
        if quote.alignments[number] < _MIN_ANSWER or not find_answers(part, quote.span.text):
            continue
        document = quote.hit.piece.document
        known = answers.get(document)
        if known is None or known.alignments[number] < quote.alignments[number]:
            answers[document] = quote
    for first, second in combinations(answers.values(), 2):
        ones, others = (find_answers(part, quote.span.text) for quote in (first, second))
        if any(one.agrees(other) for one in ones for other in others):
            continue
        if (
            len(ones) > 2
            or len(others) > 2
            or not {f.unit for f in ones} & {f.unit for f in others}
        ):
            continue
        yield ConflictPair(
            first=first,
            second=second,
            judge=_ANSWER_JUDGES[part.kind],
            about=f"{ones[0].text} / {others[0].text}",
        )


def _compare_stances(part: AskedPart, quotes: Sequence[QuotedSpan]) -> Iterator[ConflictPair]:
    """Yes in one document, no in another."""
    by_document: dict[str, list[QuotedSpan]] = defaultdict(list)
    for quote in quotes:
        by_document[quote.hit.piece.document].append(quote)
    stances: list[tuple[float, QuotedSpan]] = []
    for own in by_document.values():
        if not _is_about(part, own):
            continue
        stance = find_stance(part, [quote.span for quote in own])
        if stance.span is not None and abs(stance.value) >= _MIN_STANCE:
            span = stance.span
            stances.append((stance.value, next(quote for quote in own if quote.span is span)))
    for (one, first), (other, second) in combinations(stances, 2):
        if one * other < 0:
            yield ConflictPair(first=first, second=second, judge="negation", about="yes / no")


def _is_about(part: AskedPart, quotes: Sequence[QuotedSpan]) -> bool:
    stems = {stem for quote in quotes for stem in list_stems(quote.span.text)}
    return sum(stem in stems for stem in part.stems) >= 0.5 * len(part.stems)
