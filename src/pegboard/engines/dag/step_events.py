"""What happens in the steps of a goal, told apart from what happens in the goal itself."""

import re
from collections.abc import Mapping
from typing import Any

_STEP = re.compile(r"^[^/]+/round(\d+)/([a-z0-9_]+)(/.*)?$")
_DELEGATE = re.compile(r"^(.+)/(t\d+-\d+)/delegate(/.*)?$")
"""Of an agent that another one has called."""
_HIDDEN = frozenset({"step", "thinking"})
"""Of the agent of a step: its turns and its reasoning are for those who look at the run."""


def place_event(node: str, kind: str, data: Mapping[str, Any]) -> tuple[str, dict[str, Any]] | None:
    """An event of an agent or a goal for those who follow it; None for one that they do not see.

    An event of a step has its `step_id` and `round`. The text of its agent is `step_text`, so that
    it is not taken for the answer, and each new state of it is a `step`. An event of an agent that
    was called by `call_agent` has the `parent`, the part of that call; its text is `delegate_text`.

    Args:
        node: The path of the node that it is about.
        kind: As the node has emitted it, or `node_changed`.
        data: What it says.
    """
    if (delegate := _DELEGATE.match(node)) is not None:
        if kind in _HIDDEN or kind == "node_changed":
            return None
        outer = place_event(delegate[1], "", {"parent": delegate[2]})
        place = {} if outer is None else outer[1]
        return "delegate_text" if kind == "text_delta" else kind, {**data, **place}
    match = _STEP.match(node)
    if match is None:
        return None if kind == "node_changed" else (kind, dict(data))
    place = {"round": int(match[1]), "step_id": match[2]}
    if kind == "node_changed":
        if match[3]:
            return None
        reason = {"reason": data["reason"]} if data.get("reason") else {}
        return "step", {**place, "state": data["state"], **reason}
    if kind in _HIDDEN:
        return None
    return "step_text" if kind == "text_delta" else kind, {**data, **place}
