"""A `Storage` over SQLite or PostgreSQL."""

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import Self

from pegboard.core.ports.catalogue_stores import MAX_LAST_KNOWN_TOOLS
from pegboard.core.ports.clock import Clock
from pegboard.core.ports.knowledge.index import KnowledgeIndex
from pegboard.core.ports.tool_vector_store import MAX_TOOL_VECTORS
from pegboard.storage.audit_entries import ReadAudit, StartFilter
from pegboard.storage.databases.database import StorageDatabase
from pegboard.storage.databases.transaction import Rows, Transaction
from pegboard.storage.history_rows import Redact
from pegboard.storage.knowledge.lazy_index import LazyKnowledgeIndex
from pegboard.storage.sql.accounts.credentials import SqlCredentials
from pegboard.storage.sql.accounts.files import SqlFiles
from pegboard.storage.sql.accounts.identity import SqlIdentity, sweep_identity
from pegboard.storage.sql.accounts.quotas import SqlQuotas, sweep_quotas
from pegboard.storage.sql.accounts.resources import SqlResources
from pegboard.storage.sql.accounts.roles import SqlRoles
from pegboard.storage.sql.approvals import SqlApprovals
from pegboard.storage.sql.audit import SqlAudit, SqlAuditor
from pegboard.storage.sql.call_recorder import SqlRecorder
from pegboard.storage.sql.catalogue import SqlCatalogue
from pegboard.storage.sql.conversations import SqlConversations
from pegboard.storage.sql.dependencies import SqlDependencies
from pegboard.storage.sql.history import SqlHistory
from pegboard.storage.sql.kill_switches import SqlSwitches
from pegboard.storage.sql.knowledge.documents import SqlDocuments
from pegboard.storage.sql.knowledge.evidence import SqlEvidence
from pegboard.storage.sql.last_known_tools import SqlSeenTools
from pegboard.storage.sql.maintenance import SqlUpkeep
from pegboard.storage.sql.outcomes import SqlOutcomes, sweep_outcomes
from pegboard.storage.sql.pins import SqlPins
from pegboard.storage.sql.results import SqlResults, sweep_results
from pegboard.storage.sql.runs import SqlRuns
from pegboard.storage.sql.taints import SqlTaints
from pegboard.storage.sql.tool_vectors import SqlToolVectors

_PAGES = 4096
"""Free pages of a SQLite file, of 4 KiB each, that one sweep gives back."""


class SqlStorage:
    """Every store of one database."""

    def __init__(
        self,
        opener: Callable[[Rows], StorageDatabase],
        *,
        clock: Clock,
        store_arguments: bool,
        redact: Redact,
        outcome_ttl: float,
        audit_reads: ReadAudit,
        audit_starts: bool,
        result_quota: int,
    ) -> None:
        """Open the database, with a periodic sweep of expired rows.

        Raises:
            ConfigError: It cannot be opened.
        """
        self._clock = clock
        self._outcome_ttl = outcome_ttl
        self._database = database = opener(self._sweep)
        starts = StartFilter(redact, required=audit_starts, reads=audit_reads)
        recorder = SqlRecorder(
            database, keep_arguments=store_arguments, redact=redact, starts=starts
        )
        self.listener = recorder
        self.journal = recorder
        self.history = SqlHistory(database, flush=self.flush)
        self.results = SqlResults(database, clock=clock, quota=result_quota)
        self.outcomes = SqlOutcomes(database, clock=clock, ttl=outcome_ttl)
        self.catalogue = SqlCatalogue(database)
        self.pins = SqlPins(database)
        self.seen_tools = SqlSeenTools(database, most=MAX_LAST_KNOWN_TOOLS)
        self.switches = SqlSwitches(database)
        self.dependencies = SqlDependencies(database)
        self.approvals = SqlApprovals(database, clock=clock)
        self.runs = SqlRuns(database, clock=clock)
        self.conversations = SqlConversations(database)
        self.identity = SqlIdentity(database)
        self.resources = SqlResources(database)
        self.credentials = SqlCredentials(database)
        self.taints = SqlTaints(database)
        self.roles = SqlRoles(database)
        self.quotas = SqlQuotas(database)
        self.tool_vectors = SqlToolVectors(database, most=MAX_TOOL_VECTORS)
        self.files = SqlFiles(database)
        self.evidence = SqlEvidence(database)
        self.documents = SqlDocuments(database)
        self.knowledge_index = LazyKnowledgeIndex(lambda: _open_index(database))
        self.audit = SqlAudit(database, clock=clock)
        self.auditor = SqlAuditor(database, redact=redact, reads=audit_reads)
        self.upkeep = SqlUpkeep(database, clock=clock)

    @property
    def dropped(self) -> int:
        """The number of lost records."""
        return self._database.dropped

    @property
    def problem(self) -> str:
        """Why a write failed in the last minute; empty when none has."""
        return self._database.problem

    async def flush(self) -> None:
        """Return once everything the listeners have received is stored or dropped."""
        await self._database.flush()

    async def sweep(self) -> None:
        """Forget what has expired."""
        await self._database.run(self._sweep)

    async def close(self) -> None:
        """Store what is waiting and close; safe to call twice."""
        await asyncio.to_thread(self._database.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()

    def _sweep(self, transaction: Transaction) -> None:
        now = self._clock.time()
        sweep_results(transaction, now)
        sweep_outcomes(transaction, now - self._outcome_ttl)
        sweep_identity(transaction, now)
        sweep_quotas(transaction, now)
        if transaction.database == "sqlite":
            _shrink_file(transaction)


def _open_index(database: StorageDatabase) -> KnowledgeIndex:
    from pegboard.storage.sql.knowledge.index import SqlKnowledgeIndex

    return SqlKnowledgeIndex(database)


def _shrink_file(transaction: Transaction) -> None:
    """Give free pages of a SQLite file back to the file system."""
    execute = transaction.driver.execute
    (free,) = execute("PRAGMA freelist_count").fetchone()
    for _ in range(min(free, _PAGES)):
        execute("PRAGMA incremental_vacuum(1)")  # the driver steps once: one page a statement
