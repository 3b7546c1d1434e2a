"""Several people at once on one server: nothing of one reaches another, and no secret is written.

Each has a session, a key, a credential of one system, answers in the cache, stored results, runs
and approvals of their own, and all of them work at the same time.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
from pydantic import SecretStr
from tests.network.loopback import Server
from tests.servers.http.made import TOKEN, a_board
from tests.servers.http.people import House
from tests.servers.http.taking import repeating_api

from pegboard import ToolContext, tool
from pegboard.core.event import Event
from pegboard.runtime import Pegboard

BOARD = """
network: {{allow_hosts: ["127.0.0.1"]}}
sources:
  - kind: openapi
    name: crm
    config:
      base_url: http://{authority}
      auth: {{kind: caller}}
      actions: [{{name: read, path: "/of/{{who}}"}}]
policy: {{ask: ["pay"]}}
"""
PEOPLE = {"bob": "acme", "cem": "acme", "eve": "zoo", "fay": "zoo"}
ROUNDS = 5


@tool(effect="read", cacheable=True, cache_ttl=60)
async def whose(n: int, ctx: ToolContext[Any]) -> str:
    """Say who asks, once for a while."""
    await asyncio.sleep(0)
    return f"{ctx.principal.id} {n}"


@tool(effect="read", max_result_bytes=200)
async def write_much(ctx: ToolContext[Any]) -> str:
    """Write more than fits into a result."""
    return f"{ctx.principal.id} " * 100


@tool(effect="write")
async def pay(amount: int) -> str:
    """Pay after an approval."""
    return f"paid {amount}"


@dataclass(frozen=True, kw_only=True)
class Person:
    """Somebody with a browser, and the key of a program."""

    handle: str
    id: str
    browser: httpx2.AsyncClient
    program: httpx2.AsyncClient
    secrets: tuple[str, ...]

    @property
    def credential(self) -> str:
        return self.secrets[0]


class Events:
    """Keeps every event of the board as text."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    def on_event(self, event: Event) -> None:
        self.texts.append(repr(event))


@pytest.fixture
async def api() -> AsyncGenerator[Server]:
    async with repeating_api() as server:
        yield server


async def join(house: House, ada: httpx2.AsyncClient, handle: str) -> Person:
    """Make an account with a session, a key and a credential."""
    link = await house.make_link(ada, organisation=PEOPLE[handle], roles=["editor"])
    password, credential = f"planted password of {handle}", f"planted-credential-of-{handle}"
    browser = await house.join(link, {"handle": handle, "password": password})
    session = (await browser.get("/v1/session")).json()
    stored = {"source": "crm", "kind": "bearer", "value": credential}
    assert (await browser.post("/v1/credentials", json=stored)).status_code == 201
    key = (await browser.post("/v1/keys", json={"name": "program"})).json()["key"]
    cookies = tuple(cookie.value or "" for cookie in browser.cookies.jar)
    return Person(
        handle=handle,
        id=session["caller"],
        browser=browser,
        program=house.client(bearer=key),
        secrets=(credential, password, key, *filter(None, cookies)),
    )


async def execute(client: httpx2.AsyncClient, name: str, **arguments: Any) -> Any:
    answer = await client.post("/v1/execute", json={"name": name, "input": arguments})
    return answer.json()


async def work(person: Person) -> Mapping[str, Any]:
    """What a person does and is told, by its browser and its program in turn."""
    told: dict[str, Any] = {"crm": [], "whose": [], "asked": [], "runs": []}
    graph = {"nodes": [{"id": "a", "tool": "whose", "input": {"n": 99}}]}
    for number in range(ROUNDS):
        client = (person.browser, person.program)[number % 2]
        told["crm"].append(await execute(client, "crm__read", who=person.handle))
        told["whose"].append((await execute(client, "whose", n=number))["output"])
        told["asked"].append((await execute(client, "pay", amount=number))["approval_id"])
        started = await client.post("/v1/runs", json={"graph": graph})
        told["runs"].append(started.json()["run_id"])
    much = await execute(person.program, "write_much")
    told["handle"] = much["metadata"]["handle"].removeprefix("pegboard://results/")
    return told


async def check_own(person: Person, told: Mapping[str, Any], others: list[Any]) -> None:
    """A person finds what is theirs, and nothing of what the others were told."""
    client = person.program
    assert told["whose"] == [f"{person.id} {number}" for number in range(ROUNDS)]
    history = (await client.get("/v1/history", params={"limit": 200})).json()["calls"]
    assert {call["principal"] for call in history} == {person.id}
    approvals = (await client.get("/v1/approvals")).json()["approvals"]
    assert {item["id"] for item in approvals} == set(told["asked"])
    runs = (await client.get("/v1/runs")).json()["runs"]
    assert {item["run_id"] for item in runs} == set(told["runs"])
    page = await client.get(f"/v1/results/{told['handle']}")
    assert page.status_code == 200
    assert person.id in page.text
    for other in others:
        foreign = [
            f"/v1/results/{other['handle']}",
            *(f"/v1/runs/{run}" for run in other["runs"]),
            *(f"/v1/runs/{run}/events" for run in other["runs"]),
            *(f"/v1/approvals/{approval}" for approval in other["asked"]),
        ]
        for path in foreign:
            assert (await client.get(path)).status_code == 404, path


@pytest.mark.slow
@pytest.mark.timeout(60)
async def test_nothing_of_one_person_reaches_another_and_no_secret_is_written(
    tmp_path: Path, api: Server, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    events, data = Events(), tmp_path / "data"
    text = BOARD.format(authority=api.authority)
    settings: dict[str, Any] = {"token": SecretStr(TOKEN), "data": data}
    async with a_board(tmp_path, text=text, tools=(whose, write_much, pay), **settings) as board:
        board.registry.environment.emitter.add(events)
        people = await gather_people(board)
        told = dict(zip(people, await asyncio.gather(*map(work, people.values())), strict=True))
        for handle, person in people.items():
            others = [told[other] for other in people if other != handle]
            await check_own(person, told[handle], others)
        for person in people.values():
            await person.program.aclose()
            await person.browser.aclose()

    sent = {(item.path, item.headers.get("authorization", "")) for item in api.requests}
    assert sent == {(f"/of/{it.handle}", f"Bearer {it.credential}") for it in people.values()}
    assert len(api.requests) == ROUNDS * len(people)

    secrets = [secret for person in people.values() for secret in person.secrets]
    answers = [text for it in told.values() for text in map(repr, it.values())]
    places = {"logs": [caplog.text], "events": events.texts, "answers": answers}
    for name, texts in places.items():
        assert [it for it in secrets if any(it in text for text in texts)] == [], name
    written = [path for path in data.rglob("*") if path.is_file()]
    assert any(path.name == "pegboard.db" for path in written)
    for path in written:
        content = path.read_bytes()
        assert [it for it in secrets if it.encode() in content] == [], path


async def gather_people(board: Pegboard) -> dict[str, Person]:
    """Ada founds Acme and the zoo; the others join."""
    house = House(board)
    ada = await house.found()
    await ada.post("/v1/organisations", json={"handle": "zoo"})
    return {handle: await join(house, ada, handle) for handle in PEOPLE}
