"""Tokens are refreshed before they expire, once for all calls, and never fail in silence."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import replace
from typing import Any

import pytest
from msgspec import json
from tests.features.credentials.made import (
    BOB,
    EVE,
    Office,
    TokenServer,
    a_target,
    an_office,
    token_server,
)

from pegboard.core.credential import Credential, Secret
from pegboard.core.ports.accounts.credential_store import StoredCredential
from pegboard.core.ports.accounts.credentials import CallerAuth
from pegboard.errors import CredentialMissing, Unavailable
from pegboard.features.credentials import resolver
from pegboard.testing import FakeClock

LIFETIME = 600.0


class House:
    def __init__(self, server: TokenServer, office: Office, clock: FakeClock) -> None:
        self.server, self.office, self.clock = server, office, clock

    async def connect(self, **changes: Any) -> None:
        fields: dict[str, Any] = {
            "id": "c1",
            "name": "default",
            "kind": "oauth2",
            "expires_at": self.clock.time() + LIFETIME,
        }
        about = Credential(
            owner="bob",
            source="github",
            created_at=self.clock.time(),
            **(fields | changes),
        )
        secret = Secret(access_token="access-0", refresh_token="refresh-0")
        sealed = self.office.parts.seal(secret, about)
        await self.office.parts.store.add(StoredCredential(about=about, sealed=sealed))

    async def call(self, office: Office | None = None) -> str:
        it = (office or self.office).resolver
        stored = await it.find("github", "github__find", principal=BOB)
        return (await it.reveal(stored, tool="github__find")).sent

    async def state(self) -> tuple[str, str]:
        (item,) = await self.office.service.list(principal=BOB)
        return item.state, item.reason


@pytest.fixture
async def house(clock: FakeClock) -> AsyncGenerator[House]:
    async with token_server() as (server, http):
        auth = CallerAuth(kinds=("oauth2", "bearer"), oauth=server.oauth())
        office = an_office(
            {"github": a_target(auth=auth)},
            clock=clock,
            http=http,
            link=lambda target, owner, name: (
                f"https://board.example/{target.source}/{owner}/{name}"
            ),
        )
        yield House(server, office, clock)
        await office.service.close()


async def test_a_token_is_refreshed_shortly_before_it_expires(house: House) -> None:
    await house.connect()
    house.clock.advance(LIFETIME - 60)
    early = await house.call()
    house.clock.advance(31)
    late = [await house.call(), await house.call()]

    assert (early, late) == ("access-0", ["access-1"] * 2)
    assert [form["refresh_token"] for form in house.server.forms] == [["refresh-0"]]


async def test_the_next_refresh_uses_the_rotated_token(house: House) -> None:
    await house.connect()
    for _ in range(2):
        house.clock.advance(LIFETIME)
        await house.call()

    assert [form["refresh_token"] for form in house.server.forms] == [["refresh-0"], ["refresh-1"]]


async def test_many_calls_share_one_refresh(house: House) -> None:
    await house.connect(expires_at=house.clock.time())

    assert await asyncio.gather(*(house.call() for _ in range(50))) == ["access-1"] * 50
    assert len(house.server.forms) == 1


async def test_a_cancelled_call_does_not_lose_the_new_token(house: House) -> None:
    await house.connect(expires_at=house.clock.time())
    house.server.opened.clear()
    waiting = asyncio.create_task(house.call())
    await house.server.asked.wait()

    waiting.cancel()
    await asyncio.wait([waiting])
    house.server.opened.set()

    assert await house.call() == "access-1"
    assert len(house.server.forms) == 1


async def test_an_ended_connection_must_be_connected_again_and_says_where(house: House) -> None:
    await house.connect(expires_at=house.clock.time())
    house.server.status, house.server.answer = 400, {"error": "invalid_grant"}

    with pytest.raises(CredentialMissing) as first:
        await house.call()
    with pytest.raises(CredentialMissing, match="must be connected again") as second:
        await house.call()

    assert await house.state() == (
        "reconnect",
        "the system has ended the connection (invalid_grant)",
    )
    assert "must be connected again" in first.value.reason
    assert second.value.link == "https://board.example/github/bob/"
    assert len(house.server.forms) == 1


@pytest.mark.parametrize("error", ["invalid_client", "unauthorized_client"])
async def test_a_registered_client_that_the_server_does_not_know_is_connected_again(
    house: House, error: str
) -> None:
    await house.connect(expires_at=house.clock.time())
    (stored,) = await house.office.parts.store.credentials()
    given = house.server.oauth(is_registered=True)
    secret = replace(house.office.parts.open(stored), settings=json.encode(given).decode())
    sealed = house.office.parts.seal(secret, stored.about)
    await house.office.parts.store.update("c1", {}, sealed=sealed)
    house.server.status, house.server.answer = 401, {"error": error}

    with pytest.raises(CredentialMissing, match="must be connected again"):
        await house.call()

    assert await house.state() == ("reconnect", f"the system has ended the connection ({error})")


@pytest.mark.parametrize(
    ("status", "answer"),
    [(503, {}), (400, {"error": "invalid_client"}), (200, {"token_type": "bearer"})],
    ids=["unavailable", "the board is refused", "no token"],
)
async def test_a_failed_refresh_fails_the_call_and_ends_no_connection(
    house: House, status: int, answer: dict[str, Any]
) -> None:
    await house.connect(expires_at=house.clock.time())
    house.server.status, house.server.answer = status, answer or {"a": 1}

    with pytest.raises(Unavailable) as caught:
        await house.call()

    assert caught.value.nothing_done
    assert await house.state() == ("ok", "")
    house.server.status, house.server.answer = 200, {}
    assert await house.call() == "access-2"


async def test_a_token_that_is_still_valid_is_used_while_the_server_fails(house: House) -> None:
    await house.connect(expires_at=house.clock.time() + 10)
    house.server.status, house.server.answer = 503, {"a": 1}

    assert await house.call() == "access-0"


async def connect_another(house: House) -> tuple[StoredCredential, Secret]:
    """Connect another account in place of one that a call has found; return the latter."""
    stored = await house.office.resolver.find("github", "github__find", principal=BOB)
    value = house.office.parts.open(stored)
    sealed = house.office.parts.seal(Secret(access_token="of another"), stored.about)
    changes = {"identity": "hubot", "expires_at": None}
    await house.office.parts.store.update("c1", changes, sealed=sealed)
    return stored, value


async def test_a_due_token_is_not_replaced_by_that_of_another_account(house: House) -> None:
    await house.connect(expires_at=house.clock.time())
    stored, _ = await connect_another(house)

    with pytest.raises(Unavailable, match="connected again during the call"):
        await house.office.resolver.reveal(stored, tool="github__find")

    assert house.server.forms == []


async def test_a_refused_token_is_not_replaced_by_that_of_another_account(house: House) -> None:
    await house.connect()
    stored, value = await connect_another(house)

    with pytest.raises(Unavailable, match="connected again during the call"):
        await house.office.resolver.renew(stored, value, tool="github__find")

    assert house.server.forms == []


async def test_a_token_without_a_refresh_token_ends_with_its_time(house: House) -> None:
    await house.connect(expires_at=house.clock.time())
    (stored,) = await house.office.parts.store.credentials()
    bare = house.office.parts.seal(Secret(access_token="access-0"), stored.about)
    await house.office.parts.store.update("c1", {}, sealed=bare)

    with pytest.raises(CredentialMissing, match="must be connected again"):
        await house.call()
    assert house.server.forms == []


async def test_a_new_token_is_stored_once_the_store_is_back(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    await house.connect(expires_at=house.clock.time())
    store = house.office.parts.store
    update, failures = store.update, [Unavailable("gone")] * 20

    async def fail_at_first(*args: Any, **changes: Any) -> Any:
        if failures and "sealed" in changes:
            raise failures.pop()
        return await update(*args, **changes)

    monkeypatch.setattr(resolver, "_PAUSE", 0.0001)
    monkeypatch.setattr(store, "update", fail_at_first)

    assert [await house.call() for _ in range(2)] == ["access-1"] * 2
    assert (len(house.server.forms), await house.state()) == (1, ("ok", ""))


async def test_the_use_of_a_credential_is_noted_once_a_minute(house: House) -> None:
    await house.connect()
    start = house.clock.time()
    noted: list[float | None] = []
    for seconds in (0, 59, 1):
        house.clock.advance(seconds)
        await house.call()
        noted.append((await house.office.service.list(principal=BOB))[0].used_at)

    assert noted == [start, start, start + 60]


async def renew(house: House, refused: str = "access-0") -> str:
    it = house.office.resolver
    stored = await it.find("github", "github__find", principal=BOB)
    renewed = await it.renew(stored, Secret(access_token=refused), tool="github__find")
    return "" if renewed is None else renewed.sent


async def test_a_token_that_the_system_refuses_is_refreshed_once_for_all_calls(
    house: House,
) -> None:
    await house.connect()

    found = await asyncio.gather(*(renew(house) for _ in range(20)))

    assert (set(found), len(house.server.forms)) == ({"access-1"}, 1)
    assert await renew(house) == "access-1"  # a call that was slow gets what others have got
    assert len(house.server.forms) == 1


async def test_a_refused_token_that_cannot_be_refreshed_now_is_not_sent_again(
    house: House,
) -> None:
    await house.connect()
    house.server.status, house.server.answer = 503, {"error": "busy"}

    with pytest.raises(Unavailable):
        await renew(house)
    assert (await house.state())[0] == "ok"


async def test_a_value_that_is_no_oauth_token_is_not_renewed(house: House) -> None:
    await house.connect(kind="bearer", expires_at=None)

    assert await renew(house) == ""
    assert house.server.forms == []


async def test_only_its_owner_ends_a_connection(house: House) -> None:
    await house.connect(shared=True)
    it = house.office.resolver
    stored = await it.find("github", "github__find", principal=EVE)

    await it.end(stored, tool="github__find", principal=EVE)
    before = (await house.state())[0]
    with pytest.raises(CredentialMissing, match="must be connected again") as ended:
        await it.end(stored, tool="github__find", principal=BOB)

    assert (before, (await house.state())[0]) == ("ok", "reconnect")
    assert ended.value.link == "https://board.example/github/bob/"


async def test_a_call_names_one_of_several_accounts(house: House) -> None:
    await house.connect(is_default=True)
    await house.connect(id="c2", name="home & office")
    it = house.office.resolver

    default = await it.find("github", "t", principal=BOB)
    named = await it.find("github", "t", principal=BOB, account="home & office")
    with pytest.raises(CredentialMissing, match="of the name 'other'") as missing:
        await it.find("github", "t", principal=BOB, account="other")

    assert (default.about.name, named.about.name) == ("default", "home & office")
    assert missing.value.link.endswith("/bob/other")
