"""What a server runs with: for operators, without a secret."""

from pathlib import Path

import httpx2
import pytest
from pydantic import SecretStr
from tests.servers.http.made import TOKEN, a_board, client_of
from tests.servers.http.people import House

from pegboard.servers.http.models.settings import SettingsAnswer


async def test_the_settings_are_shown_with_doors_and_sections(tmp_path: Path) -> None:
    text = "sources: [{kind: builtin, name: std}]\nagents: [{name: clerk, instructions: Count.}]"
    async with client_of(a_board(tmp_path, text=text, smtp_url=SecretStr("smtps://a:pw@h"))) as it:
        answer = await it.get("/settings")

    found = SettingsAnswer.model_validate(answer.json())
    doors = {door.name: door for door in found.doors}
    assert [section.name for section in found.sections] == ["sources", "agents"]
    assert found.board.endswith("board.yaml")
    assert (doors["mcp"].open, doors["mcp"].guard) == (True, "none")
    assert (doors["oidc"].open, doors["oidc"].setting) == (False, "PEGBOARD_OIDC_ISSUER")
    assert "a:pw@h" not in answer.text


async def test_where_there_are_accounts_operators_alone_see_the_settings(tmp_path: Path) -> None:
    async with a_board(tmp_path, token=SecretStr(TOKEN)) as board:
        house = House(board)
        ada = await house.found()
        bob = await house.invite(ada, "administrator", "editor")
        shown, refused = await ada.get("/v1/settings"), await bob.get("/v1/settings")

    assert (shown.status_code, refused.status_code) == (200, 403)
    assert {door["guard"] for door in shown.json()["doors"]} == {"accounts"}
    assert TOKEN not in shown.text
    assert refused.json()["code"] == "access_denied"


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
async def test_nothing_changes_a_setting(client: httpx2.AsyncClient, method: str) -> None:
    assert (await client.request(method, "/settings")).status_code == 405
