"""Last known specs of the tools of sources, stored over restarts."""

import asyncio
import logging
from collections.abc import Sequence

from pegboard.concurrency.log_and_continue import log_and_continue
from pegboard.core.ports.catalogue_stores import (
    MAX_LAST_KNOWN_TOOLS,
    Definition,
    LastKnownTool,
    LastKnownToolStore,
)
from pegboard.core.tool import Status, ToolSpec
from pegboard.errors import PegboardError
from pegboard.registry import ToolRegistry
from pegboard.schemas.tool_definition import definition_of, digest_of, spec_of

_LOG = logging.getLogger("pegboard.catalogue")
_DAY = 86_400.0


class LastKnownTools:
    """Stores the specs of tools, to find replacements for those that are gone.

    Tools without capabilities are not stored, as nothing could replace them, unless they had some
    before. Tools that were registered by API are stored by the catalogue, and those of connectors
    that people have added with these connectors.

    Args:
        registry: The tools of the board.
        store: Stores the specs.
        most: Maximum number of tools; the latest are kept.
    """

    def __init__(
        self, registry: ToolRegistry, store: LastKnownToolStore, *, most: int = MAX_LAST_KNOWN_TOOLS
    ) -> None:
        self._registry = registry
        self._store = store
        self._most = most
        self._kept: dict[str, LastKnownTool] = {}
        self._ids: dict[str, str] = {}
        self._looked: dict[str, ToolSpec] = {}

    async def load(self) -> None:
        """Read the stored specs.

        Raises:
            Unavailable: The store cannot be read.
        """
        self._remember(await self._store.tools())

    async def refresh(self) -> None:
        """Store the specs of the current tools.

        Raises:
            Unavailable: The store cannot be written; they are stored the next time.
        """
        now = self._registry.environment.now()
        specs = [tool.spec for tool in self._registry]
        wanted = [spec for spec in specs if self._is_wanted(spec) and not self._is_unchanged(spec)]
        found = await asyncio.to_thread(
            lambda: [item for s in wanted if (item := _to_seen_tool(s, now))]
        )
        new = [item for item in found if self._is_news(item)]
        if new:
            await self._store.put(new)
            self._remember(new)
        self._looked = {spec.id: spec for spec in specs if self._is_wanted(spec)}

    def find(self, name: str) -> ToolSpec | None:
        """Return the last known spec of a tool by name or id; None if unknown."""
        item = self._kept.get(name) or self._kept.get(self._ids.get(name, ""))
        if item is None:
            return None
        try:
            version = str(item.definition["version"])
            status = Status(item.definition.get("status", Status.ACTIVE))
            return spec_of(item.definition).replace(version=version, id=item.id, status=status)
        except (PegboardError, TypeError, KeyError, ValueError):
            _LOG.warning("health: the stored definition of %s cannot be read", item.name)
            return None

    def _remember(self, items: Sequence[LastKnownTool]) -> None:
        for item in items:  # in the order in which they were seen
            self._kept.pop(item.id, None)
            self._kept[item.id] = item
        for id_ in list(self._kept)[: -self._most]:
            del self._kept[id_]
        self._ids = {item.name: item.id for item in self._kept.values()}

    def _is_wanted(self, spec: ToolSpec) -> bool:
        is_of_use = spec.capabilities or spec.id in self._kept  # its visibility may have changed
        is_owned = self._registry.environment.resource_index.governs(spec.source)
        return bool(spec.source and is_of_use and not spec.unavailable and not is_owned)

    def _is_unchanged(self, spec: ToolSpec) -> bool:
        return self._looked.get(spec.id) is spec

    def _is_news(self, item: LastKnownTool) -> bool:
        known = self._kept.get(item.id)
        if known is None or known.digest != item.digest:
            return True
        return item.seen_at - known.seen_at >= _DAY


def _to_seen_tool(spec: ToolSpec, now: float) -> LastKnownTool | None:
    """A spec as it is stored; None if its schemas cannot be read."""
    definition: Definition = {}
    with log_and_continue(_LOG, f"health: the definition of {spec.name} cannot be stored"):
        said = {"version": spec.version, "status": spec.status.value}
        definition = definition_of(spec) | said
    if not definition:
        return None
    digest = digest_of(definition)
    return LastKnownTool(
        id=spec.id, name=spec.name, digest=digest, definition=definition, seen_at=now
    )
