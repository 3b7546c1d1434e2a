"""Nothing of a deleted base stays, whatever arrives meanwhile and wherever it breaks off."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec import structs
from tests.features.knowledge.test_deletion_everywhere import until
from tests.features.knowledge.test_killed_ingestion import NEW, OLD, ROOT, put_in, settle
from tests.storage.conftest import postgres, postgres_server
from tests.storage.test_documents import a_document

from pegboard import Pegboard
from pegboard.core.ports.knowledge.document_store import StoredDocument
from pegboard.core.principal import LOCAL
from pegboard.errors import ResourceNotFound, Unavailable
from pegboard.features.knowledge import NewBase, NewDocument
from pegboard.features.knowledge.bases import KnowledgeBase
from pegboard.runtime import Settings
from pegboard.runtime.wiring import knowledge as wiring

__all__ = ["postgres", "postgres_server"]

CHILD = """
import asyncio, pathlib, sys
from tests.features.knowledge.test_base_deletion import delete_and_die

asyncio.run(delete_and_die(pathlib.Path(sys.argv[1])))
"""


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.slow)])
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    """Of a board that stores in a file, or in PostgreSQL."""
    given: dict[str, object] = {"data": tmp_path}
    if request.param == "postgres":
        given["database"] = request.getfixturevalue("postgres")
    return Settings.model_validate(given)


async def list_left(board: Pegboard, folder: Path) -> list[str]:
    """The bases that have documents, and the files of documents."""
    left = await board._open.storage.documents.list_bases()
    return [*left, *list_files(folder)]


def list_files(folder: Path) -> list[str]:
    """The contents that are stored below a data directory."""
    return [path.name for path in folder.rglob("files/**/*") if path.is_file()]


async def delete_and_die(folder: Path) -> None:
    """Begin to delete a base; the process dies when one of its documents is gone."""
    async with Pegboard(data=folder) as board:
        base = await board.knowledge.add_base(NewBase(name="handbook"), principal=LOCAL)
        await put_in(board, base, OLD)
        await put_in_other(board, base)
        remove = board.knowledge.documents.remove

        async def remove_and_die(row: StoredDocument) -> None:
            await remove(row)
            os.kill(os.getpid(), signal.SIGKILL)

        board.knowledge.documents.remove = remove_and_die
        await board.knowledge.delete_base(base, principal=LOCAL)


async def put_in_other(board: Pegboard, base: KnowledgeBase) -> None:
    new = NewDocument(name="other.md", chunks=_once("Tapirs eat leaves."))
    await board.knowledge.documents.add(base, new, principal=LOCAL)


async def _once(text: str) -> AsyncIterator[bytes]:
    yield text.encode()


async def test_a_document_that_arrives_after_the_deletion_has_begun_is_refused(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Pegboard(settings=settings) as board:
        base = await board.knowledge.add_base(NewBase(name="handbook"), principal=LOCAL)
        await put_in(board, base, OLD)
        await settle(board, base)
        documents = board.knowledge.documents
        remove = documents.remove

        async def add_too(row: StoredDocument) -> None:
            with pytest.raises(ResourceNotFound, match="is being deleted"):
                await put_in_other(board, base)
            await remove(row)

        monkeypatch.setattr(documents, "remove", add_too)
        await board.knowledge.delete_base(base, principal=LOCAL)

        with pytest.raises(ResourceNotFound, match="There is no knowledge base"):
            await put_in_other(board, base)
        assert await list_left(board, tmp_path) == []


async def test_a_document_whose_base_goes_while_it_is_stored_goes_too(
    settings: Settings, tmp_path: Path
) -> None:
    async with Pegboard(settings=settings) as board:
        base = await board.knowledge.add_base(NewBase(name="handbook"), principal=LOCAL)

        async def delete_meanwhile() -> AsyncIterator[bytes]:
            yield NEW.encode()
            await board.knowledge.delete_base(base, principal=LOCAL)

        new = NewDocument(name="returns.md", chunks=delete_meanwhile())
        with pytest.raises(ResourceNotFound):
            await board.knowledge.documents.add(base, new, principal=LOCAL)

        assert await list_left(board, tmp_path) == []


async def test_a_deletion_that_fails_is_shown_and_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wiring, "_FIRST_RETRY", 0.05)
    async with Pegboard(data=tmp_path) as board:
        base = await board.knowledge.add_base(NewBase(name="handbook"), principal=LOCAL)
        await put_in(board, base, OLD)
        await settle(board, base)
        documents = board.knowledge.documents
        remove, failures = documents.remove, [Unavailable("busy"), Unavailable("busy")]

        async def fail_first(row: StoredDocument) -> None:
            if failures:
                raise failures.pop()
            await remove(row)

        monkeypatch.setattr(documents, "remove", fail_first)
        (before,) = await board.knowledge.view_bases([base], principal=LOCAL)
        with pytest.raises(Unavailable, match="busy"):
            await board.knowledge.delete_base(base, principal=LOCAL)
        (after,) = await board.knowledge.view_bases([base], principal=LOCAL)

        async def is_gone() -> bool:
            return await board._open.storage.resources.get(base.id) is None

        await until(is_gone)
        assert await list_left(board, tmp_path) == []
        assert failures == []

    assert [shown["is_being_deleted"] for shown in (before, after)] == [False, True]


class Removal:
    """Removes documents, or fails to.

    Attributes:
        fails: Bases for which it fails once.
        never: A base for which it always fails.
        waits: A base for which it waits until it may go on.
    """

    def __init__(self, board: Pegboard, monkeypatch: pytest.MonkeyPatch) -> None:
        self.fails: set[str] = set()
        self.never = ""
        self.waits = ""
        self.has_begun = asyncio.Event()
        self.may_go_on = asyncio.Event()
        self._remove = board.knowledge.documents.remove
        monkeypatch.setattr(board.knowledge.documents, "remove", self.remove)

    async def remove(self, row: StoredDocument) -> None:
        if row.base in self.fails:
            self.fails.discard(row.base)
            raise Unavailable("busy")
        if row.base == self.waits:
            self.has_begun.set()
            await self.may_go_on.wait()
        if row.base == self.never:
            self.has_begun.set()
            raise Unavailable("never")
        await self._remove(row)


async def add_full_bases(board: Pegboard, *names: str) -> list[KnowledgeBase]:
    """Bases that each have a document."""
    bases: list[KnowledgeBase] = []
    for name in names:
        bases.append(await board.knowledge.add_base(NewBase(name=name), principal=LOCAL))
        await put_in(board, bases[-1], OLD)
        await settle(board, bases[-1])
    return bases


async def test_a_deletion_that_fails_while_another_one_is_finished_is_tried_again_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wiring, "_FIRST_RETRY", 0.05)
    async with Pegboard(data=tmp_path) as board:
        one, two = await add_full_bases(board, "one", "two")
        removal = Removal(board, monkeypatch)
        removal.fails, removal.waits = {one.id, two.id}, one.id
        with pytest.raises(Unavailable, match="busy"):
            await board.knowledge.delete_base(one, principal=LOCAL)
        await removal.has_begun.wait()  # it has listed what is left
        with pytest.raises(Unavailable, match="busy"):
            await board.knowledge.delete_base(two, principal=LOCAL)
        removal.may_go_on.set()

        async def are_gone() -> bool:
            return not await board._open.storage.resources.list_visible(LOCAL, kind="knowledge")

        await until(are_gone)
        assert await list_left(board, tmp_path) == []


async def test_a_deletion_that_fails_does_not_wait_for_one_that_has_failed_often(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wiring, "_FIRST_RETRY", 600.0)
    async with Pegboard(data=tmp_path) as board:
        one, two = await add_full_bases(board, "one", "two")
        removal, resources = Removal(board, monkeypatch), board._open.storage.resources
        removal.fails, removal.never = {two.id}, one.id
        stored = await resources.get(one.id)
        assert stored is not None
        left = structs.replace(stored, is_being_deleted=True, revision=stored.revision + 1)
        assert await resources.replace(left)
        await board.resume_interrupted()
        await removal.has_begun.wait()
        await asyncio.sleep(0.1)  # it waits for the next try

        monkeypatch.setattr(wiring, "_FIRST_RETRY", 0.05)
        with pytest.raises(Unavailable, match="busy"):
            await board.knowledge.delete_base(two, principal=LOCAL)

        async def is_gone() -> bool:
            return await resources.get(two.id) is None

        await until(is_gone)


@pytest.mark.timeout(60)
async def test_the_next_start_finishes_a_deletion_that_a_crash_broke_off(tmp_path: Path) -> None:
    killed = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-c", CHILD, str(tmp_path)], cwd=ROOT, check=False
    )
    assert killed.returncode == -signal.SIGKILL

    async with Pegboard(data=tmp_path) as board:
        (base,) = board.knowledge.bases.list_visible(LOCAL)
        with pytest.raises(ResourceNotFound, match="is being deleted"):
            await put_in_other(board, base)
        await board.resume_interrupted()

        async def is_gone() -> bool:
            return not board.knowledge.bases.list_visible(LOCAL)

        await until(is_gone)
        assert await list_left(board, tmp_path) == []


@pytest.mark.timeout(60)
async def test_servers_that_start_take_away_what_is_left_of_bases_that_are_gone(
    settings: Settings, tmp_path: Path
) -> None:
    async with Pegboard(settings=settings) as board:
        base = await board.knowledge.add_base(NewBase(name="handbook"), principal=LOCAL)
        await put_in(board, base, OLD)
        row = await settle(board, base)
        declared = a_document("d_2", base="board:house")
        await board._open.storage.documents.add(declared)
        await board._open.storage.resources.delete(base.id)

    async with Pegboard(settings=settings) as board:
        await board.resume_interrupted()
        documents = board._open.storage.documents

        async def is_gone() -> bool:
            return await documents.list_bases() == [declared.base]

        await until(is_gone)
        assert await documents.get_text(row.id, 1) is None
        assert list_files(tmp_path) == []


@pytest.mark.slow
@pytest.mark.timeout(60)
async def test_two_servers_finish_the_same_deletion(postgres: str, tmp_path: Path) -> None:
    settings = Settings.model_validate({"data": tmp_path, "database": postgres})
    async with Pegboard(settings=settings) as first:
        base = await first.knowledge.add_base(NewBase(name="handbook"), principal=LOCAL)
        for _ in range(3):
            await put_in(first, base, OLD)
        await put_in_other(first, base)
        async with Pegboard(settings=settings) as second:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(first.knowledge.delete_base(base, principal=LOCAL))
                tasks.create_task(second.knowledge.base_deletion.finish())
                tasks.create_task(second.knowledge.base_deletion.finish())
            assert await list_left(second, tmp_path) == []
            assert await second._open.storage.resources.get(base.id) is None
