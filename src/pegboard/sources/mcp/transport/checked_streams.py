"""What passes between the MCP library and a server, so that each request finds its answer.

The library drops an answer that it cannot read, and a list of which one item is wrong. Here the
first is told to the request that waits for it, and the second goes on without that item. It logs
each notification that is wrong with its stack, however many there are; here the first is logged.
"""

import logging
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from contextvars import Context
from dataclasses import dataclass
from typing import Any, Self, cast

import anyio
import mcp_types as types
from mcp.shared.dispatcher import coerce_request_id
from mcp.shared.message import SessionMessage
from mcp_types.methods import parse_server_notification
from pydantic import ValidationError

from pegboard.sources.mcp.request_context import CURRENT, Exchange
from pegboard.sources.mcp.transport.list_repair import LISTS, mended
from pegboard.sources.mcp.transport.malformed_messages import (
    MalformedMessage,
    Reading,
    place_of,
    problem_of,
    read,
    reply,
)

_LOG = logging.getLogger("pegboard.mcp")
_FIRST_VERSION = "2025-11-25"
Item = SessionMessage | Exception


@asynccontextmanager
async def watched(transport: AbstractAsyncContextManager[Any], *, name: str) -> AsyncGenerator[Any]:
    """The streams of a transport, watched.

    Args:
        transport: To a server.
        name: The server's, for the log.
    """
    async with transport as (incoming, outgoing):
        ledger = Ledger(name)
        yield Incoming(incoming, ledger), Outgoing(outgoing, ledger)


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingRequest:
    """A request that waits.

    Attributes:
        version: Of the protocol, where the request says it.
        exchange: Whose it is; None for what no exchange belongs to.
    """

    id: types.RequestId
    method: str
    version: str | None
    exchange: Exchange | None


class Ledger:
    """The requests of one connection that wait for an answer.

    Args:
        name: The server's, for the log.
    """

    def __init__(self, name: str = "The MCP server") -> None:
        self._name = name
        self._has_told = False
        self._asked: dict[types.RequestId, PendingRequest] = {}
        self._version = _FIRST_VERSION

    def __len__(self) -> int:
        return len(self._asked)

    def sent(self, message: types.JSONRPCMessage) -> None:
        """Take note of what goes out."""
        params: dict[str, Any] = getattr(message, "params", None) or {}
        if isinstance(message, types.JSONRPCRequest):
            version = cast("dict[str, Any]", params.get("_meta") or {}).get(
                types.PROTOCOL_VERSION_META_KEY
            )
            self._version = version or self._version
            self._asked[coerce_request_id(message.id)] = PendingRequest(
                id=message.id, method=message.method, version=version, exchange=CURRENT.get()
            )
        elif (
            isinstance(message, types.JSONRPCNotification)
            and message.method == "notifications/cancelled"
        ):
            self._asked.pop(coerce_request_id(params.get("requestId", "")), None)

    def received(self, item: Item | MalformedMessage, context: Context | None) -> Item | None:
        """The item as the library is to see it; None for one that it need not see."""
        if not isinstance(item, SessionMessage):
            found = read(item.text) if isinstance(item, MalformedMessage) else _read(item)
            return self._told(found) if found is not None else cast("Exception", item)
        message = item.message
        if isinstance(message, types.JSONRPCNotification):
            return item if self._is_sound(message) else None
        if not isinstance(message, types.JSONRPCResponse | types.JSONRPCError):
            return item
        asked = None if message.id is None else self._asked.pop(coerce_request_id(message.id), None)
        if isinstance(message, types.JSONRPCResponse):
            if asked is not None:
                self._answered(asked, message)
        elif message.id is None:
            self._assigned(message, context)
        return item

    def _is_sound(self, message: types.JSONRPCNotification) -> bool:
        try:
            parse_server_notification(message.method, self._version, message.params)
        except ValidationError as error:
            if not self._has_told:
                self._has_told = True
                _LOG.warning(
                    "%s sends notifications that MCP does not allow, and they are passed over; the "
                    "first: %s %s",
                    *(self._name, message.method, place_of(error)),
                )
            return False
        except (KeyError, ValueError):  # of another version: the library knows
            return True
        return True

    def _answered(self, asked: PendingRequest, message: types.JSONRPCResponse) -> None:
        if asked.method == "initialize":
            self._version = str(message.result.get("protocolVersion", self._version))
        elif asked.method in LISTS:
            version = asked.version or self._version
            message.result = mended(asked.method, version, message.result)

    def _assigned(self, message: types.JSONRPCError, context: Context | None) -> None:
        """An error without an id is meant for the only request that it can be meant for."""
        waiting = list(self._asked.values())
        if context is not None:
            exchange = context.get(CURRENT)
            waiting = [asked for asked in waiting if asked.exchange is exchange]
        if len(waiting) == 1:
            message.id = waiting[0].id
            del self._asked[coerce_request_id(message.id)]

    def _told(self, found: Reading) -> Item | None:
        asked = None if found.id is None else self._asked.pop(coerce_request_id(found.id), None)
        return None if asked is None else SessionMessage(reply(asked.id, found.problem))


def _read(error: Exception) -> Reading | None:
    if not isinstance(error, ValidationError):
        return None
    for detail in error.errors(include_url=False, include_context=False):
        found: Any = detail["input"]  # the whole of it, where a field is missing
        if isinstance(found, str):
            return read(found.encode(errors="replace"))
        if isinstance(found, dict) and "id" in found:
            answer = cast("dict[str, Any]", found)
            return Reading(id=answer["id"], problem=problem_of(answer))
    return None


class Incoming:
    """What the library reads of a server."""

    def __init__(self, inner: Any, ledger: Ledger) -> None:
        self._inner = inner
        self._ledger = ledger

    @property
    def last_context(self) -> Context | None:
        """In whose context the last message came, where the transport says so."""
        return getattr(self._inner, "last_context", None)

    async def receive(self) -> Item:
        """The next message.

        Raises:
            anyio.EndOfStream: There will be none.
        """
        while True:
            item = self._ledger.received(await self._inner.receive(), self.last_context)
            if item is not None:
                return item

    async def aclose(self) -> None:
        """Read no more."""
        await self._inner.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Item:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


class Outgoing:
    """What the library writes to a server."""

    def __init__(self, inner: Any, ledger: Ledger) -> None:
        self._inner = inner
        self._ledger = ledger

    async def send(self, item: SessionMessage) -> None:
        """Write one message."""
        self._ledger.sent(item.message)
        await self._inner.send(item)

    async def aclose(self) -> None:
        """Write no more."""
        await self._inner.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
