"""Who may do what with whose tools, on each door: role x visibility x door x action, in one table.

Denied by default, with the reason; what a caller may not know of answers as what is not there.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import MCPError
from pydantic import SecretStr
from tests.servers.http.made import TOKEN, a_board
from tests.servers.http.people import House
from tests.servers.http.routes.accounts.test_resources import answer
from tests.servers.mcp.made import a_client, a_server

from pegboard import SchemaTool, ToolContext, ToolResult
from pegboard.cli.client.local import LocalBoard
from pegboard.core.principal import Principal
from pegboard.core.tool import Effect, ToolSpec
from pegboard.errors import AccessDenied, ApprovalRequired, ToolNotFound
from pegboard.runtime import Pegboard
from pegboard.servers.mcp.content_blocks import ERROR

PEOPLE = "ada bob mia adm app own eve nix key"
"""Ada is an operator, and administrator and editor of Acme. Bob is its editor and owns the
connectors, Mia a member, Adm an administrator, App an approver. Own has a role of Acme that writes
to Bob's shared connector. Eve is an editor of the zoo, and has installed what Bob published. Nix is
in no organisation. Key is a key of Bob that reads."""

TABLE = """
source       ada  bob  mia  adm  app  own  eve  nix  key
board        ++?  ++?  +--  +--  ---  ---  ++?  ---  +--
private      ...  ++?  ...  ...  ...  ...  ...  ...  +--
shared       ++?  ++?  +--  +--  ---  ++-  ...  ...  +--
pending      ...  ++?  ...  ...  ...  ...  ...  ...  +--
published    ++?  ++?  +--  +--  ---  ---  ++?  ...  +--
global       ++?  ++?  +--  +--  ---  ---  ++?  ---  +--
denied       ---  ---  ---  ---  ---  ---  ---  ---  ---
off          ---  ---  ---  ---  ---  ---  ---  ---  ---
"""
"""Of a tool that reads, one that writes and one that administers: `+` allowed, `?` after an
approval, `-` denied with the reason and not listed, `.` as not there."""

ACTIONS = ("find", "save", "wipe")
PREFIX = {
    "board": "shop",
    "private": "bob--priv",
    "shared": "bob--shared",
    "pending": "bob--pend",
    "published": "bob--publ",
    "global": "glob",
    "denied": "never",
    "off": "stopped",
}
BOARD = """
sources: []
network: {allow_hosts: ["127.0.0.1"]}
policy: {deny: ["never__*"]}
"""
PASSWORD = "correct horse"
Cells = dict[tuple[str, str], str]


def make_tools() -> list[Any]:
    """Three tools of the board, three that the policy denies, and three that are turned off."""
    effects = dict(zip(ACTIONS, Effect, strict=True))
    return [
        SchemaTool(
            spec=ToolSpec(
                name=f"{PREFIX[source]}__{action}", effect=effect, input_schema={"type": "object"}
            ),
            run=work,
        )
        for source in ("board", "denied", "off")
        for action, effect in effects.items()
    ]


async def work(_arguments: Any, _ctx: Any) -> str:
    return "done"


def read_table() -> Cells:
    head, *rows = (line.split() for line in TABLE.strip().splitlines())
    return {
        (row[0], who): cell for row in rows for who, cell in zip(head[1:], row[1:], strict=True)
    }


class World:
    """The server with its people, and each of its doors."""

    def __init__(self, board: Pegboard, house: House, upstream: str) -> None:
        self.board, self.house, self.upstream = board, house, upstream
        self.browsers: dict[str, httpx2.AsyncClient] = {}
        self.keys: dict[str, str] = {}
        self.principals: dict[str, Principal] = {}

    async def fill(self) -> None:
        """Make the people, their keys, and the connectors."""
        ada = self.browsers["ada"] = await self.house.found()
        await ada.post("/v1/organisations", json={"handle": "zoo"})
        role = {"levels": {"bob--shared": "write"}}
        await ada.put("/v1/organisations/acme/roles/helper", json=role)
        for handle, organisation, name in (
            ("bob", "acme", "editor"),
            ("mia", "acme", "member"),
            ("adm", "acme", "administrator"),
            ("app", "acme", "approver"),
            ("own", "acme", "helper"),
            ("eve", "zoo", "editor"),
            ("nix", "zoo", "member"),
        ):
            link = await self.house.make_link(ada, organisation=organisation, roles=[name])
            account = {"handle": handle, "password": PASSWORD}
            self.browsers[handle] = await self.house.join(link, account)
        await ada.delete("/v1/organisations/zoo/members/nix")
        await self.connect_sources()
        for handle, browser in (*self.browsers.items(), ("key", self.browsers["bob"])):
            scopes = ["tools:read"] if handle == "key" else ["*"]
            made = await browser.post("/v1/keys", json={"name": handle, "scopes": scopes})
            self.keys[handle] = made.json()["key"]
            name_local = self.board.identity.callers.name_local
            self.principals[handle] = await name_local(self.keys[handle])
        off = {"kind": "tool", "name": "stopped__*", "turn": "off", "reason": "a fire"}
        assert (await ada.post("/v1/switches", json=off)).status_code == 200

    async def connect_sources(self) -> None:
        """Connect Bob's and Ada's connectors, publish one, and install it for Eve."""
        bob, shared = "bob", {"visibility": "organisation", "organisation": "acme"}
        for owner, name, sharing in (
            (bob, "priv", {}),
            (bob, "shared", shared),
            (bob, "pend", shared),
            (bob, "publ", shared),
            ("ada", "glob", {"visibility": "global"}),
        ):
            actions = [
                {"name": "find", "path": "/find"},
                {"name": "save", "path": "/save", "method": "post"},
                {"name": "wipe", "path": "/wipe", "method": "post"},
            ]
            admin = {"wipe": {"effect": "admin"}}
            config = {"base_url": self.upstream, "actions": actions, "overrides": admin}
            wanted = {"name": name, "kind": "connector", "source_kind": "openapi", "config": config}
            made = await self.browsers[owner].post("/v1/resources", json=wanted | sharing)
            assert made.status_code == 201, made.text
            path = f"/v1/resources/{made.json()['id']}"
            if name in {"pend", "publ"}:
                await self.browsers[bob].post(f"{path}/publish")
            if name == "publ":
                verdict = {"decision": "approve"}
                await self.browsers["adm"].post(f"{path}/review", json=verdict)
                assert (await self.browsers["eve"].post(f"{path}/subscription")).is_success

    async def call_over_http(self, who: str, name: str) -> str:
        """The mark of a call over HTTP, with what the door lists and shows of the tool."""
        async with self.house.client(bearer=self.keys[who]) as client:
            called = await client.post("/v1/execute", json={"name": name, "input": {}})
            shown = await client.get(f"/v1/tools/{name}")
        mark = {200: "+", 409: "?", 403: "-", 404: "."}[called.status_code]
        maintains = who == "ada" and name.startswith("stopped")  # and reads why it is off
        assert shown.is_success is (mark in "+?" or maintains), (who, name, shown.text)
        if mark == "-":
            assert "denied: " in called.json()["detail"], called.text
        return mark

    async def call_in_program(self, who: str, name: str) -> str:
        """The mark of a call by the library."""
        ctx: ToolContext[Any] = ToolContext(principal=self.principals[who])
        return read_mark(await self.board.call(name, {}, ctx))

    async def call_by_command(self, who: str, name: str) -> str:
        """The mark of a call by the command line on an open board."""
        client = LocalBoard(self.board, principal=self.principals[who])
        done = await client.call_tool(
            name, {}, key=None, seconds=None, on_progress=lambda _progress: None
        )
        return read_mark(done)


def read_mark(result: ToolResult) -> str:
    match result.error:
        case None:
            return "+"
        case ApprovalRequired():
            return "?"
        case AccessDenied(reason=reason):
            assert reason
            return "-"
        case ToolNotFound():
            return "."
        case other:
            raise other


@asynccontextmanager
async def a_world(folder: Path) -> AsyncGenerator[World]:
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    settings: dict[str, Any] = {"token": SecretStr(TOKEN), "data": folder / "data"}
    async with server, a_board(folder, text=BOARD, tools=make_tools(), **settings) as board:
        world = World(board, House(board), f"http://127.0.0.1:{port}")
        await world.fill()
        yield world


@pytest.mark.slow
@pytest.mark.timeout(120)
async def test_each_role_has_its_rights_over_each_kind_of_source_on_each_door(
    tmp_path: Path,
) -> None:
    expected, names = read_table(), {}
    for source, prefix in PREFIX.items():
        names[source] = [f"{prefix}__{action}" for action in ACTIONS]

    async with a_world(tmp_path) as world:
        doors = (world.call_over_http, world.call_in_program, world.call_by_command)
        found: dict[str, Cells] = {door.__name__: {} for door in doors}
        for source, who in expected:
            for door in doors:
                marks = [await door(who, name) for name in names[source]]
                found[door.__name__][source, who] = "".join(marks)
        found["mcp"] = {}
        lists: dict[str, dict[str, set[str]]] = {}
        for who in PEOPLE.split():
            marks, lists[who] = await visit_by_mcp(world, who, names)
            found["mcp"] |= marks

        wrong = {
            (door, *cell): mark
            for door, cells in found.items()
            for cell, mark in cells.items()
            if mark != expected[cell]
        }
        assert wrong == {}
        assert {len(cells) for cells in found.values()} == {len(expected)}
        wanted = {
            who: {
                name
                for source, listed in names.items()
                for name, mark in zip(listed, expected[source, who], strict=True)
                if mark in "+?"
            }
            for who in PEOPLE.split()
        }
        for who, by_door in lists.items():
            assert by_door == dict.fromkeys(by_door, wanted[who]), who

        async with world.house.client() as nobody:
            refused = await nobody.post("/v1/execute", json={"name": "shop__find", "input": {}})
            listed = await nobody.get("/v1/tools")
        assert (refused.status_code, listed.status_code) == (401, 401)


async def visit_by_mcp(
    world: World, who: str, names: dict[str, list[str]]
) -> tuple[Cells, dict[str, set[str]]]:
    """The marks of all calls of a person over MCP, and what each door lists."""
    everything = {name for of_source in names.values() for name in of_source}
    marks: Cells = {}
    async with (
        a_server(world.board, key=world.keys[who]) as server,
        a_client(server, "2026-07-28") as client,
        world.house.client(bearer=world.keys[who]) as http,
    ):
        listed = {item.name for item in (await client.list_tools()).tools}
        over_http = (await http.get("/v1/tools", params={"limit": 500})).json()["tools"]
        for source, of_source in names.items():
            found = [await call_by_mcp(client, name) for name in of_source]
            marks[source, who] = "".join(found)
    principal = world.principals[who]
    registry = world.board.registry
    lists = {
        "mcp": listed & everything,
        "http": {item["name"] for item in over_http} & everything,
        "library": {tool.spec.name for tool in registry.visible(principal)} & everything,
        "openai": {item["function"]["name"] for item in registry.openai_tools(principal=principal)}
        & everything,
    }
    return marks, lists


async def call_by_mcp(client: Any, name: str) -> str:
    """The mark of a call over MCP; an unknown tool is an error of the protocol."""
    missing = name.replace("__", "__not_")
    told = await tell_call(client, name)
    if told == (await tell_call(client, missing)).replace(missing, name):
        return "."
    marks = {
        "approval_required: Approval needed": "?",
        f"access_denied: Access to '{name}' denied: ": "-",
        "failed": told,
    }
    return next((mark for text, mark in marks.items() if text in told), "+")


async def tell_call(client: Any, name: str) -> str:
    try:
        result = await client.call_tool(name, {})
    except MCPError as error:
        return f"failed: {str(error).partition(' Did you mean')[0]}"
    text = result.content[0].text
    return f"failed: {result.meta[ERROR]['code']}: {text}" if result.is_error else text
