"""Request models; unknown fields are refused."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self, cast

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    SecretStr,
    Strict,
    Tag,
    model_validator,
)

from pegboard.features.identity.schemas import LinkToken, Login, NewPassword, Password

MAX_TOOLS = 500
MAX_CALLS = 1_000
MAX_TIMEOUT_MS = 24 * 3600 * 1000

_CLOSED = ConfigDict(extra="forbid", frozen=True)

Name = Annotated[str, Field(min_length=1, max_length=128)]
Filter = Annotated[str, Field(max_length=200)]
Words = Annotated[
    str, Field(max_length=1000, description="Search text; the best match comes first.")
]
Capability = Annotated[Filter, Field(description="A capability of the tool.")]
Category = Annotated[Filter, Field(description="For example `database`, `web` or `computation`.")]
Source = Annotated[Filter, Field(description="Name of its source.")]
Tags = Annotated[
    list[Annotated[str, Field(min_length=1, max_length=200)]],
    Field(max_length=20, description="The tool has all of them."),
]
Effect = Annotated[Literal["", "read", "write", "admin"], Field(description="Its effect.")]
Status = Annotated[
    Literal["", "active", "deprecated", "disabled", "failed"],
    Field(description="Its status."),
]
Cursor = Annotated[
    str,
    Field(max_length=200, description="`next_cursor` of the previous page; empty for the first."),
]
Page = Annotated[int, Field(ge=1, le=MAX_TOOLS, description="Tools on a page.")]


def integral(value: Any) -> Any:
    """Accept 20.0 as the integer 20: JSON does not distinguish them."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


class ToolFilter(BaseModel):
    """Query of `GET /tools`: filters that must all hold; empty means any."""

    model_config = _CLOSED

    q: Words = ""
    capability: Capability = ""
    tag: Tags = Field(default_factory=list[str])
    category: Category = ""
    source: Source = ""
    effect: Effect = ""
    status: Status = ""
    unavailable: Annotated[
        bool, Field(description="Include unavailable tools, with the reason.")
    ] = False
    detail: Annotated[
        bool, Field(description="Answer with complete specs, as `GET /tools/{tool}` does.")
    ] = False
    limit: Page = 50
    cursor: Cursor = ""


class SearchRequest(BaseModel):
    """A search text to rank by, and filters that must all hold."""

    model_config = _CLOSED

    query: Words = ""
    capability: Capability = ""
    tags: Tags = Field(default_factory=list[str])
    category: Category = ""
    source: Source = ""
    effect: Effect = ""
    status: Status = ""
    limit: Annotated[Page, Strict(), BeforeValidator(integral)] = 20
    cursor: Cursor = ""


class ExecutionConfig(BaseModel):
    """How a call is made."""

    model_config = _CLOSED

    timeout_ms: Annotated[
        float | None,
        Strict(),
        Field(
            gt=0,
            le=MAX_TIMEOUT_MS,
            description="Milliseconds for the whole call, up to the server's maximum.",
        ),
    ] = None
    idempotency_key: Annotated[
        str | None,
        Field(
            min_length=1,
            max_length=255,
            description="The same key and input return the first outcome again; same as the header "
            "`Idempotency-Key`.",
        ),
    ] = None
    account: Annotated[
        str,
        Field(
            max_length=100,
            description="The name of your credential to call with, where you have several for the "
            "source; empty for the default.",
        ),
    ] = ""


class ExecuteRequest(BaseModel):
    """A call of one tool, named in exactly one of three ways."""

    model_config = ConfigDict(
        extra="forbid",
        frozen=True,
        json_schema_extra={
            "oneOf": [{"required": [key]} for key in ("tool_id", "name", "capability")]
        },
    )

    tool_id: Annotated[Name, Field(description="Id with major version, as `shop__refund_v1`.")] = ""
    name: Annotated[Name, Field(description="Wire name, as `shop__refund`.")] = ""
    capability: Annotated[Name, Field(description="Calls the first tool with this capability.")] = (
        ""
    )
    input: Annotated[
        dict[str, Any], Field(description="Arguments, by the tool's `input_schema`.")
    ] = Field(default_factory=dict[str, Any])
    execution_config: ExecutionConfig = ExecutionConfig()
    in_background: Annotated[
        bool,
        Strict(),
        Field(alias="async", description="Return at once, with a run to poll or follow."),
    ] = False

    @model_validator(mode="after")
    def _named_once(self) -> Self:
        if sum(map(bool, (self.tool_id, self.name, self.capability))) != 1:
            raise ValueError("Give exactly one of 'tool_id', 'name' and 'capability'")
        return self


class ValidateRequest(BaseModel):
    """Arguments to validate without a call."""

    model_config = _CLOSED

    input: Annotated[
        dict[str, Any], Field(description="Arguments, by the tool's `input_schema`.")
    ] = Field(default_factory=dict[str, Any])


class CallFilter(BaseModel):
    """Filters of calls that must all hold; empty means any."""

    model_config = _CLOSED

    tool: Annotated[Filter, Field(description="Wire name of the tool.")] = ""
    source: Source = ""
    status: Annotated[
        Filter, Field(description="For example `completed`, `failed`, `denied` or `unknown`.")
    ] = ""
    principal: Annotated[Filter, Field(description="Id of the caller.")] = ""
    person: Annotated[
        Filter, Field(description="The caller, by handle or e-mail address of its account.")
    ] = ""
    call_id: Annotated[Filter, Field(description="Id of the call.")] = ""
    run_id: Annotated[Filter, Field(description="The run that the call was part of.")] = ""
    instead_of: Annotated[Filter, Field(description="The tool that it was called instead of.")] = ""
    since: Annotated[
        float | None, Field(allow_inf_nan=False, description="Unix seconds; calls from then on.")
    ] = None
    until: Annotated[
        float | None, Field(allow_inf_nan=False, description="Unix seconds; calls before then.")
    ] = None
    unfinished: Annotated[
        bool, Field(description="Only writes that have started and have no known outcome.")
    ] = False


class ExportFilter(CallFilter):
    """Query of `GET /history/export`: filters that must all hold; empty means any."""

    format: Annotated[Literal["csv", "jsonl"], Field(description="The format.")] = "csv"


class HistoryFilter(CallFilter):
    """Query of `GET /history`: filters that must all hold; empty means any."""

    limit: Annotated[int, Field(ge=1, le=MAX_CALLS, description="Calls on a page.")] = 50
    cursor: Cursor = ""


class TotalsFilter(BaseModel):
    """Query of `GET /history/totals`; an empty filter means any."""

    model_config = _CLOSED

    tool: Annotated[Filter, Field(description="Wire name of the tool.")] = ""
    source: Source = ""
    hours: Annotated[int, Field(ge=1, le=24 * 366, description="How far back to count.")] = 24


class HealthFilter(BaseModel):
    """Query of `GET /sources`."""

    model_config = _CLOSED

    health: Annotated[bool, Field(description="Check the health of each source now.")] = False


class PageFilter(BaseModel):
    """Query of `GET /results/{handle}`."""

    model_config = _CLOSED

    page: Annotated[int, Field(ge=1, le=10**9, description="Number of the page, from 1.")] = 1
    whole: Annotated[
        bool, Field(description="Answer with the whole result as one page; `page` is ignored.")
    ] = False


class SignInWithToken(BaseModel):
    """The token of a server without accounts."""

    model_config = _CLOSED

    token: Annotated[SecretStr, Field(max_length=1000, description="The server's token.")]


class SignInWithPassword(BaseModel):
    """The name and password of an account."""

    model_config = _CLOSED

    name: Login
    password: Password


class SignInWithLink(BaseModel):
    """A one-time link of an account, and the password that it gives the account."""

    model_config = _CLOSED

    link: LinkToken
    password: NewPassword


def _choose_sign_in(body: Any) -> str:
    """Which of the three a body is meant to be, so that its faults are told of that one alone."""
    given = set[object](cast("Mapping[object, Any]", body)) if isinstance(body, Mapping) else ()
    return next((name for name in ("token", "link") if name in given), "name")


SignIn = Annotated[
    Annotated[SignInWithToken, Tag("token")]
    | Annotated[SignInWithPassword, Tag("name")]
    | Annotated[SignInWithLink, Tag("link")],
    Discriminator(_choose_sign_in),
]
"""Signs a person in, in one of three ways."""
