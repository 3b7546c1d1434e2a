"""Restores stored tools: at the start, and when another server has changed them."""

import asyncio
import logging
from collections.abc import Sequence

from pegboard.core.ports.catalogue_stores import CatalogueStore, ToolVersion
from pegboard.core.tool import Tool
from pegboard.errors import PegboardError
from pegboard.features.catalogue.build_tools import Build
from pegboard.features.catalogue.registered_tools import RegisteredTools
from pegboard.registry import ToolRegistry

_LOG = logging.getLogger("pegboard.catalogue")


async def restore_tools(
    store: CatalogueStore,
    build: Build,
    *,
    registry: ToolRegistry,
    registered: RegisteredTools,
    anew: bool,
) -> None:
    """Make the registered tools match the store.

    Only names that differ are built again, and each stays registered until its replacement exists.

    Args:
        store: Stores the versions.
        build: Builds a tool from its definition.
        registry: The tools of the board.
        registered: The registered tools to update.
        anew: Build all of them again, because what may run has changed.
    """
    active = {item.name: item.version for item in await store.active()}
    stored: dict[str, list[ToolVersion]] = {name: [] for name in active}
    for item in await store.versions():
        stored.setdefault(item.name, []).append(item)
    others = {
        name: items
        for name, items in stored.items()
        if anew or not registered.is_as_stored(name, items, active=active.get(name, ""))
    }
    made = [(name, await _build_versions(items, build)) for name, items in others.items()]
    with registry.changes.together():
        for name in registered.stored.keys() - stored.keys():
            registered.restore(name, ())
        for name, tools in made:
            registered.restore(name, tools, active=active.get(name, ""))


async def _build_versions(
    items: Sequence[ToolVersion], build: Build
) -> list[tuple[ToolVersion, Tool]]:
    """Build the versions of a name, skipping those that cannot be built."""
    await asyncio.sleep(0)
    made: list[tuple[ToolVersion, Tool]] = []
    for item in items:
        try:
            made.append((item, await build(item.definition)))
        except PegboardError as error:
            _LOG.warning("catalogue: %s %s is not restored: %s", item.name, item.version, error)
    return made
