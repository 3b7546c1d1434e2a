"""`RunResult`: the state of a run of a graph, and of each of its nodes."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from msgspec import Struct, to_builtins

from pegboard.core.graph import NodeState
from pegboard.core.model_messages import ModelUsage
from pegboard.core.result import CallTry

PendingKind = Literal["time", "event", "person", "approval", "unknown"]


class NodeRun(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The state of one node of a run, or of a part: an item, a round, an inner node, a fallback.

    Attributes:
        id: Its path in the run: `fetch`, `each[2]`, `inner/fetch`, `fetch~1`.
        output: Any JSON value, once completed.
        error: The safe part of the error, as from `error_to_dict`.
        reason: Why it was skipped or cancelled, or why its outcome is unknown.
        started_at: Unix seconds; 0 when it never started.
        attempts: The number of tool attempts.
        tool: The tool that answered, of those that were tried.
        instead_of: The tool of the graph that `tool` substituted, when it was missing.
        tries: Each try of the call, in order; empty when it was tried once.
        usage: What language models used in it and its parts; None where that is not counted here.
        parts: Items, rounds, the nodes of its inner graph, or attempts of several tools.
    """

    id: str
    state: NodeState
    output: Any = None
    error: Mapping[str, Any] | None = None
    reason: str = ""
    started_at: float = 0.0
    duration_ms: float = 0.0
    attempts: int = 0
    tool: str = ""
    instead_of: str = ""
    tries: tuple[CallTry, ...] = ()
    usage: ModelUsage | None = None
    parts: "tuple[NodeRun, ...]" = ()

    def count_usage(self) -> ModelUsage:
        """What language models used: its own count, else that of its parts."""
        if self.usage is not None:
            return self.usage
        return sum((part.count_usage() for part in self.parts), ModelUsage())

    def __iter__(self) -> "Iterator[NodeRun]":
        """Iterate over the node and all its parts, depth first."""
        yield self
        for part in self.parts:
            yield from part


class PendingStep(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A step of a suspended run that waits for something.

    Attributes:
        id: The address of an answer.
        step: The path of the waiting step.
        kind: `time`, `event` (a message to the run), `person` (a question), `approval` (of a call)
            or `unknown` (whether a call that was cut off took effect).
        message: For display.
        event: The name of the event.
        until: Unix seconds when the wait ends by itself; None for never.
        schema: JSON Schema of the message or the answer; empty for any.
        choices: The allowed answers, where there are only a few.
        approval_id: The approval that a call waits for.
    """

    id: str
    step: str
    kind: PendingKind
    message: str = ""
    event: str = ""
    until: float | None = None
    schema: Mapping[str, Any] = {}
    assignee: str = ""
    choices: tuple[str, ...] = ()
    approval_id: str = ""


class RunResult(Struct, frozen=True, kw_only=True):
    """The state of a run and of its nodes.

    ```python
    result = await run_graph(graph, {"url": "..."}, board=registry)
    result.state  # NodeState.COMPLETED
    result.output
    result.node("fetch").duration_ms
    ```

    Attributes:
        state: `in_progress`, `waiting` (see `pending`), `paused`, or final: `completed`, `failed`,
            `cancelled`.
        output: The output of the graph, once completed.
        error: The safe part of the error that made it fail.
        nodes: In graph order.
        started_at: Unix seconds.
    """

    run_id: str
    state: NodeState
    graph: str = ""
    output: Any = None
    error: Mapping[str, Any] | None = None
    nodes: tuple[NodeRun, ...] = ()
    pending: tuple[PendingStep, ...] = ()
    started_at: float = 0.0
    duration_ms: float = 0.0

    def node(self, id: str) -> NodeRun | None:  # noqa: A002 - a node is known by its id
        """The node, or the part of one, of this path; None when there is none."""
        return next((part for node in self.nodes for part in node if part.id == id), None)

    def count_usage(self) -> ModelUsage:
        """What language models used in the run."""
        return sum((node.count_usage() for node in self.nodes), ModelUsage())

    def to_dict(self) -> dict[str, Any]:
        """As JSON-compatible data."""
        return to_builtins(self)
