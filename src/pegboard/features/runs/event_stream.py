"""The events of a run: all that there are, or one after the other as they come."""

import asyncio
from collections.abc import AsyncIterator, Callable

from pegboard.core.ports.run_store import RunEvent, RunStore
from pegboard.features.runs.event_feed import RunFeed

_PAGE = 500
_MOST = 20_000
_LOOK_AGAIN = 1.0
_LATE = 3.0


async def known_events(store: RunStore, run_id: str) -> list[RunEvent]:
    """What has happened so far, oldest first; of a very long run the first twenty thousand."""
    events: list[RunEvent] = []
    while len(events) < _MOST:
        after = events[-1].sequence if events else 0
        page = await store.events(run_id, after=after, limit=_PAGE)
        if not page:
            break
        events += page
        await asyncio.sleep(0)  # a store in memory lets nobody else have a turn
    return events


async def last_event(store: RunStore, run_id: str) -> int:
    """The number of the last event so far; 0 for none."""
    last = 0
    while page := await store.events(run_id, after=last, limit=_PAGE):
        last = page[-1].sequence
        await asyncio.sleep(0)  # as above
    return last


async def coming_events(
    store: RunStore, feed: RunFeed, run_id: str, *, after: int, now: Callable[[], float]
) -> AsyncIterator[RunEvent]:
    """What happens after an event, until the run has ended or the board closes.

    What another server plays is seen within a second.
    """
    while True:
        is_behind = feed.is_behind(run_id)
        run = await store.get(run_id)
        page = await store.events(run_id, after=after, limit=_PAGE)
        for event in page:
            yield event
            after = event.sequence
            if event.kind == "run_finished":
                return
        if page:
            continue
        if run is None or feed.is_closed:
            return
        has_ended = run.finished_at is not None and now() - run.finished_at > _LATE
        if has_ended and not is_behind:  # a crash has lost its last events
            return
        await feed.news(run_id, within=_LOOK_AGAIN)
