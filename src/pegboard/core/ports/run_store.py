"""What runs of graphs leave behind: enough for another server to go on with them."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from msgspec import Struct, field

from pegboard.core.graph import NodeState
from pegboard.core.ports.durability import RunStart, Signal
from pegboard.core.run import RunResult

Json = Mapping[str, Any]
LEASE = 30.0
"""Seconds after which a run is taken from an owner that does not renew its lease. The clocks of
servers that share a database have to agree much better than that."""


class StoredPlan(Struct, frozen=True, kw_only=True):
    """A graph that somebody has planned. It never changes.

    Attributes:
        graph: The graph's document.
        mode: How it was made.
        choices: Why each step is there.
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
    """One run of a graph, as it is stored.

    Attributes:
        start: What it began with.
        plan_id: The plan that it runs; empty for none.
        result: How it was when it last rested or ended; None while it has done neither.
        wake_at: When a run that rests shall go on by itself; None for never.
        lease_owner: Who plays it; empty for nobody.
        lease_until: When that ends unless it is renewed.
        was_left: Told by `take` and `lease`: somebody had the lease and has not given it back.
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


class RunQuery(Struct, frozen=True, kw_only=True):
    """Which runs to show, newest first; empty means any."""

    state: str = ""
    plan_id: str = ""
    principal: str = ""
    tenant: str | None = None
    limit: int = 50
    cursor: str = ""


class RunPage(Struct, frozen=True, kw_only=True):
    """One page of runs."""

    runs: Sequence[StoredRun]
    next_cursor: str = ""


class StoredStep(Struct, frozen=True, kw_only=True):
    """One step of a run.

    Attributes:
        finished_at: None while nobody knows how it ended.
        value: What came out; any JSON value.
    """

    path: str
    started_at: float
    finished_at: float | None = None
    value: Any = None


class StoredSignal(Struct, frozen=True, kw_only=True):
    """A message to a run.

    Attributes:
        number: Grows with each message.
        taken_by: The path of the step that has used it up; empty for none.
    """

    number: int
    signal: Signal
    taken_by: str = ""


class RunEvent(Struct, frozen=True, kw_only=True):
    """Something that happened in a run, for whoever watches it.

    Attributes:
        sequence: 1, 2, 3, ... in each run, given by the store.
    """

    kind: str
    at: float
    data: Json = field(default_factory=dict[str, Any])
    sequence: int = 0


class RunStore(Protocol):
    """Keeps plans, runs, and what happened in them.

    Whoever plays a run holds its lease. What is changed with an `owner` is changed only while that
    owner has the lease, in one transaction with the check: an owner that was thought dead, and
    comes back, changes nothing. It hears an `Unavailable` that is not retryable.
    """

    async def put_plan(self, plan: StoredPlan) -> None:
        """Keep a plan; the same one again is left as it is.

        Raises:
            InvalidRequest: Another plan has this id.
        """
        ...

    async def plan(self, id: str) -> StoredPlan | None:  # noqa: A002 - it is known by its id
        """One plan; None when there is none."""
        ...

    async def create(
        self, start: RunStart, *, plan_id: str = "", owner: str = "", seconds: float = LEASE
    ) -> bool:
        """Keep a new run; False when there is one of this id.

        Args:
            start: What it begins with.
            plan_id: The plan that it runs.
            owner: Who leases it at once; empty leaves it to whoever takes it.
            seconds: For how long.
        """
        ...

    async def get(self, id: str) -> StoredRun | None:  # noqa: A002 - it is known by its id
        """One run; None when there is none."""
        ...

    async def runs(self, query: RunQuery) -> RunPage:
        """One page, newest first.

        Raises:
            InvalidRequest: The cursor is not one of ours, or the limit is out of range.
        """
        ...

    async def take(self, owner: str, *, seconds: float = LEASE) -> StoredRun | None:
        """Lease the oldest run that can go on and that nobody plays, also one whose owner died.

        A run can go on unless it has ended, or rests until a time that has not come. Two owners
        never get the same one.
        """
        ...

    async def lease(
        self,
        id: str,  # noqa: A002 - it is known by its id
        owner: str,
        *,
        seconds: float = LEASE,
    ) -> StoredRun | None:
        """Lease this run, or go on leasing it.

        Returns:
            The run; None when another owner has it, when it has ended, or when there is none.
        """
        ...

    async def release(self, id: str, owner: str) -> None:  # noqa: A002 - it is known by its id
        """Let others have it; nothing happens when another owner has it."""
        ...

    async def store_result(
        self,
        result: RunResult,
        owner: str,
        *,
        last_signal: int = 0,
        wake_at: float | None = None,
    ) -> bool:
        """Store how a run is that has ended or only waits, and let go of it.

        Args:
            result: How it is.
            owner: Who played it.
            last_signal: The number of the last signal that the attempt received.
            wake_at: When it shall go on by itself.

        Returns:
            False when it has not ended and a signal came that the play was not told: the result is
            stored, and the owner keeps the run and plays it again.

        Raises:
            Unavailable: The lease is lost, or the store is.
        """
        ...

    async def reserve(
        self, run_id: str, path: str, owner: str, *, takes: str = ""
    ) -> StoredStep | None:
        """Store that a step starts, before it does; or give the one that is there already.

        Args:
            run_id: Of the run.
            path: Of the step.
            owner: Who plays the run.
            takes: The id of the signal that the step uses up.

        Returns:
            None when the step may start now; else what is known of it: what came out, or only that
            somebody has started it.

        Raises:
            Unavailable: The lease is lost, or the store is; the step must not start.
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
        """Store what came out of a step.

        Raises:
            Unavailable: The lease is lost, or the store is.
        """
        ...

    async def steps(self, run_id: str) -> Sequence[StoredStep]:
        """What is known of the steps of a run, by path."""
        ...

    async def signal(self, run_id: str, signal: Signal) -> bool | None:
        """Keep a message for a run and wake it; one to a run that has ended wakes nobody.

        Returns:
            False when one of this id is there already, and this one is dropped; None when there is
            no such run.
        """
        ...

    async def signals(self, run_id: str, *, after: int = 0) -> Sequence[StoredSignal]:
        """Messages with a greater number, in order."""
        ...

    async def emit(self, run_id: str, events: Sequence[RunEvent]) -> int:
        """Add events to a run, whoever plays it; the sequence of the last one, 0 without a run."""
        ...

    async def events(self, run_id: str, *, after: int = 0, limit: int = 500) -> Sequence[RunEvent]:
        """Events with a greater sequence, oldest first."""
        ...

    async def forget(self, *, finished_before: float) -> int:
        """Delete runs that ended before this time, with all that belongs to them; how many."""
        ...
