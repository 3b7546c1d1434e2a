"""Starts an authorization server of somebody else's making, npm `oidc-provider`, on loopback."""

import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import httpx2
from tests.peers.node import PEERS, node, node_package
from tests.peers.ports import free_port

CALLBACK = "http://127.0.0.1:8321/v1/credentials/oauth/callback"
_ROBOT = ("robot", "secret-of-robot")
SECRETS = ("secret-of-pegboard", "secret-of-robot")


@dataclass(frozen=True)
class OidcServer:
    issuer: str
    process: subprocess.Popen[str]

    def end(self) -> None:
        """End the server, which forgets its clients and tokens."""
        self.process.kill()
        self.process.wait()

    def oauth(self, **changes: Any) -> dict[str, Any]:
        """The `oauth` of a source whose callers consent."""
        return {
            "authorization_url": f"{self.issuer}/auth",
            "token_url": f"{self.issuer}/token",
            "userinfo_url": f"{self.issuer}/me",
            "issuer": self.issuer,
            "client_id": "pegboard",
            "client_secret": SECRETS[0],
            "scopes": ["openid", "profile", "offline_access"],
        } | changes

    async def consent(self, url: str) -> str:
        """Consent in a browser; the address that it is sent back to."""
        async with httpx2.AsyncClient() as browser:
            while not url.startswith(CALLBACK):
                answer = await browser.get(url)
                assert answer.is_redirect, answer.text
                url = str(answer.next_request.url) if answer.next_request else ""
        return url

    async def introspect(self, token: str) -> dict[str, Any]:
        """What a token is worth."""
        async with httpx2.AsyncClient() as client:
            answer = await client.post(
                f"{self.issuer}/token/introspection", data={"token": token}, auth=_ROBOT
            )
            return answer.json()

    async def counts(self) -> dict[str, int]:
        """How often it has given tokens, by grant type."""
        async with httpx2.AsyncClient() as client:
            return (await client.get(f"{self.issuer}/counts")).json()


@contextmanager
def started_oidc(*, lifetime: int = 3600, port: int = 0) -> Generator[OidcServer]:
    """The server, until the block ends; access tokens are valid for so many seconds."""
    node_package("oidc-provider")
    port = port or free_port()
    command = [node(), PEERS / "oidc_server.mjs", str(port), CALLBACK, str(lifetime)]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            assert process.stdout is not None
            while (line := process.stdout.readline()).strip() != "listening":
                assert line, "the authorization server has ended"
            yield OidcServer(issuer=f"http://127.0.0.1:{port}", process=process)
        finally:
            process.kill()
