"""Subscriptions to changes of a board: its sources, and the tools that a caller may see."""

import asyncio
from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import contextmanager
from typing import Any

from pegboard.core.event import Event, SourceChanged
from pegboard.core.principal import Principal
from pegboard.core.tool import ToolSpec
from pegboard.registry import ToolRegistry
from pegboard.registry.change_notifier import ChangeKind

DEBOUNCE = 0.1
"""Seconds between a change and its event: a source that is relisted makes many changes."""

MAX_NAMES = 500
"""Maximum number of names in one event; an event of more changes has no names."""


class BoardSubscriptions:
    """Follows the changes of a board for its subscribers, until the registry closes.

    Args:
        registry: Registry of an open board.
    """

    def __init__(self, registry: ToolRegistry) -> None:
        self.registry = registry
        self._loop = asyncio.get_running_loop()
        self._subscriptions: set[_Subscription] = set()
        registry.changes.listen(self._on_change)
        registry.environment.emitter.add(self)

    @contextmanager
    def subscribe(self, principal: Principal) -> Generator[AsyncGenerator[Mapping[str, Any]]]:
        """Subscribe to future changes that this caller may see."""
        subscription = _Subscription(self.registry, principal)
        self._subscriptions.add(subscription)
        try:
            yield subscription.events()
        finally:
            self._subscriptions.discard(subscription)

    def on_event(self, event: Event) -> None:
        """Take changes of sources; other events are ignored."""
        if isinstance(event, SourceChanged):
            self._tell(event)

    def _on_change(self, kind: ChangeKind, _uri: str) -> None:
        if kind == "tools":
            self._tell(None)

    def _tell(self, event: SourceChanged | None) -> None:
        """Wake the subscribers; called on any thread and often."""
        if self._subscriptions and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._wake, event)

    def _wake(self, event: SourceChanged | None) -> None:
        for subscription in self._subscriptions:
            subscription.wake(event)


class _Subscription:
    """The unsent changes of one subscriber: the last one of each source, and whether tools changed.

    It has no queue, so that a slow client needs no memory.
    """

    def __init__(self, registry: ToolRegistry, principal: Principal) -> None:
        self._registry = registry
        self._principal = principal
        self._sources: dict[str, SourceChanged] = {}
        self._news = asyncio.Event()
        self._seen = self._visible()

    def wake(self, event: SourceChanged | None) -> None:
        """Record a change; None for tools."""
        if event is not None:
            self._sources[event.source] = event
        self._news.set()

    async def events(self) -> AsyncGenerator[Mapping[str, Any]]:
        """Yield events until the subscription ends."""
        while True:
            await self._news.wait()
            await asyncio.sleep(DEBOUNCE)
            self._news.clear()
            sources, self._sources = self._sources, {}
            for event in sources.values():
                if self._hides(event.source):
                    continue
                yield {
                    "kind": "source_changed",
                    "source": event.source,
                    "status": event.status,
                    "tools": event.tools,
                    "reason": event.reason,
                }
            now = self._visible()
            before, self._seen = self._seen, now
            changed = _difference(before, now)
            if any(changed.values()):
                yield {"kind": "tools_changed", **_limit_names(changed)}

    def _hides(self, source: str) -> bool:
        return self._registry.environment.resource_index.hides(self._principal, source)

    def _visible(self) -> dict[str, ToolSpec]:
        tools = self._registry.visible(self._principal)
        return {tool.spec.name: tool.spec for tool in tools}


def _difference(
    before: Mapping[str, ToolSpec], now: Mapping[str, ToolSpec]
) -> dict[str, list[str]]:
    return {
        "added": sorted(now.keys() - before.keys()),
        "removed": sorted(before.keys() - now.keys()),
        "changed": sorted(
            name
            for name in now.keys() & before.keys()
            if now[name] is not before[name] and now[name] != before[name]
        ),
    }


def _limit_names(changed: Mapping[str, list[str]]) -> Mapping[str, Any]:
    if sum(map(len, changed.values())) <= MAX_NAMES:
        return {**changed, "named": True}
    return {"added": [], "removed": [], "changed": [], "named": False}
