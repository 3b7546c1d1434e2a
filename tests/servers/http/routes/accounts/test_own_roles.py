"""Roles of an organisation over HTTP."""

from pathlib import Path

from pydantic import SecretStr
from tests.servers.http.made import TOKEN, a_board
from tests.servers.http.people import House

CALL = {"name": "note", "input": {"text": "x"}}


async def test_a_role_is_defined_given_and_removed(tmp_path: Path) -> None:
    async with a_board(tmp_path, token=SecretStr(TOKEN)) as board:
        house = House(board)
        ada = await house.found()
        role = "/v1/organisations/acme/roles/support"
        defined = await ada.put(role, json={"levels": {"not*": "write"}, "title": "Support"})
        bob = await house.invite(ada, "support")

        listed = (await bob.get("/v1/organisations/acme/roles")).json()["roles"]
        refused = await bob.put(role, json={"levels": {"*": "admin"}})
        wrong = await ada.put(role, json={"levels": {"*": "own"}})
        called = await bob.post("/v1/execute", json=CALL)
        removed = await ada.delete(role)
        after = await bob.post("/v1/execute", json=CALL)

        assert (defined.status_code, defined.json()["levels"]) == (200, {"not*": "write"})
        assert [(item["name"], item["title"]) for item in listed] == [("support", "Support")]
        assert (refused.status_code, wrong.status_code) == (403, 422)
        assert called.status_code == 200, called.text
        assert removed.status_code == 204
        assert after.status_code == 403
