"""The history of calls over HTTP: filters, totals and exports, of what the caller may see."""

import csv
import io
import json
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from pydantic import SecretStr
from tests.servers.http.made import TOKEN, a_board, client_of
from tests.servers.http.people import House

from pegboard import tool
from pegboard.servers.http.models.record_responses import CallRow


async def execute(client: httpx2.AsyncClient, name: str, **given: Any) -> dict[str, Any]:
    return (await client.post("/v1/execute", json={"name": name, "input": given})).json()


class People:
    """Ada, the operator; Bob, a member of Acme; Eve, who administers the zoo."""

    def __init__(self, ada: Any, bob: Any, eve: Any) -> None:
        self.ada, self.bob, self.eve = ada, bob, eve


@pytest.fixture
async def people(tmp_path: Path) -> AsyncGenerator[People]:
    async with a_board(tmp_path, token=SecretStr(TOKEN)) as board:
        house = House(board)
        ada = await house.found()
        bob = await house.invite(ada, "editor")
        await ada.post("/v1/organisations", json={"handle": "zoo"})
        link = await house.make_link(ada, organisation="zoo", roles=["administrator", "editor"])
        eve = await house.join(link, {"handle": "eve", "name": "Eve", "password": "correct horse"})
        for client, number in ((ada, 1), (bob, 2), (eve, 3)):
            done = await execute(client, "add", a=number)
            assert "output" in done, done
        yield People(ada, bob, eve)


async def names_of(client: httpx2.AsyncClient, **query: str) -> list[str]:
    body = (await client.get("/v1/history", params=query)).json()
    return [body["names"].get(call["principal"], "?") for call in body["calls"]]


async def test_history_tells_the_newest_call_first(client: httpx2.AsyncClient) -> None:
    first = await execute(client, "add", a=1)
    second = await execute(client, "refuse")

    calls = (await client.get("/history")).json()["calls"]

    assert [call["call_id"] for call in calls] == [
        second["metadata"]["call_id"],
        first["metadata"]["call_id"],
    ]
    assert [call["status"] for call in calls] == ["failed", "completed"]


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({"tool": "add"}, ["add", "add"]),
        ({"status": "failed"}, ["refuse"]),
        ({"status": "denied"}, ["add_secret"]),
        ({"principal": "local", "tool": "refuse"}, ["refuse"]),
        ({"principal": "token"}, []),
        ({"source": "nothing"}, []),
        ({"run_id": "nothing"}, []),
        ({"until": "1"}, []),
        ({"since": "1", "tool": "refuse"}, ["refuse"]),
        ({"unfinished": "true"}, []),
        ({"instead_of": "add"}, []),
    ],
)
async def test_history_is_filtered(
    client: httpx2.AsyncClient, query: dict[str, str], found: list[str]
) -> None:
    for name, given in (("add", {"a": 1}), ("add", {"a": 2}), ("refuse", {}), ("add_secret", {})):
        await execute(client, name, **({"key": "k"} if name == "add_secret" else given))

    calls = (await client.get("/history", params=query)).json()["calls"]

    assert [call["tool"] for call in calls] == found


@pytest.mark.slow
@pytest.mark.timeout(60)
async def test_rows_of_the_history_have_the_keys_that_the_document_names(tmp_path: Path) -> None:
    board = a_board(tmp_path, data=tmp_path / "data", store_arguments=True)
    async with client_of(board) as client:
        for name in ("add", "crash", "refund", "secret_of_mine", "no_such_tool"):
            await execute(client, name, a=1)
        rows = (await client.get("/history")).json()["calls"]
        document = (await client.get("/openapi.json")).json()

    known = document["components"]["schemas"]["CallRow"]
    assert len(rows) >= 4
    assert {frozenset(row) for row in rows} == {frozenset(known["properties"])}
    assert set(known["required"]) == known["properties"].keys() - {"arguments"}
    assert [CallRow.model_validate(row).call_id for row in rows] == [row["call_id"] for row in rows]


async def test_history_is_read_page_by_page(client: httpx2.AsyncClient) -> None:
    for number in range(5):
        await execute(client, "add", a=number)
    seen: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        query = {"limit": "2", "cursor": cursor}
        page = (await client.get("/history", params=query)).json()
        await execute(client, "echo")  # what is new does not move what is older
        seen += [call["call_id"] for call in page["calls"]]
        cursor = page["next_cursor"]

    assert len(seen) == len(set(seen)) == 5


async def test_a_cursor_that_nobody_gave_out_is_no_page(client: httpx2.AsyncClient) -> None:
    answer = await client.get("/history", params={"cursor": "x"})

    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


async def test_history_survives_the_server(tmp_path: Path) -> None:
    data = tmp_path / "data"
    async with client_of(a_board(tmp_path, data=data)) as client:
        await execute(client, "add", a=1)
    async with client_of(a_board(tmp_path, data=data)) as client:
        calls = (await client.get("/history")).json()["calls"]

    assert [call["tool"] for call in calls] == ["add"]


async def test_the_cause_behind_an_error_id_is_shown(tmp_path: Path) -> None:
    @tool
    def crash() -> str:
        """Break."""
        raise ValueError("the cause")

    async with client_of(a_board(tmp_path, tools=[crash])) as client:
        failed = await execute(client, "crash")
        shown = await client.get(f"/history/errors/{failed['error_id']}")
        unknown = await client.get("/history/errors/e_none")

    assert "the cause" in json.dumps(shown.json())
    assert (shown.status_code, unknown.status_code) == (200, 404)
    assert unknown.json()["code"] == "not_found"


async def test_a_call_is_found_by_its_id(client: httpx2.AsyncClient) -> None:
    await execute(client, "add", a=1)
    wanted = (await execute(client, "add", a=2))["metadata"]["call_id"]

    calls = (await client.get("/history", params={"call_id": wanted})).json()["calls"]

    assert [call["call_id"] for call in calls] == [wanted]


async def test_calls_are_those_that_the_caller_may_see_and_name_who_called(people: People) -> None:
    assert await names_of(people.ada) == ["Eve", "bob", "ada"]
    assert await names_of(people.bob) == ["bob"]
    assert await names_of(people.eve) == ["Eve"]

    body = (await people.ada.get("/v1/history")).json()
    handles = [body["handles"][call["principal"]] for call in body["calls"]]
    assert handles == ["eve", "bob", "ada"]


async def test_calls_of_a_person_are_asked_for_by_handle_or_address(people: People) -> None:
    assert await names_of(people.ada, person="bob") == ["bob"]
    assert await names_of(people.ada, person="bob@acme.example") == ["bob"]
    assert await names_of(people.ada, person="nobody") == []
    # others are no more there for Bob than one who does not exist
    assert await names_of(people.bob, person="ada") == []
    assert await names_of(people.bob, person="bob") == ["bob"]
    assert await names_of(people.eve, person="bob") == []


async def test_totals_count_what_the_caller_may_see(people: People) -> None:
    async def count(client: Any, **query: Any) -> int:
        return (await client.get("/v1/history/totals", params=query)).json()["calls"]

    assert [await count(client) for client in (people.ada, people.bob, people.eve)] == [3, 1, 1]
    assert await count(people.ada, tool="add", hours=48) == 3
    assert await count(people.ada, tool="echo") == 0
    assert await count(people.ada, source="nothing") == 0


async def test_totals_have_24_parts_and_durations(client: httpx2.AsyncClient) -> None:
    await execute(client, "add", a=1)
    await execute(client, "refuse")

    body = (await client.get("/history/totals")).json()

    assert (body["calls"], body["failed"]) == (2, 1)
    assert body["until"] - body["since"] == 24 * 3600
    assert [len(body["slots"]), body["slots"][-1]] == [24, {"calls": 2, "failed": 1}]
    assert 0 <= body["p50_ms"] <= body["p95_ms"]


async def test_an_export_has_every_call_that_the_list_has(people: People) -> None:
    export = await people.ada.get("/v1/history/export")
    own = await people.bob.get("/v1/history/export", params={"format": "jsonl"})
    nothing = await people.bob.get("/v1/history/export", params={"person": "ada"})

    rows = list(csv.DictReader(io.StringIO(export.text)))
    assert export.headers["content-type"] == "text/csv; charset=utf-8"
    assert export.headers["content-disposition"].startswith('attachment; filename="pegboard-calls-')
    assert [(row["name"], row["tool"], row["status"]) for row in rows] == [
        ("Eve", "add", "completed"),
        ("bob", "add", "completed"),
        ("ada", "add", "completed"),
    ]
    assert [json.loads(line)["name"] for line in own.text.splitlines()] == ["bob"]
    assert nothing.text.count("\n") == 1  # the names of the columns


async def test_an_export_with_an_unknown_filter_is_refused(client: httpx2.AsyncClient) -> None:
    for query in ({"cursor": "x"}, {"limit": "5"}, {"format": "xlsx"}):
        assert (await client.get("/history/export", params=query)).status_code == 422
