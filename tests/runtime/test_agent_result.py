"""What an agent has done, read from its run."""

import re

import pytest

from pegboard.core.graph import NodeState
from pegboard.core.model_messages import ModelUsage, UserMessage
from pegboard.core.run import NodeRun, RunResult
from pegboard.errors import PegboardError, ToolFailed, Unavailable
from pegboard.runtime.agent_result import AgentCall, AgentEvent, AgentResult, read_result

ASKED = UserMessage(text="?")
NEW = [
    {
        "role": "assistant",
        "calls": [
            {"id": "1", "name": "find", "arguments": "{}"},
            {"id": "2", "name": "find", "arguments": "{"},
        ],
    },
    {"role": "tool", "call_id": "1", "name": "find", "text": "7"},
    {"role": "tool", "call_id": "2", "name": "find", "text": "no JSON", "is_error": True},
]


def test_a_failed_run_has_what_there_was() -> None:
    node = NodeRun(
        id="agent", state=NodeState.FAILED, output={"messages": NEW, "usage": {"requests": 1}}
    )
    error = {"code": "unavailable", "message": "busy"}
    run = RunResult(run_id="r_1", state=NodeState.FAILED, nodes=(node,), error=error)
    result = read_result(run, [ASKED])

    assert result.calls == (
        AgentCall(id="1", tool="find", arguments="{}", text="7"),
        AgentCall(id="2", tool="find", arguments="{", text="no JSON", is_error=True),
    )
    assert (result.output, result.error, result.run_id) == ("", error, "r_1")
    assert result.usage == ModelUsage(requests=1)
    assert result.messages[0] == ASKED
    assert len(result.messages) == 4


@pytest.mark.parametrize(
    ("error", "kind", "text"),
    [
        ({"code": "unavailable", "message": "busy"}, Unavailable, "busy"),
        ({"code": "of_a_later_version", "message": "?"}, ToolFailed, "?"),
        (None, ToolFailed, "The run of the agent is cancelled."),
    ],
    ids=["an error", "an unknown code", "none"],
)
def test_a_run_without_an_answer_raises_the_reason(
    error: dict[str, str] | None, kind: type[PegboardError], text: str
) -> None:
    result = AgentResult(output="", state=NodeState.CANCELLED, error=error)

    assert str(result) == text
    with pytest.raises(kind, match=re.escape(text)):
        result.unwrap()


def test_a_call_through_call_tool_is_that_of_the_inner_tool() -> None:
    calls = [
        {"id": "1", "name": "call_tool", "arguments": '{"name": "find", "arguments": {"n": 7}}'},
        {"id": "2", "name": "call_tool", "arguments": "{"},
    ]
    output = {"messages": [{"role": "assistant", "calls": calls}]}
    node = NodeRun(id="agent", state=NodeState.COMPLETED, output=output)

    result = read_result(RunResult(run_id="r", state=NodeState.COMPLETED, nodes=(node,)), [ASKED])

    assert [(call.tool, call.arguments) for call in result.calls] == [
        ("find", '{"n":7}'),
        ("call_tool", "{"),
    ]


def test_a_run_that_waits_has_no_output_yet() -> None:
    run = RunResult(run_id="r_1", state=NodeState.WAITING)

    assert read_result(run, [ASKED]) == AgentResult(
        output="", state=NodeState.WAITING, messages=(ASKED,), run_id="r_1"
    )


def test_an_event_has_no_result_but_the_last_one() -> None:
    assert AgentEvent(event="step").result is None
