"""Roles that organisations define themselves, in every storage."""

from msgspec import structs
from tests.storage.made import NOON

from pegboard.core.ports.accounts.role_store import OwnRole
from pegboard.storage import Storage

A_ROLE = OwnRole(
    organisation="acme",
    name="support",
    levels={"shop": "write", "crm__*": "read"},
    title="Support",
    changed_at=NOON,
    changed_by="u_ada",
)


async def test_a_role_is_stored_changed_and_removed(storage: Storage) -> None:
    await storage.roles.put(A_ROLE)
    await storage.roles.put(structs.replace(A_ROLE, organisation="zoo"))
    changed = structs.replace(A_ROLE, levels={"shop": "admin"})
    await storage.roles.put(changed)

    assert list(await storage.roles.roles(["acme"])) == [changed]
    assert len(await storage.roles.roles(["zoo", "acme"])) == 2
    assert list(await storage.roles.roles([])) == []
    assert await storage.roles.remove("acme", "support")
    assert not await storage.roles.remove("acme", "support")
    assert list(await storage.roles.roles(["acme"])) == []
