"""What a base says of the last look at the folders and addresses that its documents come from."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
from tests.network.loopback import Received, reply, serving

from pegboard import Pegboard
from pegboard.core.principal import LOCAL, Principal
from pegboard.features.knowledge import NewBase
from pegboard.features.knowledge.bases import KnowledgeBase
from pegboard.features.knowledge.document_sources import DocumentSource, gather_graph
from pegboard.features.knowledge.refresh import RefreshSchedule
from pegboard.features.resources import ResourceChange

INSIDE = "http://169.254.169.254/latest/meta-data"
READER = Principal(id="u_eve", user="u_eve", scopes=frozenset())


@pytest.fixture
async def board(tmp_path: Path) -> AsyncGenerator[Pegboard]:
    (tmp_path / "board.yaml").write_text(
        f"sources: []\nknowledge: [{{name: inside, url: '{INSIDE}'}}]\n"
    )
    async with Pegboard(tmp_path / "board.yaml") as opened:
        yield opened


async def add_base(board: Pegboard) -> KnowledgeBase:
    return await board.knowledge.add_base(NewBase(name="docs"), principal=LOCAL)


async def gather(board: Pegboard, base: KnowledgeBase, **source: Any) -> str:
    """Look through a folder or an address, to the end; the id of the run."""
    wanted = DocumentSource(base=base.id, **source)
    run = await board.knowledge.gather(base, wanted, principal=LOCAL)
    await board.runs.wait(run, principal=LOCAL)
    return run


async def view(
    board: Pegboard, base: KnowledgeBase, principal: Principal = LOCAL
) -> list[dict[str, Any]]:
    """What a caller is told of the gatherings of a base."""
    (shown,) = await board.knowledge.view_bases([base], principal=principal)
    return shown["gatherings"]


async def test_a_base_says_why_an_address_could_not_be_taken_in(board: Pegboard) -> None:
    base = await add_base(board)

    run = await gather(board, base, url=INSIDE)

    (told,) = await view(board, base)
    assert (told["source"], told["run"], told["failed"]) == (INSIDE, run, 1)
    assert told["ended_at"] is not None
    (fault,) = told["faults"]
    assert (fault["place"], fault["code"]) == (INSIDE, "request_invalid")
    assert "169.254.169.254" in fault["message"]


async def test_a_base_of_the_board_file_says_why_its_address_could_not_be_taken_in(
    board: Pegboard,
) -> None:
    base = board.knowledge.bases.find("inside", principal=LOCAL)
    await RefreshSchedule(board.knowledge, now=lambda: 7200.0).run_due()
    for run in (await board.runs.list(principal=LOCAL)).runs:
        await board.runs.wait(run.id, principal=LOCAL)

    (told,) = await view(board, base)

    assert [fault["code"] for fault in told["faults"]] == ["request_invalid"]


async def test_a_site_says_which_of_its_pages_could_not_be_taken_in(tmp_path: Path) -> None:
    html = {"content-type": "text/html; charset=utf-8"}
    first = reply(b"<h1>Guide</h1><p>Read on.</p><a href='/guide/gone'>on</a>", headers=html)

    async def answer(received: Received, writer: asyncio.StreamWriter) -> None:
        pages = {"/guide/": first, "/robots.txt": reply(b"")}
        writer.write(pages.get(received.path, reply(b"no", status=404)))

    async with serving(answer) as server:
        (tmp_path / "board.yaml").write_text(f"network: {{allow_hosts: ['{server.authority}']}}\n")
        root = f"http://{server.authority}/guide/"
        async with Pegboard(tmp_path / "board.yaml") as board:
            base = await add_base(board)
            await gather(board, base, url=root, below=True)
            (told,) = await view(board, base)

    assert (told["source"], told["failed"]) == (root, 1)
    assert [fault["place"] for fault in told["faults"]] == [f"{root}gone"]


async def test_a_look_with_many_faults_tells_them_too(tmp_path: Path) -> None:
    html = {"content-type": "text/html; charset=utf-8"}
    names = [f"{'long-' * 200}{number}" for number in range(22)]
    links = "".join(f"<a href='/guide/{name}'>on</a>" for name in names)
    first = reply(f"<h1>Guide</h1><p>Read on.</p>{links}".encode(), headers=html)

    async def answer(received: Received, writer: asyncio.StreamWriter) -> None:
        pages = {"/guide/": first, "/robots.txt": reply(b"")}
        writer.write(pages.get(received.path, reply(b"no", status=404)))

    async with serving(answer) as server:
        (tmp_path / "board.yaml").write_text(f"network: {{allow_hosts: ['{server.authority}']}}\n")
        root = f"http://{server.authority}/guide/"
        async with Pegboard(tmp_path / "board.yaml") as board:
            base = await add_base(board)
            await gather(board, base, url=root, below=True)
            (told,) = await view(board, base)
            (look,) = await board.knowledge.list_looks(
                base, DocumentSource(base=base.id, url=root, below=True)
            )

    assert told["failed"] == look.failed == 22
    assert told["faults"][0]["place"].startswith(f"{root}long-")


async def test_a_folder_that_is_none_says_so_of_the_whole(board: Pegboard, tmp_path: Path) -> None:
    base = await add_base(board)

    await gather(board, base, folder=str(tmp_path / "nothing"))

    (told,) = await view(board, base)
    assert [fault["place"] for fault in told["faults"]] == [str(tmp_path / "nothing")]
    assert "no folder" in told["faults"][0]["message"]


async def test_only_the_last_look_at_a_source_is_told(board: Pegboard, tmp_path: Path) -> None:
    folder, base = tmp_path / "late", await add_base(board)
    await gather(board, base, folder=str(folder))
    folder.mkdir()

    run = await gather(board, base, folder=str(folder))

    (told,) = await view(board, base)
    assert (told["run"], told["failed"], told["faults"]) == (run, 0, [])


async def test_a_source_that_gave_no_document_is_told_until_another_one_ends(
    board: Pegboard, tmp_path: Path
) -> None:
    folder, base = tmp_path / "files", await add_base(board)
    folder.mkdir()
    (folder / "good.md").write_text("The desk opens at ten.")
    await gather(board, base, folder=str(folder))
    await gather(board, base, url=INSIDE)
    assert [told["source"] for told in await view(board, base)] == [INSIDE, str(folder)]

    await gather(board, base, folder=str(folder))

    assert [told["source"] for told in await view(board, base)] == [str(folder)]


async def test_readers_are_not_told_of_folders_and_addresses(board: Pegboard) -> None:
    base = board.knowledge.bases.find("inside", principal=READER)
    await gather(board, base, url=INSIDE)

    assert await view(board, base, READER) == []


async def test_a_run_of_another_who_may_not_change_the_base_says_nothing(board: Pegboard) -> None:
    base = await add_base(board)
    await board.knowledge.change_base(base, ResourceChange(visibility="global"), principal=LOCAL)
    graph = gather_graph(DocumentSource(base=base.id, url="https://example.com/eve"))
    started = await board.runs.start_graph(graph, principal=READER)
    await board.runs.wait(started.id, principal=READER)

    assert await view(board, base) == []
