"""The agents of a board over HTTP."""

from collections.abc import AsyncGenerator
from pathlib import Path

import httpx2
import pytest
from tests.features.conversations.made import find_order
from tests.servers.http.live import a_server, patient

from pegboard.runtime import Pegboard
from pegboard.testing import ScriptedModel, Turn

BOARD = """
agents:
  - {name: shop, description: Orders., instructions: Be kind., tools: [find_order]}
  - {name: lost, tools: [no_such_tool]}
"""


@pytest.fixture
async def client(tmp_path: Path) -> AsyncGenerator[httpx2.AsyncClient]:
    (tmp_path / "board.yaml").write_text(BOARD)
    model = ScriptedModel(Turn(text="Hello.", tools=("find_order",)))
    board = Pegboard(tmp_path / "board.yaml", model=model, tools=[find_order])
    async with a_server(board) as url, patient(base_url=url) as client:
        yield client


async def test_the_agents_are_listed_without_their_instructions(client: httpx2.AsyncClient) -> None:
    shop, lost = (await client.get("/v1/agents")).json()["agents"]

    assert (shop["name"], shop["description"], shop["tools"]) == ("shop", "Orders.", ["find_order"])
    assert "Be kind" not in str(shop)
    assert "no_such_tool" in lost["unavailable"]


async def test_a_message_chooses_its_agent(client: httpx2.AsyncClient) -> None:
    body = {"message": "hi", "agent": "shop", "stream": False}
    answered = await client.post("/v1/chat", json=body)
    unknown = await client.post("/v1/chat", json=body | {"agent": "nobody"})

    assert answered.json()["answer"] == "Hello."
    assert (unknown.status_code, unknown.json()["code"]) == (404, "agent_not_found")
    assert "auto, shop, lost" in unknown.json()["detail"]


async def test_the_models_are_listed(client: httpx2.AsyncClient) -> None:
    (model,) = (await client.get("/v1/chat/models")).json()["models"]

    assert (model["name"], model["role"]) == ("smart", "smart")
