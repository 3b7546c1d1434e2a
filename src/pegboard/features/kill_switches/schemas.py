"""Requests and responses about kill switches."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from pegboard.core.ports.kill_switch_store import SwitchKind
from pegboard.features.kill_switches.service import (
    MAX_REASON_LENGTH,
    NAME_HINTS,
    PATTERNS,
    SwitchResult,
    is_name,
)

_CLOSED = ConfigDict(extra="forbid", frozen=True)


def _check_name(kind: SwitchKind) -> AfterValidator:
    """Validate a name: the error says what to write, the schema has the pattern."""

    def check(name: str) -> str:
        if not is_name(kind, name):
            raise ValueError(NAME_HINTS[kind])
        return name

    return AfterValidator(check)


Turn = Annotated[
    Literal["off", "on"],
    Field(description="`on` undoes `off` of the same name."),
]
Reason = Annotated[
    str, Field(max_length=MAX_REASON_LENGTH, description="Shown to refused callers.")
]


class TurnTools(BaseModel):
    """Turn a tool, or all tools that match a glob, off or on for every caller."""

    model_config = _CLOSED

    turn: Turn
    kind: Literal["tool"]
    name: Annotated[
        str,
        _check_name("tool"),
        Field(
            description="A tool name, or a glob such as `shop__*`.",
            json_schema_extra={"pattern": PATTERNS["tool"]},
        ),
    ]
    reason: Reason = ""


class TurnSource(BaseModel):
    """Turn all tools of a source off or on."""

    model_config = _CLOSED

    turn: Turn
    kind: Literal["source"]
    name: Annotated[
        str,
        _check_name("source"),
        Field(description="A source name.", json_schema_extra={"pattern": PATTERNS["source"]}),
    ]
    reason: Reason = ""


class TurnWrites(BaseModel):
    """Turn off or on all tools that may change something."""

    model_config = _CLOSED

    turn: Turn
    kind: Literal["writes"]
    name: Annotated[Literal[""], Field(description="Always empty.")] = ""
    reason: Reason = ""


class SwitchAnswer(BaseModel):
    """A kill switch as this server sees it."""

    model_config = ConfigDict(extra="forbid")

    kind: Literal["tool", "source", "writes"]
    name: Annotated[str, Field(description="Empty for `writes`.")]
    state: Literal["off", "on"]
    reason: str
    at: Annotated[float | None, Field(description="Unix seconds; null if a program turned it off.")]
    by: Annotated[str, Field(description="`tenant/principal`; empty if a program turned it off.")]
    kept: Annotated[
        bool,
        Field(
            description="Whether it is stored, so that every server has it and a restart keeps it; "
            "else only this process has it."
        ),
    ]
    tools: Annotated[
        int | None, Field(description="Number of tools that it covers; null if unknown.")
    ]


class SwitchList(BaseModel):
    """Everything that is turned off, by kind and name."""

    model_config = ConfigDict(extra="forbid")

    switches: list[SwitchAnswer]


def switch_to_dict(thrown: SwitchResult) -> dict[str, Any]:
    """Return a `SwitchAnswer`."""
    switch = thrown.switch
    return {
        "kind": switch.kind,
        "name": switch.name,
        "state": "off" if thrown.is_off else "on",
        "reason": switch.reason,
        "at": switch.at or None,
        "by": switch.by,
        "kept": thrown.is_stored,
        "tools": thrown.tools,
    }


def switches_to_dict(thrown: Sequence[SwitchResult]) -> dict[str, Any]:
    """Return a `SwitchList`."""
    return {"switches": [switch_to_dict(item) for item in thrown]}
