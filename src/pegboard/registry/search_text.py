"""The text of tools and questions as terms of the search index.

Identifiers are split into words, accents are removed, English plurals become singulars, and scripts
without spaces are cut into pairs of characters.
"""

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[^\W\d_A-Z]+|[A-Z]+|\d+")
UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\ud7ff\uf900-\ufaff]+")
_INTENT = re.compile(
    r"(?<=[.!?;])\s+|[\n\u3002\uff01\uff1b\uff1f]+|;\s*|,\s+(?:and|und|et|y|e|en)\s+"
    r"|,?\s+(?:(?:and|und|et|y)\s+)?(?:then|also|as\s+well\s+as|additionally|moreover|furthermore|finally|lastly"
    r"|after\s+that|afterwards|dann|danach|außerdem|anschließend|sowie|puis|ensuite|luego|después"
    r"|además|poi|inoltre|depois|também|daarna)\b,?\s*"
    r"|\s+(?:and|und|et|y)\s+",
    re.IGNORECASE,
)
_MIN_INTENT = 2
"""Terms of an intent; with fewer it belongs to the one before it, as in `terms and conditions`."""
_WEAK = 0.2
"""The weight of words that stand in most questions, whatever is asked for."""
_MAX_CHARS = 4_000
"""Characters of a question that are looked at."""

_IGNORED = frozenset(
    ("a", "an", "and", "for", "from", "in", "is", "it", "of", "on", "or", "the", "to")
)
_WEAK_WORDS = frozenset(
    """
    about above after again all also am any are as at be because been before being between both but
    by can could did do does doing done each else ever every few get gets getting give given gives
    had has have having he her here hers him his how i if into its itself just let like ll m may me
    might more most my myself no nor not now off once only other our out own per please re s same
    shall she should so some such t than thank thanks that their them then there these they this
    those through too up us use used using ve very want was we well were what when where which while
    who whom why will with within without would you your need needs needed help know wish able
    provide interested additionally finally lastly moreover furthermore information details show
    tell find looking look make go going

    aber als auch auf aus bei bin bitte dann das dass dem den der des die diese dieser durch ein
    eine einem einen einer es fur haben ich ihr im ist kann kannst konnen mein meine meinen mich mir
    mit mochte nach nicht oder sich sie sind und uns vom von was welche wenn wer wie wir wird zu zum
    zur

    au aux avec ce ces cette dans de des du elle en est et il je la le les leur ma mes moi mon nous
    ou par pas peux pour que qui sa ses son sont sur un une vous

    al como con cual del el ella en eres es esta este estoy hay las lo los mas me mi mis muy para
    pero por puedes que quiero se ser si sin son su sus tu un una uno y yo
    """.split()  # noqa: SIM905 - a list of so many is harder to read
)


def list_words(text: str) -> list[str]:
    """The terms of a text, in order."""
    return [term for word, term in read_words(text) if word not in _IGNORED]


class Intent(NamedTuple):
    """One thing that a question asks for: its terms with their weights, and its text."""

    terms: dict[str, float]
    text: str


def split_intents(question: str) -> list[Intent]:
    """Each thing that a question asks for.

    A question is split at its sentences and at words as `and` and `then`.
    """
    intents: list[Intent] = []
    for part in _INTENT.split(question[:_MAX_CHARS]):
        terms = _weigh(part) if part else {}
        if not terms:
            continue
        strong = sum(1 for weight in terms.values() if weight == 1.0)
        if intents and strong < _MIN_INTENT:
            before = intents.pop()
            intents.append(Intent(terms | before.terms, f"{before.text} {part.strip()}"))
        else:
            intents.append(Intent(terms, part.strip()))
    return intents


def _weigh(text: str) -> dict[str, float]:
    terms: dict[str, float] = {}
    for word, term in read_words(text):
        if word not in _IGNORED:
            weight = _WEAK if word in _WEAK_WORDS else 1.0
            terms[term] = max(terms.get(term, 0.0), weight)
    return terms


def is_weak(word: str) -> bool:
    """Whether a word stands in most texts, whatever they are about."""
    return word in _WEAK_WORDS or word in _IGNORED


def read_words(text: str) -> Iterator[tuple[str, str]]:
    """Each word of a text in lower case, and its term."""
    if not text.isascii():
        text = _without_accents(text)
    for found in _WORD.findall(text):
        word = found.casefold()
        if word.isascii():
            yield word, _to_singular(word)
        else:
            for piece in _cut(word):
                yield piece, piece


def _without_accents(text: str) -> str:
    pieces = unicodedata.normalize("NFKD", text)
    plain = "".join(piece for piece in pieces if not unicodedata.combining(piece))
    return unicodedata.normalize("NFC", plain)


def _cut(word: str) -> Iterator[str]:
    """A word; of scripts without spaces each pair of characters instead."""
    last = 0
    for found in UNSPACED.finditer(word):
        if found.start() > last:
            yield word[last : found.start()]
        run = found[0]
        yield from (run[at : at + 2] for at in range(max(1, len(run) - 1)))
        last = found.end()
    if last < len(word):
        yield word[last:]


@lru_cache(maxsize=50_000)
def _to_singular(word: str) -> str:
    """The singular. On labelled questions a stemmer that removes more finds no more."""
    if len(word) > 4 and word.endswith("ies"):
        return f"{word[:-3]}y"
    if len(word) > 4 and word.endswith(("sses", "xes", "ches", "shes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


class Vocabulary:
    """Sorted terms; new ones are sorted in when they are needed."""

    def __init__(self) -> None:
        self._sorted: list[str] = []
        self._new: list[str] = []

    def add(self, term: str) -> None:
        self._new.append(term)

    def discard(self, term: str) -> None:
        terms = self._settle()
        at = bisect_left(terms, term)
        if at < len(terms) and terms[at] == term:
            del terms[at]

    def starting_with(self, prefix: str) -> Iterator[str]:
        terms = self._settle()
        for at in range(bisect_left(terms, prefix), len(terms)):
            if not terms[at].startswith(prefix):
                return
            yield terms[at]

    def _settle(self) -> list[str]:
        if self._new:
            self._sorted += self._new
            self._sorted.sort()  # quick: nearly all are sorted already
            self._new.clear()
        return self._sorted
