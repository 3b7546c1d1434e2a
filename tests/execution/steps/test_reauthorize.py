"""What is turned off while a call waits, for whatever it waits, does not run."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest
from tests.execution.made import Heard, a_call, a_kit, a_spec, a_target

from pegboard.core.decision import Verdict
from pegboard.core.tool import Effect, Limits, ToolSpec
from pegboard.errors import AccessDenied, InvalidRequest
from pegboard.execution.limits.breakers import Breaker, Breakers
from pegboard.execution.order import compile_path


@pytest.mark.parametrize(
    ("spec", "key"),
    [
        (a_spec(effect=Effect.WRITE), "k"),
        (a_spec(), "k"),
        (a_spec(cacheable=True, cache_ttl=60), None),
        (a_spec(limits=Limits(concurrency=1)), None),
    ],
    ids=["a write's key", "a read's key", "an answer", "a turn"],
)
async def test_who_waited_is_judged_again_before_the_tool_runs(
    spec: ToolSpec, key: str | None
) -> None:
    begun, ending, runs = asyncio.Event(), asyncio.Event(), list[str]()

    async def fails(_arguments: Mapping[str, Any], _ctx: Any) -> str:
        runs.append("run")
        begun.set()
        await ending.wait()
        raise InvalidRequest("no such order")

    kit = a_kit(heard := Heard())
    path = compile_path(a_target(spec, keyed=key is not None, run=fails), kit)
    first = asyncio.ensure_future(path(a_call({}, key=key)))
    await begun.wait()
    second = asyncio.ensure_future(path(a_call({}, key=key)))
    await asyncio.sleep(0.005)
    kit.switches.turn_off(tool="find", reason="a fire")
    ending.set()
    results = await asyncio.gather(first, second)

    assert [type(result.error) for result in results] == [InvalidRequest, AccessDenied]
    assert runs == ["run"]
    assert [record.decision for record in heard.records] == [Verdict.ALLOW, Verdict.DENY]


async def test_a_call_that_is_refused_after_its_wait_gives_its_turn_back_and_heals_no_breaker() -> (
    None
):
    breaker, breakers, limits = (
        Breaker("shop", threshold=1, recovery=600),
        Breakers(),
        Limits(concurrency=1),
    )
    breakers.add("shop", breaker)
    breaker.failed(probe=False)
    kit = a_kit(breakers=breakers)
    bucket = kit.limiters.get("find", limits)
    await bucket.enter(0)
    path = compile_path(a_target(a_spec(source="shop", limits=limits)), kit)
    waiting = asyncio.ensure_future(path(a_call({})))
    await asyncio.sleep(0)
    kit.switches.turn_off(tool="find", reason="a fire")
    bucket.leave()

    assert isinstance((await waiting).error, AccessDenied)
    assert bucket._in_flight == 0
    assert breaker.state == "open"
