"""What goes out on a connection: bounded, in order, and never waiting for ever on a slow reader."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from pegboard.servers.http.json_body import encode_json
from pegboard.servers.http.websocket.messages import Id

MAX_WAITING = 256
"""Messages that wait; whoever has one more to say waits for room."""

Send = Callable[[str], Awaitable[None]]


class SendQueue:
    """Says things in order, as fast as the client reads them.

    Progress is news only while it is new: of each request the last one is kept that has not been
    said, so that a tool that tells a lot fills nothing.

    Args:
        send: Gives one message to the connection; waits while its buffer is full.
        patience: Seconds that one message may take.
    """

    def __init__(self, send: Send, *, patience: float) -> None:
        self._send = send
        self._patience = patience
        self._waiting: deque[str] = deque()
        self._progress: dict[Id, Mapping[str, Any]] = {}
        self._news = asyncio.Event()
        self._room = asyncio.Event()

    async def say(self, message: Mapping[str, Any]) -> None:
        """Say something, after all that was said before; waits while too much waits already."""
        last = self._progress.pop(message["id"], None)
        for item in (last, message):
            if item is None:
                continue
            while len(self._waiting) >= MAX_WAITING:
                self._room.clear()
                await self._room.wait()
            self._waiting.append(encode_json(item).decode())
            self._news.set()

    def progress(self, message: Mapping[str, Any]) -> None:
        """Say how far a request is, unless something newer is to be said before it is sent."""
        self._progress[message["id"]] = message
        self._news.set()

    async def deliver(self) -> None:
        """Send what is said, for as long as the connection is there.

        Raises:
            TimeoutError: The client has not read one message in its time.
        """
        while True:
            while self._waiting or self._progress:
                await self._deliver_one()
                self._room.set()
            self._news.clear()
            await self._news.wait()

    async def _deliver_one(self) -> None:
        if self._waiting:
            text = self._waiting.popleft()
        else:
            text = encode_json(self._progress.pop(next(iter(self._progress)))).decode()
        async with asyncio.timeout(self._patience):
            await self._send(text)
