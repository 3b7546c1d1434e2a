"""What answers about health look like."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

HealthWord = Literal["healthy", "degraded", "unhealthy", "unknown"]


class ToolHealthAnswer(BaseModel):
    """How a tool is doing."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    tool_id: str
    status: Annotated[HealthWord, Field(description="What it needs taken into account.")]
    reason: str
    own_status: Annotated[HealthWord, Field(description="Of the tool by itself.")]
    own_reason: str
    calls: Annotated[int, Field(description="How many of its latest calls were looked at.")]
    failures: Annotated[float | None, Field(description="The share of them that failed.")]
    latency_ms: Annotated[float | None, Field(description="The median of those that did not.")]


class ProposalAnswer(BaseModel):
    """A tool that could stand in for another, and why."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    tool_id: str
    name: str
    score: Annotated[
        float, Field(ge=0, le=1, description="How sure it is that nobody notices the difference.")
    ]
    is_certain: Annotated[bool, Field(description="Nothing speaks against it.")]
    reasons: Annotated[list[str], Field(description="What speaks for it, and every doubt.")]
    input_mapping: Annotated[
        dict[str, str],
        Field(description="For each of its arguments the argument of the other that it gets."),
    ]
    status: HealthWord


class ReplacementsAnswer(BaseModel):
    """A tool, and what could stand in for it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    tool_id: str
    name: str
    is_gone: Annotated[bool, Field(description="It is not on the board now.")]
    status: HealthWord
    reason: str
    capabilities: Annotated[list[str], Field(description="A stand-in has one of these.")]
    proposals: Annotated[list[ProposalAnswer], Field(description="The best first.")]
