"""Response models: the source of the OpenAPI document.

Routes encode plain data themselves. These models describe it, and tests compare the two.
"""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from pegboard.access.remedies import RemedyKind
from pegboard.features.catalogue.schemas import DefinitionAnswer
from pegboard.features.runs.schemas import TryAnswer

_CLOSED = ConfigDict(extra="forbid")

NextCursor = Annotated[
    str | None, Field(description="Cursor of the next page; null after the last page.")
]


class TicketAnswer(BaseModel):
    """A ticket for a WebSocket."""

    model_config = _CLOSED

    ticket: Annotated[str, Field(description="For `/ws?ticket=...`, once.")]
    expires_in: Annotated[float, Field(description="Seconds until it expires.")]


class SessionAnswer(BaseModel):
    """Who you are to this server; without a sign-in where one is required, nobody."""

    model_config = _CLOSED

    signed_in: Annotated[bool, Field(description="Whether requests are answered.")]
    sign_in_required: Annotated[bool, Field(description="Whether nobody is `local` without it.")]
    accounts: Annotated[bool, Field(description="Whether people have accounts.")]
    identity_provider: Annotated[
        bool, Field(description="Whether people may sign in at an identity provider.")
    ]
    caller: Annotated[str, Field(description="Your id, as records show it.")]
    kind: Annotated[
        str, Field(description="`local`, `user`, `service`, or with a key `key` or `agent`.")
    ]
    handle: Annotated[str, Field(description="Of your account; empty without one.")]
    name: Annotated[str, Field(description="Of your account, for display.")]
    tenant: Annotated[str, Field(description="The organisation that you act for.")]
    organisations: Annotated[list[str], Field(description="Your organisations, by handle.")]
    scopes: Annotated[list[str], Field(description="What you may do; `*` is everything.")]
    csrf: Annotated[
        str,
        Field(description="For the header `X-Pegboard-CSRF` of changes; empty without a session."),
    ]
    expires_at: Annotated[
        float | None, Field(description="When the session expires, in Unix seconds.")
    ]
    model_configured: Annotated[bool, Field(description="Whether agents have a language model.")]


class OidcAnswer(BaseModel):
    """Where a browser goes to link an account."""

    model_config = _CLOSED

    url: str


class ToolSummary(BaseModel):
    """A tool in a list."""

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
    verdict: Annotated[
        Literal["allow", "ask", "deny"],
        Field(description="Whether you may call it; `ask`: after an approval."),
    ]
    unavailable: Annotated[str, Field(description="Why it is unavailable.")] = ""


class ToolList(BaseModel):
    """One page of tools; complete specs with `detail=true`."""

    model_config = _CLOSED

    tools: "list[ToolSummary] | list[ToolDetail]"
    next_cursor: NextCursor
    total: Annotated[int, Field(description="Tools that match, on all pages.")]
    skipped: Annotated[
        list[str],
        Field(
            description="Stages of the search that failed: `meaning`, where it was by words only."
        ),
    ] = Field(default_factory=list[str])


class ToolDetail(BaseModel):
    """The complete spec of a tool; empty fields are left out."""

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
    trusted: Annotated[
        bool, Field(description="`false`: its results may contain text of people you do not trust.")
    ] = True
    open_world: Annotated[
        bool,
        Field(description="Whether a write reaches beyond the board; absent where unknown."),
    ] = True
    destructive: Annotated[
        bool, Field(description="Whether a write may destroy something; absent where unknown.")
    ] = True
    idempotent: bool = False
    handler: Annotated[str, Field(description="The kind of source that runs it, as `openapi`.")] = (
        ""
    )
    credential: Annotated[str, Field(description="Name of the credential, never its value.")] = ""
    capabilities: list[str] = Field(default_factory=list[str])
    supported_tasks: list[str] = Field(default_factory=list[str])
    examples: Annotated[list[dict[str, Any]], Field(description="Arguments of typical calls.")] = (
        Field(default_factory=list[dict[str, Any]])
    )
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
        Field(description="Its definition, if it was registered by API."),
    ] = None


class Check(BaseModel):
    """One check of an explanation."""

    model_config = _CLOSED

    check: str
    result: str


class RemedyItem(BaseModel):
    """A change that lifts one refusal."""

    model_config = _CLOSED

    kind: RemedyKind
    text: Annotated[str, Field(description="What happens or is done.")]


class RemedySteps(BaseModel):
    """A check that refuses or asks, and what lifts that."""

    model_config = _CLOSED

    check: str
    any_of: Annotated[list[RemedyItem], Field(description="Each of these is enough.")]


class ToolExplanation(BaseModel):
    """Why this caller may or may not call a tool."""

    model_config = _CLOSED

    tool: str
    principal: Annotated[str, Field(description="Id of the caller who is explained.")]
    principal_handle: Annotated[str, Field(description="Its handle, where it has an account.")]
    verdict: Literal["allow", "ask", "deny"]
    reason: str
    rule: str
    visible: Annotated[bool, Field(description="Whether the tool is listed for this caller.")]
    checks: list[Check]
    remedies: Annotated[
        list[RemedySteps],
        Field(
            description="What would let the caller in, all steps of it; empty if it may call "
            "without an approval."
        ),
    ]


class StoredFile(BaseModel):
    """A file that a call produced."""

    model_config = _CLOSED

    name: str
    media_type: str
    size: int
    handle: str


class ExecutionMetadata(BaseModel):
    """Details of a call."""

    model_config = _CLOSED

    call_id: str
    attempts: int
    tries: Annotated[
        list[TryAnswer], Field(description="Each try, if the tool was tried more than once.")
    ] = []
    cached: bool
    replayed: Annotated[
        bool, Field(description="Whether it is the stored outcome of an idempotency key.")
    ]
    truncated: Annotated[
        bool, Field(description="Whether `output` is only the first page of `handle`.")
    ]
    handle: str = ""
    total_bytes: int = 0
    artifacts: list[StoredFile] = Field(default_factory=list[StoredFile])
    tokens_consumed: int = 0
    model_used: str = ""
    cost: float = 0
    account: Annotated[
        str, Field(description="Your credential, or a shared one, that the call acted with.")
    ] = ""


class ExecuteAnswer(BaseModel):
    """The result of a call."""

    model_config = _CLOSED

    tool_id: str
    status: Annotated[
        Literal["completed", "failed"],
        Field(description="A call that fails at once returns a problem instead."),
    ]
    output: Annotated[Any, Field(description="The structured value, or else text or typed parts.")]
    execution_time_ms: float
    metadata: ExecutionMetadata


class Alive(BaseModel):
    """The process responds."""

    model_config = _CLOSED

    status: Literal["ok"]


class FailedSource(BaseModel):
    """A source that is unavailable or degraded."""

    model_config = _CLOSED

    name: str
    status: Literal["pending", "degraded", "failed"]
    reason: str = ""


class RuleWarning(BaseModel):
    """A deny or ask rule that matches no tool: misspelt, or its source is unavailable."""

    model_config = _CLOSED

    rule: Literal["deny", "ask"]
    glob: str
    where: Annotated[str, Field(description="Its line in the board file.")] = ""
    reason: str


class Readiness(BaseModel):
    """Whether the server accepts calls; names and reasons only for callers who may see them."""

    model_config = _CLOSED

    status: Annotated[
        Literal["ready", "degraded"],
        Field(
            description="`degraded`: some sources fail, a change of the board file was refused, or "
            "the shared database is unavailable."
        ),
    ]
    counts: Annotated[
        dict[Literal["pending", "ok", "degraded", "failed"], int],
        Field(description="How many of the sources that are for everybody are in each state."),
    ]
    tools: int = 0
    sources: Annotated[
        list[FailedSource],
        Field(description="Sources that are not `ok` and that you may see, with the reason."),
    ] = Field(default_factory=list[FailedSource])
    rules: Annotated[
        list[RuleWarning], Field(description="`deny` and `ask` rules that match no tool.")
    ] = Field(default_factory=list[RuleWarning])
    problem: str = ""


class ProblemItem(BaseModel):
    """One fault of a request."""

    model_config = _CLOSED

    path: str
    message: str
    kind: str


class ValidationAnswer(BaseModel):
    """Whether arguments fit a tool."""

    model_config = _CLOSED

    valid: bool
    problems: Annotated[
        list[ProblemItem], Field(description="What does not fit; empty when they fit.")
    ]


class ProblemDocument(BaseModel):
    """An error (RFC 9457)."""

    model_config = ConfigDict(extra="allow", title="Problem")

    type: str
    title: str
    status: int
    detail: str
    code: Annotated[str, Field(description="Stable error code, for programs.")]
    retryable: bool
    retry_after: Annotated[float, Field(description="Seconds.")] = 0
    error_id: Annotated[str, Field(description="Id of the details in the server's log.")] = ""
    approval_id: Annotated[str, Field(description="The approval that the call needs first.")] = ""
    problems: list[ProblemItem] = Field(default_factory=list[ProblemItem])
