"""An MCP server with OAuth on a board: a server of the SDK behind npm `oidc-provider`."""

from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.mcpserver import MCPServer
from pydantic import AnyHttpUrl, SecretStr
from tests.peers.oidc import OidcServer, started_oidc
from tests.peers.ports import free_port
from tests.servers.http.made import TOKEN, a_board
from tests.servers.http.people import House
from tests.sources.mcp.opening import Door, over_http, until

from pegboard.runtime import Pegboard

pytestmark = pytest.mark.timeout(60)
BOARD = """
network: {{allow_hosts: ["127.0.0.1"]}}
sources:
  - kind: mcp
    name: crm
    trusted: true
    config: {{url: "{url}", auth: {{kind: oauth, scopes: [read]}}}}
policy: {{allow: ["crm__*"]}}
"""


@pytest.fixture(scope="module")
def oidc() -> Iterator[OidcServer]:
    with started_oidc() as server:
        yield server


@dataclass
class Verifier:
    """Asks the authorization server about tokens; those in `refused` are worth nothing here."""

    oidc: OidcServer
    seen: list[str] = field(default_factory=list)
    refused: set[str] = field(default_factory=set)
    refuses_all: bool = False

    async def verify_token(self, token: str) -> AccessToken | None:
        about = await self.oidc.introspect(token)
        self.seen.append(token)
        if not about.get("active") or token in self.refused or self.refuses_all:
            return None
        return AccessToken(
            token=token,
            client_id=about["client_id"],
            scopes=about.get("scope", "").split(),
            resource=about.get("aud"),
            subject=about["sub"],
        )


@dataclass
class StepUp:
    """A server that refuses tokens without the needed scopes (403)."""

    server: MCPServer
    needed: list[str]
    verifier: Verifier

    def streamable_http_app(self) -> Any:
        app = self.server.streamable_http_app()

        async def checked(scope: Any, receive: Any, send: Any) -> None:
            headers = dict(scope.get("headers") or ())
            token = headers.get(b"authorization", b"").decode().removeprefix("Bearer ")
            about = await self.verifier.oidc.introspect(token) if token and self.needed else {}
            lacking = set(self.needed) - set(about.get("scope", "").split())
            if not about or not lacking:
                await app(scope, receive, send)
                return
            challenge = f'Bearer error="insufficient_scope", scope="{" ".join(self.needed)}"'
            answer = [(b"www-authenticate", challenge.encode())]
            await send({"type": "http.response.start", "status": 403, "headers": answer})
            await send({"type": "http.response.body", "body": b"{}"})

        return checked


@dataclass
class Scene:
    house: House
    board: Pegboard
    door: Door
    verifier: Verifier
    oidc: OidcServer
    needed: list[str]

    async def call(self, browser: httpx2.AsyncClient, name: str = "crm__whoami") -> dict[str, Any]:
        answer = await browser.post("/v1/execute", json={"name": name, "input": {}})
        return answer.json()

    async def connect(self, browser: httpx2.AsyncClient, link: str) -> httpx2.Response:
        opened = await browser.get(link)
        assert opened.status_code == 303, opened.text
        return await browser.get(await self.oidc.consent(opened.headers["location"]))

    async def tools(self, browser: httpx2.AsyncClient) -> list[str]:
        found = (await browser.get("/v1/tools")).json()["tools"]
        return [item["name"] for item in found]

    async def wait_for_tools(self) -> None:
        source = next(item for item in self.board.sources if item.name == "crm")
        await until(lambda: source.status == "ok")


@asynccontextmanager
async def a_scene(oidc: OidcServer, folder: Path) -> AsyncGenerator[Scene]:
    verifier = Verifier(oidc)
    needed: list[str] = []

    def make(url: str) -> StepUp:
        auth = AuthSettings(
            issuer_url=AnyHttpUrl(oidc.issuer),
            resource_server_url=AnyHttpUrl(url),
            required_scopes=["read"],
            validate_token_resource=True,
        )
        server = MCPServer("crm", token_verifier=verifier, auth=auth)

        @server.tool()
        def whoami() -> str:
            """Tell whose account it is."""
            token = get_access_token()
            assert token is not None
            return f"{token.subject} with {' '.join(token.scopes)}"

        del whoami
        return StepUp(server, needed, verifier)

    async with over_http(make) as door:
        text = BOARD.format(url=door.url)
        settings: dict[str, Any] = {"token": SecretStr(TOKEN), "data": folder / "data"}
        async with a_board(folder, text=text, tools=(), **settings) as board:
            board.credentials.connections.serve()
            yield Scene(House(board), board, door, verifier, oidc, needed)


@pytest.mark.slow
async def test_people_connect_their_accounts_and_calls_go_on(
    oidc: OidcServer, tmp_path: Path
) -> None:
    async with a_scene(oidc, tmp_path) as scene:
        ada = await scene.house.found()
        bob = await scene.house.invite(ada, "editor")
        (source,) = (await ada.get("/v1/sources")).json()["sources"]
        page = await scene.connect(ada, "/v1/credentials/oauth/connect?source=crm")
        await scene.wait_for_tools()

        mine = await scene.call(ada)
        refused = await scene.call(bob)
        foreign = await ada.get(refused["link"])
        opened = await bob.get(refused["link"])
        asked = parse_qs(urlsplit(opened.headers["location"]).query)
        await scene.connect(bob, refused["link"])
        his = await scene.call(bob)
        tokens = set(scene.verifier.seen)

    assert "no person has connected an account of 'crm' yet" in source["reason"]
    assert page.status_code == 200, page.text
    assert mine["output"] == his["output"] == {"result": "u-1 with read"}
    assert refused["code"] == "credential_missing"
    assert foreign.status_code == 403
    assert asked["resource"] == [scene.door.url]
    assert asked["redirect_uri"] == ["http://127.0.0.1:8321/v1/credentials/oauth/callback/crm"]
    assert len(tokens) == 2  # one of each person: no session is shared


@pytest.mark.slow
async def test_a_board_that_the_authorization_server_has_forgotten_registers_again(
    tmp_path: Path,
) -> None:
    port = free_port()
    with started_oidc(port=port) as oidc:
        async with a_scene(oidc, tmp_path) as scene:
            ada = await scene.house.found()
            await scene.connect(ada, "/v1/credentials/oauth/connect?source=crm")
            await scene.wait_for_tools()
            first = await scene.call(ada)
            oidc.end()
            with started_oidc(port=port):
                refused = await scene.call(ada)
                page = await scene.connect(ada, refused["link"])
                again = await scene.call(ada)

    assert first["output"] == again["output"] == {"result": "u-1 with read"}
    assert refused["code"] == "credential_missing"
    assert page.status_code == 200, page.text


@pytest.mark.slow
async def test_a_token_that_the_server_refuses_is_renewed_and_then_connected_again(
    oidc: OidcServer, tmp_path: Path
) -> None:
    async with a_scene(oidc, tmp_path) as scene:
        ada = await scene.house.found()
        await scene.connect(ada, "/v1/credentials/oauth/connect?source=crm")
        await scene.wait_for_tools()
        first = await scene.call(ada)
        scene.verifier.refused = set(scene.verifier.seen)
        renewed = await scene.call(ada)
        scene.verifier.refuses_all = True
        ended = await scene.call(ada)
        (about,) = (await ada.get("/v1/credentials")).json()["credentials"]
        listed = await scene.tools(ada)
        scene.verifier.refuses_all = False
        page = await scene.connect(ada, ended["link"])
        again = await scene.call(ada)

    assert first["output"] == renewed["output"] == again["output"] == {"result": "u-1 with read"}
    assert (ended["code"], about["state"]) == ("credential_missing", "reconnect")
    assert about["reason"] == "the system refuses its tokens (401)"
    assert "crm__whoami" in listed
    assert page.status_code == 200


@pytest.mark.slow
async def test_a_call_that_lacks_a_scope_leads_to_a_consent_for_more(
    oidc: OidcServer, tmp_path: Path
) -> None:
    async with a_scene(oidc, tmp_path) as scene:
        ada = await scene.house.found()
        await scene.connect(ada, "/v1/credentials/oauth/connect?source=crm")
        await scene.wait_for_tools()
        scene.needed.append("write")
        refused = await scene.call(ada)
        opened = await ada.get(refused["link"])
        asked = parse_qs(urlsplit(opened.headers["location"]).query)["scope"]
        await scene.connect(ada, refused["link"])
        answer = await scene.call(ada)

    assert refused["code"] == "credential_missing"
    assert "asks for more rights: write" in refused["detail"]
    assert asked == ["read offline_access write"]
    assert answer["output"] == {"result": "u-1 with read write"}


@pytest.mark.slow
async def test_each_source_has_a_client_document_of_its_own(
    oidc: OidcServer, tmp_path: Path
) -> None:
    async with a_scene(oidc, tmp_path) as scene:
        anybody = scene.house.client()
        await scene.house.found()
        found = await anybody.get("/v1/credentials/oauth/client/crm")
        unknown = await anybody.get("/v1/credentials/oauth/client/nothing")

    base = "http://127.0.0.1:8321/v1/credentials/oauth"
    assert found.json()["client_id"] == f"{base}/client/crm"
    assert found.json()["redirect_uris"] == [f"{base}/callback/crm"]
    assert found.json()["token_endpoint_auth_method"] == "none"
    assert unknown.status_code == 200  # it says nothing about which sources there are
