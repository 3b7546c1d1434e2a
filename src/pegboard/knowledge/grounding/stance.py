"""Whether a passage answers a question of yes or no with yes or with no.

A sentence counts by how much it is about the question; it says no where it negates beside the
words of the question, doubts them, or has the opposite of one of them.
"""

from collections.abc import Sequence

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


class Stance(Struct, frozen=True, kw_only=True):
    """How a passage answers a question of yes or no.

    Attributes:
        value: From -1 for no to 1 for yes; near 0 it says neither.
        span: The sentence that says so most.
    """

    value: float
    span: TextSpan | None = None


def find_stance(part: AskedPart, spans: Sequence[TextSpan]) -> Stance:
    """How sentences of one passage answer a question."""
    total = weight = 0.0
    best: tuple[float, float, TextSpan] | None = None
    seen: set[str] = set()
    for number, span in enumerate(spans):
        relevance = _rate(part, span, seen)
        if relevance <= 0:
            continue
        sign = _find_sign(part, span.text)
        power = relevance**2 * (1.5 if number == 0 else 1.0)
        total += sign * power
        weight += power
        if best is None or abs(sign) * power > best[0]:
            best = (abs(sign) * power, sign, span)
    if not weight or best is None:
        return Stance(value=0.0)
    return Stance(value=total / weight, span=best[2])


def _rate(part: AskedPart, span: TextSpan, seen: set[str]) -> float:
    """How much a sentence is about a question; what sentences before it named counts half."""
    here = {word.stem for word in find_words(span.text)}
    reached = sum(1.0 if stem in here else 0.5 * (stem in seen) for stem in part.stems)
    has_own = any(stem in here for stem in part.stems)
    seen |= here
    return reached / len(part.stems) if has_own else 0.0


def _find_sign(part: AskedPart, text: str) -> float:
    asked = set(part.stems)
    words = find_words(text)
    places = [word.start for word in words if word.stem in asked]
    denials = sum(
        any(start - _REACH <= place <= end + _REACH for place in places)
        for start, end in find_negations(text)
    )
    denials += any(
        are_opposite(word.stem, stem) for word in words if word.stem not in asked for stem in asked
    )
    denials = denials % 2 if denials > 2 else min(denials, 1)
    doubts = len(_NO.findall(text))
    sign = -1.0 if denials or doubts else 0.6
    if sign > 0 and _YES.search(text):
        sign = 1.0
    return -sign if count_negations(part.text) % 2 else sign
