"""Response models of sources, recorded calls and stored results."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from pegboard.servers.http.models.responses import NextCursor

_CLOSED = ConfigDict(extra="forbid")


class SourceAnswer(BaseModel):
    """A source and its state."""

    model_config = _CLOSED

    name: str
    kind: str
    title: str
    status: Annotated[
        Literal["pending", "ok", "degraded", "failed"],
        Field(description="`pending`: it has not responded yet; its tools are added when it does."),
    ]
    reason: Annotated[
        str, Field(description="Why it is not `ok`, or that it is turned off; else empty.")
    ]
    tools: int
    held: Annotated[
        int,
        Field(
            description="Number of definitions, changed or of new tools, that wait for approval."
        ),
    ] = 0
    refreshed_at: Annotated[
        float | None,
        Field(description="When its tools were listed last, in Unix seconds; null for never."),
    ] = None
    unavailable: Annotated[int, Field(description="Number of its tools that are unavailable.")] = 0
    unavailable_reasons: Annotated[
        list[str], Field(description="The reasons, most frequent first.")
    ] = Field(default_factory=list[str])
    health: Annotated[
        Literal["healthy", "degraded", "unhealthy", "unknown"],
        Field(description="`unknown`: no check and no call yet; `?health=true` runs a check."),
    ] = "unknown"
    health_reason: str = ""
    takes_accounts: Annotated[
        bool, Field(description="Whether calls act with a credential of their caller.")
    ] = False


class SourceList(BaseModel):
    """All sources of the board."""

    model_config = _CLOSED

    sources: list[SourceAnswer]
    problem: Annotated[
        str, Field(description="Why the last change of the board file was refused; else empty.")
    ]


class CallRow(BaseModel):
    """The record of one call."""

    model_config = _CLOSED

    call_id: str
    tool: str
    status: Annotated[
        Literal[
            "completed", "failed", "denied", "invalid", "approval_needed", "unavailable",
            "cancelled", "unknown",
        ],
        Field(description="`unknown`: a write that has started and has no known outcome."),
    ]  # fmt: skip
    started_at: Annotated[float, Field(description="Unix seconds.")]
    duration_ms: float
    principal: str
    tenant: str
    version: str
    source: str
    effect: Annotated[str, Field(description="Empty if the tool was not found.")]
    decision: Annotated[
        Literal["", "allow", "ask", "deny"],
        Field(description="Empty if the call ended before the decision."),
    ]
    reason: str
    attempts: int
    cached: bool
    replayed: bool
    truncated: bool
    bytes_in: int
    bytes_out: int
    error_code: str
    error_id: str
    error_message: str
    run_id: str
    parent_id: str
    handler: str
    toolkit: Annotated[str, Field(description="The class whose method the tool is.")]
    credential: Annotated[str, Field(description="Name of the credential that was used.")]
    idempotency_key: str
    untrusted: Annotated[
        bool, Field(description="Whether the result may contain text of people you do not trust.")
    ]
    instead_of: Annotated[
        str,
        Field(description="The tool that it replaced, as a fallback or a substitute."),
    ]
    model: Annotated[str, Field(description="The language model that took part.")]
    tokens: Annotated[int | None, Field(description="That it used; null for no model.")]
    cached_tokens: Annotated[int | None, Field(description="Of these, from the provider's cache.")]
    cost: Annotated[float | None, Field(description="US dollars; null where no price is known.")]
    arguments_digest: Annotated[str, Field(description="SHA-256 of the arguments' canonical JSON.")]
    arguments: Annotated[
        str, Field(description="As JSON, redacted; only where `PEGBOARD_STORE_ARGUMENTS` is on.")
    ] = ""


class CallList(BaseModel):
    """One page of history, newest first."""

    model_config = _CLOSED

    calls: list[CallRow]
    next_cursor: NextCursor
    names: Annotated[
        dict[str, str], Field(description="Names of the callers that have accounts, by id.")
    ]
    handles: Annotated[
        dict[str, str],
        Field(description="Their handles by id; two people may have the same name."),
    ]


class SlotRow(BaseModel):
    """The calls of a part of the time."""

    model_config = _CLOSED

    calls: int
    failed: int


class CallTotalsAnswer(BaseModel):
    """The number of calls in a time, and how long they took."""

    model_config = _CLOSED

    since: Annotated[float, Field(description="Unix seconds.")]
    until: Annotated[float, Field(description="Unix seconds.")]
    calls: int
    failed: Annotated[int, Field(description="They failed, or their tool was unavailable.")]
    p50_ms: Annotated[
        float | None, Field(description="Half of the newest calls took at most this long.")
    ]
    p95_ms: Annotated[float | None, Field(description="As well, for 95 of 100.")]
    slots: Annotated[list[SlotRow], Field(description="24 parts, the earliest first.")]


class ResultPageAnswer(BaseModel):
    """One page of a stored result."""

    model_config = _CLOSED

    handle: str
    page: int
    pages: int
    media_type: str
    total_bytes: int
    text: str
