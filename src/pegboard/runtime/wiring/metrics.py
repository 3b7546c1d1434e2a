"""Prometheus metrics of a board: its calls and runs, its sources, and what was lost."""

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

_PATIENCE = 2.0
"""Seconds for which a scrape waits for the storage; without it the rest is told."""


def create_metrics(
    storage: "Storage",
    listeners: Sequence[ClosingListener],
    emitter: Emitter,
    in_flight: Mapping[str, int],
    *,
    states: Mapping[str, SourceState],
) -> "Metrics":
    """The metrics listener, looking at the others when it is asked.

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
    """The metrics as text, with what is open in the storage now, where it answers.

    Raises:
        RuntimeError: The board keeps none.
    """
    if metrics is None:
        raise RuntimeError("the board keeps no metrics: open it with metrics=True")
    metrics.counts = None
    with contextlib.suppress(TimeoutError, Unavailable):
        async with asyncio.timeout(_PATIENCE):
            metrics.counts = await storage.upkeep.counts()
    return metrics.render()
