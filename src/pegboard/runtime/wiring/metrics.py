"""Prometheus metrics of a board: its calls, what is in flight, and what was lost."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pegboard.execution.emitter import Emitter
from pegboard.runtime.wiring.listeners import ClosingListener

if TYPE_CHECKING:
    from pegboard.observability import Metrics
    from pegboard.storage import Storage


def metrics(
    storage: "Storage",
    listeners: Sequence[ClosingListener],
    emitter: Emitter,
    in_flight: Mapping[str, int],
) -> "Metrics":
    """The metrics listener, looking at the others when it is asked.

    Raises:
        ConfigError: `prometheus_client` is not installed.
    """
    from pegboard.observability import Metrics

    def dropped() -> dict[str, int]:
        lost = {type(item).__name__: item.dropped for item in listeners}
        return {"history": storage.dropped, "failing": emitter.failures, **lost}

    return Metrics(in_flight=lambda: dict(in_flight), dropped=dropped)
