"""One run while it is played: what all its graphs share.

It knows whether anything is going on. Each task has a token from when it is made until whoever made
it has taken note of its end, and lays it down while it waits for the world: a time, a message, a
person, the end of a pause. When no token is left the run only waits.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct, structs

from pegboard.core.context import ToolContext
from pegboard.core.event import NodeChanged
from pegboard.core.graph import NodeState
from pegboard.core.ports.durability import CONTROL, Signal
from pegboard.core.run import NodeRun, PendingStep
from pegboard.graphs.engine.interrupts import Stopped
from pegboard.graphs.tool_host import ToolHost

if TYPE_CHECKING:
    from pegboard.graphs.engine.failover import SubstituteFinder
    from pegboard.graphs.engine.graph_execution import GraphExecution
    from pegboard.graphs.kinds.protocol import NodeKind


class PendingWait(Struct, eq=False, kw_only=True):
    """One task that waits for the world.

    Attributes:
        pending: What is shown of it; None for the end of a pause.
        topic: Of the signal that wakes it; empty for none.
        woken: Whether it has its token again.
    """

    scope: "GraphExecution"
    future: "asyncio.Future[Signal | None]"
    pending: PendingStep | None = None
    topic: str = ""
    woken: bool = False


async def _stay() -> bool:
    return False


class RunContext:
    """What the graphs of one run share.

    Attributes:
        ctx: For whom calls are made; each call gets its own.
        env: What the operator lets graphs read.
        heal: Says what stands in for tools of which none is there; None for nothing.
        paused: Nothing new starts for now.
        cancelled: Somebody has cancelled the run.
        revisits: Earlier plays have begun something, which is looked at even where nothing new
            starts: it has ended, or nobody knows how.
        broken_off: This play ends, since the run cannot be recorded; another one goes on from it.
        root: The run's own graph; set once it is there.
        states: The last state that was told, by step.
        until: Unix seconds by which the run must have ended; None for no limit.
        park: Asked when the run only waits; whether the play shall end.
    """

    def __init__(
        self,
        *,
        run_id: str,
        board: ToolHost,
        kinds: "Mapping[str, NodeKind]",
        ctx: ToolContext[Any],
        env: Mapping[str, Any],
        heal: "SubstituteFinder | None" = None,
    ) -> None:
        self.run_id = run_id
        self.board = board
        self.kinds = kinds
        self.ctx = ctx
        self.env = env
        self.heal = heal
        self.now, self.monotonic = board.kit.now, board.kit.monotonic
        self.paused = False
        self.cancelled = False
        self.revisits = False
        self.broken_off = False
        self.root: GraphExecution | None = None
        self.states: dict[str, NodeState] = {}
        self.until: float | None = None
        self.park: Callable[[], Awaitable[bool]] = _stay
        self._emitter = board.kit.emitter
        self._tokens = 1
        self._idle: asyncio.Future[None] | None = None
        self._mail: dict[str, list[Signal]] = {}
        self._waits: list[PendingWait] = []
        self._calls: set[asyncio.Task[Any]] = set()

    # whether anything goes on

    @property
    def is_idle(self) -> bool:
        """Whether the run only waits."""
        return self._tokens == 0

    def take(self, tokens: int = 1) -> None:
        """Something goes on."""
        self._tokens += tokens

    def lay_down(self, tokens: int = 1) -> None:
        """Something has ended, or waits."""
        self._tokens -= tokens
        if self._tokens == 0 and self._idle is not None and not self._idle.done():
            self._idle.set_result(None)

    def idleness(self, *, is_told: bool) -> "asyncio.Future[None]":
        """Done once nothing goes on; the next time, when it is told that nothing does now."""
        self._idle = asyncio.get_running_loop().create_future()
        if self.is_idle and not is_told:
            self._idle.set_result(None)
        return self._idle

    # waiting for the world

    async def wait(
        self,
        scope: "GraphExecution",
        pending: PendingStep | None,
        *,
        topic: str = "",
        until: float | None = None,
    ) -> Signal | None:
        """Wait for a signal, or until it is time: then None.

        Raises:
            Stopped: The graph ends; nobody waits any longer.
        """
        scope.check()
        if topic and (mail := self._mail.get(topic)):
            return mail.pop(0)
        delay = None if until is None else until - self.now()
        if delay is not None and delay <= 0:
            return None
        loop = asyncio.get_running_loop()
        wait = PendingWait(scope=scope, future=loop.create_future(), pending=pending, topic=topic)
        timer = None if delay is None else loop.call_later(delay, self._wake, wait, None)
        self._waits.append(wait)
        self.lay_down()
        try:
            return await wait.future
        finally:
            if not wait.woken:
                wait.woken = True
                self.take()
            self._waits.remove(wait)
            if timer is not None:
                timer.cancel()

    @property
    def is_held_up(self) -> bool:
        """Whether nothing may start now: it is paused, and there is time to wait for the end."""
        return self.paused and (self.until is None or self.now() < self.until)

    async def resumed(self, scope: "GraphExecution") -> None:
        """Wait until the run is not paused.

        Raises:
            Stopped: The graph ends.
        """
        scope.check()
        while self.is_held_up:
            await self.wait(scope, None, until=self.until)

    @property
    def pending(self) -> tuple[PendingStep, ...]:
        """What the run waits for."""
        return tuple(wait.pending for wait in self._waits if wait.pending is not None)

    def hear(self, signals: Iterable[Signal]) -> None:
        """Messages came: hand them to who waits for them, or keep them until somebody does."""
        for signal in signals:
            if signal.topic == CONTROL:
                self._obey(signal.message)
                continue
            waits = (w for w in self._waits if w.topic == signal.topic and not w.woken)
            wait = next(waits, None)
            if wait is None:
                self._mail.setdefault(signal.topic, []).append(signal)
            else:
                self._wake(wait, signal)

    def _obey(self, wish: Any) -> None:
        if wish == "pause":
            self.paused = True
        elif wish == "resume":
            self.paused = False
            for wait in self._waits:
                if wait.pending is None:
                    self._wake(wait, None)
        elif wish == "cancel":
            self.cancel()

    def _wake(self, wait: PendingWait, signal: Signal | None) -> None:
        if not wait.woken:
            wait.woken = True
            self.take()
            wait.future.set_result(signal)

    # ending

    def cancel(self) -> None:
        """Start nothing new, and cancel what runs."""
        self.cancelled = True
        if self.root is not None:
            self.root.stop("the run was cancelled")
        for task in self._calls:
            task.cancel()

    def let_go(self) -> None:
        """A graph has stopped: whoever waits within it need not."""
        for wait in self._waits:
            if wait.scope.stopped and not wait.woken:
                wait.woken = True
                self.take()
                wait.future.set_exception(Stopped(wait.scope.stopped))

    def calling(self) -> "asyncio.Task[Any] | None":
        """The current task does what a cancelled run cancels; told of its end by `called`."""
        task = asyncio.current_task()
        if task is not None:
            self._calls.add(task)
        return task

    def called(self, task: "asyncio.Task[Any] | None") -> None:
        """It does so no more."""
        if task is not None:
            self._calls.discard(task)

    # telling

    def tell(self, run: NodeRun, *, replayed: bool = False) -> None:
        """A node, or a part of one, is in another state."""
        if self.states.get(run.id) is run.state:
            return
        self.states[run.id] = run.state
        if self._emitter.is_heard:
            self._emitter.emit(
                NodeChanged(
                    run_id=self.run_id,
                    node=run.id,
                    state=run.state.value,
                    at=self.now(),
                    tool=run.tool,
                    attempts=run.attempts,
                    started_at=run.started_at,
                    duration_ms=run.duration_ms,
                    error_code=run.error["code"] if run.error is not None else "",
                    reason=run.reason,
                    instead_of=run.instead_of,
                    replayed=replayed,
                )
            )

    def context(
        self, key: str, deadline: float | None, *, instead_of: str = ""
    ) -> ToolContext[Any]:
        """What one call is made with; perhaps in the place of another tool."""
        return structs.replace(
            self.ctx,
            run_id=self.run_id,
            deadline=deadline,
            idempotency_key=key,
            instead_of=instead_of,
        )
