"""What people let OAuth clients do, on every server."""

import asyncio

import pytest
from msgspec import structs
from tests.features.identity.made import Server

from pegboard.core.principal import Principal
from pegboard.errors import AccessDenied, AccountNotFound
from pegboard.features.identity.oauth_clients import OAuthClient
from pegboard.features.identity.oauth_grants import (
    ACCESS_LIFETIME,
    CODE_LIFETIME,
    REFRESH_LIFETIME,
    REQUEST_LIFETIME,
    OAuthRequest,
    renewable_until,
)
from pegboard.testing import FakeClock

CLIENT = OAuthClient(id="c1", name="App", redirects=("https://app.example/c",))
ASKED = OAuthRequest(
    client="c1",
    name="App",
    redirect="https://app.example/c",
    is_redirect_named=True,
    state="s",
    challenge="x",
    scopes=("tools:read",),
    resource="https://board.example/mcp",
)


async def agree(server: Server, principal: Principal) -> str:
    server.identity.oauth.clients.registration = True
    await server.identity.oauth.clients.register(CLIENT)
    request = await server.identity.oauth.ask(ASKED)
    return (await server.identity.oauth.decide(request, allow=True, principal=principal))[1]


async def test_a_grant_is_a_key_of_its_person_with_the_scopes_that_were_agreed_to(
    server: Server, other: Server
) -> None:
    await server.found()
    ada = await server.caller("ada")
    code = await agree(server, ada)

    tokens = await other.identity.oauth.redeem(code, "c1")

    assert tokens is not None
    [key] = await server.identity.keys.list(principal=ada)
    assert (key.client, key.audience, key.scopes) == ("c1", ASKED.resource, ("tools:read",))
    now = await server.identity.callers.name_now(structs.replace(ada, key=key.id))
    assert (now.kind, now.scopes) == ("agent", {"tools:read"})


async def test_a_key_can_be_renewed_and_revoked_long_after_its_hour(
    server: Server, clock: FakeClock
) -> None:
    await server.found()
    ada = await server.caller("ada")
    grants, keys = server.identity.oauth, server.identity.keys
    tokens = await grants.redeem(await agree(server, ada), "c1")
    assert tokens is not None
    begun = clock.time()

    clock.advance(REFRESH_LIFETIME - 1)
    [key] = await keys.list(principal=ada)
    renewed = await grants.renew(tokens.refresh, "c1")
    await keys.revoke(key.id, principal=ada)

    assert renewed is not None
    assert renewable_until(key) == begun + REFRESH_LIFETIME
    assert await grants.renew(renewed.refresh, "c1") is None
    made = await keys.make("ci", lifetime=60.0, principal=ada)
    assert renewable_until(made.stored) is None


async def test_what_goes_on_does_not_end_with_the_hour_but_with_the_grant(
    server: Server, clock: FakeClock
) -> None:
    await server.found()
    ada = await server.caller("ada")
    tokens = await server.identity.oauth.redeem(await agree(server, ada), "c1")
    assert tokens is not None
    [key] = await server.identity.keys.list(principal=ada)
    running = structs.replace(ada, key=key.id)
    clock.advance(ACCESS_LIFETIME)

    assert await server.identify(key=tokens.access) == "wrong_token"
    assert (await server.identity.callers.name_now(running)).key == key.id
    await server.identity.keys.revoke(key.id, principal=ada)
    with pytest.raises(AccessDenied):
        await server.identity.callers.name_now(running)


async def test_requests_and_codes_have_their_time(server: Server, clock: FakeClock) -> None:
    await server.found()
    ada = await server.caller("ada")
    code, request = await agree(server, ada), await server.identity.oauth.ask(ASKED)
    clock.advance(CODE_LIFETIME)
    assert await server.identity.oauth.redeem(code, "c1") is None
    clock.advance(REQUEST_LIFETIME)

    with pytest.raises(AccountNotFound):
        await server.identity.oauth.show(request, principal=ada)


async def test_a_key_agrees_to_nothing(server: Server) -> None:
    await server.found()
    ada = await server.caller("ada")
    made = await server.identity.keys.make("ci", principal=ada)

    with pytest.raises(AccessDenied):
        await agree(server, (await server.caller_of(key=made.key)).principal)


async def test_a_code_that_is_used_twice_ends_what_came_of_it(server: Server) -> None:
    await server.found()
    grants, ada = server.identity.oauth, await server.caller("ada")
    code = await agree(server, ada)
    tokens = await grants.redeem(code, "c1")
    assert tokens is not None
    assert await grants.read_access(tokens.access) is not None

    assert await grants.read_code(code, "c1") is None

    assert await grants.read_access(tokens.access) is None
    assert await grants.renew(tokens.refresh, "c1") is None


async def test_of_two_that_renew_a_token_at_once_one_gets_it_and_a_later_use_ends_all(
    server: Server, other: Server
) -> None:
    await server.found()
    ada = await server.caller("ada")
    tokens = await server.identity.oauth.redeem(await agree(server, ada), "c1")
    assert tokens is not None

    renewed = [
        item
        for item in await asyncio.gather(
            server.identity.oauth.renew(tokens.refresh, "c1"),
            other.identity.oauth.renew(tokens.refresh, "c1"),
        )
        if item is not None
    ]

    [new] = renewed
    assert await server.identity.oauth.read_access(new.access) is not None
    assert await other.identity.oauth.read_refresh(tokens.refresh, "c1") is None
    assert await server.identity.oauth.read_access(new.access) is None
