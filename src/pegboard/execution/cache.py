"""Answers that may be given again, and one flight for many who ask the same at once."""

import asyncio
import threading
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from pegboard.core.result import Part, ResourcePart, TextPart, ToolResult
from pegboard.core.result_copy import detach
from pegboard.core.tool import Tool
from pegboard.errors import ToolTimeout

_OVERHEAD = 500  # bytes that an entry takes beside its answer, roughly


class Key(NamedTuple):
    """What makes two calls the same.

    Attributes:
        tool: The tool's `id()`: another tool of the same name has other answers. What is kept
            under a key holds the tool, so that the number is nobody else's meanwhile.
        digest: Of the arguments.
        owner: Empty when the answer is anybody's.
    """

    tool: int
    digest: str
    owner: str


class _Answer(NamedTuple):
    expires: float
    result: ToolResult
    size: int
    tool: Tool


def _no_limit() -> float | None:
    return None


class ResultCache:
    """Answers within bounds, each until its time is up; safe for several event loops.

    Args:
        most: Answers.
        max_bytes: Of all answers together, roughly; one that needs more than an eighth is not kept.
        monotonic: Seconds that only grow.
    """

    def __init__(
        self,
        *,
        most: int = 10_000,
        max_bytes: int = 64_000_000,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._most = most
        self._max_bytes = max_bytes
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._bytes = 0
        self._items: OrderedDict[Key, _Answer] = OrderedDict()
        self._flights: dict[
            tuple[Key, asyncio.AbstractEventLoop], asyncio.Future[ToolResult | None]
        ] = {}

    def get(self, key: Key) -> ToolResult | None:
        """A fresh answer, or None."""
        with self._lock:
            entry = self._items.get(key)
            if entry is None:
                return None
            if entry.expires <= self._monotonic():
                self._forget(key)
                return None
        return detach(entry.result)

    async def get_or_make(
        self,
        key: Key,
        make: Callable[[], Awaitable[ToolResult]],
        *,
        tool: Tool,
        ttl: float,
        remaining: Callable[[], float | None] = _no_limit,
    ) -> tuple[ToolResult, bool]:
        """An answer and whether it was there already; who asks while one is made waits for it.

        A failure is nobody's answer: it is raised to the one that made it, and the next in line
        tries for itself.

        Args:
            key: What is asked.
            make: Makes the answer.
            tool: What makes it.
            ttl: Seconds for which it is fresh.
            remaining: Seconds that are left to wait for somebody else's flight; None for no limit.

        Raises:
            ToolTimeout: The other flight did not end in time.
        """
        flight_key = (key, asyncio.get_running_loop())
        while True:
            known = self.get(key)
            if known is not None:
                return known, True
            flight = self._flights.get(flight_key)
            if flight is None:
                return await self._fly(flight_key, make, tool, ttl), False
            shared = await _landed(flight, remaining())
            if shared is not None:
                return detach(shared), True

    def clear(self) -> None:
        """Forget every answer."""
        with self._lock:
            self._items.clear()
            self._bytes = 0

    async def _fly(
        self,
        flight_key: tuple[Key, asyncio.AbstractEventLoop],
        make: Callable[[], Awaitable[ToolResult]],
        tool: Tool,
        ttl: float,
    ) -> ToolResult:
        key, loop = flight_key
        flight: asyncio.Future[ToolResult | None] = loop.create_future()
        self._flights[flight_key] = flight
        answer: ToolResult | None = None
        try:
            result = await make()
            if not result.is_error:
                answer = detach(result)
                self._keep(key, answer, tool, ttl)
            return result
        finally:
            self._flights.pop(flight_key, None)
            flight.set_result(answer)

    def _keep(self, key: Key, result: ToolResult, tool: Tool, ttl: float) -> None:
        size = _size_of(result)
        if size > self._max_bytes // 8:
            return
        with self._lock:
            self._forget(key)
            self._items[key] = _Answer(self._monotonic() + ttl, result, size, tool)
            self._bytes += size
            while len(self._items) > self._most or self._bytes > self._max_bytes:
                self._forget(next(iter(self._items)))

    def _forget(self, key: Key) -> None:
        entry = self._items.pop(key, None)
        if entry is not None:
            self._bytes -= entry.size


async def _landed(
    flight: "asyncio.Future[ToolResult | None]", longest_wait: float | None
) -> ToolResult | None:
    await asyncio.wait([flight], timeout=longest_wait)  # unlike wait_for, leaves the flight alone
    if flight.done():
        return flight.result()
    raise ToolTimeout(
        "Another call that asks the same did not end within this call's time.", nothing_done=True
    )


def _size_of(result: ToolResult) -> int:
    content = result.content
    size = len(content) if isinstance(content, str) else sum(map(_part_size, content))
    size += sum(len(item.data or b"") for item in result.artifacts)
    # a structured value stands beside the text that was made of it, and takes more
    return _OVERHEAD + size * (1 if result.structured is None else 4)


def _part_size(part: Part) -> int:
    match part:
        case TextPart():
            return len(part.text)
        case ResourcePart():
            return len(part.text or "") + len(part.data or b"")
        case _:
            return len(part.data)
