"""Logins by OAuth; `tests/peers/test_conformance_client.py` has whole flows."""

import time
from collections.abc import Mapping
from typing import Any

import httpx2
import pytest
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from pydantic import AnyUrl
from tests.sources.mcp.opening import opened

from pegboard.core.ports.source_services.oauth_login import ConsentAnswer
from pegboard.errors import MCPConnectionError
from pegboard.sources.mcp.config import OAuthAccess
from pegboard.sources.mcp.transport.oauth import KeptTokens, OAuthFlow


class Login:
    redirect_uri = "http://127.0.0.1:1/callback"
    client_url = ""

    def __init__(self) -> None:
        self.kept: Mapping[str, Any] = {}

    async def ask(self, url: str) -> ConsentAnswer:
        raise AssertionError(url)

    async def load(self) -> Mapping[str, Any]:
        return self.kept

    async def save(self, kept: Mapping[str, Any]) -> None:
        self.kept = kept


def access(**fields: Any) -> OAuthAccess:
    return OAuthAccess.model_validate({"kind": "oauth", **fields})


async def test_tokens_and_the_registration_are_kept_beside_each_other() -> None:
    login = Login()
    kept = KeptTokens(login, access())
    await kept.set_client_info(
        OAuthClientInformationFull(client_id="c", redirect_uris=[AnyUrl(login.redirect_uri)])
    )
    await kept.set_tokens(OAuthToken(access_token="a", refresh_token="r"))

    again = KeptTokens(login, access())
    tokens, client = await again.get_tokens(), await again.get_client_info()
    assert tokens is not None
    assert (tokens.access_token, tokens.refresh_token, tokens.expires_in) == ("a", "r", None)
    assert client is not None
    assert client.client_id == "c"


async def test_the_time_that_tokens_are_valid_goes_on_while_they_are_kept() -> None:
    login = Login()
    await KeptTokens(login, access()).set_tokens(OAuthToken(access_token="a", expires_in=3600))
    login.kept = {**login.kept, "expires_at": time.time() - 1}

    tokens = await KeptTokens(login, access()).get_tokens()
    assert tokens is not None
    assert tokens.expires_in == 0


async def test_a_client_that_is_configured_is_not_replaced_by_a_registration() -> None:
    login = Login()
    kept = KeptTokens(login, access(client_id="ours", client_secret="s"))
    await kept.set_client_info(
        OAuthClientInformationFull(client_id="c", redirect_uris=[AnyUrl(login.redirect_uri)])
    )

    client = await kept.get_client_info()
    assert client is not None
    assert (client.client_id, client.client_secret) == ("ours", "s")
    assert login.kept == {}


async def a_refused_refresh(login: Login, given: OAuthAccess, answer: httpx2.Response) -> None:
    """A request whose expired token is not renewed, up to where it is sent without one."""
    kept = KeptTokens(login, given)
    await kept.set_client_info(
        OAuthClientInformationFull(client_id="c", redirect_uris=[AnyUrl(login.redirect_uri)])
    )
    await kept.set_tokens(OAuthToken(access_token="a", refresh_token="r", expires_in=0))
    url = "https://crm.example/mcp"
    flow = OAuthFlow("crm", url, given, login).async_auth_flow(httpx2.Request("POST", url))
    asked = await anext(flow)
    answer.request = asked
    sent = await flow.asend(answer)
    await flow.aclose()
    assert b"grant_type=refresh_token" in asked.content
    assert "authorization" not in sent.headers


@pytest.mark.parametrize(
    ("status", "error", "is_kept"),
    [
        (401, "invalid_client", False),
        (400, "unauthorized_client", False),
        (400, "invalid_grant", True),
        (503, "invalid_client", True),
    ],
)
async def test_a_registration_that_the_server_does_not_know_any_more_is_forgotten(
    status: int, error: str, is_kept: bool
) -> None:
    login = Login()

    await a_refused_refresh(login, access(), httpx2.Response(status, json={"error": error}))

    client = await KeptTokens(login, access()).get_client_info()
    assert (client is not None) is is_kept


@pytest.mark.parametrize("content", [b"<html>", b"[]", b""], ids=["page", "list", "nothing"])
async def test_a_refusal_in_other_words_forgets_no_registration(content: bytes) -> None:
    login = Login()

    await a_refused_refresh(login, access(), httpx2.Response(401, content=content))

    assert await KeptTokens(login, access()).get_client_info() is not None


async def test_a_client_that_is_configured_is_never_forgotten() -> None:
    login, given = Login(), access(client_id="ours")

    await a_refused_refresh(login, given, httpx2.Response(401, json={"error": "invalid_client"}))

    client = await KeptTokens(login, given).get_client_info()
    assert client is not None
    assert client.client_id == "ours"


async def test_where_nobody_can_log_in_a_server_with_a_login_says_so() -> None:
    async with opened({"url": "http://127.0.0.1:1/mcp", "auth": {"kind": "oauth"}}) as source:
        with pytest.raises(MCPConnectionError, match="needs a login by OAuth"):
            await source.tools()
