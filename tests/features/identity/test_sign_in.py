"""Signing in: with a name or an address, within limits."""

import asyncio

import pytest
from argon2 import PasswordHasher
from tests.features.identity.made import HOME, PASSWORD, Server

from pegboard.core.ports.audit_store import skip_proof
from pegboard.errors import AccountNotFound, RateLimited, SignInRefused
from pegboard.execution.environment import CallEnvironment
from pegboard.features.identity import sign_in
from pegboard.features.identity.parts import IdentityParts
from pegboard.features.identity.passwords import Passwords
from pegboard.features.identity.sign_in_limits import (
    MAX_OF_ACCOUNT,
    MAX_OF_ADDRESS,
    MAX_OF_BOTH,
    WINDOW,
    SignInLimits,
)
from pegboard.storage import MemoryStorage
from pegboard.testing import FakeClock


@pytest.fixture
def limits(storage: MemoryStorage, clock: FakeClock) -> SignInLimits:
    environment = CallEnvironment(now=clock.time, monotonic=clock.monotonic)
    parts = IdentityParts(
        storage.identity, lambda: environment, roles=storage.roles, prove=skip_proof
    )
    return SignInLimits(parts)


@pytest.mark.parametrize("login", ["ada", "ADA", "ada@acme.example", "Ada@Acme.Example"])
async def test_a_handle_and_an_address_sign_in_in_any_case(server: Server, login: str) -> None:
    await server.found()

    assert (await server.caller(login)).user == "local"


async def test_a_wrong_password_is_refused_like_a_person_who_does_not_exist(
    server: Server,
) -> None:
    await server.found()
    told: list[str] = []

    for login in ("ada", "nobody", ""):
        with pytest.raises(SignInRefused) as caught:
            await server.identity.sign_ins.sign_in(login, "wrong password", address=HOME)
        told.append(caught.value.message)

    assert len(set(told)) == 1


async def test_after_many_wrong_passwords_the_right_one_has_to_wait(
    server: Server, clock: FakeClock
) -> None:
    await server.found()
    for _ in range(MAX_OF_BOTH):
        with pytest.raises(SignInRefused):
            await server.caller("ada", "wrong password")
        clock.advance(1)

    with pytest.raises(RateLimited) as caught:
        await server.caller("ada")

    assert caught.value.retry_after == WINDOW - MAX_OF_BOTH
    clock.advance(WINDOW - MAX_OF_BOTH)
    assert (await server.caller("ada")).user == "local"


async def test_signing_out_ends_the_session_here_at_once(
    server: Server, other: Server, clock: FakeClock
) -> None:
    await server.found()
    session = await server.identity.sign_ins.sign_in("ada", PASSWORD, address=HOME)
    caller = await other.caller_of(cookie=session.cookie)
    assert caller.session == session

    await server.identity.sign_ins.end(session)

    assert await server.identify(cookie=session.cookie) == "no_token"
    clock.advance(1.0)
    assert await other.identify(cookie=session.cookie) == "no_token"


async def test_a_session_expires(server: Server, clock: FakeClock) -> None:
    await server.found()
    session = await server.identity.sign_ins.sign_in("ada", PASSWORD, address=HOME)

    clock.advance(sign_in.SESSION_LIFETIME)

    assert await server.identify(cookie=session.cookie) == "no_token"


async def test_one_address_cannot_try_many_accounts(limits: SignInLimits) -> None:
    for number in range(MAX_OF_ADDRESS):
        await limits.begin(f"person{number}", HOME)

    with pytest.raises(RateLimited):
        await limits.begin("ada", HOME)
    await limits.begin("ada", "192.0.2.2")


async def test_many_addresses_cannot_try_one_account(limits: SignInLimits) -> None:
    for number in range(MAX_OF_ACCOUNT):
        await limits.begin("ada", f"192.0.2.{number}")

    with pytest.raises(RateLimited):
        await limits.begin("Ada", "198.51.100.1")
    await limits.begin("bob", "198.51.100.1")


async def test_attempts_that_succeed_do_not_count(limits: SignInLimits) -> None:
    for _ in range(MAX_OF_ACCOUNT + 1):
        await limits.begin("ada", HOME)
        await limits.succeed("ada", HOME)

    await limits.begin("ada", HOME)


async def test_attempts_on_another_server_count(server: Server, other: Server) -> None:
    await server.found()
    for number in range(MAX_OF_BOTH):
        with pytest.raises(SignInRefused):
            await (server, other)[number % 2].caller("ada", "wrong password")

    with pytest.raises(RateLimited):
        await other.caller("ada")


async def test_an_old_session_gets_a_new_cookie_and_keeps_its_end(
    server: Server, other: Server, clock: FakeClock
) -> None:
    await server.found()
    first = await server.identity.sign_ins.sign_in("ada", PASSWORD, address=HOME)
    assert await server.identity.sign_ins.rotate(first) is None
    clock.advance(sign_in.ROTATE_AFTER)

    second = await server.identity.sign_ins.rotate(first)

    assert second is not None
    assert second.cookie != first.cookie
    assert second.csrf != first.csrf
    assert second.expires == first.expires
    assert await other.identity.sign_ins.rotate(first) is None
    credentials = [(await other.caller_of(cookie=it.cookie)).credential for it in (first, second)]
    assert credentials[0] == credentials[1]
    clock.advance(sign_in.OVERLAP)
    assert await other.identify(cookie=first.cookie) == "no_token"
    assert (await other.caller_of(cookie=second.cookie)).principal.user == "local"


async def test_signing_out_ends_the_replaced_cookie_too(server: Server, clock: FakeClock) -> None:
    await server.found()
    first = await server.identity.sign_ins.sign_in("ada", PASSWORD, address=HOME)
    clock.advance(sign_in.ROTATE_AFTER)
    second = await server.identity.sign_ins.rotate(first)
    assert second is not None

    await server.identity.sign_ins.end(second)

    for session in (first, second):
        assert await server.identify(cookie=session.cookie) == "no_token"


async def test_a_session_acts_for_one_of_the_callers_organisations_with_the_same_rights(
    server: Server, clock: FakeClock
) -> None:
    await server.found()
    ada = await server.caller("ada")
    await server.identity.organisations.create("zoo", principal=ada)
    session = await server.identity.sign_ins.sign_in("ada", PASSWORD, address=HOME)
    before = (await server.caller_of(cookie=session.cookie)).principal

    await server.identity.sign_ins.act_for(session, "zoo", principal=before)
    with pytest.raises(AccountNotFound):
        await server.identity.sign_ins.act_for(session, "nix", principal=before)

    now = (await server.caller_of(cookie=session.cookie)).principal
    assert (before.tenant, now.tenant) == ("acme", "zoo")
    assert (now.scopes, now.roles) == (before.scopes, before.roles)
    clock.advance(sign_in.ROTATE_AFTER)
    rotated = await server.identity.sign_ins.rotate(session)
    assert rotated is not None
    assert (await server.caller_of(cookie=rotated.cookie)).principal.tenant == "zoo"
    assert (await server.caller("ada")).tenant == "acme"


class SlowPasswords(Passwords):
    """Passwords whose check of one takes as long as a test wants."""

    def __init__(self) -> None:
        super().__init__(PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
        self.begun, self.goes_on = asyncio.Event(), asyncio.Event()

    async def verify(self, password: str, known: str) -> bool:
        found = await super().verify(password, known)
        self.begun.set()
        await self.goes_on.wait()
        return found


@pytest.mark.parametrize("change", ["a new password", "disabled"])
async def test_a_sign_in_that_overtakes_a_change_of_the_account_begins_no_session(
    server: Server, change: str
) -> None:
    ada = await server.found()
    parts, passwords = server.identity.parts, SlowPasswords()
    sign_ins = sign_in.SignIns(parts, server.identity.callers, passwords)
    async with asyncio.TaskGroup() as group:
        signing = group.create_task(refuse(sign_ins))
        await passwords.begun.wait()
        changes = {"disabled_at": 1.0} if change == "disabled" else {"password": "another hash"}
        await parts.store.update_user(ada.id, changes)
        await parts.store.end_sessions(user=ada.id)
        passwords.goes_on.set()

    assert signing.result() == "The name or the password is wrong."
    assert await parts.store.sessions(ada.id) == []


async def refuse(sign_ins: sign_in.SignIns) -> str:
    with pytest.raises(SignInRefused) as caught:
        await sign_ins.sign_in("ada", PASSWORD, address=HOME)
    return caught.value.message
