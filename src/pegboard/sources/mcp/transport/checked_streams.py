"""Wraps the streams of a transport, so that each request gets an answer.

The MCP library drops an answer that it cannot read, and a whole list for one invalid item. Here the
request gets an error, and the list goes on without the item. The library also logs the stack of
each invalid notification; here only the first is logged.
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

from pegboard.sources.mcp.request_context import CURRENT, RequestContext
from pegboard.sources.mcp.transport.list_repair import LISTS, repair_list
from pegboard.sources.mcp.transport.malformed_messages import (
    MalformedMessage,
    PartialAnswer,
    answer_problem,
    describe_first_error,
    error_reply,
    read_answer,
)

_LOG = logging.getLogger("pegboard.mcp")
_FIRST_VERSION = "2025-11-25"
Item = SessionMessage | Exception


@asynccontextmanager
async def check_streams(
    transport: AbstractAsyncContextManager[Any], *, name: str
) -> AsyncGenerator[Any]:
    """Wrap the streams of a transport.

    Args:
        transport: A connection to a server.
        name: The server in the log.
    """
    async with transport as (incoming, outgoing):
        ledger = InFlightRequests(name)
        yield CheckedReceiveStream(incoming, ledger), CheckedSendStream(outgoing, ledger)


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingRequest:
    """A request that waits for its answer.

    Attributes:
        version: The protocol version, if the request has it.
        context: Its context; None if it has none.
    """

    id: types.RequestId
    method: str
    version: str | None
    context: RequestContext | None


class InFlightRequests:
    """The requests of one connection that wait for an answer.

    Args:
        name: The server in the log.
    """

    def __init__(self, name: str = "The MCP server") -> None:
        self._name = name
        self._has_warned = False
        self._pending: dict[types.RequestId, PendingRequest] = {}
        self._version = _FIRST_VERSION

    def __len__(self) -> int:
        return len(self._pending)

    def note_sent(self, message: types.JSONRPCMessage) -> None:
        """Record a message that is sent."""
        params: dict[str, Any] = getattr(message, "params", None) or {}
        if isinstance(message, types.JSONRPCRequest):
            version = cast("dict[str, Any]", params.get("_meta") or {}).get(
                types.PROTOCOL_VERSION_META_KEY
            )
            self._version = version or self._version
            self._pending[coerce_request_id(message.id)] = PendingRequest(
                id=message.id, method=message.method, version=version, context=CURRENT.get()
            )
        elif (
            isinstance(message, types.JSONRPCNotification)
            and message.method == "notifications/cancelled"
        ):
            self._pending.pop(coerce_request_id(params.get("requestId", "")), None)

    def check_received(
        self, item: Item | MalformedMessage, variables: Context | None
    ) -> Item | None:
        """The item for the library; None for one that it should not get."""
        if not isinstance(item, SessionMessage):
            found = (
                read_answer(item.text) if isinstance(item, MalformedMessage) else _read_error(item)
            )
            return self._reply_to(found) if found is not None else cast("Exception", item)
        message = item.message
        if isinstance(message, types.JSONRPCNotification):
            return item if self._is_valid(message) else None
        if not isinstance(message, types.JSONRPCResponse | types.JSONRPCError):
            return item
        asked = (
            None if message.id is None else self._pending.pop(coerce_request_id(message.id), None)
        )
        if isinstance(message, types.JSONRPCResponse):
            if asked is not None:
                self._note_answer(asked, message)
        elif message.id is None:
            self._assign_error(message, variables)
        return item

    def _is_valid(self, message: types.JSONRPCNotification) -> bool:
        try:
            parse_server_notification(message.method, self._version, message.params)
        except ValidationError as error:
            if not self._has_warned:
                self._has_warned = True
                _LOG.warning(
                    "%s sends notifications that MCP does not allow; they are ignored. The first: "
                    "%s %s",
                    *(self._name, message.method, describe_first_error(error)),
                )
            return False
        except (KeyError, ValueError):  # of another version: the library knows
            return True
        return True

    def _note_answer(self, asked: PendingRequest, message: types.JSONRPCResponse) -> None:
        if asked.method == "initialize":
            self._version = str(message.result.get("protocolVersion", self._version))
        elif asked.method in LISTS:
            version = asked.version or self._version
            message.result = repair_list(asked.method, version, message.result)

    def _assign_error(self, message: types.JSONRPCError, variables: Context | None) -> None:
        """Give an error without an id to the only request that waits; with several, to none."""
        waiting = list(self._pending.values())
        if variables is not None:
            context = variables.get(CURRENT)
            waiting = [asked for asked in waiting if asked.context is context]
        if len(waiting) == 1:
            message.id = waiting[0].id
            del self._pending[coerce_request_id(message.id)]

    def _reply_to(self, found: PartialAnswer) -> Item | None:
        asked = None if found.id is None else self._pending.pop(coerce_request_id(found.id), None)
        return None if asked is None else SessionMessage(error_reply(asked.id, found.problem))


def _read_error(error: Exception) -> PartialAnswer | None:
    if not isinstance(error, ValidationError):
        return None
    for detail in error.errors(include_url=False, include_context=False):
        found: Any = detail["input"]  # the whole of it, where a field is missing
        if isinstance(found, str):
            return read_answer(found.encode(errors="replace"))
        if isinstance(found, dict) and "id" in found:
            answer = cast("dict[str, Any]", found)
            return PartialAnswer(id=answer["id"], problem=answer_problem(answer))
    return None


class CheckedReceiveStream:
    """The messages of a server, for the library."""

    def __init__(self, inner: Any, ledger: InFlightRequests) -> None:
        self._inner = inner
        self._ledger = ledger

    @property
    def last_context(self) -> Context | None:
        """The context of the last message, if the transport has it."""
        return getattr(self._inner, "last_context", None)

    async def receive(self) -> Item:
        """Read the next message.

        Raises:
            anyio.EndOfStream: There are no more.
        """
        while True:
            item = self._ledger.check_received(await self._inner.receive(), self.last_context)
            if item is not None:
                return item

    async def aclose(self) -> None:
        """Close the stream."""
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


class CheckedSendStream:
    """The messages of the library, for a server."""

    def __init__(self, inner: Any, ledger: InFlightRequests) -> None:
        self._inner = inner
        self._ledger = ledger

    async def send(self, item: SessionMessage) -> None:
        """Write one message."""
        self._ledger.note_sent(item.message)
        await self._inner.send(item)

    async def aclose(self) -> None:
        """Close the stream."""
        await self._inner.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
