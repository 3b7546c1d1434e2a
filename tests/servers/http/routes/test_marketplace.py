"""External catalogues through the door: browsed, looked at, and added as they were looked at."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.features.marketplace.made import SHOP, Files, shop_board
from tests.servers.http.made import client_of

from pegboard.features.marketplace.schemas import AddedAnswer, EntryList, ReviewAnswer
from pegboard.runtime import Pegboard

PATH = f"/v1/marketplace/apis/{SHOP}"
ONE = {"tools": ["getOrder"]}


@pytest.fixture
async def shop(tmp_path: Path) -> AsyncGenerator[tuple[Pegboard, Files]]:
    async with shop_board(tmp_path) as (board, made, _server):
        yield board, made


@pytest.fixture
async def client(shop: tuple[Pegboard, Files]) -> AsyncGenerator[httpx2.AsyncClient]:
    async with client_of(shop[0]) as opened:
        yield opened


async def reviewed(client: httpx2.AsyncClient, **more: Any) -> dict[str, Any]:
    return (await client.get(PATH, params={**ONE, **more})).json()


async def test_entries_are_listed_with_how_their_catalogues_are_doing(
    client: httpx2.AsyncClient,
) -> None:
    answer = (await client.get("/marketplace", params={"capability": "ecommerce"})).json()

    told = EntryList.model_validate(answer)
    assert [(item.marketplace, item.entry) for item in told.entries] == [("apis", SHOP)]
    assert [(item.name, item.status, item.entries) for item in told.marketplaces] == [
        ("apis", "ok", 1)
    ]
    assert told.next_cursor is None


async def test_what_was_looked_at_is_added_once_and_called(client: httpx2.AsyncClient) -> None:
    review = await reviewed(client)
    body = {**ONE, "digest": review["digest"]}
    first = await client.post(PATH, json=body)
    again = await client.post(PATH, json=body)
    call = {"name": "orders__getOrder", "input": {"id": 3}}
    called = (await client.post("/execute", json=call)).json()
    shown = (await client.get("/tools/orders__getOrder")).json()

    assert ReviewAnswer.model_validate(review).tools[0].registration is not None
    added = AddedAnswer.model_validate(first.json())
    assert (first.status_code, added.already) == (201, False)
    assert (again.status_code, again.json()["already"]) == (200, True)
    assert called["output"] == {"method": "GET", "path": "/v1/orders/3"}
    assert shown["registered"]["pin"] == review["tools"][0]["registration"]["pin"]


async def test_what_was_taken_off_is_put_back_and_called_so(client: httpx2.AsyncClient) -> None:
    body = {**ONE, "digest": (await reviewed(client))["digest"]}
    await client.post(PATH, json=body)
    removed = await client.delete("/tools/orders__getOrder")
    back = await client.post(PATH, json=body)
    again = await client.post(PATH, json=body)
    shown = await client.get("/tools/orders__getOrder")

    assert removed.is_success
    assert (back.status_code, back.json()["already"]) == (201, False)
    assert back.json()["registered"][0]["is_new"] is False
    assert (again.status_code, again.json()["already"]) == (200, True)
    assert shown.status_code == 200


async def test_a_key_gives_the_first_answer_again(client: httpx2.AsyncClient) -> None:
    body = {**ONE, "digest": (await reviewed(client))["digest"]}
    headers = {"Idempotency-Key": "one"}
    first = await client.post(PATH, json=body, headers=headers)
    again = await client.post(PATH, json=body, headers=headers)
    other = await client.post(PATH, json={**body, "name": "x"}, headers=headers)

    assert first.json() == again.json()
    assert (other.status_code, other.json()["code"]) == (409, "idempotency_conflict")


async def test_what_was_not_looked_at_is_not_added(client: httpx2.AsyncClient) -> None:
    answer = await client.post(PATH, json={**ONE, "digest": "0" * 64})
    missing = await client.post(PATH, json=ONE)

    assert (answer.status_code, answer.json()["code"]) == (409, "definition_changed")
    assert missing.status_code == 422


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        pytest.param("/marketplace/other/x", 404, "entry_not_found", id="no marketplace"),
        pytest.param("/marketplace/apis/a/b", 404, "entry_not_found", id="no entry"),
        pytest.param(f"{PATH}?way=none", 404, "entry_not_found", id="no way"),
        pytest.param(f"{PATH}?tools=none", 404, "entry_not_found", id="no tool"),
        pytest.param(f"{PATH}?name=a__b", 422, "request_invalid", id="no name"),
        pytest.param("/marketplace?marketplace=x", 404, "entry_not_found", id="no such filter"),
        pytest.param("/marketplace?cursor=x", 404, "not_found", id="no page"),
        pytest.param("/marketplace?limit=0", 422, "request_invalid", id="no limit"),
    ],
)
async def test_what_there_is_not_is_refused(
    client: httpx2.AsyncClient, path: str, status: int, code: str
) -> None:
    answer = await client.get(path)

    assert (answer.status_code, answer.json()["code"]) == (status, code)
