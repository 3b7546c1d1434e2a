"""Requests and responses about marketplaces."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from pegboard.features.catalogue import RegistrationResult
from pegboard.features.catalogue.schemas import DefinitionAnswer, RegisteredAnswer
from pegboard.features.marketplace.review import MAX_REGISTRATIONS, EntrySelection, Review

_CLOSED = ConfigDict(extra="forbid", frozen=True)
_Word = Annotated[str, Field(max_length=200)]
_Tool = Annotated[str, Field(min_length=1, max_length=1000)]
_Tools = Annotated[
    list[_Tool],
    Field(
        max_length=MAX_REGISTRATIONS,
        description="Tools to add, by the names their server uses; empty for all.",
    ),
]
_Way = Annotated[
    str, Field(max_length=40, description="Install option, for example `remote-1`; else the best.")
]
_Name = Annotated[
    str,
    Field(
        max_length=30,
        pattern="^([A-Za-z0-9]([A-Za-z0-9-]|_[A-Za-z0-9-])*)?$",
        description="Prefix of the tool names; by default derived from the entry.",
    ),
]
Effect = Literal["read", "write", "admin"]
Digest = Annotated[str, Field(description="SHA-256 of the review, needed to add the entry.")]


class MarketplaceFilter(BaseModel):
    """Query of `GET /marketplace`."""

    model_config = _CLOSED

    query: Annotated[_Word, Field(description="Words that must all occur.")] = ""
    capability: Annotated[
        _Word,
        Field(description="A capability, category, tag or keyword of the entry."),
    ] = ""
    marketplace: Annotated[_Word, Field(description="Only in this one.")] = ""
    limit: Annotated[int, Field(ge=1, le=500, description="Entries on a page.")] = 50
    cursor: Annotated[
        str, Field(max_length=600, description="`next_cursor` of the page before; empty at first.")
    ] = ""


class ReviewFilter(BaseModel):
    """Query of `GET /marketplace/{marketplace}/{entry}`."""

    model_config = _CLOSED

    way: _Way = ""
    tools: _Tools = Field(default_factory=list[str])
    name: _Name = ""

    def choice(self) -> EntrySelection:
        """Return the selection for the service."""
        return EntrySelection(way=self.way, tools=tuple(self.tools), name=self.name)


class AddBody(ReviewFilter):
    """The reviewed selection to add."""

    digest: Annotated[str, Field(pattern="^[0-9a-f]{64}$", description="Digest of the review.")]


class LabelAnswer(BaseModel):
    """A word by which an entry is found."""

    model_config = _CLOSED

    name: str
    told_as: Annotated[
        Literal["capability", "category", "tag", "keyword"],
        Field(description="Kind of the word in its catalogue."),
    ]


class EntryAnswer(BaseModel):
    """An entry in a list; all values come from its catalogue."""

    model_config = _CLOSED

    marketplace: str
    entry: Annotated[str, Field(description="Id within the catalogue.")]
    kind: Literal["MCP server", "REST API", "tool"]
    title: str
    description: str
    version: str
    publisher: str
    capabilities: list[LabelAnswer]
    effect: Annotated[
        Literal["", "read", "write", "admin"],
        Field(description="Effect of a single tool; empty if the catalogue does not say."),
    ]
    status: str
    updated_at: str


class SkippedAnswer(BaseModel):
    """Entries that were left out."""

    model_config = _CLOSED

    reason: str
    count: int
    example: Annotated[str, Field(description="Name of one of them.")]


class MarketplaceAnswer(BaseModel):
    """A catalogue and its status."""

    model_config = _CLOSED

    name: str
    kind: Literal["mcp_registry", "openapi_directory", "pegboard"]
    status: Annotated[
        Literal["ok", "degraded", "failed"],
        Field(description="`degraded`: incomplete, or the last known entries."),
    ]
    reason: str
    entries: int
    read_at: Annotated[float, Field(description="Unix seconds; 0 if it was never read.")]
    skipped: list[SkippedAnswer]


class EntryList(BaseModel):
    """One page of entries, by marketplace and name."""

    model_config = _CLOSED

    entries: list[EntryAnswer]
    next_cursor: Annotated[
        str | None, Field(description="For the next page; null when this was the last.")
    ]
    marketplaces: list[MarketplaceAnswer]


class WayAnswer(BaseModel):
    """Another install option of an entry."""

    model_config = _CLOSED

    way: str
    runs: Literal["here", "elsewhere"]
    address: str
    command: list[str]
    problem: Annotated[
        str, Field(description="Why it cannot be installed this way; empty if it can.")
    ]


class NeedAnswer(BaseModel):
    """A value that is required to add an entry."""

    model_config = _CLOSED

    name: str
    place: Literal["variable", "argument", "header", "address"]
    variable: Annotated[str, Field(description="The environment variable that supplies it.")]
    description: str
    is_secret: bool
    is_set: Annotated[bool, Field(description="Whether the server has that variable.")]


class OfferedTool(BaseModel):
    """A tool of an entry."""

    model_config = _CLOSED

    name: Annotated[str, Field(description="Name used by its server.")]
    effect: Effect
    description: str
    unavailable: Annotated[str, Field(description="Why it cannot be used; empty if it can.")]
    registration: Annotated[
        DefinitionAnswer | None,
        Field(description="The complete registration; null if it cannot be registered."),
    ]


class ReviewAnswer(EntryAnswer):
    """Everything that adding an entry would do."""

    homepage: str
    repository: str
    way: _Way
    other_ways: list[WayAnswer]
    name: _Name
    runs: Annotated[
        Literal["here", "elsewhere"], Field(description="`here` starts a program on this machine.")
    ]
    address: str
    command: Annotated[list[str], Field(description="The whole command line of a program.")]
    source: Annotated[
        dict[str, Any] | None, Field(description="The entry of a board file's `sources`.")
    ]
    board_file: Annotated[str, Field(description="The source as lines of a board file.")]
    needs: list[NeedAnswer]
    can_be_registered: Annotated[bool, Field(description="Whether it can be added over HTTP.")]
    why_not: str
    tools: list[OfferedTool]
    tools_note: Annotated[str, Field(description="Why its tools are unknown; else empty.")]
    warnings: list[str]
    digest: Digest


class AddedAnswer(BaseModel):
    """The result of adding an entry."""

    model_config = _CLOSED

    marketplace: str
    entry: str
    digest: Digest
    already: Annotated[bool, Field(description="Whether everything was registered already.")]
    registered: list[RegisteredAnswer]


def addition_to_dict(review: Review, made: Sequence[RegistrationResult]) -> dict[str, Any]:
    """Return an `AddedAnswer`."""
    return {
        "marketplace": review.entry.market,
        "entry": review.entry.id,
        "digest": review.digest,
        "already": not any(item.is_new or item.is_changed for item in made),
        "registered": [item.to_dict() for item in made],
    }
