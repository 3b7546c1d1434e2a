"""Requests and responses about runs."""

from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, WithJsonSchema, model_validator

from pegboard.features.plans.schemas import MAX_PARAMS
from pegboard.features.runs.question_schemas import QuestionAnswer
from pegboard.graphs.checks.structure import MAX_NODES

_CLOSED = ConfigDict(extra="forbid", frozen=True)

State = Literal[
    "pending", "ready", "in_progress", "completed", "failed", "cancelled",
    "waiting", "paused", "skipped", "unknown",
]  # fmt: skip
Params = Annotated[
    dict[str, Any],
    Field(
        max_length=MAX_PARAMS,
        description="Values of the parameters; the rest take the plan's own defaults.",
    ),
]


def _list_of(items: str, *required: str, ids: tuple[str, ...], without: str) -> dict[str, Any]:
    """The schema of a document with a list of items, which need these keys."""
    id_schema = {"type": ["string", "integer"], "minLength": 1, "maxLength": 200}
    text = {"type": "string", "minLength": 1}
    item = {
        "type": "object",
        "required": list(required),
        "properties": {key: id_schema if key in ids else text for key in required},
    }
    return {
        "type": "object",
        "required": [items],
        "not": {"required": [without]},
        "properties": {
            items: {"type": "array", "items": item, "minItems": 1, "maxItems": MAX_NODES}
        },
    }


_GRAPH_SCHEMA: dict[str, Any] = {
    "description": "A graph `{nodes: [...]}`, or a plan `{steps: [...]}`.",
    "oneOf": [
        _list_of("nodes", "id", ids=("id",), without="steps"),
        _list_of("steps", "step_id", "tool_id", ids=("step_id",), without="nodes"),
    ],
}
"""What a document cannot do without; other errors are reported as faults of the graph."""


class RunPlanBody(BaseModel):
    """The parameters of a run of a plan."""

    model_config = _CLOSED

    params: Params = Field(default_factory=dict[str, Any])


class RunBody(BaseModel):
    """A run of a stored plan, or of a graph that is part of the request."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        json_schema_extra={"oneOf": [{"required": [key]} for key in ("plan_id", "graph")]},
    )

    plan_id: Annotated[str, Field(min_length=1, max_length=200)] = ""
    graph: Annotated[dict[str, Any], WithJsonSchema(_GRAPH_SCHEMA)] = Field(
        default_factory=dict[str, Any]
    )
    params: Params = Field(default_factory=dict[str, Any])

    @model_validator(mode="after")
    def _named_once(self) -> Self:
        if len(self.model_fields_set & {"plan_id", "graph"}) != 1:
            raise ValueError("Give exactly one of 'plan_id' and 'graph'")
        return self


class AnswerBody(BaseModel):
    """An answer to a question of a run."""

    model_config = _CLOSED

    pending_id: Annotated[
        str, Field(min_length=1, max_length=1000, description="The `id` in the run's `pending`.")
    ]
    answer: Annotated[
        Any,
        Field(description="Matches its `schema`; without one, `{answer: one of its choices}`."),
    ]


class MessageBody(BaseModel):
    """A message to a run."""

    model_config = _CLOSED

    event: Annotated[str, Field(min_length=1, max_length=200, description="Name of the event.")]
    message: Any = None
    id: Annotated[
        str, Field(max_length=200, description="A message id that was used before is ignored.")
    ] = ""


class PendingAnswer(BaseModel):
    """Something that a run waits for."""

    model_config = _CLOSED

    id: str
    step: str
    kind: Literal["time", "event", "person", "approval", "unknown"]
    message: str = ""
    event: str = ""
    until: Annotated[float | None, Field(description="Unix seconds.")] = None
    schema_: Annotated[dict[str, Any], Field(alias="schema")] = Field(
        default_factory=dict[str, Any]
    )
    assignee: str = ""
    choices: list[str] = Field(default_factory=list[str])
    approval_id: Annotated[str, Field(description="The approval that a call waits for.")] = ""


class TryAnswer(BaseModel):
    """One of several tries of a call."""

    model_config = _CLOSED

    started_at: Annotated[float, Field(description="Unix seconds.")]
    duration_ms: float
    error_code: Annotated[str, Field(description="Why it failed; absent for one that did not.")] = (
        ""
    )


class WaitAnswer(BaseModel):
    """A time in which a step waited, for a person, an event, or a moment."""

    model_config = _CLOSED

    step: str
    started_at: Annotated[float, Field(description="Unix seconds.")]
    ended_at: Annotated[float | None, Field(description="Null while it waits.")]
    reason: str


class UsageAnswer(BaseModel):
    """What language models used."""

    model_config = _CLOSED

    requests: Annotated[int, Field(description="Calls of a model.")] = 0
    input_tokens: Annotated[int, Field(description="Cached ones included.")] = 0
    output_tokens: int = 0
    cached_tokens: Annotated[int, Field(description="Of the input, from the provider's cache.")] = 0
    reasoning_tokens: Annotated[int, Field(description="Of the output.")] = 0
    cost: Annotated[
        float | None, Field(description="US dollars; absent where a price is not known.")
    ] = None


class NodeAnswer(BaseModel):
    """State of a step, or of a part of it: an item, a round, an attempt, an inner step."""

    model_config = _CLOSED

    id: str
    state: State
    output: Any = None
    error: dict[str, Any] | None = None
    reason: str = ""
    started_at: Annotated[float, Field(description="Unix seconds.")] = 0
    duration_ms: float = 0
    attempts: int = 0
    tool: str = ""
    instead_of: Annotated[str, Field(description="The unavailable tool that it replaced.")] = ""
    tries: Annotated[
        list[TryAnswer], Field(description="Each try, if the call was tried more than once.")
    ] = []
    usage: UsageAnswer | None = None
    parts: "list[NodeAnswer]" = []


class TakeoverAnswer(BaseModel):
    """A time at which another server process continued a run."""

    model_config = _CLOSED

    at: Annotated[float, Field(description="Unix seconds.")]
    cause: Annotated[
        str,
        Field(
            description="`stopped`: the process before gave the run back; `lost`: it ended, or "
            "lost the database, before it could."
        ),
    ]


class RunAnswer(BaseModel):
    """A run."""

    model_config = _CLOSED

    run_id: str
    plan_id: str | None
    task_id: str | None
    graph: Annotated[str, Field(description="The name or id of what it runs.")]
    title: Annotated[
        str, Field(description="For people: the message that it answers, or the graph's name.")
    ]
    conversation: Annotated[
        str, Field(description="The conversation whose message it answers; empty for none.")
    ]
    state: State
    params: dict[str, Any]
    output: Any
    error: dict[str, Any] | None
    nodes: list[NodeAnswer]
    pending: list[PendingAnswer]
    waits: Annotated[
        list[WaitAnswer], Field(description="Past and present waits; in lists of runs empty.")
    ]
    takeovers: Annotated[
        list[TakeoverAnswer],
        Field(description="When other server processes continued it; in lists of runs empty."),
    ]
    questions: Annotated[
        list[QuestionAnswer],
        Field(description="What its tools ask a person now; in lists of runs empty."),
    ]
    usage: Annotated[
        UsageAnswer | None, Field(description="Of all steps; null where no model was asked.")
    ]
    principal: str
    created_at: Annotated[float, Field(description="Unix seconds.")]
    finished_at: float | None
    duration_ms: float
    shortened: Annotated[
        bool,
        Field(
            description="In a list: whether large parameters, outputs and parts of nodes were cut "
            "or left out; `GET /runs/{id}` has them."
        ),
    ] = False


class RunListAnswer(BaseModel):
    """One page of runs, newest first; running steps are shown only by `GET /runs/{id}`."""

    model_config = _CLOSED

    runs: list[RunAnswer]
    next_cursor: Annotated[
        str | None, Field(description="For the next page; null when this was the last.")
    ]


class RunFilter(BaseModel):
    """Query of `GET /runs`: filters that must all hold; empty means any."""

    model_config = _CLOSED

    state: Literal["", State] = ""
    plan_id: Annotated[str, Field(max_length=200)] = ""
    principal: Annotated[str, Field(max_length=200, description="Who started it.")] = ""
    assigned: Annotated[
        bool,
        Field(description="Runs of others that ask you, with their questions, instead of yours."),
    ] = False
    limit: Annotated[int, Field(ge=1, le=500, description="Runs on a page.")] = 50
    cursor: Annotated[
        str, Field(max_length=200, description="`next_cursor` of the page before; empty at first.")
    ] = ""


class RunWait(BaseModel):
    """Query of `GET /runs/{id}`."""

    model_config = _CLOSED

    wait: Annotated[
        float,
        Field(ge=0, le=60, description="Seconds to wait for the run to end or be suspended."),
    ] = 0
