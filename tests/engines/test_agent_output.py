"""The output of a node that answers a message."""

import pytest

from pegboard.assembly import ModelToolList
from pegboard.core.graph import NodeState
from pegboard.core.model_messages import Finish, ModelUsage
from pegboard.core.run import NodeRun
from pegboard.engines.agent_output import OUTPUT_SCHEMA, end_run
from pegboard.engines.context import ContextState


def end(finish: Finish = "stop", usage: ModelUsage | None = None) -> NodeRun:
    return end_run(
        "agent",
        NodeState.COMPLETED,
        text="Hello.",
        finish=finish,
        messages=(),
        usage=usage or ModelUsage(),
        calls=2,
        received={"b", "a"},
        context=ContextState(),
        shown=ModelToolList(note="More tools."),
        more={"turns": 1},
        reason="x",
    )


def test_an_output_has_what_the_conversation_goes_on_with() -> None:
    run = end()

    assert run.output["received"] == ["a", "b"]
    assert "note" not in run.output["tools"]
    assert set(run.output) <= set(OUTPUT_SCHEMA["properties"])
    assert (run.usage, run.reason) == (None, "x")


@pytest.mark.parametrize(("finish", "expected"), [("stop", None), ("length", "length")])
def test_an_output_says_why_the_answer_ended_where_the_model_did_not_end_it(
    finish: Finish, expected: str | None
) -> None:
    assert end(finish).output.get("finish") == expected


def test_a_run_has_the_usage_of_its_models() -> None:
    usage = ModelUsage(requests=1, input_tokens=5)

    assert end(usage=usage).usage == usage
