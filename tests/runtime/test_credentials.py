"""Credentials of callers on a whole board: a run that waits for one, and servers that share one."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from msgspec import structs
from pydantic import SecretStr
from tests.network.loopback import Server
from tests.peers.oidc import started_oidc
from tests.runtime.people import found, invite
from tests.servers.http.taking import TOKEN_OF_ADA, TOKEN_OF_BOB, board_text, repeating_api
from tests.servers.mcp.made import a_client, a_server
from tests.storage.conftest import postgres, postgres_server

from pegboard import ToolContext, ToolFailed, ToolResult, tool
from pegboard.assembly import resolve_tools
from pegboard.cli.client.local import LocalBoard
from pegboard.core.graph import Edge, Fallback, Graph, Node
from pegboard.core.ports.approval_store import ApprovalQuery
from pegboard.core.principal import LOCAL, Principal
from pegboard.errors import (
    AccessDenied,
    ApprovalRequired,
    ConfigError,
    CredentialMissing,
    InvalidRequest,
    Unavailable,
)
from pegboard.features.agents import AgentProfile, Agents
from pegboard.features.credentials.service import CredentialChange, NewCredential
from pegboard.runtime import Pegboard, Settings
from pegboard.runtime.wiring.accounts.credentials import KEY_FILE, address_of
from pegboard.secrets.master_keys import FILE_NAME
from pegboard.servers.mcp.multi_round import ACCOUNT

__all__ = ["postgres", "postgres_server"]

ADA = Principal(id="ada", user="ada", scopes=frozenset({"*"}))
BOB = Principal(
    id="bob",
    user="bob",
    tenant="acme",
    roles=frozenset({"acme/editor"}),
    organisations=frozenset({"acme"}),
)
KEY = "A" * 43 + "="
OWN = {"base_url": "http://127.0.0.1:9", "actions": [{"name": "find", "path": "/find"}]}
ASK = {"ask": ["github__*"]}


@pytest.fixture
async def api() -> AsyncGenerator[Server]:
    async with repeating_api() as server:
        yield server


@tool(effect="read")
async def refuse() -> str:
    """Refuse."""
    raise ToolFailed("no")


def write(folder: Path, text: str) -> Path:
    (folder / "board.yaml").write_text(text)
    return folder / "board.yaml"


def a_new(value: str = TOKEN_OF_BOB) -> NewCredential:
    return NewCredential(source="github", kind="bearer", value=value)


@pytest.mark.slow
async def test_a_run_waits_for_a_credential_and_goes_on_when_its_caller_has_one(
    tmp_path: Path, api: Server
) -> None:
    graph = Graph(nodes=(Node(id="close", tool="github__close"),))
    async with Pegboard(write(tmp_path, board_text(api))) as board:
        ada = await found(board)
        bob = await invite(board, ada, "bob", "editor")
        started = await board.runs.start_graph(graph, principal=bob)
        waiting = await board.runs.wait(started.id, principal=bob)
        asked = waiting.result.pending[0]

        await board.credentials.add(a_new(TOKEN_OF_ADA), principal=ada)
        still = await board.runs.wait(started.id, principal=bob)
        with pytest.raises(InvalidRequest, match="connects an account for 'github'"):
            await board.approvals.decide(asked.approval_id, "approve", principal=ada)
        await board.credentials.add(a_new(), principal=bob)
        ended = await board.runs.wait(started.id, principal=bob)

    assert [len(view.result.pending) for view in (waiting, still)] == [1, 1]
    assert ended.result.state == "completed"
    assert [item.headers["authorization"] for item in api.requests] == [f"Bearer {TOKEN_OF_BOB}"]


async def test_a_run_that_waits_for_an_account_says_where_to_connect_it(
    tmp_path: Path, api: Server
) -> None:
    oauth = {
        "authorization_url": "https://id.example/auth",
        "token_url": "https://id.example/token",
        "client_id": "board",
    }
    graph = Graph(nodes=(Node(id="close", tool="github__close"),))
    text = board_text(api, auth={"kind": "caller", "oauth": oauth})
    async with Pegboard(write(tmp_path, text)) as board:
        board.credentials.connections.serve()
        started = await board.runs.start_graph(graph, principal=LOCAL)
        waiting = await board.runs.wait(started.id, principal=LOCAL)

    [asked] = waiting.result.pending
    assert asked.message.endswith(
        "Connect it at http://127.0.0.1:8321/v1/credentials/oauth/connect?source=github&for=local"
    )


async def test_one_of_several_accounts_is_chosen_on_each_way(tmp_path: Path, api: Server) -> None:
    async with Pegboard(write(tmp_path, board_text(api))) as board:
        client = LocalBoard(board)
        for name, value in (("work", TOKEN_OF_ADA), ("home", TOKEN_OF_BOB)):
            wanted = {"source": "github", "kind": "bearer", "name": name, "value": value}
            home = await client.credentials.add(wanted)
        profile = AgentProfile(name="helper", accounts={"github": "home"}, connector_ids=("*",))
        request = Agents(board.registry, lambda _: (profile,)).make_request(
            profile, principal=LOCAL
        )
        of_agent = resolve_tools(board.registry, request)

        async def call(**given: str) -> ToolResult:
            return await client.call_tool(
                "github__whoami", {}, key=None, seconds=None, on_progress=print, **given
            )

        by_default, named = await call(), await call(account="home")
        async with a_server(board) as server, a_client(server, "2026-07-28") as mcp:
            meta: Any = {ACCOUNT: "home"}
            over_mcp = await mcp.call_tool("github__whoami", {}, meta=meta)
        by_agent = await of_agent.call("github__whoami")
        of_the_call = await of_agent.call("github__whoami", {}, ToolContext(account="work"))
        unknown = await call(account="hame")
        await client.credentials.choose(home["id"])
        chosen = await call()

    work, other = f"Bearer {TOKEN_OF_ADA}", f"Bearer {TOKEN_OF_BOB}"
    assert isinstance(unknown.error, CredentialMissing)
    assert "no credential of the name 'hame'" in unknown.text
    assert [item.headers["authorization"] for item in api.requests] == [
        work,
        other,
        other,
        other,
        work,
        other,
    ]
    assert [item.is_error for item in (by_default, named, by_agent, of_the_call, chosen)] == [
        False
    ] * 5
    assert not over_mcp.is_error


@pytest.mark.slow
async def test_a_node_and_a_background_call_name_an_account(tmp_path: Path, api: Server) -> None:
    async with Pegboard(write(tmp_path, board_text(api))) as board:
        ada = await found(board)
        bob = await invite(board, ada, "bob", "editor")
        for name, value in (("work", TOKEN_OF_ADA), ("home", TOKEN_OF_BOB)):
            await board.credentials.add(structs.replace(a_new(value), name=name), principal=bob)
        first, at_home = Node(id="a", tool="github__close"), {"account": "home"}
        second = Node(id="b", tool="github__close", config=at_home, edges=(Edge(node="a"),))
        graph = Graph(nodes=(first, second))
        of_graph = await board.runs.start_graph(graph, principal=bob)
        ended = [await board.runs.wait(of_graph.id, principal=bob)]
        call = await board.runs.start_call("github__close", {}, principal=bob, account="home")
        ended.append(await board.runs.wait(call.id, principal=bob))
        unknown = await board.runs.start_call("github__close", {}, principal=bob, account="hame")
        waiting = await board.runs.wait(unknown.id, principal=bob)

    work, home = f"Bearer {TOKEN_OF_ADA}", f"Bearer {TOKEN_OF_BOB}"
    assert [item.result.state for item in ended] == ["completed", "completed"]
    assert [item.headers["authorization"] for item in api.requests] == [work, home, home]
    assert "no credential of the name 'hame'" in waiting.result.pending[0].message


@pytest.mark.slow
async def test_the_fallback_of_a_node_takes_the_account_of_the_node(
    tmp_path: Path, api: Server
) -> None:
    async with Pegboard(write(tmp_path, board_text(api))) as board:
        board.registry.add(refuse)
        ada = await found(board)
        bob = await invite(board, ada, "bob", "editor")
        for name, value in (("work", TOKEN_OF_ADA), ("home", TOKEN_OF_BOB)):
            await board.credentials.add(structs.replace(a_new(value), name=name), principal=bob)
        spare = (Fallback(tool="github__close"),)
        at_home = Node(id="a", tool="refuse", fallbacks=spare, config={"account": "home"})
        run = await board.runs.start_graph(Graph(nodes=(at_home,)), principal=bob)
        ended = await board.runs.wait(run.id, principal=bob)
        away = Node(id="a", tool="refuse", fallbacks=spare, config={"account": "hame"})
        run = await board.runs.start_graph(Graph(nodes=(away,)), principal=bob)
        waiting = await board.runs.wait(run.id, principal=bob)

    assert ended.result.state == "completed"
    assert [it.headers["authorization"] for it in api.requests] == [f"Bearer {TOKEN_OF_BOB}"]
    assert "no credential of the name 'hame'" in waiting.result.pending[0].message


@pytest.mark.slow
async def test_the_command_line_has_what_its_caller_has(tmp_path: Path, api: Server) -> None:
    async with Pegboard(write(tmp_path, board_text(api))) as board:
        ada = await found(board)
        bob = await invite(board, ada, "bob", "editor")
        wanted = {"source": "github", "kind": "bearer", "value": TOKEN_OF_BOB}
        await LocalBoard(board, principal=bob).credentials.add(wanted)

        lists = [
            [item["owner"] for item in (await client.credentials.list())["credentials"]]
            for client in (LocalBoard(board, principal=bob), LocalBoard(board, principal=ada))
        ]
        own = {"name": "mine", "kind": "connector", "source_kind": "openapi", "config": OWN}
        await LocalBoard(board, principal=bob).resources.add(own)
        of_ada = await LocalBoard(board, principal=ada).resources.list()
        of_bob = await LocalBoard(board, principal=bob).resources.list()
        nobody = LocalBoard(board, principal=None)
        for part in ("credentials", "resources", "conversations"):
            with pytest.raises(AccessDenied, match="set PEGBOARD_TOKEN to the key"):
                getattr(nobody, part)
        sources = (await nobody.list_sources(check=False))["sources"]

    assert lists == [[bob.user], []]
    assert [len(found["resources"]) for found in (of_ada, of_bob)] == [0, 1]
    assert "bob--mine" not in {item["name"] for item in sources}


async def test_an_approval_shows_whose_account_acts(tmp_path: Path, api: Server) -> None:
    async with Pegboard(write(tmp_path, board_text(api, policy=ASK))) as board:
        await board.credentials.add(a_new(), principal=BOB)
        await board.call("github__close", {}, ToolContext(principal=BOB))
        page = await board.approvals.list(ApprovalQuery(), principal=ADA)

    assert [(item.kind, item.credential) for item in page.approvals] == [
        ("call", "github/default of bob")
    ]
    assert api.requests == []


async def test_an_approval_is_not_valid_for_an_account_that_takes_the_place_of_another(
    tmp_path: Path, api: Server
) -> None:
    async with Pegboard(write(tmp_path, board_text(api, policy=ASK))) as board:
        added = await board.credentials.add(a_new(), principal=BOB)

        async def call() -> ToolResult:
            return await board.call("github__close", {}, ToolContext(principal=BOB))

        asked = await call()
        [item] = (await board.approvals.list(ApprovalQuery(), principal=ADA)).approvals
        await board.approvals.decide(item.id, "approve", principal=ADA)
        renamed = CredentialChange(name="work")
        await board.credentials.change(added.id, renamed, principal=BOB)
        other = CredentialChange(value=TOKEN_OF_ADA)
        await board.credentials.change(added.id, other, principal=BOB)
        again = await call()

    assert isinstance(asked.error, ApprovalRequired)
    assert isinstance(again.error, ApprovalRequired)
    assert again.error.approval_id != item.id
    assert api.requests == []


async def test_the_first_credential_makes_the_master_key_in_the_data_directory(
    tmp_path: Path, api: Server
) -> None:
    path, data = write(tmp_path, board_text(api)), tmp_path / "data"
    async with Pegboard(path, data=data) as board:
        before = (data / KEY_FILE).exists()
        await board.credentials.add(a_new(), principal=LOCAL)
    async with Pegboard(path, data=data) as board:
        result = await board.call("github__whoami", {})

    assert (before, (data / KEY_FILE).exists(), KEY_FILE) == (False, True, FILE_NAME)
    assert not result.is_error


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"secret_key": SecretStr("short")}, "PEGBOARD_SECRET_KEY: a key is 32 random bytes"),
        ({"secret_key_file": Path("missing")}, "PEGBOARD_SECRET_KEY_FILE cannot be read"),
        (
            {"secret_key": SecretStr(KEY), "secret_key_file": Path("missing")},
            "not both",
        ),
    ],
    ids=["short", "missing", "both"],
)
async def test_a_master_key_that_cannot_be_read_stops_the_start(
    settings: dict[str, object], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        async with Pegboard(settings=Settings.model_validate(settings)):
            pass


@pytest.mark.parametrize(
    ("settings", "address"),
    [
        ({}, "http://127.0.0.1:8321"),
        ({"host": "::1", "port": 80}, "http://[::1]:80"),
        ({"host": "localhost"}, "http://localhost:8321"),
        ({"host": "0.0.0.0"}, ""),
        ({"port": 0}, ""),
        ({"host": "0.0.0.0", "public_url": "https://a.example/b/"}, "https://a.example/b"),
    ],
)
def test_links_are_made_from_the_settings_alone(settings: dict[str, object], address: str) -> None:
    assert address_of(Settings.model_validate(settings)) == address


@pytest.mark.slow
@pytest.mark.timeout(120)
async def test_fifty_calls_on_two_servers_refresh_a_rotating_token_once(
    tmp_path: Path, api: Server, postgres: str
) -> None:
    with started_oidc() as oidc:
        path = write(tmp_path, board_text(api, auth={"kind": "caller", "oauth": oidc.oauth()}))
        shared = Settings(board=path, database=SecretStr(postgres), secret_key=SecretStr(KEY))
        async with AsyncExitStack() as stack:
            one, other = [
                await stack.enter_async_context(Pegboard(settings=shared)) for _ in range(2)
            ]
            started = await one.credentials.connections.start("github", principal=BOB)
            query = dict(parse_qsl(urlsplit(await oidc.consent(started.url)).query))
            about = await other.credentials.connections.finish(
                query, state=started.state, principal=BOB
            )
            for round_number in (1, 2):
                expired = {"expires_at": 1.0}
                await one._open.storage.credentials.update(about.id, expired)
                results = await asyncio.gather(
                    *(
                        board.call("github__whoami", {}, ToolContext(principal=BOB))
                        for board in (one, other) * 25
                    )
                )
                assert [result.text for result in results if result.is_error] == []
                assert (await oidc.counts())["refresh_token"] == round_number

    assert len(api.requests) == 100
    assert len({item.headers["authorization"] for item in api.requests}) == 2


async def test_servers_that_share_a_database_need_a_master_key_that_was_given(
    tmp_path: Path, api: Server, postgres: str
) -> None:
    settings = Settings(board=write(tmp_path, board_text(api)), database=SecretStr(postgres))
    async with Pegboard(settings=settings) as board:
        with pytest.raises(Unavailable, match="set PEGBOARD_SECRET_KEY"):
            await board.credentials.add(a_new(), principal=LOCAL)
