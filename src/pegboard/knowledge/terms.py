"""The terms of pieces and of questions: one analysis for both.

Words are those of the search for tools (`registry/search_text.py`): identifiers are split, accents
are removed, plurals become singulars, and scripts without spaces become pairs of characters. Here
English endings go, too. Two words that follow each other are a term of their own, so that a phrase
counts more than its words, and so is an identifier as a whole.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise

from pegboard.registry.search_text import UNSPACED, is_weak, read_words

PAIR = "_"
"""Between the words of a pair; no word has it."""
WHOLE = "="
"""Before an identifier as a whole; no word has it."""
MAX_QUESTION = 4_000
"""Characters of a question that are looked at."""
_PAIR_WEIGHT = 0.5
_WEAK_WEIGHT = 0.2
_PASSAGE_WORDS = 100
_LONGEST_PASSAGE = 150
"""Words: what is longer is cut into passages of about `_PASSAGE_WORDS`."""
_MAX_PASSAGE = 4_000
"""Characters of a passage of which no end of a line or sentence is found."""
_END = re.compile("\n+|[.!?](?=\\s)|[\u3002\uff01\uff1f]|$")
_TOKEN = re.compile(r"[A-Za-z0-9_]+")
_JOINT = re.compile(r"[a-z0-9][A-Z]|[A-Za-z0-9]_+[A-Za-z0-9]")
_MAX_IDENTIFIER = 200
_MAX_WORD = 64
"""Characters of a word that count."""


def list_terms(text: str) -> str:
    """The terms of a text, joined by spaces; a line for each of its passages."""
    return "\n".join(" ".join(_expand(passage)) for passage in cut_passages(text))


def weigh_question(question: str) -> dict[str, float]:
    """The terms of a question with their weights."""
    question = question[:MAX_QUESTION]
    words = [
        (_WEAK_WEIGHT if is_weak(word) else 1.0, _stem(term)) for word, term in read_words(question)
    ]
    weights: dict[str, float] = {}
    for weight, term in words:
        weights[term] = max(weight, weights.get(term, 0.0))
    for left, right in pairwise(words):
        pair = left[1] + PAIR + right[1]
        weights[pair] = max(_PAIR_WEIGHT * max(left[0], right[0]), weights.get(pair, 0.0))
    return weights | dict.fromkeys(_list_identifiers(question), 1.0)


def cut_passages(text: str) -> list[str]:
    """A text as passages of about 100 words, cut at the ends of lines or sentences."""
    if _count(text) <= _LONGEST_PASSAGE:
        return [text]
    passages: list[str] = []
    start, last, words = 0, 0, 0
    for end in _list_ends(text):
        count = _count(text[last:end])
        if words and words + count > _PASSAGE_WORDS:
            passages.append(text[start:last])
            start, words = last, 0
        words += count
        last = end
    passages.append(text[start:])
    return [passage for passage in passages if passage.strip()] or [text]


def _list_ends(text: str) -> Iterator[int]:
    """The ends of lines and sentences, and others where these are far apart."""
    last = 0
    for found in _END.finditer(text):
        while found.end() - last > _MAX_PASSAGE:
            last = (text.rfind(" ", last, last + _MAX_PASSAGE) + 1) or last + _MAX_PASSAGE
            yield last
        last = found.end()
        yield last


def _count(text: str) -> int:
    """About how many words a text has; two characters of a script without spaces are one."""
    count = len(text.split())
    if not text.isascii():
        count += sum(len(run) for run in UNSPACED.findall(text)) // 2
    return count


def _expand(text: str) -> Iterator[str]:
    words = [_stem(term) for _, term in read_words(text)]
    yield from words
    for left, right in pairwise(words):
        yield left + PAIR + right
    yield from _list_identifiers(text)


def _list_identifiers(text: str) -> Iterator[str]:
    for found in _TOKEN.findall(text):
        if len(found) <= _MAX_IDENTIFIER and _JOINT.search(found):
            yield WHOLE + found.replace("_", "").casefold()


@lru_cache(maxsize=50_000)
def _stem(word: str) -> str:
    """A word without English endings: `mapped`, `mapping` and `maps` are `map`.

    On labelled questions it finds as much as the stemmer of Snowball.
    """
    word = word[:_MAX_WORD]
    if not word.isascii() or not word.isalpha():
        return word
    for ending, least in (("ing", 6), ("ed", 5), ("ly", 6)):
        if len(word) >= least and word.endswith(ending):
            word = word[: -len(ending)]
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz":
        word = word[:-1]
    if len(word) > 3 and word.endswith("e"):
        word = word[:-1]
    if len(word) > 3 and word.endswith("y"):
        word = f"{word[:-1]}i"
    return word
