"""What is asked of kill switches, and what is answered."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from pegboard.features.switches.service import LONGEST_REASON, PATTERNS, Thrown

_CLOSED = ConfigDict(extra="forbid", frozen=True)

Turn = Annotated[
    Literal["off", "on"],
    Field(description="`on` takes back what was turned off under the same name."),
]
Reason = Annotated[
    str, Field(max_length=LONGEST_REASON, description="Shown to whoever is refused.")
]


class TurnTools(BaseModel):
    """Turn tools off or on, for every caller."""

    model_config = _CLOSED

    turn: Turn
    kind: Literal["tool"]
    name: Annotated[
        str, Field(pattern=PATTERNS["tool"], description="A tool, or a glob: `shop__*`.")
    ]
    reason: Reason = ""


class TurnSource(BaseModel):
    """Turn all tools of a source off or on."""

    model_config = _CLOSED

    turn: Turn
    kind: Literal["source"]
    name: Annotated[str, Field(pattern=PATTERNS["source"], description="A source.")]
    reason: Reason = ""


class TurnWrites(BaseModel):
    """Turn off or on whatever may change something."""

    model_config = _CLOSED

    turn: Turn
    kind: Literal["writes"]
    reason: Reason = ""

    @property
    def name(self) -> str:
        """None: they are all meant."""
        return ""


class SwitchAnswer(BaseModel):
    """A kill switch as this server sees it."""

    model_config = ConfigDict(extra="forbid")

    kind: Literal["tool", "source", "writes"]
    name: Annotated[str, Field(description="Empty for `writes`.")]
    state: Literal["off", "on"]
    reason: str
    at: Annotated[
        float | None, Field(description="Unix seconds; null where a program has turned it off.")
    ]
    by: Annotated[str, Field(description="`tenant/principal`; empty for a program itself.")]
    kept: Annotated[
        bool,
        Field(description="Every server has it, and a restart keeps it; else this process alone."),
    ]
    tools: Annotated[
        int | None, Field(description="How many tools it holds for now; null where nobody knows.")
    ]


class SwitchList(BaseModel):
    """Everything that is turned off, by kind and name."""

    model_config = ConfigDict(extra="forbid")

    switches: list[SwitchAnswer]


def switch_to_dict(thrown: Thrown) -> dict[str, Any]:
    """As `SwitchAnswer` describes it."""
    switch = thrown.switch
    return {
        "kind": switch.kind,
        "name": switch.name,
        "state": "off" if thrown.is_off else "on",
        "reason": switch.reason,
        "at": switch.at if thrown.is_kept else None,
        "by": switch.by,
        "kept": thrown.is_kept,
        "tools": thrown.tools,
    }


def switches_to_dict(thrown: Sequence[Thrown]) -> dict[str, Any]:
    """As `SwitchList` describes it."""
    return {"switches": [switch_to_dict(item) for item in thrown]}
