"""The storage of a board without a data directory: bounded, and gone with the process."""

from types import TracebackType
from typing import Self

from pegboard.concurrency.closable_lock import ClosableLock
from pegboard.core.ports.call_stores import RESULT_QUOTA
from pegboard.core.ports.catalogue_stores import MAX_LAST_KNOWN_TOOLS
from pegboard.core.ports.clock import Clock, SystemClock
from pegboard.core.ports.knowledge.index import KnowledgeIndex
from pegboard.core.ports.tool_vector_store import MAX_TOOL_VECTORS
from pegboard.core.stores.memory_approvals import MemoryApprovals
from pegboard.core.stores.memory_results import MemoryOutcomes, MemoryResults
from pegboard.core.stores.memory_taints import MemoryTaints
from pegboard.storage.audit_entries import ReadAudit, StartFilter
from pegboard.storage.history_rows import Redact, redact_nothing
from pegboard.storage.knowledge.lazy_index import LazyKnowledgeIndex
from pegboard.storage.memory.audit import MemoryAudit
from pegboard.storage.memory.calls import MemoryCalls
from pegboard.storage.memory.catalogue import MemoryCatalogue
from pegboard.storage.memory.conversations import MemoryConversations
from pegboard.storage.memory.credentials import MemoryCredentials
from pegboard.storage.memory.dependencies import MemoryDependencies
from pegboard.storage.memory.documents import MemoryDocuments
from pegboard.storage.memory.evidence import MemoryEvidence
from pegboard.storage.memory.files import MemoryFiles
from pegboard.storage.memory.identity import MemoryIdentity
from pegboard.storage.memory.kill_switches import MemorySwitches
from pegboard.storage.memory.last_known_tools import MemorySeenTools
from pegboard.storage.memory.maintenance import MemoryUpkeep
from pegboard.storage.memory.pins import MemoryPins
from pegboard.storage.memory.quotas import MemoryQuotas
from pegboard.storage.memory.resources import MemoryResources
from pegboard.storage.memory.roles import MemoryRoles
from pegboard.storage.memory.runs import MemoryRuns
from pegboard.storage.memory.tool_vectors import MemoryToolVectors

_SYSTEM_CLOCK = SystemClock()
DAY = 86_400.0


class MemoryStorage:
    """Keeps the latest calls, results and outcomes in memory.

    ```python
    async with MemoryStorage() as storage:
        await storage.results.put(result)
    ```
    """

    def __init__(  # noqa: PLR0913 - bounds and choices of a whole board, each with its default
        self,
        *,
        clock: Clock = _SYSTEM_CLOCK,
        store_arguments: bool = False,
        redact: Redact | None = None,
        outcome_ttl: float = DAY,
        audit_reads: ReadAudit = "none",
        audit_starts: bool = False,
        result_quota: int = RESULT_QUOTA,
        max_calls: int = 10_000,
        max_result_bytes: int = 64 * 1024 * 1024,
        max_outcomes: int = 10_000,
    ) -> None:
        """Start empty; beyond the bounds the oldest is forgotten first."""
        gate = ClosableLock()
        redact = redact or redact_nothing
        audit = MemoryAudit(gate, clock=clock, redact=redact, reads=audit_reads)
        starts = StartFilter(redact, required=audit_starts, reads=audit_reads)
        calls = MemoryCalls(
            gate,
            keep_arguments=store_arguments,
            redact=redact,
            bound=max_calls,
            starts=starts,
            trail=audit,
        )
        self._gate = gate
        self._clock = clock
        self._calls = calls
        self.listener = calls
        self.journal = calls
        self.history = calls
        self.results = MemoryResults(
            max_bytes=min(result_quota or max_result_bytes, max_result_bytes),
            now=clock.time,
            gate=gate,
        )
        self.outcomes = MemoryOutcomes(
            most=max_outcomes, ttl=outcome_ttl, now=clock.time, gate=gate
        )
        self.catalogue = MemoryCatalogue(gate)
        self.pins = MemoryPins(gate)
        self.seen_tools = MemorySeenTools(gate, most=MAX_LAST_KNOWN_TOOLS)
        self.switches = MemorySwitches(gate)
        self.dependencies = MemoryDependencies(gate)
        self.approvals = MemoryApprovals(now=clock.time, gate=gate)
        self.runs = MemoryRuns(gate, clock=clock)
        self.conversations = MemoryConversations(gate, delete_runs=self.runs.delete_ended)
        self.identity = MemoryIdentity(gate)
        self.resources = MemoryResources(gate)
        self.credentials = MemoryCredentials(gate)
        self.taints = MemoryTaints(
            gate, exists=lambda key: self.runs.holds(key) or self.conversations.holds(key)
        )
        self.roles = MemoryRoles(gate)
        self.quotas = MemoryQuotas(gate)
        self.tool_vectors = MemoryToolVectors(gate, most=MAX_TOOL_VECTORS)
        self.files = MemoryFiles(gate)
        self.evidence = MemoryEvidence(gate)
        self.documents = documents = MemoryDocuments(gate)
        self.knowledge_index = LazyKnowledgeIndex(lambda: _open_index(documents))
        self.audit = audit
        self.auditor = self.audit
        self.upkeep = MemoryUpkeep(
            calls=calls,
            runs=self.runs,
            conversations=self.conversations,
            approvals=self.approvals,
            results=self.results,
            outcomes=self.outcomes,
        )

    @property
    def dropped(self) -> int:
        """Records that came after the end, and starts pushed out before their record came."""
        return self._calls.dropped + self.audit.dropped

    @property
    def problem(self) -> str:
        """Empty: memory is always writable."""
        return ""

    async def flush(self) -> None:
        """Return at once: nothing waits."""
        with self._gate:
            pass

    async def sweep(self) -> None:
        """Forget what has expired."""
        await self.identity.forget(before=self._clock.time())
        self.results.sweep()
        self.outcomes.sweep()
        self.quotas.sweep(before=self._clock.time())

    async def close(self) -> None:
        """Answer `Unavailable` from now on; safe to call twice."""
        self._gate.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()


def _open_index(documents: MemoryDocuments) -> KnowledgeIndex:
    from pegboard.storage.memory.knowledge_index import MemoryKnowledgeIndex

    return MemoryKnowledgeIndex(documents)
