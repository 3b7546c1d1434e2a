"""Documents change while a run takes them in, and nothing that is said of them is lost."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.features.knowledge.team import Team, make_team
from tests.features.knowledge.test_killed_ingestion import NEW, OLD, ask, put_in, settle

from pegboard import Pegboard
from pegboard.core.ports.knowledge.document_store import StoredDocument
from pegboard.core.principal import LOCAL, Principal
from pegboard.documents import SandboxConverter
from pegboard.errors import DocumentNotFound, InvalidRequest, RunNotFound
from pegboard.features.knowledge import (
    DocumentEdit,
    DocumentQuery,
    NewBase,
    NewDocument,
    read_chunks,
)
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


async def test_a_program_puts_files_in_and_waits_until_they_answer(
    board: Pegboard, base: KnowledgeBase, tmp_path: Path
) -> None:
    (tmp_path / "returns.md").write_text("# Returns\n\nRecords go back within 30 days.\n")
    (tmp_path / "broken.pdf").write_bytes(b"%PDF-1.7 nothing")
    for path in (tmp_path / "returns.md", tmp_path / "broken.pdf"):
        new = NewDocument(name=path.name, chunks=read_chunks(path))
        await board.knowledge.documents.add(base, new, principal=LOCAL)

    rows = await board.knowledge.wait(base, principal=LOCAL)
    found = await board.knowledge.ask(base, "When do records go back?", principal=LOCAL)

    assert {row.name: row.state for row in rows} == {"returns.md": "ready", "broken.pdf": "failed"}
    assert [item.title for item in found.evidence.citations] == ["Returns"]


async def test_who_waits_for_a_long_document_reads_the_rows_ever_less_often(
    board: Pegboard, base: KnowledgeBase, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = HeldConversion(monkeypatch)
    await put_in(board, base, OLD)
    await held.has_begun.wait()
    documents, times = board.knowledge.documents, list[float]()
    list_all = documents.list_all

    async def tell(*args: Any, **more: Any) -> Any:
        times.append(asyncio.get_running_loop().time())
        return await list_all(*args, **more)

    monkeypatch.setattr(documents, "list_all", tell)
    waiting = asyncio.create_task(board.knowledge.wait(base, principal=LOCAL))
    await asyncio.sleep(1.2)
    held.may_go_on.set()
    (row,) = await waiting

    assert row.state == "ready"
    assert times[2] - times[1] > 0.2


async def test_a_file_that_is_not_there_is_named(board: Pegboard, base: KnowledgeBase) -> None:
    new = NewDocument(name="gone.md", chunks=read_chunks(Path("gone.md")))
    with pytest.raises(InvalidRequest, match="'gone"):
        await board.knowledge.documents.add(base, new, principal=LOCAL)


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


async def _once(text: str) -> AsyncIterator[bytes]:
    yield text.encode()


@pytest.fixture
async def team(board: Pegboard) -> Team:
    return await make_team(board)


async def upload(
    board: Pegboard,
    team: Team,
    text: str,
    *,
    name: str = "a.md",
    by: Principal | None = None,
    **said: Any,
) -> tuple[StoredDocument, str]:
    new = NewDocument(name=name, chunks=_once(text), **said)
    return await board.knowledge.documents.add(team.base, new, principal=by or team.ada)


@pytest.mark.parametrize(
    ("text", "outcome"),
    [pytest.param(OLD, "already_here", id="same file"), pytest.param(NEW, "changed", id="new")],
)
async def test_a_file_for_fewer_people_hides_the_document_that_is_there(
    board: Pegboard, team: Team, text: str, outcome: str
) -> None:
    first, _ = await upload(board, team, OLD)
    await settle(board, team.base)

    row, became = await upload(board, team, text, audience="private", title="Returns")

    assert (row.id, became, row.audience, row.title) == (first.id, outcome, "private", "Returns")
    await settle(board, team.base)
    with pytest.raises(DocumentNotFound):
        await board.knowledge.documents.get(team.base, row.id, principal=team.bob)


async def test_a_file_for_more_people_leaves_a_document_hidden(board: Pegboard, team: Team) -> None:
    first, _ = await upload(board, team, OLD, audience="private")

    row, outcome = await upload(board, team, NEW, audience="organisation", organisation="acme")

    assert (row.id, outcome, row.audience) == (first.id, "changed", "private")


async def test_a_private_file_does_not_become_the_document_of_another_owner(
    board: Pegboard, team: Team
) -> None:
    first, _ = await upload(board, team, OLD)

    row, _ = await upload(board, team, NEW, by=team.bob, audience="private")
    again, outcome = await upload(board, team, OLD, by=team.bob, audience="private")

    assert (row.owner, row.audience, row.outer_id) == (
        team.bob.owner,
        "private",
        f"a.md ({team.bob.user})",
    )
    assert (again.id, outcome) == (row.id, "changed")
    stored = await board.knowledge.documents.get(team.base, first.id, principal=team.bob)
    assert (stored.digest, stored.audience) == (first.digest, "base")


async def test_the_same_private_file_under_another_name_hides_no_other_document(
    board: Pegboard, team: Team
) -> None:
    first, _ = await upload(board, team, OLD)

    same, outcome = await upload(board, team, OLD, name="b.md")
    row, became = await upload(board, team, OLD, name="b.md", audience="private")

    assert (same.id, outcome, became) == (first.id, "already_here", "new")
    assert (row.outer_id, row.audience) == ("b.md", "private")
    assert (
        await board.knowledge.documents.get(team.base, first.id, principal=team.bob)
    ).id == first.id


async def test_an_audience_that_does_not_fit_the_editions_is_refused_with_its_file(
    board: Pegboard, team: Team
) -> None:
    old, _ = await upload(board, team, OLD, name="old.md")
    row, _ = await upload(board, team, NEW, name="new.md", replaces=old.id)

    with pytest.raises(InvalidRequest, match="fewer people"):
        await upload(board, team, "Other.", name="new.md", audience="private")

    stored = await board.knowledge.documents.get(team.base, row.id, principal=team.bob)
    assert (stored.digest, stored.audience) == (row.digest, "base")


async def test_the_same_file_twice_at_once_is_one_document(board: Pegboard, team: Team) -> None:
    added = await asyncio.gather(*(upload(board, team, OLD) for _ in range(3)))

    assert len({row.id for row, _ in added}) == 1
    assert sorted(outcome for _, outcome in added) == ["already_here", "already_here", "new"]
