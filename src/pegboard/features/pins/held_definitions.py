"""Details stored with a held definition: the verdict, its changes and a rejection."""

from typing import Any, cast

from pegboard.core.ports.catalogue_stores import Definition, HeldDefinition
from pegboard.core.tool import Effect, ToolSpec
from pegboard.features.catalogue.views import diff_dict
from pegboard.features.pins.definitions import State
from pegboard.registry.definition_diff import definition_diff
from pegboard.registry.pin_policy import PinVerdict
from pegboard.schemas.tool_definition import spec_of


def diff_of(verdict: PinVerdict, tool: str) -> dict[str, Any]:
    """Return the details of a changed definition; `tool` is its wire name."""
    return {"tool": tool, "outcome": verdict.outcome, **diff_dict(verdict.diff)}


def new_of(definition: Definition, tool: str) -> dict[str, Any]:
    """Return the details of a new tool: everything that its upstream says is new."""
    spec = spec_of(definition)
    # another effect, so that the tool's own effect always shows as a change
    other = Effect.READ if spec.effect is Effect.ADMIN else Effect.ADMIN
    blank = ToolSpec(
        name=spec.name,
        source=spec.source,
        handler=spec.handler,
        effect=other,
        input_schema={"type": "object", "properties": {}, "additionalProperties": False},
    )
    found = diff_dict(definition_diff(blank, spec))["changes"]
    changes = [
        {**change, "kind": "additive", "before": None}
        for change in found
        if change["after"] not in ("", None)
    ]
    return {"tool": tool, "outcome": "hold", "kind": NEW, "changes": changes}


def with_rejection(held: HeldDefinition, by: str) -> dict[str, Any]:
    """Return the details with a rejection, so that the definition is not offered again."""
    return {**details_of(held), "rejected_by": by}


NEW = "new"
"""Kind of the held definition of a new tool."""


def outcome_of(held: HeldDefinition) -> str:
    """`hold`, or `refuse` where the board's policy blocks changes."""
    return str(details_of(held).get("outcome", "hold"))


def is_new(held: HeldDefinition) -> bool:
    """Whether the tool is new, and not a changed one."""
    return details_of(held).get("kind") == NEW


def state_of(held: HeldDefinition) -> State:
    """`waiting`, `rejected`, or `blocked` by the board's policy."""
    if outcome_of(held) == "refuse":
        return "blocked"
    return "rejected" if details_of(held).get("rejected_by") else "waiting"


def details_of(held: HeldDefinition) -> dict[str, Any]:
    """Return the details; empty for a definition that was held without any."""
    diff: Any = held.diff
    return cast("dict[str, Any]", diff) if isinstance(diff, dict) else {}
