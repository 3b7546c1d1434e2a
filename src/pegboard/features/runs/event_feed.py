"""Events of runs: stored as they happen, and streamed to watchers."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from msgspec import structs, to_builtins

from pegboard.concurrency.log_and_continue import log_and_continue
from pegboard.core.event import (
    Event,
    NodeChanged,
    NodeReported,
    RunEnded,
    RunFinished,
    RunStarted,
    StepEnded,
)
from pegboard.core.graph import NodeState
from pegboard.core.ports.run_store import RunEvent, RunStore, StoredRun
from pegboard.errors import PegboardError, Unavailable
from pegboard.features.runs.audit_events import failover_event, unknown_outcome_event

_LOG = logging.getLogger("pegboard.runs")
_PAGE = 500
_MAX_WAITING = 100_000
_MAX_KNOWN = 10_000
_AGAIN_AFTER = 1.0
_MAX_READ = 20_000
_LOOK_AGAIN = 1.0
_LATE = 3.0
_SILENT = {"run_id", "at", "principal", "tenant", "parent_id", "replayed"}
_ENDED = frozenset({"completed", "failed", "skipped", "cancelled"})
_STORED = (RunStarted, NodeChanged, NodeReported, RunFinished)
_REPLAYED = frozenset({"run_started", "node_changed", "run_finished"})
"""Kinds of events that each attempt emits again; what a node reports is emitted once."""
_TEXTS = frozenset({"text_delta", "thinking"})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Progress:
    """What is stored of a run: the last state of each node, and the last event."""

    states: dict[str, str] = field(default_factory=dict[str, str])
    last: int = 0


def _nobody(_event: Event) -> None:
    pass


class RunFeed:
    """A listener that stores the events of runs and wakes their watchers.

    A replayed run emits its earlier events again. Events that are stored already are skipped, and
    events that a crash has lost are stored then.

    Args:
        store: Stores the events.
        tell: Called when the end of a step or run was stored, exactly once for each, whatever the
            number of attempts and servers.

    Attributes:
        dropped: Number of events lost because the store was unavailable for too long.
    """

    def __init__(self, store: RunStore, *, tell: Callable[[Event], None] = _nobody) -> None:
        self.dropped = 0
        self._store = store
        self._tell = tell
        self._waiting: dict[str, list[RunEvent]] = {}
        self._count = 0
        self._known: dict[str, _Progress] = {}
        self._watchers: dict[str, set[asyncio.Event]] = {}
        self._news = asyncio.Event()
        self._writing: asyncio.Task[None] | None = None
        self._in_hand = ""
        self._closed = False

    def on_event(self, event: Event) -> None:
        """Queue an event of a run; other events are ignored."""
        if not isinstance(event, _STORED) or self._closed:
            return
        waiting = self._waiting.setdefault(event.run_id, [])
        stored = _to_stored(event)
        if waiting and (joined := _join_text(waiting[-1], stored)) is not None:
            waiting[-1] = joined
            return
        if self._count >= _MAX_WAITING:
            self.dropped += 1
            return
        self._count += 1
        waiting.append(stored)
        self._news.set()
        if self._writing is None:
            self._writing = asyncio.get_running_loop().create_task(self._write())

    def is_behind(self, run_id: str) -> bool:
        """Whether events of this run are not stored yet."""
        return run_id in self._waiting or run_id == self._in_hand

    async def wait_for_news(self, run_id: str, *, within: float) -> None:
        """Wait until an event of a run is stored by this process, or the time is over."""
        woken = asyncio.Event()
        self._watchers.setdefault(run_id, set()).add(woken)
        try:
            async with asyncio.timeout(within):
                await woken.wait()
        except TimeoutError:
            return
        finally:
            watchers = self._watchers.get(run_id, set())
            watchers.discard(woken)
            if not watchers:
                self._watchers.pop(run_id, None)

    async def close(self) -> None:
        """Store what is queued, and stop."""
        self._closed = True
        if self._writing is not None:
            self._writing.cancel()
            await asyncio.wait([self._writing])
        await self._flush()
        for run_id in list(self._watchers):
            self._wake(run_id)

    @property
    def is_closed(self) -> bool:
        """Whether no more events will come."""
        return self._closed

    async def _write(self) -> None:
        while True:
            await self._news.wait()
            self._news.clear()
            if not await self._flush():
                await asyncio.sleep(_AGAIN_AFTER)
                self._news.set()

    async def _flush(self) -> bool:
        """Store what is queued; return whether all of it was stored."""
        is_all = True
        for run_id in list(self._waiting):
            is_kept = False
            with log_and_continue(
                _LOG, "runs: events of a run are not stored yet"
            ):  # one run does not delay the others
                try:
                    await self._keep_waiting(run_id)
                    is_kept = True
                except PegboardError as error:  # the store is unavailable for all runs
                    _LOG.warning("runs: events of run %s are not stored yet: %s", run_id, error)
                    return False
            is_all = is_all and is_kept
        return is_all

    async def _keep_waiting(self, run_id: str) -> None:
        events = self._waiting.pop(run_id)
        try:
            while events:
                self._in_hand, page = run_id, events[:_PAGE]
                await self._keep(run_id, page)
                events = events[_PAGE:]
                self._count -= len(page)
                self._in_hand = run_id if events else ""
                self._wake(run_id)
                await asyncio.sleep(0)  # a store in memory never yields to the loop
        except BaseException:
            self._waiting[run_id] = [*events, *self._waiting.get(run_id, [])]
            raise
        finally:
            self._in_hand = ""

    async def _keep(self, run_id: str, events: Sequence[RunEvent]) -> None:
        known = self._known.get(run_id, _Progress())
        is_attempt = any(event.kind in {"run_started", "run_finished"} for event in events)
        if run_id not in self._known or is_attempt:
            known = await self._read(run_id, known)  # another server may have executed it
        states = dict(known.states)  # `known` changes only once the events are stored
        new = [event for event in events if _is_new(event, states)]
        # read before anything is stored: a stored event is not announced again
        run = await self._store.get(run_id) if any(map(_fact_of, new)) else None
        last = await self._store.emit(run_id, new) if new else known.last
        self._known[run_id] = _Progress(states=states, last=last)
        if any(event.kind == "run_finished" for event in new):
            del self._known[run_id]
        elif len(self._known) > _MAX_KNOWN:
            del self._known[next(iter(self._known))]
        for event in new if last else ():  # without a run nothing was stored
            self._announce(run_id, event)
            if run is not None and (fact := _fact_of(event)) is not None:
                self._tell(fact(run, event))

    async def _read(self, run_id: str, known: _Progress) -> _Progress:
        """Read the events stored since `known`."""
        states, last = dict(known.states), known.last
        while page := await self._store.events(run_id, after=last, limit=_PAGE):
            for event in page:
                if event.kind not in _REPLAYED:
                    continue
                states[_subject(event)] = str(event.data.get("state", event.kind))
            last = page[-1].sequence
            await asyncio.sleep(0)
        return _Progress(states=states, last=last)

    def _announce(self, run_id: str, event: RunEvent) -> None:
        data: dict[str, Any] = dict(event.data)
        if event.kind == "run_finished":
            data.pop("started_at", None)
            steps, graph = data.pop("nodes", 0), data.pop("graph", "")
            self._tell(RunEnded(run_id=run_id, graph=graph, at=event.at, steps=steps, **data))
        elif event.kind == "node_changed" and data["state"] in _ENDED and not _is_try(event):
            data.pop("started_at", None)
            self._tell(StepEnded(run_id=run_id, step=data.pop("node"), at=event.at, **data))

    def _wake(self, run_id: str) -> None:
        for watcher in self._watchers.get(run_id, ()):
            watcher.set()


async def read_events(store: RunStore, run_id: str) -> list[RunEvent]:
    """Read the events of a run, oldest first; at most the first twenty thousand."""
    events: list[RunEvent] = []
    while len(events) < _MAX_READ:
        after = events[-1].sequence if events else 0
        page = await store.events(run_id, after=after, limit=_PAGE)
        if not page:
            break
        events += page
        await asyncio.sleep(0)  # a store in memory never yields to the loop
    return events


async def find_last_event(store: RunStore, run_id: str) -> int:
    """Return the sequence number of the latest event; 0 for none."""
    last = 0
    while page := await store.events(run_id, after=last, limit=_PAGE):
        last = page[-1].sequence
        await asyncio.sleep(0)  # as above
    return last


async def follow_events(
    store: RunStore, feed: RunFeed, run_id: str, *, after: int, now: Callable[[], float]
) -> AsyncIterator[RunEvent]:
    """Yield the events after a sequence number, until the run has ended or the board closes.

    Events of a run that another server executes arrive within a second. While the store is away for
    a moment, those that come meanwhile are waited for.

    Raises:
        Unavailable: The store cannot be read, and does not say when to try again.
    """
    while True:
        is_behind = feed.is_behind(run_id)
        try:
            run = await store.get(run_id)
            page = await store.events(run_id, after=after, limit=_PAGE)
        except Unavailable as error:
            if error.retry_after is None or feed.is_closed:
                raise
            await feed.wait_for_news(run_id, within=_LOOK_AGAIN)
            continue
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
        await feed.wait_for_news(run_id, within=_LOOK_AGAIN)


def _to_stored(event: RunStarted | NodeChanged | NodeReported | RunFinished) -> RunEvent:
    if isinstance(event, NodeReported):
        return RunEvent(kind=event.kind, at=event.at, data={"node": event.node, **event.data})
    data = {
        key: value
        for key, value in to_builtins(event).items()
        if key not in _SILENT and value not in ("", 0)
    }
    match event:
        case RunStarted():
            return RunEvent(kind="run_started", at=event.started_at, data=data)
        case NodeChanged():
            is_over = event.replayed and event.started_at  # a late event carries the original time
            at = event.started_at + event.duration_ms / 1000 if is_over else event.at
            return RunEvent(kind="node_changed", at=at, data=data)
        case RunFinished():
            at = event.started_at + event.duration_ms / 1000
            return RunEvent(kind="run_finished", at=at, data=data)


def _join_text(before: RunEvent, event: RunEvent) -> RunEvent | None:
    """Both as one event, if they are parts of the same text; None otherwise."""
    if event.kind not in _TEXTS or event.kind != before.kind:
        return None
    if {**before.data, "text": ""} != {**event.data, "text": ""}:
        return None
    text = f"{before.data['text']}{event.data['text']}"
    return structs.replace(before, data={**before.data, "text": text})


def _fact_of(event: RunEvent) -> Callable[[StoredRun, RunEvent], Event] | None:
    """The audit event that goes with an event; None for most."""
    if event.kind != "node_changed":
        return None
    if event.data.get("state") == NodeState.UNKNOWN:
        return unknown_outcome_event
    return failover_event if _is_try(event) and event.data.get("instead_of") else None


def _is_try(event: RunEvent) -> bool:
    """Whether the event is about one of several tools tried for a step, which is no step itself."""
    return "~" in str(event.data.get("node", "")).rpartition("/")[2]


def _subject(event: RunEvent) -> str:
    return str(event.data["node"]) if event.kind == "node_changed" else f"~{event.kind}"


def _is_new(event: RunEvent, known: dict[str, str]) -> bool:
    """Whether the event changes the stored state of its node or run.

    Each attempt announces again that a node is ready, and ends what has ended before.
    """
    if event.kind not in _REPLAYED:
        return True
    subject = _subject(event)
    state, before = str(event.data.get("state", event.kind)), known.get(subject)
    if before == state or (before is not None and state == "ready"):
        return False
    if before in _ENDED and state not in _ENDED:
        return False
    known[subject] = state
    return True
