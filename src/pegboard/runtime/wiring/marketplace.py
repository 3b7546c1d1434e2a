"""Wires the marketplaces of a board file."""

import asyncio
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pegboard.core.ports.services import Services
from pegboard.core.tool import Tool
from pegboard.errors import SourceUnavailable
from pegboard.features.catalogue import CatalogueService
from pegboard.features.marketplace import CatalogueReader, Market, Marketplace
from pegboard.registry import ToolRegistry
from pegboard.runtime.board_file.load import LoadedBoard
from pegboard.runtime.board_file.marketplaces import MarketplaceEntry, PegboardEntry
from pegboard.runtime.registrations.upstream_server import open_upstream

_VARIABLE = re.compile(r"\$\{[A-Za-z_][A-Za-z0-9_]*\}")


def create_marketplace(
    registry: ToolRegistry,
    catalogue: CatalogueService,
    services: Services,
    *,
    loaded: Callable[[], LoadedBoard],
    within: float,
) -> Marketplace:
    """Create the marketplace service over the board file in force.

    Args:
        registry: The board's tools.
        catalogue: What registers.
        services: What looking may use.
        loaded: Returns the board file in force.
        within: Seconds for listing what a source has.
    """

    async def look(kind: str, config: Mapping[str, Any]) -> Sequence[Tool]:
        return await _list_source(kind, config, services, within)

    return Marketplace(
        registry,
        catalogue,
        CatalogueReader(services.http, services.clock, within=within),
        markets=lambda: markets_of(loaded()),
        look=look,
        environ=services.environ,
    )


def markets_of(loaded: LoadedBoard) -> list[Market]:
    """The marketplaces of a board file."""
    return [_market(entry, index, loaded) for index, entry in enumerate(loaded.board.marketplaces)]


def tokens_of(loaded: LoadedBoard) -> dict[str, str]:
    """The token for each MCP endpoint of a marketplace."""
    return {f"{item.place}/mcp": item.token for item in markets_of(loaded) if item.token}


def _market(entry: MarketplaceEntry, index: int, loaded: LoadedBoard) -> Market:
    if not isinstance(entry, PegboardEntry):
        return Market(
            kind=entry.kind, name=entry.name, place=entry.document, base_dir=loaded.base_dir
        )
    token = "" if entry.token is None else entry.token.get_secret_value()
    return Market(
        kind=entry.kind,
        name=entry.name,
        place=entry.url,
        token=token,
        token_as=_token_as(index, entry, loaded) if token else "",
        base_dir=loaded.base_dir,
    )


def _token_as(index: int, entry: PegboardEntry, loaded: LoadedBoard) -> str:
    """The variable that the board file uses for the token, or a generated name."""
    written: Any = None if loaded.located is None else loaded.located.value
    text = "" if written is None else str(written["marketplaces"][index].get("token", ""))
    if _VARIABLE.fullmatch(text):
        return text
    return f"${{MARKET_{re.sub('[^A-Z0-9]+', '_', entry.name.upper())}_TOKEN}}"


async def _list_source(
    kind: str, config: Mapping[str, Any], services: Services, within: float
) -> Sequence[Tool]:
    """Open a source, list its tools and close it."""
    try:
        async with asyncio.timeout(within):
            source = await open_upstream(kind, config, services)
            try:
                return await source.tools()
            finally:
                await source.close()
    except TimeoutError as error:
        raise SourceUnavailable(f"listing its tools took more than {within:g} s.") from error
