"""Hearing what changes on a server: lists, and resources that somebody may have read."""

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
_FIRST_WAIT = 1.0
_LONGEST_WAIT = 120.0
_STEADY_SECONDS = 60.0
_ANSWER_SECONDS = 5.0
_MOST_URIS = 100
_REFUSALS = (types.METHOD_NOT_FOUND, types.INVALID_PARAMS, types.INVALID_REQUEST)
_LISTS = (
    types.ToolListChangedNotification,
    types.ResourceListChangedNotification,
    types.PromptListChangedNotification,
)


class ServerNotifications:
    """Follows a server on the operator's session.

    Args:
        changed: Called when a list changed.
        updated: Called with the URI of a resource whose contents changed.
    """

    def __init__(self, changed: Callable[[], None], updated: Callable[[str], None]) -> None:
        self._changed = changed
        self._updated = updated
        self._uris: tuple[str, ...] = ()
        self._again = asyncio.Event()
        self._was_open = False
        self._not_before = 0.0
        self._later: asyncio.TimerHandle | None = None

    @property
    def followed(self) -> Sequence[str]:
        """The resources whose contents are followed."""
        return self._uris

    def resources(self, uris: Sequence[str]) -> None:
        """Follow the contents of these from now on; of very many, the first hundred."""
        wanted = tuple(uris[:_MOST_URIS])
        if wanted != self._uris:
            self._uris = wanted
            self._again.set()

    def heard(self, message: types.ServerNotification) -> None:
        """Take note of something that the server said unasked."""
        if isinstance(message, _LISTS):
            self._tell_soon()
        elif isinstance(message, types.ResourceUpdatedNotification):
            self._updated(message.params.uri)

    @asynccontextmanager
    async def of(self, client: Client) -> AsyncGenerator[None]:
        """Follow while this is open. After a break, what was missed is made good by a new list."""
        if self._was_open and _tells(client):
            self._changed()
        self._was_open = True
        modern = client.protocol_version in MODERN_PROTOCOL_VERSIONS
        task = asyncio.create_task(self._listen(client) if modern else self._subscribe(client))
        try:
            yield
        finally:
            if self._later is not None:
                self._later.cancel()
                self._later = None
            task.cancel()
            await asyncio.wait([task])

    def _tell_soon(self) -> None:
        """A server that says so without end has its lists read once in a while."""
        loop = asyncio.get_running_loop()
        if self._later is None and loop.time() >= self._not_before:
            self._tell()
        elif self._later is None:
            self._later = loop.call_at(self._not_before, self._tell)

    def _tell(self) -> None:
        self._later = None
        self._not_before = asyncio.get_running_loop().time() + _PAUSE
        self._changed()

    async def _subscribe(self, client: Client) -> None:
        """The handshake era: one subscription for each resource."""
        able = client.server_capabilities
        if not _subscribes(able):
            return
        followed: set[str] = set()
        wait = _FIRST_WAIT
        while True:
            self._again.clear()
            with log_and_continue(_LOG, "what resources of an MCP server say anew is not heard"):
                await self._subscribed(client, followed)
                await self._again.wait()
                continue
            await asyncio.sleep(wait)
            wait = min(wait * 2, _LONGEST_WAIT)

    async def _subscribed(self, client: Client, followed: set[str]) -> None:
        for uri in self._uris:
            if uri not in followed:
                params = types.SubscribeRequestParams(uri=uri)
                await _quietly(client, types.SubscribeRequest(params=params))
                followed.add(uri)

    async def _listen(self, client: Client) -> None:
        """The modern era: one stream that names what is wanted, opened again when it breaks."""
        wait = _FIRST_WAIT
        loop = asyncio.get_running_loop()
        while _tells(client):
            self._again.clear()
            began = loop.time()
            with log_and_continue(_LOG, "what changes on an MCP server is not heard"):
                try:
                    if await self._until_again(client):
                        continue
                except MCPError as error:
                    _LOG.debug("%s cannot be followed: %s", client.server_info, error)
                    if error.code in _REFUSALS:
                        return
                except (SubscriptionLost, TimeoutError) as error:
                    _LOG.debug("%s: %s", client.server_info, error)
            if loop.time() - began >= _STEADY_SECONDS:  # cut off now and then, not refused
                wait = _FIRST_WAIT
            await asyncio.sleep(wait)
            wait = min(wait * 2, _LONGEST_WAIT)
            with log_and_continue(_LOG, "lists of an MCP server cannot be read anew"):
                self._changed()

    async def _until_again(self, client: Client) -> bool:
        """Listen until something else is wanted (true), or the server ends it."""
        again = asyncio.create_task(self._again.wait())
        try:
            async with contextlib.AsyncExitStack() as stack:
                async with asyncio.timeout(_ANSWER_SECONDS):
                    events = await stack.enter_async_context(self._stream(client))
                drained = asyncio.create_task(_drained(events))
                try:
                    await asyncio.wait([drained, again], return_when=asyncio.FIRST_COMPLETED)
                finally:
                    drained.cancel()
                    await asyncio.wait([drained])
                if not drained.cancelled():
                    drained.result()
        finally:
            again.cancel()
        return self._again.is_set()

    def _stream(self, client: Client) -> AbstractAsyncContextManager[Any]:
        able = client.server_capabilities
        return client.listen(
            tools_list_changed=_says(able.tools),
            prompts_list_changed=_says(able.prompts),
            resources_list_changed=_says(able.resources),
            resource_subscriptions=self._uris if _subscribes(able) else (),
        )


async def _drained(events: Any) -> None:
    with contextlib.suppress(SubscriptionLost):
        async for _ in events:  # each is also heard as a notification
            pass


async def _quietly(client: Client, request: Any) -> None:
    """Ask for something that a server may refuse without harm."""
    try:
        async with asyncio.timeout(_ANSWER_SECONDS):
            await client.session.send_request(request, types.EmptyResult)
    except (MCPError, ValidationError, TimeoutError) as error:
        _LOG.debug("%s was refused: %s", request.method, error)


def _says(able: Any) -> bool:
    return able is not None and bool(able.list_changed)


def _tells(client: Client) -> bool:
    able = client.server_capabilities
    lists = (able.tools, able.prompts, able.resources)
    return any(map(_says, lists)) or _subscribes(able)


def _subscribes(able: types.ServerCapabilities) -> bool:
    return able.resources is not None and bool(able.resources.subscribe)
