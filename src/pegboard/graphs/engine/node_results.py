"""How what happened to a node is said in a `NodeRun`."""

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import convert, structs, to_builtins

from pegboard.core.graph import NodeState
from pegboard.core.result import ToolResult, error_to_dict
from pegboard.core.run import NodeRun
from pegboard.errors import PegboardError, ToolFailed


def failed(step: str, error: PegboardError, **known: Any) -> NodeRun:
    """A node that failed, with the safe part of the error."""
    return NodeRun(id=step, state=NodeState.FAILED, error=error_to_dict(error), **known)


def cancelled(step: str, reason: str, **known: Any) -> NodeRun:
    """A node that was not started, or was ended before it did anything."""
    return NodeRun(id=step, state=NodeState.CANCELLED, reason=reason, **known)


def answered(step: str, result: ToolResult, output: Any, **known: Any) -> NodeRun:
    """A node whose tool has answered."""
    if result.is_error:
        error = result.error or ToolFailed(result.text or "The tool failed.")
        return failed(step, error, **known)
    return NodeRun(id=step, state=NodeState.COMPLETED, output=output, **known)


def whole(step: str, parts: Sequence[NodeRun], **known: Any) -> NodeRun:
    """A node that consists of parts: from when the first began until the last ended."""
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


def ended_at(run: NodeRun, since: float | None) -> float | None:
    """When a node had ended, in Unix seconds; one that never began ended when it might have."""
    return run.started_at + run.duration_ms / 1000 if run.started_at else since


def to_record(run: NodeRun) -> dict[str, Any]:
    """As it is stored."""
    return to_builtins(run)


def from_record(step: str, value: Mapping[str, Any]) -> NodeRun:
    """As it was stored."""
    return structs.replace(convert(value, NodeRun), id=step)


def as_data(run: NodeRun) -> dict[str, Any]:
    """What other nodes may know of it: `steps.<id>`."""
    data: dict[str, Any] = {"state": run.state.value, "output": run.output}
    if run.error is not None:
        data["error"] = run.error
    return data
