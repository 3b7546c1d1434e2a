"""The outgoing messages of a connection: bounded, in order, with a time limit for slow clients."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from pegboard.servers.http.json_body import encode_json
from pegboard.servers.http.websocket.messages import Id

MAX_WAITING = 256
"""Maximum number of queued messages; senders wait while the queue is full."""

Send = Callable[[str], Awaitable[None]]


class SendQueue:
    """Sends messages in order, as fast as the client reads them.

    Of unsent progress only the latest of each request is stored, so that a tool with frequent
    progress does not fill the queue.

    Args:
        send: Sends one message; waits while the connection's buffer is full.
        timeout: Seconds that sending one message may take.
    """

    def __init__(self, send: Send, *, timeout: float) -> None:
        self._send = send
        self._timeout = timeout
        self._waiting: deque[str] = deque()
        self._progress: dict[Id, Mapping[str, Any]] = {}
        self._has_messages = asyncio.Event()
        self._room = asyncio.Event()

    async def put(self, message: Mapping[str, Any]) -> None:
        """Queue a message after those queued before; waits while the queue is full."""
        last = self._progress.pop(message["id"], None)
        for item in (last, message):
            if item is None:
                continue
            while len(self._waiting) >= MAX_WAITING:
                self._room.clear()
                await self._room.wait()
            self._waiting.append(encode_json(item).decode())
            self._has_messages.set()

    def put_progress(self, message: Mapping[str, Any]) -> None:
        """Queue the progress of a request; replaces its unsent progress."""
        self._progress[message["id"]] = message
        self._has_messages.set()

    async def deliver(self) -> None:
        """Send queued messages until the connection ends.

        Raises:
            TimeoutError: The client did not read a message in time.
        """
        while True:
            while self._waiting or self._progress:
                await self._deliver_one()
                self._room.set()
            self._has_messages.clear()
            await self._has_messages.wait()

    async def _deliver_one(self) -> None:
        if self._waiting:
            text = self._waiting.popleft()
        else:
            text = encode_json(self._progress.pop(next(iter(self._progress)))).decode()
        async with asyncio.timeout(self._timeout):
            await self._send(text)
