"""Follows a server's change notifications: lists, and contents of resources."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import mcp_types as types
from mcp import MCPError
from mcp.client import Client
from mcp.client.subscriptions import SubscriptionLost
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from pegboard.concurrency.log_and_continue import log_and_continue

_LOG = logging.getLogger("pegboard.mcp")
_PAUSE = 1.0
_MIN_WAIT = 1.0
_MAX_WAIT = 120.0
_STEADY_SECONDS = 60.0
_ANSWER_SECONDS = 5.0
_MAX_URIS = 100
_REFUSALS = (types.METHOD_NOT_FOUND, types.INVALID_PARAMS, types.INVALID_REQUEST)
_LISTS = (
    types.ToolListChangedNotification,
    types.ResourceListChangedNotification,
    types.PromptListChangedNotification,
)


class ServerNotifications:
    """Follows a server's notifications on the operator's session.

    Args:
        changed: Called when a list changed.
        updated: Called with the URI of a resource whose contents changed.
    """

    def __init__(self, changed: Callable[[], None], updated: Callable[[str], None]) -> None:
        self._changed = changed
        self._updated = updated
        self._uris: tuple[str, ...] = ()
        self._uris_changed = asyncio.Event()
        self._was_open = False
        self._not_before = 0.0
        self._later: asyncio.TimerHandle | None = None

    @property
    def followed_uris(self) -> Sequence[str]:
        """The resources whose contents are followed."""
        return self._uris

    def follow_resources(self, uris: Sequence[str]) -> None:
        """Follow the contents of these resources from now on; at most the first hundred."""
        wanted = tuple(uris[:_MAX_URIS])
        if wanted != self._uris:
            self._uris = wanted
            self._uris_changed.set()

    def receive(self, message: types.ServerNotification) -> None:
        """Handle a notification of the server."""
        if isinstance(message, _LISTS):
            self._notify_soon()
        elif isinstance(message, types.ResourceUpdatedNotification):
            self._updated(message.params.uri)

    @asynccontextmanager
    async def follow(self, client: Client) -> AsyncGenerator[None]:
        """Follow while this is open; after a break, report a change that may have been missed."""
        if self._was_open and _announces_any(client):
            self._changed()
        self._was_open = True
        modern = client.protocol_version in MODERN_PROTOCOL_VERSIONS
        task = asyncio.create_task(
            self._listen(client) if modern else self._keep_subscribed(client)
        )
        try:
            yield
        finally:
            if self._later is not None:
                self._later.cancel()
                self._later = None
            task.cancel()
            await asyncio.wait([task])

    def _notify_soon(self) -> None:
        """Notify now, or after a pause if the last time was a moment ago."""
        loop = asyncio.get_running_loop()
        if self._later is None and loop.time() >= self._not_before:
            self._notify()
        elif self._later is None:
            self._later = loop.call_at(self._not_before, self._notify)

    def _notify(self) -> None:
        self._later = None
        self._not_before = asyncio.get_running_loop().time() + _PAUSE
        self._changed()

    async def _keep_subscribed(self, client: Client) -> None:
        """In the handshake era: keep one subscription for each resource."""
        able = client.server_capabilities
        if not _subscribes(able):
            return
        followed: set[str] = set()
        wait = _MIN_WAIT
        while True:
            self._uris_changed.clear()
            with log_and_continue(_LOG, "an MCP server's resources: cannot subscribe"):
                await self._subscribe_to_new(client, followed)
                await self._uris_changed.wait()
                continue
            await asyncio.sleep(wait)
            wait = min(wait * 2, _MAX_WAIT)

    async def _subscribe_to_new(self, client: Client, followed: set[str]) -> None:
        for uri in self._uris:
            if uri not in followed:
                params = types.SubscribeRequestParams(uri=uri)
                await _send_optional(client, types.SubscribeRequest(params=params))
                followed.add(uri)

    async def _listen(self, client: Client) -> None:
        """In the modern era: keep one stream open that names what is wanted."""
        wait = _MIN_WAIT
        loop = asyncio.get_running_loop()
        while _announces_any(client):
            self._uris_changed.clear()
            began = loop.time()
            with log_and_continue(_LOG, "an MCP server's notifications: cannot listen"):
                try:
                    if await self._listen_until_changed(client):
                        continue
                except MCPError as error:
                    _LOG.debug("%s cannot be followed: %s", client.server_info, error)
                    if error.code in _REFUSALS:
                        return
                except (SubscriptionLost, TimeoutError) as error:
                    _LOG.debug("%s: %s", client.server_info, error)
            if loop.time() - began >= _STEADY_SECONDS:  # cut off now and then, not refused
                wait = _MIN_WAIT
            await asyncio.sleep(wait)
            wait = min(wait * 2, _MAX_WAIT)
            with log_and_continue(_LOG, "an MCP server's lists: cannot read them again"):
                self._changed()

    async def _listen_until_changed(self, client: Client) -> bool:
        """Listen until other resources are wanted (true), or the server ends the stream."""
        again = asyncio.create_task(self._uris_changed.wait())
        try:
            async with contextlib.AsyncExitStack() as stack:
                async with asyncio.timeout(_ANSWER_SECONDS):
                    events = await stack.enter_async_context(self._stream(client))
                drained = asyncio.create_task(_drain(events))
                try:
                    await asyncio.wait([drained, again], return_when=asyncio.FIRST_COMPLETED)
                finally:
                    drained.cancel()
                    await asyncio.wait([drained])
                if not drained.cancelled():
                    drained.result()
        finally:
            again.cancel()
        return self._uris_changed.is_set()

    def _stream(self, client: Client) -> AbstractAsyncContextManager[Any]:
        able = client.server_capabilities
        return client.listen(
            tools_list_changed=_announces_changes(able.tools),
            prompts_list_changed=_announces_changes(able.prompts),
            resources_list_changed=_announces_changes(able.resources),
            resource_subscriptions=self._uris if _subscribes(able) else (),
        )


async def _drain(events: Any) -> None:
    with contextlib.suppress(SubscriptionLost):
        async for _ in events:  # each also arrives as a notification
            pass


async def _send_optional(client: Client, request: Any) -> None:
    """Send a request that a server may refuse without harm."""
    try:
        async with asyncio.timeout(_ANSWER_SECONDS):
            await client.session.send_request(request, types.EmptyResult)
    except (MCPError, ValidationError, TimeoutError) as error:
        _LOG.debug("%s was refused: %s", request.method, error)


def _announces_changes(able: Any) -> bool:
    return able is not None and bool(able.list_changed)


def _announces_any(client: Client) -> bool:
    able = client.server_capabilities
    lists = (able.tools, able.prompts, able.resources)
    return any(map(_announces_changes, lists)) or _subscribes(able)


def _subscribes(able: types.ServerCapabilities) -> bool:
    return able.resources is not None and bool(able.resources.subscribe)
