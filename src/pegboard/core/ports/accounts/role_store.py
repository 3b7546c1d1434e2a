"""The role store port: roles that organisations define themselves."""

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol

from msgspec import Struct

Level = Literal["read", "write", "admin"]


class OwnRole(Struct, frozen=True, kw_only=True):
    """A role of an organisation.

    Attributes:
        name: Unique in the organisation; no shipped role has it.
        levels: By source, or glob over the names of tools: what the role may do there.
        title: For display.
        changed_at: Unix seconds.
        changed_by: The id of a user.
    """

    organisation: str
    name: str
    levels: Mapping[str, Level]
    title: str = ""
    changed_at: float = 0.0
    changed_by: str = ""


class RoleStore(Protocol):
    """Stores the roles of organisations. Each method raises `Unavailable` when it cannot."""

    async def roles(self, organisations: Sequence[str]) -> Sequence[OwnRole]:
        """Those of some organisations, by organisation and name."""
        ...

    async def put(self, role: OwnRole) -> None:
        """Store a role, in place of that of the same name."""
        ...

    async def remove(self, organisation: str, name: str) -> bool:
        """Remove a role; whether there was one."""
        ...
