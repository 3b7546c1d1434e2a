"""Events of steps, for those who follow a goal."""

from typing import Any

import pytest

from pegboard.engines.dag.step_events import place_event

STEP = {"round": 2, "step_id": "look_up"}


@pytest.mark.parametrize(
    ("node", "kind", "data", "found"),
    [
        ("agent", "text_delta", {"text": "x"}, ("text_delta", {"text": "x"})),
        ("agent/t1-0", "tool_started", {"tool": "t"}, ("tool_started", {"tool": "t"})),
        ("agent", "node_changed", {"state": "failed"}, None),
        (
            "agent/round2/look_up",
            "node_changed",
            {"state": "skipped", "reason": "'a' is failed", "attempts": 1},
            ("step", {**STEP, "state": "skipped", "reason": "'a' is failed"}),
        ),
        ("agent/round2/look_up/t1-0", "node_changed", {"state": "failed"}, None),
        ("agent/round2/look_up", "text_delta", {"text": "x"}, ("step_text", {"text": "x", **STEP})),
        ("agent/round2/look_up", "step", {"turn": 1}, None),
        ("agent/round2/look_up", "thinking", {"text": "x"}, None),
        (
            "agent/round2/look_up/t1-0",
            "tool_started",
            {"tool": "t"},
            ("tool_started", {"tool": "t", **STEP}),
        ),
        ("agent/round2", "node_changed", {"state": "in_progress"}, None),
        (
            "agent/t1-0/delegate",
            "text_delta",
            {"text": "x"},
            ("delegate_text", {"text": "x", "parent": "t1-0"}),
        ),
        (
            "agent/round2/look_up/t1-0/delegate/t2-1",
            "tool_started",
            {"tool": "t"},
            ("tool_started", {"tool": "t", "parent": "t1-0", **STEP}),
        ),
        ("agent/t1-0/delegate", "step", {"turn": 1}, None),
        ("agent/t1-0/delegate", "node_changed", {"state": "failed"}, None),
    ],
)
def test_events_of_steps_are_told_apart(
    node: str, kind: str, data: dict[str, Any], found: Any
) -> None:
    assert place_event(node, kind, data) == found
