"""Whether a passage answers a question of yes or no with yes or with no.

A sentence counts by how much it is about the question; it says no where it negates beside the
words of the question, or has the opposite of one of them.
"""

import math
from collections.abc import Iterator, Sequence

from msgspec import Struct

from pegboard.knowledge.grounding.negation import are_opposite, count_negations, find_negations
from pegboard.knowledge.grounding.patterns import any_of
from pegboard.knowledge.grounding.question import AskedPart
from pegboard.knowledge.grounding.spans import TextSpan
from pegboard.knowledge.grounding.words import find_words

_GROUNDS = r"evidence|proof|indication|record|reason|basis|connection|significant|relation|link"
_NO = any_of(
    rf"""
    \b(?:no|little|insufficient|lack of|without) (?:\w+ )?(?:{_GROUNDS})
    \bunlikely\b / \bimpossible\b / \bunable\b / \bincapable\b / \bfail(?:s|ed)? to\b
    \blacks?\b / \bmyth\b / \bmisconception\b / \bfalse\b / \bincorrect\b / \buntrue\b
    \bfar from\b / \brather than\b / \binstead of\b / \bcontrary to\b / \brarely\b / \bseldom\b
    \bdiffer(?:s|ent)? from\b / \bprohibit / \bforbid / \bdebunk / \bdispute
    \bden(?:y|ies|ied)\b / \brefut / \bimpractical\b / \bonly \d+% / \bunrelated\b
    \btoo \w+ to\b / \bunmöglich\b / \bverboten\b / \buntersagt\b / \bunwahrscheinlich\b / 不可能
    禁止 / 无法
    """
)
_YES = any_of(
    r"""
    \bindeed\b / \bin fact\b / \bcertainly\b / \bdefinitely\b / \babsolutely\b
    \bconfirm(?:s|ed)?\b / \bevidence (?:suggests|that) / \bproven\b / \bcapable of\b
    \bable to\b / \bit is possible\b / \bis known to\b / \bare known to\b / \bin der tat\b
    \btatsächlich\b / 确实 / 的确
    """
)
_REACH = 60
"""Characters between a negation and a word of the question that it denies."""
_UNSAID = 0.1
"""How much a sentence that shares no word with the question is about it."""

# Logistic regression over the passages of half of the questions of `benchmarks/grounding.py`.
_BIAS = -1.2
_WEIGHTS = {
    "affirms": 1.9,
    "denies": -2.0,
    "doubts": -1.2,
    "stresses": 0.7,
    "begins with yes": 0.5,
    "begins with no": -2.0,
    "goes on": 0.9,
}


class Stance(Struct, frozen=True, kw_only=True):
    """How a passage answers a question of yes or no.

    Attributes:
        yes: How likely it says yes, 0 to 1.
        span: The sentence that says so most.
    """

    yes: float
    span: TextSpan

    def contradicts(self, other: "Stance") -> float:
        """How likely the other says the opposite, 0 to 1."""
        return self.yes * (1 - other.yes) + other.yes * (1 - self.yes)


class _Line(Struct, frozen=True, kw_only=True):
    """A sentence, and what it has to do with the question."""

    span: TextSpan
    relevance: float
    denies: bool
    doubts: bool
    stresses: bool


def find_stance(part: AskedPart, spans: Sequence[TextSpan]) -> Stance | None:
    """How sentences of one passage answer a question; None without a sentence about it."""
    lines = list(_read_lines(part, spans))
    if not any(line.relevance > _UNSAID for line in lines):
        return None
    first = lines[0]
    is_no = first.denies or first.doubts
    values = {
        "affirms": max((line.relevance for line in lines if not line.denies), default=0.0),
        "denies": max((line.relevance for line in lines if line.denies), default=0.0),
        "doubts": max((line.relevance for line in lines if line.doubts), default=0.0),
        "stresses": max((line.relevance for line in lines if line.stresses), default=0.0),
        "begins with yes": 0.0 if is_no else first.relevance,
        "begins with no": first.relevance if is_no else 0.0,
        "goes on": 1.0 if len(lines) > 2 else 0.0,
    }
    sign = -1 if count_negations(part.text) % 2 else 1
    total = _BIAS + sign * sum(_WEIGHTS[name] * value for name, value in values.items())
    yes = 1 / (1 + math.exp(-total))
    return Stance(yes=yes, span=_choose(lines, denies=(sign * (yes - 0.5)) < 0))


def _choose(lines: Sequence[_Line], *, denies: bool) -> TextSpan:
    """The sentence that is most about the question, of those on one side if there are any."""
    own = [line for line in lines if (line.denies or line.doubts) == denies] or lines
    return max(own, key=lambda line: line.relevance).span


def _read_lines(part: AskedPart, spans: Sequence[TextSpan]) -> Iterator[_Line]:
    asked = set(part.stems)
    seen: set[str] = set()
    for span in spans:
        words = find_words(span.text)
        here = {word.stem for word in words}
        named = sum(1.0 if stem in here else 0.5 * (stem in seen) for stem in asked)
        seen |= here
        places = [word.start for word in words if word.stem in asked]
        has_opposite = any(are_opposite(stem, other) for stem in here - asked for other in asked)
        yield _Line(
            span=span,
            relevance=named / len(asked) if here & asked else _UNSAID,
            denies=_is_denied(span.text, places) != has_opposite,
            doubts=_NO.search(span.text) is not None,
            stresses=_YES.search(span.text) is not None,
        )


def _is_denied(text: str, places: Sequence[int]) -> bool:
    return any(
        start - _REACH <= place <= end + _REACH
        for start, end in find_negations(text)
        for place in places
    )
