"""Requests and responses about plans."""

from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    Strict,
    WithJsonSchema,
    model_validator,
)

from pegboard.planning import ChainLink, PlanRequest
from pegboard.schemas.validator import compile_schema

_CLOSED = ConfigDict(extra="forbid", frozen=True)
_ONE_OF = ("goal", "capabilities_needed", "chain")

MAX_PARAMS = 1_000
Text = Annotated[str, Field(min_length=1, max_length=200)]
Params = Annotated[
    dict[str, Any],
    Field(
        max_length=MAX_PARAMS,
        description="Parameters of a run, by example: their values define the types.",
    ),
]


def _integral(value: Any) -> Any:
    """Read a whole JSON number such as 2.0 as an integer."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


_PARAMS_SCHEMA: dict[str, Any] = {
    "description": "JSON Schema 2020-12 of the params, where their values do not tell enough. "
    "Further keywords are taken too.",
    "anyOf": [
        {"type": "null"},
        {
            "type": "object",
            "properties": {
                "type": {"const": "object"},
                "properties": {
                    "type": "object",
                    "maxProperties": MAX_PARAMS,
                    "additionalProperties": {
                        "type": ["object", "boolean"],
                        "properties": {
                            "type": {
                                "enum": [
                                    *("string", "integer", "number", "boolean"),
                                    *("object", "array", "null"),
                                ]
                            }
                        },
                    },
                },
                "required": {
                    "type": "array",
                    "items": {"type": "string"},
                    "uniqueItems": True,
                },
            },
            "required": ["type", "properties"],
        },
    ],
}
_CHECK = compile_schema("params_schema", _PARAMS_SCHEMA)


def _object_schema(value: Any) -> Any:
    """Check only the outline; other errors of the schema are faults of the plan."""
    if not _CHECK.is_valid(value):
        raise ValueError("write a JSON Schema with 'type: object' and 'properties'")
    return value


class ChainLinkBody(BaseModel):
    """One tool of a fallback chain."""

    model_config = _CLOSED

    tool_id: Annotated[Text, Field(description="Name or id.")]
    input_mapping: dict[str, Any] = Field(default_factory=dict[str, Any])


class PlanRequestBody(BaseModel):
    """A request for a plan, in exactly one of three ways."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        json_schema_extra={"oneOf": [{"required": [key]} for key in _ONE_OF]},
    )

    task_id: Annotated[str, Field(max_length=200, description="Stored in the plan.")] = ""
    goal: Annotated[Text, Field(description="A tool, or a task that a tool supports.")] = ""
    capabilities_needed: Annotated[
        list[Text],
        Field(min_length=1, max_length=100, description="Each becomes one step."),
    ] = Field(default_factory=list[Text])
    chain: Annotated[
        list[ChainLinkBody],
        Field(min_length=1, max_length=20, description="Tools for one step: the first that works."),
    ] = Field(default_factory=list[ChainLinkBody])
    params: Params = Field(default_factory=dict[str, Any])
    params_schema: Annotated[
        dict[str, Any] | None,
        BeforeValidator(_object_schema),
        WithJsonSchema(_PARAMS_SCHEMA),
    ] = None
    fallbacks: Annotated[
        int,
        Field(ge=0, le=10, description="Number of other tools that a step may fall back to."),
        Strict(),
        BeforeValidator(_integral),  # last, so that the schema has the validators before it
    ] = 2

    @model_validator(mode="after")
    def _asked_once(self) -> Self:
        if len(self.model_fields_set & set(_ONE_OF)) != 1:
            raise ValueError("Give exactly one of 'goal', 'capabilities_needed' and 'chain'")
        return self

    def to_request(self) -> PlanRequest:
        """Return the planner's request."""
        return PlanRequest(
            goal=self.goal,
            capabilities=tuple(self.capabilities_needed),
            chain=tuple(
                ChainLink(tool=item.tool_id, input=item.input_mapping) for item in self.chain
            ),
            params=self.params,
            params_schema=self.params_schema,
            fallbacks=self.fallbacks,
            task_id=self.task_id,
        )


class FaultAnswer(BaseModel):
    """A fault of a plan, or a note."""

    model_config = _CLOSED

    code: str
    place: Annotated[
        str, Field(description="As `steps.price.input_mapping.kg`; in a graph `nodes[2].input.kg`.")
    ]
    step: Annotated[str, Field(description="The id of the step; empty for the plan as a whole.")]
    message: str
    severity: Annotated[
        Literal["fault", "note"], Field(description="A plan that has only notes can run.")
    ]


class CheckAnswer(BaseModel):
    """What a run of the plan would do; nothing has run."""

    model_config = _CLOSED

    runnable: bool
    faults: list[FaultAnswer]
    layers: Annotated[
        list[list[str]], Field(description="Step ids; those of one layer run at the same time.")
    ]
    effects: Annotated[
        dict[str, str], Field(description="By step, for those that may change something.")
    ]
    approvals: Annotated[list[str], Field(description="Steps before which a person is asked.")]
    seconds: Annotated[float | None, Field(description="Estimated duration; null if unknown.")]
    longest: Annotated[
        float | None, Field(description="Longest duration, by the timeouts of the tools.")
    ]
    mermaid: Annotated[str, Field(description="The plan as a Mermaid flow chart.")]


class FallbackAnswer(BaseModel):
    """A fallback tool of a step."""

    model_config = _CLOSED

    tool_id: str
    input_mapping: dict[str, Any] = Field(default_factory=dict[str, Any])


class StepAnswer(BaseModel):
    """One step of a plan."""

    model_config = _CLOSED

    step_id: int | str
    tool_id: str
    input_mapping: dict[str, Any] = Field(default_factory=dict[str, Any])
    depends_on: list[int | str] = Field(default_factory=list[int | str])
    title: str = ""
    fallbacks: list[FallbackAnswer] = Field(default_factory=list[FallbackAnswer])
    inferred: Annotated[
        dict[str, str], Field(description="Inputs that the planner mapped itself, and why.")
    ] = Field(default_factory=dict[str, str])


class ChoiceAnswer(BaseModel):
    """Why the tool of a step was chosen."""

    model_config = _CLOSED

    step: str
    wanted: str
    tool: str
    reason: str
    alternatives: list[str]
    scores: dict[str, float]


class PlanAnswer(CheckAnswer):
    """A plan as in RFC-0003, and its check."""

    task_id: str
    plan_id: str
    steps: list[StepAnswer]
    params: Annotated[dict[str, Any], Field(description="JSON Schema of the run's parameters.")]
    created_at: Annotated[float, Field(description="Unix seconds.")]
    mode: Annotated[str, Field(description="How it was made: `direct`, `capabilities` or `chain`.")]
    choices: list[ChoiceAnswer]
    notes: Annotated[list[str], Field(description="What the planner left open.")]
