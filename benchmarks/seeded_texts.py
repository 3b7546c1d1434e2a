"""Documents, questions and vectors made from a seed, as many as one wants, the same in each run.

The words follow each other as in the reference of the Python language that is part of its standard
library, so that common words and pairs of words are as frequent as in a real text; one word in
sixty is made up, so that the vocabulary grows with the text.
"""

import random
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from typing import Any

WIDTH = 384
"""Numbers of a vector, as many as MiniLM's have."""
WORDS = 110
"""Of a piece, as of the usual piece of a base."""
SIZES = (10, 190)
"""Pieces of documents, in turn."""


@dataclass(frozen=True, kw_only=True)
class SeededDocument:
    """A document: its number, and the texts of its pieces."""

    number: int
    pieces: Sequence[str]


def make_documents(pieces: int) -> Iterator[SeededDocument]:
    """Documents with so many pieces altogether."""
    number = 0
    while pieces > 0:
        chance = random.Random(f"document {number}")
        size = min(SIZES[number % len(SIZES)], pieces)
        texts = [make_text(chance, WORDS) for _ in range(size)]
        yield SeededDocument(number=number, pieces=texts)
        pieces -= size
        number += 1


def make_questions(pieces: int, count: int) -> list[str]:
    """Questions of twelve words that follow each other in a piece of these documents."""
    chance = random.Random(f"questions {pieces}")
    wanted = sorted(chance.sample(range(pieces), count))
    questions: list[str] = []
    at = 0
    for document in make_documents(pieces):
        for text in document.pieces:
            if wanted and at == wanted[0]:
                wanted.pop(0)
                words = text.split()
                start = chance.randrange(len(words) - 12)
                questions.append(f"what about {' '.join(words[start : start + 12])}")
            at += 1
    chance.shuffle(questions)
    return questions


def make_text(chance: random.Random, words: int) -> str:
    """Sentences with so many words."""
    following = _read_following()
    word = chance.choice(following[""])
    found: list[str] = []
    for number in range(1, words + 1):
        if chance.random() < 1 / 60:
            found.append(f"{chance.choice(following[''])}{chance.randrange(100_000)}")
        else:
            found.append(word)
        word = chance.choice(following[word])
        if number % 15 == 0 or number == words:
            found[-1] += "."
    return " ".join(found)


def make_vectors(name: str, count: int) -> Any:
    """Vectors of chance, one row each."""
    import numpy as np

    seed = int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), "little")
    rows = np.random.default_rng(seed).standard_normal((count, WIDTH), "f4")
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@cache
def _read_following() -> dict[str, list[str]]:
    """By word the words that follow it; by the empty word all of them."""
    from pydoc_data.topics import topics

    words = re.findall(r"[A-Za-z]{1,24}", " ".join(topics[key] for key in sorted(topics)))
    following: defaultdict[str, list[str]] = defaultdict(list)
    for left, right in zip(words, words[1:] + words[:1], strict=True):
        following[left].append(right)
    return {**following, "": words}
