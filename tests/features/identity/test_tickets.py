"""Tickets of WebSockets: one use, one origin, one short time, on every server."""

import pytest
from tests.features.identity.made import Server

from pegboard.core.principal import Principal
from pegboard.errors import Overloaded
from pegboard.features.identity.tickets import LIFETIME, MAX_TICKETS
from pegboard.testing import FakeClock

ANN = Principal(id="ann")
PAGE = "https://board.example"
KEY = "key:key_1"


async def give(server: Server, *, origin: str | None = None, principal: Principal = ANN) -> str:
    return await server.identity.tickets.give(principal, KEY, origin=origin)


async def test_a_ticket_is_redeemed_once_on_any_server(server: Server, other: Server) -> None:
    ticket = await give(server)

    redeemed = [await it.identity.tickets.redeem(ticket, origin=PAGE) for it in (other, server)]

    assert redeemed == [KEY, None]


@pytest.mark.parametrize(
    ("later", "credential"),
    [
        pytest.param(LIFETIME - 0.1, KEY, id="in time"),
        pytest.param(LIFETIME, None, id="too late"),
    ],
)
async def test_a_ticket_has_its_time(
    server: Server, clock: FakeClock, later: float, credential: str | None
) -> None:
    ticket = await give(server)

    clock.advance(later)

    assert await server.identity.tickets.redeem(ticket, origin=None) == credential


@pytest.mark.parametrize("origin", [None, "https://evil.example", f"{PAGE}:8443", "null", ""])
async def test_a_ticket_of_a_page_is_refused_elsewhere_and_used_up(
    server: Server, origin: str | None
) -> None:
    ticket = await give(server, origin=PAGE)

    assert await server.identity.tickets.redeem(ticket, origin=origin) is None
    assert await server.identity.tickets.redeem(ticket, origin=PAGE) is None


@pytest.mark.parametrize("made_up", ["", "x", "\udcff", "ä" * 10_000])
async def test_a_ticket_that_was_never_given_opens_nothing(server: Server, made_up: str) -> None:
    await give(server)

    assert await server.identity.tickets.redeem(made_up, origin=None) is None


async def test_too_many_unused_tickets_of_one_caller_are_refused_until_one_is_used(
    server: Server,
) -> None:
    first, *_ = [await give(server) for _ in range(MAX_TICKETS)]

    with pytest.raises(Overloaded) as refused:
        await give(server)
    other_caller = await give(server, principal=Principal(id="bob"))
    await server.identity.tickets.redeem(first, origin=None)
    again = await give(server)

    assert 0 < (refused.value.retry_after or 0) <= LIFETIME
    for ticket in (other_caller, again):
        assert await server.identity.tickets.redeem(ticket, origin=None) == KEY
