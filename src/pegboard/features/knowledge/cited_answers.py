"""Answers of models whose numbers are checked against what their calls have found."""

import asyncio

from pegboard.core.knowledge import CitedAnswer
from pegboard.features.knowledge.evidence import EvidenceLedger
from pegboard.knowledge.grounding.check_answer import check_answer


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
    citations, conflicts = await ledger.list_citations(run)
    if not citations:
        return CitedAnswer(text=text)
    checked = await asyncio.to_thread(check_answer, text, citations, question=question)
    cited = {item.number for item in checked.citations}
    met = [item for item in conflicts if {item.first, item.second} & cited]
    others = {number for item in met for number in (item.first, item.second)} - cited
    return CitedAnswer(
        text=checked.text,
        citations=(*checked.citations, *(it for it in citations if it.number in others)),
        conflicts=tuple(met),
        left_out=checked.left_out,
    )
