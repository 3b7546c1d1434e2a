"""In which order a person is asked for approvals."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

import pytest

from pegboard.cli.output.call_order import in_call_order
from pegboard.errors import Unavailable
from pegboard.features.conversations import ChatEvent


def event(kind: str, call: str = "") -> ChatEvent:
    return ChatEvent(event=kind, data={"message": "m", "turn": 1, "call": call})


async def read(events: AsyncGenerator[ChatEvent]) -> list[str]:
    return [f"{item.event} {item.data['call']}" async for item in in_call_order(events)]


async def test_approvals_that_come_together_are_in_the_order_of_their_calls() -> None:
    async def events() -> AsyncGenerator[ChatEvent]:
        for call in ("41", "42", "43"):
            yield event("tool_started", call)
        yield event("approval_required", "43")
        yield event("approval_required", "41")
        yield event("tool_finished", "40")
        yield event("approval_required", "42")
        await asyncio.sleep(0.4)
        yield event("done")

    assert (await read(events()))[3:] == [
        "tool_finished 40",
        "approval_required 41",
        "approval_required 42",
        "approval_required 43",
        "done ",
    ]


async def test_an_approval_is_not_held_until_the_end_of_the_answer() -> None:
    is_closed = asyncio.Event()

    async def events() -> AsyncGenerator[ChatEvent]:
        try:
            yield event("approval_required", "1")
            await asyncio.Event().wait()
        finally:
            is_closed.set()

    async with aclosing(in_call_order(events())) as ordered:
        async for first in ordered:
            assert first.event == "approval_required"
            break

    assert is_closed.is_set()


async def test_what_ends_the_events_is_raised_after_them() -> None:
    async def events() -> AsyncGenerator[ChatEvent]:
        yield event("approval_required", "1")
        raise Unavailable("gone")

    seen: list[str] = []

    async def see() -> None:
        async for item in in_call_order(events()):
            seen.append(item.event)  # noqa: PERF401 - it ends with an error

    with pytest.raises(Unavailable, match="gone"):
        await see()

    assert seen == ["approval_required"]
