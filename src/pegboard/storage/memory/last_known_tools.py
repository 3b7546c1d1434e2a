"""The last known specs of tools, in memory."""

from collections.abc import Sequence

from pegboard.concurrency.closable_lock import ClosableLock
from pegboard.core.ports.catalogue_stores import LastKnownTool
from pegboard.storage.json_text import copy_json


class MemorySeenTools:
    """A `SeenToolStore` in memory. Safe for several threads."""

    def __init__(self, gate: ClosableLock, *, most: int) -> None:
        """Start empty; after the gate is closed, methods raise `Unavailable`."""
        self._gate = gate
        self._most = most
        self._tools: dict[str, LastKnownTool] = {}

    async def put(self, tools: Sequence[LastKnownTool]) -> None:
        kept = [copy_json(tool) for tool in tools]
        with self._gate:
            self._tools.update({tool.id: tool for tool in kept})
            newest = sorted(self._tools.values(), key=_to_spec)[-self._most :]
            self._tools = {tool.id: tool for tool in newest}

    async def tools(self) -> Sequence[LastKnownTool]:
        with self._gate:
            return list(self._tools.values())


def _to_spec(tool: LastKnownTool) -> tuple[float, str]:
    return tool.seen_at, tool.id
