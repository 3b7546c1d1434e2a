"""Answers of models whose numbers are checked against what their calls have found."""

import asyncio

from msgspec import structs

from pegboard.core.knowledge import CitedAnswer
from pegboard.features.knowledge.evidence import CitableEvidence, EvidenceLedger
from pegboard.knowledge.grounding.check_answer import CheckedAnswer, check_answer
from pegboard.knowledge.grounding.passages import narrow_citation


async def cite_answer(
    ledger: EvidenceLedger, text: str, run: str, *, question: str = ""
) -> CitedAnswer:
    """An answer without the numbers that no quote carries.

    One whose run has found nothing is left as it is: its numbers mean something else.

    Args:
        ledger: What the calls of its conversation or run have found.
        text: The answer.
        run: That has made it.
        question: What was asked.
    """
    citable = await ledger.find_citable(run)
    if not citable.citations:
        return CitedAnswer(text=text)
    checked = await asyncio.to_thread(_check, text, citable, question)
    cited = {item.number for item in checked.citations}
    met = [item for item in citable.conflicts if {item.first, item.second} & cited]
    others = {number for item in met for number in (item.first, item.second)} - cited
    return CitedAnswer(
        text=checked.text,
        citations=(*checked.citations, *(it for it in citable.citations if it.number in others)),
        conflicts=tuple(met),
        left_out=checked.left_out,
    )


def _check(text: str, citable: CitableEvidence, question: str) -> CheckedAnswer:
    """A checked answer; of a whole piece it cites the sentences that carry its own."""
    checked = check_answer(text, citable.citations, question=question)
    citations = tuple(
        narrow_citation(it, checked.sentences[it.number]) if it.number in citable.pieces else it
        for it in checked.citations
    )
    return structs.replace(checked, citations=citations)
