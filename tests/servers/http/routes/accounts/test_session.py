"""Signing in to the console, and what a cookie opens and does not open."""

from collections.abc import AsyncGenerator
from http.cookies import SimpleCookie
from pathlib import Path
from typing import Any

import httpx2
import pytest
from pydantic import SecretStr
from tests.servers.http.made import LOOPBACK, TOKEN, a_board, client_of

from pegboard.testing import ScriptedModel, Turn

SITE = "https://board.example"
CALL = {"name": "add", "input": {"a": 1, "b": 2}}


@pytest.fixture
async def browser(tmp_path: Path) -> AsyncGenerator[httpx2.AsyncClient]:
    """A client of a server with a token; it keeps cookies."""
    board = a_board(tmp_path, token=SecretStr(TOKEN))
    async with client_of(board, base_url=SITE) as opened:
        yield opened


async def sign_in(browser: httpx2.AsyncClient, **headers: str) -> dict[str, Any]:
    answer = await browser.post("/v1/session", json={"token": TOKEN}, headers=headers)
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.mark.parametrize(
    ("body", "problems"),
    [
        (
            {"handle": "ada", "password": "correct horse"},
            {
                "body.name": "missing, required (A handle, or an e-mail address.)",
                "body.handle": "unknown key; known are link, name, password, token",
            },
        ),
        (
            {"name": "ada", "pasword": "correct horse"},
            {
                "body.password": "missing, required (The password.)",
                "body.pasword": "unknown key; did you mean 'password'?",
            },
        ),
        (
            {"token": "x", "name": "ada"},
            {"body.name": "this key does not go with the others"},
        ),
        ({"token": "x" * 1001}, {"body.token": "expected at most 1000 items"}),
        (["ada"], {"body": "expected an object with token, name, password, link"}),
    ],
    ids=["another name", "misspelt", "a token and a name", "a long token", "no object"],
)
async def test_the_faults_of_a_sign_in_are_of_the_one_that_is_meant(
    tmp_path: Path, body: Any, problems: dict[str, str]
) -> None:
    async with client_of(a_board(tmp_path)) as client:
        answer = await client.post("/v1/session", json=body)

    told = {item["path"]: item["message"] for item in answer.json()["problems"]}
    assert (answer.status_code, told) == (422, problems)


async def test_without_a_token_nobody_has_to_sign_in(client: httpx2.AsyncClient) -> None:
    seen = (await client.get("/v1/session")).json()
    asked = await client.post("/v1/session", json={"token": "any"})

    assert seen == {
        "signed_in": True,
        "sign_in_required": False,
        "accounts": False,
        "identity_provider": False,
        "handle": "",
        "name": "",
        "organisations": [],
        "caller": "local",
        "kind": "local",
        "tenant": "",
        "scopes": ["*"],
        "csrf": "",
        "expires_at": None,
        "model_configured": False,
    }
    assert asked.json() == seen
    assert "set-cookie" not in asked.headers


async def test_a_stranger_learns_only_that_a_sign_in_is_needed(browser: httpx2.AsyncClient) -> None:
    assert (await browser.get("/v1/session")).json() == {
        "signed_in": False,
        "sign_in_required": True,
        "accounts": False,
        "identity_provider": False,
        "handle": "",
        "name": "",
        "organisations": [],
        "caller": "",
        "kind": "",
        "tenant": "",
        "scopes": [],
        "csrf": "",
        "expires_at": None,
        "model_configured": False,
    }


async def test_the_token_is_exchanged_for_a_cookie(browser: httpx2.AsyncClient) -> None:
    answer = await browser.post("/v1/session", json={"token": TOKEN}, headers={"Origin": SITE})
    cookie = SimpleCookie(answer.headers["set-cookie"])["pegboard_session"]
    seen = (await browser.get("/v1/session")).json()

    assert seen == answer.json()
    assert (seen["signed_in"], seen["caller"], bool(seen["csrf"])) == (True, "local", True)
    assert (cookie["path"], cookie["httponly"], cookie["secure"]) == ("/v1", True, True)
    assert (cookie["samesite"], cookie["domain"]) == ("lax", "")
    assert TOKEN not in answer.headers["set-cookie"]
    assert seen["csrf"] not in answer.headers["set-cookie"]


async def test_a_cookie_on_plain_http_is_not_lost(tmp_path: Path) -> None:
    board = a_board(tmp_path, token=SecretStr(TOKEN))
    async with client_of(board) as browser:
        answer = await browser.post("/v1/session", json={"token": TOKEN})

    assert not SimpleCookie(answer.headers["set-cookie"])["pegboard_session"]["secure"]


async def test_the_public_address_decides_path_and_safety_of_the_cookie(tmp_path: Path) -> None:
    board = a_board(tmp_path, token=SecretStr(TOKEN), public_url=f"{SITE}/pegs/")
    async with client_of(board) as browser:
        answer = await browser.post("/v1/session", json={"token": TOKEN}, headers={"Origin": SITE})

    cookie = SimpleCookie(answer.headers["set-cookie"])["pegboard_session"]
    assert (cookie["path"], cookie["secure"]) == ("/pegs/v1", True)


@pytest.mark.parametrize("token", ["", "wrong", f"{TOKEN} ", "ä"])
async def test_a_wrong_token_gives_no_cookie(browser: httpx2.AsyncClient, token: str) -> None:
    answer = await browser.post("/v1/session", json={"token": token})

    assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated")
    assert "set-cookie" not in answer.headers
    assert (await browser.get("/v1/tools")).status_code == 401


async def test_a_token_that_is_no_text_is_not_repeated(browser: httpx2.AsyncClient) -> None:
    answer = await browser.post("/v1/session", json={"token": {"secret": "hunter2"}})

    assert answer.status_code == 422
    assert "hunter2" not in answer.text


async def test_a_cookie_reads_and_with_the_header_changes(browser: httpx2.AsyncClient) -> None:
    csrf = (await sign_in(browser))["csrf"]
    read = await browser.get("/v1/tools")
    bare = await browser.post("/v1/execute", json=CALL, headers={"Origin": SITE})
    done = await browser.post(
        "/v1/execute", json=CALL, headers={"Origin": SITE, "X-Pegboard-CSRF": csrf}
    )
    history = (await browser.get("/v1/history")).json()["calls"]

    assert read.status_code == 200
    assert (bare.status_code, bare.json()["code"]) == (403, "csrf_token_missing")
    assert done.json()["output"] == 3
    assert [call["principal"] for call in history] == ["local"]


@pytest.mark.parametrize(
    "origin",
    [
        "https://evil.example",
        "http://board.example.evil.example",
        "https://board.example:8443",
        "null",
    ],
)
@pytest.mark.parametrize(
    ("method", "path"),
    [("POST", "/v1/execute"), ("POST", "/v1/session"), ("DELETE", "/v1/session")],
)
async def test_a_page_of_another_origin_changes_nothing(
    browser: httpx2.AsyncClient, origin: str, method: str, path: str
) -> None:
    headers = {"X-Pegboard-CSRF": (await sign_in(browser))["csrf"], "Origin": origin}

    answer = await browser.request(method, path, json={"token": TOKEN}, headers=headers)

    assert (answer.status_code, answer.json()["code"]) == (403, "origin_not_allowed")
    assert (await browser.get("/v1/session")).json()["signed_in"] is True


async def test_a_change_with_a_cookie_needs_an_origin(browser: httpx2.AsyncClient) -> None:
    headers = {"X-Pegboard-CSRF": (await sign_in(browser))["csrf"]}

    answer = await browser.post("/v1/execute", json=CALL, headers=headers)

    assert (answer.status_code, answer.json()["code"]) == (403, "origin_missing")
    assert (await browser.get("/v1/tools")).status_code == 200


async def test_the_csrf_value_of_another_session_is_refused(browser: httpx2.AsyncClient) -> None:
    other = (await sign_in(browser))["csrf"]
    await sign_in(browser, **{"X-Pegboard-CSRF": other})

    answer = await browser.post("/v1/execute", json=CALL, headers={"X-Pegboard-CSRF": other})

    assert (answer.status_code, answer.json()["code"]) == (403, "csrf_token_missing")


@pytest.mark.parametrize("path", ["/mcp", "/tools", "/history", "/metrics", "/ws", "/v1/ws"])
async def test_a_cookie_opens_nothing_beside_the_api(
    browser: httpx2.AsyncClient, path: str
) -> None:
    await sign_in(browser)
    cookie = browser.cookies.get("pegboard_session", path="/v1")
    headers = {"Cookie": f"pegboard_session={cookie}", "Authorization": ""}
    del headers["Authorization"]

    answer = await browser.get(path, headers=headers)

    assert answer.status_code == (426 if path == "/v1/ws" else 401)


async def test_a_socket_needs_a_ticket_which_the_cookie_gives(browser: httpx2.AsyncClient) -> None:
    headers = {"X-Pegboard-CSRF": (await sign_in(browser))["csrf"], "Origin": SITE}

    assert (await browser.post("/v1/ws/tickets", headers=headers)).status_code == 201


async def test_who_has_signed_out_is_out(browser: httpx2.AsyncClient) -> None:
    session = await sign_in(browser)
    cookie = browser.cookies.get("pegboard_session", path="/v1")
    headers = {"X-Pegboard-CSRF": session["csrf"], "Origin": SITE}
    answer = await browser.delete("/v1/session", headers=headers)
    kept = await browser.get("/v1/tools", headers={"Cookie": f"pegboard_session={cookie}"})

    assert answer.status_code == 204
    assert SimpleCookie(answer.headers["set-cookie"])["pegboard_session"]["max-age"] == "0"
    assert kept.status_code == 401


async def test_signing_out_without_the_header_ends_no_session(browser: httpx2.AsyncClient) -> None:
    await sign_in(browser)
    cookie = browser.cookies.get("pegboard_session", path="/v1")

    await browser.delete("/v1/session")

    kept = await browser.get("/v1/tools", headers={"Cookie": f"pegboard_session={cookie}"})
    assert kept.status_code == 200


async def test_a_session_outlives_a_restart_and_not_a_new_token(tmp_path: Path) -> None:
    answers = list[int]()
    cookie = ""
    for token in (TOKEN, TOKEN, f"{TOKEN} 2"):
        board = a_board(tmp_path, token=SecretStr(token))
        async with client_of(board, base_url=SITE) as browser:
            if not cookie:
                await sign_in(browser)
                cookie = browser.cookies.get("pegboard_session", path="/v1") or ""
            headers = {"Cookie": f"pegboard_session={cookie}"}
            answers.append((await browser.get("/v1/tools", headers=headers)).status_code)

    assert answers == [200, 200, 401]


@pytest.mark.parametrize(
    "cookie", ["pegboard_session", "pegboard_session=", "pegboard_session=\x7f"]
)
async def test_a_broken_cookie_is_none(browser: httpx2.AsyncClient, cookie: str) -> None:
    assert (await browser.get("/v1/tools", headers={"Cookie": cookie})).status_code == 401


@pytest.mark.parametrize(
    "other",
    ['state={"a":1,"b":2}', "a[b]=c", "flag", "pegboard_session=forged", "x=\xe9", "=", ""],
)
async def test_cookies_of_other_programs_on_this_host_hide_no_session(
    browser: httpx2.AsyncClient, other: str
) -> None:
    await sign_in(browser)
    ours = f"pegboard_session={browser.cookies.get('pegboard_session', path='/v1')}"
    for cookies in (f"{other}; {ours}", f"{ours}; {other}"):
        answer = await browser.get("/v1/tools", headers=[(b"Cookie", cookies.encode("latin-1"))])
        assert answer.status_code == 200, cookies


async def test_a_page_on_another_port_of_this_machine_changes_nothing(
    client: httpx2.AsyncClient,
) -> None:
    """A request without a body asks nobody first, so that only the origin tells."""
    refused = await client.post("/runs/r1/cancel", headers={"Origin": "http://127.0.0.1:5173"})
    own = await client.post("/v1/execute", json=CALL, headers={"Origin": LOOPBACK})

    assert (refused.status_code, refused.json()["code"]) == (403, "origin_not_allowed")
    assert own.status_code == 200


async def test_the_public_address_is_an_origin_of_ours(tmp_path: Path) -> None:
    board = a_board(tmp_path, public_url="http://localhost:9000/pegs")
    headers = {"Origin": "http://localhost:9000"}
    async with client_of(board) as client:
        answer = await client.post("/v1/execute", json=CALL, headers=headers)

    assert answer.status_code == 200


@pytest.mark.parametrize(
    ("settings", "model"),
    [({"model": "openai:gpt-5.2"}, None), ({}, ScriptedModel(Turn(text="Hi.")))],
    ids=["setting", "given"],
)
async def test_a_model_that_is_configured_is_told(
    tmp_path: Path, settings: dict[str, str], model: ScriptedModel | None
) -> None:
    async with client_of(a_board(tmp_path, model_given=model, **settings)) as client:
        assert (await client.get("/v1/session")).json()["model_configured"] is True
