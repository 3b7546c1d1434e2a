"""Counts open items in memory and deletes expired ones."""

from collections.abc import Collection, Sequence

from pegboard.core.ports.maintenance import Counts, QuotePlaces
from pegboard.core.stores.memory_approvals import MemoryApprovals
from pegboard.core.stores.memory_results import MemoryOutcomes, MemoryResults
from pegboard.storage.memory.calls import MemoryCalls
from pegboard.storage.memory.conversations import MemoryConversations
from pegboard.storage.memory.runs import MemoryRuns


class MemoryUpkeep:
    """The `Upkeep` of a storage in memory, which is bounded anyway."""

    def __init__(
        self,
        *,
        calls: MemoryCalls,
        runs: MemoryRuns,
        conversations: MemoryConversations,
        approvals: MemoryApprovals,
        results: MemoryResults,
        outcomes: MemoryOutcomes,
    ) -> None:
        """Look after these."""
        self._results = results
        self._outcomes = outcomes
        self._calls = calls
        self._runs = runs
        self._conversations = conversations
        self._approvals = approvals

    async def counts(self) -> Counts:
        return Counts(runs=self._runs.count_open(), approvals=self._approvals.count_pending())

    async def forget_calls(self, *, before: float) -> int:
        return self._calls.forget(before)

    async def forget_results(self, text: str) -> int:
        return self._results.forget_containing(text) + self._outcomes.forget_containing(text)

    async def find_quoting(self, text: str, *, since: float = 0.0) -> QuotePlaces:
        return QuotePlaces(
            runs=self._runs.find_containing(text, since=since),
            conversations=self._conversations.find_containing(text),
        )

    async def find_started_with(self, words: Sequence[str], *, since: float) -> Sequence[str]:
        return self._runs.find_started_with(words, since=since)

    async def forget_calls_of(self, runs: Collection[str]) -> int:
        return sum(
            self._approvals.forget_run(run)
            + self._outcomes.forget_run(run)
            + self._results.forget_named(self._runs.describe(run))
            for run in runs
        )

    async def forget_plans(self, *, before: float) -> int:
        return self._runs.forget_plans(before)

    async def forget_approvals(self, *, before: float) -> int:
        return self._approvals.forget(before)
