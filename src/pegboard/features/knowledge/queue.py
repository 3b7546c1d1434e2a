"""Starts the runs that take documents in: a few at a time, and no base holds up another."""

import asyncio
import logging
from collections import Counter
from collections.abc import Collection, Sequence
from contextlib import suppress

from pegboard.concurrency.log_and_continue import log_and_continue
from pegboard.core.event import Event, RunEnded
from pegboard.core.ports.knowledge.document_store import StoredDocument
from pegboard.core.principal import LOCAL, Principal
from pegboard.errors import PegboardError
from pegboard.features.knowledge.ingestion import (
    DOCUMENT,
    INGESTER,
    ingestion_graph,
    is_settled,
)
from pegboard.features.knowledge.parts import DocumentChange, KnowledgeParts
from pegboard.features.runs import Runs
from pegboard.features.runs.start import run_id_for

_LOG = logging.getLogger("pegboard.knowledge")
SLOTS = 2
"""Documents that one server takes in at once: conversion needs a processor each.

One more is taken in if it is short and nothing else of its base is under way.
"""
SHORT = 1024 * 1024
"""Up to so many bytes, a document is short: it is converted within seconds."""
_LOOK_AGAIN = 5.0
"""Seconds after which what other servers have ended or left is looked at."""
_MAX_CALLERS = 10_000


class IngestionQueue:
    """Has a run for each document that waits, in the order in which they are urgent.

    A document that somebody waits for goes before those of a folder, and a base of which nothing is
    under way before one that is at work. Long documents may take minutes: of one base, one is taken
    in at a time, and a slot beside the others is kept for short documents of other bases.

    Of servers that share a database, each fills its own slots: what another one takes in has none
    here, and what another one has left waiting is found within seconds.

    Args:
        parts: The stores.
        runs: Starts the runs.
        slots: How many run at once, beside a short one.
        every: Seconds after which what other servers have ended or left is looked at.
    """

    def __init__(
        self,
        parts: KnowledgeParts,
        runs: Runs,
        *,
        slots: int = SLOTS,
        every: float = _LOOK_AGAIN,
    ) -> None:
        self._parts = parts
        self._runs = runs
        self._slots = slots
        self._every = every if parts.is_shared else None
        self._active: dict[str, StoredDocument] = {}
        self._added: set[str] = set()
        self._must_list = True
        self._callers: dict[str, Principal] = {}
        self._is_due = asyncio.Event()
        self._worker: asyncio.Task[None] | None = None
        self._ends: set[asyncio.Task[None]] = set()

    def wake(self, document: str = "", *, by: Principal | None = None) -> None:
        """Look for documents that wait.

        Args:
            document: One that was added; empty for none.
            by: Its run is this caller's.
        """
        if by is not None and len(self._callers) < _MAX_CALLERS:
            self._callers[document] = by
        if document:
            self._added.add(document)
        else:
            self._must_list = True
        self._is_due.set()
        if self._worker is None:
            self._worker = asyncio.get_running_loop().create_task(
                self._work(), name="take documents in"
            )

    def on_event(self, event: Event) -> None:
        """Go on once a run that takes a document in has ended."""
        if isinstance(event, RunEnded) and event.graph == DOCUMENT:
            task = asyncio.get_running_loop().create_task(self._end(event.run_id))
            self._ends.add(task)
            task.add_done_callback(self._ends.discard)

    async def close(self) -> None:
        """Start no more; what is under way goes on with its run."""
        tasks = [*self._ends, *([self._worker] if self._worker else [])]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def _work(self) -> None:
        clock = asyncio.get_running_loop().time
        next_look = None if self._every is None else clock() + self._every
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout_at(next_look):
                    await self._is_due.wait()
            self._is_due.clear()
            with log_and_continue(_LOG, "knowledge: documents that wait are not taken in"):
                if self._every is not None and next_look is not None and clock() >= next_look:
                    next_look = clock() + self._every
                    await self._look_elsewhere()
                await self._fill()

    async def _look_elsewhere(self) -> None:
        """Look for what other servers have left, and end what is not executed here any more."""
        self._must_list = True
        for run_id in filter(self._runs.is_elsewhere, list(self._active)):
            run = await self._runs.find_stored(run_id, principal=INGESTER)
            if run is None or run.finished_at is not None:
                await self._end(run_id)
            else:
                self._active.pop(run_id, None)  # another server continues it

    async def _fill(self) -> None:
        """Start runs as long as there is room.

        What waits since before has no room until a run ends, so that until then only what was added
        is looked at.
        """
        if len(self._active) > self._slots:
            return
        added, must_list = self._added, self._must_list
        self._added, self._must_list = set(), False
        try:
            waiting = await self._list_waiting(None if must_list else added)
            while (row := self._choose(waiting)) is not None:
                waiting.remove(row)
                await self._start(row)
        except BaseException:
            self._must_list = True
            raise

    async def _list_waiting(self, added: Collection[str] | None) -> list[StoredDocument]:
        """Those of these ids that are not under way; of all for None.

        A base that is not known here, or not yet, is that of other servers. Callers of documents
        that are settled or gone, some by other servers, are forgotten.
        """
        documents = self._parts.documents
        asked = set(self._callers if added is None else added)
        if added is None:
            found = await documents.list_unfinished()
        else:
            found = (await documents.get_all(added)).values()
        found = [row for row in found if not is_settled(row)]
        for document in asked.difference(self._added, [row.id for row in found]):
            self._callers.pop(document, None)
        active = {row.id for row in self._active.values()}
        waiting = [row for row in found if row.id not in active]
        if not self._parts.is_shared:
            return waiting
        known = {base.id for base in self._parts.bases.list_visible(LOCAL)}
        return [row for row in waiting if row.base in known]

    def _choose(self, waiting: Sequence[StoredDocument]) -> StoredDocument | None:
        busy = Counter(row.base for row in self._active.values())
        long = {row.base for row in self._active.values() if row.size > SHORT}
        count = len(self._active)

        def has_room(row: StoredDocument) -> bool:
            if count < self._slots:
                return row.size <= SHORT or row.base not in long
            return count == self._slots and row.size <= SHORT and not busy[row.base]

        return min(
            filter(has_room, waiting),
            key=lambda row: (-row.priority, busy[row.base], row.created_at, row.id),
            default=None,
        )

    async def _start(self, row: StoredDocument) -> None:
        """Start the run of a document, or follow the one that an earlier process has started."""
        principal, key = self._callers.pop(row.id, INGESTER), _key_of(row)
        run = await self._runs.find_stored(row.run, principal=INGESTER)
        if run is None:
            changes = {"run": run_id_for(principal, key)}
            changed = await self._parts.documents.change(
                row.id, changes, attempt=row.attempt, run=row.run
            )
            if changed is None:
                return  # it was deleted, waits anew, or another server takes it in
            graph = ingestion_graph(row.id)
            try:
                run = (await self._runs.start_graph(graph, principal=principal, key=key)).run
            except PegboardError as error:
                await self._fail(changed, error.code, error.message)
                return
        run_id = run.start.run_id
        if run.finished_at is None and self._runs.is_elsewhere(run_id):
            return  # it has no slot here
        self._active[run_id] = row
        if run.finished_at is not None:
            await self._end(run_id)

    async def _end(self, run_id: str) -> None:
        ended = self._active.pop(run_id, None)
        with log_and_continue(_LOG, f"knowledge: the end of run {run_id} is not stored"):
            row = None if ended is None else await self._parts.documents.get(ended.id)
            if row is not None and not is_settled(row) and row.run == run_id:
                run = await self._runs.find_stored(run_id, principal=INGESTER)
                error = dict(run.result.error or {}) if run and run.result else {}
                code = str(error.get("code", "cancelled"))
                await self._fail(row, code, str(error.get("message", "Its run was cancelled.")))
        self.wake()

    async def _fail(self, row: StoredDocument, code: str, reason: str) -> None:
        now = self._parts.environment().now()
        failed = {"state": "failed", "code": code, "reason": reason, "updated_at": now}
        await self._parts.documents.change(row.id, failed, attempt=row.attempt)
        self._parts.changes.notify(DocumentChange(row.base, row.id))


def _key_of(row: StoredDocument) -> str:
    """The same on all servers that see the document wait, so that one run takes it in.

    No header can carry its line breaks, so that no other run has this key.
    """
    return f"document\n{row.id}\n{row.digest}\n{row.revision}\n{row.review}\n{row.attempt}"
