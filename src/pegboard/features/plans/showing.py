"""Plans as JSON-compatible data: what HTTP answers and the command line prints."""

from dataclasses import asdict
from typing import Any

from pegboard.features.plans.service import CheckedPlan, MadePlan
from pegboard.graphs import write_plan
from pegboard.graphs.drawing import mermaid


def show_check(checked: CheckedPlan) -> dict[str, Any]:
    """What a check found."""
    is_too_large = any(fault.code == "graph_too_large" for fault in checked.preview.faults)
    drawn = "" if checked.graph is None or is_too_large else mermaid(checked.graph)
    return {"runnable": checked.is_runnable, **checked.preview.to_dict(), "mermaid": drawn}


def show_plan(made: MadePlan) -> dict[str, Any]:
    """A plan, with the tools that it was made of."""
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
        **show_check(CheckedPlan(graph=made.graph, preview=made.preview)),
    }
