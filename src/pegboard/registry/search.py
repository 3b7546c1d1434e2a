"""Find tools by filters and by words.

Words are looked up in an inverted index with BM25 over names, descriptions and parameters. Formula:
Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), k1 = 1.2, b
= 0.75; words of the name count three times, tags and capabilities twice.
"""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import islice

from pegboard.core.tool import Tool, ToolSpec

_K1 = 1.2
_B = 0.75
_MAX_FORMS = 50
_MAX_ENDING = 4
_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+|[^\W\d_a-zA-Z]+")
_STOP = frozenset(
    ("a", "an", "and", "for", "from", "in", "is", "it", "of", "on", "or", "the", "to")
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolQuery:
    """Filters that must all match, and words to rank by; empty means any.

    Attributes:
        tags: The tool must have all of them.
    """

    query: str = ""
    capability: str = ""
    tags: tuple[str, ...] = ()
    category: str = ""
    source: str = ""
    effect: str = ""
    status: str = ""
    limit: int = 20


def matches(spec: ToolSpec, wanted: ToolQuery) -> bool:
    """Whether a tool matches the filters."""
    return (
        (not wanted.capability or wanted.capability in spec.capabilities)
        and set(wanted.tags) <= set(spec.tags)
        and wanted.category in {"", spec.category}
        and wanted.source in {"", spec.source}
        and wanted.effect in {"", spec.effect.value}
        and wanted.status in {"", spec.status.value}
    )


def words(text: str) -> list[str]:
    """Lower-case singulars of a text; identifiers are split at `_`, `-` and capitals."""
    return [_stem(word.lower()) for word in _WORD.findall(text) if word.lower() not in _STOP]


class SearchIndex:
    """A search index over some tools; rebuilt when they change."""

    def __init__(self, tools: Iterable[Tool]) -> None:
        self._postings: dict[str, dict[int, float]] = defaultdict(dict)
        self._tools: list[Tool] = []
        self._lengths: list[float] = []
        for tool in tools:
            self._add(tool)
        self._weigh()

    def search(self, query: str, keep: Callable[[Tool], bool], limit: int) -> list[Tool]:
        """The best matching tools, among those that `keep` accepts."""
        scores: dict[int, float] = defaultdict(float)
        for word in dict.fromkeys(words(query)):
            for term, weight in self._expand(word):
                for document, gain in self._postings[term].items():
                    scores[document] += weight * gain
        # equally good ones stay in the order of registration
        ranked = sorted(scores, key=lambda document: (-scores[document], document))
        return list(islice(filter(keep, (self._tools[document] for document in ranked)), limit))

    def _add(self, tool: Tool) -> None:
        spec = tool.spec
        counts: Counter[str] = Counter()
        for text, weight in (
            (f"{spec.name} {spec.title}", 3),
            (" ".join((*spec.tags, *spec.capabilities, *spec.supported_tasks, spec.category)), 2),
            (spec.description, 1),
            (" ".join(_parameter_names(tool)), 1),
        ):
            for word in words(text):
                counts[word] += weight
        document = len(self._tools)
        self._tools.append(tool)
        self._lengths.append(float(counts.total()))
        for word, frequency in counts.items():
            self._postings[word][document] = float(frequency)

    def _weigh(self) -> None:
        """Turn word counts into BM25 weights, once for all searches."""
        count = len(self._tools)
        average = sum(self._lengths) / (count or 1) or 1.0
        norms = [_K1 * (1 - _B + _B * length / average) for length in self._lengths]
        for postings in self._postings.values():
            rarity = math.log(1 + (count - len(postings) + 0.5) / (len(postings) + 0.5))
            for document, frequency in postings.items():
                postings[document] = rarity * frequency * (_K1 + 1) / (frequency + norms[document])

    def _expand(self, word: str) -> Iterable[tuple[str, float]]:
        """The word itself; its longer and shorter forms when no tool uses it."""
        if word in self._postings:
            return ((word, 1.0),)
        if len(word) < 3:
            return ()
        alike = (term for term in self._postings if _is_form(term, word))
        return [(term, 0.5) for term in islice(alike, _MAX_FORMS)]


def _parameter_names(tool: Tool) -> Iterable[str]:
    names: tuple[str, ...] | None = getattr(tool, "parameter_names", None)
    return names if names is not None else tool.spec.input_schema.get("properties", {})


def _is_form(term: str, word: str) -> bool:
    """Whether one of the two is the other with an ending."""
    if term.startswith(word):
        return True
    return len(term) >= 4 and word.startswith(term) and len(word) - len(term) <= _MAX_ENDING


def _stem(word: str) -> str:
    """The singular. On labelled queries, removing more (`-ing`, `-ed`, `-ation`) finds less."""
    if len(word) > 4 and word.endswith("ies"):
        return f"{word[:-3]}y"
    if len(word) > 4 and word.endswith(("sses", "xes", "ches", "shes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word
