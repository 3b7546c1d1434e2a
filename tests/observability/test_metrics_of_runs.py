"""Runs, steps and decisions in numbers."""

from typing import Any

import pytest
from prometheus_client import CollectorRegistry
from tests.observability.made import NOON, a_run, a_step, an_end

from pegboard.core.event import ApprovalChanged
from pegboard.observability.metrics import RunMetrics


@pytest.fixture
def registry() -> CollectorRegistry:
    return CollectorRegistry()


def counted(registry: CollectorRegistry, *events: Any) -> CollectorRegistry:
    metrics = RunMetrics(registry)
    for event in events:
        metrics.on_event(event)
    return registry


def an_approval(state: str) -> ApprovalChanged:
    return ApprovalChanged(
        approval_id="a", state=state, at=NOON, tool="t", digest="d", principal="ada"
    )


def test_runs_are_counted_by_how_they_ended_and_timed(registry: CollectorRegistry) -> None:
    ends = [an_end(), an_end(), an_end(state="failed", duration_ms=90_000.0)]
    value = counted(registry, a_run(), *ends).get_sample_value

    assert value("pegboard_runs_total", {"outcome": "completed"}) == 2
    assert value("pegboard_runs_total", {"outcome": "failed"}) == 1
    assert value("pegboard_runs_total", {"outcome": "cancelled"}) == 0
    assert value("pegboard_run_duration_seconds_sum") == 96
    assert value("pegboard_run_duration_seconds_bucket", {"le": "5.0"}) == 2


def test_steps_are_counted_by_how_they_ended(registry: CollectorRegistry) -> None:
    steps = [a_step(state=state) for state in ("completed", "completed", "skipped", "failed")]
    value = counted(registry, *steps).get_sample_value

    found = {
        state: value("pegboard_run_steps_total", {"outcome": state})
        for state in ("completed", "failed", "skipped", "cancelled")
    }
    assert found == {"completed": 2, "failed": 1, "skipped": 1, "cancelled": 0}


def test_approvals_are_counted_when_asked_and_when_decided(registry: CollectorRegistry) -> None:
    states = ("pending", "pending", "approved", "used", "edited", "denied", "expired")
    value = counted(registry, *map(an_approval, states)).get_sample_value

    decisions = ("approved", "denied", "edited", "expired")
    assert value("pegboard_approvals_asked_total") == 2
    assert [value("pegboard_approvals_total", {"decision": name}) for name in decisions] == [1] * 4
    assert value("pegboard_approvals_total", {"decision": "used"}) is None
