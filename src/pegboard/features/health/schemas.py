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
