"""Requests and responses about stored resources."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from pegboard.features.resources.resource_change import NewResource, ResourceChange

_CLOSED = ConfigDict(extra="forbid", frozen=True)
_ANSWER = ConfigDict(extra="forbid")

Kind = Literal["connector", "agent", "skill", "model"]
Title = Annotated[str, Field(max_length=200, description="For display.")]
Description = Annotated[
    str, Field(max_length=2_000, description="What it is for; of a skill as its `SKILL.md` says.")
]
Organisation = Annotated[
    str, Field(max_length=64, description="Handle of the organisation that it is shared with.")
]
Shared = Annotated[
    Literal["private", "organisation", "global"],
    Field(description="Who sees it beside its owner; operators alone make something `global`."),
]
Config = Annotated[
    dict[str, Any],
    Field(
        description="As in the board file, without secrets: those belong to credentials. Of a "
        "skill `files`: its texts by their paths, `SKILL.md` among them."
    ),
]


class AddResource(BaseModel):
    """A resource to add."""

    model_config = _CLOSED

    kind: Kind
    name: Annotated[
        str,
        Field(
            min_length=1,
            max_length=30,
            description="Without the handle of its owner, which is put before it.",
        ),
    ]
    source_kind: Annotated[
        str, Field(max_length=40, description="Of a connector: `openapi`, `sql` or `mcp`.")
    ] = ""
    title: Title = ""
    description: Description = ""
    organisation: Organisation = ""
    visibility: Shared = "private"
    config: Config = Field(default_factory=dict[str, Any])

    def to_new(self) -> NewResource:
        """As the service takes it."""
        return NewResource(**self.model_dump())


class ChangeResource(BaseModel):
    """What to change of a resource; a field that is not sent stays as it is."""

    model_config = _CLOSED

    title: Title | None = None
    description: Description | None = None
    organisation: Organisation | None = None
    visibility: Shared | None = None
    config: Config | None = None

    def to_change(self) -> ResourceChange:
        """As the service takes it."""
        return ResourceChange(**self.model_dump())


class ReviewResource(BaseModel):
    """A decision about a resource that is proposed for the market, or shared."""

    model_config = _CLOSED

    decision: Literal["approve", "reject"]
    note: Annotated[str, Field(max_length=500, description="For its owner.")] = ""
    revision: Annotated[
        int | None, Field(ge=1, description="That was reviewed; null for the current one.")
    ] = None


class ResourceFilter(BaseModel):
    """Which resources to list."""

    model_config = _CLOSED

    kind: Annotated[Kind | None, Field(description="Only those of a kind.")] = None
    waiting: Annotated[
        bool, Field(description="Those that wait for your review, instead of those you see.")
    ] = False


class ConnectorReportAnswer(BaseModel):
    """The state of the source of a connector."""

    model_config = _ANSWER

    status: Annotated[
        Literal["pending", "ok", "degraded", "failed"],
        Field(description="`pending` until a call has opened it."),
    ]
    reason: Annotated[str, Field(description="What is wrong; empty when nothing is.")]
    tools: Annotated[list[str], Field(description="Its tools, as far as they are known.")]


class ResourceAnswer(BaseModel):
    """A stored resource as you see it."""

    model_config = _ANSWER

    id: str
    kind: Literal["connector", "agent", "skill", "knowledge", "model"]
    source_kind: str
    name: Annotated[str, Field(description="In the names of its tools.")]
    title: str
    description: str
    owner: Annotated[str, Field(description="Handle of a person.")]
    organisation: str
    visibility: Literal["private", "organisation", "global"]
    publish_status: Literal["none", "draft", "pending", "approved", "rejected"]
    reviewed_by: str
    vouched_by: Annotated[
        str,
        Field(
            description="Handle of the administrator who has approved it for its organisation, "
            "whose members' runs trust its description; empty for none."
        ),
    ]
    may_review: Annotated[
        bool,
        Field(
            description="Whether you may approve or reject it: for the market, or where a skill or "
            "an agent is shared and not proposed, for its organisation."
        ),
    ]
    review_note: Annotated[str, Field(description="Empty for others than its owner.")]
    seen_as: Annotated[
        Literal["own", "organisation", "subscribed", "global", "unrestricted", "none"],
        Field(description="Why you see it; `none` where you only review or browse it."),
    ]
    may_change: Annotated[bool, Field(description="Whether you may change it.")]
    config: Annotated[
        dict[str, Any] | None,
        Field(
            description="Null for others than its owner and reviewers, and of skills in the list "
            "of what you see: get one by its id."
        ),
    ]
    revision: int
    created_at: Annotated[float, Field(description="Unix seconds.")]
    updated_at: Annotated[float, Field(description="Unix seconds.")]
    source: Annotated[
        ConnectorReportAnswer | None, Field(description="Of a connector that you see.")
    ]


class ResourceList(BaseModel):
    """Stored resources, by kind and name."""

    model_config = _ANSWER

    resources: list[ResourceAnswer]


class SourceKindAnswer(BaseModel):
    """A kind of source that people connect."""

    model_config = _ANSWER

    kind: Annotated[str, Field(description="As `source_kind` of a connector.")]
    title: str
    config_schema: Annotated[
        dict[str, Any],
        Field(
            description="JSON Schema of its configuration. A property with `x-first` is one that "
            "most people fill in."
        ),
    ]


class SourceKindList(BaseModel):
    """The kinds of sources that people connect, by title."""

    model_config = _ANSWER

    kinds: list[SourceKindAnswer]
