"""Plans as JSON-compatible data: what HTTP answers and the command line prints."""

from dataclasses import asdict
from typing import Any

from pegboard.features.plans.service import CheckedPlan, MadePlan
from pegboard.graphs import write_plan
from pegboard.graphs.drawing import mermaid
from pegboard.registry import ToolRegistry


def show_check(checked: CheckedPlan) -> dict[str, Any]:
    """What a check found."""
    is_too_large = any(fault.code == "graph_too_large" for fault in checked.preview.faults)
    drawn = "" if checked.graph is None or is_too_large else mermaid(checked.graph)
    return {"runnable": checked.is_runnable, **checked.preview.to_dict(), "mermaid": drawn}


def show_plan(made: MadePlan, registry: ToolRegistry) -> dict[str, Any]:
    """A plan; its tools by their ids, as far as they are there."""
    written = write_plan(made.graph)
    return {
        "task_id": made.task_id,
        "plan_id": made.id,
        "steps": [_by_id(step, registry) for step in written["steps"]],
        "params": written.get("params", {}),
        "mode": made.mode,
        "choices": [
            {**asdict(choice), "alternatives": list(choice.alternatives)} for choice in made.choices
        ],
        "notes": list(made.notes),
        "created_at": made.created_at,
        **show_check(CheckedPlan(graph=made.graph, preview=made.preview)),
    }


def _by_id(step: dict[str, Any], registry: ToolRegistry) -> dict[str, Any]:
    told = {**step, "tool_id": _id_of(step["tool_id"], registry)}
    if "fallbacks" in step:
        told["fallbacks"] = [
            {**item, "tool_id": _id_of(item["tool_id"], registry)} for item in step["fallbacks"]
        ]
    return told


def _id_of(name: str, registry: ToolRegistry) -> str:
    tool = registry.find(name)
    return name if tool is None else tool.spec.id
