"""Folders that are looked at again: who sees what is new in them, and whose documents go."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec import structs
from tests.features.knowledge.team import Team, make_team

from pegboard import Pegboard
from pegboard.core.ports.knowledge.document_store import Audience, StoredDocument
from pegboard.core.principal import LOCAL, Principal
from pegboard.errors import AccessDenied, InvalidRequest
from pegboard.features.knowledge import DocumentEdit, DocumentSource, NewDocument
from pegboard.features.knowledge.bases import KnowledgeBase, scope_of
from pegboard.features.knowledge.document_sources import find_sources, gather_graph
from pegboard.features.knowledge.ingestion import INGESTER, is_settled
from pegboard.features.knowledge.refresh import RefreshSchedule


@pytest.fixture
async def board(tmp_path: Path) -> AsyncIterator[Pegboard]:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("The desk opens at ten.")
    (tmp_path / "board.yaml").write_text(
        "sources: []\nknowledge: [{name: declared, folder: notes, refresh: 1h}]\n"
    )
    async with Pegboard(tmp_path / "board.yaml") as opened:
        yield opened


@pytest.fixture
async def team(board: Pegboard) -> Team:
    return await make_team(board)


async def settle(board: Pegboard, base: KnowledgeBase) -> dict[str, StoredDocument]:
    """The documents by their paths, once nothing is under way."""
    while True:
        busy = await board.knowledge.is_gathering(base, principal=LOCAL)
        rows = await list_all(board, base, LOCAL)
        if not busy and all(map(is_settled, rows)):
            return {row.outer_id: row for row in rows}
        await asyncio.sleep(0.02)


async def list_all(
    board: Pegboard, base: KnowledgeBase, principal: Principal
) -> list[StoredDocument]:
    scope = scope_of([base], principal, include_replaced=True)
    return await board.knowledge.documents.list_all(scope)


async def gather(
    board: Pegboard,
    base: KnowledgeBase,
    folder: str = "notes",
    *,
    audience: Audience | None = None,
    organisation: str = "",
    principal: Principal,
) -> dict[str, StoredDocument]:
    wanted = DocumentSource(
        base=base.id, folder=folder, audience=audience, organisation=organisation
    )
    await board.knowledge.gather(base, wanted, principal=principal)
    return await settle(board, base)


async def refresh(
    board: Pegboard, base: KnowledgeBase, principal: Principal
) -> dict[str, StoredDocument]:
    await board.knowledge.refresh(base, principal=principal)
    return await settle(board, base)


def view(rows: dict[str, StoredDocument]) -> dict[str, tuple[str, str]]:
    """The audience and the owner of each path."""
    return {path: (row.audience, row.owner) for path, row in rows.items()}


PRIVATE, SHARED = ("private", "/u_ada"), ("base", "/u_ada")


async def test_what_is_new_in_a_private_folder_is_private_whatever_became_of_the_others(
    board: Pegboard, team: Team, tmp_path: Path
) -> None:
    rows = await gather(board, team.base, audience="private", principal=team.ada)
    edit = DocumentEdit(audience="base")
    await board.knowledge.documents.change(team.base, rows["a.md"].id, edit, principal=team.ada)
    (tmp_path / "notes" / "b.md").write_text("The safe opens with 4711.")

    rows = await refresh(board, team.base, team.ada)

    assert view(rows) == {"a.md": SHARED, "b.md": PRIVATE}
    assert [row.outer_id for row in await list_all(board, team.base, team.eve)] == ["a.md"]


async def test_a_folder_that_is_added_again_without_an_audience_keeps_its_own(
    board: Pegboard, team: Team, tmp_path: Path
) -> None:
    await gather(board, team.base, audience="private", principal=team.ada)
    (tmp_path / "notes" / "b.md").write_text("The safe opens with 4711.")

    rows = await gather(board, team.base, "notes/", principal=team.ada)

    assert view(rows) == {"a.md": PRIVATE, "b.md": PRIVATE}


async def test_a_folder_that_is_added_again_for_fewer_people_is_hidden_from_the_others(
    board: Pegboard, team: Team, tmp_path: Path
) -> None:
    await gather(board, team.base, "notes/", principal=team.ada)
    await gather(board, team.base, audience="private", principal=team.ada)
    (tmp_path / "notes" / "b.md").write_text("The safe opens with 4711.")

    rows = await refresh(board, team.base, team.ada)

    assert view(rows) == {"a.md": PRIVATE, "b.md": PRIVATE}


async def test_a_folder_that_is_added_again_for_more_people_shows_them_what_is_new(
    board: Pegboard, team: Team, tmp_path: Path
) -> None:
    await gather(board, team.base, audience="private", principal=team.ada)
    await gather(board, team.base, audience="base", principal=team.ada)
    (tmp_path / "notes" / "b.md").write_text("The desk closes at six.")

    rows = await refresh(board, team.base, team.ada)

    assert view(rows) == {"a.md": PRIVATE, "b.md": SHARED}


async def test_another_person_does_not_look_at_a_private_folder_again(
    board: Pegboard, team: Team, tmp_path: Path
) -> None:
    rows = await gather(board, team.base, audience="private", principal=team.ada)
    edit = DocumentEdit(audience="base")
    shown = await board.knowledge.documents.change(
        team.base, rows["a.md"].id, edit, principal=team.ada
    )
    (tmp_path / "notes" / "b.md").write_text("The safe opens with 4711.")

    assert await board.knowledge.refresh(team.base, principal=team.bob) == []
    with pytest.raises(AccessDenied, match="other people"):
        await board.knowledge.refresh_document(team.base, shown, principal=team.bob)

    assert view(await settle(board, team.base)) == {"a.md": SHARED}


async def test_what_a_caller_without_an_account_finds_in_a_private_folder_is_its_owners(
    board: Pegboard, team: Team, tmp_path: Path
) -> None:
    await gather(board, team.base, audience="private", principal=team.ada)
    (tmp_path / "notes" / "b.md").write_text("The safe opens with 4711.")

    rows = await refresh(board, team.base, structs.replace(LOCAL, id="operator"))

    assert view(rows) == {"a.md": PRIVATE, "b.md": PRIVATE}


async def test_a_hidden_document_of_a_shared_folder_stays_hidden_when_others_refresh_it(
    board: Pegboard, team: Team, tmp_path: Path
) -> None:
    rows = await gather(board, team.base, principal=team.ada)
    edit = DocumentEdit(audience="private")
    await board.knowledge.documents.change(team.base, rows["a.md"].id, edit, principal=team.ada)
    (tmp_path / "notes" / "a.md").write_text("The safe opens with 4711.")

    rows = await refresh(board, team.base, team.bob)

    assert view(rows) == {"a.md": PRIVATE}
    assert (rows["a.md"].state, rows["a.md"].revision) == ("ready", 2)


async def test_a_private_folder_does_not_take_the_documents_of_another_owner(
    board: Pegboard, team: Team
) -> None:
    await gather(board, team.base, principal=team.ada)
    expected = {"a.md": SHARED, f"a.md ({team.bob.user})": ("private", team.bob.owner)}

    for _ in range(2):
        rows = await gather(board, team.base, audience="private", principal=team.bob)
        assert view(rows) == expected


async def test_each_source_has_a_document_of_its_own_of_the_same_file(
    board: Pegboard, team: Team, tmp_path: Path
) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "a.md").write_text("The desk opens at ten.")
    await gather(board, team.base, principal=team.ada)
    await gather(board, team.base, "other", principal=team.ada)
    (tmp_path / "notes" / "a.md").unlink()

    await refresh(board, team.base, team.ada)

    (row,) = await list_all(board, team.base, LOCAL)
    assert row.source == "file:other"
    assert len(await board.knowledge.refresh(team.base, principal=team.ada)) == 1
    await settle(board, team.base)


async def test_an_upload_stays_when_the_same_file_of_a_folder_goes(
    board: Pegboard, team: Team, tmp_path: Path
) -> None:
    async def content() -> AsyncIterator[bytes]:
        yield b"The desk opens at ten."

    await gather(board, team.base, principal=team.ada)
    new = NewDocument(name="mine.md", chunks=content())
    row, outcome = await board.knowledge.documents.add(team.base, new, principal=team.ada)
    (tmp_path / "notes" / "a.md").unlink()

    rows = await refresh(board, team.base, team.ada)

    assert (outcome, {it.id for it in rows.values()}) == ("new", {row.id})


async def test_the_board_file_says_who_sees_its_folder(
    board: Pegboard, team: Team, tmp_path: Path
) -> None:
    declared = board.knowledge.bases.find("declared", principal=LOCAL)
    await RefreshSchedule(board.knowledge, now=lambda: 7200.0).run_due()
    await settle(board, declared)
    with pytest.raises(InvalidRequest, match="board file"):
        await gather(board, declared, audience="private", principal=team.ada)
    (tmp_path / "notes" / "b.md").write_text("The desk closes at six.")

    rows = await refresh(board, declared, team.ada)

    assert view(rows) == dict.fromkeys(("a.md", "b.md"), ("base", INGESTER.owner))


async def test_a_hidden_document_of_a_declared_folder_stays_hidden(
    board: Pegboard, team: Team, tmp_path: Path
) -> None:
    declared = board.knowledge.bases.find("declared", principal=LOCAL)
    rows = await refresh(board, declared, team.ada)
    edit = DocumentEdit(audience="private")
    await board.knowledge.documents.change(declared, rows["a.md"].id, edit, principal=team.ada)
    (tmp_path / "notes" / "a.md").write_text("The safe opens with 4711.")

    rows = await refresh(board, declared, team.ada)
    await RefreshSchedule(board.knowledge, now=lambda: 7200.0).run_due()
    rows = await settle(board, declared)

    assert view(rows) == {"a.md": ("private", INGESTER.owner)}
    assert await list_all(board, declared, team.eve) == []


async def test_a_graph_looks_at_a_private_folder_as_it_was_added(
    board: Pegboard, team: Team, tmp_path: Path
) -> None:
    await gather(board, team.base, audience="private", principal=team.ada)
    (tmp_path / "notes" / "b.md").write_text("The safe opens with 4711.")
    graph = gather_graph(DocumentSource(base=team.base.id, folder="./notes"))

    started = await board.runs.start_graph(graph, principal=team.ada)
    await board.runs.wait(started.id, principal=team.ada)

    assert view(await settle(board, team.base)) == {"a.md": PRIVATE, "b.md": PRIVATE}


def a_row(id_: str, label: Audience | None, audience: Audience = "base") -> StoredDocument:
    return StoredDocument(
        id=id_,
        base="b1",
        name=id_,
        owner="/u_ada",
        created_at=1.0,
        updated_at=1.0,
        source="file:notes",
        outer_id=id_,
        audience=audience,
        source_audience=label,
        source_organisation="acme" if label == "organisation" else "",
    )


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        pytest.param([a_row("d1", "base", "private")], ("base", ""), id="as it was added"),
        pytest.param(
            [a_row("d1", "base"), a_row("d2", "organisation")],
            ("organisation", "acme"),
            id="the smaller one of two",
        ),
        pytest.param(
            [a_row("d1", "organisation"), a_row("d2", "private")], ("private", ""), id="private"
        ),
        pytest.param(
            [a_row("d1", None), a_row("d2", None, "private")],
            ("private", ""),
            id="stored before it was recorded",
        ),
    ],
)
def test_the_audience_of_a_source_is_the_smallest_with_which_it_was_added(
    rows: list[StoredDocument], expected: tuple[str, str]
) -> None:
    base = KnowledgeBase(id="b1", name="shared")

    (source,) = find_sources(base, rows, LOCAL)

    assert (source.audience, source.organisation) == expected
