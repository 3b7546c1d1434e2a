"""The terms of pieces and of questions: one analysis for both.

Words are those of the search for tools (`registry/search_text.py`): identifiers are split, accents
are removed, plurals become singulars, and scripts without spaces become pairs of characters. Two
words that follow each other are a term, too, so that a phrase counts more than its words.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from pegboard.registry.search_text import UNSPACED, is_weak, read_words

PAIR = "_"
"""Between the words of a pair; no word has it."""
MAX_QUESTION = 4_000
"""Characters of a question that are looked at."""
_PAIR_WEIGHT = 0.5
_WEAK_WEIGHT = 0.2
_PASSAGE_WORDS = 100
_LONGEST_PASSAGE = 150
"""Words: what is longer is cut into passages of about `_PASSAGE_WORDS`."""
_END = re.compile("\n+|[.!?](?=\\s)|[\u3002\uff01\uff1f]|$")


def list_terms(text: str) -> str:
    """The terms of a text in order, joined by spaces; a line for each of its passages."""
    return "\n".join(" ".join(_expand(_read(passage))) for passage in cut_passages(text))


def weigh_question(question: str) -> dict[str, float]:
    """The terms of a question with their weights."""
    words = _read(question[:MAX_QUESTION])
    weights: dict[str, float] = {}
    for word in words:
        weights[word] = _WEAK_WEIGHT if is_weak(word) else 1.0
    for left, right in pairwise(words):
        weights[left + PAIR + right] = _PAIR_WEIGHT * max(weights[left], weights[right])
    return weights


def cut_passages(text: str) -> list[str]:
    """A text as passages of about 100 words, cut at the ends of lines or sentences."""
    if _count(text) <= _LONGEST_PASSAGE:
        return [text]
    passages: list[str] = []
    start, last, words = 0, 0, 0
    for found in _END.finditer(text):
        count = _count(text[last : found.end()])
        if words and words + count > _PASSAGE_WORDS:
            passages.append(text[start:last])
            start, words = last, 0
        words += count
        last = found.end()
    passages.append(text[start:])
    return [passage for passage in passages if passage.strip()] or [text]


def _count(text: str) -> int:
    """About how many words a text has; two characters of a script without spaces are one."""
    count = len(text.split())
    if not text.isascii():
        count += sum(len(run) for run in UNSPACED.findall(text)) // 2
    return count


def _read(text: str) -> list[str]:
    return [term for _, term in read_words(text)]


def _expand(words: list[str]) -> Iterator[str]:
    yield from words
    for left, right in pairwise(words):
        yield left + PAIR + right
