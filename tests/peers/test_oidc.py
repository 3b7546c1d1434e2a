"""Signing in at an identity provider that is not ours: npm `oidc-provider`."""

import asyncio
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import urljoin

import httpx2
import pytest
from pydantic import SecretStr
from tests.peers.node import PEERS, node, node_environ, node_package
from tests.peers.ports import free_port
from tests.servers.http.live import patient
from tests.servers.http.made import TOKEN, a_board
from tests.servers.http.people import House

PUBLIC = "http://127.0.0.1:8321"
CALLBACK = f"{PUBLIC}/v1/session/oidc/callback"


@asynccontextmanager
async def started_provider(callback: str) -> AsyncGenerator[str]:
    """An identity provider with one client, until the block ends; its issuer."""
    node_package("oidc-provider")
    port = free_port()
    process = await asyncio.create_subprocess_exec(
        node(),
        PEERS / "oidc_provider.mjs",
        str(port),
        callback,
        env=node_environ(),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    assert process.stdout is not None
    while b"listening" not in (line := await process.stdout.readline()):
        assert line, "the provider has ended"
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        await process.wait()


@pytest.fixture
async def issuer() -> AsyncGenerator[str]:
    async with started_provider(CALLBACK) as address:
        yield address


async def agree(browser: httpx2.AsyncClient, url: str, *, login: str) -> str:
    """Sign in at the provider, and consent; the address that it sends the browser back to."""
    for _ in range(10):
        if url.startswith(CALLBACK):
            return url
        answer = await browser.get(url)
        if answer.is_redirect:
            url = urljoin(url, answer.headers["location"])
            continue
        [action] = re.findall(r'<form[^>]*action="([^"]+)"', answer.text)
        [prompt] = re.findall(r'name="prompt" value="(\w+)"', answer.text)
        form = {"prompt": prompt, "login": login, "password": "any"}
        answer = await browser.post(urljoin(url, action), data=form)
        url = urljoin(url, answer.headers["location"])
    raise AssertionError(url)


@pytest.mark.slow
@pytest.mark.timeout(60)
async def test_a_person_signs_in_at_the_provider_and_a_used_answer_is_refused(
    issuer: str, tmp_path: Path
) -> None:
    async with a_board(
        tmp_path,
        token=SecretStr(TOKEN),
        public_url=PUBLIC,
        oidc_issuer=issuer,
        oidc_client_id="board",
        oidc_client_secret=SecretStr("a secret of the board"),
        oidc_organisation="acme",
        oidc_domains="acme.example",
    ) as board:
        house = House(board)
        ada = await house.found()
        async with house.client() as browser, patient(follow_redirects=False) as elsewhere:
            begun = await browser.get("/v1/session/oidc")
            back = await agree(elsewhere, begun.headers["location"], login="eve")
            signed = await browser.get(back)
            me = (await browser.get("/v1/session")).json()
            again = await browser.get(back)
            forged = await house.client().get(back)
        members = (await ada.get("/v1/organisations/acme/members")).json()["members"]

    assert (begun.status_code, signed.status_code) == (303, 303)
    assert signed.headers["location"] == f"{PUBLIC}/ui/"
    assert "HttpOnly" in signed.headers["set-cookie"]
    assert (me["signed_in"], me["organisations"], me["identity_provider"]) == (True, [], True)
    assert (again.status_code, forged.status_code) == (401, 401)
    assert [item["state"] for item in members] == ["approved", "waiting"]
