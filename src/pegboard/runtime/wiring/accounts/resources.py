"""Opens the stored resources of a board, and follows those of other servers."""

import asyncio
import logging
from collections.abc import Callable, Collection
from contextlib import AsyncExitStack
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from pegboard.concurrency.log_and_continue import log_and_continue
from pegboard.core.ports.accounts.credential_store import CredentialStore
from pegboard.core.ports.accounts.resource_store import StoredResource
from pegboard.core.ports.audit_store import Prove
from pegboard.core.ports.services import Services
from pegboard.errors import PegboardError
from pegboard.features.pins import PinCheck
from pegboard.features.resources import Resources
from pegboard.registry import ToolRegistry
from pegboard.runtime.settings import Settings
from pegboard.runtime.sources.connectors import ConnectorLimits, Connectors
from pegboard.runtime.sources.owned_rules import OtherRules
from pegboard.runtime.sources.pinned_connectors import PinnedConnectors
from pegboard.runtime.sources.refresher import SourcePublisher

if TYPE_CHECKING:
    from pegboard.storage import Storage

_LOG = logging.getLogger("pegboard.resources")
_LOOK_SECONDS = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceParts:
    """The stored resources of an open board.

    Attributes:
        service: What people add, change and share.
        connectors: The sources of connectors.
        pinned: Holds changed definitions of their tools.
    """

    service: Resources
    connectors: Connectors
    pinned: PinnedConnectors


async def open_resources(
    registry: ToolRegistry,
    storage: "Storage",
    services: Services,
    settings: Settings,
    stack: AsyncExitStack,
    *,
    board_names: Callable[[], Collection[str]],
    others: OtherRules,
    prove: Prove,
) -> ResourceParts:
    """Put what is stored on the board; where a database is shared, follow other servers.

    Args:
        registry: The board's tools.
        storage: Stores resources, and the handles of their owners.
        services: What sources are opened with.
        settings: How long sources may take, and whether servers share the storage.
        stack: Closes the sources.
        board_names: The names of the sources of the board file.
        others: The rules for agents, knowledge bases and models that people add.
        prove: Writes each change to the audit trail before it takes effect, where required.

    Raises:
        Unavailable: The storage cannot be read.
    """
    gate = PinCheck(
        registry,
        storage.pins,
        policy=lambda _source: "additive",
        new=lambda _source: "accept",
        prove=prove,
    )
    guards: list[PinnedConnectors] = []

    def guard(publisher: SourcePublisher) -> PinnedConnectors:
        guards.append(PinnedConnectors(gate, publisher))
        return guards[0]

    connectors = Connectors(
        registry,
        storage.resources,
        services,
        limits=ConnectorLimits(listing=settings.list_timeout, patience=settings.open_patience),
        emitter=registry.environment.emitter,
        board_names=board_names,
        others=others,
        guard=guard,
    )
    service = Resources(
        storage.resources,
        storage.identity,
        connectors,
        lambda: registry.environment,
        disconnect=partial(disconnect, storage),
        prove=prove,
    )
    stack.push_async_callback(connectors.close)
    await connectors.load()
    if settings.database is not None:
        following = asyncio.create_task(follow(connectors), name="follow the resources")

        async def stop() -> None:
            following.cancel()
            await asyncio.wait([following])

        stack.push_async_callback(stop)
    return ResourceParts(service=service, connectors=connectors, pinned=guards[0])


async def disconnect(storage: "Storage", resource: StoredResource) -> None:
    """Forget what was stored and approved for something that its owner changes or deletes."""
    if resource.kind not in {"connector", "model"}:  # an agent may have the name of a connector
        return
    await end_credentials(storage.credentials, resource)
    await storage.pins.drop(resource.name, pins=True)


async def end_credentials(store: CredentialStore, resource: StoredResource) -> None:
    """Have others store their credentials for a source again: its owner may have moved it."""
    changes = {"state": "reconnect", "reason": "the owner of the source has changed it"}
    for stored in await store.credentials(source=resource.name):
        if stored.about.owner != resource.owner:
            await store.update(stored.about.id, changes)


async def follow(connectors: Connectors, *, every: float = _LOOK_SECONDS) -> None:
    """Follow the changes of other servers; while the storage fails, what was known holds."""
    is_away = False
    while True:
        await asyncio.sleep(every)
        with log_and_continue(_LOG, "resources: the shared state could not be read"):
            try:
                await connectors.load_changes()
            except PegboardError as error:
                if not is_away:
                    _LOG.warning("resources: the shared state could not be read: %s", error)
                is_away = True
            else:
                is_away = False
