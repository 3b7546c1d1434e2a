"""A document that is read again by itself, and what is told of it."""

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.network.loopback import Received, Server, client_for, reply, serving
from tests.sources.openapi.bench import document, one, operation

from pegboard.core.ports.services import Services
from pegboard.errors import SourceUnavailable, Unavailable
from pegboard.runtime import Pegboard
from pegboard.sources.openapi import KIND
from pegboard.sources.openapi.config import OpenApiConfig
from pegboard.sources.openapi.document.refresh import DocumentRefresh

TWO = document({"/pets": {"get": operation(operationId="a"), "put": operation(operationId="b")}})


class Api:
    """What its server says now."""

    def __init__(self) -> None:
        self.document: dict[str, Any] = one()
        self.status = 200
        self.statuses: list[int] = []

    async def answer(self, received: Received, writer: asyncio.StreamWriter) -> None:
        body = json.dumps(self.document).encode()
        tag = f'"{len(body)}"'
        status = 304 if received.headers.get("if-none-match") == tag else self.status
        self.statuses.append(status)
        content = b"" if status == 304 else body
        writer.write(reply(content, status=status, headers={"etag": tag}))


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(40):
        while not condition():  # noqa: ASYNC110 - what is waited for is the server's side
            await asyncio.sleep(0.02)


@asynccontextmanager
async def served(api: Api) -> AsyncGenerator[tuple[Server, Any]]:
    async with serving(api.answer) as server, client_for(server) as http:
        given = {"document": f"http://{server.authority}/a.json", "refresh": 1}
        config = OpenApiConfig.model_validate(given)
        source = await KIND.open("api", config, Services(http=http))
        try:
            yield server, source
        finally:
            await source.close()


@pytest.mark.timeout(60)
async def test_a_change_of_the_document_is_told_and_what_is_the_same_is_not() -> None:
    api, told = Api(), list[int]()
    async with served(api) as (_, source):
        source.on_change(lambda: told.append(1))
        first = await source.tools()
        await until(lambda: 304 in api.statuses)
        quiet = list(told)
        api.document = TWO
        await until(lambda: bool(told))
        second = await source.tools()

    assert quiet == []
    assert (len(first), len(second)) == (1, 2)
    # what the look has read is not sent once more
    assert (api.statuses.count(200), api.statuses[-1]) == (2, 304)


@pytest.mark.timeout(60)
async def test_a_document_that_cannot_be_read_leaves_the_tools_and_is_said_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    api, told = Api(), list[int]()
    async with served(api) as (_, source):
        source.on_change(lambda: told.append(1))
        await source.tools()
        api.status, api.document = 500, TWO
        with caplog.at_level(logging.WARNING, logger="pegboard.openapi"):
            await until(lambda: api.statuses.count(500) == 2)
        api.status = 200
        await until(lambda: bool(told))

    said = [item for item in caplog.messages if "cannot refresh the document" in item]
    assert len(said) == 1
    assert "its server answered 500" in said[0]


@pytest.mark.timeout(60)
async def test_nothing_is_asked_once_the_source_is_closed_nor_where_nobody_is_told() -> None:
    api = Api()
    async with served(api) as (_, source):
        await source.tools()
        await asyncio.sleep(1.2)
        unheard = list(api.statuses)
        source.on_change(lambda: None)
        await source.tools()
        await source.close()
        await source.close()
        await asyncio.sleep(1.2)

    assert unheard == [200]
    assert api.statuses == [200, 304]


@pytest.mark.timeout(60)
async def test_new_tools_of_an_api_are_on_the_board_by_themselves(tmp_path: Path) -> None:
    api = Api()
    async with serving(api.answer) as server:
        (tmp_path / "board.yaml").write_text(
            "sources:\n"
            "  - kind: openapi\n"
            "    name: api\n"
            f"    config: {{document: http://{server.authority}/a.json, refresh: 1}}\n"
            "network: {allow_hosts: [127.0.0.1]}\n"
        )
        async with Pegboard(tmp_path / "board.yaml") as board:
            await until(lambda: len(board.registry.names()) > 0)
            changes: list[str] = []
            board.registry.changes.listen(lambda kind, _uri: changes.append(kind))
            before = set(board.registry.names())
            api.document = TWO
            await until(lambda: "api__b" in board.registry.names())

    assert "api__b" not in before
    assert "tools" in changes


@pytest.mark.parametrize(
    "error",
    [SourceUnavailable("gone"), Unavailable("away"), ValueError("odd")],
    ids=["refused", "away", "nobody foresaw it"],
)
async def test_a_look_that_fails_goes_on(error: Exception) -> None:
    told: list[int] = []
    answers = [error, error, True]

    async def has_changed() -> bool:
        found = answers.pop(0) if answers else False
        if isinstance(found, Exception):
            raise found
        return found

    refreshing = DocumentRefresh("api", every=0.01, has_changed=has_changed)
    refreshing.on_change(lambda: told.append(1))
    refreshing.start()
    refreshing.start()
    await until(lambda: bool(told))
    await refreshing.close()
    refreshing.start()

    assert told == [1]
