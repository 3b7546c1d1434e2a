"""A board's credentials over a store in memory, and a token endpoint on loopback."""

import asyncio
import json
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs

from tests.network.loopback import Received, reply, serving

from pegboard.core.ports.accounts.credential_store import CredentialStore
from pegboard.core.ports.accounts.credentials import CallerAuth, OAuthDiscovery, OAuthSettings
from pegboard.core.ports.audit_store import skip_proof
from pegboard.core.ports.http import HttpClient
from pegboard.core.principal import Principal
from pegboard.execution import CallEnvironment
from pegboard.features.credentials import (
    Connections,
    CredentialParts,
    CredentialResolver,
    Credentials,
    CredentialTarget,
)
from pegboard.network import GuardedClient, SsrfPolicy
from pegboard.secrets import EnvelopeSealer, HttpOAuthDiscovery, HttpTokenEndpoint, MemoryKeys
from pegboard.storage import MemoryStorage
from pegboard.testing import FakeClock

ADA = Principal(id="ada", user="ada", scopes=frozenset({"*"}))
BOB = Principal(id="bob", user="bob")
EVE = Principal(id="eve", user="eve")


@dataclass
class TokenServer:
    """A token endpoint: numbered tokens, or what a test says instead."""

    authority: str = ""
    forms: list[dict[str, list[str]]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    answer: dict[str, Any] = field(default_factory=dict)
    status: int = 200
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    opened: asyncio.Event = field(default_factory=asyncio.Event)

    def oauth(self, **changes: Any) -> OAuthSettings:
        fields: dict[str, Any] = {
            "token_url": f"http://{self.authority}/token",
            "authorization_url": f"http://{self.authority}/auth",
            "client_id": "board",
            "client_secret": "secret of the board",
        }
        return OAuthSettings(**(fields | changes))

    async def respond(self, received: Received, writer: asyncio.StreamWriter) -> None:
        self.forms.append(parse_qs(received.body.decode()))
        self.headers.append(received.headers)
        self.asked.set()
        await self.opened.wait()
        number = len(self.forms)
        tokens = {
            "access_token": f"access-{number}",
            "refresh_token": f"refresh-{number}",
            "token_type": "Bearer",
            "expires_in": 600,
        }
        body = json.dumps(self.answer or tokens).encode()
        kind = {"Content-Type": "application/json"}
        writer.write(reply(body, status=self.status, headers=kind))


@asynccontextmanager
async def token_server() -> AsyncGenerator[tuple[TokenServer, HttpClient]]:
    """The endpoint, open, and a client that may reach it."""
    made = TokenServer()
    made.opened.set()
    client = GuardedClient(policy=SsrfPolicy(allow_hosts=("127.0.0.1",)))
    async with serving(made.respond) as server:
        made.authority = server.authority
        try:
            yield made, client
        finally:
            await client.close()


@dataclass
class Settled:
    """Remembers for whom waiting calls were told to go on."""

    told: list[tuple[str, str]] = field(default_factory=list)

    async def __call__(self, source: str, principal: Principal | None) -> None:
        self.told.append((source, "" if principal is None else principal.id))


@dataclass
class Office:
    """The services of credentials over one store."""

    parts: CredentialParts
    resolver: CredentialResolver
    service: Credentials
    settled: Settled


def an_office(
    targets: dict[str, CredentialTarget],
    *,
    clock: FakeClock,
    http: HttpClient | None = None,
    store: CredentialStore | None = None,
    keys: Any = None,
    link: Callable[[CredentialTarget, str, str], str] = lambda _target, _owner, _name: "",
    discovery: OAuthDiscovery | None = None,
) -> Office:
    """The services, with sources of these names."""
    environment = CallEnvironment(now=clock.time, monotonic=clock.monotonic)
    parts = CredentialParts(
        store or MemoryStorage(clock=clock).credentials,
        EnvelopeSealer(keys or MemoryKeys()),
        HttpTokenEndpoint(lambda: http),
        discovery=discovery or HttpOAuthDiscovery(lambda: http),
        targets=targets.get,
        may_lend=lend_always,
        environment=lambda: environment,
        prove=skip_proof,
    )
    settled = Settled()
    settle: Callable[[str, Principal | None], Awaitable[None]] = settled
    connections = Connections(parts, address="http://127.0.0.1:8321", settle=settle)
    resolver = CredentialResolver(parts, link=link)
    service = Credentials(parts, resolver, connections, settle=settle)
    return Office(parts=parts, resolver=resolver, service=service, settled=settled)


async def lend_always(_owner: str, _source: str) -> bool:
    return True


def a_target(source: str = "github", **changes: Any) -> CredentialTarget:
    fields: dict[str, Any] = {"auth": CallerAuth(kinds=("bearer",))}
    return CredentialTarget(source=source, **(fields | changes))
