"""Language models that people add: who may choose one, with whose key, and where it may lead."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.features.conversations.made import text_of
from tests.models.made import Provider, a_provider, call, text
from tests.runtime.people import found, invite

from pegboard import tool
from pegboard.core.graph import NodeState
from pegboard.core.principal import Principal
from pegboard.errors import AccessDenied, InvalidRequest, ModelNotConfigured
from pegboard.features.conversations import ChatEvent, NewMessage
from pegboard.features.credentials.service import NewCredential
from pegboard.features.resources import NewResource, ResourceChange
from pegboard.graphs import read_graph
from pegboard.runtime import Pegboard, Settings
from pegboard.testing import ScriptedModel

pytest.importorskip("pydantic_ai.models.openai")  # slow, so not within the time of a test
SETTINGS = Settings(password_memory=1)
KEY = "sk-planted-secret"
SHARED: dict[str, Any] = {"visibility": "organisation", "organisation": "acme"}


@tool(effect="write")
def send_money(to: str) -> str:
    """Send money."""
    return f"sent to {to}"


class Members:
    """Ada, the operator; Bob and Cem of Acme."""

    def __init__(self, board: Pegboard, provider: Provider, *people: Principal) -> None:
        self.board, self.provider = board, provider
        self.ada, self.bob, self.cem = people

    async def add(self, owner: Principal, name: str = "tiny", **changes: Any) -> str:
        config = changes.pop("config", {"model": "tiny-1", "base_url": self.provider.url})
        new = NewResource(kind="model", name=name, config=config, **changes)
        return (await self.board.resources.add(new, principal=owner)).resource.id

    async def add_key(self, owner: Principal, source: str = "bob--tiny", **changes: Any) -> None:
        new = NewCredential(source=source, kind="bearer", value=KEY, **changes)
        await self.board.credentials.add(new, principal=owner)

    def list_names(self, principal: Principal) -> list[str]:
        return [it["name"] for it in self.board.models.choices.list(principal=principal)]


async def ask(board: Pegboard, principal: Principal) -> list[ChatEvent]:
    """The events of an answer by Bob's model."""
    message = NewMessage(text="hi", model="bob--tiny")
    sent = await board.conversations.send(message, principal=principal)
    events = board.conversations.follow(sent.conversation, until=sent.id, principal=principal)
    return [event async for event in events]


@asynccontextmanager
async def a_board(folder: Path, model: ScriptedModel | None) -> AsyncGenerator[Members]:
    path = folder / "board.yaml"
    async with a_provider() as provider:
        host = provider.url.split("/")[2]
        path.write_text(f'sources: []\nnetwork: {{allow_hosts: ["{host}"]}}\n')
        async with Pegboard(path, tools=(send_money,), model=model, settings=SETTINGS) as board:
            ada = await found(board)
            bob, cem = [await invite(board, ada, name, "editor") for name in ("bob", "cem")]
            yield Members(board, provider, ada, bob, cem)


@pytest.fixture
async def members(tmp_path: Path) -> AsyncGenerator[Members]:
    async with a_board(tmp_path, ScriptedModel()) as members:
        yield members


async def test_a_model_of_ones_own_answers_with_ones_own_key_at_its_price(
    members: Members,
) -> None:
    price = {"input": 100_000, "output": 200_000}
    config = {"model": "tiny-1", "base_url": members.provider.url, "price": price}
    await members.add(members.bob, title="My tiny one", config=config)
    await members.add_key(members.bob)
    members.provider.answers.append(text("Hello."))
    events = await ask(members.board, members.bob)

    assert text_of(events) == "Hello."
    assert members.provider.headers[0]["authorization"] == f"Bearer {KEY}"
    [used] = [event.data for event in events if event.event == "usage"]
    assert (used["model"], used["cost"]) == ("bob--tiny", pytest.approx(3.0))
    assert members.board.models.choices.list(principal=members.bob)[-1] == {
        "name": "bob--tiny",
        "title": "My tiny one (bob--tiny)",
        "provider": "openai",
        "role": "",
    }
    assert KEY not in str(events)


async def test_a_model_of_ones_own_answers_on_a_board_without_a_model(tmp_path: Path) -> None:
    async with a_board(tmp_path, None) as members:
        await members.add(members.bob)
        members.provider.answers.append(text("Hello."))
        events = await ask(members.board, members.bob)

        assert not members.board.has_model
        assert members.list_names(members.bob) == ["bob--tiny"]
        assert text_of(events) == "Hello."


async def test_an_agent_and_a_node_name_the_key_of_a_model(members: Members) -> None:
    board, bob = members.board, members.bob
    await members.add(bob)
    for name in ("work", "home"):
        new = NewCredential(source="bob--tiny", kind="bearer", name=name, value=f"{KEY}-{name}")
        await board.credentials.add(new, principal=bob)
    own = {"model": "bob--tiny", "tools": [], "accounts": {"bob--tiny": "home"}}
    agent = NewResource(kind="agent", name="helper", config=own)
    await board.resources.add(agent, principal=bob)
    states: list[NodeState] = []
    for config in (
        {"model": "bob--tiny"},
        {"agent": "bob--helper"},
        {"agent": "bob--helper", "account": "work"},
        {"model": "bob--tiny", "account": "hame"},
    ):
        members.provider.answers.append(text("Hello."))
        node = {"id": "a", "kind": "agent", "input": {"message": "hi"}, "config": config}
        started = await board.runs.start_graph(read_graph({"nodes": [node]}), principal=bob)
        run = await board.runs.wait(started.id, principal=bob)
        states.append(run.result.state)

    sent = [headers["authorization"] for headers in members.provider.headers]
    assert sent == [f"Bearer {KEY}-{name}" for name in ("work", "home", "work")]
    assert states[:3] == [NodeState.COMPLETED] * 3
    assert states[3] is not NodeState.COMPLETED


async def test_a_model_that_a_caller_does_not_see_is_as_one_that_is_not_there(
    members: Members,
) -> None:
    id_ = await members.add(members.bob)
    await members.add_key(members.bob, shared=True)
    agent = NewResource(
        kind="agent", name="helper", config={"model": "bob--tiny", "tools": []}, **SHARED
    )
    await members.board.resources.add(agent, principal=members.bob)
    board, cem = members.board, members.cem

    assert members.list_names(members.bob) == ["smart", "bob--tiny"]
    assert members.list_names(cem) == members.list_names(members.ada) == ["smart"]
    refusals: dict[str, list[str]] = {}
    for name in ("bob--tiny", "bob--none"):
        with pytest.raises(ModelNotConfigured) as by_chat:
            await board.conversations.send(NewMessage(text="hi", model=name), principal=cem)
        node = {
            "id": "a",
            "kind": "agent",
            "input": {"message": "hi"},
            "config": {"model": name},
        }
        started = await board.runs.start_graph(read_graph({"nodes": [node]}), principal=cem)
        run = await board.runs.wait(started.id, principal=cem)
        spy = NewResource(kind="agent", name="spy", config={"model": name})
        with pytest.raises(ModelNotConfigured) as by_agent:
            await board.resources.add(spy, principal=cem)
        found = (by_chat.value, run.result.nodes[0].error, by_agent.value)
        refusals[name] = [str(item).replace(name, "NAME") for item in found]
    assert refusals["bob--tiny"] == refusals["bob--none"]
    with pytest.raises(InvalidRequest, match="There is no source 'bob--tiny'"):
        await members.add_key(cem)
    sent = await board.conversations.send(NewMessage(text="hi", agent="bob--helper"), principal=cem)
    run = await board.runs.wait(sent.run_id, principal=cem)
    assert run.result.state is NodeState.FAILED
    assert members.provider.requests == []

    await board.resources.change(id_, ResourceChange(**SHARED), principal=members.bob)
    assert members.list_names(cem) == ["smart", "bob--tiny"]
    members.provider.answers.append(text("Hello."))
    events = await ask(board, cem)
    assert text_of(events) == "Hello."
    assert members.provider.headers[-1]["authorization"] == f"Bearer {KEY}"


async def test_the_model_of_another_person_says_what_is_not_trusted(members: Members) -> None:
    await members.add(members.bob, **SHARED)
    members.provider.answers.append(call("send_money", '{"to": "eve"}'))
    message = NewMessage(text="Help me.", model="bob--tiny")
    sent = await members.board.conversations.send(message, principal=members.cem)
    run = await members.board.runs.wait(sent.run_id, principal=members.cem)

    assert run.result.state is NodeState.WAITING


async def test_a_server_that_repeats_the_key_in_an_error_does_not_show_it(
    members: Members,
) -> None:
    await members.add(members.bob)
    await members.add_key(members.bob)
    members.provider.answers.append((401, {"error": {"message": f"wrong key {KEY}"}}))
    sent = await members.board.conversations.send(
        NewMessage(text="hi", model="bob--tiny"), principal=members.bob
    )
    run = await members.board.runs.wait(sent.run_id, principal=members.bob)

    assert run.result.state is NodeState.FAILED
    assert KEY not in str(run)


@pytest.mark.parametrize("url", ["http://169.254.169.254/v1", "http://localhost:9"])
async def test_an_address_of_the_servers_network_is_not_reached(members: Members, url: str) -> None:
    await members.add(members.bob, config={"model": "tiny-1", "base_url": url})
    events = await ask(members.board, members.bob)

    assert "is not allowed" in str(events)


async def test_a_redirect_is_not_followed(members: Members) -> None:
    await members.add(members.bob)
    members.provider.redirect = "http://127.0.0.1:9/v1/chat/completions"
    events = await ask(members.board, members.bob)

    assert "redirects requests" in str(events)


async def test_a_wrong_model_is_refused_and_not_repeated(members: Members) -> None:
    with pytest.raises(InvalidRequest, match=r"config\.api_key") as refused:
        await members.add(members.bob, config={"model": "x", "api_key": "planted"})

    assert "planted" not in str(refused.value)


async def test_names_of_the_board_are_taken_and_so_are_those_of_connectors(
    members: Members,
) -> None:
    for name in ("smart", "embed", "fast"):
        with pytest.raises(InvalidRequest, match="is taken"):
            await members.add(members.ada, name)
    files = {"SKILL.md": "---\nname: tiny\ndescription: Text.\n---\n"}
    skill = NewResource(kind="skill", name="tiny", config={"files": files})
    await members.board.resources.add(skill, principal=members.bob)
    with pytest.raises(InvalidRequest, match="'bob--tiny' is taken"):
        await members.add(members.bob)


async def test_an_operator_keeps_people_from_models_of_their_own(
    members: Members, tmp_path: Path
) -> None:
    await members.add(members.bob)
    (tmp_path / "board.yaml").write_text(
        f"{(tmp_path / 'board.yaml').read_text()}models: {{of_people: false}}\n"
    )
    await members.board.reload()

    assert members.list_names(members.bob) == ["smart"]
    with pytest.raises(ModelNotConfigured):
        await members.board.models.get_for("bob--tiny", principal=members.bob)
    with pytest.raises(AccessDenied, match="only operators add language models here"):
        await members.add(members.bob, "other")
    await members.add(members.ada, "other", visibility="global")
    assert members.list_names(members.bob) == ["smart", "other"]
