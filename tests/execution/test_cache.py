"""Answers that are given again: until when, to whom, and one flight for all who ask at once."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from tests.execution.made import PlainTool, a_spec

from pegboard.core.result import Artifact, ImagePart, ResourcePart, TextPart, ToolResult
from pegboard.errors import ToolFailed, ToolTimeout
from pegboard.execution.cache import Key, ResultCache
from pegboard.testing import FakeClock

TOOL = PlainTool(a_spec(), lambda _arguments, _ctx: None)


def a_key(digest: str = "d", owner: str = "") -> Key:
    return Key(id(TOOL), digest, owner)


class Answers:
    """Makes numbered answers and counts them."""

    def __init__(self, *, seconds: float = 0.0, gate: asyncio.Event | None = None) -> None:
        self.made = 0
        self.seconds = seconds
        self.gate = gate

    async def __call__(self) -> ToolResult:
        self.made += 1
        number = self.made
        await asyncio.sleep(self.seconds)
        if self.gate is not None:
            await self.gate.wait()
        return ToolResult(content=f"answer {number}", structured={"number": number})


async def ask(
    cache: ResultCache,
    make: Callable[[], Awaitable[ToolResult]],
    *,
    key: Key | None = None,
    ttl: float = 60,
    wait: float | None = None,
) -> tuple[str, bool]:
    result, cached = await cache.get_or_make(
        key or a_key(), make, tool=TOOL, ttl=ttl, remaining=lambda: wait
    )
    return result.text, cached


@pytest.fixture
def cache(clock: FakeClock) -> ResultCache:
    return ResultCache(monotonic=clock.monotonic)


async def test_an_answer_is_given_again_until_its_time_is_up(
    cache: ResultCache, clock: FakeClock
) -> None:
    make = Answers()

    first = await ask(cache, make)
    clock.advance(59.9)
    second = await ask(cache, make)
    clock.advance(0.1)
    third = await ask(cache, make)

    assert [first, second, third] == [("answer 1", False), ("answer 1", True), ("answer 2", False)]


@pytest.mark.parametrize(
    "other",
    [a_key(digest="e"), a_key(owner="acme/bob"), Key(id(object()), "d", "")],
    ids=["arguments", "owner", "tool"],
)
async def test_other_questions_have_other_answers(cache: ResultCache, other: Key) -> None:
    make = Answers()
    await ask(cache, make)

    assert await ask(cache, make, key=other) == ("answer 2", False)


async def test_a_hundred_who_ask_at_once_share_one_run(cache: ResultCache) -> None:
    make = Answers(seconds=0.01)

    answers = await asyncio.gather(*[ask(cache, make) for _ in range(100)])

    assert make.made == 1
    assert sorted(answers) == [("answer 1", False)] + [("answer 1", True)] * 99
    assert cache._flights == {}


async def test_a_failure_is_nobodys_answer(cache: ResultCache) -> None:
    tries: list[int] = []

    async def fails_twice() -> ToolResult:
        tries.append(1)
        number = len(tries)
        await asyncio.sleep(0.001)
        if number < 3:
            raise ToolFailed(f"no {number}")
        return ToolResult(content="yes")

    outcomes = await asyncio.gather(
        *[ask(cache, fails_twice) for _ in range(5)], return_exceptions=True
    )

    assert [str(outcome) for outcome in outcomes[:2]] == ["no 1", "no 2"]
    assert outcomes[2:] == [("yes", False), ("yes", True), ("yes", True)]


async def test_a_result_that_is_an_error_is_not_kept(cache: ResultCache) -> None:
    made: list[int] = []

    async def fails() -> ToolResult:
        made.append(1)
        return ToolResult(content="no", is_error=True)

    await ask(cache, fails)
    await ask(cache, fails)

    assert made == [1, 1]


async def test_cancelling_the_one_who_flies_does_not_cancel_those_who_wait(
    cache: ResultCache,
) -> None:
    make = Answers(gate=(landed := asyncio.Event()))
    flyer = asyncio.create_task(ask(cache, make))
    await asyncio.sleep(0)
    waiting = [asyncio.create_task(ask(cache, make)) for _ in range(3)]
    await asyncio.sleep(0.005)

    flyer.cancel()
    landed.set()

    assert await asyncio.gather(*waiting) == [("answer 2", False)] + [("answer 2", True)] * 2
    assert flyer.cancelled()
    assert make.made == 2


async def test_cancelling_one_who_waits_disturbs_nobody(cache: ResultCache) -> None:
    make = Answers(gate=(landed := asyncio.Event()))
    flyer = asyncio.create_task(ask(cache, make))
    await asyncio.sleep(0)
    first, second = (asyncio.create_task(ask(cache, make)) for _ in range(2))
    await asyncio.sleep(0.005)

    first.cancel()
    landed.set()

    assert await asyncio.gather(flyer, second) == [("answer 1", False), ("answer 1", True)]
    assert first.cancelled()


async def test_who_waits_does_so_within_their_own_time(cache: ResultCache) -> None:
    make = Answers(gate=(landed := asyncio.Event()))
    flyer = asyncio.create_task(ask(cache, make))
    await asyncio.sleep(0)

    with pytest.raises(ToolTimeout) as caught:
        await ask(cache, make, wait=0.005)
    landed.set()

    assert caught.value.nothing_done
    assert await flyer == ("answer 1", False)


async def test_what_a_caller_does_to_an_answer_reaches_nobody_else(cache: ResultCache) -> None:
    make = Answers(seconds=0.005)

    async def take() -> Any:
        result, _ = await cache.get_or_make(a_key(), make, tool=TOOL, ttl=60)
        return result.structured

    mine, yours = await asyncio.gather(take(), take())
    mine["number"] = yours["number"] = "spoilt"
    later = await take()
    later["number"] = "spoilt"

    assert await take() == {"number": 1}


async def test_the_oldest_answers_make_room(cache: ResultCache) -> None:
    small = ResultCache(most=2)
    make = Answers()
    for digest in "abc":
        await ask(small, make, key=a_key(digest))

    assert small.get(a_key("a")) is None
    assert len(small._items) == 2


@pytest.mark.parametrize(
    "large",
    [
        ToolResult(content="x" * 3000),
        ToolResult(content=(TextPart(text="x" * 3000),)),
        ToolResult(content=(ImagePart(data=b"x" * 3000, media_type="image/png"),)),
        ToolResult(content=(ResourcePart(uri="u", text="x" * 1500, data=b"x" * 1500),)),
        ToolResult(artifacts=(Artifact(name="f", data=b"x" * 3000),)),
        ToolResult(content="x" * 750, structured=["x" * 750]),
    ],
    ids=["text", "parts", "image", "resource", "artifact", "structured"],
)
async def test_answers_are_bounded_by_what_they_hold(large: ToolResult) -> None:
    cache = ResultCache(max_bytes=28_000)

    async def make() -> ToolResult:
        return large

    for number in range(20):
        await ask(cache, make, key=a_key(str(number)))

    assert len(cache._items) == 8
    assert cache._bytes == 8 * 3500


async def test_one_answer_that_is_too_large_is_given_but_not_kept() -> None:
    cache = ResultCache(max_bytes=8000)

    async def make() -> ToolResult:
        return ToolResult(content="x" * 1000)

    assert await ask(cache, make) == ("x" * 1000, False)
    assert cache.get(a_key()) is None


async def test_an_answer_that_is_made_again_is_counted_once(
    cache: ResultCache, clock: FakeClock
) -> None:
    make = Answers()
    await ask(cache, make)
    before = cache._bytes
    clock.advance(61)
    await ask(cache, make)

    assert cache._bytes == before


async def test_clearing_forgets_every_answer(cache: ResultCache) -> None:
    make = Answers()
    await ask(cache, make)
    cache.clear()

    assert await ask(cache, make) == ("answer 2", False)


def test_several_loops_in_several_threads_share_answers() -> None:
    cache = ResultCache(most=5)
    problems: list[BaseException] = []

    async def work() -> None:
        make = Answers()
        for number in range(300):
            await ask(cache, make, key=a_key(str(number % 7)))

    def in_thread() -> None:
        try:
            asyncio.run(work())
        except BaseException as error:
            problems.append(error)

    threads = [threading.Thread(target=in_thread) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert problems == []
    assert len(cache._items) == 5
    assert cache._flights == {}
    assert cache._bytes == sum(item.size for item in cache._items.values())
