"""What requests and answers about registered tools look like."""

from datetime import date
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

_CLOSED = ConfigDict(extra="forbid", frozen=True)
Change = Literal["", "wording", "additive", "breaking"]
ToolStatus = Literal["active", "deprecated", "disabled", "failed"]
_AS_IN_A_PIN = "In full, or by the first numbers that no other version begins with, as in a pin."
Version = Annotated[str, Field(min_length=1, max_length=64, description=_AS_IN_A_PIN)]


class RegisteredAnswer(BaseModel):
    """What came of a registration."""

    model_config = _CLOSED

    tool_id: str
    name: Annotated[str, Field(description="Wire name.")]
    version: str
    status: ToolStatus
    effect: Literal["read", "write", "admin"]
    change: Annotated[Change, Field(description="Against the version before; empty for the first.")]
    is_new: Annotated[bool, Field(description="Whether it made a version.")]
    is_current: Annotated[bool, Field(description="Whether the name means this version now.")]
    unavailable: Annotated[
        str, Field(description="Why it cannot be called now, and what is missing; empty if it can.")
    ]
    note: Annotated[str, Field(description="What else is worth knowing, as that a day is past.")]


class RetryPolicyAnswer(BaseModel):
    """The RFC's retry policy, as it was given."""

    model_config = _CLOSED

    max_retries: int = 3
    backoff_ms: float = 1000


class DefinitionAnswer(BaseModel):
    """What a tool was registered as, in the RFC's words; what was not given is left out."""

    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)

    tool_id: str
    type: Annotated[str, Field(description="What kind of thing runs it, as `RestAPI`.")]
    name: Annotated[str, Field(description="For people.")] = ""
    description: str = ""
    capabilities: list[str] = Field(default_factory=list[str])
    supported_tasks: list[str] = Field(default_factory=list[str])
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
    url: Annotated[str, Field(description="Without passwords.")] = ""
    method: str = ""
    server: str = ""
    tool: str = ""
    pin: Annotated[
        str, Field(description="Digest of what the server at that address says of it.")
    ] = ""
    agent_config: Annotated[
        dict[str, Any], Field(description="Without what its name calls secret.")
    ] = Field(default_factory=dict[str, Any])


class BulkAnswer(BaseModel):
    """What came of many registrations, in their order."""

    model_config = _CLOSED

    registered: list[RegisteredAnswer]


class RollBackBody(BaseModel):
    """Which version a name is to mean again."""

    model_config = _CLOSED

    version: Version


def _text(value: Any) -> Any:
    """A day is written as text; a number would be taken for seconds."""
    if value is not None and not isinstance(value, str):
        raise ValueError("write a day as '2030-01-31'")
    return value


class DeprecateBody(BaseModel):
    """Which version should no longer be used."""

    model_config = _CLOSED

    version: Annotated[
        str, Field(max_length=64, description=f"{_AS_IN_A_PIN} By default the current one.")
    ] = ""
    on: Annotated[
        date | None,
        BeforeValidator(_text),
        Field(
            description="From which day on nobody should rely on it. A day that is past is taken, "
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
    created_at: Annotated[float, Field(description="Unix seconds; 0 when it was never registered.")]
    created_by: str
    origin: Annotated[str, Field(description="`api`, `bulk`, `board`, `source:shop`, ...")]
    deprecated_on: str
    unavailable: str


class VersionList(BaseModel):
    """Every version of a tool, the oldest first."""

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
    kind: Annotated[Change, Field(description="The gravest kind among the changes.")]
    changes: list[ChangeRow]
