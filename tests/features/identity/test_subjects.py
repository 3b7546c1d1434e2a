"""About whose rights a caller may ask."""

import pytest
from tests.features.identity.made import Server, WatchedStore

from pegboard.core.ports.accounts.identity_store import PersonChange
from pegboard.errors import AccountNotFound, InvalidRequest


async def test_operators_ask_for_anyone_and_people_for_themselves(server: Server) -> None:
    await server.found()
    ada, bob = await server.caller("ada"), await server.invite("bob", roles=("editor",))
    subjects = server.identity.subjects

    assert await subjects.find("bob", principal=ada) == bob
    assert await subjects.find("bob", principal=bob) == bob


async def test_administrators_ask_for_the_members_of_their_organisation(server: Server) -> None:
    await server.found()
    await server.identity.organisations.create("zoo", principal=await server.caller("ada"))
    bob = await server.invite("bob", roles=("administrator",))
    eve = await server.invite("eve")
    await server.invite("zed", organisation="zoo")
    subjects = server.identity.subjects

    assert await subjects.find("eve", principal=bob) == eve
    for asker, person in ((eve, "bob"), (bob, "zed"), (bob, "nix")):
        with pytest.raises(AccountNotFound, match=f"There is no person '{person}'"):
            await subjects.find(person, principal=asker)


async def test_somebody_who_is_kept_out_calls_nothing(server: Server) -> None:
    await server.found()
    ada = await server.caller("ada")
    await server.invite("bob")
    await server.identity.accounts.change("bob", PersonChange(disabled=True), principal=ada)

    with pytest.raises(InvalidRequest, match="kept out"):
        await server.identity.subjects.find("bob", principal=ada)


async def test_a_person_of_others_takes_the_work_of_one_who_is_not_there(
    server: Server, watched: WatchedStore
) -> None:
    await server.found()
    await server.identity.organisations.create("zoo", principal=await server.caller("ada"))
    await server.invite("bob")
    eve = await server.invite("eve", roles=("administrator",), organisation="zoo")

    asked = [
        await watched.take(server.identity.subjects.find(person, principal=eve))
        for person in ("bob", "nix")
    ]

    assert asked[0] == asked[1]
