"""One run during an attempt: what its graphs share, and the task groups in which its nodes run.

The run counts tokens to know whether anything is in progress. Each task has a token from when it is
spawned until its group has taken note of its end, and releases it while it waits for a time, a
signal, a person, or the end of a pause. When no token is left, the run only waits.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from msgspec import Struct, structs

from pegboard.core.context import ToolContext
from pegboard.core.elicitation import QuestionRules
from pegboard.core.event import NodeChanged, NodeReported
from pegboard.core.graph import NodeState
from pegboard.core.ports.durability import CONTROL, RunSteps, Signal
from pegboard.core.principal import Principal
from pegboard.core.run import NodeRun, PendingStep
from pegboard.errors import PegboardError, Unavailable
from pegboard.execution.errors_for_readers import describe_run_error
from pegboard.graphs.engine.stop_signal import Stopped, StopSignal, StoreFailed, Suspended
from pegboard.graphs.failover import SubstituteFinder
from pegboard.graphs.node_kind import NodeKind
from pegboard.graphs.tool_host import ToolHost

NameNow = Callable[[Principal], Awaitable[Principal]]
"""Names a caller with the rights of now; raises `AccessDenied` for one who may not go on."""
SendSignal = Callable[[Signal], Awaitable[bool]]
"""Stores a signal of a run, and delivers it; False when its id exists already."""

T = TypeVar("T")
_IDLE = "~idle"  # no key of a task begins so


class PendingWait(Struct, eq=False, kw_only=True):
    """One task that waits for a signal or a time.

    Attributes:
        stop_signal: Of the graph that the task belongs to.
        pending: What is shown of it; None for the end of a pause.
        topics: Of the signals that wake it.
        woken: Whether it has its token again.
    """

    stop_signal: StopSignal
    future: "asyncio.Future[Signal | None]"
    pending: PendingStep | None = None
    topics: tuple[str, ...] = ()
    woken: bool = False


def approval_topic(approval_id: str) -> str:
    """The topic of the signal that an approval is decided; empty without one."""
    return f"approval:{approval_id}" if approval_id else ""


async def _stay() -> bool:
    return False


class RunContext:
    """What the graphs of one run share during an attempt.

    Attributes:
        ctx: For whom calls are made; each call gets its own.
        env: What the operator lets graphs read.
        find_substitute: Finds a substitute for unavailable tools; None for none.
        stop_signal: Stops the run's own graph, and so all graphs within it.
        paused: Nothing new starts for now.
        cancelled: The run was cancelled.
        replays: Earlier attempts have started steps. These are looked up even where nothing new
            starts, since they may have ended.
        aborted: The attempt ends because the run cannot be recorded; another one continues.
        states: The last state that was reported, by step.
        expires_at: Unix seconds by which the run must have ended; None for no limit.
        question_rules: Whether tools may ask a person; None leaves it to `ctx`.
        send: Stores a signal of the run, and delivers it; None where nobody sends any.
        suspend: Called when the run only waits; whether the attempt shall end.
    """

    def __init__(
        self,
        *,
        run_id: str,
        board: ToolHost,
        kinds: Mapping[str, NodeKind],
        ctx: ToolContext[Any],
        env: Mapping[str, Any],
        heal: SubstituteFinder | None = None,
        name_now: NameNow | None = None,
        question_rules: QuestionRules | None = None,
    ) -> None:
        self._name_now = name_now
        self.question_rules = question_rules
        self.run_id = run_id
        self.board = board
        self.kinds = kinds
        self.ctx = ctx
        self.env = env
        self.find_substitute = heal
        self.now, self.monotonic = board.environment.now, board.environment.monotonic
        self.stop_signal = StopSignal()
        self.paused = False
        self.cancelled = False
        self.replays = False
        self.aborted = False
        self.states: dict[str, NodeState] = {}
        self.expires_at: float | None = None
        self.send: SendSignal | None = None
        self.suspend: Callable[[], Awaitable[bool]] = _stay
        self._emitter = board.environment.emitter
        self._tokens = 1
        self._idle: asyncio.Future[None] | None = None
        self._mail: dict[str, list[Signal]] = {}
        self._waits: list[PendingWait] = []
        self._receivers: dict[str, asyncio.Future[Signal]] = {}
        self._calls: set[asyncio.Task[Any]] = set()

    # whether anything is in progress

    @property
    def is_idle(self) -> bool:
        """Whether the run only waits."""
        return self._tokens == 0

    def acquire_tokens(self, tokens: int = 1) -> None:
        """Count work that is in progress."""
        self._tokens += tokens

    def release_tokens(self, tokens: int = 1) -> None:
        """Count work that has ended or waits."""
        self._tokens -= tokens
        if self._tokens == 0 and self._idle is not None and not self._idle.done():
            self._idle.set_result(None)

    def idle_future(self, *, is_reported: bool) -> "asyncio.Future[None]":
        """Done once nothing is in progress; the next time, when the present one was reported."""
        self._idle = asyncio.get_running_loop().create_future()
        if self.is_idle and not is_reported:
            self._idle.set_result(None)
        return self._idle

    async def refresh_rights(self) -> None:
        """Give further calls the rights that the caller has now.

        Raises:
            AccessDenied: The caller may not go on.
            StoreFailed: Nobody can say so now.
        """
        if self._name_now is None:
            return
        try:
            principal = await self._name_now(self.ctx.principal)
        except Unavailable as error:
            raise StoreFailed(str(error)) from error
        if principal is not self.ctx.principal:
            self.ctx = structs.replace(self.ctx, principal=principal)

    # waiting

    async def wait(
        self,
        stop_signal: StopSignal,
        pending: PendingStep | None,
        *,
        topic: str = "",
        until: float | None = None,
    ) -> Signal | None:
        """Wait for a signal on a topic; None when the time has come.

        Raises:
            Stopped: The graph has stopped.
        """
        stop_signal.check()
        topics = (topic, approval_topic(pending.approval_id)) if pending is not None else (topic,)
        for wanted in filter(None, topics):
            if mail := self._mail.get(wanted):
                return mail.pop(0)
        delay = None if until is None else until - self.now()
        if delay is not None and delay <= 0:
            return None
        loop = asyncio.get_running_loop()
        wait = PendingWait(
            stop_signal=stop_signal, future=loop.create_future(), pending=pending, topics=topics
        )
        timer = None if delay is None else loop.call_later(delay, self._wake, wait, None)
        self._waits.append(wait)
        self.release_tokens()
        try:
            return await wait.future
        finally:
            if not wait.woken:
                wait.woken = True
                self.acquire_tokens()
            self._waits.remove(wait)
            if timer is not None:
                timer.cancel()

    async def receive(self, topic: str, *, until: float) -> Signal | None:
        """Wait for the one signal of a topic within work that is in progress.

        Returns:
            The signal, whose id is its topic; None when the time came first. Both are stored, so
            that who sends a signal learns which of them holds.

        Raises:
            Unavailable: That the time has come could not be stored.
        """
        if mail := self._mail.get(topic):
            return mail.pop(0)
        receiver = self._receivers[topic] = asyncio.get_running_loop().create_future()
        try:
            await asyncio.wait({receiver}, timeout=max(0.0, until - self.now()))
            if not receiver.done() and self.send is not None:
                # of this and an answer that arrives now, the one that is stored first holds
                await self.send(Signal(id=topic, topic=topic, message=None))
                await receiver
            signal = receiver.result() if receiver.done() else None
            return None if signal is None or signal.message is None else signal
        finally:
            del self._receivers[topic]

    @property
    def is_held(self) -> bool:
        """Whether nothing may start now: the run is paused, and its time is not up."""
        return self.paused and (self.expires_at is None or self.now() < self.expires_at)

    async def wait_for_resume(self, stop_signal: StopSignal) -> None:
        """Return once the run is not paused.

        Raises:
            Stopped: The graph has stopped.
        """
        stop_signal.check()
        while self.is_held:
            await self.wait(stop_signal, None, until=self.expires_at)

    @property
    def pending(self) -> tuple[PendingStep, ...]:
        """What the run waits for."""
        return tuple(wait.pending for wait in self._waits if wait.pending is not None)

    def deliver(self, signals: Iterable[Signal]) -> None:
        """Wake the waits that these signals are for; a signal without a wait is held for one."""
        for signal in signals:
            if signal.topic == CONTROL:
                self._control(signal.message)
                continue
            receiver = self._receivers.get(signal.topic)
            if receiver is not None and not receiver.done():
                receiver.set_result(signal)
                continue
            waits = (w for w in self._waits if signal.topic in w.topics and not w.woken)
            wait = next(waits, None)
            if wait is None:
                self._mail.setdefault(signal.topic, []).append(signal)
            else:
                self._wake(wait, signal)

    def take_signals(self, topic: str) -> list[Signal]:
        """The signals on a topic that have arrived and that nothing waits for."""
        return self._mail.pop(topic, [])

    def _control(self, command: Any) -> None:
        if command == "pause":
            self.paused = True
        elif command == "resume":
            self.paused = False
            for wait in self._waits:
                if wait.pending is None:
                    self._wake(wait, None)
        elif command == "cancel":
            self.cancel()

    def _wake(self, wait: PendingWait, signal: Signal | None) -> None:
        if not wait.woken:
            wait.woken = True
            self.acquire_tokens()
            wait.future.set_result(signal)

    # ending

    def cancel(self) -> None:
        """Start nothing new, and cancel the calls in progress."""
        self.cancelled = True
        self.stop(self.stop_signal, "the run was cancelled")
        for task in self._calls:
            task.cancel()

    def stop(self, stop_signal: StopSignal, reason: str) -> None:
        """Start nothing new in a graph, and end its waits; calls in progress run to their end."""
        stop_signal.set(reason)
        for wait in self._waits:
            if wait.stop_signal.reason and not wait.woken:
                wait.woken = True
                self.acquire_tokens()
                wait.future.set_exception(Stopped(wait.stop_signal.reason))

    def abort(self, stop_signal: StopSignal) -> None:
        """End the attempt because the run cannot be recorded; no node fails by that."""
        self.aborted = True
        self.stop(stop_signal, "the run cannot be recorded")

    def register_call(self) -> "asyncio.Task[Any] | None":
        """The current task, which `cancel` cancels until `unregister_call` is called with it."""
        task = asyncio.current_task()
        if task is not None:
            self._calls.add(task)
        return task

    def unregister_call(self, task: "asyncio.Task[Any] | None") -> None:
        """The call of this task has ended."""
        if task is not None:
            self._calls.discard(task)

    # reporting

    def report(self, run: NodeRun, *, replayed: bool = False) -> None:
        """Emit an event if the state of a node, or of a part of one, has changed."""
        if self.states.get(run.id) is run.state:
            return
        self.states[run.id] = run.state
        if self._emitter.has_listeners:
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

    def note_error(self, step: str, shown: PegboardError) -> None:
        """Let operators find the exception behind the error of a step by its error id."""
        if shown.error_id and self._emitter.has_listeners:
            redact = self.board.environment.redact
            self._emitter.emit(
                describe_run_error(
                    shown, run_id=self.run_id, step=step, at=self.now(), redact=redact
                )
            )

    def emit(self, step: str, kind: str, data: Mapping[str, Any]) -> None:
        """Emit what a node reports while it is executed."""
        if self._emitter.has_listeners:
            self._emitter.emit(
                NodeReported(run_id=self.run_id, node=step, kind=kind, at=self.now(), data=data)
            )

    def call_context(
        self, key: str, deadline: float | None, *, instead_of: str = ""
    ) -> ToolContext[Any]:
        """The context of one call, which may replace a call of another tool."""
        return structs.replace(
            self.ctx,
            run_id=self.run_id,
            deadline=deadline,
            idempotency_key=key,
            instead_of=instead_of,
        )


class RunTaskGroup(Generic[T]):
    """Tasks of a run; leaving the group waits for all of them.

    Results come in the order in which the run's steps report them, the same in every attempt.

    Args:
        run: The run.
        steps: The steps that the tasks' own are among.
        receives: Whether it receives the run's signals: only the group of the run's own graph does.
    """

    def __init__(self, run: RunContext, steps: RunSteps, *, receives: bool = False) -> None:
        self._run = run
        self._steps = steps
        self._receives = receives
        self._tasks: dict[str, asyncio.Task[T]] = {}
        self._returned = 0  # tokens of ended tasks whose results the owner is processing
        self._is_idle_reported = False

    def __len__(self) -> int:
        return len(self._tasks)

    def spawn(self, key: str, work: Coroutine[Any, Any, T]) -> None:
        """Start a task."""
        self._run.acquire_tokens()
        self._tasks[key] = asyncio.get_running_loop().create_task(work)

    async def next(self) -> list[T]:
        """Wait for tasks to end; their results, in the order in which the tasks were spawned.

        Raises:
            Suspended: The run only waits, and shall be replayed later.
        """
        done = await self._wait_for_end()
        self._returned = len(done)
        return [self._tasks.pop(key).result() for key in done]

    async def drain(self) -> None:
        """Wait until all tasks have ended, whatever their results."""
        if self._tasks:
            await asyncio.wait(self._tasks.values())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        tasks = list(self._tasks.values())
        self._tasks.clear()
        again: BaseException | None = None
        while not all(task.done() for task in tasks):
            for task in tasks:
                task.cancel()
            try:
                await asyncio.wait(tasks)
            except asyncio.CancelledError as cancelled:
                again = cancelled
        for task in tasks:
            if not task.cancelled():
                task.exception()  # retrieved, else the loop would log it
        self._run.release_tokens(len(tasks) + self._returned)
        self._returned = 0
        if again is not None and error is None:
            raise again

    async def _wait_for_end(self) -> list[str]:
        run = self._run
        returned, self._returned = self._returned, 0
        run.release_tokens(returned + 1)
        try:
            if self._receives:
                return await self._wait_and_deliver()
            events = await self._steps.next(self._tasks)
            return [key for key in self._tasks if key in events.done]
        finally:
            run.acquire_tokens()

    async def _wait_and_deliver(self) -> list[str]:
        run = self._run
        self._is_idle_reported = False
        while True:
            idle = run.idle_future(is_reported=self._is_idle_reported)
            events = await self._steps.next({**self._tasks, _IDLE: idle})
            run.deliver(events.signals)
            done = [key for key in self._tasks if key in events.done]
            if done:
                return done
            if run.is_idle and (events.signals or not self._is_idle_reported or idle.done()):
                self._is_idle_reported = True
                if await run.suspend() and run.is_idle:
                    raise Suspended
            elif not run.is_idle:
                self._is_idle_reported = False
