"""What the answers look like: the source of the OpenAPI document.

The routes encode plain data themselves; these models describe it, and tests hold the two together.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from pegboard.features.catalogue.schemas import DefinitionAnswer

_CLOSED = ConfigDict(extra="forbid")

NextCursor = Annotated[
    str | None, Field(description="For the next page; null when this was the last.")
]


class TicketAnswer(BaseModel):
    """What a web page connects with."""

    model_config = _CLOSED

    ticket: Annotated[str, Field(description="For `/ws?ticket=...`, once.")]
    expires_in: Annotated[float, Field(description="Seconds for which it is good.")]


class ToolSummary(BaseModel):
    """What a list shows of a tool."""

    model_config = _CLOSED

    id: str
    name: Annotated[str, Field(description="Wire name.")]
    title: str
    description: str
    category: str
    effect: Literal["read", "write", "admin"]
    version: str
    status: Literal["active", "deprecated", "disabled", "failed"]
    source: str
    capabilities: list[str]
    tags: list[str]
    unavailable: Annotated[str, Field(description="Why it cannot be used now.")] = ""


class ToolList(BaseModel):
    """One page of tools."""

    model_config = _CLOSED

    tools: list[ToolSummary]
    next_cursor: NextCursor


class ToolDetail(BaseModel):
    """Everything there is to know about a tool; what says nothing is left out."""

    model_config = _CLOSED

    id: str
    name: str
    title: str
    description: str
    category: str
    effect: Literal["read", "write", "admin"]
    version: str
    status: Literal["active", "deprecated", "disabled", "failed"]
    source: str
    input_schema: Annotated[dict[str, Any], Field(description="JSON Schema 2020-12.")]
    output_schema: dict[str, Any] = Field(default_factory=dict[str, Any])
    action: str = ""
    idempotent: bool = False
    handler: Annotated[str, Field(description="What kind of thing runs it, as `openapi`.")] = ""
    credential: Annotated[str, Field(description="Its name, never its value.")] = ""
    capabilities: list[str] = Field(default_factory=list[str])
    supported_tasks: list[str] = Field(default_factory=list[str])
    tags: list[str] = Field(default_factory=list[str])
    dependencies: list[str] = Field(default_factory=list[str])
    scopes: list[str] = Field(default_factory=list[str])
    timeout: Annotated[float, Field(description="Seconds for one attempt.")] = 0
    retry: dict[str, Any] = Field(default_factory=dict[str, Any])
    limits: dict[str, Any] = Field(default_factory=dict[str, Any])
    cache_ttl: float = 0
    exclusive: bool = False
    unavailable: str = ""
    registered: Annotated[
        DefinitionAnswer | None,
        Field(description="What it was registered as; only of tools that were, by API."),
    ] = None


class Check(BaseModel):
    """One thing that was looked at."""

    model_config = _CLOSED

    check: str
    result: str


class ToolExplanation(BaseModel):
    """Why this caller may or may not call a tool."""

    model_config = _CLOSED

    tool: str
    principal: str
    verdict: Literal["allow", "ask", "deny"]
    reason: str
    rule: str
    visible: Annotated[bool, Field(description="Whether the tool is listed for this caller.")]
    checks: list[Check]


class StoredFile(BaseModel):
    """A file that a call produced."""

    model_config = _CLOSED

    name: str
    media_type: str
    size: int
    handle: str


class ExecutionMetadata(BaseModel):
    """How a call went."""

    model_config = _CLOSED

    call_id: str
    attempts: int
    cached: bool
    replayed: Annotated[bool, Field(description="The first outcome of an idempotency key.")]
    truncated: Annotated[bool, Field(description="`output` is the first page of `handle`.")]
    handle: str = ""
    total_bytes: int = 0
    artifacts: list[StoredFile] = Field(default_factory=list[StoredFile])
    tokens_consumed: int = 0
    model_used: str = ""
    cost: float = 0


class ExecuteAnswer(BaseModel):
    """What a call gave back."""

    model_config = _CLOSED

    tool_id: str
    status: Annotated[
        Literal["completed", "failed"],
        Field(description="A call that failed at once is answered as a problem."),
    ]
    output: Annotated[Any, Field(description="The structured value, else text or typed parts.")]
    execution_time_ms: float
    metadata: ExecutionMetadata


class Alive(BaseModel):
    """The process answers."""

    model_config = _CLOSED

    status: Literal["ok"]


class FailedSource(BaseModel):
    """A source that cannot be used now; the reason only for callers of the API."""

    model_config = _CLOSED

    name: str
    status: Literal["pending", "degraded", "failed"]
    reason: str = ""


class Readiness(BaseModel):
    """Whether calls can be taken."""

    model_config = _CLOSED

    status: Annotated[
        Literal["ready", "degraded"],
        Field(
            description="`degraded`: some sources fail, a change of the file was refused, or the "
            "shared database is away."
        ),
    ]
    tools: int = 0
    sources: Annotated[list[FailedSource], Field(description="Those that are not well, and why.")]
    problem: str = ""


class ProblemItem(BaseModel):
    """One thing that is wrong."""

    model_config = _CLOSED

    path: str
    message: str
    kind: str


class ProblemDocument(BaseModel):
    """What went wrong (RFC 9457)."""

    model_config = ConfigDict(extra="allow", title="Problem")

    type: str
    title: str
    status: int
    detail: str
    code: Annotated[str, Field(description="Stable, for programs.")]
    retryable: bool
    retry_after: Annotated[float, Field(description="Seconds.")] = 0
    error_id: Annotated[str, Field(description="Under which the operator finds more.")] = ""
    approval_id: Annotated[str, Field(description="What a person has to approve first.")] = ""
    problems: list[ProblemItem] = Field(default_factory=list[ProblemItem])
