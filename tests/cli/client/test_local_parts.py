"""A board of this process as commands have it."""

import asyncio
from pathlib import Path

import pytest
from pydantic import SecretStr
from tests.runtime.people import found, invite

from pegboard import ToolContext, tool
from pegboard.cli.client.files import LocalFiles
from pegboard.cli.client.local_parts import NEEDS_KEY, LocalParts
from pegboard.cli.client.port import BoardClient
from pegboard.cli.options import with_client
from pegboard.core.ports.call_stores import HistoryQuery
from pegboard.errors import AccessDenied
from pegboard.runtime import Pegboard, Settings


async def test_files_are_those_of_the_caller() -> None:
    async with Pegboard() as board:
        assert isinstance(LocalParts(board).files, LocalFiles)
        with pytest.raises(AccessDenied, match=NEEDS_KEY):
            _ = LocalParts(board, principal=None).files


@pytest.mark.slow
def test_the_stored_history_is_that_of_the_caller(tmp_path: Path) -> None:
    def whoami() -> str:
        """Say who."""
        return "me"

    async def fill() -> str:
        async with Pegboard(data=tmp_path) as board:
            board.registry.add(tool(whoami))
            ada = await found(board)
            bob = await invite(board, ada, "bob", "editor")
            for caller in (ada, bob):
                await board.call("whoami", {}, ToolContext(principal=caller))
            return (await board.identity.keys.make("ci", principal=bob)).key

    async def list_owners(client: BoardClient) -> list[str]:
        page = await client.list_calls(HistoryQuery())
        return [item["principal"] for item in page["calls"]]

    key = asyncio.run(fill())
    settings = Settings(data=tmp_path)
    by_key = Settings(data=tmp_path, token=SecretStr(key))
    with pytest.raises(AccessDenied, match="set PEGBOARD_TOKEN"):
        with_client(settings, list_owners, opens="history")
    with pytest.raises(AccessDenied, match="audit"):
        with_client(by_key, lambda client: client.show_error("e1"), opens="history")
    owners = with_client(by_key, list_owners, opens="history")

    assert len(owners) == 1
