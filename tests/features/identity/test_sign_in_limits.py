"""Limits of claims: refusals tell that a handle is taken, so there are not many."""

import pytest
from tests.features.identity.made import Server, an_account

from pegboard.core.principal import Principal
from pegboard.errors import InvalidRequest, RateLimited
from pegboard.features.identity.accounts import LinkRequest
from pegboard.features.identity.sign_in_limits import (
    MAX_OF_ASKER,
    MAX_OF_LINK,
    MAX_OF_MAKER,
    MAX_OF_ORGANISATION,
    WINDOW,
)
from pegboard.testing import FakeClock


async def test_a_link_cannot_ask_for_names_without_end(server: Server) -> None:
    await server.found()
    ada = await server.caller("ada")
    wanted = LinkRequest(organisation="acme")
    links = [await server.identity.accounts.make_link(wanted, principal=ada) for _ in range(2)]
    for _ in range(MAX_OF_LINK):
        with pytest.raises(InvalidRequest, match="taken"):
            await server.identity.accounts.join(an_account(links[0].token, organisation=""))

    with pytest.raises(RateLimited, match="Too many attempts to make an account"):
        await server.identity.accounts.join(an_account(links[0].token, organisation=""))
    with pytest.raises(InvalidRequest, match="taken"):
        await server.identity.accounts.join(an_account(links[1].token, organisation=""))


async def claim_taken(server: Server, maker: Principal, *, times: int) -> None:
    """Ask for a handle that is taken, with new links of the same maker."""
    accounts, wanted = server.identity.accounts, LinkRequest(organisation="acme")
    number = 1 + times // MAX_OF_LINK
    links = [await accounts.make_link(wanted, principal=maker) for _ in range(number)]
    for at in range(times):
        link = links[at // MAX_OF_LINK]
        with pytest.raises(InvalidRequest, match="taken"):
            await accounts.join(an_account(link.token, organisation=""))


async def test_the_maker_of_links_cannot_have_names_asked_for_without_end(
    server: Server, clock: FakeClock
) -> None:
    await server.found()
    eve = await server.invite("eve", roles=("administrator",))
    await claim_taken(server, eve, times=MAX_OF_MAKER)

    link = await server.identity.accounts.make_link(LinkRequest(organisation="acme"), principal=eve)
    with pytest.raises(RateLimited):
        await server.identity.accounts.join(an_account(link.token, organisation=""))
    with pytest.raises(RateLimited):
        await server.identity.services.make("acme", "ada", principal=eve)

    await claim_taken(server, await server.caller("ada"), times=1)
    clock.advance(WINDOW + 1)
    await claim_taken(server, eve, times=1)


async def test_administrators_of_one_organisation_have_a_limit_together(server: Server) -> None:
    await server.found()
    for number in range(MAX_OF_ORGANISATION // MAX_OF_MAKER):
        eve = await server.invite(f"eve{number}", roles=("administrator",))
        await claim_taken(server, eve, times=MAX_OF_MAKER)

    ada = await server.caller("ada")
    with pytest.raises(RateLimited):
        await server.identity.services.make("acme", "robot", principal=ada)
    link = await server.identity.accounts.make_link(LinkRequest(), principal=ada)
    assert await server.identity.accounts.join(
        an_account(link.token, handle="zed", email="", organisation="")
    )


async def test_a_person_cannot_ask_organisations_without_end(
    server: Server, clock: FakeClock
) -> None:
    await server.found()
    await server.identity.organisations.create("zoo", principal=await server.caller("ada"))
    bob, eve = await server.invite("bob"), await server.invite("eve")
    ask = server.identity.organisations.ask_to_join
    for number in range(MAX_OF_ASKER):
        await ask(f"no{number}", principal=bob)

    for organisation in ("zoo", "no"):
        with pytest.raises(RateLimited, match="Too many attempts to ask to join"):
            await ask(organisation, principal=bob)
    await ask("zoo", principal=eve)
    clock.advance(WINDOW + 1)
    await ask("zoo", principal=bob)


async def test_accounts_that_are_made_count_towards_no_limit(server: Server) -> None:
    await server.found()
    ada = await server.caller("ada")

    for number in range(MAX_OF_MAKER + 1):
        await server.identity.services.make("acme", f"robot{number}", principal=ada)
    for number in range(MAX_OF_MAKER + 1):
        await server.invite(f"bob{number}")
