"""Documents are taken in a few at a time, and no base and no long document holds up the others."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from tests.features.knowledge.test_deletion_everywhere import until
from tests.storage.conftest import postgres, postgres_server

from pegboard import Pegboard
from pegboard.core.ports.knowledge.document_store import DocumentStore, StoredDocument
from pegboard.core.principal import LOCAL
from pegboard.documents import SandboxConverter
from pegboard.features.knowledge import NewBase, NewDocument
from pegboard.features.knowledge.bases import KnowledgeBase, scope_of
from pegboard.features.knowledge.documents import BACKFILL
from pegboard.features.knowledge.queue import SHORT, IngestionQueue
from pegboard.runtime import Settings

__all__ = ["postgres", "postgres_server"]

A_DOCUMENT = StoredDocument(
    id="d", base="b", name="d.txt", outer_id="d", owner="/u1", created_at=0.0, updated_at=0.0
)
LONG = "Tapirs eat leaves.\n\n" * (SHORT // 20 + 1)


class SlowConverter:
    """Converts nothing before it may; knows which files were begun, in order."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.begun: list[str] = []
        self.may_end: dict[str, asyncio.Event] = {}
        self.changed = asyncio.Event()
        convert = SandboxConverter.convert

        async def wait(converter: SandboxConverter, *args: Any, name: str, **more: Any) -> Any:
            self.begun.append(name)
            self.changed.set()
            await self.may_end.setdefault(name, asyncio.Event()).wait()
            return await convert(converter, *args, name=name, **more)

        monkeypatch.setattr(SandboxConverter, "convert", wait)

    def end(self, *names: str) -> None:
        """Let these be converted."""
        for name in names:
            self.may_end.setdefault(name, asyncio.Event()).set()

    async def until_begun(self, *names: str) -> None:
        """Wait until these were begun, and nothing else is about to be."""
        while not set(names) <= set(self.begun):
            self.changed.clear()
            await self.changed.wait()
        await asyncio.sleep(0.2)


@pytest.fixture
def converter(monkeypatch: pytest.MonkeyPatch) -> SlowConverter:
    return SlowConverter(monkeypatch)


@pytest.fixture
async def board() -> AsyncIterator[Pegboard]:
    async with Pegboard() as opened:
        yield opened


async def _once(text: str) -> AsyncIterator[bytes]:
    yield text.encode()


async def add_base(board: Pegboard, name: str) -> KnowledgeBase:
    return await board.knowledge.add_base(NewBase(name=name), principal=LOCAL)


async def put_in(
    board: Pegboard, base: KnowledgeBase, *names: str, priority: int = BACKFILL
) -> None:
    """Put files in, each with a text of its own; those named `long` are long."""
    for name in names:
        text = LONG if name.startswith("long") else "Tapirs eat leaves."
        new = NewDocument(name=name, chunks=_once(f"{name}\n\n{text}"), priority=priority)
        await board.knowledge.documents.add(base, new, principal=LOCAL)


async def test_a_short_document_is_taken_in_beside_long_ones_of_other_bases(
    board: Pegboard, converter: SlowConverter
) -> None:
    one, two, three, four = [await add_base(board, name) for name in ("a", "b", "c", "d")]
    await put_in(board, one, "long1.txt")
    await put_in(board, two, "long2.txt", "two.txt")
    await converter.until_begun("long1.txt", "long2.txt")

    await put_in(board, three, "long3.txt", "three.txt")
    await converter.until_begun("three.txt")
    await put_in(board, four, "four.txt")
    converter.end("three.txt")
    await converter.until_begun("four.txt")

    assert converter.begun == ["long1.txt", "long2.txt", "three.txt", "four.txt"]


async def test_a_base_takes_in_one_long_document_at_a_time(
    board: Pegboard, converter: SlowConverter
) -> None:
    one, two = [await add_base(board, name) for name in ("a", "b")]
    await put_in(board, one, "long1.txt", "long2.txt")
    await converter.until_begun("long1.txt")
    assert converter.begun == ["long1.txt"]

    await put_in(board, two, "long3.txt")
    await converter.until_begun("long3.txt")
    converter.end("long1.txt")
    await converter.until_begun("long2.txt")

    assert converter.begun == ["long1.txt", "long3.txt", "long2.txt"]


async def test_a_person_who_waits_goes_before_a_backfill(
    board: Pegboard, converter: SlowConverter
) -> None:
    base = await add_base(board, "a")
    await put_in(board, base, "one.txt", "two.txt", "three.txt", "four.txt")
    await converter.until_begun("one.txt", "two.txt")
    assert converter.begun == ["one.txt", "two.txt"]

    await put_in(board, base, "mine.txt", priority=BACKFILL + 1)
    converter.end("one.txt")
    await converter.until_begun("mine.txt")

    assert converter.begun == ["one.txt", "two.txt", "mine.txt"]


async def test_all_that_wait_are_taken_in_sooner_or_later(
    board: Pegboard, converter: SlowConverter
) -> None:
    names = [f"{kind}{number}.txt" for kind in ("short", "more") for number in range(4)]
    bases = [await add_base(board, name) for name in ("a", "b")]
    for base in bases:
        await put_in(board, base, *(f"{base.name}-{name}" for name in names))
    converter.end(*(f"{base.name}-{name}" for base in bases for name in names))

    async def are_ready() -> bool:
        rows = await board.knowledge.documents.list_all(scope_of(bases, LOCAL))
        return {row.state for row in rows} == {"ready"}

    await until(are_ready)
    assert len(converter.begun) == len(set(converter.begun)) == 16


async def test_a_document_that_another_server_has_begun_meanwhile_is_left_to_it(
    board: Pegboard, converter: SlowConverter
) -> None:
    base, queue = await add_base(board, "a"), board.knowledge._queue
    await put_in(board, base, "one.txt", "two.txt", "three.txt")
    await converter.until_begun("one.txt", "two.txt")
    documents = board.knowledge._parts.documents
    (row,) = [it for it in await documents.list_unfinished() if it.name == "three.txt"]
    await documents.change(row.id, {"run": "r_other"})

    await queue._start(row)

    now = await documents.get(row.id)
    assert now is not None
    assert (now.run, converter.begun) == ("r_other", ["one.txt", "two.txt"])


async def test_the_callers_of_what_is_gone_are_forgotten(
    board: Pegboard, converter: SlowConverter
) -> None:
    base, queue = await add_base(board, "a"), board.knowledge._queue
    await put_in(board, base, "one.txt", "two.txt", "three.txt")
    await converter.until_begun("one.txt", "two.txt")
    rows = await board.knowledge.documents.list_all(scope_of([base], LOCAL))
    (gone,) = [row.id for row in rows if row.name == "three.txt"]
    assert set(queue._callers) == {gone}

    await board.knowledge.documents.delete(base, gone, principal=LOCAL)
    queue.wake()

    await until(lambda: have_gone(queue))


class Listing:
    """Counts how often a store is asked for all that is unfinished."""

    def __init__(self, documents: DocumentStore) -> None:
        self._documents = documents
        self.count = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._documents, name)

    async def list_unfinished(self) -> Sequence[StoredDocument]:
        self.count += 1
        return await self._documents.list_unfinished()


def share(board: Pegboard) -> tuple[IngestionQueue, Listing]:
    """A queue of a server that shares the stores of a board, and how often it lists."""
    parts = board.knowledge._parts
    listing = Listing(parts.documents)
    shared = replace(parts, is_shared=True, documents=cast("DocumentStore", listing))
    return IngestionQueue(shared, board.runs, slots=1, every=0.1), listing


async def test_what_others_have_left_is_looked_for_also_between_events(board: Pegboard) -> None:
    await add_base(board, "a")
    queue, listing = share(board)
    for _ in range(40):
        queue.wake("nothing")
        await asyncio.sleep(0.01)
    await queue.close()

    assert listing.count > 1


async def test_what_others_have_left_is_not_listed_where_there_is_no_room(board: Pegboard) -> None:
    await add_base(board, "a")
    queue, listing = share(board)
    queue._active = dict.fromkeys(("r1", "r2"), A_DOCUMENT)
    queue.wake()
    await asyncio.sleep(0.3)
    await queue.close()

    assert listing.count == 0


@pytest.mark.slow
@pytest.mark.timeout(60)
async def test_what_another_server_takes_in_holds_up_nothing_here(
    postgres: str, tmp_path: Path, converter: SlowConverter
) -> None:
    settings = Settings.model_validate({"data": tmp_path, "database": postgres})
    async with Pegboard(settings=settings) as one, Pegboard(settings=settings) as two:
        await two.resume_interrupted()
        base = await add_base(one, "a")
        await until(lambda: is_known(two, base))
        await put_in(one, base, "one.txt", "two.txt")
        await converter.until_begun("one.txt", "two.txt")

        await put_in(two, base, "three.txt")
        await converter.until_begun("three.txt")
        converter.end("three.txt")
        await until(lambda: is_ready(two, base, "three.txt"))
        await put_in(two, base, "four.txt", "five.txt")
        await converter.until_begun("four.txt", "five.txt")

        converter.end("one.txt", "two.txt", "four.txt", "five.txt")
        for name in ("one.txt", "two.txt", "four.txt", "five.txt"):
            await until(lambda name=name: is_ready(two, base, name))
        assert sorted(converter.begun) == sorted(set(converter.begun))


@pytest.mark.slow
@pytest.mark.timeout(60)
async def test_a_document_of_a_base_that_is_not_known_here_yet_is_left_to_others(
    postgres: str, tmp_path: Path, converter: SlowConverter
) -> None:
    settings = Settings.model_validate({"data": tmp_path, "database": postgres})
    async with Pegboard(settings=settings) as one, Pegboard(settings=settings) as two:
        await two.resume_interrupted()
        names = ("one.txt", "two.txt", "three.txt")
        base = await add_base(one, "a")
        await put_in(one, base, *names)
        assert not await is_known(two, base)
        two.knowledge._queue.wake()
        await converter.until_begun("one.txt", "two.txt")

        converter.end(*names)
        for name in names:
            await until(lambda name=name: is_ready(one, base, name))


@pytest.mark.slow
@pytest.mark.timeout(60)
async def test_what_another_server_has_left_waiting_is_taken_in(
    postgres: str, tmp_path: Path, converter: SlowConverter
) -> None:
    settings = Settings.model_validate({"data": tmp_path, "database": postgres})
    async with Pegboard(settings=settings) as two:
        await two.resume_interrupted()
        async with Pegboard(settings=settings) as one:
            base = await add_base(one, "a")
            await put_in(one, base, "one.txt", "two.txt", "three.txt", "four.txt")
            await converter.until_begun("one.txt", "two.txt")
            converter.end("one.txt", "two.txt", "three.txt", "four.txt")
            await one.knowledge._queue.close()  # it takes in nothing more

        for name in ("three.txt", "four.txt"):
            await until(lambda name=name: is_ready(two, base, name))


async def have_gone(queue: IngestionQueue) -> bool:
    """Whether a queue remembers no caller."""
    return not queue._callers


async def is_known(board: Pegboard, base: KnowledgeBase) -> bool:
    """Whether a server has learned of a base."""
    return base.id in {it.id for it in board.knowledge.bases.list_visible(LOCAL)}


async def is_ready(board: Pegboard, base: KnowledgeBase, name: str) -> bool:
    """Whether a document answers."""
    rows = await board.knowledge.documents.list_all(scope_of([base], LOCAL))
    return any(row.name == name and row.state == "ready" for row in rows)
