"""Takes in what has changed in the folders and addresses of the board file, as it says."""

from collections.abc import Callable

from pegboard.features.knowledge.bases import KnowledgeBase, scope_of
from pegboard.features.knowledge.ingestion import INGESTER
from pegboard.features.knowledge.service import Knowledge, find_declared_source

_LEAST, _MOST = 5.0, 60.0


class RefreshSchedule:
    """Starts a run for each base that is due; of several servers one run does the work.

    A base that has no documents yet is taken in at once. One without `refresh` is not looked at
    again.

    Args:
        knowledge: The bases.
        now: Unix seconds.
    """

    def __init__(self, knowledge: Knowledge, *, now: Callable[[], float]) -> None:
        self._knowledge = knowledge
        self._now = now
        self._done: dict[str, int] = {}

    @property
    def pause(self) -> float:
        """Seconds until the next look."""
        times = [base.declared.refresh for base in self._list() if base.declared]
        least = min((time for time in times if time), default=_MOST)
        return min(max(least / 10, _LEAST), _MOST)

    async def run_due(self) -> None:
        """Start what is due."""
        for base in self._list():
            every = base.declared.refresh if base.declared is not None else 0.0
            turn = int(self._now() // every) if every else 0
            if self._done.get(base.id) == turn:
                continue
            is_first = base.id not in self._done
            self._done[base.id] = turn
            if is_first and not every and await self._has_documents(base):
                continue
            key = f"gather\n{base.id}\n{find_declared_source(base).source}\n{turn}"
            await self._knowledge.gather(
                base, find_declared_source(base), principal=INGESTER, key=key
            )

    def _list(self) -> list[KnowledgeBase]:
        found = self._knowledge.bases.list_visible(INGESTER)
        return [base for base in found if base.declared is not None]

    async def _has_documents(self, base: KnowledgeBase) -> bool:
        scope = scope_of([base], INGESTER, include_replaced=True)
        return bool(await self._knowledge.documents.list_all(scope))
