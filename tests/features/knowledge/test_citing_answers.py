"""A document names the answers that cite it: those of the caller alone."""

from tests.features.knowledge.test_deletion import put

from pegboard import Pegboard
from pegboard.core.principal import LOCAL, Principal
from pegboard.features.knowledge import NewBase

QUESTION = "What is the bonus of the director?"


async def test_a_question_that_cites_a_document_is_listed_for_its_caller_alone() -> None:
    async with Pegboard() as board:
        knowledge = board.knowledge
        base = await knowledge.add_base(NewBase(name="handbook"), principal=LOCAL)
        row = await knowledge.documents.get(base, await put(board, base), principal=LOCAL)
        asked = await knowledge.ask(base, QUESTION, principal=LOCAL)
        await knowledge.ask(base, QUESTION, mode="simple", principal=LOCAL)

        (answer,), has_more = await knowledge.citations.list(row, principal=LOCAL)

        assert (answer.kind, answer.id, answer.title) == ("ask", asked.call, QUESTION)
        assert answer.numbers == tuple(it.number for it in asked.evidence.citations)
        assert not has_more
        eve = Principal(id="eve")
        assert await knowledge.citations.list(row, principal=eve) == ([], False)
