"""Plans as RFC-0003 writes them."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, cast

from pydantic import Field, field_validator, model_validator

from pegboard.core.graph import Edge, Fallback, ForEach, Graph, Node
from pegboard.errors import InvalidRequest
from pegboard.graphs.checks.structure import MOST_NODES
from pegboard.graphs.documents.models import Each, Form, Id, Json, RetryForm, Seconds, as_field
from pegboard.graphs.documents.read import write_retry


class PlanFallbackForm(Form):
    """Another tool to try; a bare id stands for one with the same input."""

    tool_id: str = Field(min_length=1)
    input_mapping: Json | None = None


class StepForm(Form):
    """One step of a plan."""

    step_id: Id
    tool_id: str = Field(min_length=1)
    input_mapping: Json = Field(default_factory=dict)
    depends_on: tuple[Id, ...] = ()
    when: str = ""
    for_each: Each | None = None
    fallbacks: tuple[Annotated[PlanFallbackForm, as_field("tool_id")], ...] = ()
    retry: RetryForm | None = None
    timeout: Seconds | None = None
    on_failure: Literal["fail", "continue", "skip"] = "fail"
    title: str = ""
    inferred: dict[str, str] = Field(default_factory=dict)

    @field_validator("retry", mode="before")
    @classmethod
    def _as_in_the_rfc(cls, value: object) -> object:
        """`backoff_ms` is the RFC's word for `backoff`, in milliseconds."""
        if not isinstance(value, Mapping):
            return value
        given = dict(cast("Mapping[str, Any]", value))
        milliseconds = given.pop("backoff_ms", None)
        if isinstance(milliseconds, (int, float)) and "backoff" not in given:
            given["backoff"] = milliseconds / 1000
        return given

    def to_node(self) -> Node:
        """As the kernel knows it."""
        return Node(
            id=self.step_id,
            title=self.title,
            tool=self.tool_id,
            input=self.input_mapping,
            edges=tuple(Edge(node=node) for node in self.depends_on),
            when=self.when,
            for_each=None if self.for_each is None else ForEach(**self.for_each.model_dump()),
            fallbacks=tuple(
                Fallback(tool=item.tool_id, input=item.input_mapping) for item in self.fallbacks
            ),
            retry=None if self.retry is None else self.retry.to_retry(),
            timeout=self.timeout,
            on_failure=self.on_failure,
            inferred=self.inferred,
        )


TOLD = frozenset(
    {"mode", "choices", "notes", "created_at", "runnable", "faults", "layers", "effects"}
    | {"approvals", "seconds", "longest", "mermaid"}
)
"""What is told of a plan that was made: it goes out with the plan, and may come back with it."""


class PlanForm(Form):
    """A plan; what was told of it may stand beside it, and says nothing."""

    plan_id: str = ""
    task_id: str = ""
    steps: tuple[StepForm, ...] = Field(max_length=MOST_NODES)
    name: str = ""
    description: str = ""
    params: Json = Field(default_factory=dict)
    output: Any = None
    concurrency: int = Field(default=16, ge=1, le=10_000)
    timeout: Seconds | None = None

    @model_validator(mode="before")
    @classmethod
    def _without_what_was_told(cls, value: object) -> object:
        if not isinstance(value, Mapping):
            return value
        given = cast("Mapping[str, Any]", value)
        return {name: item for name, item in given.items() if name not in TOLD}

    def to_graph(self) -> Graph:
        """As the kernel knows it."""
        plain = self.model_dump(exclude={"plan_id", "steps"})
        return Graph(id=self.plan_id, nodes=tuple(step.to_node() for step in self.steps), **plain)


def plan_of(graph: Graph) -> dict[str, Any]:
    """The plan that says this graph.

    Raises:
        InvalidRequest: It has what a plan cannot say; names the nodes.
    """
    if beyond := [node.id for node in graph if _is_beyond_a_plan(node)]:
        raise InvalidRequest(f"A plan cannot say what these nodes are: {', '.join(beyond)}.")
    written: dict[str, Any] = {"plan_id": graph.id, "task_id": graph.task_id}
    for name in ("name", "description", "params", "output", "timeout"):
        if value := getattr(graph, name):
            written[name] = value
    if graph.concurrency != Graph(nodes=()).concurrency:
        written["concurrency"] = graph.concurrency
    return written | {"steps": [_step(node) for node in graph]}


def _is_beyond_a_plan(node: Node) -> bool:
    has_plain_edges = all(edge == Edge(node=edge.node) for edge in node.edges)
    is_one_call = node.kind == "tool" and node.repeat is None and not node.config
    return not is_one_call or node.join != "all" or not has_plain_edges


def _step(node: Node) -> dict[str, Any]:
    step: dict[str, Any] = {"step_id": _number(node.id), "tool_id": node.tool}
    if node.input:
        step["input_mapping"] = dict(node.input)
    if node.edges:
        step["depends_on"] = [_number(name) for name in node.depends_on]
    for name in ("title", "when", "timeout", "inferred"):
        if value := getattr(node, name):
            step[name] = value
    if node.on_failure != "fail":
        step["on_failure"] = node.on_failure
    if node.for_each is not None:
        step["for_each"] = {
            "items": node.for_each.items,
            "concurrency": node.for_each.concurrency,
            "on_failure": node.for_each.on_failure,
        }
    if node.fallbacks:
        step["fallbacks"] = [_fallback(item) for item in node.fallbacks]
    if node.retry is not None:
        step["retry"] = write_retry(node.retry)
    return step


def _fallback(item: Fallback) -> dict[str, Any]:
    written: dict[str, Any] = {"tool_id": item.tool}
    if item.input is not None:
        written["input_mapping"] = dict(item.input)
    return written


def _number(node_id: str) -> int | str:
    """An id as the RFC writes it: a number where it is one."""
    is_number = node_id.isascii() and node_id.isdigit() and str(int(node_id)) == node_id
    return int(node_id) if is_number else node_id
