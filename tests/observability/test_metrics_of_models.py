"""What language models used, for Prometheus."""

from typing import Any

from tests.observability.test_metrics import labels_of, value

from pegboard.core.event import NodeReported
from pegboard.observability import Metrics


def used(model: str, kind: str = "usage", **data: Any) -> NodeReported:
    known = {"requests": 1, "input_tokens": 100, "cached_tokens": 80, "output_tokens": 5}
    return NodeReported(
        run_id="r", node="agent", kind=kind, at=0, data={"model": model} | known | data
    )


def test_tokens_and_cost_are_counted_by_model() -> None:
    metrics = Metrics()
    for event in (used("a", cost=0.25), used("a"), used("b"), used("a", "text_delta")):
        metrics.on_event(event)

    assert value(metrics, "pegboard_model_requests_total", model="a") == 2
    assert value(metrics, "pegboard_model_tokens_total", model="a", kind="input") == 200
    assert value(metrics, "pegboard_model_tokens_total", model="a", kind="cached") == 160
    assert value(metrics, "pegboard_model_tokens_total", model="b", kind="output") == 5
    assert value(metrics, "pegboard_model_cost_dollars_total", model="a") == 0.25


def test_the_names_of_models_are_bounded() -> None:
    metrics = Metrics()
    for number in range(150):
        metrics.on_event(used(f"m{number}"))

    assert len(labels_of(metrics, "pegboard_model_requests_total", "model")) == 101
    assert value(metrics, "pegboard_model_requests_total", model="other") == 50
