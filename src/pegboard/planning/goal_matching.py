"""Direct mapping: what a goal names."""

from collections.abc import Sequence

from pegboard.core.text.suggestions import nearest_names
from pegboard.core.tool import Tool
from pegboard.core.wire_names import split_wire_name
from pegboard.errors import CannotPlan


def tool_for(goal: str, tools: Sequence[Tool]) -> tuple[Tool | None, list[Tool]]:
    """The tool that the goal names, else all that say they answer it.

    A goal is a name, an id, or the last part of a name when only one tool has it; else a task that
    a tool says it supports, in any case and with spaces for underscores; else a capability, for
    which there is no tool in the answer.

    Raises:
        CannotPlan: Neither; names what is near.
    """
    exact = next((item for item in tools if goal in (item.spec.name, item.spec.id)), None)
    if exact is not None:
        return exact, []
    wanted = _plain(goal)
    answering = [
        item for item in tools if wanted in {_plain(task) for task in item.spec.supported_tasks}
    ]
    if answering:
        return None, answering
    actions = [item for item in tools if _plain(split_wire_name(item.spec.name)[1]) == wanted]
    if len(actions) == 1:
        return actions[0], []
    if actions:
        names = ", ".join(item.spec.name for item in actions)
        raise CannotPlan(f"The goal '{goal}' is the name of several tools: write one of {names}.")
    if any(goal in item.spec.capabilities for item in tools):
        return None, []
    raise CannotPlan(_unknown(goal, tools))


def _unknown(goal: str, tools: Sequence[Tool]) -> str:
    tasks = {task for item in tools for task in item.spec.supported_tasks}
    having = {capability for item in tools for capability in item.spec.capabilities}
    known = sorted({item.spec.name for item in tools} | tasks | having)
    near = nearest_names(goal, known)
    hint = f" Near are {', '.join(near)}." if near else ""
    return (
        f"No tool that the caller may call is named '{goal[:100]}', or has it among its "
        f"supported_tasks or capabilities.{hint}"
    )


def _plain(text: str) -> str:
    return "".join(item for item in text.casefold() if item.isalnum())
