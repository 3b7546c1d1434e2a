"""A model re-orders the tools that fit a message, and can do nothing but that."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from msgspec import to_builtins
from tests.assembly.made import NAMES, a_selector, many_tools
from tests.engines.dag.made import Team, a_judgement, a_step, reach
from tests.engines.made import ask, output_of, reported
from tests.graphs.made import Bench, at_the_bench

from pegboard import Policy
from pegboard.core.model_messages import ModelRequest, ModelUsage
from pegboard.core.ports.chat_model import ModelPart
from pegboard.core.run import RunResult
from pegboard.engines.tool_order import IN_ORDER_OF_SEARCH, ToolOrder, ask_for_order
from pegboard.errors import Unavailable
from pegboard.testing import ScriptedModel, Turn

QUESTION = "Create an invoice, delete the invoice or create a parcel."
USED = ModelUsage(requests=1, input_tokens=100, output_tokens=10, cost=0.5)
DONE = Turn(text="Done.", usage=ModelUsage(requests=1, input_tokens=7, cost=0.25))
BOTH = ModelUsage(requests=2, input_tokens=107, output_tokens=10, cost=0.75)


def an_order(*names: str) -> Turn:
    return Turn(text=json.dumps({"tools": names}), usage=USED)


def fast_model(*turns: Any) -> ScriptedModel:
    return ScriptedModel(*turns, name="scripted:fast", supports_schema=True)


class SlowModel(ScriptedModel):
    """A model that never answers."""

    async def stream(self, request: ModelRequest) -> AsyncIterator[ModelPart]:
        self.requests.append(request)
        await asyncio.Event().wait()
        async for part in super().stream(request):
            yield part


def select(fast: ScriptedModel, seconds: float | None = 5.0) -> dict[str, Any]:
    """An agent answers over twenty tools, of which it is shown two."""

    async def work(bench: Bench) -> dict[str, Any]:
        model = ScriptedModel(DONE)
        selector = a_selector(many_tools(), select=2)
        result = await ask(
            bench,
            model,
            QUESTION,
            selector=selector,
            fast_model=fast,
            rerank_timeout=seconds,
        )
        return {
            "shown": [tool.name for tool in model.requests[0].tools][:2],
            "plain": [tool.name for tool in selector.select(QUESTION).tools][:2],
            "output": output_of(result),
            "missing": [data["missing"] for _, data in reported(bench, "tools_missing")],
            "usage": [data for _, data in reported(bench, "usage")],
        }

    return at_the_bench(work)


def test_the_model_is_shown_the_tools_that_the_fast_model_names_first() -> None:
    fast = fast_model(an_order("parcel__create", "invoice__delete"))

    done = select(fast)

    assert done["shown"] == ["parcel__create", "invoice__delete"] != done["plain"]
    assert done["missing"] == []
    prompt = fast.requests[0].messages[-1].text
    assert '{"name":"parcel__create","description":"Create one parcel."}' in prompt
    assert QUESTION in prompt


def test_what_it_cost_is_reported_and_counts_for_the_run_but_not_for_the_next() -> None:
    done = select(fast_model(an_order("parcel__create")))

    assert done["output"]["usage"] == to_builtins(BOTH)
    assert [used["cost"] for used in done["usage"]] == [0.5, 0.25]
    assert done["output"]["tools"]["usage"] == {}


def test_by_default_no_model_is_asked() -> None:
    fast = fast_model()

    done = select(fast, None)

    assert fast.requests == []
    assert done["shown"] == done["plain"]


@pytest.mark.parametrize(
    ("turns", "cost"),
    [
        ([Turn(error=Unavailable("busy"))], 0.25),
        ([Turn(text="perhaps", usage=USED)] * 3, 1.75),
    ],
    ids=["down", "no order"],
)
def test_a_model_that_fails_leaves_the_order_of_the_search_and_that_is_told(
    turns: list[Turn], cost: float
) -> None:
    done = select(fast_model(*turns))

    assert done["shown"] == done["plain"]
    assert done["missing"] == [{"selection": IN_ORDER_OF_SEARCH}]
    assert done["output"]["tools"]["skipped"] == ["rerank"]
    assert done["output"]["usage"]["cost"] == cost


def test_a_model_that_answers_too_late_is_not_waited_for() -> None:
    done = select(SlowModel(supports_schema=True), 0.05)

    assert done["shown"] == done["plain"]
    assert done["missing"] == [{"selection": IN_ORDER_OF_SEARCH}]


def test_names_that_are_no_candidates_are_dropped() -> None:
    tools = list(many_tools().only(*NAMES[:4]))
    model = fast_model(an_order("bash", NAMES[19], NAMES[2], NAMES[2], NAMES[0]))

    order = asyncio.run(ask_for_order(model, QUESTION, tools, seconds=5))

    assert order == ToolOrder(names=(NAMES[2], NAMES[0]), usage=USED)


def test_a_run_that_goes_on_asks_for_no_order_again() -> None:
    fast = fast_model(an_order("parcel__create"))
    calls = Turn(calls=(("pay", {}),), usage=USED)
    model = ScriptedModel(calls, Turn(text="Refused.", usage=USED))

    async def work(bench: Bench) -> RunResult:
        for tool in many_tools():
            bench.registry.add(tool)
        selector = a_selector(bench.registry, select=1, always_listed=("pay",))
        known: dict[str, Any] = {"selector": selector, "fast_model": fast, "rerank_timeout": 5.0}
        waiting = await ask(bench, model, QUESTION, **known)
        await bench.runner.answer(waiting.run_id, waiting.pending[0].id, {"answer": "deny"})
        return await bench.runner.result(waiting.run_id)

    done = at_the_bench(work, policy=Policy(ask=("pay",)))

    assert [tool.name for tool in model.requests[1].tools][:2] == ["pay", "parcel__create"]
    assert len(fast.requests) == 1
    assert output_of(done)["usage"]["cost"] == 1.5


@pytest.mark.parametrize("engine", ["react", "dag"])
def test_a_goal_counts_each_order_once(engine: str) -> None:
    fast = fast_model(*[an_order("parcel__create")] * 3)
    team = Team([[a_step("a"), a_step("b")]], [a_judgement()])

    async def work(bench: Bench) -> RunResult:
        selector = a_selector(many_tools(), select=2)
        known: dict[str, Any] = {"selector": selector, "fast_model": fast, "rerank_timeout": 5.0}
        return await reach(bench, team, QUESTION, engine=engine, **known)

    usage = output_of(at_the_bench(work))["usage"]

    assert usage["requests"] == len(fast.requests) + len(team.asked)
