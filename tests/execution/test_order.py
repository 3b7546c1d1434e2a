"""The order of the steps, down and up again, and that only the needed ones are there."""

from collections.abc import Mapping
from typing import Any

import pytest
from tests.execution.made import DONE, Following, Heard, a_call, a_kit, a_spec, a_target

from pegboard.access import Policy
from pegboard.core.event import CallStarted
from pegboard.core.result import ToolResult
from pegboard.core.tool import Effect, Limits, Retry
from pegboard.execution.call_state import Handler
from pegboard.execution.compiled_tool import CompiledTool
from pegboard.execution.environment import CallEnvironment
from pegboard.execution.limits.breakers import Breaker, Breakers
from pegboard.execution.order import ORDER, _end, compile_path

ALWAYS = ["record", "validate", "decide", "shape", "deadline", "check_output", "run"]


class Journal:
    def __init__(self, log: list[str] | None = None) -> None:
        self.log: list[str] = [] if log is None else log

    def wants(self, *, effect: str, decision: str, handler: str) -> bool:
        return effect != "read"

    async def record_start(self, event: CallStarted) -> None:
        self.log.append(f"started {event.tool}")


def built(target: CompiledTool, kit: CallEnvironment) -> list[str]:
    """The steps that do something for this tool."""
    following = Following()
    return [step.__name__ for step in ORDER if step(target, kit, following) is not following]


def test_the_order_is_the_one_that_was_decided() -> None:
    assert [step.__name__ for step in ORDER] == [
        "record",
        "count",
        "validate",
        "trust",
        "decide",
        "idempotency",
        "credential",
        "approve",
        "shape",
        "cache",
        "limit",
        "recheck",
        "quota",
        "breaker",
        "start",
        "spend",
        "retry",
        "deadline",
        "check_output",
        "run",
    ]


def test_a_plain_tool_pays_for_what_is_always_there_and_nothing_else() -> None:
    assert built(a_target(), a_kit()) == ALWAYS


def a_breaker() -> Breakers:
    breakers = Breakers()
    breakers.add("shop", Breaker("shop"))
    return breakers


@pytest.mark.parametrize(
    ("step", "spec", "keyed", "kit"),
    [
        ("count", {}, False, {"running_counts": {}}),
        ("approve", {"effect": Effect.ADMIN}, False, {}),
        ("approve", {}, False, {"policy": Policy(ask=("find",))}),
        ("idempotency", {}, True, {}),
        ("cache", {"cacheable": True}, False, {}),
        ("limit", {"limits": Limits(rate=1)}, False, {}),
        ("limit", {}, False, {"policy": Policy(limits={"f*": Limits(rate=1)})}),
        ("breaker", {"source": "shop"}, False, {"breakers": a_breaker()}),
        ("start", {"effect": Effect.WRITE}, False, {"journal": Journal()}),
        ("retry", {"retry": Retry()}, False, {}),
        ("credential", {"caller_credential": True}, False, {}),
    ],
    ids=lambda value: str(value)[:20],
)
def test_each_other_step_is_there_for_the_tools_that_need_it(
    step: str, spec: dict[str, Any], keyed: bool, kit: dict[str, Any]
) -> None:
    names = built(a_target(a_spec(**spec), keyed=keyed), a_kit(**kit))

    waits = {"recheck"} if step in {"idempotency", "cache", "limit"} else set[str]()
    spends = {"spend"} if step == "approve" else set[str]()
    assert set(names) == {*ALWAYS, step, *waits, *spends}


@pytest.mark.parametrize(
    ("spec", "kit"),
    [
        ({"cacheable": True, "cache_ttl": 0}, {}),
        ({"retry": Retry(max_retries=0)}, {}),
        ({"effect": Effect.READ}, {"journal": Journal()}),
        ({"source": "crm"}, {"breakers": a_breaker()}),
        ({"effect": Effect.ADMIN}, {"policy": Policy(allow=("find",))}),
    ],
    ids=["no ttl", "no retries", "a read is not journalled", "no breaker", "allowed"],
)
def test_a_step_that_would_do_nothing_is_left_away(
    spec: dict[str, Any], kit: dict[str, Any]
) -> None:
    assert built(a_target(a_spec(**spec)), a_kit(**kit)) == ALWAYS


async def test_a_call_passes_down_the_order_and_its_result_back_up() -> None:
    log: list[str] = []

    async def run(_arguments: Mapping[str, Any], _ctx: Any) -> str:
        log.append("run")
        return "done"

    def watched(
        step: Any, target: CompiledTool, kit: CallEnvironment, following: Handler
    ) -> Handler:
        async def below(call: Any) -> ToolResult:
            log.append(f"< {step.__name__}")
            result = await following(call)
            log.append(f"> {step.__name__}")
            return result

        return step(target, kit, below)

    spec = a_spec(
        effect=Effect.WRITE, cacheable=True, source="shop", limits=Limits(rate=9), retry=Retry()
    )
    target = a_target(spec, keyed=True, run=run)
    kit = a_kit(Heard(), running_counts={}, breakers=a_breaker(), journal=Journal(log))
    path: Handler = _end
    for step in reversed(ORDER):
        path = watched(step, target, kit, path)

    result = await path(a_call(key="k"))

    needless = {"approve", "credential", "spend"}
    passed = [step.__name__ for step in ORDER if step.__name__ not in {*needless, "run"}]
    down = [line for line in log if line.startswith("<")]
    up = [line for line in log if line.startswith(">")]
    assert result.text == "done"
    assert [f"< {name}" for name in passed] == [x for x in down if x[2:] not in needless]
    assert [f"> {name}" for name in reversed(passed)] == [x for x in up if x[2:] not in needless]
    assert log.index("< breaker") < log.index("started find") < log.index("< retry")


async def test_a_compiled_path_runs_the_tool() -> None:
    result = await compile_path(a_target(), a_kit())(a_call({}))

    assert (result.content, result.structured) == (DONE.content, DONE.structured)


async def test_nothing_follows_the_tool_itself() -> None:
    with pytest.raises(AssertionError, match="run is the last step"):
        await _end(a_call())
