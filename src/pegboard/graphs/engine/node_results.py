"""How the outcome of a node becomes a `NodeRun`, a record, and data for other nodes."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import convert, structs, to_builtins

from pegboard.core.graph import NodeState
from pegboard.core.result import ToolResult, error_to_dict
from pegboard.core.run import NodeRun
from pegboard.errors import PegboardError, ToolFailed


def as_failed(step: str, error: PegboardError, **known: Any) -> NodeRun:
    """A node that failed, with the public part of the error."""
    return NodeRun(id=step, state=NodeState.FAILED, error=error_to_dict(error), **known)


def as_cancelled(step: str, reason: str, **known: Any) -> NodeRun:
    """A node that did not start, or that ended before it had an effect."""
    return NodeRun(id=step, state=NodeState.CANCELLED, reason=reason, **known)


def from_tool_result(step: str, result: ToolResult, output: Any, **known: Any) -> NodeRun:
    """A node whose tool returned a result."""
    if result.is_error:
        error = result.error or ToolFailed(result.text or "The tool failed.")
        failed = as_failed(step, error, **known)
        if result.meta.account and failed.error is not None:
            named = {**failed.error, "account": result.meta.account}
            return structs.replace(failed, error=named)
        return failed
    return NodeRun(id=step, state=NodeState.COMPLETED, output=output, **known)


def combine(step: str, parts: Sequence[NodeRun], **known: Any) -> NodeRun:
    """A node that consists of parts, from the start of the first to the end of the last."""
    begun = [part for part in parts if part.started_at]
    started_at = min((part.started_at for part in begun), default=0.0)
    ended_at = max((part.started_at + part.duration_ms / 1000 for part in begun), default=0.0)
    return NodeRun(
        id=step,
        started_at=started_at,
        duration_ms=round((ended_at - started_at) * 1000, 3),
        attempts=sum(part.attempts for part in parts),
        parts=tuple(parts),
        **known,
    )


def end_time(run: NodeRun, ready_at: float | None) -> float | None:
    """When a node ended, in Unix seconds; for one that never started, when it could have."""
    return run.started_at + run.duration_ms / 1000 if run.started_at else ready_at


def to_record(run: NodeRun) -> dict[str, Any]:
    """The form in which it is stored."""
    return to_builtins(run)


def from_record(step: str, value: Mapping[str, Any]) -> NodeRun:
    """Read the stored form."""
    return structs.replace(convert(value, NodeRun), id=step)


def to_data(run: NodeRun) -> dict[str, Any]:
    """What other nodes read of it: `steps.<id>`."""
    data: dict[str, Any] = {"state": run.state.value, "output": run.output}
    if run.error is not None:
        data["error"] = run.error
    return data
