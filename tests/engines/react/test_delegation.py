"""A task for another agent runs within the run, and only its answer comes back."""

from typing import Any

from tests.engines.made import ask, output_of, reported
from tests.graphs.made import Bench, at_the_bench

from pegboard.assembly import SelectionLimits, ToolRequest, ToolSelector, resolve_tools
from pegboard.core.event import NodeReported
from pegboard.core.model_messages import ModelUsage
from pegboard.core.principal import LOCAL
from pegboard.core.run import RunResult
from pegboard.engines.react.delegation import DELEGATE
from pegboard.testing import ScriptedModel, Turn

USAGE = ModelUsage(requests=1, input_tokens=10)
CALL = Turn(calls=(("call_agent", {"agent_id": "writer", "task": "Write."}),), usage=USAGE)


def a_selector(bench: Bench) -> ToolSelector:
    request = ToolRequest(principal=LOCAL, delegates={"writer": "Writes."})
    return ToolSelector(
        resolve_tools(bench.registry, request),
        principal=LOCAL,
        limits=SelectionLimits(list_all=0, select=0),
    )


async def work(bench: Bench, model: ScriptedModel) -> tuple[RunResult, Any]:
    result = await ask(bench, model, selector=a_selector(bench))
    return result, reported(bench, "tool_finished")


def test_its_answer_is_the_result_and_what_it_used_is_counted() -> None:
    model = ScriptedModel(
        CALL, Turn(text="Dear Ada.", usage=USAGE), Turn(text="Done.", expects=("Dear Ada.",))
    )

    result, finished = at_the_bench(lambda bench: work(bench, model))

    assert model.requests[1].messages[-1].text == "Write."
    assert output_of(result)["text"] == "Done."
    assert output_of(result)["usage"]["input_tokens"] == 20
    assert [data["tool"] for _, data in finished] == ["call_agent"]


def test_its_turns_are_steps_below_the_call() -> None:
    model = ScriptedModel(CALL, Turn(text="Dear Ada."), Turn(text="Done."))

    async def look(bench: Bench) -> Any:
        await ask(bench, model, selector=a_selector(bench))
        reports = [event for event in bench.heard.events if isinstance(event, NodeReported)]
        return [event.node for event in reports if event.kind == "step"]

    nodes = at_the_bench(look)

    assert nodes == ["agent", f"agent/t1-0/{DELEGATE}", "agent"]
