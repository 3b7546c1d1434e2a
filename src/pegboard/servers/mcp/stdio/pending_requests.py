"""The requests of a client over stdio that have no response yet."""

import asyncio
import contextlib

from mcp_types import JSONRPCMessage, JSONRPCNotification, JSONRPCRequest, RequestId

_ENDLESS = frozenset({"subscriptions/listen"})


class PendingRequests:
    """Tracks the open requests of one client, from the messages in both directions."""

    def __init__(self) -> None:
        self._ids: set[str] = set()
        self._open: set[str] = set()
        self._none = asyncio.Event()
        self._none.set()

    def has(self, key: RequestId) -> bool:
        """Whether a request with this id is open; for the SDK `1` and `"1"` are the same id."""
        return str(key) in self._ids

    def track(self, message: JSONRPCMessage) -> None:
        """Track a message from the client: a request needs a response unless it is cancelled."""
        if isinstance(message, JSONRPCRequest):
            self._ids.add(str(message.id))
            if message.method not in _ENDLESS:
                self._open.add(str(message.id))
                self._none.clear()
        elif isinstance(message, JSONRPCNotification) and (
            message.method == "notifications/cancelled"
        ):
            key = (message.params or {}).get("requestId")
            self._release_id(key)
            self._settle_id(key)

    def release(self, message: JSONRPCMessage) -> None:
        """Free the id of a response before it is written: the client may reuse it at once."""
        if not isinstance(message, (JSONRPCRequest, JSONRPCNotification)):
            self._release_id(message.id)

    def settle(self, message: JSONRPCMessage) -> None:
        """Settle the request of a response that has been written."""
        if isinstance(message, (JSONRPCRequest, JSONRPCNotification)):
            return
        if message.id is None or not self.has(message.id):
            self._settle_id(message.id)

    async def wait(self, seconds: float) -> None:
        """Wait until every request is settled, at most this long."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._none.wait()

    def _release_id(self, key: object) -> None:
        if isinstance(key, (str, int)):
            self._ids.discard(str(key))

    def _settle_id(self, key: object) -> None:
        if isinstance(key, (str, int)):
            self._open.discard(str(key))
        if not self._open:
            self._none.set()
