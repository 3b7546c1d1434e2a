"""The run store port: plans, runs, their steps, signals and events."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Protocol

from msgspec import Struct, field

from pegboard.core.graph import NodeState
from pegboard.core.ports.durability import RunStart, Signal
from pegboard.core.run import RunResult

Json = Mapping[str, Any]
LEASE = 30.0
"""Seconds after which a lease that is not renewed expires. The clocks of servers that share a
database must agree much more closely than that."""


class StoredPlan(Struct, frozen=True, kw_only=True):
    """A stored plan; immutable.

    Attributes:
        graph: The graph's document.
        mode: How the planner made it.
        choices: The reasons for each step.
        notes: What the planner could not decide.
    """

    id: str
    graph: Json
    created_at: float
    task_id: str = ""
    created_by: str = ""
    mode: str = ""
    choices: tuple[Json, ...] = ()
    notes: tuple[str, ...] = ()


class StoredRun(Struct, frozen=True, kw_only=True):
    """A run of a graph, as stored.

    Attributes:
        start: The input of the run.
        plan_id: The plan that the run executes; empty for none.
        result: When it was last suspended or finished; None before that.
        wake_at: When a suspended run continues by itself; None for never.
        lease_owner: The worker that executes it; empty for none.
        lease_until: When the lease expires unless it is renewed.
        was_left: Set by `take` and `lease`: an earlier lease expired without being released.
        was_in_progress: Set by them too: a worker had begun it, and it was neither suspended nor
            finished.
        is_brief: Set in a page of runs: it has large parameters or outputs, which are cut or left
            out there.
    """

    start: RunStart
    plan_id: str = ""
    state: NodeState = NodeState.PENDING
    result: RunResult | None = None
    finished_at: float | None = None
    wake_at: float | None = None
    lease_owner: str = ""
    lease_until: float | None = None
    was_left: bool = False
    was_in_progress: bool = False
    is_brief: bool = False


class RunQuery(Struct, frozen=True, kw_only=True):
    """A filter for runs; empty fields match all.

    Attributes:
        assignees: Only unfinished runs that wait for an answer of one of these names.
    """

    state: str = ""
    plan_id: str = ""
    principal: str = ""
    tenant: str | None = None
    assignees: frozenset[str] = frozenset()
    limit: int = 50
    cursor: str = ""


class RunPage(Struct, frozen=True, kw_only=True):
    """One page of runs."""

    runs: Sequence[StoredRun]
    next_cursor: str = ""


class StoredStep(Struct, frozen=True, kw_only=True):
    """One step of a run.

    Attributes:
        finished_at: None while the outcome is unknown.
        value: The outcome; any JSON value.
    """

    path: str
    started_at: float
    finished_at: float | None = None
    value: Any = None


class StoredSignal(Struct, frozen=True, kw_only=True):
    """A signal to a run, as stored.

    Attributes:
        number: Grows with each signal.
        taken_by: The path of the step that consumed it; empty for none.
    """

    number: int
    signal: Signal
    taken_by: str = ""


RUN_TAKEN_OVER = "run_taken_over"
"""The kind of event by which another process says that it continues a run.

Its `cause` is `stopped` when the process before released the run, and `lost` when it ended, or lost
the store, before it could."""


class RunEvent(Struct, frozen=True, kw_only=True):
    """An event of a run, for its subscribers.

    Attributes:
        sequence: 1, 2, 3, ... in each run, assigned by the store.
    """

    kind: str
    at: float
    data: Json = field(default_factory=dict[str, Any])
    sequence: int = 0


class RunStore(Protocol):
    """Stores plans, runs, and their steps, signals and events.

    The worker that executes a run holds its lease. A method with an `owner` changes the run only
    while that owner holds the lease, and checks so in the same transaction. A worker whose lease
    has expired changes nothing and gets an `Unavailable` that is not retryable.
    """

    async def put_plan(self, plan: StoredPlan) -> None:
        """Store a plan; storing the same plan again has no effect.

        Raises:
            InvalidRequest: A different plan has this id.
        """
        ...

    async def plan(self, id: str) -> StoredPlan | None:  # noqa: A002 - it is known by its id
        """One plan; None when there is none."""
        ...

    async def create(
        self, start: RunStart, *, plan_id: str = "", owner: str = "", seconds: float = LEASE
    ) -> bool:
        """Store a new run; False when its id exists already.

        Args:
            start: The input of the run.
            plan_id: The plan that it executes.
            owner: The worker that leases it at once; empty leaves it to `take`.
            seconds: The length of the lease.
        """
        ...

    async def get(self, id: str) -> StoredRun | None:  # noqa: A002 - it is known by its id
        """One run; None when there is none."""
        ...

    async def get_all(self, ids: Collection[str]) -> Mapping[str, StoredRun]:
        """Those of these runs that there are, by id."""
        ...

    async def find_unfinished(self, ids: Collection[str]) -> frozenset[str]:
        """The ids of those of these runs that have not finished; nothing else of them is read."""
        ...

    async def runs(self, query: RunQuery) -> RunPage:
        """One page, newest first; large values of its runs are cut or left out (`is_brief`).

        Raises:
            InvalidRequest: The cursor is invalid, or the limit is out of range.
        """
        ...

    async def take(self, owner: str, *, seconds: float = LEASE) -> StoredRun | None:
        """Lease the oldest run that is due and has no valid lease.

        A run is due unless it has finished, or is suspended until a later time. Two owners never
        get the same run.
        """
        ...

    async def lease(
        self,
        id: str,  # noqa: A002 - it is known by its id
        owner: str,
        *,
        seconds: float = LEASE,
    ) -> StoredRun | None:
        """Lease this run, whether it is free or leased by this owner already.

        Returns:
            The run; None when another owner has the lease, the run has finished, or there is none.
        """
        ...

    async def renew(
        self, ids: Collection[str], owner: str, *, seconds: float = LEASE
    ) -> frozenset[str]:
        """Renew the leases of these runs, where this owner has them; nothing else is changed.

        Returns:
            The ids of the runs whose leases were renewed.
        """
        ...

    async def release(self, id: str, owner: str) -> None:  # noqa: A002 - it is known by its id
        """Release the lease; no effect when another owner holds it."""
        ...

    async def store_result(
        self,
        result: RunResult,
        owner: str,
        *,
        last_signal: int = 0,
        wake_at: float | None = None,
    ) -> bool:
        """Store the result of a finished or suspended run, and release its lease.

        Args:
            result: The state of the run.
            owner: The worker that executed it.
            last_signal: The number of the last signal that the attempt received.
            wake_at: When it continues by itself.

        Returns:
            False when the run has not finished and a later signal has arrived: the result is
            stored, and the owner keeps the lease and starts another attempt.

        Raises:
            Unavailable: The lease is lost, or the store cannot be written.
        """
        ...

    async def reserve(
        self, run_id: str, path: str, owner: str, *, takes: str = ""
    ) -> StoredStep | None:
        """Store the start of a step before it runs; or return the step that is there already.

        Args:
            run_id: The run.
            path: The path of the step.
            owner: The worker that executes the run.
            takes: The id of the signal that the step consumes.

        Returns:
            None when the step may start now; else the stored step, with its outcome or only with
            its start.

        Raises:
            Unavailable: The lease is lost, or the store cannot be written; the step must not start.
        """
        ...

    async def record(
        self,
        run_id: str,
        step: StoredStep,
        owner: str,
        *,
        takes: str = "",
    ) -> None:
        """Store the outcome of a step.

        Raises:
            Unavailable: The lease is lost, or the store cannot be written.
        """
        ...

    async def steps(self, run_id: str) -> Sequence[StoredStep]:
        """The stored steps of a run, by path."""
        ...

    async def signal(self, run_id: str, signal: Signal) -> bool | None:
        """Store a signal and make the run due; a finished run stays finished.

        Returns:
            False when a signal with this id exists already, and this one is dropped; None when
            there is no such run.
        """
        ...

    async def signals(self, run_id: str, *, after: int = 0) -> Sequence[StoredSignal]:
        """Signals with a greater number, in order."""
        ...

    async def emit(self, run_id: str, events: Sequence[RunEvent]) -> int:
        """Append events to a run; returns the sequence of the last one, 0 without a run."""
        ...

    async def events(self, run_id: str, *, after: int = 0, limit: int = 500) -> Sequence[RunEvent]:
        """Events with a greater sequence, oldest first."""
        ...

    async def forget_runs(self, ids: Collection[str]) -> int:
        """Delete those of these runs that have ended, with all their rows; returns the count.

        It is one transaction: a caller with many runs passes some hundred at a time.
        """
        ...

    async def forget(self, *, finished_before: float) -> int:
        """Delete runs that finished before a time, with all their rows; returns the count."""
        ...
