"""Ground a question: the stages one after the other, over what was found."""

import asyncio
from collections.abc import Callable, Sequence

from msgspec import Struct

from pegboard.core.knowledge import (
    Conflict,
    Evidence,
    Hit,
    QuestionPart,
    Retrieval,
)
from pegboard.core.model_messages import ModelUsage
from pegboard.core.ports.chat_model import ChatModel
from pegboard.errors import PegboardError
from pegboard.knowledge.grounding.citations import (
    QuotedSpan,
    choose_quotes,
    list_quotes,
    number_quotes,
)
from pegboard.knowledge.grounding.confidence import (
    THRESHOLD,
    covers,
    describe_looks,
    explain_shortage,
    measure_confidence,
)
from pegboard.knowledge.grounding.conflicts import ConflictPair, compare_quotes
from pegboard.knowledge.grounding.question import AskedPart, read_question

UsageReport = Callable[[ModelUsage], None]


async def ground(
    question: str,
    retrieval: Retrieval,
    *,
    model: ChatModel | None = None,
    report: UsageReport | None = None,
    limit: int = 8,
    threshold: float = THRESHOLD,
) -> Evidence:
    """Checked quotes for a question, their conflicts, and whether they are enough.

    Args:
        question: As it was asked.
        retrieval: What was found for it, as by `retrieve_evidence`.
        model: Picks quotes and judges contradictions; rules do without one, or if it fails.
        report: Called with what the model used.
        limit: How many quotes, at most; those that conflict come on top.
        threshold: The confidence from which on the evidence is enough.
    """
    parts = read_question(question)
    quotes, judgement = await asyncio.to_thread(_judge_by_rules, parts, retrieval.hits, limit)
    if model is not None:
        judgement = await _ask_model(model, question, parts, retrieval, judgement, report, limit)
    chosen = _add_pairs(judgement.chosen, judgement.pairs)
    pairs = judgement.pairs
    citations = number_quotes(chosen)
    answered = _cover(parts, chosen)
    confidence = measure_confidence(
        retrieval.hits,
        [quote.alignment for quote in chosen],
        covered=sum(bool(part.citations) for part in answered),
        parts=len(parts),
        threshold=threshold,
    )
    enough = confidence.value >= threshold and any(part.citations for part in answered)
    reason = ""
    if not enough:
        missing = [part for part in answered if not part.citations] or answered
        reason = f"{explain_shortage(parts, missing, quotes)} {describe_looks(retrieval.looks)}"
    return Evidence(
        question=question,
        enough=enough,
        reason=reason,
        citations=tuple(citations),
        conflicts=tuple(_number_conflicts(chosen, pairs)) if enough else (),
        confidence=confidence,
        parts=tuple(answered),
        retrieval=retrieval,
        left_out=judgement.left_out,
    )


class _Judgement(Struct, frozen=True, kw_only=True):
    chosen: Sequence[QuotedSpan]
    pairs: Sequence[ConflictPair]
    left_out: int = 0


def _judge_by_rules(
    parts: Sequence[AskedPart], hits: Sequence[Hit], limit: int
) -> tuple[list[QuotedSpan], _Judgement]:
    quotes = list_quotes(parts, hits)
    chosen = choose_quotes(quotes, parts, limit=limit)
    return quotes, _Judgement(chosen=chosen, pairs=compare_quotes(parts, quotes))


async def _ask_model(
    model: ChatModel,
    question: str,
    parts: Sequence[AskedPart],
    retrieval: Retrieval,
    lexical: _Judgement,
    report: UsageReport | None,
    limit: int,
) -> _Judgement:
    """What a model says in place of the rules, as far as it answers."""
    from pegboard.knowledge.grounding.model_judge import judge_conflicts, pick_quotes

    chosen, pairs, left_out = lexical.chosen, lexical.pairs, 0
    try:
        picked = await pick_quotes(model, question, parts, retrieval.hits, report=report)
        chosen, left_out = choose_quotes(picked.quotes, parts, limit=limit), picked.left_out
        suspects = _add_pairs(chosen, pairs)
        pairs = await judge_conflicts(model, question, suspects, report=report)
    except PegboardError:
        pass
    return _Judgement(chosen=chosen, pairs=pairs, left_out=left_out)


def _add_pairs(chosen: Sequence[QuotedSpan], pairs: Sequence[ConflictPair]) -> list[QuotedSpan]:
    places = {quote.place for quote in chosen}
    added = list(chosen)
    for pair in pairs:
        for quote in (pair.first, pair.second):
            if quote.place not in places:
                places.add(quote.place)
                added.append(quote)
    return added


def _number_conflicts(
    quotes: Sequence[QuotedSpan], pairs: Sequence[ConflictPair]
) -> list[Conflict]:
    numbers = {quote.place: number for number, quote in enumerate(quotes, start=1)}
    return [
        Conflict(
            first=numbers[pair.first.place],
            second=numbers[pair.second.place],
            judge=pair.judge,
            about=pair.about,
        )
        for pair in pairs
    ]


def _cover(parts: Sequence[AskedPart], quotes: Sequence[QuotedSpan]) -> list[QuestionPart]:
    """The parts of the question, each with the citations that speak to it."""
    return [
        QuestionPart(
            part.text,
            tuple(
                number for number, quote in enumerate(quotes, start=1) if covers(part, quote, at=at)
            ),
        )
        for at, part in enumerate(parts)
    ]
