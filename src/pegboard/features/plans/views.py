"""Plans as JSON-compatible data: what HTTP answers and the command line prints."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from pegboard.core.graph import Graph
from pegboard.features.plans.service import CheckedPlan, MadePlan
from pegboard.graphs import write_plan

Render = Callable[[Graph], str]
"""Makes a Mermaid flow chart of a graph."""


def show_check(checked: CheckedPlan, mermaid: Render) -> dict[str, Any]:
    """The result of a check, with the flow chart of a graph that is not too large."""
    is_too_large = any(fault.code == "graph_too_large" for fault in checked.preview.faults)
    drawn = "" if checked.graph is None or is_too_large else mermaid(checked.graph)
    return {"runnable": checked.is_runnable, **checked.preview.to_dict(), "mermaid": drawn}


def show_plan(made: MadePlan, mermaid: Render) -> dict[str, Any]:
    """A plan with the tools chosen for it."""
    written = write_plan(made.graph)
    return {
        "task_id": made.task_id,
        "plan_id": made.id,
        "steps": written["steps"],
        "params": written.get("params", {}),
        "mode": made.mode,
        "choices": [
            {**asdict(choice), "alternatives": list(choice.alternatives)} for choice in made.choices
        ],
        "notes": list(made.notes),
        "created_at": made.created_at,
        **show_check(CheckedPlan(graph=made.graph, preview=made.preview), mermaid),
    }
