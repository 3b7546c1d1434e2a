"""Documents change while a run takes them in, and nothing that is said of them is lost."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.features.knowledge.test_killed_ingestion import NEW, OLD, ask, put_in, settle

from pegboard import Pegboard
from pegboard.core.principal import LOCAL
from pegboard.documents import SandboxConverter
from pegboard.errors import RunNotFound
from pegboard.features.knowledge import DocumentEdit, DocumentQuery, NewBase
from pegboard.features.knowledge.bases import KnowledgeBase


class HeldConversion:
    """Holds up each conversion until it may go on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.has_begun = asyncio.Event()
        self.may_go_on = asyncio.Event()
        convert = SandboxConverter.convert

        async def wait(converter: SandboxConverter, *args: Any, **more: Any) -> Any:
            self.has_begun.set()
            found = await convert(converter, *args, **more)
            await self.may_go_on.wait()
            return found

        monkeypatch.setattr(SandboxConverter, "convert", wait)


@pytest.fixture
async def board(tmp_path: Path) -> AsyncIterator[Pegboard]:
    async with Pegboard(data=tmp_path) as opened:
        yield opened


@pytest.fixture
async def base(board: Pegboard) -> KnowledgeBase:
    return await board.knowledge.add_base(NewBase(name="handbook"), principal=LOCAL)


async def test_what_is_said_of_a_document_while_it_is_taken_in_stays(
    board: Pegboard, base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = HeldConversion(monkeypatch)
    await put_in(board, base, OLD)
    await held.has_begun.wait()
    (row,), _ = await board.knowledge.documents.list_page(base, DocumentQuery(), principal=LOCAL)

    edit = DocumentEdit(title="Returns", edition="2023", audience="private")
    changed = await board.knowledge.documents.change(base, row.id, edit, principal=LOCAL)
    held.may_go_on.set()
    ready = await settle(board, base)

    assert changed.state == "converting"
    assert ready.state == "ready"
    assert (ready.title, ready.edition, ready.audience) == ("Returns", "2023", "private")


async def test_a_new_file_while_the_old_is_taken_in_is_taken_in_after_it(
    board: Pegboard, base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = HeldConversion(monkeypatch)
    await put_in(board, base, OLD)
    await held.has_begun.wait()

    await put_in(board, base, NEW)
    held.may_go_on.set()
    ready = await settle(board, base)

    assert (ready.state, ready.attempt, ready.revision) == ("ready", 1, 1)
    assert await ask(board, base) == [NEW]


@pytest.mark.slow
async def test_a_document_that_is_deleted_while_it_is_taken_in_leaves_nothing(
    board: Pegboard, base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = HeldConversion(monkeypatch)
    await put_in(board, base, OLD)
    await held.has_begun.wait()
    (row,), _ = await board.knowledge.documents.list_page(base, DocumentQuery(), principal=LOCAL)

    await board.knowledge.documents.delete(base, row.id, principal=LOCAL)
    held.may_go_on.set()
    with pytest.raises(RunNotFound):
        await board.runs.get(row.run, principal=LOCAL)

    assert await board.knowledge.documents.list_page(base, DocumentQuery(), principal=LOCAL) == (
        [],
        "",
    )
    assert await ask(board, base) == []
