"""What is known of a run of a graph, while it goes on and when it has ended."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from msgspec import Struct, to_builtins

from pegboard.core.graph import NodeState

PendingKind = Literal["time", "event", "person", "approval", "unknown"]


class NodeRun(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How one node of a run is, or one part of it: an item, a round, a node of a graph, a try.

    Attributes:
        id: Its path in the run: `fetch`, `each[2]`, `inner/fetch`, `fetch~1`.
        output: Any JSON value, of a completed one.
        error: The safe part of what failed, as `error_to_dict` gives it.
        reason: Why it was skipped or cancelled, or why nobody knows.
        started_at: Unix seconds; 0 for what never started.
        attempts: How often tools were started for it.
        tool: Which tool answered, of those that were tried.
        instead_of: The tool of the graph that it stood in for, when none of the graph was there.
        parts: Items, rounds, the nodes of its inner graph, or tries of several tools.
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
    parts: "tuple[NodeRun, ...]" = ()

    def __iter__(self) -> "Iterator[NodeRun]":
        """Itself, then all that is within it."""
        yield self
        for part in self.parts:
            yield from part


class PendingStep(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Something that a run waits for.

    Attributes:
        id: What an answer is addressed to.
        step: Which part of the run waits.
        kind: `time`, `event` (a message to the run), `person` (a question), `approval` (of a call)
            or `unknown` (whether a call that was cut off took effect).
        message: For people.
        event: The name of the event.
        until: Unix seconds when it stops waiting by itself; None for never.
        schema: JSON Schema of the message or the answer; empty for any.
        choices: What may be answered, where it is one of a few words.
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
    """A run: how it is now, and how each of its nodes is.

    ```python
    result = await run_graph(graph, {"url": "..."}, board=registry)
    result.state  # NodeState.COMPLETED
    result.output
    result.node("fetch").duration_ms
    ```

    Attributes:
        state: `in_progress`, `waiting` (see `pending`), `paused`, or final: `completed`, `failed`,
            `cancelled`.
        output: What the graph gives back, once it has completed.
        error: The safe part of what made it fail.
        nodes: In the order of the graph.
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

    def to_dict(self) -> dict[str, Any]:
        """As JSON-compatible data."""
        return to_builtins(self)
