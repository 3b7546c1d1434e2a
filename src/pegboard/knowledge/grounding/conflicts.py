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
from pegboard.knowledge.grounding.citations import MIN_ALIGNMENT, QuotedSpan, list_quotes
from pegboard.knowledge.grounding.facts import Fact
from pegboard.knowledge.grounding.question import AskedPart, find_answers, read_question
from pegboard.knowledge.grounding.sentence_conflicts import (
    Sentence,
    compare_sentences,
    is_statement,
    read_sentence,
)
from pegboard.knowledge.grounding.stance import Stance, find_stance

_MIN_SHARED = 2
_MIN_ANSWER = 0.6
"""The alignment of a quote whose figures, dates or names are compared as an answer."""
_MIN_OTHER = 0.2
"""The same of the quote that it is compared with, which may use other words."""
_RELEVANT = 0.6
"""The share of the best alignment that a document of a conflict reaches."""
_SAME_MATTER = 0.45
"""The share of words that two answers have in common which speak of the same."""
_ASKED_WORDS = 0.75
"""The share of the question's words by which an answer shows that it speaks of the same."""
_MIN_LIKENESS = 0.3
"""The share of words, facts included, of two sentences that are compared."""
_MIN_CONTRADICTION = 0.525
"""How likely yes in one document and no in another are, for a conflict."""
_ALIKE_SHARE = 0.4
"""The share of its sentences that a piece has in common with another edition of it."""
_MAX_ANSWERS = 2
_MAX_STATEMENTS = 600
"""Sentences that are compared with each other: those that support the question best."""
_SAME_WORDS = 0.9
_FEW_WORDS = 15
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
    relevant = _list_relevant(quotes)
    pairs = [
        pair
        for pair in _compare_sentences(quotes)
        if {pair.first.hit.piece.document, pair.second.hit.piece.document} & relevant
    ]
    for number, part in enumerate(parts):
        if part.kind in _ANSWER_JUDGES:
            pairs += _compare_answers(part, number, quotes)
        elif part.kind == "polarity":
            pairs += _compare_stances(part, quotes)
    return _drop_repeats(pair for pair in pairs if may_conflict(pair.first, pair.second))


def _list_relevant(quotes: Sequence[QuotedSpan]) -> set[str]:
    """Documents that speak to the question: what others disagree on is not asked for."""
    best = max((quote.alignment for quote in quotes), default=0.0)
    least = best * _RELEVANT if best >= MIN_ALIGNMENT else 0.0
    return {quote.hit.piece.document for quote in quotes if quote.alignment >= least}


def may_conflict(first: QuotedSpan, second: QuotedSpan) -> bool:
    """Whether two quotes are of different documents, and differ by more than marks and spaces."""
    if first.hit.piece.document == second.hit.piece.document:
        return False
    return _plain(first.span.text) != _plain(second.span.text)


def _plain(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())


def _says(said: Mapping[str, set[str]], first: QuotedSpan, second: QuotedSpan) -> bool:
    """Whether the document of one says, somewhere, what the other says."""
    return _plain(second.span.text) in said[first.hit.piece.document]


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
    statements = sorted(
        (quote for quote in quotes if _is_statement(quote)), key=lambda quote: -quote.alignment
    )[:_MAX_STATEMENTS]
    said: dict[str, set[str]] = defaultdict(set)
    for quote in quotes:
        said[quote.hit.piece.document].add(_plain(quote.span.text))
    read = _Reader()
    are_alike = _Editions(statements)
    by_stem: dict[str, list[int]] = defaultdict(list)
    for number, quote in enumerate(statements):
        for word in quote.stems:
            by_stem[word].append(number)
    shared: dict[tuple[int, int], int] = defaultdict(int)
    for numbers in by_stem.values():
        for pair in combinations(numbers, 2):
            shared[pair] += 1
    for (first, second), count in shared.items():
        one, other = statements[first], statements[second]
        likeness = 2 * count / (len(one.stems) + len(other.stems))
        if count < _MIN_SHARED or likeness < _MIN_LIKENESS or not may_conflict(one, other):
            continue
        if _says(said, one, other) or _says(said, other, one):
            continue
        is_answer = min(one.alignment, other.alignment) >= _MIN_ANSWER
        found = compare_sentences(read(one), read(other), is_same_matter=is_answer)
        if found is not None and (is_answer or are_alike(one.hit, other.hit)):
            yield ConflictPair(first=one, second=other, judge=found.judge, about=found.about)


def _is_statement(quote: QuotedSpan) -> bool:
    kind = quote.span.kind
    return kind == "row" or (kind == "sentence" and is_statement(quote.span.text))


class _Reader:
    """Reads a sentence when it is compared, and once."""

    def __init__(self) -> None:
        self._read: dict[tuple[str, int, int], Sentence] = {}

    def __call__(self, quote: QuotedSpan) -> Sentence:
        known = self._read.get(quote.place)
        if known is None:
            known = read_sentence(quote.span.text, is_row=quote.span.kind == "row")
            self._read[quote.place] = known
        return known


class _Editions:
    """Whether two pieces are editions of one text: what stands beside a sentence is alike, too."""

    def __init__(self, quotes: Sequence[QuotedSpan]) -> None:
        self._spans: dict[str, list[frozenset[str]]] = defaultdict(list)
        for quote in quotes:
            self._spans[quote.hit.piece.id].append(quote.stems)
        self._known: dict[tuple[str, str], bool] = {}

    def __call__(self, first: Hit, second: Hit) -> bool:
        key = (first.piece.id, second.piece.id)
        if key not in self._known:
            self._known[key] = self._compare(self._spans[key[0]], self._spans[key[1]])
        return self._known[key]

    def _compare(self, first: list[frozenset[str]], second: list[frozenset[str]]) -> bool:
        short, long = sorted((first, second), key=len)
        if len(short) == 1:
            return True
        alike = sum(any(_is_alike(one, other) for other in long) for one in short)
        return alike >= max(2, len(short) * _ALIKE_SHARE)


def _is_alike(first: frozenset[str], second: frozenset[str]) -> bool:
    return 2 * len(first & second) >= 0.7 * (len(first) + len(second))


def _compare_answers(
    part: AskedPart, number: int, quotes: Sequence[QuotedSpan]
) -> Iterator[ConflictPair]:
    """Different figures, dates or names where two documents answer the same question."""
    answers: dict[str, QuotedSpan] = {}
    for quote in quotes:
        if quote.alignments[number] < _MIN_OTHER or not find_answers(part, quote.span.text):
            continue
        document = quote.hit.piece.document
        known = answers.get(document)
        if known is None or known.alignments[number] < quote.alignments[number]:
            answers[document] = quote
    for first, second in combinations(answers.values(), 2):
        if max(first.alignments[number], second.alignments[number]) < _MIN_ANSWER:
            continue
        ones, others = (find_answers(part, quote.span.text) for quote in (first, second))
        if any(one.agrees(other) for one in ones for other in others):
            continue
        if max(len(ones), len(others)) > _MAX_ANSWERS or not _list_units(ones) & _list_units(
            others
        ):
            continue
        if not _have_same_matter(part, first, second):
            continue
        yield ConflictPair(
            first=first,
            second=second,
            judge=_ANSWER_JUDGES[part.kind],
            about=f"{ones[0].text} / {others[0].text}",
        )


def _list_units(facts: Sequence[Fact]) -> set[str]:
    return {fact.unit for fact in facts}


def _have_same_matter(part: AskedPart, first: QuotedSpan, second: QuotedSpan) -> bool:
    """Whether two answers speak of the same, by their words beside the figures."""
    ones, others = (read_sentence(quote.span.text).matter for quote in (first, second))
    asked = set(part.stems)
    if asked and min(len(ones & asked), len(others & asked)) >= _ASKED_WORDS * len(asked):
        return True
    return 2 * len(ones & others) >= _SAME_MATTER * (len(ones) + len(others))


def _compare_stances(part: AskedPart, quotes: Sequence[QuotedSpan]) -> Iterator[ConflictPair]:
    """The clearest yes of a document, and the clearest no of another."""
    by_document: dict[str, list[QuotedSpan]] = defaultdict(list)
    for quote in quotes:
        by_document[quote.hit.piece.document].append(quote)
    stances: list[tuple[Stance, QuotedSpan]] = []
    for own in by_document.values():
        stance = find_stance(part, [quote.span for quote in own]) if _is_about(part, own) else None
        if stance is not None:
            span = stance.span
            stances.append((stance, next(quote for quote in own if quote.span is span)))
    if len(stances) < 2:
        return
    (no, second), (yes, first) = (
        choose(stances, key=lambda item: item[0].yes) for choose in (min, max)
    )
    if yes.contradicts(no) >= _MIN_CONTRADICTION and not _have_same_words(
        by_document[first.hit.piece.document], by_document[second.hit.piece.document]
    ):
        yield ConflictPair(first=first, second=second, judge="negation", about="yes / no")


def _have_same_words(first: Sequence[QuotedSpan], second: Sequence[QuotedSpan]) -> bool:
    """Whether two passages are one text in two forms, which says yes or no in both."""
    ones, others = (
        frozenset[str]().union(*(quote.stems for quote in quotes)) for quotes in (first, second)
    )
    return len(ones & others) >= _SAME_WORDS * len(ones | others) and len(ones) > _FEW_WORDS


def _is_about(part: AskedPart, quotes: Sequence[QuotedSpan]) -> bool:
    stems = {word for quote in quotes for word in quote.stems}
    return sum(word in stems for word in part.stems) >= 0.5 * len(part.stems)
