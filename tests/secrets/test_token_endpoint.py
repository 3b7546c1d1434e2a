"""What a token endpoint answers, and what of it is believed."""

from typing import Any

import pytest
from tests.features.credentials.made import token_server

from pegboard.core.ports.accounts.credentials import AccountIdentity, TokenAnswer, TokenRefusal
from pegboard.errors import Unavailable
from pegboard.secrets.token_endpoint import HttpTokenEndpoint


@pytest.mark.parametrize(
    ("status", "answer", "expected"),
    [
        (
            200,
            {"access_token": "a", "token_type": "bearer"},
            TokenAnswer(access_token="a", refresh_token="", lifetime=None),
        ),
        (
            200,
            {"access_token": "a", "refresh_token": "r", "expires_in": "60", "scope": "b c"},
            TokenAnswer(access_token="a", refresh_token="r", lifetime=60.0, scopes=("b", "c")),
        ),
        (400, {"error": "invalid_grant"}, TokenRefusal(error="invalid_grant")),
        (401, {"error": "invalid_client"}, TokenRefusal(error="invalid_client")),
        (200, {"error": "bad_refresh_token"}, TokenRefusal(error="invalid_grant")),
        (200, {"error": "bad_verification_code"}, TokenRefusal(error="invalid_grant")),
        (200, {"error": "incorrect_client_credentials"}, TokenRefusal(error="invalid_client")),
    ],
    ids=["bare", "whole", "grant", "client", "of GitHub", "a code there", "a client there"],
)
async def test_an_answer_is_read(status: int, answer: Any, expected: Any) -> None:
    async with token_server() as (server, http):
        server.status, server.answer = status, answer
        found = await HttpTokenEndpoint(lambda: http).refresh(server.oauth(), refresh_token="r-0")

    assert found == expected


@pytest.mark.parametrize(
    ("status", "answer", "retryable"),
    [
        (500, {"error": "down"}, True),
        (503, {"error": "invalid_grant"}, True),
        (429, {"error": "slow_down"}, True),
        (404, {"error": "elsewhere"}, False),
        (302, {"access_token": "a"}, True),
        (200, {"access_token": "two words"}, True),
        (200, {"access_token": "a", "token_type": "mac"}, False),
    ],
    ids=["failing", "failing in words", "busy", "no endpoint", "redirect", "no token", "no bearer"],
)
async def test_any_other_answer_is_a_failure_that_repeats_nothing(
    status: int, answer: Any, retryable: bool
) -> None:
    async with token_server() as (server, http):
        server.status, server.answer = status, answer
        with pytest.raises(Unavailable) as caught:
            await HttpTokenEndpoint(lambda: http).refresh(
                server.oauth(), refresh_token="secret-refresh"
            )

    assert caught.value.retryable is retryable
    assert "secret" not in str(caught.value)


async def test_a_public_client_sends_its_id_and_no_secret() -> None:
    async with token_server() as (server, http):
        settings = server.oauth(client_secret="")
        await HttpTokenEndpoint(lambda: http).refresh(settings, refresh_token="r-0")

    assert server.forms[0]["client_id"] == ["board"]
    assert "authorization" not in server.headers[0]


@pytest.mark.parametrize(
    ("status", "answer", "identity"),
    [
        (200, {"id": 7, "login": "octocat"}, "octocat"),
        (200, {"id": 7}, "7"),
        (200, {"login": {"not": "a name"}, "sub": "u-1"}, "u-1"),
        (200, {"login": "two\nlines"}, ""),
        (200, {"message": "hello"}, ""),
        (403, {"id": "forbidden", "name": "Forbidden"}, ""),
        (503, {"name": "Down"}, ""),
    ],
    ids=["name", "number", "no text", "two lines", "none", "refused", "failing"],
)
async def test_an_account_has_the_name_that_the_system_tells(
    status: int, answer: Any, identity: str
) -> None:
    async with token_server() as (server, http):
        server.status, server.answer = status, answer
        settings = server.oauth(userinfo_url=f"http://{server.authority}/me")
        found = await HttpTokenEndpoint(lambda: http).identify(settings, access_token="a")

    assert found.name == identity


async def test_accounts_of_one_name_are_told_apart() -> None:
    async with token_server() as (server, http):
        settings = server.oauth(userinfo_url=f"http://{server.authority}/me")
        endpoint, found = HttpTokenEndpoint(lambda: http), list[AccountIdentity]()
        for answer in ({"sub": "s1"}, {"sub": "s2"}, {"id": 7}, {"id": 8}, {}, {"sub": ["s1"]}):
            server.answer = {"name": "Anna Berg", **answer}
            found.append(await endpoint.identify(settings, access_token="a"))

    assert {item.name for item in found} == {"Anna Berg"}
    assert len({item.subject for item in found[:4]} - {""}) == 4
    assert [item.subject for item in found[4:]] == ["", ""]


async def test_without_a_network_nothing_is_asked() -> None:
    async with token_server() as (server, _http):
        with pytest.raises(Unavailable, match="no network"):
            await HttpTokenEndpoint(lambda: None).refresh(server.oauth(), refresh_token="r-0")

    assert server.forms == []
