"""Wires registered tools, the dependency graph, marketplaces and health together."""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from pegboard.concurrency.log_and_continue import log_and_continue
from pegboard.core.health import Health, HealthStatus
from pegboard.core.ports.audit_store import Prove
from pegboard.core.principal import Principal
from pegboard.core.tool import Tool
from pegboard.errors import ConfigError, DependencyCycle, PegboardError
from pegboard.features.catalogue import CatalogueService, IdempotentRequests
from pegboard.features.catalogue.build_tools import Build
from pegboard.features.dependencies import DependencyService
from pegboard.features.health import BoardHealth
from pegboard.features.health.last_known_tools import LastKnownTools
from pegboard.registry import ToolRegistry
from pegboard.registry.health import worse
from pegboard.runtime.board_file.load import LoadedBoard
from pegboard.runtime.board_file.models import ToolEntry
from pegboard.runtime.registrations.allowlist import RegistrationAllowlist
from pegboard.runtime.registrations.handlers import HandlerContext
from pegboard.runtime.registrations.shared_handlers import SharedHandlers
from pegboard.runtime.registrations.tools import build_entry_tool
from pegboard.runtime.registrations.upstreams import Upstreams
from pegboard.runtime.sources.state import SourceState
from pegboard.runtime.wiring.marketplace import create_marketplace, tokens_of

if TYPE_CHECKING:
    from pegboard.features.health.failover import FailoverPolicy
    from pegboard.storage import Storage

_LOG = logging.getLogger("pegboard.catalogue")
_LISTED = {"degraded": HealthStatus.DEGRADED, "failed": HealthStatus.UNHEALTHY}
"""How a source is that could not be listed when that was tried last, by its status."""
_SETTLE_SECONDS = 0.2
_LOOK_SECONDS = 2.0


class CatalogueParts:
    """The services of a board that build on its registry.

    Args:
        registry: The board's tools.
        storage: The board's storage.
        opening: What registered tools are opened with.
        loaded: Returns the board file in force.
        owner_of_name: Returns the source that a name belongs to; empty when it is free.
        is_shared: Whether other servers change the same storage.
        prove: Writes each change into the audit trail first, where that is required.
    """

    def __init__(
        self,
        registry: ToolRegistry,
        storage: "Storage",
        opening: HandlerContext,
        *,
        loaded: Callable[[], LoadedBoard],
        owner_of_name: Callable[[str], str],
        is_shared: bool,
        prove: Prove,
    ) -> None:
        self._loaded = loaded
        self._is_shared = is_shared
        upstreams = Upstreams(
            opening.services,
            opening.stack,
            tokens=lambda: tokens_of(self._loaded()),
            within=opening.within,
        )
        self._opening = replace(opening, is_trusted=False, upstreams=upstreams)
        self._changed = asyncio.Event()
        self._loop = asyncio.get_running_loop()
        self._follower: asyncio.Task[None] | None = None
        self._registry = registry
        self.dependencies = DependencyService(registry, storage.dependencies, prove=prove)
        self.catalogue = CatalogueService(
            registry,
            storage.catalogue,
            builds=self._builds,
            owner_of_name=owner_of_name,
            changed=self.dependencies.declare,
            check=self.dependencies.check,
            prove=prove,
        )
        self.marketplace = create_marketplace(
            registry, self.catalogue, opening.services, loaded=loaded, within=opening.within
        )
        self._seen = LastKnownTools(registry, storage.seen_tools)
        self.health = BoardHealth(
            registry,
            clock=opening.services.clock,
            graph=lambda: self.dependencies.current,
            seen=self._seen.find,
        )
        self.once = IdempotentRequests(registry.environment)
        registry.environment.emitter.add(self.health)

    async def open(self) -> None:
        """Load the stored state, once the sources are listed.

        Raises:
            ConfigError: The edges of the board file form a cycle; the message names the line.
        """
        await self.dependencies.load()
        await self.catalogue.load()
        await self._seen.load()
        await self.check_graph(self._loaded())
        self.health.replacements.refresh()
        await self._remember()
        self._registry.changes.listen(self._on_change)
        self._follower = asyncio.create_task(self._follow(), name="follow the catalogue")

    async def check_graph(self, loaded: LoadedBoard) -> None:
        """Use the edges of a board file.

        Raises:
            ConfigError: They form a cycle; the message names the line, and nothing has changed.
        """
        edges = loaded.board.graph.edges
        try:
            await self.dependencies.follow(edges)
        except DependencyCycle as error:
            node = self.dependencies.board_node
            ids = [(node(first), node(second)) for first, second in edges]
            index = max(i for i, edge in enumerate(ids) if edge in error.edges)
            where = loaded.where(("graph", "edges", index))
            raise ConfigError(f"{where}: {error.message}") from error

    def observe_sources(
        self, states: Sequence[SourceState], *, principal: Principal | None = None
    ) -> list[dict[str, Any]]:
        """The states of sources with their last known health, as a caller may know it."""
        found = [(state, self._observe(state, principal)) for state in states]
        return [
            {
                **state.to_dict(switches=self._registry.environment.switches),
                "health": health.status.value,
                "health_reason": health.reason,
            }
            for state, health in found
        ]

    def _observe(self, state: SourceState, principal: Principal | None) -> Health:
        seen, problems = self.health.source(state.name, principal=principal), state.problems
        if problems:
            seen = worse(seen, Health(status=HealthStatus.DEGRADED, reason=problems))
        listed = _LISTED.get(state.status)  # which a check of what it has says nothing of
        return seen if listed is None else worse(seen, Health(status=listed, reason=state.reason))

    @property
    def healing(self) -> "FailoverPolicy":
        """The policy of the board file for missing tools."""
        return self._loaded().board.healing.to_policy()

    def refresh_soon(self) -> None:
        """Schedule an update of the dependency graph."""
        self._changed.set()

    async def close(self) -> None:
        """Stop the background task."""
        if self._follower is not None:
            self._follower.cancel()
            await asyncio.wait([self._follower])

    def _builds(self) -> Build:
        """Return the function that builds the tools of one request."""
        loaded = self._loaded()
        allowed = RegistrationAllowlist(loaded.board.catalogue, loaded.base_dir)
        opening = replace(self._opening, refused=allowed.find_refusal, shared=SharedHandlers())

        async def build(definition: Mapping[str, Any]) -> Tool:
            try:
                entry = ToolEntry.model_validate(definition)
            except ValidationError as error:
                fault = error.errors(include_url=False, include_input=False)[0]
                place = ".".join(map(str, fault["loc"]))
                raise ConfigError(f"{place}: {fault['msg']}") from error
            return await build_entry_tool(entry, opening, where=entry.tool_id)

        return build

    async def _remember(self) -> None:
        try:
            await self._seen.refresh()
        except PegboardError as error:
            _LOG.warning("catalogue: the last known tools could not be stored: %s", error)

    def _on_change(self, _kind: str, _uri: str) -> None:
        with contextlib.suppress(RuntimeError):  # the loop has ended, and the board with it
            self._loop.call_soon_threadsafe(self._changed.set)

    async def _follow(self) -> None:
        """Keep the graph in step with the tools and with other servers."""
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(_LOOK_SECONDS if self._is_shared else None):
                    await self._changed.wait()
                    await asyncio.sleep(_SETTLE_SECONDS)
            self._changed.clear()
            with log_and_continue(_LOG, "catalogue: the dependency graph could not be updated"):
                await self._follow_once()

    async def _follow_once(self) -> None:
        self.health.replacements.refresh()
        await self._remember()
        await asyncio.sleep(0)  # each step takes long where there are thousands of tools
        try:
            if self._is_shared:
                await self.catalogue.load()
                await self.dependencies.refresh()
            await self.dependencies.declare()
            await asyncio.sleep(0)
            await self.check_graph(self._loaded())  # its tools may have come only now
        except PegboardError as error:
            _LOG.warning("catalogue: the dependency graph could not be updated: %s", error)
