"""What a score means: how likely a piece answers the question, from 0 to 1.

Raw scores mean nothing by themselves: BM25 grows with the length of the question, and the cosines
of some models are all above 0.7. So each stage is first measured against the question itself:

* **words**: BM25 divided by what a usual passage would have that holds each word of the question
  once. Rare words weigh as much above as below the line.
* **meaning**: how far the cosine lies from the mean of all visible passages (0) towards that of the
  question with itself (1).

Their convex sum, and each alone, goes through a logistic curve. The curves were fitted to labelled
questions (Platt, 1999), so that of the pieces with a score of 0.7 about seven in ten are labelled
as answers, whether they were found by words alone or by meaning as well. A base without an embedder
therefore needs no other threshold than one that has it.
"""

import math
from collections.abc import Mapping

from msgspec import Struct

from pegboard.core.ports.knowledge_index import VectorMatches
from pegboard.knowledge.terms import PAIR, WHOLE

MEANING = 0.4
"""The share of the meaning in the sum of both."""
_USUAL_MEAN, _ASSUMED_PASSAGES = 0.1, 20
"""The mean cosine of a base of few passages is drawn to a usual one, as if it had so many more."""


class Curve(Struct, frozen=True):
    """A logistic curve: one half at `middle`."""

    slope: float
    middle: float

    def apply(self, value: float) -> float:
        """A number from 0 to 1."""
        return 1 / (1 + math.exp(-self.slope * (value - self.middle)))


BY_WORDS = Curve(4.0, 0.9)
BY_MEANING = Curve(10.0, 0.55)
BY_BOTH = Curve(6.0, 0.8)


def measure_question(terms: Mapping[str, float], rarities: Mapping[str, float]) -> float:
    """The score by words of a usual passage that holds each word of a question once."""
    return sum(
        weight * rarities.get(term, 0.0)
        for term, weight in terms.items()
        if PAIR not in term and WHOLE not in term
    )


def measure_cosine(cosine: float, matches: VectorMatches) -> float:
    """How far a cosine lies from the mean towards 1."""
    count = matches.passages + _ASSUMED_PASSAGES
    mean = (matches.mean * matches.passages + _USUAL_MEAN * _ASSUMED_PASSAGES) / count
    return max(0.0, (cosine - mean) / (1 - mean)) if mean < 1 else 0.0


def add_stages(words: float, meaning: float) -> float:
    """The convex sum of both."""
    return (1 - MEANING) * words + MEANING * meaning
