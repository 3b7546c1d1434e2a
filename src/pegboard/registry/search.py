"""Finding tools by words: an inverted index with BM25 over names, descriptions and parameters.

Formula: Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009),
k1 = 1.2, b = 0.75; words of the name count three times, tags and capabilities twice.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable

from pegboard.core.tool import Tool

_K1 = 1.2
_B = 0.75
_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_a-zA-Z]+")
_STOP = frozenset(
    ("a", "an", "and", "for", "from", "in", "is", "it", "of", "on", "or", "the", "to")
)
_SUFFIXES = ("ations", "ation", "ings", "ing", "ies", "es", "ed", "s")


def words(text: str) -> list[str]:
    """Lower-case stems of a text; identifiers are split at `_`, `-` and capitals."""
    return [_stem(word.lower()) for word in _WORD.findall(text) if word.lower() not in _STOP]


class SearchIndex:
    """An index over some tools; made anew when they change."""

    def __init__(self, tools: Iterable[tuple[str, Tool]]) -> None:
        self._postings: dict[str, dict[int, float]] = defaultdict(dict)
        self._names: list[str] = []
        self._lengths: list[float] = []
        for name, tool in tools:
            self._add(name, tool)
        self._average = sum(self._lengths) / len(self._lengths) if self._lengths else 1.0

    def search(
        self, query: str, keep: Callable[[str], bool], limit: int
    ) -> list[tuple[str, float]]:
        """The best names with their scores; `keep` says which may be shown, before ranking."""
        scores: dict[int, float] = defaultdict(float)
        count = len(self._names)
        for word in dict.fromkeys(words(query)):
            for term, weight in self._expanded(word):
                postings = self._postings[term]
                rarity = math.log(1 + (count - len(postings) + 0.5) / (len(postings) + 0.5))
                for document, frequency in postings.items():
                    norm = 1 - _B + _B * self._lengths[document] / self._average
                    scores[document] += (
                        weight * rarity * frequency * (_K1 + 1) / (frequency + _K1 * norm)
                    )
        ranked = sorted(scores.items(), key=lambda item: (-item[1], self._names[item[0]]))
        best: list[tuple[str, float]] = []
        for document, score in ranked:
            if len(best) >= limit:
                break
            if keep(self._names[document]):
                best.append((self._names[document], score))
        return best

    def _add(self, name: str, tool: Tool) -> None:
        spec = tool.spec
        counts: Counter[str] = Counter()
        for text, weight in (
            (f"{name} {spec.title}", 3),
            (" ".join((*spec.tags, *spec.capabilities, spec.category)), 2),
            (spec.description, 1),
            (" ".join(_parameter_names(tool)), 1),
        ):
            for word in words(text):
                counts[word] += weight
        document = len(self._names)
        self._names.append(name)
        self._lengths.append(float(counts.total()))
        for word, frequency in counts.items():
            self._postings[word][document] = float(frequency)

    def _expanded(self, word: str) -> Iterable[tuple[str, float]]:
        """The word itself; and, when nobody uses it, the words that begin with it."""
        if word in self._postings:
            return ((word, 1.0),)
        if len(word) < 3:
            return ()
        return tuple((term, 0.5) for term in self._postings if term.startswith(word))[:50]


def _parameter_names(tool: Tool) -> Iterable[str]:
    names: tuple[str, ...] | None = getattr(tool, "parameter_names", None)
    return names if names is not None else tool.spec.input_schema.get("properties", {})


def _stem(word: str) -> str:
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            return word[: -len(suffix)]
    return word
