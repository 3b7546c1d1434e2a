"""Requests and responses about registered tools."""

from datetime import date
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

_CLOSED = ConfigDict(extra="forbid", frozen=True)
Change = Literal["", "wording", "additive", "breaking"]
ToolStatus = Literal["active", "deprecated", "disabled", "failed"]
_AS_IN_A_PIN = "In full, or by the first numbers that no other version begins with, as in a pin."
Version = Annotated[str, Field(min_length=1, max_length=64, description=_AS_IN_A_PIN)]


class RegisteredAnswer(BaseModel):
    """The result of a registration."""

    model_config = _CLOSED

    tool_id: str
    name: Annotated[str, Field(description="Wire name.")]
    version: str
    status: ToolStatus
    effect: Literal["read", "write", "admin"]
    change: Annotated[
        Change, Field(description="Against the previous version; empty for the first.")
    ]
    is_new: Annotated[bool, Field(description="Whether it made a new version.")]
    is_current: Annotated[bool, Field(description="Whether it is the current version.")]
    unavailable: Annotated[
        str, Field(description="Why it cannot be called, and what is missing; empty if it can.")
    ]
    note: Annotated[str, Field(description="A remark, for example that a day is past.")]


class RetryPolicyAnswer(BaseModel):
    """The retry policy of the RFC, as it was given."""

    model_config = _CLOSED

    max_retries: int = 3
    backoff_ms: float = 1000


class DefinitionAnswer(BaseModel):
    """The definition of a registered tool as in the RFC, without empty fields."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    tool_id: str
    type: Annotated[str, Field(description="What runs it, for example `RestAPI`.")]
    name: Annotated[str, Field(description="Display name.")] = ""
    description: str = ""
    capabilities: list[str] = Field(default_factory=list[str])
    supported_tasks: list[str] = Field(default_factory=list[str])
    examples: list[dict[str, Any]] = Field(default_factory=list[dict[str, Any]])
    tags: list[str] = Field(default_factory=list[str])
    category: str = ""
    effect: str = ""
    input_schema: Annotated[
        dict[str, Any], Field(description="JSON Schema, or the shorthand `{query: string}`.")
    ] = Field(default_factory=dict[str, Any])
    output_schema: dict[str, Any] = Field(default_factory=dict[str, Any])
    dependencies: list[str] = Field(default_factory=list[str])
    status: str = ""
    version: str = ""
    timeout_ms: float = 0
    idempotent: bool = False
    retry_policy: RetryPolicyAnswer = RetryPolicyAnswer()
    import_: Annotated[str, Field(alias="import")] = ""
    script_path: str = ""
    memory_mb: int = 0
    url: Annotated[str, Field(description="Without passwords.")] = ""
    method: str = ""
    server: str = ""
    tool: str = ""
    pin: Annotated[str, Field(description="Digest of the definition given by its server.")] = ""
    agent_config: Annotated[
        dict[str, Any], Field(description="Values with secret names are masked.")
    ] = Field(default_factory=dict[str, Any])


class BulkAnswer(BaseModel):
    """The results of many registrations, in order."""

    model_config = _CLOSED

    registered: list[RegisteredAnswer]


class RollBackBody(BaseModel):
    """The version to make current again."""

    model_config = _CLOSED

    version: Version


def _text(value: Any) -> Any:
    """Accept text only: a number would be read as seconds."""
    if value is not None and not isinstance(value, str):
        raise ValueError("write a day as '2030-01-31'")
    return value


class DeprecateBody(BaseModel):
    """The version to deprecate."""

    model_config = _CLOSED

    version: Annotated[
        str, Field(max_length=64, description=f"{_AS_IN_A_PIN} By default the current one.")
    ] = ""
    on: Annotated[
        date | None,
        BeforeValidator(_text),
        Field(
            description="The day from which it should no longer be used. A past day is accepted, "
            "and noted in the answer."
        ),
    ] = None


class VersionRow(BaseModel):
    """One version of a tool."""

    model_config = _CLOSED

    tool_id: str
    version: str
    is_current: bool
    status: ToolStatus
    change: Change
    created_at: Annotated[
        float, Field(description="Unix seconds; 0 if it was not registered by API.")
    ]
    created_by: str
    origin: Annotated[str, Field(description="`api`, `bulk`, `board`, `source:shop`, ...")]
    deprecated_on: str
    unavailable: str


class VersionList(BaseModel):
    """All versions of a tool, oldest first."""

    model_config = _CLOSED

    versions: list[VersionRow]


class ChangeRow(BaseModel):
    """One difference between two definitions."""

    model_config = _CLOSED

    place: str
    kind: Literal["wording", "additive", "breaking"]
    before: Any
    after: Any


class DefinitionDiffAnswer(BaseModel):
    """How one version differs from another."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    name: str
    from_: Annotated[str, Field(alias="from")]
    to: str
    kind: Annotated[Change, Field(description="Gravest kind among the changes.")]
    changes: list[ChangeRow]
