"""Roles of organisations in memory."""

from collections.abc import Sequence

from pegboard.concurrency.closable_lock import ClosableLock
from pegboard.core.ports.accounts.role_store import OwnRole


class MemoryRoles:
    """A `RoleStore` in memory. Safe for several threads."""

    def __init__(self, gate: ClosableLock) -> None:
        """Start empty; after the gate is closed, methods raise `Unavailable`."""
        self._gate = gate
        self._roles: dict[tuple[str, str], OwnRole] = {}

    async def roles(self, organisations: Sequence[str]) -> Sequence[OwnRole]:
        with self._gate:
            return [self._roles[key] for key in sorted(self._roles) if key[0] in organisations]

    async def put(self, role: OwnRole) -> None:
        with self._gate:
            self._roles[role.organisation, role.name] = role

    async def remove(self, organisation: str, name: str) -> bool:
        with self._gate:
            return self._roles.pop((organisation, name), None) is not None
