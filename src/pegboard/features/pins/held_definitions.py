"""What is kept beside a definition that is held: the verdict, its changes, and who said no."""

from typing import Any, cast

from pegboard.core.ports.catalogue_stores import Definition, HeldDefinition
from pegboard.core.tool import Effect, ToolSpec
from pegboard.features.catalogue.views import diff_dict
from pegboard.features.pins.definitions import State
from pegboard.registry.definition_diff import definition_diff, spec_of
from pegboard.registry.pin_policy import Verdict


def diff_of(verdict: Verdict, tool: str) -> dict[str, Any]:
    """What is kept: `tool` is its wire name on the board."""
    return {"tool": tool, "outcome": verdict.outcome, **diff_dict(verdict.diff)}


def new_of(definition: Definition, tool: str) -> dict[str, Any]:
    """The same of a tool that was not there before: all that its upstream says is new."""
    spec = spec_of(definition)
    # another effect, so that the tool's own is always among what is shown
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
    """What is kept once somebody has said no, so that nobody is asked about it again."""
    return {**details_of(held), "rejected_by": by}


NEW = "new"
"""The kind of what is held of a tool that was not there before."""


def outcome_of(held: HeldDefinition) -> str:
    """`hold`, or `refuse` where the board's policy blocks changes."""
    return str(details_of(held).get("outcome", "hold"))


def is_new(held: HeldDefinition) -> bool:
    """Whether it is a tool that was not there before, and not a change of one that was."""
    return details_of(held).get("kind") == NEW


def state_of(held: HeldDefinition) -> State:
    """`waiting`, `rejected`, or `blocked` by the board's policy."""
    if outcome_of(held) == "refuse":
        return "blocked"
    return "rejected" if details_of(held).get("rejected_by") else "waiting"


def details_of(held: HeldDefinition) -> dict[str, Any]:
    """All of it; nothing for what was held by other means."""
    diff: Any = held.diff
    return cast("dict[str, Any]", diff) if isinstance(diff, dict) else {}
