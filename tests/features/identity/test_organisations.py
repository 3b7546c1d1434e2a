"""Organisations: who is let in, by whom, and what others learn."""

import pytest
from tests.features.identity.made import Server, WatchedStore

from pegboard.access.roles import ROLES
from pegboard.core.principal import LOCAL, Principal
from pegboard.errors import AccessDenied, AccountNotFound, InvalidRequest
from pegboard.features.identity.organisations import Organisations
from pegboard.testing import FakeClock


async def listed(server: Server, principal: Principal) -> list[tuple[str, str]]:
    members = await server.identity.organisations.list_members("acme", principal=principal)
    return [(member.user.handle, member.membership.state) for member in members]


async def test_a_person_waits_until_an_administrator_approves(server: Server) -> None:
    await server.found()
    ada = await server.caller("ada")
    await server.identity.organisations.create("zoo", principal=ada)
    eve = await server.invite("eve", organisation="zoo")
    bob = await server.invite("bob")

    await server.identity.organisations.ask_to_join("acme", principal=eve)

    assert (await server.caller("eve")).organisations == {"zoo"}
    assert await listed(server, ada) == [
        ("ada", "approved"),
        ("bob", "approved"),
        ("eve", "waiting"),
    ]
    assert await listed(server, bob) == [("ada", "approved"), ("bob", "approved")]
    organisations = server.identity.organisations
    assert await organisations.count_waiting(principal=ada) == {"acme": 1}
    assert await organisations.count_waiting(principal=bob) == {}

    await server.identity.organisations.approve("acme", "eve", ["editor"], principal=ada)

    assert (await server.caller("eve")).roles == {"acme/editor", "zoo/member"}


async def test_asking_an_organisation_that_does_not_exist_tells_nothing(server: Server) -> None:
    await server.found()
    bob = await server.invite("bob")

    await server.identity.organisations.ask_to_join("zoo", principal=bob)

    assert (await server.caller("bob")).organisations == {"acme"}


async def test_asking_takes_the_same_work_whether_or_not_there_is_such_an_organisation(
    server: Server, watched: WatchedStore
) -> None:
    await server.found()
    await server.identity.organisations.create("zoo", principal=await server.caller("ada"))
    bob = await server.invite("bob")
    work: list[list[str]] = []
    for organisation in ("zoo", "zoo", "acme", "nix"):
        watched.asked.clear()
        await server.identity.organisations.ask_to_join(organisation, principal=bob)
        work.append([name for name, _ in watched.asked])

    assert work == [["count_attempt", "organisation", "memberships", "add"]] * 4
    waiting = await server.identity.organisations.count_waiting(
        principal=await server.caller("ada")
    )
    assert waiting == {"acme": 0, "zoo": 1}


async def test_whose_role_ends_has_no_right_with_the_next_request(
    server: Server, clock: FakeClock
) -> None:
    await server.found()
    ada = await server.caller("ada")
    bob = await server.invite("bob", roles=("approver",))
    scopes = ("approvals:decide",)
    key = (await server.identity.keys.make("ci", scopes=scopes, principal=bob)).key
    assert (await server.caller_of(key=key)).principal.scopes == {"acme/approvals:decide"}

    await server.identity.organisations.approve("acme", "bob", ["member"], principal=ada)
    assert (await server.caller_of(key=key)).principal.scopes == frozenset()

    await server.identity.organisations.remove("acme", "bob", principal=ada)
    caller = (await server.caller_of(key=key)).principal
    assert (caller.tenant, caller.organisations) == ("", frozenset())


async def test_only_administrators_change_members(server: Server) -> None:
    await server.found()
    bob = await server.invite("bob", roles=("editor", "approver"))
    service: Organisations = server.identity.organisations

    with pytest.raises(AccessDenied):
        await service.approve("acme", "bob", ["administrator"], principal=bob)
    with pytest.raises(AccessDenied):
        await service.remove("acme", "ada", principal=bob)


async def test_a_member_may_leave(server: Server) -> None:
    await server.found()
    bob = await server.invite("bob")

    await server.identity.organisations.remove("acme", "bob", principal=bob)

    assert (await server.caller("bob")).organisations == frozenset()


async def test_a_key_that_may_not_write_neither_asks_to_join_nor_leaves(server: Server) -> None:
    await server.found()
    bob, organisations = await server.invite("bob"), server.identity.organisations
    made = await server.identity.keys.make("ci", scopes=["approvals:decide"], principal=bob)
    key = (await server.caller_of(key=made.key)).principal

    with pytest.raises(AccessDenied, match="the key lacks the scope tools:write"):
        await organisations.ask_to_join("acme", principal=key)
    with pytest.raises(AccessDenied, match="the key lacks the scope tools:write"):
        await organisations.remove("acme", "bob", principal=key)


async def test_an_organisation_keeps_an_administrator(server: Server) -> None:
    await server.found()
    ada = await server.caller("ada")

    with pytest.raises(InvalidRequest):
        await server.identity.organisations.remove("acme", "ada", principal=ada)
    with pytest.raises(InvalidRequest):
        await server.identity.organisations.approve("acme", "ada", ["editor"], principal=ada)


@pytest.mark.parametrize("roles", [[], ["owner"], ["editor", "Editor"]])
async def test_a_member_has_roles_that_exist(server: Server, roles: list[str]) -> None:
    await server.found()
    await server.invite("bob")

    with pytest.raises(InvalidRequest, match=", ".join(ROLES)):
        await server.identity.organisations.approve(
            "acme", "bob", roles, principal=await server.caller("ada")
        )


async def test_an_organisation_of_others_is_like_none(server: Server) -> None:
    await server.found()
    bob = await server.invite("bob", roles=("administrator",))
    await server.identity.organisations.create("zoo", principal=await server.caller("ada"))
    service = server.identity.organisations

    assert [item.handle for item in await service.list(principal=bob)] == ["acme"]
    for handle in ("zoo", "nix"):
        with pytest.raises(AccountNotFound, match=f"There is no organisation '{handle}'"):
            await service.list_members(handle, principal=bob)
        with pytest.raises(AccountNotFound, match=f"There is no organisation '{handle}'"):
            await service.approve(handle, "ada", ["member"], principal=bob)
        with pytest.raises(AccountNotFound, match=f"There is no organisation '{handle}'"):
            await service.remove(handle, "ada", principal=bob)


async def test_a_handle_of_an_organisation_is_given_once(server: Server) -> None:
    await server.found()

    with pytest.raises(InvalidRequest):
        await server.identity.organisations.create("ada", principal=await server.caller("ada"))
    with pytest.raises(AccessDenied):
        await server.identity.organisations.create("zoo", principal=LOCAL)


async def test_the_title_of_an_organisation_hides_no_characters(server: Server) -> None:
    await server.found()
    ada = await server.caller("ada")

    with pytest.raises(InvalidRequest, match="The title has a character that is not shown"):
        await server.identity.organisations.create("zoo", title="Acme\u2066", principal=ada)


async def test_members_are_listed_without_a_look_at_other_people(
    server: Server, watched: WatchedStore
) -> None:
    await server.found()
    ada = await server.caller("ada")
    await server.identity.organisations.create("zoo", principal=ada)
    await server.invite("eve", organisation="zoo")
    watched.asked.clear()

    [member] = await server.identity.organisations.list_members("acme", principal=ada)

    assert [asked for name, asked in watched.asked if name == "users"] == [
        f"({[member.user.id]},) {{}}"
    ]
