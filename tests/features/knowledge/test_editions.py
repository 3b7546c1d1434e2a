"""Documents that replace each other: in a line, and never in a circle."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest

from pegboard import Pegboard
from pegboard.core.ports.knowledge.document_store import StoredDocument
from pegboard.core.principal import LOCAL
from pegboard.errors import InvalidRequest
from pegboard.features.knowledge import DocumentEdit, NewBase, NewDocument
from pegboard.features.knowledge.bases import KnowledgeBase
from pegboard.features.knowledge.editions import Editions


async def _once(text: str) -> AsyncIterator[bytes]:
    yield text.encode()


class Base:
    """A base of documents without texts."""

    def __init__(self, board: Pegboard, base: KnowledgeBase) -> None:
        self.documents = board.knowledge.documents
        self.base = base

    async def add(self, year: str, replaces: str = "") -> StoredDocument:
        new = NewDocument(name=f"{year}.md", chunks=_once(year), replaces=replaces)
        row, _ = await self.documents.add(self.base, new, principal=LOCAL)
        return row

    async def replace(self, row: StoredDocument, by: StoredDocument) -> None:
        edit = DocumentEdit(replaces=row.id)
        await self.documents.change(self.base, by.id, edit, principal=LOCAL)

    async def get(self, row: StoredDocument) -> StoredDocument:
        return await self.documents.get(self.base, row.id, principal=LOCAL)


@pytest.fixture
async def base() -> AsyncIterator[Base]:
    async with Pegboard() as board:
        added = await board.knowledge.add_base(NewBase(name="rules"), principal=LOCAL)
        yield Base(board, added)


@pytest.mark.parametrize("length", [2, 3, 5])
async def test_documents_do_not_replace_each_other_in_a_circle(base: Base, length: int) -> None:
    first = newest = await base.add("2020")
    for year in range(2021, 2020 + length):
        newest = await base.add(str(year), replaces=newest.id)

    with pytest.raises(InvalidRequest, match="in a circle"):
        await base.replace(newest, by=first)

    assert (await base.get(first)).replaces == ""
    assert (await base.get(newest)).replaced_by == ""


async def test_a_file_that_is_there_already_closes_no_circle(base: Base) -> None:
    first = await base.add("2020")
    newest = await base.add("2021", replaces=first.id)

    with pytest.raises(InvalidRequest, match="in a circle"):
        await base.add("2020", replaces=newest.id)


async def test_of_two_changes_that_close_a_circle_at_the_same_time_at_most_one_stays(
    base: Base,
) -> None:
    first, second = await base.add("2020"), await base.add("2021")

    ended = await asyncio.gather(
        base.replace(first, by=second), base.replace(second, by=first), return_exceptions=True
    )

    rows = [await base.get(first), await base.get(second)]
    assert sum(bool(row.replaces) for row in rows) <= 1
    assert any(isinstance(it, InvalidRequest) for it in ended)


async def test_a_circle_that_another_server_closed_is_opened_again() -> None:
    async with Pegboard() as board:
        base = Base(board, await board.knowledge.add_base(NewBase(name="r"), principal=LOCAL))
        first = await base.add("2020")
        second = await base.add("2021", replaces=first.id)
        store = board._open.storage.documents

        async def change(id_: str, changes: Mapping[str, Any]) -> StoredDocument:
            changed = await store.change(id_, changes)
            assert changed is not None
            return changed

        closed = await change(first.id, {"replaces": second.id})
        with pytest.raises(InvalidRequest, match="at the same time"):
            await Editions(store, change).record(closed, before=first)

        assert (await base.get(first)).replaces == ""
