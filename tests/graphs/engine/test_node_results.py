from pegboard.core.graph import NodeState
from pegboard.core.result import ResultMeta, ToolResult
from pegboard.core.run import NodeRun
from pegboard.errors import ToolFailed
from pegboard.graphs.engine.node_results import (
    combine,
    from_record,
    from_tool_result,
    to_data,
    to_record,
)


def test_a_whole_lasts_from_its_first_beginning_to_its_last_end() -> None:
    parts = (
        NodeRun(id="a", state=NodeState.COMPLETED, started_at=10.0, duration_ms=500.0, attempts=1),
        NodeRun(
            id="b", state=NodeState.COMPLETED, started_at=10.25, duration_ms=1000.0, attempts=2
        ),
        NodeRun(id="c", state=NodeState.SKIPPED),
    )
    run = combine("all", parts, state=NodeState.COMPLETED)

    assert (run.started_at, run.duration_ms, run.attempts) == (10.0, 1250.0, 3)
    assert combine("none", (), state=NodeState.COMPLETED).started_at == 0.0


def test_a_node_is_stored_without_its_path_mattering() -> None:
    run = NodeRun(id="a", state=NodeState.FAILED, error={"code": "x"}, attempts=2)

    assert from_record("b", to_record(run)) == NodeRun(
        id="b", state=NodeState.FAILED, error={"code": "x"}, attempts=2
    )


def test_a_result_that_says_it_failed_has_an_error_of_its_own_words() -> None:
    run = from_tool_result("a", ToolResult(is_error=True, content="no"), None)
    known = from_tool_result("a", ToolResult(is_error=True, error=ToolFailed("known")), None)

    assert run.error is not None
    assert run.error["message"] == "no"
    assert known.error is not None
    assert known.error["message"] == "known"


def test_other_nodes_see_state_output_and_error() -> None:
    error = {"code": "x"}

    assert to_data(NodeRun(id="a", state=NodeState.COMPLETED, output=1)) == {
        "state": "completed",
        "output": 1,
    }
    assert to_data(NodeRun(id="a", state=NodeState.FAILED, error=error)) == {
        "state": "failed",
        "output": None,
        "error": error,
    }


def test_a_failed_call_names_the_account_that_it_was_made_with() -> None:
    failed = ToolResult(is_error=True, content="no", meta=ResultMeta(account="github/home of bob"))
    run = from_tool_result("a", failed, None)

    assert run.error is not None
    assert run.error["account"] == "github/home of bob"
