"""What a client over stdio has asked, and not been answered yet."""

import asyncio
import contextlib

from mcp_types import JSONRPCMessage, JSONRPCNotification, JSONRPCRequest, RequestId

_ENDLESS = frozenset({"subscriptions/listen"})


class PendingRequests:
    """The open requests of one client, told of every message in both directions."""

    def __init__(self) -> None:
        self._ids: set[str] = set()
        self._open: set[str] = set()
        self._none = asyncio.Event()
        self._none.set()

    def has(self, key: RequestId) -> bool:
        """Whether a request with this id is open; the SDK takes `1` and `"1"` for one."""
        return str(key) in self._ids

    def track(self, message: JSONRPCMessage) -> None:
        """The client says this: a request is to be answered, unless it takes it back."""
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
        """The client is about to be told this: it may use the id again as soon as it reads it."""
        if not isinstance(message, (JSONRPCRequest, JSONRPCNotification)):
            self._release_id(message.id)

    def settle(self, message: JSONRPCMessage) -> None:
        """The client has been told this."""
        if isinstance(message, (JSONRPCRequest, JSONRPCNotification)):
            return
        if message.id is None or not self.has(message.id):
            self._settle_id(message.id)

    async def wait(self, seconds: float) -> None:
        """Until every request is answered, and no longer than this."""
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
