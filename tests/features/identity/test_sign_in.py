"""Signing in: with a name or an address, within limits."""

import pytest
from tests.features.identity.made import HOME, PASSWORD, Server

from pegboard.errors import RateLimited, SignInRefused
from pegboard.features.identity import sign_in
from pegboard.features.identity.sign_in_limits import (
    MAX_OF_ACCOUNT,
    MAX_OF_ADDRESS,
    MAX_OF_BOTH,
    WINDOW,
    SignInLimits,
)
from pegboard.testing import FakeClock


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


def test_one_address_cannot_try_many_accounts(clock: FakeClock) -> None:
    limits = SignInLimits(clock.monotonic)
    for number in range(MAX_OF_ADDRESS):
        limits.begin(f"person{number}", HOME)

    with pytest.raises(RateLimited):
        limits.begin("ada", HOME)
    limits.begin("ada", "192.0.2.2")


def test_many_addresses_cannot_try_one_account(clock: FakeClock) -> None:
    limits = SignInLimits(clock.monotonic)
    for number in range(MAX_OF_ACCOUNT):
        limits.begin("ada", f"192.0.2.{number}")

    with pytest.raises(RateLimited):
        limits.begin("Ada", "198.51.100.1")
    limits.begin("bob", "198.51.100.1")


def test_attempts_that_succeed_do_not_count(clock: FakeClock) -> None:
    limits = SignInLimits(clock.monotonic)
    for _ in range(MAX_OF_ACCOUNT + 1):
        limits.begin("ada", HOME)
        limits.succeed("ada", HOME)

    limits.begin("ada", HOME)
