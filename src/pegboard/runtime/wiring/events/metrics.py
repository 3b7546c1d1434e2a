"""Prometheus metrics of a board: calls, runs, sources and dropped records."""

import asyncio
import contextlib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from pegboard.errors import Unavailable
from pegboard.execution.emitter import Emitter
from pegboard.runtime.sources.state import SourceState
from pegboard.runtime.wiring.events.listeners import ClosingListener

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
        ours = {
            "history": storage.dropped,
            "audit": storage.auditor.dropped,
            "failing": emitter.failures,
            "slow": emitter.dropped,
        }
        return ours | lost

    def sources() -> dict[str, tuple[str, int]]:
        return {name: (state.status, len(state.tools)) for name, state in states.items()}

    return Metrics(in_flight=lambda: dict(in_flight), dropped=dropped, sources=sources)


async def render_metrics(
    metrics: "Metrics | None", storage: "Storage", *, is_there: Callable[[str], bool]
) -> bytes:
    """Render the metrics as text, with counts from the storage if it answers in time.

    Args:
        metrics: The listener.
        storage: Counts open runs and approvals.
        is_there: Whether the board has a tool of this name; the metrics of others are dropped.

    Raises:
        RuntimeError: The board collects no metrics.
    """
    if metrics is None:
        raise RuntimeError("the board keeps no metrics: open it with metrics=True")
    metrics.retain(is_there)
    metrics.counts = None
    with contextlib.suppress(TimeoutError, Unavailable):
        async with asyncio.timeout(_SCRAPE_WAIT_SECONDS):
            metrics.counts = await storage.upkeep.counts()
    return metrics.render()
