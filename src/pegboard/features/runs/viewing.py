"""Looking at a run as it is now: a large one while the rest of the process goes on."""

from functools import partial

from pegboard.concurrency.cooperative import in_thread
from pegboard.core.collecting import collecting_later, length_or_zero
from pegboard.core.graph import is_large
from pegboard.core.ports.run_store import RunStore, StoredRun
from pegboard.features.runs.control import BEING_PLAYED
from pegboard.features.runs.event_stream import known_events
from pegboard.features.runs.views import RunView, as_it_is, graph_of


async def viewed(store: RunStore, run: StoredRun, *, now: float) -> RunView:
    """A run for showing: as it last rested, or by its events while it is played."""
    with collecting_later(length_or_zero(run.start.graph.get("nodes"))):
        graph = await graph_of(run)
        if run.result is not None and run.state not in BEING_PLAYED:
            return RunView(run=run, graph=graph, result=run.result)
        events = await known_events(store, run.start.run_id)
        look = partial(as_it_is, run, graph, events, now=now)
        result = await in_thread(look, is_large=is_large(graph))
        return RunView(run=run, graph=graph, result=result)
