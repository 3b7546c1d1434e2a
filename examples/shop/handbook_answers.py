"""The shop's handbook is asked: a cited answer, and two editions that contradict each other.

`make demo` has it as its last part; `python examples/shop/handbook_answers.py` runs it alone.
"""

import asyncio
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from output import cut, headline

from pegboard import LOCAL
from pegboard.core.ports.knowledge.evidence_store import StoredEvidence
from pegboard.features.knowledge import DocumentQuery
from pegboard.features.knowledge.bases import KnowledgeBase
from pegboard.runtime import Pegboard, Settings

HERE = Path(__file__).parent
CITED = "On which days does Fairmont deliver?"
DISPUTED = "Within how many days can a customer return a record?"
_LOOK_AGAIN = 0.1


async def ask_the_handbook() -> bool:
    """Take the handbook in, and ask it twice.

    Returns:
        Whether the answers were what they should be.
    """
    with TemporaryDirectory() as folder:
        settings = Settings(board=HERE / "handbook.yaml", data=Path(folder) / "data")
        async with Pegboard(settings=settings) as board:
            (base,) = board.knowledge.bases.list_visible(LOCAL)
            is_held = await take_in(board, base)
            cited = await ask(board, base, CITED)
            disputed = await ask(board, base, DISPUTED)
    return (
        is_held
        and bool(cited.evidence.citations)
        and cited.evidence.enough
        and bool(disputed.evidence.conflicts)
    )


async def take_in(board: Pegboard, base: KnowledgeBase) -> bool:
    """Take in the folder of the board file; whether the letter that gives orders is held back."""
    headline("The handbook")
    await board.knowledge.refresh(base, principal=LOCAL)
    while True:
        rows, _ = await board.knowledge.documents.list_page(base, DocumentQuery(), principal=LOCAL)
        is_busy = any(row.state not in {"ready", "held", "failed"} for row in rows)
        if not is_busy and not await board.knowledge.is_gathering(base, principal=LOCAL):
            break
        await asyncio.sleep(_LOOK_AGAIN)
    for row in rows:
        print(f"  {row.state:<6} {row.outer_id:<28} {cut(row.reason, 60)}".rstrip())
    return [row.outer_id for row in rows if row.state == "held"] == ["letter-from-fairmont.html"]


async def ask(board: Pegboard, base: KnowledgeBase, question: str) -> StoredEvidence:
    """Ask, and print the quotes with their documents."""
    headline(question)
    found = await board.knowledge.ask(base, question, principal=LOCAL)
    evidence = found.evidence
    if not evidence.enough:
        print(f"  Not enough evidence. {evidence.reason}")
    for item in evidence.citations:
        print(f"  [{item.number}] {item.title}: “{cut(' '.join(item.quote.split()), 90)}”")
    for item in evidence.conflicts:
        print(f"  [{item.first}] and [{item.second}] contradict each other: {item.about}.")
        print("      No record says that one edition replaces the other, so both answer.")
    return found


if __name__ == "__main__":
    sys.exit(0 if asyncio.run(ask_the_handbook()) else 1)
