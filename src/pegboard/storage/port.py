"""The interface of every storage: the stores, and how they are closed."""

from types import TracebackType
from typing import Protocol, Self

from pegboard.core.graph import NodeState
from pegboard.core.ports.accounts.credential_store import CredentialStore
from pegboard.core.ports.accounts.file_store import FileStore
from pegboard.core.ports.accounts.identity_store import IdentityStore
from pegboard.core.ports.accounts.quota_store import QuotaStore
from pegboard.core.ports.accounts.resource_store import ResourceStore
from pegboard.core.ports.accounts.role_store import RoleStore
from pegboard.core.ports.approval_store import ApprovalStore
from pegboard.core.ports.audit_store import AuditStore
from pegboard.core.ports.call_stores import History, Journal, OutcomeStore, ResultStore
from pegboard.core.ports.catalogue_stores import (
    CatalogueStore,
    DependencyStore,
    LastKnownToolStore,
    PinStore,
)
from pegboard.core.ports.conversation_store import ConversationStore
from pegboard.core.ports.kill_switch_store import SwitchStore
from pegboard.core.ports.knowledge.document_store import DocumentStore
from pegboard.core.ports.knowledge.evidence_store import EvidenceStore
from pegboard.core.ports.knowledge.index import KnowledgeIndex
from pegboard.core.ports.listener import Listener
from pegboard.core.ports.maintenance import StorageMaintenance
from pegboard.core.ports.run_store import RunStore
from pegboard.core.ports.taint_store import TaintStore
from pegboard.core.ports.tool_vector_store import ToolVectorStore
from pegboard.errors import Unavailable

GOES_ON = (NodeState.PENDING, NodeState.READY, NodeState.IN_PROGRESS)
"""States in which a worker may continue a run; in every other state the run waits or has ended."""


class Auditor(Listener, Protocol):
    """The listener that writes the audit trail."""

    @property
    def dropped(self) -> int:
        """How many records could not be written."""
        ...


class Storage(Protocol):
    """An open storage; an async context manager that closes itself.

    Its parts may be used from any number of threads and event loops. After `close` they raise
    `Unavailable`.
    """

    @property
    def listener(self) -> Listener:
        """Records calls in the background; drops records when its queue is full."""
        ...

    @property
    def journal(self) -> Journal:
        """Stores the starts of writes before they run."""
        ...

    @property
    def history(self) -> History:
        """Reads what the listener and the journal have stored."""
        ...

    @property
    def results(self) -> ResultStore:
        """Stores results that are too large to return at once."""
        ...

    @property
    def outcomes(self) -> OutcomeStore:
        """Stores first outcomes by idempotency key."""
        ...

    @property
    def catalogue(self) -> CatalogueStore:
        """Stores versions of tools that were registered over the API."""
        ...

    @property
    def pins(self) -> PinStore:
        """Stores approved definitions of upstream tools."""
        ...

    @property
    def seen_tools(self) -> LastKnownToolStore:
        """Stores the last known specs of tools."""
        ...

    @property
    def switches(self) -> SwitchStore:
        """Stores kill switches."""
        ...

    @property
    def dependencies(self) -> DependencyStore:
        """Stores every change of the dependency graph."""
        ...

    @property
    def approvals(self) -> ApprovalStore:
        """Stores approvals."""
        ...

    @property
    def runs(self) -> RunStore:
        """Stores plans, runs, and their events."""
        ...

    @property
    def conversations(self) -> ConversationStore:
        """Stores conversations."""
        ...

    @property
    def identity(self) -> IdentityStore:
        """Stores accounts and organisations."""
        ...

    @property
    def resources(self) -> ResourceStore:
        """Stores connectors, agents and skills that people add."""
        ...

    @property
    def credentials(self) -> CredentialStore:
        """Stores credentials of callers."""
        ...

    @property
    def taints(self) -> TaintStore:
        """Stores since which call a run or conversation has read untrusted text."""
        ...

    @property
    def roles(self) -> RoleStore:
        """Stores the roles of organisations."""
        ...

    @property
    def quotas(self) -> QuotaStore:
        """Stores quotas, and what was used of them."""
        ...

    @property
    def tool_vectors(self) -> ToolVectorStore:
        """Stores vectors of tools."""
        ...

    @property
    def files(self) -> FileStore:
        """Stores rows of files and uploads."""
        ...

    @property
    def evidence(self) -> EvidenceStore:
        """Stores what was found for questions."""
        ...

    @property
    def documents(self) -> DocumentStore:
        """Stores documents of knowledge bases."""
        ...

    @property
    def knowledge_index(self) -> KnowledgeIndex:
        """Finds pieces of documents; opened by its first use."""
        ...

    @property
    def audit(self) -> AuditStore:
        """Stores the audit trail."""
        ...

    @property
    def auditor(self) -> Auditor:
        """Writes events into the audit trail."""
        ...

    @property
    def upkeep(self) -> StorageMaintenance:
        """Counts open items and deletes expired records."""
        ...

    @property
    def dropped(self) -> int:
        """The number of lost records."""
        ...

    @property
    def problem(self) -> str:
        """Why a write failed in the last minute; empty when none has."""
        ...

    async def flush(self) -> None:
        """Return once everything the listener has received is stored or dropped."""
        ...

    async def sweep(self) -> None:
        """Delete expired entries; this also happens from time to time by itself."""
        ...

    async def close(self) -> None:
        """Store what is waiting and close; safe to call twice."""
        ...

    async def __aenter__(self) -> Self: ...

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...


def lease_lost_error(run_id: str) -> Unavailable:
    """The error for a worker whose lease on a run was taken over; nothing was changed."""
    return Unavailable(
        f"The run '{run_id}' is now held by another worker.", nothing_done=True, permanent=True
    )
