"""A server with accounts, and a client for each person who uses it."""

from typing import Any

import httpx2
from tests.servers.http.made import LOOPBACK, TOKEN

from pegboard.runtime import Pegboard
from pegboard.servers.http.app_factory import build_app

ADA = {"handle": "ada", "password": "correct horse", "organisation": "acme"}
BOB = {"handle": "bob", "password": "battery staple", "email": "Bob@acme.example"}
START = "token of this start"
PAGE = {"Origin": LOOPBACK}
"""What browsers send with each change, and with each WebSocket."""


class House:
    """A server, and a client for each person who uses it."""

    def __init__(self, board: Pegboard) -> None:
        self.app = build_app(board, start_token=START)

    def client(self, *, bearer: str = "") -> httpx2.AsyncClient:
        headers = {"Authorization": f"Bearer {bearer}"} if bearer else {}
        transport = httpx2.ASGITransport(app=self.app)
        return httpx2.AsyncClient(transport=transport, base_url=LOOPBACK, headers=headers)

    async def make_link(self, client: httpx2.AsyncClient, **wanted: Any) -> str:
        answer = await client.post("/v1/people/links", json=wanted)
        assert answer.status_code == 201, answer.text
        return str(answer.json()["path"]).partition("#link=")[2]

    async def join(self, link: str, account: dict[str, Any]) -> httpx2.AsyncClient:
        """A browser in which a person has made an account."""
        browser = self.client()
        answer = await browser.post("/v1/people/join", json={"link": link, **account})
        assert answer.status_code == 201, answer.text
        browser.headers["X-Pegboard-CSRF"] = answer.json()["csrf"]
        browser.headers.update(PAGE)
        return browser

    async def found(self) -> httpx2.AsyncClient:
        """Ada's browser; her account is the first."""
        async with self.client(bearer=TOKEN) as local:
            return await self.join(await self.make_link(local), ADA)

    async def invite(self, ada: httpx2.AsyncClient, *roles: str) -> httpx2.AsyncClient:
        """Bob's browser, in Ada's organisation."""
        link = await self.make_link(ada, organisation="acme", roles=list(roles))
        return await self.join(link, BOB)
