"""The durability port: stores runs of graphs, so that they survive the process that executes them.

A run is executed in *attempts*. Each attempt walks through the graph from the start and *replays*
it: a step that an earlier attempt has recorded is not executed again, a new step is executed and
recorded. A back end may keep a journal of outcomes by step path, or number the steps in the order
of `reserve`; both can keep these promises.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

from msgspec import Struct

from pegboard.core.principal import Principal
from pegboard.core.run import RunResult

CONTROL = "control"
"""The topic of `pause`, `resume` and `cancel`; every attempt receives all of them, in order."""


class RunStart(Struct, frozen=True, kw_only=True):
    """The immutable input of a run.

    Attributes:
        run_id: Unique; starting the same id again has no effect.
        graph: The graph's document.
        params: Any JSON object.
        created_at: Unix seconds.
        parent_id: The call or the run that started it; empty for none.
        env: The values of `$.env`, the same in every attempt.
        root_id: The outermost run that it is part of; empty means that it is one itself.
    """

    run_id: str
    graph: Mapping[str, Any]
    params: Mapping[str, Any]
    principal: Principal
    created_at: float
    parent_id: str = ""
    env: Mapping[str, Any] = {}
    root_id: str = ""


class Signal(Struct, frozen=True, kw_only=True):
    """A message to a run.

    Attributes:
        id: Unique within the run; a second signal with the same id is dropped.
        topic: `control`, `event:{name}` or `answer:{step}`.
        message: Any JSON value.
        by: Of what a caller sent: its owner, as of `Principal.owner`; empty for the board itself.
    """

    id: str
    topic: str
    message: Any = None
    by: str = ""


class StepRef(Struct, frozen=True, kw_only=True):
    """A reserved slot for one step of a run.

    Attributes:
        step: Its path, unique in the run.
        place: The identity that the back end uses; None when it uses the path.
    """

    step: str
    place: Any = None


class StepRecord(Struct, frozen=True, kw_only=True):
    """The recorded outcome of a step from an earlier attempt."""

    value: Any


class UnfinishedStep(Struct, frozen=True, kw_only=True):
    """A step that an earlier attempt started and whose outcome is unknown."""

    started_at: float


class StepEvents(Struct, frozen=True, kw_only=True):
    """What happened while an attempt waited.

    Attributes:
        done: Keys of the tasks that have finished.
        signals: New signals, in order; never one that a recorded step has consumed.
    """

    done: tuple[str, ...] = ()
    signals: tuple[Signal, ...] = ()


class RunSteps(Protocol):
    """The steps of one run during an attempt, or the steps inside one of its steps.

    A method that cannot write raises `Unavailable`. The attempt then ends, and a later attempt
    continues the run.
    """

    @property
    def start(self) -> RunStart:
        """The input of the run."""
        ...

    def reserve(self, step: str) -> StepRef:
        """Reserve the slot of a step, once in each attempt.

        Within one `RunSteps` every attempt reserves in the same order, as long as `next` reports
        finished tasks in the same order.
        """
        ...

    def inside(self, slot: StepRef) -> "RunSteps":
        """The steps inside a step; their paths begin with its path."""
        ...

    def find(self, slot: StepRef) -> StepRecord | UnfinishedStep | None:
        """What earlier attempts stored of a step; None when they stored nothing."""
        ...

    async def do(
        self,
        slot: StepRef,
        work: Callable[[], Awaitable[Any]],
        *,
        marked: bool = False,
        takes: str = "",
    ) -> Any:
        """Execute a step that is not recorded, and record its outcome, any JSON value.

        When `work` raises, nothing is recorded; a mark stays.

        Args:
            slot: The reserved slot.
            work: Executes the step.
            marked: Store the start before `work` runs, so that a crash leaves `UnfinishedStep`.
            takes: The id of a signal that this step consumes. It is stored with the mark or the
                outcome, whichever comes first; later attempts do not receive the signal.
        """
        ...

    async def next(self, tasks: "Mapping[str, asyncio.Future[Any]]") -> StepEvents:
        """Wait until a task has finished or a signal has arrived; return at once without tasks.

        The first call of an attempt returns every signal that is there. Only the top-level steps
        of a run receive signals, not the steps inside a step.
        """
        ...

    async def suspend(self, seen: RunResult) -> bool:
        """Suspend the run: no step is running, and it waits for `seen.pending`.

        Returns:
            True to end the attempt; the back end starts another one when a signal arrives or a
            time has come. False to stay and wait.
        """
        ...


Attempt = Callable[[RunSteps], Awaitable[RunResult]]
"""Executes a run until it has finished or is suspended; returns its state."""


class Durability(Protocol):
    """Stores runs and executes them, one attempt at a time for each run, across all servers."""

    def attach(self, attempt: Attempt) -> None:
        """Set the function that executes an attempt; called once, before anything starts."""
        ...

    async def start(self, start: RunStart) -> bool:
        """Store a run and have it executed, here or elsewhere; False when it exists already."""
        ...

    async def signal(self, run_id: str, signal: Signal) -> bool:
        """Store a signal and deliver it to the run; False when its id exists already.

        Raises:
            RunNotFound: There is no such run.
        """
        ...

    async def get_start(self, run_id: str) -> RunStart | None:
        """The input of a run; None when there is no such run."""
        ...

    async def get_result(self, run_id: str) -> RunResult | None:
        """The result of a run when it was last suspended or finished; None before that.

        Raises:
            RunNotFound: There is no such run.
        """
        ...

    async def wait_until_settled(self, run_id: str) -> RunResult:
        """Wait until a run has finished, or is suspended for something other than a time.

        Raises:
            RunNotFound: There is no such run.
        """
        ...

    async def recover(self) -> tuple[str, ...]:
        """Execute every unfinished run that has no attempt; returns their ids."""
        ...

    async def close(self) -> None:
        """Stop executing; unfinished runs stay stored. Called once, by the opener."""
        ...
