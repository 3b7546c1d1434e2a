"""Credentials for connectors that people add: shared by the owner, unknown to strangers."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from pydantic import SecretStr
from tests.network.loopback import Server
from tests.servers.http.made import TOKEN, a_board
from tests.servers.http.people import House
from tests.servers.http.taking import TOKEN_OF_BOB, repeating_api

BOARD = """
sources: []
network: {allow_hosts: ["127.0.0.1"]}
"""
OF_BOB = {"source": "bob--crm", "kind": "bearer", "value": TOKEN_OF_BOB}


@pytest.fixture
async def api() -> AsyncGenerator[Server]:
    async with repeating_api() as server:
        yield server


@pytest.fixture
async def house(tmp_path: Path, api: Server) -> AsyncGenerator[House]:
    settings: dict[str, Any] = {"token": SecretStr(TOKEN), "data": tmp_path / "data"}
    async with a_board(tmp_path, text=BOARD, **settings) as board:
        yield House(board)


async def join(house: House, ada: httpx2.AsyncClient, handle: str, organisation: str) -> Any:
    link = await house.make_link(ada, organisation=organisation, roles=["editor"])
    return await house.join(link, {"handle": handle, "password": "correct horse"})


async def test_the_owner_shares_an_account_with_those_who_see_the_connector(
    house: House, api: Server
) -> None:
    ada = await house.found()
    await ada.post("/v1/organisations", json={"handle": "zoo"})
    bob, cem = await join(house, ada, "bob", "acme"), await join(house, ada, "cem", "acme")
    eve = await join(house, ada, "eve", "zoo")
    config = {
        "base_url": f"http://{api.authority}",
        "auth": {"kind": "caller"},
        "actions": [{"name": "whoami", "path": "/whoami"}],
    }
    wanted = {"name": "crm", "kind": "connector", "source_kind": "openapi", "config": config}
    made = await bob.post("/v1/resources", json=wanted)
    assert made.status_code == 201, made.text
    shared = {"visibility": "organisation", "organisation": "acme"}
    await bob.patch(f"/v1/resources/{made.json()['id']}", json=shared)
    call = {"name": "bob--crm__whoami", "input": {}}

    missing = await cem.post("/v1/execute", json=call)
    stored = await bob.post("/v1/credentials", json=OF_BOB | {"shared": True})
    called = await cem.post("/v1/execute", json=call)
    not_hers = await cem.post("/v1/credentials", json=OF_BOB | {"shared": True})
    unknown = await eve.post("/v1/credentials", json=OF_BOB)
    nothing = await eve.post("/v1/credentials", json=OF_BOB | {"source": "bob--erp"})

    assert missing.json()["code"] == "credential_missing"
    assert stored.status_code == 201, stored.text
    assert called.status_code == 200, called.text
    assert [item.headers.get("authorization") for item in api.requests] == [
        f"Bearer {TOKEN_OF_BOB}"
    ]
    assert TOKEN_OF_BOB not in called.text
    assert not_hers.status_code == 403
    assert unknown.json()["detail"].replace("crm", "erp") == nothing.json()["detail"]


async def test_a_connector_that_its_owner_moves_gets_no_stored_credential_of_others(
    house: House, api: Server
) -> None:
    ada = await house.found()
    bob, cem = await join(house, ada, "bob", "acme"), await join(house, ada, "cem", "acme")
    config = {
        "base_url": f"http://{api.authority}",
        "auth": {"kind": "caller"},
        "actions": [{"name": "whoami", "path": "/whoami"}],
    }
    shared = {"visibility": "organisation", "organisation": "acme"}
    wanted = {"name": "crm", "kind": "connector", "source_kind": "openapi", "config": config}
    made = (await bob.post("/v1/resources", json=wanted | shared)).json()
    stored = await cem.post("/v1/credentials", json=OF_BOB | {"value": "cem-secret-token"})
    assert stored.status_code == 201, stored.text

    moved = config | {"base_url": f"http://{api.authority}/elsewhere"}
    changed = await bob.patch(f"/v1/resources/{made['id']}", json={"config": moved})
    assert changed.status_code == 200, changed.text
    called = await cem.post("/v1/execute", json={"name": "bob--crm__whoami", "input": {}})

    assert called.json()["code"] == "credential_missing"
    assert api.requests == []


@pytest.mark.parametrize("loss", ["disabled", "demoted", "removed"])
async def test_a_shared_account_ends_with_the_right_of_its_owner_to_share_it(
    house: House, api: Server, loss: str
) -> None:
    ada = await house.found()
    bob, cem = await join(house, ada, "bob", "acme"), await join(house, ada, "cem", "acme")
    config = {
        "base_url": f"http://{api.authority}",
        "auth": {"kind": "caller"},
        "actions": [{"name": "whoami", "path": "/whoami"}],
    }
    shared = {"visibility": "organisation", "organisation": "acme"}
    wanted = {"name": "crm", "kind": "connector", "source_kind": "openapi", "config": config}
    await bob.post("/v1/resources", json=wanted | shared)
    await bob.post("/v1/credentials", json=OF_BOB | {"shared": True})
    call = {"name": "bob--crm__whoami", "input": {}}
    before = await cem.post("/v1/execute", json=call)

    if loss == "disabled":
        await ada.patch("/v1/people/bob", json={"disabled": True})
    elif loss == "demoted":
        await ada.put("/v1/organisations/acme/members/bob", json={"roles": ["member"]})
    else:
        await ada.delete("/v1/organisations/acme/members/bob")
    after = await cem.post("/v1/execute", json=call)

    assert before.status_code == 200
    assert after.json()["code"] == "credential_missing"
    assert len(api.requests) == 1
