"""Responses about health."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

HealthWord = Literal["healthy", "degraded", "unhealthy", "unknown"]


class ToolHealthAnswer(BaseModel):
    """Health of a tool."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    tool_id: str
    status: Annotated[HealthWord, Field(description="Including the health of the tools it needs.")]
    reason: str
    own_status: Annotated[HealthWord, Field(description="Of the tool alone.")]
    own_reason: str
    calls: Annotated[int, Field(description="Number of recent calls considered.")]
    failures: Annotated[float | None, Field(description="Share of them that failed.")]
    latency_ms: Annotated[float | None, Field(description="Median of the successful ones.")]


class ProposalAnswer(BaseModel):
    """A tool that could replace another, and why."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    tool_id: str
    name: str
    score: Annotated[float, Field(ge=0, le=1, description="How well it matches.")]
    is_certain: Annotated[bool, Field(description="Whether it matches without doubt.")]
    reasons: Annotated[list[str], Field(description="Reasons for it, and every doubt.")]
    input_mapping: Annotated[
        dict[str, str],
        Field(description="For each of its arguments, the argument of the replaced tool."),
    ]
    status: HealthWord


class ReplacementsAnswer(BaseModel):
    """A tool, and the tools that could replace it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    tool_id: str
    name: str
    is_gone: Annotated[bool, Field(description="Whether it is not on the board now.")]
    status: HealthWord
    reason: str
    capabilities: Annotated[list[str], Field(description="A replacement has one of these.")]
    proposals: Annotated[list[ProposalAnswer], Field(description="Best first.")]
