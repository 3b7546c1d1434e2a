"""What is looked up at each scrape."""

from typing import Any

from prometheus_client import CollectorRegistry

from pegboard.core.ports.maintenance import Counts
from pegboard.observability.scrape_gauges import ScrapeGauges


def scraped(**looked: Any) -> CollectorRegistry:
    registry = CollectorRegistry()
    known: dict[str, Any] = {"in_flight": None, "dropped": None, "sources": None}
    known["counts"] = lambda: None
    registry.register(ScrapeGauges(**(known | looked)))
    return registry


def test_a_source_is_in_one_state() -> None:
    value = scraped(sources=lambda: {"shop": ("degraded", 7)}).get_sample_value

    states = ("pending", "ok", "degraded", "failed")
    found = [value("pegboard_source_state", {"source": "shop", "state": each}) for each in states]
    assert found == [0, 0, 1, 0]
    assert value("pegboard_source_tools", {"source": "shop"}) == 7


def test_what_is_open_in_the_storage_is_told_also_where_it_is_nothing() -> None:
    value = scraped(counts=lambda: Counts(runs={"waiting": 3}, approvals=2)).get_sample_value

    assert value("pegboard_runs_open", {"state": "waiting"}) == 3
    assert value("pegboard_runs_open", {"state": "in_progress"}) == 0
    assert value("pegboard_approvals_pending") == 2


def test_a_storage_that_does_not_answer_is_left_out_and_the_rest_is_there() -> None:
    registry = scraped(in_flight=lambda: {"t": 1})

    assert registry.get_sample_value("pegboard_approvals_pending") is None
    assert registry.get_sample_value("pegboard_calls_in_flight", {"tool": "t"}) == 1
