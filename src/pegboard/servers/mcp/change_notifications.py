"""Notifies clients when the tools, resources or prompts that they can see change."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from mcp.server.connection import Connection
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    ServerEvent,
    ToolsListChanged,
)
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS

from pegboard.core.principal import Principal
from pegboard.registry import ToolRegistry
from pegboard.registry.change_notifier import ChangeKind
from pegboard.servers.mcp.listings import CallerListing, Catalogue, ListKind
from pegboard.servers.mcp.selection import BoardSelection

DEBOUNCE = 0.1
"""Seconds between a change and its notification: a reloaded source makes many changes."""

MAX_FOLLOWED = 1_000
"""Resources that one session may subscribe to."""

_LOG = logging.getLogger("pegboard.mcp")
_KINDS: dict[ChangeKind, tuple[ListKind, ...]] = {
    "tools": ("tools",),
    "resources": ("resources", "templates"),
    "prompts": ("prompts",),
}
_EVENTS: dict[ChangeKind, ServerEvent] = {
    "tools": ToolsListChanged(),
    "resources": ResourcesListChanged(),
    "prompts": PromptsListChanged(),
}


@dataclass(eq=False, slots=True)
class LegacySession:
    """A session of a protocol version up to 2025-11-25.

    Attributes:
        followed: Board URIs of the resources that it has subscribed to.
        most: Maximum number of these.
    """

    connection: Connection
    most: int = MAX_FOLLOWED
    followed: set[str] = field(default_factory=set[str])

    def follow(self, uri: str) -> None:
        """Subscribe to changes of a resource.

        Raises:
            MCPError: The session has too many subscriptions.
        """
        if len(self.followed) >= self.most and uri not in self.followed:
            raise MCPError(
                INVALID_PARAMS, f"A session can subscribe to at most {self.most} resources"
            )
        self.followed.add(uri)


class _Channel:
    """The sessions and streams of one caller and one selection, which see the same lists."""

    def __init__(
        self, principal: Principal, selection: BoardSelection, catalogue: Catalogue
    ) -> None:
        self.principal, self.selection = principal, selection
        self.sessions: set[LegacySession] = set()
        self.streams = 0
        self.bus = InMemorySubscriptionBus()
        self.listen = ListenHandler(self.bus)
        self._catalogue = catalogue
        self._seen: dict[ListKind, CallerListing] = {}
        for kinds in _KINDS.values():
            for kind in kinds:
                self._differs(kind)

    def changed(self, kind: ChangeKind) -> bool:
        """Whether the lists of a kind differ from those of the previous call."""
        return any({item: self._differs(item) for item in _KINDS[kind]}.values())

    def _differs(self, kind: ListKind) -> bool:
        now = self._catalogue.listing(kind, self.principal, self.selection)
        before, self._seen[kind] = self._seen.get(kind), now
        return before is not None and not now.same_as(before)


class ChangeNotifications:
    """Follows a registry, and notifies sessions and streams of what they can see.

    Args:
        registry: Registry of an open board.
        catalogue: Lists of what callers can see.
        debounce: Seconds between a change and its notification.
    """

    def __init__(
        self, registry: ToolRegistry, catalogue: Catalogue, *, debounce: float = DEBOUNCE
    ) -> None:
        self._catalogue = catalogue
        self._debounce = debounce
        self._loop = asyncio.get_running_loop()
        self._channels: dict[tuple[Principal, BoardSelection], _Channel] = {}
        self._changed: set[ChangeKind] = set()
        self._updated: set[str] = set()
        self._notifying: asyncio.Task[None] | None = None
        self._sending: set[asyncio.Task[None]] = set()
        self._stop = registry.changes.listen(self._on_change)

    def subscribe(
        self, session: LegacySession, principal: Principal, selection: BoardSelection
    ) -> Callable[[], None]:
        """Notify this session until the returned function is called."""
        channel = self._channel(principal, selection)
        channel.sessions.add(session)

        def leave() -> None:
            channel.sessions.discard(session)
            self._tidy(channel)

        return leave

    @asynccontextmanager
    async def stream(
        self, principal: Principal, selection: BoardSelection
    ) -> AsyncGenerator[ListenHandler]:
        """The handler of `subscriptions/listen` for this caller."""
        channel = self._channel(principal, selection)
        channel.streams += 1
        try:
            yield channel.listen
        finally:
            channel.streams -= 1
            self._tidy(channel)

    def end_streams(self) -> None:
        """End every open `subscriptions/listen` response."""
        for channel in self._channels.values():
            channel.listen.close()

    async def close(self) -> None:
        """End all streams and stop all notifications."""
        self._stop()
        self.end_streams()
        left = [*self._sending, *([self._notifying] if self._notifying is not None else [])]
        for task in left:
            task.cancel()
        if left:
            await asyncio.wait(left)

    def _channel(self, principal: Principal, selection: BoardSelection) -> _Channel:
        key = (principal, selection)
        if key not in self._channels:
            self._channels[key] = _Channel(principal, selection, self._catalogue)
        return self._channels[key]

    def _tidy(self, channel: _Channel) -> None:
        if not channel.sessions and not channel.streams:
            self._channels.pop((channel.principal, channel.selection), None)

    def _on_change(self, kind: ChangeKind, uri: str) -> None:
        """Called by the registry, on any thread and often."""
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._record_change, kind, uri)

    def _record_change(self, kind: ChangeKind, uri: str) -> None:
        if kind == "resource":
            self._updated.add(uri)
        else:
            self._changed.add(kind)
        if self._channels and (self._notifying is None or self._notifying.done()):
            self._notifying = asyncio.create_task(self._notify())

    async def _notify(self) -> None:
        while self._changed or self._updated:
            await asyncio.sleep(self._debounce)
            changed, self._changed = self._changed, set()
            updated, self._updated = self._updated, set()
            for channel in list(self._channels.values()):
                for kind in sorted(changed):
                    if channel.changed(kind):
                        await self._notify_lists(channel, kind)
                for uri in sorted(updated):
                    await self._notify_resource(channel, uri)

    async def _notify_lists(self, channel: _Channel, kind: ChangeKind) -> None:
        await channel.bus.publish(_EVENTS[kind])
        for session in channel.sessions:
            connection = session.connection
            match kind:
                case "tools":
                    self._send(connection.send_tool_list_changed())
                case "prompts":
                    self._send(connection.send_prompt_list_changed())
                case _:
                    self._send(connection.send_resource_list_changed())

    async def _notify_resource(self, channel: _Channel, uri: str) -> None:
        if self._catalogue.resource(channel.principal, channel.selection, uri) is None:
            return
        shown = channel.selection.client_uri(uri)
        await channel.bus.publish(ResourceUpdated(uri=shown))
        for session in channel.sessions:
            if uri in session.followed:
                self._send(session.connection.send_resource_updated(shown))

    def _send(self, sending: Awaitable[Any]) -> None:
        """Send in a task of its own, so that a slow client does not delay others."""

        async def send() -> None:
            try:
                await sending
            except Exception:  # noqa: BLE001 - a task of the server: a client that left misses it
                _LOG.debug("mcp: notifying a client of a change failed", exc_info=True)

        task = asyncio.create_task(send())
        self._sending.add(task)
        task.add_done_callback(self._sending.discard)
