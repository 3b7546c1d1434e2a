"""Plans by a model: what it is shown, and what is wrong with them."""

import json
from typing import Any

import pytest
from tests.engines.dag.made import a_step
from tests.graphs.made import Bench, at_the_bench

from pegboard.core.model_messages import AssistantMessage, ModelUsage, ToolMessage, UserMessage
from pegboard.core.principal import LOCAL
from pegboard.engines import AgentNode, AgentSetup
from pegboard.engines.dag.plan import StepOutcome
from pegboard.engines.dag.planner import GoalPlan, GoalPlanner
from pegboard.errors import Unavailable
from pegboard.registry.toolset import Toolset
from pegboard.testing import ScriptedModel, Turn

DONE = {"a": StepOutcome(id="a", title="A", state="completed", text="42")}


def planned(
    *plans: list[dict[str, Any]], outcomes: Any = None, missing: str = "", **known: Any
) -> tuple[GoalPlan, ScriptedModel]:
    turns = [Turn(text=json.dumps({"steps": plan}), usage=ModelUsage(requests=1)) for plan in plans]
    model = ScriptedModel(*turns, supports_schema=True)

    async def work(bench: Bench) -> GoalPlan:
        toolset = Toolset(registry=bench.registry, listed=tuple(bench.registry.visible(LOCAL)))
        setup = AgentSetup(model=model, toolset=toolset, **known)

        async def prepare(*_: Any) -> AgentSetup:
            return setup

        planner = GoalPlanner(setup, kinds={"agent": AgentNode(prepare)}, principal=LOCAL)
        return await planner.plan("Win.", outcomes or {}, missing=missing)

    return at_the_bench(work), model


def test_a_planner_sees_the_goal_the_tools_and_the_conversation() -> None:
    history = [
        UserMessage(text="I am Ada."),
        UserMessage(text="(More tools.)", is_note=True),
        AssistantMessage(text="Hello."),
        ToolMessage(call_id="c", name="read", text="noise"),
    ]
    plan, model = planned([a_step("a"), a_step("b", "a")], history=history, instructions="Be kind.")
    system, asked = model.requests[0].messages

    assert [step.id for step in plan.steps] == ["a", "b"]
    assert plan.usage.requests == 1
    assert system.text.endswith("The assistants' instructions:\nBe kind.")
    assert "The goal:\nWin." in asked.text
    assert "Person: I am Ada.\nAssistant: Hello." in asked.text
    assert "- read: read" in asked.text
    assert "noise" not in asked.text


def test_what_is_done_is_shown_and_never_planned_again() -> None:
    plan, model = planned([a_step("a"), a_step("b", "a")], outcomes=DONE, missing="the rest")

    assert [step.id for step in plan.steps] == ["b"]
    assert "- a (A), completed: 42" in model.requests[0].messages[1].text
    assert "What is still missing:\nthe rest" in model.requests[0].messages[1].text


@pytest.mark.parametrize(
    ("faulty", "fault"),
    [
        ([a_step("a", "b"), a_step("b", "a")], "a -> b -> a"),
        ([a_step("a"), a_step("b", "c")], "'c'"),
        ([a_step("a"), a_step("a")], "'a'"),
    ],
    ids=["a circle", "an unknown step", "one id twice"],
)
def test_a_plan_that_cannot_run_goes_back_with_its_faults(faulty: Any, fault: str) -> None:
    plan, model = planned(faulty, [a_step("a"), a_step("b")])

    assert [step.id for step in plan.steps] == ["a", "b"]
    assert plan.usage.requests == 2
    shown, told = (message.text for message in model.requests[1].messages[-2:])
    assert [step["id"] for step in json.loads(shown)["steps"]] == [item["id"] for item in faulty]
    assert told.startswith("This plan cannot run:\n- ")
    assert fault in told


def test_nothing_but_what_is_done_is_no_plan() -> None:
    with pytest.raises(Unavailable, match="made no plan"):
        planned(*[[a_step("a")]] * 3, outcomes=DONE)
