"""Attempts and process lifetimes for the durability contract."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from pegboard.core.graph import NodeState
from pegboard.core.ports.durability import Durability, RunStart, RunSteps
from pegboard.core.principal import Principal
from pegboard.core.run import PendingStep, RunResult
from pegboard.errors import PegboardError

_DEADLINE = 30.0
_T = TypeVar("_T")
_ADA = Principal(id="ada", tenant="acme", scopes=frozenset({"a", "b"}))


class Odd(PegboardError):
    """An error of an attempt."""

    code = "odd"


async def within_time(work: Coroutine[Any, Any, _T]) -> _T:
    return await asyncio.wait_for(work, _DEADLINE)


async def start_and_crash(durability: Durability) -> None:
    """Begin the run, and die while it goes on."""
    await durability.start(start_of())
    await asyncio.sleep(0.3)


async def finish_after_recovery(durability: Durability) -> None:
    """Go on with what the process before has left."""
    assert await durability.recover() == ("r",), "the run was not recovered"
    result = await durability.wait_until_settled("r")
    assert result.state is NodeState.COMPLETED


async def complete(steps: RunSteps) -> RunResult:
    return make_completed_result(steps)


async def suspend_or_wait(steps: RunSteps, *pending: PendingStep) -> RunResult:
    """Park, or wait here as long as the back end wants it."""
    result = RunResult(run_id=steps.start.run_id, state=NodeState.WAITING, pending=pending)
    if not await steps.suspend(result):
        await steps.next({"wait": asyncio.ensure_future(asyncio.sleep(0.3))})
    return result


async def never_finish() -> None:
    await asyncio.sleep(60)


async def does_raise(work: Callable[[], Awaitable[Any]], kind: type[Exception]) -> bool:
    try:
        await work()
    except kind:
        return True
    return False


def start_of(created_at: float = 1000.0) -> RunStart:
    graph = {"nodes": [{"id": "a", "tool": "t"}]}
    return RunStart(
        run_id="r", graph=graph, params={"n": [1]}, principal=_ADA, created_at=created_at
    )


def make_completed_result(steps: RunSteps, output: Any = None) -> RunResult:
    return RunResult(run_id=steps.start.run_id, state=NodeState.COMPLETED, output=output)


def return_later(value: Any) -> Callable[[], Awaitable[Any]]:
    async def give() -> Any:
        return value

    return give


def append_and_return(done: list[str], name: str, value: Any) -> Callable[[], Awaitable[Any]]:
    async def do() -> Any:
        done.append(name)
        return value

    return do
