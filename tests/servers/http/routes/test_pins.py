"""Definitions of upstreams through the door: listed with their diffs, decided once."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from tests.features.pins.changing import BOARD, write
from tests.servers.http.made import client_of

from pegboard.features.pins.schemas import HeldAnswer, HeldList, PinList
from pegboard.runtime import Pegboard


@pytest.fixture
async def board(tmp_path: Path) -> AsyncGenerator[Pegboard]:
    (tmp_path / "board.yaml").write_text(BOARD)
    write(tmp_path, "find", "show")
    async with Pegboard(tmp_path / "board.yaml") as made:
        write(tmp_path, "find", "show", summary="Send keys.")
        await made.reload()
        yield made


async def test_what_is_held_is_listed_page_by_page_and_approved(board: Pegboard) -> None:
    async with client_of(board) as client:
        first = (await client.get("/tools/held", params={"limit": 1})).json()
        cursor = first["next_cursor"]
        second = (await client.get("/v1/tools/held", params={"cursor": cursor})).json()
        [held] = first["held"]
        body = {"decision": "approve", "digest": held["digest"]}
        approved = await client.post("/tools/held/orders/find", json=body)
        shown = (await client.get("/tools/orders__find")).json()
        again = await client.post("/tools/held/orders/find", json=body)

    assert HeldList.model_validate(first).held[0].changes[0].after == "Send keys."
    assert ([item["name"] for item in second["held"]], second["next_cursor"]) == (["show"], None)
    assert HeldAnswer.model_validate(approved.json()).state == "approved"
    assert shown["description"] == "Send keys."
    assert (again.status_code, again.json()["code"]) == (404, "definition_not_held")


async def test_a_rejected_definition_stays_out(board: Pegboard) -> None:
    async with client_of(board) as client:
        [held, _] = (await client.get("/tools/held", params={"source": "orders"})).json()["held"]
        body = {"decision": "reject", "digest": held["digest"]}
        rejected = await client.post("/tools/held/orders/orders__find", json=body)
        listed = (await client.get("/tools/held", params={"state": "rejected"})).json()
        shown = (await client.get("/tools/orders__find")).json()
        sources = (await client.get("/sources")).json()["sources"]

    assert rejected.json()["state"] == "rejected"
    assert [item["name"] for item in listed["held"]] == ["find"]
    assert shown["description"] == "Look."
    assert [source["held"] for source in sources] == [1]


async def test_the_pins_are_listed(board: Pegboard) -> None:
    async with client_of(board) as client:
        every = (await client.get("/pins")).json()
        none = (await client.get("/pins", params={"source": "other"})).json()

    pins = PinList.model_validate(every).pins
    assert [(pin.tool, pin.approved_by) for pin in pins] == [
        ("orders__find", ""),
        ("orders__show", ""),
    ]
    assert none == {"pins": [], "next_cursor": None}


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code"),
    [
        ("GET", "/pins?cursor=x", None, 404, "not_found"),
        ("GET", "/tools/held?cursor=x", None, 404, "not_found"),
        ("GET", "/tools/held?state=odd", None, 422, "request_invalid"),
        ("DELETE", "/tools/held", None, 405, "method_not_allowed"),
        ("GET", "/tools/held/orders/none", None, 404, "definition_not_held"),
        ("POST", "/tools/held/orders/find", {"decision": "approve"}, 422, "request_invalid"),
        (
            "POST",
            "/tools/held/orders/find",
            {"decision": "approve", "digest": "0"},
            409,
            "definition_changed",
        ),
        (
            "POST",
            "/tools/held/nobody/find",
            {"decision": "reject", "digest": "0"},
            404,
            "definition_not_held",
        ),
    ],
    ids=["page", "held page", "state", "delete", "get", "no digest", "changed", "nobody"],
)
async def test_what_cannot_be_done_is_told(
    board: Pegboard, method: str, path: str, body: Any, status: int, code: str
) -> None:
    async with client_of(board) as client:
        answer: httpx2.Response = await client.request(method, path, json=body)

    assert (answer.status_code, answer.json()["code"]) == (status, code)


async def test_one_held_definition_is_shown_with_its_diff(board: Pegboard) -> None:
    async with client_of(board) as client:
        listed = (await client.get("/tools/held")).json()["held"][0]
        shown = (await client.get(f"/tools/held/{listed['source']}/{listed['name']}")).json()

    assert shown == listed


async def test_what_the_board_blocks_is_forbidden(tmp_path: Path) -> None:
    (tmp_path / "board.yaml").write_text(BOARD.replace("ask", "block"))
    write(tmp_path, "find")
    async with Pegboard(tmp_path / "board.yaml") as board:
        write(tmp_path, "find", summary="Send keys.")
        await board.reload()
        async with client_of(board) as client:
            [held] = (await client.get("/tools/held")).json()["held"]
            body = {"decision": "approve", "digest": held["digest"]}
            answer = await client.post("/tools/held/orders/find", json=body)

    assert held["state"] == "blocked"
    assert (answer.status_code, answer.json()["code"]) == (403, "access_denied")
