"""Records and events for the tests of this room."""

from typing import Any

from pegboard.core.event import (
    CallRecord,
    RunEnded,
    RunFinished,
    RunRested,
    RunStarted,
    StepEnded,
)
from pegboard.core.principal import Principal

NOON = 1_767_268_800.0


def a_record(call_id: str = "c1", **changes: Any) -> CallRecord:
    """A completed call of a read tool that took a quarter of a second."""
    fields: dict[str, Any] = {
        "call_id": call_id,
        "tool": "shop__find",
        "status": "completed",
        "started_at": NOON,
        "duration_ms": 250.0,
        "principal": Principal(id="ada", tenant="acme"),
        "source": "shop",
        "effect": "read",
        "decision": "allow",
        "attempts": 1,
    }
    return CallRecord(**(fields | changes))


def a_run(run_id: str = "r1", **changes: Any) -> RunStarted:
    """A run of Ada's that is being played."""
    fields: dict[str, Any] = {"graph": "shopping", "principal": "ada", "tenant": "acme"}
    fields["started_at"] = NOON
    return RunStarted(run_id=run_id, **(fields | changes))


def a_rest(run_id: str = "r1", **changes: Any) -> RunRested:
    """It waits, a second later."""
    fields: dict[str, Any] = {"graph": "shopping", "state": "waiting", "at": NOON + 1}
    return RunRested(run_id=run_id, **(fields | changes))


def a_finish(run_id: str = "r1", **changes: Any) -> RunFinished:
    """It has ended, three seconds after its start."""
    fields: dict[str, Any] = {"graph": "shopping", "state": "completed", "nodes": 2}
    times: dict[str, Any] = {"started_at": NOON, "duration_ms": 3000.0}
    return RunFinished(run_id=run_id, **(fields | times | changes))


def an_end(run_id: str = "r1", **changes: Any) -> RunEnded:
    """The same, once it is kept."""
    fields: dict[str, Any] = {"graph": "shopping", "state": "completed", "steps": 2}
    times: dict[str, Any] = {"at": NOON + 3, "duration_ms": 3000.0}
    return RunEnded(run_id=run_id, **(fields | times | changes))


def a_step(step: str = "find", **changes: Any) -> StepEnded:
    """A step of it that has ended."""
    fields: dict[str, Any] = {"run_id": "r1", "state": "completed", "tool": "shop__find"}
    numbers: dict[str, Any] = {"at": NOON + 2, "attempts": 1, "duration_ms": 12.5}
    return StepEnded(step=step, **(fields | numbers | changes))
