"""Which engine works on a message."""

from typing import Any

import pytest
from tests.graphs.made import Bench, at_the_bench

from pegboard.core.model_messages import ModelUsage
from pegboard.core.principal import LOCAL
from pegboard.engines import AgentSetup
from pegboard.engines.engine_choice import EngineChoice, choose_engine
from pegboard.errors import Unavailable
from pegboard.registry.toolset import Toolset
from pegboard.testing import ScriptedModel, Turn

LONG = "Look into three shops and compare their prices."
USED = ModelUsage(requests=1)


def chosen(message: str, *turns: Turn, listed: bool = True, fast: Any = None) -> EngineChoice:
    model = ScriptedModel(*turns, supports_schema=True)

    async def work(bench: Bench) -> EngineChoice:
        tools = tuple(bench.registry.visible(LOCAL)) if listed else ()
        toolset = Toolset(registry=bench.registry, listed=tools)
        return await choose_engine(
            AgentSetup(model=model, toolset=toolset, fast_model=fast), message
        )

    choice = at_the_bench(work)
    model.assert_exhausted()
    return choice


def test_the_model_chooses() -> None:
    choice = chosen(LONG, Turn(text='{"engine": "dag"}', usage=USED))

    assert choice == EngineChoice(engine="dag", usage=USED)


def test_the_fast_model_chooses_where_there_is_one() -> None:
    fast = ScriptedModel(Turn(text='{"engine": "dag"}'), supports_schema=True)

    assert chosen(LONG, fast=fast).engine == "dag"


@pytest.mark.parametrize(("message", "listed"), [("hi", True), (LONG, False)], ids=["hi", "none"])
def test_a_short_message_and_an_agent_without_tools_need_no_choice(
    message: str, listed: bool
) -> None:
    assert chosen(message, listed=listed) == EngineChoice(engine="react")


def test_a_choice_that_fails_has_cost_something() -> None:
    choice = chosen(LONG, *[Turn(text="perhaps", usage=USED)] * 3)

    assert choice == EngineChoice(engine="react", usage=ModelUsage(requests=3))


def test_one_agent_works_where_no_model_can_choose() -> None:
    assert chosen(LONG, Turn(error=Unavailable("busy"))).engine == "react"
