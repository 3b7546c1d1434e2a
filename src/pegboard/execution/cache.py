"""Answers that may be given again, and one flight for many who ask the same at once."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable

from pegboard.core.result import ToolResult

Key = tuple[str, str, str, str]
"""Tool, version, arguments digest, owner (empty when shared)."""


class ResultCache:
    """At most `most` answers, each until its time is up; safe for several event loops."""

    def __init__(
        self, *, most: int = 10_000, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._most = most
        self._monotonic = monotonic
        self._items: OrderedDict[Key, tuple[float, ToolResult]] = OrderedDict()
        self._flights: dict[
            tuple[Key, asyncio.AbstractEventLoop], asyncio.Future[ToolResult | None]
        ] = {}

    def get(self, key: Key) -> ToolResult | None:
        """A fresh answer, or None."""
        entry = self._items.get(key)
        if entry is None:
            return None
        if entry[0] <= self._monotonic():
            self._items.pop(key, None)
            return None
        return entry[1]

    async def get_or_make(
        self, key: Key, ttl: float, make: Callable[[], Awaitable[ToolResult]]
    ) -> tuple[ToolResult, bool]:
        """An answer and whether it was there already; who asks while one is made waits for it.

        A failure is nobody's answer: it is raised to the one that made it, and the next in line
        tries for itself.
        """
        flight_key = (key, asyncio.get_running_loop())
        while True:
            known = self.get(key)
            if known is not None:
                return known, True
            flight = self._flights.get(flight_key)
            if flight is None:
                return await self._fly(flight_key, ttl, make), False
            shared = await asyncio.shield(flight)
            if shared is not None:
                return shared, True

    def clear(self) -> None:
        """Forget every answer."""
        self._items.clear()

    async def _fly(
        self,
        flight_key: tuple[Key, asyncio.AbstractEventLoop],
        ttl: float,
        make: Callable[[], Awaitable[ToolResult]],
    ) -> ToolResult:
        key, loop = flight_key
        flight: asyncio.Future[ToolResult | None] = loop.create_future()
        self._flights[flight_key] = flight
        answer: ToolResult | None = None
        try:
            result = await make()
            if not result.is_error:
                answer = result
                self._keep(key, ttl, result)
            return result
        finally:
            self._flights.pop(flight_key, None)
            flight.set_result(answer)

    def _keep(self, key: Key, ttl: float, result: ToolResult) -> None:
        self._items[key] = (self._monotonic() + ttl, result)
        self._items.move_to_end(key)
        while len(self._items) > self._most:
            self._items.popitem(last=False)
