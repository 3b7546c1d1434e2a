"""Runs whose plays end in an error that no node is to blame for."""

import logging

import pytest

from pegboard import ToolRegistry
from pegboard.core.event import Event, RunErrorNoted, RunFinished
from pegboard.core.graph import NodeState
from pegboard.core.ports.durability import RunStart
from pegboard.core.principal import LOCAL
from pegboard.core.run import PendingStep, RunResult
from pegboard.errors import InvalidRequest
from pegboard.graphs.engine.attempt import AttemptLimit

START = RunStart(run_id="r", graph={"name": "odd"}, params={}, principal=LOCAL, created_at=1.0)


class Ear:
    def __init__(self) -> None:
        self.heard: list[Event] = []

    def on_event(self, event: Event) -> None:
        self.heard.append(event)


def test_the_last_error_becomes_the_end_of_the_run(caplog: pytest.LogCaptureFixture) -> None:
    board, ear = ToolRegistry(), Ear()
    board.environment.emitter.add(ear)
    tries = AttemptLimit(board, most=2)
    error = InvalidRequest("The params do not fit.")
    with pytest.raises(InvalidRequest):
        tries.count_failure(START, error, last=None)
    with caplog.at_level(logging.ERROR):
        result = tries.count_failure(START, error, last=None)

    assert result.state is NodeState.FAILED
    assert result.graph == "odd"
    assert result.error == {
        "code": "request_invalid",
        "message": "The params do not fit.",
        "retryable": False,
    }
    assert "graphs: run r failed after its last attempt" in caplog.text
    [event] = ear.heard
    assert isinstance(event, RunFinished)
    assert (event.run_id, event.state, event.error_code) == ("r", "failed", "request_invalid")


def test_what_nobody_may_see_goes_to_the_log(caplog: pytest.LogCaptureFixture) -> None:
    board, ear = ToolRegistry(), Ear()
    board.environment.emitter.add(ear)
    tries = AttemptLimit(board, most=1)
    pending = (PendingStep(id="w", step="w", kind="person"),)
    last = RunResult(run_id="r", state=NodeState.WAITING, graph="odd", pending=pending)
    result = tries.count_failure(START, RuntimeError("password=swordfish"), last=last)

    assert result.error is not None
    assert result.error["code"] == "tool_failed"
    assert "swordfish" not in str(result)
    assert result.error["error_id"] in caplog.text
    assert "password=swordfish" in caplog.text
    noted = ear.heard[0]
    assert isinstance(noted, RunErrorNoted)
    assert (noted.run_id, noted.error_id) == ("r", result.error["error_id"])
    assert "RuntimeError" in noted.detail
    assert result.pending == ()


def test_a_play_that_comes_to_an_end_starts_the_count_anew() -> None:
    tries = AttemptLimit(ToolRegistry(), most=2)
    for _ in range(3):
        with pytest.raises(ValueError, match="odd"):
            tries.count_failure(START, ValueError("odd"), last=None)
        tries.reset("r")


def test_only_so_many_runs_are_counted() -> None:
    tries = AttemptLimit(ToolRegistry(), most=2)
    for number in range(1_100):
        start = RunStart(run_id=f"r{number}", graph={}, params={}, principal=LOCAL, created_at=1.0)
        with pytest.raises(ValueError, match="odd"):
            tries.count_failure(start, ValueError("odd"), last=None)

    assert len(tries._failed) == 1_000
