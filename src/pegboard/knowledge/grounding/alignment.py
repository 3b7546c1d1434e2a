"""Stage 3, alignment: how well a span supports a question or a claim, 0 to 1.

Without a model: the share of the question's words that the span has (half of it may stand in its
piece: a heading or the sentence before often names the subject), less where the span holds nothing
of the kind that is asked for: no person for *who*, no figure for *how many*.
"""

from collections.abc import Mapping
from collections.abc import Set as AbstractSet

from pegboard.knowledge.grounding.question import AskedPart, holds_answer, holds_answer_in_row
from pegboard.knowledge.grounding.spans import TextSpan
from pegboard.knowledge.grounding.words import list_stems

_NAME_WEIGHT = 1.6
"""What a word of a name or a figure counts, where another counts one."""
_IN_PIECE = 0.45
"""What a word counts that stands in the piece of a span, not in the span."""
_WITHOUT_ANSWER = 0.4
"""What is left of the alignment of a span without the kind of answer that is asked for."""
_OTHER_MATTER = 0.5
"""What is left where only the piece has the words that a later part of a question is about."""
_NEAR_ANSWER = 0.7
"""What is left where the sentence beside it, or its context, holds it."""


def align(
    part: AskedPart,
    span: TextSpan,
    *,
    stems: AbstractSet[str] | None = None,
    around: AbstractSet[str] = frozenset(),
    weights: Mapping[str, float] | None = None,
) -> float:
    """How well a span supports a part of a question.

    Args:
        part: Of the question.
        span: Of a piece.
        stems: Of the span, where they are known.
        around: Stems of its piece, its headings and its title.
        weights: How much each stem says, as by its rarity; None for all alike.
    """
    if not part.stems:
        return 0.0
    here = set(list_stems(span.text)) if stems is None else stems
    if here.isdisjoint(part.stems):
        return 0.0
    if part.own and here.isdisjoint(part.own) and around.isdisjoint(part.own):
        return 0.0
    total = reached = 0.0
    for stem in part.stems:
        weight = (weights or {}).get(stem, 1.0) * (_NAME_WEIGHT if stem in part.names else 1.0)
        total += weight
        if stem in here:
            reached += weight
        elif stem in around:
            reached += weight * _IN_PIECE
    share = reached / total * _rate_answer(part, span)
    return min(1.0, share if not part.own or part.own & here else share * _OTHER_MATTER)


def _rate_answer(part: AskedPart, span: TextSpan) -> float:
    if span.kind == "row" and holds_answer_in_row(part, span.text, span.context):
        return 1.0
    if span.kind != "row" and holds_answer(part, span.text):
        return 1.0
    if span.context and holds_answer(part, span.context):
        return _NEAR_ANSWER
    return _WITHOUT_ANSWER
