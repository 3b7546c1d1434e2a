"""A server is killed while it takes a document in: no half document answers, and it goes on."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from pegboard import Pegboard
from pegboard.core.ports.knowledge.document_store import StoredDocument
from pegboard.core.principal import LOCAL
from pegboard.documents import SandboxConverter
from pegboard.features.knowledge import DocumentQuery, NewBase, NewDocument
from pegboard.features.knowledge.base_views import DocumentView
from pegboard.features.knowledge.bases import KnowledgeBase, scope_of

ROOT = Path(__file__).parents[3]
CONVERTING = """
import asyncio, pathlib, sys
from tests.features.knowledge.test_killed_ingestion import convert_and_die

asyncio.run(convert_and_die(pathlib.Path(sys.argv[1])))
"""
CHILD = """
import asyncio, pathlib, sys
from tests.features.knowledge.test_killed_ingestion import take_in_and_die

asyncio.run(take_in_and_die(pathlib.Path(sys.argv[1]), sys.argv[2]))
"""
OLD, NEW = "Records come back within 14 days.", "Records come back within 30 days."


async def _once(text: str) -> AsyncIterator[bytes]:
    yield text.encode()


async def put_in(board: Pegboard, base: KnowledgeBase, text: str) -> None:
    """Put a version of the handbook in."""
    new = NewDocument(name="returns.md", chunks=_once(text))
    await board.knowledge.documents.add(base, new, principal=LOCAL)


async def settle(board: Pegboard, base: KnowledgeBase) -> StoredDocument:
    """The document, once nothing is under way."""
    while True:
        rows, _ = await board.knowledge.documents.list_page(base, DocumentQuery(), principal=LOCAL)
        if rows[0].state in {"ready", "held", "failed"}:
            return rows[0]
        await asyncio.sleep(0.02)


async def ask(board: Pegboard, base: KnowledgeBase) -> list[str]:
    """What is found of the handbook."""
    found = await board.knowledge.ask(base, "When do records come back?", principal=LOCAL)
    return [hit.piece.text for hit in found.evidence.retrieval.hits]


async def take_in_and_die(folder: Path, state: str) -> None:
    """Take a document in, then a changed one; the process dies when that one is in a state."""
    async with Pegboard(data=folder) as board:
        base = await board.knowledge.add_base(NewBase(name="handbook"), principal=LOCAL)
        await put_in(board, base, OLD)
        await settle(board, base)
        watching = asyncio.create_task(die_at(board, base, state))
        await asyncio.sleep(0)
        await put_in(board, base, NEW)
        await watching
    raise AssertionError("it lives")


async def die_at(board: Pegboard, base: KnowledgeBase, state: str) -> None:
    async for _, item in board.knowledge.follow(base, caller=lambda: LOCAL):
        if isinstance(item, DocumentView) and item.row.state == state:
            os.kill(os.getpid(), signal.SIGKILL)


async def convert_and_die(folder: Path) -> None:
    """Take a document in; the process dies while it is converted."""

    async def die(*_: Any, **__: Any) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    async with Pegboard(data=folder) as board:
        base = await board.knowledge.add_base(NewBase(name="handbook"), principal=LOCAL)
        setattr(SandboxConverter, "convert", die)  # noqa: B010 - in a process of its own
        await put_in(board, base, OLD)
        await settle(board, base)
    raise AssertionError("it lives")


def find_traces(folder: Path) -> list[Path]:
    """The files in which the handbook stands."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return [path for path in files if OLD.encode() in path.read_bytes()]


@pytest.mark.timeout(60)
async def test_the_next_start_deletes_the_copies_that_were_being_converted(tmp_path: Path) -> None:
    data, temporary = tmp_path / "data", tmp_path / "tmp"
    temporary.mkdir()
    killed = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-c", CONVERTING, str(data)],
        cwd=ROOT,
        check=False,
        env={**os.environ, "TMPDIR": str(temporary)},
    )
    assert killed.returncode == -signal.SIGKILL
    async with Pegboard(data=data) as board:
        (base,) = board.knowledge.bases.list_visible(LOCAL)
        (row,) = await board.knowledge.documents.list_all(scope_of([base], LOCAL))
        await board.knowledge.documents.delete(base, row.id, principal=LOCAL)

        assert find_traces(tmp_path) == []


@pytest.mark.timeout(90)
@pytest.mark.parametrize("state", [pytest.param("converting", marks=pytest.mark.slow), "storing"])
async def test_the_old_text_answers_until_the_next_start_has_stored_the_new(
    tmp_path: Path, state: str
) -> None:
    killed = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-c", CHILD, str(tmp_path), state], cwd=ROOT, check=False
    )
    assert killed.returncode == -signal.SIGKILL
    async with Pegboard(data=tmp_path) as board:
        (base,) = board.knowledge.bases.list_visible(LOCAL)
        assert await ask(board, base) in ([OLD], [NEW])  # whole, whichever it is

        await board.resume_interrupted()
        row = await settle(board, base)

        assert (row.state, row.revision, row.pieces) == ("ready", 2, 1)
        assert await ask(board, base) == [NEW]
