"""What a graph looks like as a document; the models that read it and draw its JSON Schema."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from pegboard.core.graph import Edge, Fallback, ForEach, Graph, Node, Repeat, Wait
from pegboard.core.tool import Retry
from pegboard.graphs.checks.structure import MAX_NODES


def _id(value: object) -> object:
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


Id = Annotated[str, BeforeValidator(_id), Field(min_length=1, max_length=200)]
"""An id of a node: text, or a whole number that stands for its text."""

Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Json = dict[str, Any]


class Form(BaseModel):
    """Closed and frozen, as everything that comes from outside."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class RetryForm(Form):
    """How often, and how long to wait; seconds."""

    max_retries: int = Field(default=2, ge=0, le=100)
    backoff: float = Field(default=0.2, ge=0)
    max_backoff: float = Field(default=10.0, ge=0)
    on: tuple[str, ...] = ()

    def to_retry(self) -> Retry:
        """As the kernel knows it."""
        return Retry(**self.model_dump())


class EdgeForm(Form):
    """An edge; a bare id stands for one that always holds."""

    node: Id
    when: str = ""
    outcome: Literal["completed", "failed", "any"] = "completed"


class FallbackForm(Form):
    """Another tool to try; a bare name stands for one with the same input."""

    tool: str = Field(min_length=1)
    input: Json | None = None


class ForEachForm(Form):
    """Once for each item; a bare path or list stands for its items."""

    items: Any
    concurrency: int = Field(default=8, ge=1, le=1_000)
    on_failure: Literal["fail", "continue"] = "fail"


class RepeatForm(Form):
    """Again until a condition holds."""

    until: str = Field(min_length=1)
    most: int = Field(default=10, ge=1, le=10_000)


class WaitForm(Form):
    """What is waited for."""

    model_config = ConfigDict(extra="forbid", frozen=True, protected_namespaces=())

    seconds: Any = None
    event: str = ""
    question: str = ""
    answer_schema: Json = Field(default_factory=dict, alias="schema")
    assignee: str = ""
    timeout: Seconds | None = None

    def to_wait(self) -> Wait:
        """As the kernel knows it."""
        return Wait(**self.model_dump(by_alias=True))


def as_field(field: str) -> BeforeValidator:
    """A value that is no object stands for an object with this one field."""

    def wrapped(value: object) -> object:
        return cast("object", value) if isinstance(value, Mapping) else {field: value}

    return BeforeValidator(wrapped)


Edges = tuple[Annotated[EdgeForm, as_field("node")], ...]
Fallbacks = tuple[Annotated[FallbackForm, as_field("tool")], ...]
Each = Annotated[ForEachForm, as_field("items")]


class NodeForm(Form):
    """One node."""

    id: Id
    kind: str = "tool"
    title: str = ""
    tool: str = ""
    input: Json = Field(default_factory=dict)
    graph: "GraphForm | None" = None
    wait: WaitForm | None = None
    config: Json = Field(default_factory=dict)
    edges: Edges = ()
    join: Literal["all", "any"] = "all"
    when: str = ""
    for_each: Each | None = None
    repeat: RepeatForm | None = None
    fallbacks: Fallbacks = ()
    retry: RetryForm | None = None
    timeout: Seconds | None = None
    on_failure: Literal["fail", "continue", "skip"] = "fail"
    inferred: dict[str, str] = Field(default_factory=dict)

    def to_node(self) -> Node:
        """As the kernel knows it."""
        plain = self.model_dump(
            exclude={"graph", "wait", "edges", "for_each", "repeat", "fallbacks", "retry"}
        )
        return Node(
            **plain,
            graph=None if self.graph is None else self.graph.to_graph(),
            wait=None if self.wait is None else self.wait.to_wait(),
            edges=tuple(Edge(**edge.model_dump()) for edge in self.edges),
            for_each=None if self.for_each is None else ForEach(**self.for_each.model_dump()),
            repeat=None if self.repeat is None else Repeat(**self.repeat.model_dump()),
            fallbacks=tuple(Fallback(**item.model_dump()) for item in self.fallbacks),
            retry=None if self.retry is None else self.retry.to_retry(),
        )


class GraphForm(Form):
    """A graph."""

    nodes: tuple[NodeForm, ...] = Field(max_length=MAX_NODES)
    id: str = ""
    name: str = ""
    version: str = "1.0.0"
    description: str = ""
    task_id: str = ""
    params: Json = Field(default_factory=dict)
    output: Any = None
    concurrency: int = Field(default=16, ge=1, le=10_000)
    timeout: Seconds | None = None

    def to_graph(self) -> Graph:
        """As the kernel knows it."""
        plain = self.model_dump(exclude={"nodes"})
        return Graph(nodes=tuple(node.to_node() for node in self.nodes), **plain)
