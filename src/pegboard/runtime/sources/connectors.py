"""The sources of connectors, on the board by stored definitions and opened by the first call."""

import asyncio
import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from pegboard.access.visibility import ResourceIndex
from pegboard.concurrency.log_and_continue import log_and_continue
from pegboard.core.ports.resource_store import (
    Definitions,
    ResourceChanges,
    ResourceKind,
    StoredResource,
    Subscription,
)
from pegboard.core.ports.services import Services
from pegboard.core.ports.source import SourceKind
from pegboard.core.resources_and_prompts import Prompt, Resource, board_uri
from pegboard.core.tool import Tool
from pegboard.core.wire_names import OWNER_MARK
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
from pegboard.runtime.config_fault import describe_fault
from pegboard.runtime.plugins import load_kind
from pegboard.runtime.secret_values import secret_values
from pegboard.runtime.sources.owned_rules import AgentRules
from pegboard.runtime.sources.placeholder import ToolPlaceholder, from_definition, to_definition
from pegboard.runtime.sources.refresher import SourceRefresher
from pegboard.runtime.sources.state import Opener, SourceState
from pegboard.runtime.sources.supervisor import SourceSupervisor

if TYPE_CHECKING:
    from pegboard.core.ports.resource_store import ResourceStore

_LOG = logging.getLogger("pegboard.resources")
_SHOWN: tuple[ChangeKind, ...] = ("tools", "resources", "prompts")
_TAKEN = "the board file has a source of this name"


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
        agents: The rules for agents.
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
        agents: AgentRules,
    ) -> None:
        self._registry = registry
        self._store = store
        self._services = services
        self._limits = limits
        self._board_names = board_names
        self._agents = agents
        self._known = KnownResources()
        self._rows: dict[str, StoredResource] = {}
        self._turn = asyncio.Lock()
        self._publisher = ConnectorPublisher(
            registry, store, self._find_current, known=self._known.definitions
        )
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

    def find_row(self, name: str) -> StoredResource | None:
        """The stored connector of a name."""
        return self._rows.get(name)

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
            if kind == "knowledge":
                self._agents.check_base(config)
            else:
                self._agents.check(config)
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

    def is_taken(self, kind: ResourceKind, name: str) -> bool:
        """Whether the board file, or Pegboard itself, has a source or an agent of this name."""
        if kind != "connector":
            return self._agents.is_taken(name, kind)
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
            if await self._read_changes():
                await self._follow(self._board_names())

    async def load_changes(self) -> None:
        """The same, reading only the version where nothing has changed.

        Raises:
            Unavailable: The store cannot be read.
        """
        if await self._store.version() != self._known.version:
            await self.load()

    async def make_way(self, names: Collection[str]) -> None:
        """Leave these names to the sources of a board file, and take back all others."""
        async with self._turn:
            try:
                await self._read_changes()
            except PegboardError as error:  # what was known holds
                _LOG.warning("resources: the stored state could not be read: %s", error)
            await self._follow(names)

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
        return ConnectorReport(
            status=state.status, reason=state.reason, tools=self._publisher.list_names(name)
        )

    async def probe(self, resource: StoredResource) -> ConnectorReport:
        """Open a connector apart, list its tools and close it."""
        listing = _Listing()
        refresher = SourceRefresher(
            self._services, timeout=self._limits.listing, listed=listing, emitter=Emitter()
        )
        state = self._create_state(resource)
        await refresher.refresh(state)
        status, reason = state.status, state.reason
        await refresher.close(state)
        return ConnectorReport(status=status, reason=reason, tools=listing.names)

    async def close(self) -> None:
        """Close all sources."""
        await self._supervisor.close()

    async def _read_changes(self) -> bool:
        """Read what has changed; whether there was anything."""
        changes = await self._store.changes(self._known.version)
        if changes.version == self._known.version:
            return False
        self._known.apply(changes)
        return True

    async def _follow(self, taken: Collection[str]) -> None:
        """Close what is gone or changed, and put on the board what is new, without opening it."""
        known = self._known
        rows = {
            item.name: item
            for item in known.resources.values()
            if item.kind == "connector" and item.name not in taken
        }
        states = [
            state
            for name, row in list(self._rows.items())
            if not _is_same(row, rows.get(name)) and (state := self._remove(name)) is not None
        ]
        new = [
            name
            for name, row in rows.items()
            if name not in self._rows or (name not in self.states and row.id in known.listed)
        ]
        self._rows.update(rows)
        index: ResourceIndex = self._registry.environment.resource_index
        shared = [
            it for it in known.resources.values() if it.kind != "connector" or it.name in rows
        ]
        index.use(shared, known.subscriptions)
        for name in new:
            self._registry.environment.trust.set_source(name, trusted=self._find_trust(rows[name]))
            self._publisher.restore(name, known.definitions.get(rows[name].id, ()), self._get)
        known.listed.clear()
        for kind in _SHOWN:
            self._registry.changes.notify(kind)
        async with asyncio.TaskGroup() as group:
            for state in states:
                group.create_task(self._supervisor.stop(state))

    def _remove(self, name: str) -> SourceState | None:
        """Take a connector off the board at once; its source, if it is open, is closed later."""
        del self._rows[name]
        self._publisher.remove(name)
        self._registry.environment.breakers.remove(name)
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
            raise SourceUnavailable(
                f"'{name}' is unavailable: its source '{source}' {state.describe()}",
                nothing_done=True,
                permanent=True,
            )
        raise ToolNotFound(name)

    def _find_trust(self, row: StoredResource) -> bool | None:
        """Whether its results are trusted: never people's, and operators' as the kind says."""
        if OWNER_MARK in row.name:
            return False
        try:
            kind, config = _check_config(row.source_kind, row.config)
        except PegboardError:
            return False
        return None if kind.trusts(config) else False

    def _create_state(self, row: StoredResource) -> SourceState:
        try:
            kind, config = _check_config(row.source_kind, row.config)
        except PegboardError as error:  # of a newer version, or a plug that is not installed here
            return SourceState(
                name=row.name, kind=row.source_kind, status="failed", reason=error.message
            )
        opener = Opener(kind=kind, config=config)
        return SourceState(name=row.name, kind=kind.kind, title=kind.title, opener=opener)


class KnownResources:
    """What is stored, as far as this server has read it.

    Attributes:
        version: Of what was read.
        resources: By id.
        definitions: The last known definitions of the tools of connectors, by id.
        subscriptions: Of all people.
        listed: The ids of connectors whose definitions were read since this was cleared.
    """

    def __init__(self) -> None:
        self.version = 0
        self.resources: dict[str, StoredResource] = {}
        self.definitions: dict[str, Definitions] = {}
        self.subscriptions: tuple[Subscription, ...] = ()
        self.listed: set[str] = set()

    def apply(self, changes: ResourceChanges) -> None:
        """Take what has changed."""
        self.version, self.subscriptions = changes.version, changes.subscriptions
        for id_ in self.resources.keys() - changes.ids:
            del self.resources[id_]
            self.definitions.pop(id_, None)
        self.resources |= {item.id: item for item in changes.resources}
        self.definitions |= changes.definitions
        self.listed |= changes.definitions.keys()


class ConnectorPublisher:
    """Puts the tools of connectors on the board, and stores what they list.

    Args:
        registry: The board's tools.
        store: Stores definitions.
        find: Returns the connector of a source; None when it is gone.
        known: The stored definitions by the id of the connector.
    """

    def __init__(
        self,
        registry: ToolRegistry,
        store: "ResourceStore",
        find: Callable[[SourceState], StoredResource | None],
        *,
        known: Mapping[str, Definitions],
    ) -> None:
        self._registry = registry
        self._store = store
        self._find = find
        self._known = known
        self._names: dict[str, tuple[str, ...]] = {}

    def list_names(self, name: str) -> tuple[str, ...]:
        """The names of the tools of a connector that are on the board."""
        return self._names.get(name, ())

    def remove(self, name: str) -> None:
        """Take everything of a connector off the board."""
        self._replace(name, ())
        del self._names[name]
        self._registry.offers.replace(name, resources=(), prompts=())

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
        names = self._names[state.name]
        state.tools = tuple(tool for tool in tools if tool.spec.name in names)
        kit = self._registry.environment
        if not kit.breakers.get(state.name):
            kit.breakers.add(state.name, Breaker(state.name, monotonic=kit.monotonic))
        definitions = tuple(to_definition(tool.spec) for tool in state.tools)
        if definitions != self._known.get(row.id, ()):
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
        """Replace the tools of a connector; returns why some are missing."""
        for known in self._names.get(name, ()):
            self._registry.remove(known)
        taken: dict[str, None] = {}
        faults: list[str] = []
        for tool in tools:
            try:
                taken[self._registry.add(tool).spec.name] = None
            except PegboardError as error:
                faults.append(error.message)
        self._names[name] = tuple(taken)
        return faults


class _Listing:
    """Takes what a source lists that is opened apart."""

    def __init__(self) -> None:
        self.names: tuple[str, ...] = ()

    async def publish_tools(self, state: SourceState, tools: Sequence[Tool]) -> str:  # noqa: ARG002 - as the port
        self.names = tuple(tool.spec.name for tool in tools)
        return ""

    def publish_offers(
        self, state: SourceState, resources: Sequence[Resource], prompts: Sequence[Prompt]
    ) -> None:
        """Resources and prompts are not reported."""

    def notify_updated(self, state: SourceState, uri: str) -> None:
        """Nobody has subscribed."""


def _is_same(row: StoredResource, now: StoredResource | None) -> bool:
    """Whether the source of a connector can stay open."""
    if now is None or row.id != now.id:
        return False
    return (row.source_kind, row.config) == (now.source_kind, now.config)


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
