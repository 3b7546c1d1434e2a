"""Stored resources in memory."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from pegboard.access.visibility import resolve_visibility
from pegboard.concurrency.closable_lock import ClosableLock
from pegboard.core.ports.accounts.resource_store import (
    Definitions,
    PublishStatus,
    ResourceChanges,
    ResourceKind,
    StoredResource,
    Subscription,
)
from pegboard.core.principal import Principal
from pegboard.errors import InvalidRequest


class MemoryResources:
    """A `ResourceStore` in memory. Safe for several threads."""

    def __init__(self, gate: ClosableLock) -> None:
        """Start empty; after the gate is closed, methods raise `Unavailable`."""
        self._gate = gate
        self._resources: dict[str, StoredResource] = {}
        self._subscriptions: set[Subscription] = set()
        self._definitions: dict[str, Definitions] = {}
        self._changed: dict[str, int] = {}
        self._listed: dict[str, int] = {}
        self._version = 0

    async def add(self, resource: StoredResource) -> None:
        with self._gate:
            taken = ((item.kind, item.name) for item in self._resources.values())
            if (resource.kind, resource.name) in taken:
                raise InvalidRequest(f"'{resource.name}' is taken.")
            self._put(resource)

    async def replace(self, resource: StoredResource, *, keep_definitions: bool = True) -> bool:
        with self._gate:
            known = self._resources.get(resource.id)
            if known is None or known.revision != resource.revision - 1:
                return False
            self._put(resource)
            if not keep_definitions:
                self._definitions[resource.id] = ()
                self._listed[resource.id] = self._version
            return True

    async def delete(self, id: str) -> bool:  # noqa: A002 - it is known by its id
        with self._gate:
            self._version += 1
            for those in (self._definitions, self._changed, self._listed):
                those.pop(id, None)
            self._subscriptions = {it for it in self._subscriptions if it.resource != id}
            return self._resources.pop(id, None) is not None

    async def get(self, id: str) -> StoredResource | None:  # noqa: A002 - as above
        with self._gate:
            return self._resources.get(id)

    async def list_visible(
        self, principal: Principal, *, kind: ResourceKind | None = None
    ) -> Sequence[StoredResource]:
        def is_visible(item: StoredResource) -> bool:
            mine = Subscription(resource=item.id, user=principal.user)
            seen = resolve_visibility(principal, item, is_subscribed=mine in self._subscriptions)
            return seen.is_visible and kind in {None, item.kind}

        return self._list(is_visible)

    async def list_published(self, status: PublishStatus) -> Sequence[StoredResource]:
        return self._list(lambda item: item.publish_status == status)

    async def subscribe(self, subscription: Subscription) -> None:
        with self._gate:
            self._subscriptions.add(subscription)
            self._version += 1

    async def unsubscribe(self, subscription: Subscription) -> bool:
        with self._gate:
            if subscription not in self._subscriptions:
                return False
            self._subscriptions.remove(subscription)
            self._version += 1
            return True

    async def put_definitions(
        self,
        id: str,  # noqa: A002 - as above
        definitions: Sequence[Mapping[str, Any]],
    ) -> None:
        with self._gate:
            self._version += 1
            self._definitions[id] = tuple(definitions)
            self._listed[id] = self._version

    async def version(self) -> int:
        with self._gate:
            return self._version

    async def changes(self, after: int = 0) -> ResourceChanges:
        with self._gate:
            changed = [it for id_, it in self._resources.items() if self._changed[id_] > after]
            return ResourceChanges(
                version=self._version,
                ids=frozenset(self._resources),
                resources=tuple(_sort(changed)),
                definitions={
                    id_: those
                    for id_, those in self._definitions.items()
                    if self._listed[id_] > after
                },
                subscriptions=tuple(self._subscriptions),
            )

    def _put(self, resource: StoredResource) -> None:
        self._version += 1
        self._resources[resource.id] = resource
        self._changed[resource.id] = self._version

    def _list(self, keep: Callable[[StoredResource], bool]) -> Sequence[StoredResource]:
        with self._gate:
            return _sort(filter(keep, self._resources.values()))


def _sort(resources: Iterable[StoredResource]) -> list[StoredResource]:
    return sorted(resources, key=lambda item: (item.kind, item.name))
