"""Looking at a run as it is now: a large one while the rest of the process goes on."""

from functools import partial

from pegboard.core.collecting import collecting_later, how_many
from pegboard.core.ports.run import RunStore, StoredRun
from pegboard.features.runs.steering import BEING_PLAYED
from pegboard.features.runs.view import RunView, as_it_is, graph_of
from pegboard.features.runs.watching import known_events
from pegboard.graphs.turns import apart, is_large


async def viewed(store: RunStore, run: StoredRun, *, now: float) -> RunView:
    """A run for showing: as it last rested, or by its events while it is played."""
    with collecting_later(how_many(run.start.graph.get("nodes"))):
        graph = await graph_of(run)
        if run.result is not None and run.state not in BEING_PLAYED:
            return RunView(run=run, graph=graph, result=run.result)
        events = await known_events(store, run.start.run_id)
        look = partial(as_it_is, run, graph, events, now=now)
        result = await apart(look, is_large=is_large(graph))
        return RunView(run=run, graph=graph, result=result)
