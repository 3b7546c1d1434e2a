"""`SearchIndex`: finds tools by words, and follows each change of a tool at once.

An inverted index with BM25 over weighted fields. Formula: Robertson and Zaragoza, "The
Probabilistic Relevance Framework: BM25 and Beyond" (2009), with a fixed usual length in place of
the average one, so that a change of one tool changes no weight of another.

A question that asks for several things is split, and each intent finds tools of its own. The score
of a tool is that of the intent that it fits best, in part of the whole question.

Where vectors are known, the nearness of each intent is added to its words (`_MEANING`).
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice
from typing import Any, Protocol, cast

from pegboard.core.tool import Tool, ToolSpec
from pegboard.registry.search_text import Intent, Vocabulary, list_words, split_intents
from pegboard.registry.tool_visibility import VisiblePostings

_K1 = 1.2
_B = 0.6
_USUAL_LENGTH = 30.0
"""The weighted number of words of a usual tool."""
_NAME, _LABELS, _DESCRIPTION, _PARAMETER, _PARAMETER_TEXT = 2.5, 1.0, 1.0, 1.0, 0.5
_EXAMPLE = 0.5
_MAX_TEXT = 2_000
"""Characters of a description that are indexed; of each parameter's, a tenth."""
_MAX_PARAMETERS = 200
_WHOLE = 0.4
"""How much the whole question counts in the score of one intent."""
_NAMED = 0.25
"""What a tool gains whose name an intent contains in full."""
_KIN = 0.05
"""What a tool gains by others of its source that fit the question, too."""
_PREFERRED = 0.02
"""What a tool gains at most by being preferred, as for its usage: it settles what is close."""
_MEANING = 0.5
"""What a tool gains whose meaning is that of an intent, in shares of what all words of the intent
together weigh. Words that no tool uses weigh in full, so that meaning decides where words cannot.
Chosen on half of the labelled questions; from 0.25 to 1.0 it finds more than words alone."""
_NEAR = 0.25
"""How near a tool lies at least that is found by its meaning alone."""
_NEAREST = 16
"""How many are found so for one intent."""
_CANDIDATES, _MOST_CANDIDATES = 64, 192
"""Tools that are ranked in the end: for one intent, and for all together."""
_COMMON = 128
"""A term of more tools than this, or a weak word, adds to those that rarer terms have found, if
there are enough."""
_SPREAD = 2
"""As many times the candidates are kept before common terms are added."""
_FORM_WEIGHT = 0.5
_MAX_FORMS = 50
_MIN_FORM = 3
_MAX_ENDING = 4
_MIN_TYPO, _LIKE = 5, 0.8
"""Where no word is known, those of so many letters are corrected to words that are so similar."""

Scores = dict[int, float]
Keep = Callable[[Tool], bool]
Prefer = Callable[[Tool], float]
"""How much a tool is preferred: from 0, not at all, to 1."""


class NearTools(Protocol):
    """How near tools lie to a text by their meaning: 0 as far as usual, 1 the same."""

    def score_all(self, names: Iterable[str], /) -> list[float]:
        """How near tools lie, by their names; 0 where this is not known."""
        ...

    def iterate(self, *, least: float) -> Iterator[tuple[str, float]]:
        """The names of tools that lie at least so near, the nearest first, with their scores."""
        ...


Meanings = Mapping[str, NearTools]
"""By the text of an intent."""


@dataclass(frozen=True, slots=True)
class _Document:
    """An indexed tool.

    Attributes:
        key: The name under which it is found.
        terms: All of them, to forget it again.
        name: The terms of its name.
        family: Its source, as far as known.
    """

    key: str
    tool: Tool
    terms: tuple[str, ...]
    name: frozenset[str]
    family: str


class SearchIndex:
    """A search index over tools by name; each change costs as much as the changed tool is long."""

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        self._postings: dict[str, Scores] = {}
        self._vocabulary = Vocabulary()
        self._documents: dict[int, _Document] = {}
        self._numbers: dict[str, int] = {}
        self._by_source: dict[str, set[int]] = {}
        self._size = 0
        self._next = 0
        for tool in tools:
            self.put(tool.spec.name, tool)

    def __len__(self) -> int:
        return len(self._documents)

    def put(self, name: str, tool: Tool) -> None:
        """Add a tool, or replace the one of this name."""
        number = self._numbers.get(name)
        if number is None:
            number = self._numbers[name] = self._next
            self._next += 1
        elif self._documents[number].tool is tool:
            return
        else:
            self._forget(number)
        counts = _count_terms(name, tool)
        for term, gain in _to_gains(counts).items():
            postings = self._postings.get(term)
            if postings is None:
                postings = self._postings[term] = {}
                self._vocabulary.add(term)
            postings[number] = gain
        family = tool.spec.source or name.rpartition("__")[0]
        self._by_source.setdefault(tool.spec.source, set()).add(number)
        self._size += 1
        self._documents[number] = _Document(
            name, tool, tuple(counts), frozenset(list_words(name)), family
        )

    def remove(self, name: str) -> None:
        """Remove the tool of this name, if there is one."""
        number = self._numbers.pop(name, None)
        if number is not None:
            self._forget(number)
            del self._documents[number]

    def search(
        self,
        question: str,
        keep: Keep,
        limit: int,
        *,
        prefer: Prefer | None = None,
        meanings: Meanings | None = None,
        sources: Iterable[str] | None = None,
    ) -> list[Tool]:
        """The best matching tools, among those that `keep` accepts.

        Args:
            question: Words.
            keep: Whether a tool may be found.
            limit: How many are found at most.
            prefer: Which tools come first among those that match nearly as well; None for none.
            meanings: What is known of the meaning of intents; None to search by words alone.
            sources: Search as if there were the tools of these sources alone; None for all.
        """
        if sources is not None:
            visible = set[int]().union(*(self._by_source.get(name, ()) for name in sources))
            postings = VisiblePostings(self._postings, visible)
            view = _View(self._documents, self._numbers, postings, self._vocabulary, len(visible))
            return view.search(question, keep, limit, prefer=prefer, meanings=meanings)
        if limit < 1 or not self._size:
            return []
        intents = split_intents(question)
        count = max(min(_CANDIDATES, _MOST_CANDIDATES // (len(intents) or 1)), limit)
        search = _Search(self._documents, keep, count)
        self._add_words(search, intents)
        if search.is_empty:
            self._add_words(search, [Intent(self._correct(it.terms), it.text) for it in intents])
        for at, (terms, text) in enumerate(intents):
            meaning = meanings.get(text) if meanings else None
            if meaning is not None:
                weight = _MEANING * self._weigh(terms, search.accept)
                search.add_meaning(at, weight, meaning, self._numbers)
        return [self._documents[number].tool for number in search.rank(prefer)[:limit]]

    def _add_words(self, search: "_Search", intents: Iterable[Intent]) -> None:
        search.intents = [
            search.find(self._list_weighted(terms, search.accept)) for terms, _ in intents
        ]

    def _weigh(self, terms: Mapping[str, float], accept: Callable[[int], bool]) -> float:
        """What a usual tool would gain that has each term once; one that no tool has is rare."""
        total = 0.0
        for term, weight in terms.items():
            known = self._postings.get(term, {})
            total += weight * self._rarity(len(known) if any(map(accept, known)) else 0)
        return total

    def _correct(self, terms: Mapping[str, float]) -> dict[str, float]:
        """The known words that unknown ones may have been meant to be."""
        corrected: dict[str, float] = {}
        for word, weight in terms.items():
            if weight == 1.0 and len(word) >= _MIN_TYPO:
                alike = list(self._list_starting_with(word[:2]))
                for near in get_close_matches(word, alike, n=2, cutoff=_LIKE):
                    corrected[near] = weight
        return corrected

    def _forget(self, number: int) -> None:
        source = self._documents[number].tool.spec.source
        self._by_source[source].discard(number)
        if not self._by_source[source]:
            del self._by_source[source]
        self._size -= 1
        for term in self._documents[number].terms:
            postings = self._postings[term]
            del postings[number]
            if not postings:
                del self._postings[term]
                self._vocabulary.discard(term)

    def _list_weighted(
        self, terms: Mapping[str, float], accept: Callable[[int], bool]
    ) -> "list[_Term]":
        """What tools gain by each term, the rarest first."""
        found = [
            _Term(word, weight * self._rarity(len(postings)), postings, weight < _FORM_WEIGHT)
            for word, weight, postings in self._look_up(terms, accept)
            if postings
        ]
        found.sort(key=lambda term: (term.is_weak, len(term.postings)))
        return found

    def _look_up(
        self, terms: Mapping[str, float], accept: Callable[[int], bool]
    ) -> Iterator[tuple[str, float, Scores]]:
        for term, weight in terms.items():
            known = self._postings.get(term)
            if known and any(map(accept, known)):
                yield term, weight, known
            elif weight == 1.0:
                yield term, _FORM_WEIGHT, self._join_forms(term)

    def _join_forms(self, word: str) -> Scores:
        """What tools gain by the longer and shorter forms of a word that no tool uses."""
        if len(word) < _MIN_FORM:
            return {}
        joined: Scores = {}
        for form in self._list_forms(word):
            for number, gain in self._postings[form].items():
                joined[number] = max(gain, joined.get(number, 0.0))
        return joined

    def _list_forms(self, word: str) -> Iterator[str]:
        yield from islice(self._list_starting_with(word), _MAX_FORMS)
        for length in range(len(word) - 1, max(_MIN_FORM, len(word) - _MAX_ENDING - 1), -1):
            if word[:length] in self._postings:
                yield word[:length]
        for at in range(_MIN_FORM, len(word) - _MIN_FORM + 1):  # `zipcode` is `zip` and `code`
            if word[:at] in self._postings and word[at:] in self._postings:
                yield word[:at]
                yield word[at:]

    def _list_starting_with(self, prefix: str) -> Iterator[str]:
        return filter(self._postings.__contains__, self._vocabulary.starting_with(prefix))

    def _rarity(self, count: int) -> float:
        return math.log(1 + (self._size - count + 0.5) / (count + 0.5))


class _View(SearchIndex):
    """An index that knows some of the tools of another one; it must not be changed."""

    def __init__(
        self,
        documents: dict[int, _Document],
        numbers: dict[str, int],
        postings: VisiblePostings,
        vocabulary: Vocabulary,
        size: int,
    ) -> None:
        self._documents, self._numbers = documents, numbers
        self._postings, self._vocabulary, self._size = postings, vocabulary, size


@dataclass(frozen=True, slots=True)
class _Term:
    word: str
    weight: float
    postings: Scores
    is_weak: bool


class _Search:
    """One search: the tools of each intent, and then the best of all."""

    def __init__(self, documents: Mapping[int, _Document], keep: Keep, count: int) -> None:
        self._documents = documents
        self._keep = keep
        self._count = count
        self._is_kept: dict[int, bool] = {}
        self.intents: list[Scores] = []

    @property
    def is_empty(self) -> bool:
        """Whether no tool fits any intent."""
        return not any(self.intents)

    def find(self, terms: list[_Term]) -> Scores:
        """The scores of the tools that fit the words of an intent."""
        return self._favour_named(self._find(terms), terms) if terms else {}

    def add_meaning(
        self, at: int, weight: float, meaning: NearTools, numbers: Mapping[str, int]
    ) -> None:
        """Let tools gain that lie near to an intent, and add the nearest ones."""
        scores = self.intents[at]
        names = [self._documents[number].key for number in scores]
        for number, nearness in zip(list(scores), meaning.score_all(names), strict=True):
            scores[number] += weight * nearness
        count, is_kept, accept = 0, self._is_kept, self.accept
        for name, nearness in meaning.iterate(least=_NEAR):
            number = numbers.get(name)
            if number is None or not (is_kept[number] if number in is_kept else accept(number)):
                continue
            scores.setdefault(number, weight * nearness)
            count += 1
            if count == _NEAREST:
                break

    def rank(self, prefer: Prefer | None = None) -> list[int]:
        """The numbers of the tools that were found, the best first."""
        intents = [scores for scores in self.intents if scores]
        if not intents:
            return []
        scores = intents[0] if len(intents) == 1 else self._favour_kin(_join(intents))
        if prefer is not None:
            for number in scores:
                scores[number] *= 1 + _PREFERRED * prefer(self._documents[number].tool)
        return _sort_best(scores)

    def _find(self, terms: list[_Term]) -> Scores:
        scores: Scores = {}
        is_narrow = False
        for term in terms:
            weight, postings = term.weight, term.postings
            is_common = term.is_weak or len(postings) > _COMMON
            if is_common and len(scores) >= self._count and not is_narrow:
                # only what may be found counts as enough
                scores = self._take(scores, self._count * _SPREAD)
                is_narrow = len(scores) >= self._count
            if is_common and is_narrow:
                for number in postings.keys() & scores.keys():
                    scores[number] += weight * postings[number]
            elif scores:
                for number, gain in postings.items():
                    scores[number] = scores.get(number, 0.0) + weight * gain
            else:
                scores = {number: weight * gain for number, gain in postings.items()}
        return self._take(scores, self._count)

    def _take(self, scores: Scores, most: int) -> Scores:
        """The best of those that may be found."""
        best = scores if len(scores) <= most else _keep_best(scores, most)
        chosen = self._take_findable(best, most)
        if len(chosen) < most and len(best) < len(scores):
            chosen = self._take_findable(scores, most)  # some of the best may not be found
        return chosen

    def _take_findable(self, scores: Scores, most: int) -> Scores:
        chosen: Scores = {}
        is_kept, accept = self._is_kept, self.accept
        for number in _sort_best(scores):
            if is_kept[number] if number in is_kept else accept(number):
                chosen[number] = scores[number]
                if len(chosen) == most:
                    break
        return chosen

    def accept(self, number: int) -> bool:
        """Whether a tool may be found."""
        known = self._is_kept.get(number)
        if known is None:
            known = self._is_kept[number] = self._keep(self._documents[number].tool)
        return known

    def _favour_named(self, scores: Scores, terms: list[_Term]) -> Scores:
        """Let tools gain whose names the intent contains."""
        words = {term.word for term in terms}
        for number in scores:
            name = self._documents[number].name
            if name and not name.isdisjoint(words):
                scores[number] *= 1 + _NAMED * len(name & words) / len(name)
        return scores

    def _favour_kin(self, scores: Scores) -> Scores:
        """Let tools gain by others of their source: intents of one question often go to one."""
        best = _sort_best(scores)[:_CANDIDATES]
        kin: dict[str, list[float]] = {}
        for number in best:
            kin.setdefault(self._documents[number].family, []).append(scores[number])
        for number in best:
            family = self._documents[number].family
            if family and len(kin[family]) > 1:
                scores[number] += _KIN * sum(kin[family][:3])
        return scores


def _sort_best(scores: Scores) -> list[int]:
    """The numbers, the best first; of equal ones the lesser number."""
    return sorted(sorted(scores), key=scores.__getitem__, reverse=True)


def _keep_best(scores: Scores, count: int) -> Scores:
    """The best, and all that are as good as the last of them."""
    least = sorted(scores.values(), reverse=True)[count - 1]
    return {number: score for number, score in scores.items() if score >= least}


def _join(intents: list[Scores]) -> Scores:
    """The score of each tool for the intent that it fits best; intents weigh nearly the same."""
    whole: Scores = {}
    for scores in intents:
        for number, score in scores.items():
            whole[number] = whole.get(number, 0.0) + score
    joined: Scores = {}
    for scores in intents:
        fits = {number: score + _WHOLE * whole[number] for number, score in scores.items()}
        scale = 1 / math.sqrt(max(fits.values()))
        for number, fit in fits.items():
            joined[number] = max(fit * scale, joined.get(number, 0.0))
    return joined


def _to_gains(counts: Mapping[str, float]) -> dict[str, float]:
    """What a tool gains by each of its terms, before the rarity of the term."""
    norm = _K1 * (1 - _B + _B * sum(counts.values()) / _USUAL_LENGTH)
    return {term: count * (_K1 + 1) / (count + norm) for term, count in counts.items()}


def _count_terms(name: str, tool: Tool) -> dict[str, float]:
    """How often each term stands in a tool, by the weight of where it stands."""
    spec = tool.spec
    labels = (*spec.tags, *spec.capabilities, *spec.supported_tasks, *_categories(spec.category))
    counts: dict[str, float] = {}
    fields = [
        (f"{name} {spec.title}", _NAME),
        (" ".join(labels), _LABELS),
        (spec.description[:_MAX_TEXT], _DESCRIPTION),
    ]
    for parameter, text in islice(_list_parameters(tool), _MAX_PARAMETERS):
        fields += [(parameter, _PARAMETER), (text[: _MAX_TEXT // 10], _PARAMETER_TEXT)]
    fields += [(text, _EXAMPLE) for text in _list_texts(spec.examples)]
    for text, weight in fields:
        for word in list_words(text):
            counts[word] = counts.get(word, 0.0) + weight
    return counts


def _list_texts(examples: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """The texts that are arguments of examples."""
    for example in examples:
        yield from (item[:_MAX_TEXT] for item in example.values() if isinstance(item, str))


def _categories(category: str) -> tuple[str, ...]:
    return () if category == ToolSpec.category else (category,)


def _list_parameters(tool: Tool) -> Iterator[tuple[str, str]]:
    """Names and descriptions of parameters; the schema of a function is not built for it."""
    texts: Mapping[str, str] | None = getattr(tool, "parameter_texts", None)
    if texts is not None:
        return iter(texts.items())
    return _list_properties(tool.spec.input_schema, depth=0)


def _list_properties(schema: Mapping[str, Any], depth: int) -> Iterator[tuple[str, str]]:
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return
    for name, given in cast("Mapping[str, Any]", properties).items():
        found = cast("Mapping[str, Any]", given if isinstance(given, Mapping) else {})
        description = found.get("description")
        yield name, description if isinstance(description, str) else ""
        if depth == 0:
            yield from _list_properties(found, 1)
