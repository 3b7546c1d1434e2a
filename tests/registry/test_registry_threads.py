"""One registry used from many loops and threads at once, and threads that hang."""

import asyncio
import threading
import time
from collections.abc import Callable
from typing import Any

from tests.execution.made import Heard

from pegboard import Policy, Principal, ToolContext, ToolRegistry, tool
from pegboard.concurrency.thread_pool import POOL
from pegboard.core.tool import Limits, Retry
from pegboard.errors import ToolTimeout, Unavailable
from pegboard.execution import CallEnvironment
from pegboard.execution.emitter import Emitter
from pegboard.execution.steps.deadline import DeadlineTimer
from pegboard.testing import FakeClock

_FAILED_ONCE: set[tuple[str, int]] = set()


@tool(effect="read", cacheable=True, retry=Retry(max_retries=1, backoff=0))
async def ask(number: int, ctx: ToolContext[Any]) -> str:
    await asyncio.sleep(0)
    place = (ctx.principal.id, number)
    if place not in _FAILED_ONCE:
        _FAILED_ONCE.add(place)
        raise Unavailable("once")
    return f"{ctx.principal.id} {number}"


@tool(effect="read")
def echo(number: int) -> str:
    return f"echo {number}"


async def answers(registry: ToolRegistry, name: str) -> list[str]:
    ctx: ToolContext[Any] = ToolContext(principal=Principal(id=name))
    batch: list[tuple[str, Any]] = [("ask", {"number": number % 5}) for number in range(15)]
    batch += [("echo", {"number": number}) for number in range(15)]
    return [result.unwrap() for result in await registry.call_many(batch, ctx)]


def test_loops_in_several_threads_use_one_registry_and_each_caller_gets_their_own() -> None:
    heard, given = Heard(), dict[str, list[str]]()
    limits = {"*": Limits(concurrency=3)}
    registry = ToolRegistry([ask, echo], policy=Policy(limits=limits), listeners=[heard])

    def in_thread(name: str) -> None:
        given[name] = asyncio.run(answers(registry, name))

    names = [f"caller{number}" for number in range(4)]
    threads = [threading.Thread(target=in_thread, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert given == {
        name: [f"{name} {n % 5}" for n in range(15)] + [f"echo {n}" for n in range(15)]
        for name in names
    }
    assert len({record.call_id for record in heard.records}) == len(heard.records) == 4 * 30


def wait_until(happened: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not happened() and time.monotonic() < end:
        time.sleep(0.005)


async def test_a_thread_that_hangs_is_given_up_with_a_record_and_comes_back(
    clock: FakeClock,
) -> None:
    heard, released = Heard(), threading.Event()
    loop: Any = asyncio.get_running_loop()
    loop._pegboard_deadline_timer = DeadlineTimer(
        loop, monotonic=clock.monotonic
    )  # as the kernel keeps it

    @tool(effect="read", timeout=5)
    def hangs() -> None:
        clock.advance(5)  # it has begun by then, however slow the machine is
        released.wait()

    kit = CallEnvironment(emitter=Emitter([heard]), now=clock.time, monotonic=clock.monotonic)
    registry = ToolRegistry([hangs], environment=kit)
    result = await registry.call("hangs")
    given_up = POOL.abandoned
    released.set()
    await asyncio.to_thread(wait_until, lambda: POOL.abandoned == 0)

    assert isinstance(result.error, ToolTimeout)
    assert (heard.record.status, heard.record.error_code) == ("unavailable", "timeout")
    assert heard.record.attempts == 1
    assert given_up >= 1
    assert POOL.abandoned == 0
