"""MCP clients get tokens of accounts: with the SDK's own client, and against clients that cheat."""

from base64 import urlsafe_b64encode
from collections.abc import AsyncGenerator
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from mcp.client.auth import OAuthClientProvider
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthToken,
)
from pydantic import AnyUrl, SecretStr
from tests.servers.http.made import LOOPBACK, TOKEN, a_board
from tests.servers.http.people import House

from pegboard.features.identity.api_keys import MAX_KEYS
from pegboard.servers.http.oauth_endpoint import RESOURCE_METADATA

CALLBACK = "http://127.0.0.1:33418/callback"
VERIFIER = "a verifier of more than forty-three characters, as PKCE wants it"
HEADERS = {"Accept": "application/json, text/event-stream"}
HELLO = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "t", "version": "1"},
    },
}


class Storage:
    """Holds what the SDK's client is given."""

    def __init__(self) -> None:
        self.tokens: OAuthToken | None = None
        self.client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


class Scene:
    """Ada, the operator, and Bob, an editor, in their browsers."""

    def __init__(self, house: House, ada: Any, bob: Any) -> None:
        self.house, self.ada, self.bob = house, ada, bob

    async def register(self, **changes: Any) -> str:
        body = {"redirect_uris": [CALLBACK], "client_name": "Inspector", **changes}
        async with self.house.client() as stranger:
            answer = await stranger.post("/oauth/register", json=body)
        assert answer.status_code == 201, answer.text
        assert "client_secret" not in answer.json()
        return str(answer.json()["client_id"])

    async def authorize(self, client: str, **changes: str | None) -> httpx2.Response:
        challenge = urlsafe_b64encode(sha256(VERIFIER.encode()).digest()).decode().rstrip("=")
        query: dict[str, str | None] = {
            "response_type": "code",
            "client_id": client,
            "redirect_uri": CALLBACK,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
            "state": "mine",
            "resource": f"{LOOPBACK}/mcp",
            **changes,
        }
        async with self.house.client() as stranger:
            given = {name: value for name, value in query.items() if value is not None}
            return await stranger.get("/oauth/authorize", params=given)

    async def agree(self, location: str, *, allow: bool = True) -> dict[str, str]:
        """Decide on the consent page; the query that the client is sent."""
        request = location.partition("#request=")[2]
        body = {"request": request, "allow": allow}
        answer = await self.bob.post("/v1/oauth-requests/decision", json=body)
        assert answer.status_code == 200, answer.text
        query = parse_qs(urlsplit(answer.json()["url"]).query)
        return {name: values[0] for name, values in query.items()}

    async def code(self, client: str) -> str:
        answer = await self.authorize(client)
        return (await self.agree(answer.headers["location"]))["code"]

    async def ask_token(self, **form: str) -> httpx2.Response:
        async with self.house.client() as stranger:
            return await stranger.post("/oauth/token", data=form)

    async def exchange(self, client: str, code: str, **changes: str) -> httpx2.Response:
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "client_id": client,
            "redirect_uri": CALLBACK,
            "code_verifier": VERIFIER,
        }
        return await self.ask_token(**(form | changes))

    async def refresh(self, client: str, token: str, **changes: str) -> httpx2.Response:
        form = {"grant_type": "refresh_token", "refresh_token": token, "client_id": client}
        return await self.ask_token(**(form | changes))

    async def knock(self, token: str, path: str = "/mcp") -> int:
        async with self.house.client(bearer=token) as program:
            return (await program.post(path, json=HELLO, headers=HEADERS)).status_code


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncGenerator[Scene]:
    async with a_board(
        tmp_path, token=SecretStr(TOKEN), public_url=LOOPBACK, oauth_registration=True
    ) as board:
        house = House(board)
        ada = await house.found()
        yield Scene(house, ada, await house.invite(ada, "editor", "approver"))
        await house.app.state.mcp.close()


@pytest.mark.timeout(60)
async def test_the_client_of_the_sdk_finds_its_way_to_a_token_and_renews_it(scene: Scene) -> None:
    answers: list[dict[str, str]] = []

    async def go(url: str) -> None:
        async with scene.house.client() as browser:
            sent = await browser.get(url)
        answers.append(await scene.agree(sent.headers["location"]))

    async def come_back() -> AuthorizationCodeResult:
        return AuthorizationCodeResult(**answers[-1])

    storage = Storage()
    metadata = OAuthClientMetadata(redirect_uris=[AnyUrl(CALLBACK)], client_name="The SDK")
    auth = OAuthClientProvider(f"{LOOPBACK}/mcp", metadata, storage, go, come_back)
    transport = httpx2.ASGITransport(app=scene.house.app)
    async with httpx2.AsyncClient(transport=transport, auth=auth, headers=HEADERS) as client:
        first = await client.post(f"{LOOPBACK}/mcp", json=HELLO)
        assert storage.tokens is not None
        before = storage.tokens.access_token
        auth.context.token_expiry_time = 1.0
        again = await client.post(f"{LOOPBACK}/mcp", json=HELLO)
    [key] = (await scene.bob.get("/v1/keys")).json()["keys"]

    assert (first.status_code, again.status_code) == (200, 200)
    assert len(answers) == 1
    assert answers[0]["iss"] == LOOPBACK
    assert storage.tokens.access_token != before
    assert await scene.knock(before) == 401
    assert (key["name"], key["scopes"]) == ("The SDK", ["tools:read", "tools:write"])
    await scene.bob.delete(f"/v1/keys/{key['id']}")
    assert await scene.knock(storage.tokens.access_token) == 401
    refreshed = await scene.refresh(key["client"], storage.tokens.refresh_token or "")
    assert refreshed.json()["error"] == "invalid_grant"


async def test_a_client_without_a_token_is_told_where_it_gets_one(scene: Scene) -> None:
    async with scene.house.client() as stranger:
        refused = await stranger.post("/mcp", json=HELLO, headers=HEADERS)
        other = await stranger.get("/v1/tools")
        place = refused.headers["www-authenticate"].partition('resource_metadata="')[2].rstrip('"')
        resource = (await stranger.get(place)).json()
        [issuer] = resource["authorization_servers"]
        server = await stranger.get(f"{issuer}/.well-known/oauth-authorization-server")

    assert place == f"{LOOPBACK}{RESOURCE_METADATA}/mcp"
    assert (refused.status_code, resource["resource"]) == (401, f"{LOOPBACK}/mcp")
    assert "resource_metadata" not in other.headers["www-authenticate"]
    assert server.json()["issuer"] == issuer
    assert server.headers["access-control-allow-origin"] == "*"


async def test_a_token_opens_the_endpoint_of_mcp_alone_and_decides_nothing(scene: Scene) -> None:
    client = await scene.register()
    token = (await scene.exchange(client, await scene.code(client))).json()["access_token"]
    async with scene.house.client(bearer=token) as program:
        statuses = [
            (await program.get("/v1/tools")).status_code,
            (await program.get("/v1/approvals")).status_code,
            (await program.post("/v1/keys", json={"name": "more"})).status_code,
        ]

    assert await scene.knock(token) == 200
    assert statuses == [401, 401, 401]


async def test_a_code_is_used_once_by_its_client_with_its_verifier(scene: Scene) -> None:
    client, other = await scene.register(), await scene.register()
    wrong = [
        await scene.exchange(client, await scene.code(client), code_verifier="x" * 43),
        await scene.exchange(client, await scene.code(client), redirect_uri=f"{CALLBACK}/x"),
        await scene.exchange(other, await scene.code(client)),
        await scene.exchange(client, "guessed"),
    ]
    code = await scene.code(client)
    right = [await scene.exchange(client, code) for _ in range(2)]

    assert {answer.status_code for answer in wrong} == {400}
    assert [answer.status_code for answer in right] == [200, 400]


async def test_a_refresh_token_that_is_used_twice_ends_everything_that_came_of_it(
    scene: Scene,
) -> None:
    client = await scene.register()
    first = (await scene.exchange(client, await scene.code(client))).json()
    second = (await scene.refresh(client, first["refresh_token"])).json()
    assert await scene.knock(second["access_token"]) == 200

    stolen = await scene.refresh(client, first["refresh_token"])

    assert stolen.json()["error"] == "invalid_grant"
    assert await scene.knock(second["access_token"]) == 401
    third = await scene.refresh(client, second["refresh_token"])
    assert third.json()["error"] == "invalid_grant"


@pytest.mark.parametrize("resource", ["http://other.example/mcp", f"{LOOPBACK}/mcpx"])
async def test_no_token_is_given_for_another_resource(scene: Scene, resource: str) -> None:
    client = await scene.register()
    code = await scene.code(client)
    first = await scene.exchange(client, code, resource=resource)
    given = await scene.exchange(client, code, resource=f"{LOOPBACK}/mcp")
    token = given.json()["refresh_token"]
    second = await scene.refresh(client, token, resource=resource)
    renewed = await scene.refresh(client, token, resource=f"{LOOPBACK}/mcp")

    assert [it.status_code for it in (first, given, second, renewed)] == [400, 200, 400, 200]
    assert [it.json()["error"] for it in (first, second)] == ["invalid_target"] * 2


async def test_tokens_end_with_the_account_and_when_the_client_gives_them_back(
    scene: Scene,
) -> None:
    client = await scene.register()
    given = (await scene.exchange(client, await scene.code(client))).json()
    kept = (await scene.exchange(client, await scene.code(client))).json()
    async with scene.house.client() as stranger:
        form = {"token": given["access_token"], "client_id": client}
        assert (await stranger.post("/oauth/revoke", data=form)).status_code == 200
    after = [await scene.knock(it["access_token"]) for it in (given, kept)]
    await scene.ada.patch("/v1/people/bob", json={"disabled": True})
    refreshed = await scene.refresh(client, kept["refresh_token"])

    assert after == [401, 200]
    assert await scene.knock(kept["access_token"]) == 401
    assert refreshed.json()["error"] == "invalid_grant"


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        pytest.param({"redirect_uri": "https://evil.example/"}, "invalid_request", id="elsewhere"),
        pytest.param({"client_id": "nobody"}, "invalid_request", id="unknown client"),
        pytest.param({"client_id": "https://[::1"}, "invalid_request", id="no address"),
        pytest.param({"resource": "https://other.example/mcp"}, "invalid_target", id="audience"),
        pytest.param({"resource": f"{LOOPBACK}/mcpx"}, "invalid_target", id="like the audience"),
        pytest.param({"scope": "operator"}, "invalid_scope", id="scope"),
        pytest.param({"code_challenge_method": "plain"}, "invalid_request", id="plain PKCE"),
        pytest.param({"code_challenge_method": None}, "invalid_request", id="PKCE of no method"),
        pytest.param({"code_challenge": None}, "invalid_request", id="no PKCE"),
        pytest.param({"response_type": "token"}, "unsupported_response_type", id="implicit"),
    ],
)
async def test_a_wrong_request_reaches_no_person(
    scene: Scene, changes: dict[str, str | None], error: str
) -> None:
    answer = await scene.authorize(await scene.register(), **changes)

    location = answer.headers.get("location", "")
    told = parse_qs(urlsplit(location).query)
    found = told.get("error") or [answer.json()["error"]]
    assert found == [error]
    assert told == {} or (told["iss"], told["state"]) == ([LOOPBACK], ["mine"])
    assert "/ui/consent" not in location
    assert "evil.example" not in location


async def test_only_a_person_who_has_signed_in_decides_and_once(scene: Scene) -> None:
    client = await scene.register()
    location = (await scene.authorize(client)).headers["location"]
    body = {"request": location.partition("#request=")[2]}
    shown = await scene.bob.post("/v1/oauth-requests", json=body)
    key = (await scene.bob.post("/v1/keys", json={"name": "ci"})).json()["key"]
    async with scene.house.client(bearer=key) as program, scene.house.client() as stranger:
        refused = [
            (await it.post("/v1/oauth-requests/decision", json={**body, "allow": True})).status_code
            for it in (program, stranger)
        ]
    denied = await scene.agree(location, allow=False)
    again = await scene.bob.post("/v1/oauth-requests/decision", json={**body, "allow": True})

    assert shown.json() == {
        "client": client,
        "name": "Inspector",
        "redirect": "127.0.0.1:33418",
        "scopes": ["tools:read", "tools:write"],
    }
    assert refused == [403, 401]
    assert denied == {"error": "access_denied", "state": "mine", "iss": LOOPBACK}
    assert again.status_code == 404


async def test_clients_register_where_the_operator_wants_it(tmp_path: Path) -> None:
    async with a_board(tmp_path, token=SecretStr(TOKEN), public_url=LOOPBACK) as board:
        house = House(board)
        async with house.client() as stranger:
            before = await stranger.get("/.well-known/oauth-authorization-server")
        await house.found()
        async with house.client() as stranger:
            metadata = (await stranger.get("/.well-known/oauth-authorization-server")).json()
            body = {"redirect_uris": [CALLBACK]}
            refused = await stranger.post("/oauth/register", json=body)

    assert before.status_code == 404
    assert "registration_endpoint" not in metadata
    assert metadata["client_id_metadata_document_supported"] is True
    assert refused.status_code == 404


async def test_a_person_with_too_many_keys_lets_no_client_in_and_it_is_told_why(
    scene: Scene,
) -> None:
    client = await scene.register()
    for number in range(MAX_KEYS):
        await scene.bob.post("/v1/keys", json={"name": f"key {number}"})

    answer = await scene.exchange(client, await scene.code(client))

    assert answer.status_code == 400
    assert answer.json()["error"] == "invalid_request"
    assert "keys are the maximum" in answer.json()["error_description"]
