"""What a score means: how likely a piece answers the question, from 0 to 1.

Raw scores mean nothing by themselves: BM25 grows with the length of the question, and the cosines
of some models are all above 0.7. So each stage is first measured against the question itself:

* **words**: BM25 divided by what a usual passage would have that holds each word of the question
  once. Rare words weigh as much above as below the line.
* **meaning**: how far the cosine lies from the mean of all visible passages (0) towards that of the
  question with itself (1).

Their convex sum, and each alone, goes through a logistic curve with two features: the measured
score itself, and its share of the best one for this question, since a piece that stands out is more
often the answer than one among ten alike. The curves were fitted to labelled questions about
documentation and about code (Platt, 1999): of the pieces with a score of 0.7 about seven in ten are
labelled as answers, whether they were found by words alone or by meaning as well (mean error .03
to .05). So a base without an embedder needs no other threshold than one that has it.
"""

import math
from collections.abc import Mapping

from msgspec import Struct

from pegboard.core.ports.knowledge.index import VectorMatches
from pegboard.knowledge.terms import PAIR, WHOLE

MEANING = 0.5
"""The share of the meaning in the sum of both."""
_USUAL_MEAN, _ASSUMED_PASSAGES = 0.1, 20
"""The mean cosine of a base of few passages is drawn to a usual one, as if it had so many more."""


class Curve(Struct, frozen=True):
    """A logistic curve over the logarithm of a measured score, and its share of the best."""

    start: float
    score: float
    share: float

    def apply(self, value: float, best: float) -> float:
        """A number from 0 to 1."""
        if value <= 0 or best <= 0:
            return 0.0
        exponent = self.start + self.score * math.log(value) + self.share * min(1.0, value / best)
        return 1 / (1 + math.exp(-exponent))


BY_WORDS = Curve(-6.12, 0.93, 6.22)
BY_MEANING = Curve(-5.49, 2.74, 7.11)
BY_BOTH = Curve(-6.37, 1.47, 7.03)


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
