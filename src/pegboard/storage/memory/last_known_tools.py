"""What tools were when they were seen last, in memory."""

from collections.abc import Sequence

from pegboard.concurrency.closable_lock import ClosableLock
from pegboard.core.ports.catalogue_stores import LastKnownTool
from pegboard.storage.json_text import copied


class MemorySeenTools:
    """A `SeenToolStore` in memory. Safe for several threads."""

    def __init__(self, gate: ClosableLock, *, most: int) -> None:
        """Start with none; what is closed with the gate answers `Unavailable`."""
        self._gate = gate
        self._most = most
        self._tools: dict[str, LastKnownTool] = {}

    async def put(self, tools: Sequence[LastKnownTool]) -> None:
        kept = [copied(tool) for tool in tools]
        with self._gate:
            self._tools.update({tool.id: tool for tool in kept})
            newest = sorted(self._tools.values(), key=_seen)[-self._most :]
            self._tools = {tool.id: tool for tool in newest}

    async def tools(self) -> Sequence[LastKnownTool]:
        with self._gate:
            return list(self._tools.values())


def _seen(tool: LastKnownTool) -> tuple[float, str]:
    return tool.seen_at, tool.id
