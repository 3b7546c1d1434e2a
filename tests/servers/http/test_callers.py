"""Who the caller of a request is, before accounts begin and afterwards."""

from collections.abc import AsyncGenerator
from pathlib import Path

import httpx2
import pytest
from fastapi import FastAPI
from pydantic import SecretStr
from tests.servers.http.made import LOOPBACK, TOKEN, a_board

from pegboard.core.ports.authenticator import AuthenticatedCaller, SentCredentials
from pegboard.core.principal import LOCAL, Principal
from pegboard.features.identity.accounts import LinkRequest, NewAccount
from pegboard.runtime import Pegboard
from pegboard.servers.http.app_factory import build_app
from pegboard.servers.http.callers import BoardCallers, TokenCallers

PASSWORD = "correct horse"
START = "token of this start"


@pytest.fixture(params=[None, TOKEN], ids=["no token", "a token"])
async def board(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncGenerator[Pegboard]:
    token = None if request.param is None else SecretStr(request.param)
    async with a_board(tmp_path, token=token) as opened:
        yield opened


async def begin(board: Pegboard) -> str:
    """Make the first account; its key."""
    accounts = board.identity.accounts
    new = await accounts.make_link(LinkRequest(), principal=LOCAL)
    await accounts.join(
        NewAccount(link=new.token, handle="ada", password=PASSWORD, organisation="acme")
    )
    session = await board.identity.sign_ins.sign_in("ada", PASSWORD, address="")
    app = build_app(board)
    async with client(board, app, cookie=session.cookie) as browser:
        me = (await browser.get("/v1/session")).json()
    assert me["caller"] == "local"
    principal = await _principal(board, session.cookie)
    return (await board.identity.keys.make("ci", principal=principal)).key


async def _principal(board: Pegboard, cookie: str) -> Principal:
    found = await board.identity.callers.identify(SentCredentials(cookies=(cookie,)))
    assert isinstance(found, AuthenticatedCaller)
    return found.principal


def client(
    board: Pegboard, app: FastAPI | None = None, *, bearer: str = "", cookie: str = ""
) -> httpx2.AsyncClient:
    headers = {"Authorization": f"Bearer {bearer}"} if bearer else {}
    if cookie:
        headers["Cookie"] = f"pegboard_session={cookie}"
    app = app or build_app(board, start_token=START)
    return httpx2.AsyncClient(
        transport=httpx2.ASGITransport(app=app), base_url=LOOPBACK, headers=headers
    )


async def test_a_key_names_its_person(board: Pegboard) -> None:
    key = await begin(board)

    async with client(board, bearer=key) as keyed:
        me = (await keyed.get("/v1/session")).json()
        tools = await keyed.get("/tools")

    assert (me["caller"], me["kind"], me["tenant"]) == ("local", "agent", "acme")
    assert tools.status_code == 200


@pytest.mark.parametrize("path", ["/tools", "/v1/tools", "/v1/history", "/mcp", "/openapi.json"])
async def test_once_there_are_accounts_local_is_nobody_at_the_door(
    board: Pegboard, path: str
) -> None:
    await begin(board)

    for bearer in (TOKEN if board.settings.token else "", START):
        async with client(board, bearer=bearer) as keyed:
            answer = await keyed.get(path)

        assert (answer.status_code, answer.json()["code"]) == (401, "accounts_needed")
        assert "pegboard login" in answer.json()["detail"]


async def test_a_request_that_sends_nothing_is_told_of_no_token(board: Pegboard) -> None:
    await begin(board)

    async with client(board) as stranger:
        answer = await stranger.get("/v1/tools")

    assert answer.status_code == 401
    assert "does not accept its token" not in answer.json()["detail"]
    assert "error=" not in answer.headers["www-authenticate"]


@pytest.mark.parametrize("bearer", ["wrong", "pegboard_", "pegboard_" + "A" * 38])
async def test_a_wrong_key_is_a_wrong_token(board: Pegboard, bearer: str) -> None:
    await begin(board)

    async with client(board, bearer=bearer) as keyed:
        answer = await keyed.get("/tools")

    assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated")
    assert "is wrong, has expired or was revoked" in answer.json()["detail"]
    assert 'error="invalid_token"' in answer.headers["www-authenticate"]


async def test_a_key_that_has_ended_is_told_from_a_token_of_before_accounts(
    board: Pegboard,
) -> None:
    key = await begin(board)
    found = await board.identity.callers.identify(SentCredentials(bearer=key))
    assert isinstance(found, AuthenticatedCaller)
    await board.identity.keys.revoke(found.principal.key, principal=found.principal)

    async with client(board, bearer=key) as keyed:
        answer = await keyed.get("/tools")

    assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated")
    assert "has expired or was revoked" in answer.json()["detail"]


async def test_the_cookie_from_before_accounts_names_nobody(tmp_path: Path) -> None:
    async with a_board(tmp_path, token=SecretStr(TOKEN)) as board:
        app = build_app(board)
        async with client(board, app) as browser:
            signed = await browser.post("/v1/session", json={"token": TOKEN})
            before = await browser.get("/v1/tools")
            await begin(board)
            after = await browser.get("/v1/tools")

    assert (signed.status_code, before.status_code, after.status_code) == (200, 200, 401)


async def test_where_the_accounts_cannot_be_read_nobody_is_let_in(board: Pegboard) -> None:
    key = await begin(board)
    app = build_app(board)
    await board._open.storage.close()  # as a database that is gone

    async with client(board, app, bearer=key) as keyed:
        answer = await keyed.get("/tools")

    assert answer.status_code == 503


async def test_before_accounts_nothing_is_read_to_name_local(board: Pegboard) -> None:
    callers = BoardCallers(board, TokenCallers(None, start_token=START))
    await board._open.storage.close()  # nothing can be read then

    found = await callers.identify(SentCredentials(is_local=True))

    assert isinstance(found, AuthenticatedCaller)
    assert found.principal is LOCAL
