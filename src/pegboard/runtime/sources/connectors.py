"""The sources of connectors, on the board by stored definitions and opened by the first call."""

import asyncio
import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from pegboard.access.visibility import ResourceIndex
from pegboard.concurrency.log_and_continue import log_and_continue
from pegboard.concurrency.log_once import log_once
from pegboard.core.ports.resource_store import ResourceKind, ResourceSnapshot, StoredResource
from pegboard.core.ports.services import Services
from pegboard.core.ports.source import Source, SourceKind
from pegboard.core.resources_and_prompts import Prompt, Resource, board_uri
from pegboard.core.tool import Tool
from pegboard.errors import (
    ConfigError,
    InvalidRequest,
    PegboardError,
    SourceUnavailable,
    ToolNotFound,
)
from pegboard.execution.emitter import Emitter
from pegboard.execution.limits.breakers import Breaker
from pegboard.features.resources import ConnectorReport
from pegboard.registry import ToolRegistry
from pegboard.registry.change_notifier import ChangeKind
from pegboard.runtime.plugins import load_kind
from pegboard.runtime.registrations.source_config import describe_fault
from pegboard.runtime.secret_values import secret_values
from pegboard.runtime.sources.placeholder import ToolPlaceholder, from_definition, to_definition
from pegboard.runtime.sources.refresher import SourceRefresher
from pegboard.runtime.sources.state import Opener, SourceState
from pegboard.runtime.sources.supervisor import SourceSupervisor

if TYPE_CHECKING:
    from pegboard.core.ports.resource_store import ResourceStore

_LOG = logging.getLogger("pegboard.resources")
_SHOWN: tuple[ChangeKind, ...] = ("tools", "resources", "prompts")
_TAKEN = "the board file has a source of this name"

CheckAgent = Callable[[Mapping[str, Any]], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorLimits:
    """How long sources may take.

    Attributes:
        listing: Seconds for a source to open and list its tools.
        patience: Seconds for which adding a connector waits for them; None for as long as it takes.
    """

    listing: float
    patience: float | None


class Connectors:
    """Implements `ConnectorSources`, and keeps the registry in step with what is stored.

    The sources of the board file are in another supervisor, so that probes, metrics and reloads
    know nothing of those that belong to people.

    Args:
        registry: The board's tools.
        store: Stores resources and the last known definitions of their tools.
        services: What sources are opened with.
        limits: How long they may take.
        emitter: Receives a `SourceChanged` for each change of a source's status.
        board_names: The names of the sources of the board file.
        check_agent: Checks the configuration of an agent.
    """

    def __init__(
        self,
        registry: ToolRegistry,
        store: "ResourceStore",
        services: Services,
        *,
        limits: ConnectorLimits,
        emitter: Emitter,
        board_names: Callable[[], Collection[str]],
        check_agent: CheckAgent,
    ) -> None:
        self._registry = registry
        self._store = store
        self._services = services
        self._limits = limits
        self._board_names = board_names
        self._check_agent = check_agent
        self._snapshot = ResourceSnapshot()
        self._rows: dict[str, StoredResource] = {}
        self._turn = asyncio.Lock()
        self._publisher = ConnectorPublisher(registry, store, self._find_current)
        refresher = SourceRefresher(
            services, timeout=limits.listing, listed=self._publisher, emitter=emitter
        )
        self._supervisor = SourceSupervisor(refresher, patience=limits.patience)

    @property
    def states(self) -> Mapping[str, SourceState]:
        """The connectors that are open or were tried, by name."""
        return self._supervisor.states

    @property
    def names(self) -> Collection[str]:
        """The names of all connectors."""
        return self._rows.keys()

    def observe(self, name: str) -> SourceState:
        """The state of a connector; one that nobody has called yet is `pending`."""
        state = self._supervisor.states.get(name)
        return state if state is not None else self._create_state(self._rows[name])

    def check(self, kind: ResourceKind, source_kind: str, config: Mapping[str, Any]) -> str:
        """Check a configuration; returns what it uses of the server's own machine.

        Raises:
            InvalidRequest: It is wrong, or contains a secret.
        """
        if kind != "connector":
            if source_kind:
                raise InvalidRequest("Only a connector has a source_kind.")
            self._check_agent(config)
            return ""
        found, checked = _check_config(source_kind, config)
        if secret_values([checked]):
            raise InvalidRequest(
                "config: it contains a secret, which everybody who may change the connector would "
                "read: leave it out, and store it as a credential."
            )
        if found.find_local_use is None:
            return f"sources of kind '{source_kind}' run on the server's own machine"
        return found.find_local_use(checked)

    def is_taken(self, name: str) -> bool:
        """Whether the board has a source of this name that is no connector."""
        if name in self._rows:
            return False
        return name in self._board_names() or any(
            tool.spec.source == name for tool in self._registry
        )

    async def load(self) -> None:
        """Follow what is stored.

        Raises:
            Unavailable: The store cannot be read.
        """
        async with self._turn:
            snapshot = await self._store.snapshot()
            if snapshot.version != self._snapshot.version:
                await self._follow(snapshot)

    async def load_changes(self) -> None:
        """The same, reading only the version where nothing has changed.

        Raises:
            Unavailable: The store cannot be read.
        """
        if await self._store.version() != self._snapshot.version:
            await self.load()

    async def make_way(self, names: Collection[str]) -> None:
        """Leave these names to the sources of a board file, and take back all others."""
        async with self._turn:
            await self._follow(self._snapshot, taken=names)

    async def open(self, name: str) -> None:
        """Open a connector and list its tools; never raises for its failure."""
        row = self._rows.get(name)
        if row is None:
            return
        state = self._supervisor.states.get(name)
        if state is None:
            state = self._create_state(row)
            await self._supervisor.follow(new=[state])
        await state.listed.wait()

    def report(self, name: str) -> ConnectorReport:
        """The state of a connector."""
        if name not in self._rows:
            return ConnectorReport(status="failed", reason=_TAKEN)
        state = self.observe(name)
        tools = (tool.spec.name for tool in self._registry if tool.spec.source == name)
        return ConnectorReport(status=state.status, reason=state.reason, tools=tuple(tools))

    async def probe(self, resource: StoredResource) -> ConnectorReport:
        """Open a connector apart, list its tools and close it."""
        try:
            kind, config = _check_config(resource.source_kind, resource.config)
            async with asyncio.timeout(self._limits.listing):
                source = await kind.open(resource.name, config, self._services)
        except TimeoutError:
            return _fail(f"no answer within {self._limits.listing:g} s")
        except PegboardError as error:
            return _fail(error.message)
        except Exception as error:  # noqa: BLE001 - foreign code: reported as the reason
            log_once(_LOG, f"connector '{resource.name}': opening failed", error)
            return _fail(f"it failed ({type(error).__name__}); the log says why")
        return await self._list_once(resource, source)

    async def close(self) -> None:
        """Close all sources."""
        await self._supervisor.close()

    async def _list_once(self, resource: StoredResource, source: Source) -> ConnectorReport:
        try:
            async with asyncio.timeout(self._limits.listing):
                tools = await source.tools()
            return ConnectorReport(status="ok", tools=tuple(tool.spec.name for tool in tools))
        except TimeoutError:
            return _fail(f"no answer within {self._limits.listing:g} s")
        except PegboardError as error:
            return _fail(error.message)
        except Exception as error:  # noqa: BLE001 - as above
            log_once(_LOG, f"connector '{resource.name}': listing failed", error)
            return _fail(f"it failed ({type(error).__name__}); the log says why")
        finally:
            with log_and_continue(_LOG, f"connector '{resource.name}': closing failed"):
                async with asyncio.timeout(self._limits.listing):
                    await source.close()

    async def _follow(
        self, snapshot: ResourceSnapshot, *, taken: Collection[str] | None = None
    ) -> None:
        """Close what is gone or changed, and put on the board what is new, without opening it."""
        taken = self._board_names() if taken is None else taken
        rows = {
            item.name: item
            for item in snapshot.resources
            if item.kind == "connector" and item.name not in taken
        }
        gone = [name for name, row in self._rows.items() if not _is_same(row, rows.get(name))]
        states = [state for name in gone if (state := self._remove(name)) is not None]
        listed, known = snapshot.definitions, self._snapshot.definitions
        new = [
            name
            for name, row in rows.items()
            if name not in self._rows
            or (name not in self.states and listed.get(row.id) != known.get(row.id))
        ]
        self._rows.update(rows)
        index: ResourceIndex = self._registry.environment.resource_index
        shared = [it for it in snapshot.resources if it.kind != "connector" or it.name in rows]
        index.use(shared, snapshot.subscriptions)
        self._snapshot = snapshot
        for name in new:
            self._publisher.restore(name, listed.get(rows[name].id, ()), self._get)
        self._publisher.known = listed
        for kind in _SHOWN:
            self._registry.changes.notify(kind)
        async with asyncio.TaskGroup() as group:
            for state in states:
                group.create_task(self._supervisor.stop(state))

    def _remove(self, name: str) -> SourceState | None:
        """Take a connector off the board at once; its source, if it is open, is closed later."""
        del self._rows[name]
        registry = self._registry
        for tool in [tool for tool in registry if tool.spec.source == name]:
            registry.remove(tool.spec.name)
        registry.offers.replace(name, resources=(), prompts=())
        registry.environment.breakers.remove(name)
        return self._supervisor.states.pop(name, None)

    def _find_current(self, state: SourceState) -> StoredResource | None:
        """The connector of a source; None when it was deleted or changed since it was opened."""
        is_current = self._supervisor.states.get(state.name) is state
        return self._rows.get(state.name) if is_current else None

    async def _get(self, name: str) -> Tool:
        """The tool of a name, once its source is open.

        Raises:
            SourceUnavailable: It cannot be opened.
            ToolNotFound: It has no such tool any more.
        """
        source = name.partition("__")[0]
        await self.open(source)
        tool = self._registry.find(name)
        if tool is not None and not isinstance(tool, ToolPlaceholder):
            return tool
        state = self._supervisor.states.get(source)
        if state is not None and state.status == "failed":
            raise SourceUnavailable(f"'{name}' is unavailable: its source {state.describe()}")
        raise ToolNotFound(name)

    def _create_state(self, row: StoredResource) -> SourceState:
        try:
            kind, config = _check_config(row.source_kind, row.config)
        except PegboardError as error:  # of a newer version, or a plug that is not installed here
            return SourceState(
                name=row.name, kind=row.source_kind, status="failed", reason=error.message
            )
        opener = Opener(kind=kind, config=config)
        return SourceState(name=row.name, kind=kind.kind, title=kind.title, opener=opener)


class ConnectorPublisher:
    """Puts the tools of connectors on the board, and stores what they list.

    Args:
        registry: The board's tools.
        store: Stores definitions.
        find: Returns the connector of a source; None when it is gone.

    Attributes:
        known: The stored definitions by the id of the connector.
    """

    def __init__(
        self,
        registry: ToolRegistry,
        store: "ResourceStore",
        find: Callable[[SourceState], StoredResource | None],
    ) -> None:
        self._registry = registry
        self._store = store
        self._find = find
        self.known: Mapping[str, tuple[Mapping[str, Any], ...]] = {}

    def restore(
        self,
        name: str,
        definitions: Sequence[Mapping[str, Any]],
        find: Callable[[str], Any],
    ) -> None:
        """Put the last known tools of a connector on the board, without opening it."""
        tools: list[Tool] = []
        for definition in definitions:
            with log_and_continue(_LOG, f"connector '{name}': a definition cannot be read"):
                tools.append(ToolPlaceholder(from_definition(definition), find))
        self._replace(name, tools)

    async def publish_tools(self, state: SourceState, tools: Sequence[Tool]) -> str:
        """Replace the tools of a connector; returns why some are missing."""
        row = self._find(state)
        if row is None:
            return ""
        faults = self._replace(state.name, tools)
        state.tools = tuple(tool for tool in self._registry if tool.spec.source == state.name)
        kit = self._registry.environment
        if not kit.breakers.get(state.name):
            kit.breakers.add(state.name, Breaker(state.name, monotonic=kit.monotonic))
        definitions = tuple(to_definition(tool.spec) for tool in state.tools)
        if definitions != self.known.get(row.id, ()):
            with log_and_continue(_LOG, f"connector '{state.name}': storing its tools failed"):
                await self._store.put_definitions(row.id, definitions)
        return " ".join(faults)

    def publish_offers(
        self, state: SourceState, resources: Sequence[Resource], prompts: Sequence[Prompt]
    ) -> None:
        """Replace the resources and prompts of a connector."""
        if self._find(state) is not None:
            self._registry.offers.replace(state.name, resources=resources, prompts=prompts)

    def notify_updated(self, state: SourceState, uri: str) -> None:
        """Notify the subscribers of a resource that it has changed."""
        self._registry.offers.notify_update(board_uri(state.name, uri))

    def _replace(self, name: str, tools: Sequence[Tool]) -> list[str]:
        registry = self._registry
        for tool in [tool for tool in registry if tool.spec.source == name]:
            registry.remove(tool.spec.name)
        faults: list[str] = []
        for tool in tools:
            try:
                registry.add(tool)
            except PegboardError as error:
                faults.append(error.message)
        return faults


def _is_same(row: StoredResource, now: StoredResource | None) -> bool:
    """Whether the source of a connector can stay open."""
    if now is None or row.id != now.id:
        return False
    return (row.source_kind, row.config) == (now.source_kind, now.config)


def _fail(reason: str) -> ConnectorReport:
    return ConnectorReport(status="failed", reason=reason)


def _check_config(source_kind: str, config: Mapping[str, Any]) -> tuple[SourceKind, Any]:
    """The kind of a connector, and its configuration as the kind takes it.

    Raises:
        InvalidRequest: One of them is wrong.
        SourceUnavailable: The plug of the kind cannot be loaded.
    """
    try:
        kind = load_kind(source_kind)
        return kind, kind.config.model_validate(config)
    except ConfigError as error:
        raise InvalidRequest(f"source_kind: {error.message}") from error
    except ValidationError as error:
        # what pydantic says may quote a secret, so its error is not kept as the cause
        raise InvalidRequest(f"config.{describe_fault(error)}") from None
