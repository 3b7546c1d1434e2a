"""Tools that are registered in these tests, and the service that does it."""

from collections.abc import Mapping
from typing import Any

from pegboard import ToolRegistry
from pegboard.core.tool import ToolSpec
from pegboard.errors import ConfigError
from pegboard.features.catalogue import CatalogueService
from pegboard.features.catalogue.build_tools import Build
from pegboard.storage import Storage
from pegboard.tools import SchemaTool


async def build(definition: Mapping[str, Any]) -> SchemaTool:
    """The tool of a definition."""
    if "name" not in definition:
        raise ConfigError("name: missing")

    async def run(arguments: Mapping[str, Any], ctx: Any) -> str:
        return str(definition)

    spec = ToolSpec(
        name=definition["name"],
        description=definition.get("description", ""),
        input_schema={"type": "object"},
        version=definition.get("version", "1.0.0"),
    )
    return SchemaTool(spec=spec, run=run)


class Counted:
    """`build`, and how often it was asked."""

    def __init__(self) -> None:
        self.times = 0

    async def __call__(self, definition: Mapping[str, Any]) -> SchemaTool:
        self.times += 1
        return await build(definition)


def service(
    storage: Storage, registry: ToolRegistry, *, build: Build = build, **more: Any
) -> CatalogueService:
    """The service of a server; names of the source `shop` are taken."""
    return CatalogueService(
        registry,
        storage.catalogue,
        builds=lambda: build,
        owner_of_name=lambda name: "shop" if name.startswith("shop__") else "",
        **more,
    )
