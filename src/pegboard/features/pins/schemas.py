"""Requests and responses about pinned and held definitions."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from pegboard.core.ports.catalogue_stores import HeldDefinition, Pin
from pegboard.features.catalogue.schemas import Change, ChangeRow
from pegboard.features.paging import KeysetPage
from pegboard.features.pins.held_definitions import details_of, state_of

_CLOSED = ConfigDict(extra="forbid", frozen=True)

Cursor = Annotated[
    str, Field(max_length=600, description="`next_cursor` of the page before; empty at first.")
]
NextCursor = Annotated[
    str | None, Field(description="For the next page; null when this was the last.")
]
Source = Annotated[str, Field(max_length=200, description="Only of this source.")]
Name = Annotated[str, Field(description="Upstream name.")]
Digest = Annotated[str, Field(description="SHA-256 of the definition, which a decision refers to.")]


class PinFilter(BaseModel):
    """Query of `GET /pins`."""

    model_config = _CLOSED

    source: Source = ""
    limit: Annotated[int, Field(ge=1, le=1000, description="Definitions on a page.")] = 50
    cursor: Cursor = ""


class HeldFilter(PinFilter):
    """Query of `GET /tools/held`."""

    state: Annotated[
        Literal["", "waiting", "rejected", "blocked"],
        Field(description="State; `blocked` by the board's pinning policy."),
    ] = ""


class DefinitionDecision(BaseModel):
    """A decision about a held definition."""

    model_config = _CLOSED

    decision: Annotated[
        Literal["approve", "reject"],
        Field(
            description="`reject` keeps the approved definition, if any, and does not ask again."
        ),
    ]
    digest: Annotated[
        str,
        Field(min_length=1, max_length=200, description="Digest of the reviewed definition."),
    ]


class PinAnswer(BaseModel):
    """The approved definition of an upstream tool."""

    model_config = ConfigDict(extra="forbid")

    source: str
    name: Name
    tool: Annotated[str, Field(description="Its wire name, unless the board renames it.")]
    digest: Digest
    approved_at: Annotated[float, Field(description="Unix seconds.")]
    approved_by: Annotated[str, Field(description="Empty if the board's policy accepted it.")]


class PinList(BaseModel):
    """One page of approved definitions, by source and name."""

    model_config = ConfigDict(extra="forbid")

    pins: list[PinAnswer]
    next_cursor: NextCursor


class HeldAnswer(BaseModel):
    """A changed or new definition of an upstream tool, with its changes."""

    model_config = ConfigDict(extra="forbid")

    source: str
    name: Name
    tool: Annotated[str, Field(description="Its wire name on the board.")]
    state: Literal["waiting", "rejected", "blocked", "approved"]
    digest: Digest
    held_at: Annotated[float, Field(description="Unix seconds.")]
    kind: Annotated[
        Change | Literal["new"],
        Field(description="Gravest kind among the changes; `new` for a new tool."),
    ]
    changes: list[ChangeRow]


class HeldList(BaseModel):
    """One page of held definitions, by source and name."""

    model_config = ConfigDict(extra="forbid")

    held: list[HeldAnswer]
    next_cursor: NextCursor


def pin_to_dict(pin: Pin) -> dict[str, Any]:
    """Return a `PinAnswer`."""
    return {
        "source": pin.source,
        "name": pin.name,
        "tool": str(pin.definition.get("name", "")),
        "digest": pin.digest,
        "approved_at": pin.approved_at,
        "approved_by": pin.approved_by,
    }


def definition_to_dict(held: HeldDefinition, *, state: str = "") -> dict[str, Any]:
    """Return a `HeldAnswer`; `state` overrides the stored state."""
    details = details_of(held)
    return {
        "source": held.source,
        "name": held.name,
        "tool": str(details.get("tool", "")),
        "state": state or state_of(held),
        "digest": held.digest,
        "held_at": held.held_at,
        "kind": str(details.get("kind", "")),
        "changes": details.get("changes", []),
    }


def pins_to_dict(page: KeysetPage[Pin]) -> dict[str, Any]:
    """Return a `PinList`."""
    return {
        "pins": [pin_to_dict(pin) for pin in page.items],
        "next_cursor": page.next_cursor or None,
    }


def definitions_to_dict(page: KeysetPage[HeldDefinition]) -> dict[str, Any]:
    """Return a `HeldList`."""
    return {
        "held": [definition_to_dict(item) for item in page.items],
        "next_cursor": page.next_cursor or None,
    }
