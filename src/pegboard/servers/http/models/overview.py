"""Response models of `/overview`."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from pegboard.features.approvals.schemas import ApprovalAnswer
from pegboard.features.runs.schemas import State

_CLOSED = ConfigDict(extra="forbid")


class RunRow(BaseModel):
    """A run in an overview."""

    model_config = _CLOSED

    run_id: str
    conversation: Annotated[str, Field(description="Whose message it answers; empty for none.")]
    title: str
    state: State
    reason: Annotated[str, Field(description="Why it failed.")]
    steps: int
    steps_done: Annotated[int, Field(description="Of a run that is going on: when it last waited.")]
    principal: str
    created_at: Annotated[float, Field(description="Unix seconds.")]
    finished_at: float | None
    duration_ms: float


class ApprovalNeed(BaseModel):
    """An approval that waits."""

    model_config = _CLOSED

    kind: Literal["approval"]
    approval: ApprovalAnswer


class RunNeed(BaseModel):
    """A run that asks a question, or whether a call that was cut off took effect."""

    model_config = _CLOSED

    kind: Literal["person", "unknown"]
    run: RunRow
    message: str
    pending_id: Annotated[str, Field(description="For `POST /runs/{run_id}/answers`.")]


class HeldNeed(BaseModel):
    """A source whose definitions wait for approval."""

    model_config = _CLOSED

    kind: Literal["held"]
    source: str
    count: int


class SourceNeed(BaseModel):
    """A source that fails."""

    model_config = _CLOSED

    kind: Literal["source"]
    source: str
    message: str


class NeedList(BaseModel):
    """What needs a person."""

    model_config = _CLOSED

    approvals: Annotated[int, Field(description="Approvals that wait; at most 100 are counted.")]
    count: Annotated[int, Field(description="All that waits.")]
    items: Annotated[
        list[ApprovalNeed | RunNeed | HeldNeed | SourceNeed],
        Field(description="The first five; approvals first."),
    ]


class BoardRow(BaseModel):
    """A source and the states of its tools, of those that you may see."""

    model_config = _CLOSED

    source: Annotated[str, Field(description="Empty for tools of the program itself.")]
    title: str
    kind: str
    status: Literal["pending", "ok", "degraded", "failed"]
    reason: str
    tools: int
    ready: int
    asks: Annotated[int, Field(description="Tools that run after an approval.")]
    unavailable: int
    off: Annotated[int, Field(description="Tools that are turned off.")]
    held: Annotated[int, Field(description="Definitions that wait for approval.")]


class HourRow(BaseModel):
    """The calls of an hour."""

    model_config = _CLOSED

    calls: int
    failed: int


class DayAnswer(BaseModel):
    """The calls of the last 24 hours: all with the scope `audit:read`, else your own."""

    model_config = _CLOSED

    since: Annotated[float, Field(description="Unix seconds.")]
    until: float
    calls: int
    failed: Annotated[int, Field(description="They failed, or their tool was unavailable.")]
    p50_ms: Annotated[
        float | None, Field(description="Half of the newest calls took at most this long.")
    ]
    p95_ms: float | None
    hours: Annotated[list[HourRow], Field(description="24, the earliest first.")]


class OverviewAnswer(BaseModel):
    """The home page of the console."""

    model_config = _CLOSED

    needs_you: NeedList
    latest: Annotated[
        list[RunRow], Field(description="The five newest; the last one of each conversation.")
    ]
    board: list[BoardRow]
    tools: Annotated[int, Field(description="Tools that you may see, of all sources.")]
    day: DayAnswer
    examples: Annotated[list[str], Field(description="What this board can do, as up to 3 wishes.")]
    model_configured: Annotated[bool, Field(description="Whether agents have a language model.")]
    problem: Annotated[
        str, Field(description="Why the last change of the board file was refused; else empty.")
    ]
