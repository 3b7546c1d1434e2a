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
    """The streams of a transport, watched.

    Args:
        transport: To a server.
        name: The server's, for the log.
    """
    async with transport as (incoming, outgoing):
        ledger = InFlightRequests(name)
        yield CheckedReceiveStream(incoming, ledger), CheckedSendStream(outgoing, ledger)


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingRequest:
    """A request that waits.

    Attributes:
        version: Of the protocol, where the request says it.
        context: Whose it is; None for what no context belongs to.
    """

    id: types.RequestId
    method: str
    version: str | None
    context: RequestContext | None


class InFlightRequests:
    """The requests of one connection that wait for an answer.

    Args:
        name: The server's, for the log.
    """

    def __init__(self, name: str = "The MCP server") -> None:
        self._name = name
        self._has_warned = False
        self._pending: dict[types.RequestId, PendingRequest] = {}
        self._version = _FIRST_VERSION

    def __len__(self) -> int:
        return len(self._pending)

    def note_sent(self, message: types.JSONRPCMessage) -> None:
        """Take note of what goes out."""
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
        """The item as the library is to see it; None for one that it need not see."""
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
                    "%s sends notifications that MCP does not allow, and they are passed over; the "
                    "first: %s %s",
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
        """An error without an id is meant for the only request that it can be meant for."""
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
    """What the library reads of a server."""

    def __init__(self, inner: Any, ledger: InFlightRequests) -> None:
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
            item = self._ledger.check_received(await self._inner.receive(), self.last_context)
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


class CheckedSendStream:
    """What the library writes to a server."""

    def __init__(self, inner: Any, ledger: InFlightRequests) -> None:
        self._inner = inner
        self._ledger = ledger

    async def send(self, item: SessionMessage) -> None:
        """Write one message."""
        self._ledger.note_sent(item.message)
        await self._inner.send(item)

    async def aclose(self) -> None:
        """Write no more."""
        await self._inner.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()
