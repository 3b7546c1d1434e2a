"""Plans as RFC-0003 writes them."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, cast

from pydantic import Field, field_validator, model_validator

from pegboard.core.graph import Edge, Fallback, ForEach, Graph, Node
from pegboard.graphs.checks.structure import MAX_NODES
from pegboard.graphs.documents.models import Each, Form, Id, Json, RetryForm, Seconds, as_field


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


PLAN_ANNOTATIONS = frozenset(
    {"mode", "choices", "notes", "created_at", "runnable", "faults", "layers", "effects"}
    | {"approvals", "seconds", "longest", "mermaid"}
)
"""Fields that responses add to a plan; a plan sent back may contain them, and they are ignored."""


class PlanForm(Form):
    """A plan. Annotations of an earlier response are ignored."""

    plan_id: str = ""
    task_id: str = ""
    steps: tuple[StepForm, ...] = Field(max_length=MAX_NODES)
    name: str = ""
    description: str = ""
    params: Json = Field(default_factory=dict)
    output: Any = None
    concurrency: int = Field(default=16, ge=1, le=10_000)
    timeout: Seconds | None = None

    @model_validator(mode="before")
    @classmethod
    def _drop_annotations(cls, value: object) -> object:
        if not isinstance(value, Mapping):
            return value
        given = cast("Mapping[str, Any]", value)
        return {name: item for name, item in given.items() if name not in PLAN_ANNOTATIONS}

    def to_graph(self) -> Graph:
        """As the kernel knows it."""
        plain = self.model_dump(exclude={"plan_id", "steps"})
        return Graph(id=self.plan_id, nodes=tuple(step.to_node() for step in self.steps), **plain)
