"""What is kept beside a definition that is held: the verdict, its changes, and who said no."""

from typing import Any, cast

from pegboard.core.ports.catalogue import HeldDefinition
from pegboard.features.catalogue.views import diff_dict
from pegboard.features.pins.definitions import State
from pegboard.registry.pinning import Verdict


def diff_of(verdict: Verdict, tool: str) -> dict[str, Any]:
    """What is kept: `tool` is its wire name on the board."""
    return {"tool": tool, "outcome": verdict.outcome, **diff_dict(verdict.diff)}


def rejected(held: HeldDefinition, by: str) -> dict[str, Any]:
    """What is kept once somebody has said no, so that nobody is asked about it again."""
    return {**kept(held), "rejected_by": by}


def outcome_of(held: HeldDefinition) -> str:
    """`hold`, or `refuse` where the board's policy blocks changes."""
    return str(kept(held).get("outcome", "hold"))


def state_of(held: HeldDefinition) -> State:
    """`waiting`, `rejected`, or `blocked` by the board's policy."""
    if outcome_of(held) == "refuse":
        return "blocked"
    return "rejected" if kept(held).get("rejected_by") else "waiting"


def kept(held: HeldDefinition) -> dict[str, Any]:
    """All of it; nothing for what was held by other means."""
    diff: Any = held.diff
    return cast("dict[str, Any]", diff) if isinstance(diff, dict) else {}
