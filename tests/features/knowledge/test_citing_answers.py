"""A document names the answers that cite it: those of the caller alone."""

import pytest
from msgspec import structs
from tests.features.knowledge.test_deletion import put

from pegboard import Pegboard
from pegboard.core.principal import LOCAL, Principal
from pegboard.errors import InvalidRequest
from pegboard.features.knowledge import NewBase

QUESTION = "What is the bonus of the director?"


async def test_a_question_that_cites_a_document_is_listed_for_its_caller_alone() -> None:
    async with Pegboard() as board:
        knowledge = board.knowledge
        base = await knowledge.add_base(NewBase(name="handbook"), principal=LOCAL)
        row = await knowledge.documents.get(base, await put(board, base), principal=LOCAL)
        asked = await knowledge.ask(base, QUESTION, principal=LOCAL)
        await knowledge.ask(base, QUESTION, mode="simple", principal=LOCAL)

        (answer,), cursor = await knowledge.citations.list(row, principal=LOCAL)

        assert (answer.kind, answer.id, answer.title) == ("ask", asked.call, QUESTION)
        assert answer.numbers == tuple(it.number for it in asked.evidence.citations)
        assert not cursor
        eve = Principal(id="eve")
        assert await knowledge.citations.list(row, principal=eve) == ([], "")


async def test_all_answers_are_found_page_by_page_beyond_places_that_cite_nothing() -> None:
    async with Pegboard() as board:
        knowledge = board.knowledge
        base = await knowledge.add_base(NewBase(name="handbook"), principal=LOCAL)
        row = await knowledge.documents.get(base, await put(board, base), principal=LOCAL)
        asked = await knowledge.ask(base, QUESTION, principal=LOCAL)
        store = board._open.storage.evidence
        for number in range(520):
            mode = "grounding" if number % 130 == 0 else "simple"
            later = structs.replace(asked, call=f"k{number}", at=asked.at + number + 1, mode=mode)
            await store.put(later)

        pages: list[list[str]] = []
        cursor = ""
        while not pages or cursor:
            answers, cursor = await knowledge.citations.list(
                row, limit=2, cursor=cursor, principal=LOCAL
            )
            pages.append([it.id for it in answers])

    assert pages == [["k390", "k260"], ["k130", "k0"], [asked.call]]


async def test_a_cursor_of_another_list_is_refused() -> None:
    async with Pegboard() as board:
        knowledge = board.knowledge
        base = await knowledge.add_base(NewBase(name="handbook"), principal=LOCAL)
        row = await knowledge.documents.get(base, await put(board, base), principal=LOCAL)

        with pytest.raises(InvalidRequest):
            await knowledge.citations.list(row, cursor="WzEsMl0", principal=LOCAL)
