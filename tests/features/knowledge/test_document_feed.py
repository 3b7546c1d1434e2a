"""Watchers of a base get what any server changes, with the rights that they have now."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any, cast

import pytest
from msgspec import structs

from pegboard import Pegboard
from pegboard.core.ports.knowledge.document_store import DocumentScope, StoredDocument
from pegboard.core.principal import LOCAL, Principal
from pegboard.features.knowledge import NewBase
from pegboard.features.knowledge.bases import KnowledgeBase
from pegboard.features.knowledge.document_feed import DocumentFeed, DocumentPoll
from pegboard.features.knowledge.documents import Documents
from pegboard.features.knowledge.parts import DocumentChange, KnowledgeChanges

ADA = Principal(id="u_ada", user="u_ada", organisations=frozenset({"acme"}), scopes=LOCAL.scopes)


class Watch:
    """A base, and a watcher on a server that has made none of its documents."""

    def __init__(self, board: Pegboard, base: KnowledgeBase) -> None:
        self.base = base
        self.store = board._open.storage.documents
        self.changes = KnowledgeChanges()
        self.caller = LOCAL
        documents = board.knowledge.documents
        self.poll = DocumentPoll(documents, self.store, self.changes, look_again=0.01)
        self.bases = board.knowledge.bases
        self.documents = documents
        self.feed = self.follow()

    def follow(self) -> AsyncGenerator[tuple[str, StoredDocument | str]]:
        """The events of one more watcher."""
        return DocumentFeed(
            self.base,
            bases=self.bases,
            documents=self.documents,
            changes=self.changes,
            caller=lambda: self.caller,
            poll=self.poll,
            check_again=0.01,
        ).follow()

    async def add(self, id_: str, **fields: Any) -> StoredDocument:
        """Store a document, as another server does."""
        row = StoredDocument(
            id=id_, base=self.base.id, name=id_, owner="/local", created_at=1.0, updated_at=1.0
        )
        return await self.store.add(structs.replace(row, outer_id=id_, digest=id_, **fields))

    async def next(self) -> tuple[str, str, str]:
        """The next event: its kind, the id, and the state."""
        kind, item = await anext(self.feed)
        if isinstance(item, StoredDocument):
            return kind, item.id, item.state
        return kind, item, ""


@pytest.fixture
async def watch(tmp_path: Path) -> AsyncGenerator[Watch]:
    """A watcher of a base of the board file, which everybody sees."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "board.yaml").write_text("knowledge: [{name: handbook, folder: docs}]\n")
    async with Pegboard(tmp_path / "board.yaml") as board:
        yield Watch(board, board.knowledge.bases.find("handbook", principal=LOCAL))


async def test_the_progress_that_another_server_makes_is_told(watch: Watch) -> None:
    await watch.add("d1", state="converting")
    waiting = asyncio.ensure_future(watch.next())
    await asyncio.sleep(0)  # it has listed what is there: a store in memory never waits
    await watch.add("d2", state="converting")
    assert await waiting == ("document", "d2", "converting")

    await watch.store.change("d1", {"state": "ready", "answers": True, "updated_at": 2.0})
    assert await watch.next() == ("document", "d1", "ready")
    await watch.store.change("d1", {"title": "Handbook", "updated_at": 3.0})
    assert await watch.next() == ("document", "d1", "ready")
    await watch.store.delete("d1")
    assert await watch.next() == ("document_deleted", "d1", "")


async def test_the_stream_ends_when_its_caller_sees_the_base_no_more() -> None:
    async with Pegboard() as board:
        base = await board.knowledge.add_base(NewBase(name="handbook"), principal=LOCAL)
        watch = Watch(board, base)
        watch.caller = ADA

        assert [it async for it in watch.feed] == []


async def test_the_organisations_of_a_caller_are_those_of_now(watch: Watch) -> None:
    watch.caller = structs.replace(ADA, organisations=frozenset())
    waiting = asyncio.ensure_future(watch.next())
    await asyncio.sleep(0)  # it has listed what is there: a store in memory never waits
    await watch.add("d1", audience="organisation", organisation="acme", state="waiting")
    await watch.add("d2", state="waiting")
    assert await waiting == ("document", "d2", "waiting")

    watch.caller = ADA
    assert await watch.next() == ("document", "d1", "waiting")
    watch.caller = structs.replace(ADA, organisations=frozenset())
    watch.changes.notify(DocumentChange(watch.base.id, "d1"))
    assert await watch.next() == ("document_deleted", "d1", "")


class Counted:
    """Documents, and how often they were listed."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents
        self.lists = 0

    async def list_all(self, scope: DocumentScope) -> list[StoredDocument]:
        """Those of the documents."""
        self.lists += 1
        return await self._documents.list_all(scope)

    async def get(
        self, base: KnowledgeBase, document: str, *, principal: Principal
    ) -> StoredDocument:
        """That of the documents."""
        return await self._documents.get(base, document, principal=principal)


async def test_a_server_with_a_database_of_its_own_is_woken_by_its_changes_alone(
    watch: Watch,
) -> None:
    checks = 0

    def ask() -> Principal:
        nonlocal checks
        checks += 1
        return LOCAL

    counted = Counted(watch.documents)
    feed = DocumentFeed(
        watch.base,
        bases=watch.bases,
        documents=cast("Documents", counted),
        changes=watch.changes,
        caller=ask,
        check_again=0.001,
    ).follow()
    waiting = asyncio.ensure_future(anext(feed))
    while checks < 20:  # noqa: ASYNC110 - it waits, and checks its caller now and then
        await asyncio.sleep(0.001)
    await watch.add("d1", state="converting")
    watch.changes.notify(DocumentChange(watch.base.id, "d1"))

    kind, row = await waiting
    assert (kind, getattr(row, "id", ""), counted.lists) == ("document", "d1", 1)


async def test_watchers_share_what_is_found_of_other_servers(watch: Watch) -> None:
    other = watch.follow()
    waiting = [asyncio.ensure_future(anext(it)) for it in (watch.feed, other)]
    await asyncio.sleep(0)
    await watch.add("d1", state="converting")

    found = [await it for it in waiting]

    assert [(kind, getattr(row, "id", "")) for kind, row in found] == [("document", "d1")] * 2
    await other.aclose()
    await watch.add("d2", state="converting")
    assert await watch.next() == ("document", "d2", "converting")
