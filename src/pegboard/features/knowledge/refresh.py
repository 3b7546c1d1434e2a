"""Takes in what has changed in the folders and addresses of the board file, as it says."""

import logging
from collections.abc import Callable
from itertools import takewhile

from pegboard.concurrency.log_and_continue import log_and_continue
from pegboard.features.knowledge.bases import KnowledgeBase, scope_of
from pegboard.features.knowledge.ingestion import INGESTER
from pegboard.features.knowledge.service import Knowledge, find_declared_source

_LOG = logging.getLogger("pegboard.knowledge")
_LEAST, _MOST = 5.0, 60.0
_FIRST_RETRY, _LAST_RETRY = 60.0, 3_600.0
"""Seconds until a base that is still empty is tried again, at first and at most."""


class RefreshSchedule:
    """Starts a run for each base that is due; of several servers one run does the work.

    A base that has no documents yet is taken in at once. One without `refresh` is not looked at
    again, but where that has failed and the base is still empty, it is tried again with a growing
    delay.

    Args:
        knowledge: The bases.
        now: Unix seconds.
    """

    def __init__(self, knowledge: Knowledge, *, now: Callable[[], float]) -> None:
        self._knowledge = knowledge
        self._now = now
        self._done: dict[str, int] = {}
        self._filled: set[str] = set()

    @property
    def pause(self) -> float:
        """Seconds until the next look."""
        times = [base.declared.refresh for base in self._list() if base.declared]
        least = min((time for time in times if time), default=_MOST)
        return min(max(least / 10, _LEAST), _MOST)

    async def run_due(self) -> None:
        """Start what is due; a base for which that fails is due again at the next look."""
        for base in self._list():
            with log_and_continue(_LOG, f"knowledge: the base '{base.name}' is not taken in"):
                await self._start(base)

    async def _start(self, base: KnowledgeBase) -> None:
        every = base.declared.refresh if base.declared is not None else 0.0
        turn = int(self._now() // every) if every else 0
        if self._done.get(base.id) == turn:
            await self._try_again(base)
            return
        is_first = base.id not in self._done
        if not is_first or every or not await self._has_documents(base):
            source = find_declared_source(base)
            key = f"gather\n{base.id}\n{source.source}\n{turn}"
            await self._knowledge.gather(base, source, principal=INGESTER, key=key)
        self._done[base.id] = turn

    async def _try_again(self, base: KnowledgeBase) -> None:
        """Take a base in again that is still empty since the last time has failed.

        How often it has failed is read from the stored runs, so that the delay goes on growing
        after a restart, and several servers start one run.
        """
        if base.id in self._filled or await self._has_documents(base):
            self._filled.add(base.id)
            return
        source = find_declared_source(base)
        looks = await self._knowledge.list_looks(base, source)
        failed = [*takewhile(lambda look: look.failed, looks)]
        ended_at = failed[0].run.finished_at if failed else None
        if ended_at is None:
            return
        delay = min(_FIRST_RETRY * 2.0 ** (len(failed) - 1), _LAST_RETRY)
        if self._now() >= ended_at + delay:
            key = f"gather\n{base.id}\n{source.source}\nafter {failed[0].run.start.run_id}"
            await self._knowledge.gather(base, source, principal=INGESTER, key=key)

    def _list(self) -> list[KnowledgeBase]:
        found = self._knowledge.bases.list_visible(INGESTER)
        return [base for base in found if base.declared is not None]

    async def _has_documents(self, base: KnowledgeBase) -> bool:
        scope = scope_of([base], INGESTER, include_replaced=True)
        return bool(await self._knowledge.documents.list_all(scope))
