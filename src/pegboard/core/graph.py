"""`Graph`: a directed acyclic graph of tools and a few control nodes.

Plans, agents' decompositions, designed workflows and YAML templates are all graphs, with one
checker and one runner.

Data has the same names everywhere: `params` (the input of the run), `steps.<id>.output` (the output
of a node), `env` (variables that the operator exposes), `item` and `index` (inside `for_each`). A
path begins with `$.`; a condition is CEL.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any, Literal

from pegboard.core.tool import Retry

OnFailure = Literal["fail", "continue", "skip"]
"""The effect of a failed node: `fail` ends the run, `continue` continues without its output,
`skip` skips its dependants."""

Join = Literal["all", "any"]
"""When a node with several edges runs: if all of them hold, or if at least one does. In both cases
it waits until all of them are decided."""


class NodeState(StrEnum):
    """The state of a node or a run. The first six are those of RFC-0001."""

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
        """Whether the state changes no more by itself."""
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
    """A dependency of a node on another node.

    Attributes:
        node: The id of the prerequisite.
        when: A CEL condition; the edge does not hold when it is false. Empty for always.
        outcome: The outcome of the prerequisite that the edge requires: `completed`, `failed` (an
            error branch), or `any`.
    """

    node: str
    when: str = ""
    outcome: Literal["completed", "failed", "any"] = "completed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fallback:
    """A tool that is tried when those before it have failed.

    Attributes:
        input: None means the input of the node.
    """

    tool: str
    input: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ForEach:
    """Run the node once for each item of a list; its output is the list of outputs, in order.

    Attributes:
        items: A path or a literal list.
        concurrency: Items in parallel.
        on_failure: Whether a failed item fails the node, or leaves null in its place.
    """

    items: Any
    concurrency: int = 8
    on_failure: Literal["fail", "continue"] = "fail"


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeat:
    """Run the node again until a condition holds.

    Attributes:
        until: A CEL condition in which `output` is the last output.
        most: The maximal number of rounds.
    """

    until: str
    most: int = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """What a node of kind `wait` waits for: a time, a named event, or a person.

    Attributes:
        seconds: A path or a number; None for no time.
        event: The name of the awaited event; empty for none.
        question: The question to a person; empty for none.
        schema: JSON Schema of the message or the answer.
        assignee: The person to ask, who may answer: an id, a handle, an e-mail address, or a role
            as `organisation/role`; empty for callers who see the run.
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
            output), or a kind that is registered with the runner.
        tool: Name or id of the tool; may carry a pin: `search_web@1.2`.
        input: Argument to value: a literal, a path (`$.params.url`, `$.steps.fetch.output.text`),
            or a list or mapping of these.
        graph: The inner graph of kind `graph`; its `params` are this node's input.
        wait: What a node of kind `wait` waits for.
        config: The configuration of other kinds; for a tool, `account` names the credential of the
            run's owner to call it with, its fallbacks and a substitute too.
        edges: The prerequisites.
        when: A CEL condition; where it is false the node is skipped. Empty for always.
        fallbacks: Tried in order when the tool fails.
        retry: None leaves it to the tool.
        timeout: Seconds for the whole node, retries and fallbacks included; None for the run's.
        inferred: Inputs that a planner inferred: argument to reason.
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
        """The ids of all prerequisites, each once, in order."""
        return tuple(dict.fromkeys(edge.node for edge in self.edges))

    @property
    def tools(self) -> tuple[str, ...]:
        """The tool and its fallbacks, in the order in which they are tried."""
        first = (self.tool,) if self.tool else ()
        return (*first, *(item.tool for item in self.fallbacks))


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph:
    """Nodes with their dependencies.

    Attributes:
        id: Of this graph, such as the id of a plan; empty when none is assigned.
        task_id: The task that it plans; empty outside plans.
        params: JSON Schema of the input of a run.
        output: The output of a run: a path, a literal, or a mapping of these. None means the
            outputs of the nodes without dependants, by id.
        concurrency: Nodes in parallel.
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
    """Whether a graph, inner graphs included, takes long to process."""
    waiting, count = [graph], 0
    while waiting and count < LARGE:
        inner = waiting.pop()
        count += len(inner.nodes)
        waiting += [node.graph for node in inner.nodes[:LARGE] if node.graph is not None]
    return count >= LARGE
