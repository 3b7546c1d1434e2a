"""Where runs of graphs are kept, so that they outlive the process that plays them.

A run is *played*: the runner walks through its graph from the start, each time anew. What an
earlier play has done is found recorded and is not done again; what is new is done and recorded.
Back ends may keep a journal of outcomes by step, or number steps by the order of `reserve`: both
can keep these promises.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

from msgspec import Struct

from pegboard.core.principal import Principal
from pegboard.core.run import RunResult

CONTROL = "control"
"""The topic of `pause`, `resume` and `cancel`; every play gets them all again, in order."""


class RunStart(Struct, frozen=True, kw_only=True):
    """What a run begins with; never changes.

    Attributes:
        run_id: Unique; starting it again is the same run.
        graph: The graph's document.
        params: Any JSON object.
        created_at: Unix seconds.
        parent_id: The call or the run that started it; empty for none.
        env: What `$.env` reads, whoever plays the run and whenever.
    """

    run_id: str
    graph: Mapping[str, Any]
    params: Mapping[str, Any]
    principal: Principal
    created_at: float
    parent_id: str = ""
    env: Mapping[str, Any] = {}


class Signal(Struct, frozen=True, kw_only=True):
    """A message to a run.

    Attributes:
        id: Unique within the run; a second one with the same id is dropped.
        topic: `control`, `event:{name}` or `answer:{step}`.
        message: Any JSON value.
    """

    id: str
    topic: str
    message: Any = None


class StepRef(Struct, frozen=True, kw_only=True):
    """The place of one step in a run.

    Attributes:
        step: Its path, unique in the run.
        place: What the back end knows it by; None where that is the path.
    """

    step: str
    place: Any = None


class StepRecord(Struct, frozen=True, kw_only=True):
    """An earlier play has done the step, and this came out."""

    value: Any


class UnfinishedStep(Struct, frozen=True, kw_only=True):
    """An earlier play has started the step, and nobody knows how it ended."""

    started_at: float


class StepEvents(Struct, frozen=True, kw_only=True):
    """What a play hears of while it waits.

    Attributes:
        done: Keys of the tasks that have ended.
        signals: Messages that came, in order; never one that a recorded step has taken.
    """

    done: tuple[str, ...] = ()
    signals: tuple[Signal, ...] = ()


class RunSteps(Protocol):
    """One run while it is played, or the inside of one of its steps.

    Every method that writes raises `Unavailable` when it could not; the play ends then, and the
    run goes on when somebody plays it again.
    """

    @property
    def start(self) -> RunStart:
        """What the run began with."""
        ...

    def reserve(self, step: str) -> StepRef:
        """The place of a step, each once a play.

        Within one `RunSteps` each play reserves in the same order, as long as `next` tells what has
        ended in the same order.
        """
        ...

    def inside(self, slot: StepRef) -> "RunSteps":
        """The steps that one step consists of; their paths begin with its own."""
        ...

    def find(self, slot: StepRef) -> StepRecord | UnfinishedStep | None:
        """What earlier plays did of it; None when it was never started with a mark, or done."""
        ...

    async def do(
        self,
        slot: StepRef,
        work: Callable[[], Awaitable[Any]],
        *,
        marked: bool = False,
        takes: str = "",
    ) -> Any:
        """Do a step that is not recorded, and record what comes out of it: any JSON value.

        When `work` raises, nothing is recorded, and a mark stays.

        Args:
            slot: Which one.
            work: Does it.
            marked: Whether the start is stored before, so that a crash leaves `Interrupted`.
            takes: The id of the signal that this step uses up; it goes with the first thing that
                is stored, mark or outcome, and no later play hears of it.
        """
        ...

    async def next(self, tasks: "Mapping[str, asyncio.Future[Any]]") -> StepEvents:
        """Wait until at least one of these has ended, or a signal came; without tasks, not at all.

        The first one of a play tells every signal that there is.
        Only the run's own steps hear of signals, not those inside of a step.
        """
        ...

    async def suspend(self, seen: RunResult) -> bool:
        """Told when nothing is being done and the run only waits, for what `seen.pending` says.

        True when the play shall end: the back end plays the run anew when a signal comes or when
        it is time. False when it shall stay and wait.
        """
        ...


Attempt = Callable[[RunSteps], Awaitable[RunResult]]
"""Plays a run to its end, or until it parks; gives how the run is then."""


class Durability(Protocol):
    """Keeps runs and has them played: each by one player at a time, also among several servers."""

    def attach(self, play: Attempt) -> None:
        """How runs are played; told once, before anything starts."""
        ...

    async def start(self, start: RunStart) -> bool:
        """Store a run and have it played, here or elsewhere; False when it was there already."""
        ...

    async def signal(self, run_id: str, signal: Signal) -> bool:
        """Store a message to a run and let it hear of it; False when this id was there already.

        Raises:
            RunNotFound: There is no such run.
        """
        ...

    async def get_start(self, run_id: str) -> RunStart | None:
        """What a run began with; None when there is no such run."""
        ...

    async def get_result(self, run_id: str) -> RunResult | None:
        """How a run was when it last parked or ended; None while it has done neither.

        Raises:
            RunNotFound: There is no such run.
        """
        ...

    async def wait_until_settled(self, run_id: str) -> RunResult:
        """Wait until a run has ended, or waits for something that time alone does not bring.

        Raises:
            RunNotFound: There is no such run.
        """
        ...

    async def recover(self) -> tuple[str, ...]:
        """Have every run played that has not ended and that nobody plays; their ids."""
        ...

    async def close(self) -> None:
        """Stop playing; what has not ended stays stored. To be called once, by who opened it."""
        ...
