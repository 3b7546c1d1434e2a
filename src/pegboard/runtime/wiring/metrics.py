"""Prometheus metrics of a board: calls, runs, sources and dropped records."""

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pegboard.errors import Unavailable
from pegboard.execution.emitter import Emitter
from pegboard.runtime.sources.state import SourceState
from pegboard.runtime.wiring.listeners import ClosingListener

if TYPE_CHECKING:
    from pegboard.observability import Metrics
    from pegboard.storage import Storage

_SCRAPE_WAIT_SECONDS = 2.0
"""How long a scrape waits for counts from the storage."""


def create_metrics(
    storage: "Storage",
    listeners: Sequence[ClosingListener],
    emitter: Emitter,
    in_flight: Mapping[str, int],
    *,
    states: Mapping[str, SourceState],
) -> "Metrics":
    """Create the metrics listener, which reads the other parts when it is scraped.

    Raises:
        ConfigError: `prometheus_client` is not installed.
    """
    from pegboard.observability import Metrics

    def dropped() -> dict[str, int]:
        lost = {type(item).__name__: item.dropped for item in listeners}
        audit, failing = storage.auditor.dropped, emitter.failures
        return {"history": storage.dropped, "audit": audit, "failing": failing, **lost}

    def sources() -> dict[str, tuple[str, int]]:
        return {name: (state.status, len(state.tools)) for name, state in states.items()}

    return Metrics(in_flight=lambda: dict(in_flight), dropped=dropped, sources=sources)


async def render_metrics(metrics: "Metrics | None", storage: "Storage") -> bytes:
    """Render the metrics as text, with counts from the storage if it answers in time.

    Raises:
        RuntimeError: The board collects no metrics.
    """
    if metrics is None:
        raise RuntimeError("the board keeps no metrics: open it with metrics=True")
    metrics.counts = None
    with contextlib.suppress(TimeoutError, Unavailable):
        async with asyncio.timeout(_SCRAPE_WAIT_SECONDS):
            metrics.counts = await storage.upkeep.counts()
    return metrics.render()
