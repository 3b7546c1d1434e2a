"""The approvals that a turn asks for, in the order of its calls."""

import asyncio
from collections.abc import AsyncGenerator, Hashable
from contextlib import aclosing
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pegboard.features.conversations import ChatEvent

_SECONDS = 0.2
"""How long the approvals of one turn may take to arrive after the first."""
_CALL = ("message", "round", "step_id", "parent", "turn", "call")
"""What tells a call from all others of a conversation."""


async def in_call_order(events: "AsyncGenerator[ChatEvent]") -> "AsyncGenerator[ChatEvent]":
    """Events as they come, but approvals that come together in the order in which calls started.

    The calls of a turn are made at once, and some take longer to find that they need an approval.
    """
    coming: asyncio.Queue[ChatEvent | None] = asyncio.Queue()
    started: dict[Hashable, int] = {}
    held: list[ChatEvent] = []
    until: float | None = None
    clock = asyncio.get_running_loop().time
    pumping = asyncio.create_task(_pump(events, coming))
    try:
        while True:
            try:
                async with asyncio.timeout_at(until):
                    event = await coming.get()
                is_over = event is None
            except TimeoutError:
                event, is_over = None, False
            if event is not None and event.event == "approval_required":
                until = until or clock() + _SECONDS
                held.append(event)
            elif event is not None:
                if event.event == "tool_started":
                    started.setdefault(_call_of(event), len(started))
                yield event
            if until is not None and (is_over or clock() >= until):
                held.sort(key=lambda item: started.get(_call_of(item), len(started)))
                while held:
                    yield held.pop(0)
                until = None
            if is_over:
                await pumping
                return
    finally:
        pumping.cancel()
        await asyncio.wait([pumping])
        if not pumping.cancelled():
            pumping.exception()  # it is no news to a reader who has left


async def _pump(
    events: "AsyncGenerator[ChatEvent]", coming: "asyncio.Queue[ChatEvent | None]"
) -> None:
    try:
        async with aclosing(events):
            async for event in events:
                coming.put_nowait(event)
    finally:
        coming.put_nowait(None)


def _call_of(event: "ChatEvent") -> Hashable:
    return tuple(event.data.get(name) for name in _CALL)
