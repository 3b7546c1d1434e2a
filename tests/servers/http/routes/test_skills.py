"""Skills over HTTP."""

from collections.abc import AsyncGenerator
from pathlib import Path

import httpx2
import pytest
from tests.servers.http.live import a_server, patient
from tests.sources.skills.made import write_skill

from pegboard.runtime import Pegboard

BOARD = """
sources:
  - {kind: skills, name: house, config: {paths: [skills]}}
policy: {deny: [house__secret]}
"""


@pytest.fixture
async def client(tmp_path: Path) -> AsyncGenerator[httpx2.AsyncClient]:
    front = "description: Takes records back.\nallowed-tools: find_order std__*"
    folder = write_skill(tmp_path / "skills" / "returns", "1. Find the order.", front=front)
    (folder / "damage.md").write_text("Ask for a picture.")
    write_skill(tmp_path / "skills" / "broken", front="nothing: said")
    write_skill(tmp_path / "skills" / "secret")
    (tmp_path / "board.yaml").write_text(BOARD)
    board = Pegboard(tmp_path / "board.yaml")
    async with a_server(board) as url, patient(base_url=url) as client:
        yield client


async def test_skills_are_listed_with_the_fault_of_one_that_cannot_be_used(
    client: httpx2.AsyncClient,
) -> None:
    broken, returns = (await client.get("/v1/skills")).json()["skills"]

    assert "broken/SKILL.md" in broken["unavailable"]
    assert returns == {
        "tool": "house__returns",
        "name": "returns",
        "source": "house",
        "resource": "",
        "description": "Takes records back.",
        "characters": 18,
        "allowed_tools": ["find_order", "std__*"],
        "unavailable": "",
    }


async def test_a_skill_is_read_with_the_names_of_its_files(client: httpx2.AsyncClient) -> None:
    skill = (await client.get("/v1/skills/house__returns")).json()

    assert (skill["text"], skill["files"]) == ("1. Find the order.", ["damage.md"])


@pytest.mark.parametrize("name", ["house__secret", "house__nothing", "board__read_result"])
async def test_a_skill_that_is_hidden_or_no_skill_is_not_there(
    client: httpx2.AsyncClient, name: str
) -> None:
    answer = await client.get(f"/v1/skills/{name}")

    assert (answer.status_code, answer.json()["code"]) == (404, "tool_not_found")
