"""Language models that people publish: reviewed, installed, used with one's own key, withdrawn."""

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from pydantic import SecretStr
from tests.models.made import Provider, a_provider, text
from tests.servers.http.made import TOKEN, a_board
from tests.servers.http.people import House

from pegboard.testing import ScriptedModel

pytest.importorskip("pydantic_ai.models.openai")  # slow, so not within the time of a test
NAME = "bob--tiny"
KEYS = {"bob": "sk-of-bob", "eve": "sk-of-eve"}


class Members:
    """Ada, the operator; Bob and Cem, administrators of Acme; Eve of the zoo."""

    def __init__(self, house: House, provider: Provider) -> None:
        self.house, self.provider = house, provider
        self.ada = self.bob = self.cem = self.eve = house.client()


@pytest.fixture
async def members(tmp_path: Path) -> AsyncGenerator[Members]:
    async with a_provider() as provider:
        host = provider.url.split("/")[2]
        board = f'sources: []\nnetwork: {{allow_hosts: ["{host}"]}}\n'
        settings: dict[str, Any] = {"token": SecretStr(TOKEN), "model_given": ScriptedModel()}
        async with a_board(tmp_path, text=board, **settings) as opened:
            made = Members(House(opened), provider)
            made.ada = await made.house.found()
            await made.ada.post("/v1/organisations", json={"handle": "zoo"})
            made.bob = await join(made, "bob", "acme", "administrator", "editor")
            made.cem = await join(made, "cem", "acme", "administrator", "editor")
            made.eve = await join(made, "eve", "zoo", "editor")
            yield made


async def join(members: Members, handle: str, organisation: str, *roles: str) -> Any:
    wanted = {"organisation": organisation, "roles": list(roles)}
    link = await members.house.make_link(members.ada, **wanted)
    return await members.house.join(link, {"handle": handle, "password": "correct horse"})


async def publish(members: Members) -> str:
    """Add, share, publish and approve Bob's model; the path of it."""
    config = {"model": "tiny-1", "base_url": members.provider.url, "provider": "openai"}
    new = {"kind": "model", "name": "tiny", "title": "Tiny", "config": config}
    item = (await members.bob.post("/v1/resources", json=new)).json()
    path = f"/v1/resources/{item['id']}"
    shared = {"visibility": "organisation", "organisation": "acme"}
    assert (await members.bob.patch(path, json=shared)).status_code == 200
    proposed = (await members.bob.post(f"{path}/publish")).json()
    verdict = {"decision": "approve", "revision": proposed["revision"]}
    assert (await members.bob.post(f"{path}/review", json=verdict)).status_code == 403
    approved = (await members.cem.post(f"{path}/review", json=verdict)).json()
    assert (approved["publish_status"], approved["reviewed_by"]) == ("approved", "cem")
    return path


async def add_key(client: httpx2.AsyncClient, key: str, **changes: Any) -> httpx2.Response:
    wanted = {"source": NAME, "kind": "bearer", "value": key} | changes
    return await client.post("/v1/credentials", json=wanted)


async def choices(client: httpx2.AsyncClient) -> list[str]:
    return [item["name"] for item in (await client.get("/v1/chat/models")).json()["models"]]


async def chat(client: httpx2.AsyncClient, model: str = NAME) -> httpx2.Response:
    return await client.post("/v1/chat", json={"message": "hi", "model": model, "stream": False})


async def test_a_published_model_is_installed_and_answers_with_the_key_of_its_caller(
    members: Members,
) -> None:
    path = await publish(members)
    await add_key(members.bob, KEYS["bob"])
    market = (await members.eve.get("/v1/market")).json()["resources"]
    before = await choices(members.eve)
    foreign, missing = await chat(members.eve), await chat(members.eve, "bob--none")
    installed = await members.eve.post(f"{path}/subscription")
    assert (await add_key(members.eve, KEYS["eve"])).status_code == 201
    members.provider.answers.append(text("Hello, Eve."))
    answered = await chat(members.eve)

    # what it leads to is not told before somebody installs it
    assert [(it["kind"], it["title"], it["config"]) for it in market] == [("model", "Tiny", None)]
    assert NAME not in before
    assert foreign.status_code == missing.status_code >= 400
    assert foreign.json()["code"] == missing.json()["code"]
    assert installed.status_code == 204
    assert NAME in await choices(members.eve)
    assert answered.status_code == 200, answered.text
    sent = [headers.get("authorization") for headers in members.provider.headers]
    assert sent == [f"Bearer {KEYS['eve']}"]


async def test_a_model_that_is_withdrawn_or_changed_is_no_choice_of_others(
    members: Members,
) -> None:
    path = await publish(members)
    await members.eve.post(f"{path}/subscription")
    assert NAME in await choices(members.eve)
    changed = await members.bob.patch(path, json={"description": "Another server."})
    while_waiting = await choices(members.eve)
    await members.cem.post(f"{path}/review", json={"decision": "approve"})
    again = await choices(members.eve)
    withdrawn = await members.bob.post(f"{path}/withdraw")
    after = await choices(members.eve)
    refused = await chat(members.eve)

    assert (changed.json()["publish_status"], NAME in while_waiting) == ("pending", False)
    assert NAME in again
    assert (withdrawn.json()["publish_status"], NAME in after) == ("none", False)
    assert refused.status_code >= 400
    assert NAME in await choices(members.cem)  # it stays shared with Bob's organisation
    assert members.provider.requests == []
