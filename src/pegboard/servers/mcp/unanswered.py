"""What a client over stdio has asked, and not been answered yet."""

import asyncio
import contextlib

from mcp_types import JSONRPCMessage, JSONRPCNotification, JSONRPCRequest

_ENDLESS = frozenset({"subscriptions/listen"})


class Unanswered:
    """The open requests of one client, told of every message in both directions."""

    def __init__(self) -> None:
        self._open: set[object] = set()
        self._none = asyncio.Event()
        self._none.set()

    def received(self, message: JSONRPCMessage) -> None:
        """The client says this: a request is to be answered, unless it takes it back."""
        if isinstance(message, JSONRPCRequest):
            if message.method not in _ENDLESS:
                self._open.add(message.id)
                self._none.clear()
        elif isinstance(message, JSONRPCNotification) and (
            message.method == "notifications/cancelled"
        ):
            self._settle((message.params or {}).get("requestId"))

    def sent(self, message: JSONRPCMessage) -> None:
        """The client has been told this."""
        if not isinstance(message, (JSONRPCRequest, JSONRPCNotification)):
            self._settle(message.id)

    async def wait(self, seconds: float) -> None:
        """Until every request is answered, and no longer than this."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._none.wait()

    def _settle(self, key: object) -> None:
        if isinstance(key, (str, int)):
            self._open.discard(key)
        if not self._open:
            self._none.set()
