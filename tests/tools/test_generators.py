"""What a tool yields is one list, bounded, told part by part, and stopped when nobody waits."""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from pydantic import BaseModel

from pegboard.core.context import Progress, ToolContext
from pegboard.core.result import ImagePart, TextPart
from pegboard.errors import ToolFailed
from pegboard.registry import ToolRegistry
from pegboard.tools import tool
from pegboard.tools.generators import MAX_PARTS

MB = "x" * 1024 * 1024


class Model(BaseModel):
    text: str


@dataclass(slots=True)
class Record:
    text: str


def numbers() -> Iterator[int]:
    number = 0
    while True:
        yield number
        number += 1


async def numbers_async() -> AsyncIterator[int]:
    for number in numbers():
        yield number


def megabytes() -> Iterator[str]:
    while True:
        yield MB


async def megabytes_async() -> AsyncIterator[str]:
    while True:
        yield MB


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "function", [numbers, numbers_async, tool(inline=True)(numbers)], ids=["sync", "async", "loop"]
)
async def test_endless_parts_are_stopped_and_told_plainly(run: Any, function: Any) -> None:
    with pytest.raises(ToolFailed, match=r"yielded more than 100,000 parts and was stopped"):
        await run(function, {})


@pytest.mark.parametrize("function", [megabytes, megabytes_async], ids=["sync", "async"])
async def test_large_parts_are_stopped_and_told_plainly(run: Any, function: Any) -> None:
    with pytest.raises(ToolFailed, match=r"yielded more than 64 MB and was stopped; ask for less"):
        await run(function, {})


@pytest.mark.parametrize(
    "part",
    [
        MB.encode(),
        {"a": [MB]},
        {MB: 1},
        (MB,),
        TextPart(text=MB),
        ImagePart(data=MB.encode(), media_type="image/png"),
        Model(text=MB),
        Record(MB),
    ],
    ids=lambda part: type(part).__name__,
)
async def test_text_and_bytes_count_wherever_they_are(run: Any, part: Any) -> None:
    def parts() -> Any:
        for _ in range(1000):
            yield part

    with pytest.raises(ToolFailed, match="64 MB"):
        await run(parts, {})


@pytest.mark.timeout(60)
async def test_a_part_that_contains_itself_ends_too(run: Any) -> None:
    loop: list[Any] = []
    loop.append(loop)

    def parts() -> Any:
        yield loop

    with pytest.raises(ToolFailed, match="64 MB"):
        await run(parts, {})


async def test_as_many_parts_as_the_bound_says_are_let_through(run: Any) -> None:
    def parts() -> Iterator[int]:
        yield from range(MAX_PARTS)

    assert len(await run(parts, {})) == MAX_PARTS


async def test_a_generator_that_is_stopped_is_closed(run: Any) -> None:
    closed = list[str]()

    def parts() -> Iterator[str]:
        try:
            yield from megabytes()
        finally:
            closed.append("sync")

    async def parts_async() -> AsyncIterator[str]:
        try:
            while True:
                yield MB
        finally:
            closed.append("async")

    for function in (parts, parts_async):
        with pytest.raises(ToolFailed):
            await run(function, {})

    assert closed == ["sync", "async"]


async def test_a_generator_whose_time_is_up_stops_and_is_closed() -> None:
    closed, yielded = threading.Event(), list[int]()

    @tool(effect="read", timeout=0.1)
    def endless() -> Iterator[str]:
        try:
            while not closed.wait(0.005):
                yielded.append(1)
                yield "x"
        finally:
            closed.set()

    result = await ToolRegistry([endless]).call("endless")

    assert result.error is not None
    assert result.error.code == "timeout"
    assert await asyncio.to_thread(closed.wait, 60)
    count = len(yielded)
    await asyncio.sleep(0.05)
    assert len(yielded) == count


async def _told(function: Any) -> list[tuple[float, str, str]]:
    here, told = threading.get_ident(), list[Progress]()

    def listen(progress: Progress) -> None:
        assert threading.get_ident() == here
        told.append(progress)

    result = await ToolRegistry([function]).call("parts", None, ToolContext(on_progress=listen))
    assert not result.is_error
    return [(item.done, item.message, item.tool) for item in told]


async def test_each_part_is_told_as_progress_on_the_loop() -> None:
    @tool(effect="read")
    def parts() -> Any:
        yield "a" * 300
        yield TextPart(text="b")
        yield {"c": 1}
        yield b"\0"
        yield ImagePart(data=b"\0", media_type="image/png")

    assert await _told(parts) == [
        (1, "a" * 200, "parts"),
        (2, "b", "parts"),
        (3, '{"c":1}', "parts"),
        (4, "bytes", "parts"),
        (5, "ImagePart", "parts"),
    ]


async def test_parts_of_an_async_generator_are_told_too() -> None:
    @tool(effect="read")
    async def parts() -> AsyncIterator[int]:
        for number in (7, 8):
            yield number

    assert await _told(parts) == [(1, "7", "parts"), (2, "8", "parts")]
