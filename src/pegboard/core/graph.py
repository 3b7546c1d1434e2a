"""A procedure: tools, and a few control nodes, in an order.

A plan, an agent's decomposition, a workflow that people drew and a YAML template are all Graphs,
checked by one checker and run by one runner.

One vocabulary for data, everywhere: `params` (what the run was given), `steps.<id>.output` (what a
node gave), `env` (what the operator lets graphs read), `item` and `index` (inside `for_each`). As a
path it begins with `$.`, in a condition it is CEL.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Literal

from pegboard.core.tool import Retry

OnFailure = Literal["fail", "continue", "skip"]
"""What a failed node means for the rest: `fail` ends the run, `continue` goes on with no output,
`skip` skips what depends on it."""

Join = Literal["all", "any"]
"""When a node with several edges runs: when all of them hold, or when at least one does. Either way
it waits until all of them are known."""


class NodeState(StrEnum):
    """Where one node of a run is. The first six are those of RFC-0001."""

    PENDING = "pending"
    READY = "ready"
    IN_PROGRESS = "in_progress"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"
    WAITING = "waiting"
    PAUSED = "paused"
    SKIPPED = "skipped"
    UNKNOWN = "unknown"

    @property
    def is_final(self) -> bool:
        """Whether nothing more happens to it by itself."""
        return self in _FINAL


_FINAL = frozenset(
    {
        NodeState.COMPLETED,
        NodeState.FAILED,
        NodeState.CANCELLED,
        NodeState.SKIPPED,
        NodeState.UNKNOWN,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """One node needs another to have ended first.

    Attributes:
        node: The id of the one that comes first.
        when: A CEL condition over what is known then; where it is false the edge does not hold.
            Empty for always.
        outcome: Which end of the first one the edge is for: `completed`, `failed` (an error
            branch), or `any`.
    """

    node: str
    when: str = ""
    outcome: Literal["completed", "failed", "any"] = "completed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fallback:
    """Another tool that is tried when the ones before it failed.

    Attributes:
        input: None means the node's own.
    """

    tool: str
    input: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ForEach:
    """Run the node once for each item of a list; its output is the list of outputs, in order.

    Attributes:
        items: A path or a literal list.
        concurrency: How many at once.
        on_failure: Whether one failed item fails the node, or leaves null in its place.
    """

    items: Any
    concurrency: int = 8
    on_failure: Literal["fail", "continue"] = "fail"


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeat:
    """Run the node again until a condition holds: the one declared kind of loop.

    Attributes:
        until: A CEL condition in which `output` is the last output.
        most: Rounds at most.
    """

    until: str
    most: int = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """What a node of kind `wait` waits for, durably: a time, an event by name, or a person.

    Attributes:
        seconds: A path or a number; None for no time.
        event: The name of a message that the run is sent; empty for none.
        question: What a person is asked; empty for none. Never answered by itself.
        schema: JSON Schema of the message or the answer.
        assignee: Who is asked; empty for whoever may decide.
        timeout: Seconds after which the node fails with `timeout`; None for never.
    """

    seconds: Any = None
    event: str = ""
    question: str = ""
    schema: Mapping[str, Any] = field(default_factory=dict[str, Any])
    assignee: str = ""
    timeout: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Node:
    """One step of a graph.

    Attributes:
        id: Unique in its graph: letters, digits, `_` and `-`.
        kind: `tool` (calls one), `graph` (runs another graph), `wait`, `value` (its input is its
            output), or a kind that somebody registered with the runner.
        tool: Name or id of the tool; may carry a pin: `search_web@1.2`.
        input: Argument to value: a literal, a path (`$.params.url`, `$.steps.fetch.output.text`),
            or a list or mapping of these.
        graph: The inner graph of kind `graph`; its `params` are this node's input.
        wait: What a node of kind `wait` waits for.
        config: What another kind needs.
        edges: What must have ended before.
        when: A CEL condition; where it is false the node is skipped. Empty for always.
        fallbacks: Tried in order when the tool failed.
        retry: None leaves it to the tool.
        timeout: Seconds for the whole node, retries and fallbacks included; None for the run's.
        inferred: Which inputs a planner wired by itself: argument to reason.
    """

    id: str
    kind: str = "tool"
    title: str = ""
    tool: str = ""
    input: Mapping[str, Any] = field(default_factory=dict[str, Any])
    graph: "Graph | None" = None
    wait: Wait | None = None
    config: Mapping[str, Any] = field(default_factory=dict[str, Any])
    edges: tuple[Edge, ...] = ()
    join: Join = "all"
    when: str = ""
    for_each: ForEach | None = None
    repeat: Repeat | None = None
    fallbacks: tuple[Fallback, ...] = ()
    retry: Retry | None = None
    timeout: float | None = None
    on_failure: OnFailure = "fail"
    inferred: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def depends_on(self) -> tuple[str, ...]:
        """The ids of all nodes that come before, each once, in order."""
        return tuple(dict.fromkeys(edge.node for edge in self.edges))

    @property
    def tools(self) -> tuple[str, ...]:
        """The tool and its fallbacks, in the order in which they are tried."""
        first = (self.tool,) if self.tool else ()
        return (*first, *(item.tool for item in self.fallbacks))


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph:
    """Nodes in an order.

    Attributes:
        id: Of this graph, such as a plan's; empty until somebody gives one.
        task_id: The task that it was made for; empty outside plans.
        params: JSON Schema of what a run is given.
        output: What the run gives back: a path, a literal, or a mapping of these. None gives the
            outputs of the nodes that nothing depends on, by id.
        concurrency: How many nodes run at once.
        timeout: Seconds for the whole run; None for no limit.
    """

    nodes: tuple[Node, ...]
    id: str = ""
    name: str = ""
    version: str = "1.0.0"
    description: str = ""
    task_id: str = ""
    params: Mapping[str, Any] = field(default_factory=dict[str, Any])
    output: Any = None
    concurrency: int = 16
    timeout: float | None = None

    def __iter__(self) -> Iterator[Node]:
        return iter(self.nodes)

    def node(self, id: str) -> Node | None:  # noqa: A002 - a node is known by its id
        """The node of this id; None when there is none."""
        return next((item for item in self.nodes if item.id == id), None)

    def replace(self, **changes: Any) -> "Graph":
        """A copy with some fields changed."""
        return replace(self, **changes)


LARGE = 200
"""Nodes from which a graph is checked, read and rendered in another thread."""


def is_large(graph: Graph) -> bool:
    """Whether a graph, with those within it, takes long to look at."""
    waiting, count = [graph], 0
    while waiting and count < LARGE:
        inner = waiting.pop()
        count += len(inner.nodes)
        waiting += [node.graph for node in inner.nodes[:LARGE] if node.graph is not None]
    return count >= LARGE
