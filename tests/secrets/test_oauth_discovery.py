"""Metadata leads to one authorization server, and to no other than it says itself."""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from tests.network.loopback import Received, reply, serving

from pegboard.core.ports.accounts.credentials import OAuthSettings
from pegboard.errors import Unavailable
from pegboard.network import GuardedClient, SsrfPolicy
from pegboard.secrets import HttpOAuthDiscovery

BACK = "https://board.example/callback"
JSON = {"Content-Type": "application/json"}
Pages = dict[str, Any]


class Web:
    """A protected server and its authorization server, on one port."""

    def __init__(self) -> None:
        self.origin = ""
        self.pages: Pages = {}
        self.challenge = ""
        self.registered: list[dict[str, Any]] = []

    @property
    def server(self) -> str:
        return f"{self.origin}/mcp"

    def metadata(self, **changes: Any) -> dict[str, Any]:
        fields = {
            "issuer": self.origin,
            "authorization_endpoint": f"{self.origin}/auth",
            "token_endpoint": f"{self.origin}/token",
            "registration_endpoint": f"{self.origin}/reg",
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none", "client_secret_basic"],
            "authorization_response_iss_parameter_supported": True,
        } | changes
        return {name: value for name, value in fields.items() if value is not None}

    def resource(self, **changes: Any) -> dict[str, Any]:
        return {"resource": self.server, "authorization_servers": [self.origin]} | changes

    async def respond(self, received: Received, writer: asyncio.StreamWriter) -> None:
        path = received.path
        if path == "/reg":
            self.registered.append(json.loads(received.body))
            number = len(self.registered)
            writer.write(reply(json.dumps({"client_id": f"c{number}"}).encode(), status=201))
        elif path == "/mcp":
            headers = {"WWW-Authenticate": self.challenge} if self.challenge else {}
            writer.write(reply(b"{}", status=401, headers=headers))
        elif path in self.pages:
            writer.write(reply(json.dumps(self.pages[path]).encode(), headers=JSON))
        else:
            writer.write(reply(b"no", status=404))


RESOURCE = "/.well-known/oauth-protected-resource/mcp"
SERVER = "/.well-known/oauth-authorization-server"


@asynccontextmanager
async def a_web() -> AsyncGenerator[tuple[Web, HttpOAuthDiscovery]]:
    web = Web()
    http = GuardedClient(policy=SsrfPolicy(allow_hosts=("127.0.0.1",)))
    async with serving(web.respond) as server:
        web.origin = f"http://{server.authority}"
        web.pages = {RESOURCE: web.resource(), SERVER: web.metadata()}
        try:
            yield web, HttpOAuthDiscovery(lambda: http)
        finally:
            await http.close()


async def test_a_server_leads_to_its_authorization_server_and_a_client_is_registered_once() -> None:
    async with a_web() as (web, discovery):
        web.challenge = 'Bearer error="invalid_token", scope="read write"'
        web.pages[SERVER]["scopes_supported"] = ["read", "offline_access"]
        wanted = OAuthSettings(server=web.server)
        found = await discovery.discover(wanted, redirect_uri=BACK, scopes=["admin", "read"])
        again = await discovery.discover(wanted, redirect_uri=BACK)

    assert found == OAuthSettings(
        server=web.server,
        token_url=f"{web.origin}/token",
        authorization_url=f"{web.origin}/auth",
        issuer=web.origin,
        resource=web.server,
        client_id="c1",
        is_registered=True,
        scopes=("read", "write", "offline_access", "admin"),
    )
    assert again == replace(found, scopes=again.scopes)
    assert [item["redirect_uris"] for item in web.registered] == [[BACK]]


async def test_another_client_is_registered_instead_of_one_that_was_forgotten() -> None:
    async with a_web() as (web, discovery):
        wanted = OAuthSettings(server=web.server)
        found = [await discovery.discover(wanted, redirect_uri=BACK)]
        for client_id in ("c1", "c1", "other"):
            discovery.forget(client_id)
            found.append(await discovery.discover(wanted, redirect_uri=BACK))

    assert [item.client_id for item in found] == ["c1", "c2", "c2", "c2"]


async def test_a_client_document_or_a_configured_client_is_used_before_registration() -> None:
    async with a_web() as (web, discovery):
        web.pages[SERVER]["client_id_metadata_document_supported"] = True
        wanted = OAuthSettings(server=web.server)
        document = "https://board.example/client"
        public = await discovery.discover(wanted, redirect_uri=BACK, document=document)
        given = OAuthSettings(server=web.server, client_id="ours", client_secret="s", scopes=("x",))
        configured = await discovery.discover(given, redirect_uri=BACK, document=document)

    assert public.client_id == document
    assert (configured.client_id, configured.client_secret) == ("ours", "s")
    assert configured.scopes == ("x",)
    assert web.registered == []


async def test_a_server_without_metadata_is_its_own_authorization_server() -> None:
    async with a_web() as (web, discovery):
        del web.pages[RESOURCE]
        web.pages[SERVER] = web.metadata(authorization_response_iss_parameter_supported=None)
        found = await discovery.discover(OAuthSettings(server=web.server), redirect_uri=BACK)

    assert (found.issuer, found.resource) == (web.origin, web.server)
    assert not found.requires_issuer


async def test_a_server_that_takes_secrets_in_the_form_alone_gets_them_there() -> None:
    async with a_web() as (web, discovery):
        methods = ["client_secret_post"]
        web.pages[SERVER] = web.metadata(token_endpoint_auth_methods_supported=methods)
        found = await discovery.discover(OAuthSettings(server=web.server), redirect_uri=BACK)

    assert found.posts_secret
    assert web.registered[0]["token_endpoint_auth_method"] == "client_secret_post"


async def test_the_authorization_server_of_now_is_told() -> None:
    async with a_web() as (web, discovery):
        before = await discovery.find_issuer(web.server)
        web.pages[RESOURCE] = web.resource(authorization_servers=["https://new.example/"])
        after = await discovery.find_issuer(web.server)

    assert (before, after) == (web.origin, "https://new.example")


def _other_issuer(web: Web) -> None:
    web.pages[SERVER] = web.metadata(issuer="https://accounts.example")


def _other_resource(web: Web) -> None:
    web.pages[RESOURCE] = web.resource(resource="https://mail.example/mcp")


def _neighbour(web: Web) -> None:
    web.pages[RESOURCE] = web.resource(resource=f"{web.origin}/mc")


def _no_pkce(web: Web) -> None:
    web.pages[SERVER] = web.metadata(code_challenge_methods_supported=["plain"])


def _script(web: Web) -> None:
    web.pages[SERVER] = web.metadata(authorization_endpoint="javascript:alert(1)")


def _no_metadata(web: Web) -> None:
    web.pages = {}


def _no_registration(web: Web) -> None:
    web.pages[SERVER] = web.metadata(registration_endpoint=None)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (_other_issuer, "of another issuer"),
        (_other_resource, "of another server"),
        (_neighbour, "of another server"),
        (_no_pkce, "does not support PKCE"),
        (_script, "no usable authorization_endpoint"),
        (_no_metadata, "it has no metadata"),
        (_no_registration, "it registers no clients"),
    ],
    ids=lambda item: getattr(item, "__name__", ""),
)
async def test_metadata_that_does_not_fit_is_refused(
    change: Callable[[Web], None], why: str
) -> None:
    async with a_web() as (web, discovery):
        change(web)
        with pytest.raises(Unavailable, match=why):
            await discovery.discover(OAuthSettings(server=web.server), redirect_uri=BACK)


async def test_a_private_address_in_the_metadata_is_not_asked() -> None:
    async with a_web() as (web, discovery):
        web.pages[RESOURCE] = web.resource(authorization_servers=["http://169.254.169.254"])
        with pytest.raises(Unavailable, match="cannot be asked for its login"):
            await discovery.discover(OAuthSettings(server=web.server), redirect_uri=BACK)
