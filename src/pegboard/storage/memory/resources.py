"""Stored resources in memory."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from pegboard.access.visibility import resolve_visibility
from pegboard.concurrency.closable_lock import ClosableLock
from pegboard.core.ports.resource_store import (
    PublishStatus,
    ResourceKind,
    ResourceSnapshot,
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
        self._definitions: dict[str, tuple[Mapping[str, Any], ...]] = {}
        self._version = 0

    async def add(self, resource: StoredResource) -> None:
        with self._gate:
            taken = ((item.kind, item.name) for item in self._resources.values())
            if (resource.kind, resource.name) in taken:
                raise InvalidRequest(f"'{resource.name}' is taken.")
            self._resources[resource.id] = resource
            self._version += 1

    async def replace(self, resource: StoredResource) -> bool:
        with self._gate:
            known = self._resources.get(resource.id)
            if known is None or known.revision != resource.revision - 1:
                return False
            self._resources[resource.id] = resource
            self._version += 1
            return True

    async def delete(self, id: str) -> bool:  # noqa: A002 - it is known by its id
        with self._gate:
            self._version += 1
            self._definitions.pop(id, None)
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
            self._definitions[id] = tuple(definitions)
            self._version += 1

    async def version(self) -> int:
        with self._gate:
            return self._version

    async def snapshot(self) -> ResourceSnapshot:
        with self._gate:
            return ResourceSnapshot(
                version=self._version,
                resources=tuple(_sort(self._resources.values())),
                subscriptions=tuple(self._subscriptions),
                definitions=dict(self._definitions),
            )

    def _list(self, keep: Callable[[StoredResource], bool]) -> Sequence[StoredResource]:
        with self._gate:
            return _sort(filter(keep, self._resources.values()))


def _sort(resources: Iterable[StoredResource]) -> list[StoredResource]:
    return sorted(resources, key=lambda item: (item.kind, item.name))
