"""Roles that an organisation defines itself."""

from typing import Any

import pytest
from tests.features.identity.made import Server

from pegboard.errors import AccessDenied, AccountNotFound, InvalidRequest


async def test_a_role_gives_its_members_its_levels_until_it_is_removed(server: Server) -> None:
    await server.found()
    ada = await server.caller("ada")
    await server.identity.roles.put("acme", "support", {"shop": "write"}, principal=ada)
    bob = await server.invite("bob", roles=("support",))

    assert bob.roles == {"acme/support"}
    assert bob.levels == (("acme/shop", "write"),)

    await server.identity.roles.put("acme", "support", {"crm__*": "read"}, principal=ada)
    assert (await server.caller("bob")).levels == (("acme/crm__*", "read"),)

    await server.identity.roles.remove("acme", "support", principal=ada)
    assert (await server.caller("bob")).levels == ()
    assert await server.identity.roles.list("acme", principal=bob) == []
    with pytest.raises(AccountNotFound):
        await server.identity.roles.remove("acme", "support", principal=ada)


async def test_only_administrators_define_roles_and_only_members_see_them(server: Server) -> None:
    await server.found()
    ada = await server.caller("ada")
    bob = await server.invite("bob", roles=("editor",))
    await server.identity.organisations.create("zoo", principal=ada)

    with pytest.raises(AccessDenied):
        await server.identity.roles.put("acme", "support", {"shop": "admin"}, principal=bob)
    with pytest.raises(AccountNotFound):
        await server.identity.roles.list("zoo", principal=bob)
    with pytest.raises(AccountNotFound):
        await server.identity.roles.put("zoo", "support", {"shop": "admin"}, principal=bob)


async def test_a_role_of_one_organisation_is_none_in_another(server: Server) -> None:
    await server.found()
    ada = await server.caller("ada")
    await server.identity.organisations.create("zoo", principal=ada)
    await server.identity.roles.put("zoo", "keeper", {"*": "admin"}, principal=ada)

    with pytest.raises(InvalidRequest, match="no role 'keeper'"):
        await server.invite("bob", roles=("keeper",))


@pytest.mark.parametrize(
    ("name", "levels"),
    [
        ("editor", {"shop": "read"}),
        ("Support", {"shop": "read"}),
        ("a/b", {"shop": "read"}),
        ("support", {}),
        ("support", {"shop": "own"}),
        ("support", {"": "read"}),
        ("support", {"x" * 65: "read"}),
    ],
    ids=["shipped", "upper case", "slash", "no level", "unknown level", "empty", "long"],
)
async def test_a_role_that_breaks_the_rules_is_refused(
    server: Server, name: str, levels: dict[str, Any]
) -> None:
    await server.found()

    with pytest.raises(InvalidRequest):
        await server.identity.roles.put("acme", name, levels, principal=await server.caller("ada"))


async def test_the_title_of_a_role_hides_no_characters(server: Server) -> None:
    await server.found()
    ada = await server.caller("ada")

    with pytest.raises(InvalidRequest, match="The title has a character that is not shown"):
        await server.identity.roles.put(
            "acme", "support", {"shop": "read"}, title="Support\u202e", principal=ada
        )
