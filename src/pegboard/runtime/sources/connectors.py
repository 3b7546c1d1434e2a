"""The sources of connectors, on the board by stored definitions and opened by the first call."""

import asyncio
import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from pegboard.access.visibility import ResourceIndex
from pegboard.core.ports.accounts.resource_store import (
    ResourceKind,
    StoredResource,
)
from pegboard.core.ports.services import Services
from pegboard.core.ports.source import SourceKind
from pegboard.core.principal import Principal
from pegboard.core.resources_and_prompts import Prompt, Resource
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
from pegboard.features.resources import CheckedConfig, ConnectorReport
from pegboard.registry import ToolRegistry
from pegboard.registry.change_notifier import ChangeKind
from pegboard.runtime.config_fault import describe_fault
from pegboard.runtime.plugins import load_kind
from pegboard.runtime.secret_values import secret_values
from pegboard.runtime.sources.connector_publisher import ConnectorPublisher
from pegboard.runtime.sources.known_resources import KnownResources
from pegboard.runtime.sources.owned_rules import OtherRules
from pegboard.runtime.sources.placeholder import ToolPlaceholder
from pegboard.runtime.sources.refresher import SourcePublisher, SourceRefresher
from pegboard.runtime.sources.state import Opener, SourceState
from pegboard.runtime.sources.stored_skills import StoredSkills, check_skill
from pegboard.runtime.sources.supervisor import SourceSupervisor

if TYPE_CHECKING:
    from pegboard.core.ports.accounts.resource_store import ResourceStore

_LOG = logging.getLogger("pegboard.resources")
_SHOWN: tuple[ChangeKind, ...] = ("tools", "resources", "prompts")
_SOURCE_KINDS = frozenset({"connector", "skill", "model"})
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
        others: The rules for agents, knowledge bases and models.
        guard: Makes the publisher that checks what sources list, before this one publishes it.
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
        others: OtherRules,
        guard: Callable[[SourcePublisher], SourcePublisher],
    ) -> None:
        self._registry = registry
        self._store = store
        self._services = services
        self._limits = limits
        self._board_names = board_names
        self._others = others
        self._known = KnownResources()
        self._skills = StoredSkills(registry)
        self._rows: dict[str, StoredResource] = {}
        self._turn = asyncio.Lock()
        self._publisher = ConnectorPublisher(
            registry, store, self._find_current, known=self._known.definitions
        )
        refresher = SourceRefresher(
            services, timeout=limits.listing, listed=guard(self._publisher), emitter=emitter
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

    def find_model(self, name: str) -> StoredResource | None:
        """The stored language model of a name."""
        rows = self._known.resources.values()
        return next((it for it in rows if it.kind == "model" and it.name == name), None)

    def observe(self, name: str) -> SourceState:
        """The state of a connector; one that nobody has called yet is `pending`."""
        state = self._supervisor.states.get(name)
        return state if state is not None else self._create_state(self._rows[name])

    def check(self, resource: StoredResource, *, principal: Principal) -> CheckedConfig:
        """Check the configuration of a resource.

        Raises:
            AccessDenied: People add none of this kind here.
            InvalidRequest: It is wrong, or contains a secret.
        """
        kind, source_kind, config = resource.kind, resource.source_kind, resource.config
        if kind != "connector" and source_kind:
            raise InvalidRequest("Only a connector has a source_kind.")
        if kind == "skill":
            return CheckedConfig(description=check_skill(resource.name, config).description)
        if kind != "connector":
            self._others.check(kind, config, principal=principal)
            return CheckedConfig()
        found, checked = _check_config(source_kind, config)
        if secret_values([checked]):
            raise InvalidRequest(
                "config: it contains a secret, which everybody who may change the connector would "
                "read: leave it out, and store it as a credential."
            )
        if found.find_local_use is None:
            used = f"sources of kind '{source_kind}' run on the server's own machine"
            return CheckedConfig(local_use=used)
        return CheckedConfig(local_use=found.find_local_use(checked))

    def is_taken(self, kind: ResourceKind, name: str) -> bool:
        """Whether the board file, or Pegboard itself, has a source or an agent of this name.

        A connector, a skill and a model are sources of something, so a name is for one of them.
        """
        if kind not in _SOURCE_KINDS:
            return self._others.is_taken(name, kind)
        named = [it.kind for it in self._known.resources.values() if it.name == name]
        if kind in named:
            return False
        if not _SOURCE_KINDS.isdisjoint(named) or self._others.is_taken(name, kind):
            return True
        if kind == "skill" and self._skills.is_name_of_other(name):
            return True
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
        skills = {
            item.name: item
            for item in known.resources.values()
            if item.kind == "skill" and item.name not in taken and item.name not in rows
        }
        self._skills.drop(keep=skills)
        sources = {"connector": rows, "skill": skills}
        shared = [
            item
            for item in known.resources.values()
            if item.kind not in sources or item.name in sources[item.kind]
        ]
        index.use(shared, known.subscriptions)
        self._skills.publish(skills)
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
