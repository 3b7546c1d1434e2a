"""The cache of results: fresh results are given again, and identical concurrent calls share one."""

import asyncio
import threading
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import NamedTuple

from pegboard.core.result import Part, ResourcePart, TextPart, ToolResult
from pegboard.core.stores.result_copy import detach
from pegboard.core.tool import Tool
from pegboard.errors import ToolTimeout

_OVERHEAD = 500  # approximate bytes of an entry beside its result


class Key(NamedTuple):
    """What makes two calls the same.

    Attributes:
        tool: `id()` of the tool, so that another tool of the same name has other results. The
            cached entry holds the tool, so that the id is not reused meanwhile.
        digest: Of the arguments.
        owner: Empty when all callers share the result.
    """

    tool: int
    digest: str
    owner: str


class _CachedAnswer(NamedTuple):
    expires: float
    result: ToolResult
    size: int
    tool: Tool


def _no_limit() -> float | None:
    return None


class ResultCache:
    """Results within limits of number and size; safe for several event loops.

    Args:
        most: Maximum number of results.
        max_bytes: Approximate size of all results together; one above an eighth of it is not
            cached.
        monotonic: A monotonic clock, in seconds.
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
        self._items: OrderedDict[Key, _CachedAnswer] = OrderedDict()
        self._flights: dict[
            tuple[Key, asyncio.AbstractEventLoop], asyncio.Future[ToolResult | None]
        ] = {}

    def get(self, key: Key) -> ToolResult | None:
        """A fresh result, or None."""
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
        """A result, and whether it was cached; concurrent callers wait for the first one's.

        A failure is not shared: it is raised to the caller that made it, and the next one tries
        again.

        Args:
            key: Identifies the call.
            make: Makes the result.
            tool: The tool that makes it.
            ttl: Seconds for which the result is fresh.
            remaining: Seconds left to wait for another caller's result; None for no limit.

        Raises:
            ToolTimeout: The other caller's result did not arrive in time.
        """
        flight_key = (key, asyncio.get_running_loop())
        while True:
            known = self.get(key)
            if known is not None:
                return known, True
            flight = self._flights.get(flight_key)
            if flight is None:
                return await self._make_and_share(flight_key, make, tool, ttl), False
            shared = await _wait_for(flight, remaining())
            if shared is not None:
                return detach(shared), True

    def clear(self) -> None:
        """Remove every result."""
        with self._lock:
            self._items.clear()
            self._bytes = 0

    async def _make_and_share(
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
            self._items[key] = _CachedAnswer(self._monotonic() + ttl, result, size, tool)
            self._bytes += size
            while len(self._items) > self._most or self._bytes > self._max_bytes:
                self._forget(next(iter(self._items)))

    def _forget(self, key: Key) -> None:
        entry = self._items.pop(key, None)
        if entry is not None:
            self._bytes -= entry.size


async def _wait_for(
    flight: "asyncio.Future[ToolResult | None]", longest_wait: float | None
) -> ToolResult | None:
    await asyncio.wait([flight], timeout=longest_wait)  # unlike wait_for, does not cancel it
    if flight.done():
        return flight.result()
    raise ToolTimeout("An identical call did not end within this call's time.", nothing_done=True)


def _size_of(result: ToolResult) -> int:
    content = result.content
    size = len(content) if isinstance(content, str) else sum(map(_part_size, content))
    size += sum(len(item.data or b"") for item in result.artifacts)
    # a structured value takes more memory than its text
    return _OVERHEAD + size * (1 if result.structured is None else 4)


def _part_size(part: Part) -> int:
    match part:
        case TextPart():
            return len(part.text)
        case ResourcePart():
            return len(part.text or "") + len(part.data or b"")
        case _:
            return len(part.data)
