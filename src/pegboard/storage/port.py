"""What every storage offers: the ports of the core, filled, and one life."""

from types import TracebackType
from typing import Protocol, Self

from pegboard.core.graph import NodeState
from pegboard.core.ports.approval_store import ApprovalStore
from pegboard.core.ports.audit_store import AuditStore
from pegboard.core.ports.call_stores import History, Journal, OutcomeStore, ResultStore
from pegboard.core.ports.catalogue_stores import (
    CatalogueStore,
    DependencyStore,
    LastKnownToolStore,
    PinStore,
)
from pegboard.core.ports.kill_switch_store import SwitchStore
from pegboard.core.ports.listener import Listener
from pegboard.core.ports.maintenance import StorageMaintenance
from pegboard.core.ports.run_store import RunStore
from pegboard.errors import Unavailable

GOES_ON = (NodeState.PENDING, NodeState.READY, NodeState.IN_PROGRESS)
"""States in which a worker may continue a run; in every other state the run waits or has ended."""


class Auditor(Listener, Protocol):
    """A listener that writes the audit trail."""

    @property
    def dropped(self) -> int:
        """How many records could not be written."""
        ...


class Storage(Protocol):
    """An open storage; an async context manager that closes itself.

    Its parts may be used from any number of threads and event loops at once. After `close` each of
    them answers `Unavailable`.
    """

    @property
    def listener(self) -> Listener:
        """Records what happened; never slows a call and drops what does not fit its queue."""
        ...

    @property
    def journal(self) -> Journal:
        """Keeps starts of writes before they run."""
        ...

    @property
    def history(self) -> History:
        """Reads what the listener and the journal kept."""
        ...

    @property
    def results(self) -> ResultStore:
        """Keeps what is too large to give at once."""
        ...

    @property
    def outcomes(self) -> OutcomeStore:
        """Keeps first outcomes by idempotency key."""
        ...

    @property
    def catalogue(self) -> CatalogueStore:
        """Keeps versions of tools that were registered while the board ran."""
        ...

    @property
    def pins(self) -> PinStore:
        """Keeps which definitions of upstreams are approved."""
        ...

    @property
    def seen_tools(self) -> LastKnownToolStore:
        """Keeps what tools were, for when they are gone."""
        ...

    @property
    def switches(self) -> SwitchStore:
        """Keeps what people have turned off."""
        ...

    @property
    def dependencies(self) -> DependencyStore:
        """Keeps every change of the dependency graph."""
        ...

    @property
    def approvals(self) -> ApprovalStore:
        """Keeps what people are asked and what they decide."""
        ...

    @property
    def runs(self) -> RunStore:
        """Keeps plans, runs, and what happened in them."""
        ...

    @property
    def audit(self) -> AuditStore:
        """Keeps what has to be provable."""
        ...

    @property
    def auditor(self) -> Auditor:
        """Writes what happens into the audit trail."""
        ...

    @property
    def upkeep(self) -> StorageMaintenance:
        """Counts what is open, and lets go of what is old."""
        ...

    @property
    def dropped(self) -> int:
        """How many records were lost because they could not be kept."""
        ...

    async def flush(self) -> None:
        """Return once whatever the listener took so far is kept or dropped."""
        ...

    async def sweep(self) -> None:
        """Forget what has expired; also happens by itself from time to time."""
        ...

    async def close(self) -> None:
        """Keep what is waiting, then let go of everything; safe to call twice."""
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
