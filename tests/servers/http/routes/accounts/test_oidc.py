"""Signing in at an identity provider over HTTP, where there is none and where it is away."""

from collections.abc import AsyncGenerator
from hashlib import sha256
from pathlib import Path

import httpx2
import pytest
from pydantic import SecretStr
from tests.peers.ports import free_port
from tests.servers.http.made import TOKEN, a_board
from tests.servers.http.people import House

BEGIN, CALLBACK = "/v1/session/oidc", "/v1/session/oidc/callback?code=c&state=s"


def check_page(answer: httpx2.Response) -> None:
    """A person reads it, and gets back to the console."""
    assert answer.headers["content-type"].startswith("text/html")
    assert "<h1>Not signed in</h1>" in answer.text
    assert '<a href="http://127.0.0.1:8321/ui/">' in answer.text


@pytest.fixture
async def house(tmp_path: Path) -> AsyncGenerator[House]:
    issuer = f"http://127.0.0.1:{free_port()}"  # where nothing listens
    async with a_board(
        tmp_path, token=SecretStr(TOKEN), oidc_issuer=issuer, oidc_client_id="board"
    ) as board:
        yield House(board)


async def test_without_a_provider_nobody_is_sent_anywhere(tmp_path: Path) -> None:
    async with a_board(tmp_path, token=SecretStr(TOKEN)) as board:
        house = House(board)
        ada = await house.found()
        answers = [
            await ada.get(BEGIN),
            await ada.get(CALLBACK),
            await ada.post(BEGIN),
        ]
        me = (await ada.get("/v1/session")).json()

    assert {answer.status_code for answer in answers} == {400}
    assert "PEGBOARD_OIDC_ISSUER" in answers[0].text
    assert me["identity_provider"] is False


async def test_before_accounts_begin_nobody_signs_in_there(house: House) -> None:
    answer = await house.client().get(BEGIN)

    assert (answer.status_code, "people link" in answer.text) == (401, True)


async def test_a_provider_that_is_away_is_said_to_be(house: House) -> None:
    ada = await house.found()
    me = (await ada.get("/v1/session")).json()

    answer = await house.client().get(BEGIN)

    assert me["identity_provider"] is True
    assert answer.status_code == 503
    assert "set-cookie" not in answer.headers
    check_page(answer)


async def test_an_answer_that_was_not_asked_for_signs_nobody_in(house: House) -> None:
    await house.found()
    browser = house.client()
    digest = sha256(b"s").hexdigest()[:16]
    browser.cookies.set(f"pegboard_oidc_{int(digest, 16) % 4}", f"{digest}.made-up")

    answers = [await browser.get(CALLBACK), await browser.get(f"{CALLBACK}&state=s")]

    assert [answer.status_code for answer in answers] == [401, 401]
    for answer in answers:
        check_page(answer)
    assert "Max-Age=0" in answers[1].headers["set-cookie"]
    assert (await browser.get("/v1/tools")).status_code == 401


async def test_only_a_session_links_an_account(house: House) -> None:
    ada = await house.found()
    key = (await ada.post("/v1/keys", json={"name": "ci"})).json()["key"]
    async with house.client(bearer=key) as program, house.client() as stranger:
        statuses = [(await it.post(BEGIN)).status_code for it in (program, stranger)]
    del ada.headers["X-Pegboard-CSRF"]

    assert statuses == [403, 401]
    assert (await ada.post(BEGIN)).status_code == 403
