"""Kill switches in memory."""

from collections.abc import Sequence

from pegboard.concurrency.closable_lock import ClosableLock
from pegboard.core.ports.kill_switch_store import Switch, SwitchKind


class MemorySwitches:
    """A `SwitchStore` in memory. Safe for several threads."""

    def __init__(self, gate: ClosableLock) -> None:
        """Start empty; after the gate is closed, methods raise `Unavailable`."""
        self._gate = gate
        self._switches: dict[tuple[str, str], Switch] = {}

    async def put(self, switch: Switch) -> None:
        with self._gate:
            self._switches[switch.kind, switch.name] = switch

    async def remove(self, kind: SwitchKind, name: str) -> bool:
        with self._gate:
            return self._switches.pop((kind, name), None) is not None

    async def switches(self) -> Sequence[Switch]:
        with self._gate:
            return [self._switches[place] for place in sorted(self._switches)]
