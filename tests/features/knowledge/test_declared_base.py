"""A base of the board file: its folder is taken in, followed, read on in, and never half shown."""

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from pegboard import Pegboard
from pegboard.core.context import ToolContext
from pegboard.core.ports.knowledge.document_store import StoredDocument
from pegboard.core.principal import LOCAL, Principal
from pegboard.errors import (
    AccessDenied,
    DocumentNotFound,
    InvalidRequest,
    ResourceNotFound,
    Unavailable,
)
from pegboard.features.knowledge.bases import DocumentSource, KnowledgeBase
from pegboard.features.knowledge.document_sources import list_files
from pegboard.features.knowledge.documents import DocumentEdit, DocumentQuery, NewDocument
from pegboard.features.knowledge.ingestion import INGESTER, is_settled
from pegboard.features.knowledge.queue import SLOTS
from pegboard.features.knowledge.refresh import RefreshSchedule
from pegboard.features.knowledge.schemas import AddDocuments
from pegboard.features.knowledge.service import Knowledge, find_declared_source
from pegboard.testing import FakeClock

BOARD = "sources: []\nknowledge: [{name: handbook, folder: handbook, refresh: 1h}]\n"


@pytest.fixture
async def board(tmp_path: Path) -> AsyncGenerator[Pegboard]:
    folder = tmp_path / "handbook"
    folder.mkdir()
    (folder / "a.md").write_text(
        "# A\n\nThe desk opens at ten.\n\n# B\n\nThe desk closes at six.\n"
    )
    (folder / "b.txt").write_text("Parcels leave on Mondays.")
    (folder / "photo.raw").write_text("not a document")
    (tmp_path / "board.yaml").write_text(BOARD)
    async with Pegboard(tmp_path / "board.yaml") as opened:
        yield opened


def find_base(board: Pegboard) -> KnowledgeBase:
    return board.knowledge.bases.find("handbook", principal=LOCAL)


async def take_in(board: Pegboard) -> dict[str, StoredDocument]:
    """Take in what has changed; the documents by their paths."""
    base = find_base(board)
    await board.knowledge.refresh(base, principal=LOCAL)
    return await settle(board)


async def settle(board: Pegboard) -> dict[str, StoredDocument]:
    """The documents by their paths, once nothing is under way."""
    base = find_base(board)
    while True:
        query = DocumentQuery()
        rows, _ = await board.knowledge.documents.list_page(base, query, principal=LOCAL)
        busy = await board.knowledge.is_gathering(base, principal=LOCAL)
        if not busy and all(map(is_settled, rows)):
            return {row.outer_id: row for row in rows}
        await asyncio.sleep(0.02)


@pytest.mark.slow
async def test_a_folder_is_followed_and_only_what_changed_is_taken_in(
    board: Pegboard, tmp_path: Path
) -> None:
    first = await take_in(board)
    assert {name: row.state for name, row in first.items()} == {"a.md": "ready", "b.txt": "ready"}
    (tmp_path / "handbook" / "a.md").write_text("The desk opens at nine.")
    (tmp_path / "handbook" / "b.txt").unlink()

    second = await take_in(board)

    assert list(second) == ["a.md"]
    assert (second["a.md"].id, second["a.md"].revision) == (first["a.md"].id, 2)
    found = await board.call("kb_retrieve", {"question": "When does the desk open?"})
    assert "nine" in found.text
    assert "Mondays" not in found.text


async def test_the_newest_edition_answers_where_one_replaces_the_other(board: Pegboard) -> None:
    rows = await take_in(board)
    edit = DocumentEdit(replaces=rows["a.md"].id)
    base, documents = find_base(board), board.knowledge.documents

    await documents.change(base, rows["b.txt"].id, edit, principal=LOCAL)

    found = await board.call("kb_retrieve", {"question": "When does the desk open?"})
    assert found.structured["citations"] == []
    await documents.delete(base, rows["b.txt"].id, principal=LOCAL)
    found = await board.call("kb_retrieve", {"question": "When does the desk open?"})
    assert len(found.structured["citations"]) == 1


async def test_tools_read_on_in_a_document(board: Pegboard) -> None:
    rows = await take_in(board)
    document = rows["a.md"].id

    opened = await board.call("kb_open", {"document": document})
    found = await board.call("kb_grep", {"document": document, "pattern": "SIX"})

    assert len(opened.structured["citations"]) == 1
    (citation,) = found.structured["citations"]
    around = await board.call("kb_around", {"piece": citation["piece"]})
    assert [item["piece"] for item in around.structured["citations"]] == [citation["piece"]]
    missing = await board.call("kb_open", {"document": "d_nothing"})
    assert isinstance(missing.error, DocumentNotFound)
    base = await board.call("kb_retrieve", {"question": "When?", "bases": ["nothing"]})
    assert isinstance(base.error, ResourceNotFound)


async def test_others_than_operators_take_in_no_folder(board: Pegboard) -> None:
    guest = Principal(id="eve", user="u2")
    base = find_base(board)
    with pytest.raises(AccessDenied):
        await board.knowledge.gather(
            base, DocumentSource(base=base.id, folder="/"), principal=guest
        )


async def _once(text: str) -> AsyncIterator[bytes]:
    yield text.encode()


async def test_a_private_document_is_for_its_owner_alone(board: Pegboard) -> None:
    base = find_base(board)
    new = NewDocument(name="pay.md", chunks=_once("The pay is secret."), audience="private")
    row, _ = await board.knowledge.documents.add(base, new, principal=LOCAL)
    await settle(board)
    guest = Principal(id="eve", user="u2")

    with pytest.raises(DocumentNotFound):
        await board.knowledge.documents.get(base, row.id, principal=guest)
    found = await board.knowledge.answers.retrieve("The pay?", ToolContext(principal=guest))
    assert found.data["citations"] == []


async def test_what_is_due_is_started_once(board: Pegboard) -> None:
    schedule = RefreshSchedule(board.knowledge, now=lambda: 7200.0)

    await schedule.run_due()
    await schedule.run_due()

    assert set(await settle(board)) == {"a.md", "b.txt"}
    assert schedule.pause == 60.0
    assert find_declared_source(find_base(board)).folder == "handbook"
    assert (INGESTER.kind, SLOTS) == ("service", 2)


async def test_a_base_that_cannot_be_started_holds_up_no_other_and_is_started_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.md").write_text(f"The desk of {name} opens at ten.")
    (tmp_path / "board.yaml").write_text(
        "sources: []\nknowledge: [{name: one, folder: one}, {name: two, folder: two}]\n"
    )
    gather, failures, begun = Knowledge.gather, ["gone"], list[str]()

    async def fail_once(knowledge: Knowledge, base: KnowledgeBase, *args: Any, **more: Any) -> str:
        if failures:
            raise Unavailable(failures.pop())
        begun.append(base.name)
        return await gather(knowledge, base, *args, **more)

    monkeypatch.setattr(Knowledge, "gather", fail_once)
    async with Pegboard(tmp_path / "board.yaml") as board:
        schedule = RefreshSchedule(board.knowledge, now=lambda: 7200.0)
        await schedule.run_due()
        first = list(begun)
        await schedule.run_due()

    assert len(first) == 1
    assert sorted(begun) == ["one", "two"]


async def test_an_empty_base_whose_folder_could_not_be_read_is_tried_again_ever_later(
    tmp_path: Path,
) -> None:
    (tmp_path / "board.yaml").write_text(
        "sources: []\nknowledge: [{name: handbook, folder: handbook}]\n"
    )
    clock = FakeClock(start=time.time())  # the runs end by the real one

    async def count_runs(board: Pegboard) -> int:
        runs = (await board.runs.list(principal=INGESTER)).runs
        for run in runs:
            await board.runs.wait(run.id, principal=INGESTER)
        return len(runs)

    counts: list[int] = []
    async with Pegboard(tmp_path / "board.yaml") as board:
        schedule = RefreshSchedule(board.knowledge, now=clock.time)
        for seconds in (0, 0, 65, 65, 65):
            clock.advance(seconds)
            await schedule.run_due()
            counts.append(await count_runs(board))
        (tmp_path / "handbook").mkdir()
        (tmp_path / "handbook" / "a.md").write_text("The desk opens at ten.")
        clock.advance(300)
        await schedule.run_due()
        rows = await settle(board)
        counts.append(await count_runs(board))
        clock.advance(7_200)
        await schedule.run_due()
        counts.append(await count_runs(board))

    assert counts[:5] == [1, 1, 2, 3, 3]
    assert set(rows) == {"a.md"}
    assert counts[-1] == counts[-2]


def test_hidden_files_and_links_are_left_out(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "a.md").write_text("x")
    (tmp_path / "b.md").write_text("x")
    (tmp_path / "c.md").symlink_to("/etc/hostname")

    assert list_files(tmp_path) == ["b.md"]
    with pytest.raises(InvalidRequest):
        list_files(tmp_path / "b.md")


def test_one_place_of_a_document_is_named() -> None:
    with pytest.raises(ValidationError, match="Give one of"):
        AddDocuments.model_validate({"folder": "a", "upload": "f"})
