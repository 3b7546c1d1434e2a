"""One node, or one item or round of it, while it is executed.

Work with an effect is a *durable step*: it runs once over all attempts of the run, and a person is
asked where it was interrupted and may have taken effect.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Any, Protocol, cast

from msgspec import structs

from pegboard.core.context import ToolContext
from pegboard.core.elicitation import QuestionRules
from pegboard.core.graph import Graph, Node, NodeState
from pegboard.core.ports.durability import RunSteps, Signal, StepRecord, StepRef, UnfinishedStep
from pegboard.core.principal import Principal
from pegboard.core.run import NodeRun, PendingKind, PendingStep
from pegboard.errors import (
    AccessDenied,
    CredentialMissing,
    InvalidRequest,
    PegboardError,
    ToolTimeout,
)
from pegboard.graphs.engine.node_results import (
    as_cancelled,
    as_failed,
    from_record,
    to_record,
)
from pegboard.graphs.engine.run_context import RunContext, RunTaskGroup
from pegboard.graphs.engine.stop_signal import Stopped, StopSignal, StoreFailed
from pegboard.graphs.expressions.references import resolve, resolve_input
from pegboard.graphs.expressions.templates import as_text
from pegboard.graphs.failover import SubstituteFinder
from pegboard.graphs.node_kind import NodeKind, Part, Work
from pegboard.graphs.tool_host import ToolHost

_INTERRUPTED = "It was interrupted while it ran, and may or may not have taken effect."
_WHAT_HAPPENED = ("happened", "did_not_happen", "cancel")
_MAY_IT = ("approve", "deny")
MAX_TRIES = 1_000


class EnclosingGraph(Protocol):
    """What a node execution needs of the graph execution that it belongs to.

    Attributes:
        run: The run.
        ids: Of the nodes, by position.
        stop_signal: Whether nodes may start.
        kinds: The kinds of its nodes, by name.
    """

    run: RunContext
    kinds: Mapping[str, NodeKind]
    ids: Sequence[str]
    stop_signal: StopSignal

    def capacity(self, deadline: float | None, step: str) -> AbstractAsyncContextManager[None]:
        """Have a place among the nodes that run at the same time."""
        ...

    async def run_within(
        self,
        graph: Graph,
        params: Mapping[str, Any],
        *,
        step: str,
        steps: RunSteps,
        deadline: float | None,
        ready_at: float | None,
        kinds: Mapping[str, NodeKind] | None,
    ) -> NodeRun:
        """Run a graph as one of this graph's nodes."""
        ...


class NodeExecution:
    """The `NodeContext` that a node kind is given.

    Args:
        graph: The graph that is executed.
        node: The node.
        step: Its path in the run.
        slot: The reference of its step.
        steps: The steps that it is one of.
        data: What its paths and conditions read.
        position: Which item and round: empty, `3`, `3.0`.
        deadline: On the monotonic clock; None for no limit.
        ready_at: Unix seconds at which the node became ready, equal in every attempt; None where
            an attempt cannot know that of an earlier one.
        board: The tools of the node; None for those of the run.
    """

    def __init__(  # noqa: PLR0913 - a node and where it is executed
        self,
        graph: EnclosingGraph,
        node: Node,
        *,
        step: str,
        slot: StepRef,
        steps: RunSteps,
        data: Mapping[str, Any],
        position: str = "",
        deadline: float | None = None,
        ready_at: float | None = None,
        board: ToolHost | None = None,
    ) -> None:
        self.graph = graph
        self.run = graph.run
        self.node = node
        self.step = step
        self.slot = slot
        self.data = data
        self.position = position
        self.deadline = deadline
        self.ready_at = ready_at
        self.steps = steps
        self._board = graph.run.board if board is None else board  # an empty one is falsy
        self._inner: RunSteps | None = None
        self._verdict: StepRef | None = None

    @property
    def inner(self) -> RunSteps:
        """The steps within this one."""
        if self._inner is None:
            self._inner = self.steps.inside(self.slot)
        return self._inner

    @property
    def address(self) -> str:
        return self.slot.step

    @property
    def has_stopped(self) -> bool:
        return bool(self.graph.stop_signal.reason) and not self.run.aborted

    @property
    def board(self) -> ToolHost:
        return self._board

    @property
    def principal(self) -> Principal:
        return self.run.ctx.principal

    @property
    def find_substitute(self) -> SubstituteFinder | None:
        return self.run.find_substitute

    @property
    def question_rules(self) -> QuestionRules | None:
        return self.run.question_rules

    @property
    def recorded(self) -> NodeRun | None:
        found = self.steps.find(self.slot)
        if not isinstance(found, StepRecord):
            return None
        run = from_record(self.step, found.value)
        self.run.replays = True
        self.run.report(run, replayed=True)
        return run

    def now(self) -> float:
        return self.run.now()

    def monotonic(self) -> float:
        return self.run.monotonic()

    def value(self, value: Any) -> Any:
        return resolve(value, self.data, ids=self.graph.ids)

    def text(self, text: str) -> str:
        return as_text(self.value(text))

    def arguments(self, given: Mapping[str, Any] | None = None) -> dict[str, Any]:
        wanted = self.node.input if given is None else given
        return resolve_input(wanted, self.data, ids=self.graph.ids)

    def call_context(self, key: str, *, instead_of: str = "") -> ToolContext[Any]:
        return self.run.call_context(key, self.deadline, instead_of=instead_of)

    def report(self, run: NodeRun) -> None:
        self.run.report(run)

    async def wait(self, pending: PendingStep, *, topic: str = "") -> Signal | None:
        kind = NodeState.UNKNOWN if pending.kind == "unknown" else NodeState.WAITING
        self.run.report(NodeRun(id=self.step, state=kind, reason=pending.message))
        return await self.run.wait(
            self.graph.stop_signal, pending, topic=topic, until=pending.until
        )

    async def compute_once(self, name: str, make: Callable[[], Any]) -> Any:
        slot = self.inner.reserve(name)
        found = self.inner.find(slot)
        if isinstance(found, StepRecord):
            return found.value
        self.graph.stop_signal.check()
        return await self.inner.do(slot, _as_work(make))

    async def report_once(self, name: str, report: Callable[[], None]) -> None:
        slot = self.inner.reserve(name)
        if self.inner.find(slot) is None:
            await self.inner.do(slot, _as_work(report))

    async def run_once(
        self, work: Work, *, label: str = "", repeatable: bool = True, acts: bool = True
    ) -> NodeRun:
        step = _DurableStep(self, work, label, repeatable=repeatable, acts=acts)
        return await step.run_to_end()

    def emit(self, kind: str, data: Mapping[str, Any]) -> None:
        self.run.emit(self.step, kind, data)

    async def receive(self, topic: str, *, until: float) -> Signal | None:
        return await self.run.receive(topic, until=until)

    def take_signals(self, topic: str) -> list[Signal]:
        return self.run.take_signals(topic)

    async def run_parts(
        self, parts: Mapping[str, Part], *, board: ToolHost | None = None
    ) -> list[NodeRun]:
        runs: dict[str, NodeRun] = {}
        async with RunTaskGroup[NodeRun](self.run, self.inner) as tasks:
            for name, part in parts.items():
                tasks.spawn(name, _run_part(part, self._part_execution(name, board)))
            try:
                while tasks:
                    for run in await tasks.next():
                        runs[run.id] = run
                        self.run.report(run)
            except StoreFailed:
                self.run.abort(self.graph.stop_signal)
                await tasks.drain()
                raise
        return [runs[f"{self.step}/{name}"] for name in parts]

    def _part_execution(self, name: str, board: ToolHost | None) -> "NodeExecution":
        return NodeExecution(
            self.graph,
            self.node,
            step=f"{self.step}/{name}",
            slot=self.inner.reserve(name),
            steps=self.inner,
            data=self.data,
            position=self.position,
            deadline=self.deadline,
            board=self._board if board is None else board,
        )

    async def run_graph(
        self,
        graph: Graph,
        params: Mapping[str, Any],
        *,
        kinds: Mapping[str, NodeKind] | None = None,
    ) -> NodeRun:
        return await self.graph.run_within(
            graph,
            params,
            step=self.step,
            steps=self.inner,
            deadline=self.deadline,
            ready_at=self.ready_at,
            kinds=kinds,
        )

    async def record(self, run: NodeRun, *, takes: str = "") -> NodeRun:
        return await self.record_outcome(self.steps, self.slot, run, takes)

    async def record_outcome(
        self, steps: RunSteps, slot: StepRef, run: NodeRun, takes: str
    ) -> NodeRun:
        """Record how some work of the node ended, by a signal or by itself."""
        await steps.do(slot, _as_work(lambda: to_record(run)), takes=takes)
        return run

    def find_late_failure(self) -> NodeRun | None:
        """The failure that `record_late_failure` recorded in an earlier attempt."""
        self._verdict = self.inner.reserve("!")
        found = self.inner.find(self._verdict)
        return from_record(self.step, found.value) if isinstance(found, StepRecord) else None

    async def record_late_failure(self, run: NodeRun) -> NodeRun:
        """Record that the time was up, which another attempt might not find so."""
        if self._verdict is not None:
            await self.inner.do(self._verdict, _as_work(lambda: to_record(run)))
        return run

    def part(
        self, mark: str, name: str, *, ready_at: float | None, **known: Any
    ) -> "NodeExecution":
        """The execution of one item or round.

        Args:
            mark: What the part's path has behind the node's.
            name: The part's step among the steps within the node.
            ready_at: As of the part.
            known: `item`, `index`, `output`.
        """
        return NodeExecution(
            self.graph,
            self.node,
            step=f"{self.step}{mark}",
            slot=self.inner.reserve(name),
            steps=self.inner,
            data={**self.data, **known},
            position=f"{self.position}.{known['index']}".lstrip("."),
            deadline=self.deadline,
            ready_at=ready_at,
        )


async def _run_part(part: Part, context: NodeExecution) -> NodeRun:
    try:
        return await part(context)
    except PegboardError as error:
        return as_failed(context.step, error)
    except Stopped as stop:
        return as_cancelled(context.step, str(stop))


def _as_work(make: Callable[[], Any]) -> Callable[[], Awaitable[Any]]:
    async def work() -> Any:
        return make()

    return work


class _DurableStep:
    """Some work of a node in one attempt."""

    def __init__(
        self, node: NodeExecution, work: Work, label: str, *, repeatable: bool, acts: bool
    ) -> None:
        self._node = node
        self._work = work
        self._label = label
        self._is_repeatable = repeatable
        self._is_marked = acts and not repeatable
        self._step = node.step

    async def run_to_end(self) -> NodeRun:
        """Run the work, or find out how it ended."""
        node, label = self._node, self._label
        slot = node.inner.reserve(label) if label else node.slot
        steps = node.inner if label else node.steps
        takes, again = "", 0
        for tries in range(1, MAX_TRIES):
            run = await self._find_or_run(steps, slot, takes, again)
            is_open = run.state in {NodeState.UNKNOWN, NodeState.WAITING}
            if not is_open or node.graph.stop_signal.reason:
                return _final(run)
            slot, steps = node.inner.reserve(f"{label}~{tries}"), node.inner
            again += run.state is NodeState.UNKNOWN
            if steps.find(slot) is None:
                signal, settled = await self._ask_person(run, slot.step)
                takes = signal.id
                if settled is not None:
                    return await node.record_outcome(steps, slot, settled, takes)
        raise InvalidRequest(f"'{self._step}' was tried {MAX_TRIES} times.")

    async def _find_or_run(self, steps: RunSteps, slot: StepRef, takes: str, again: int) -> NodeRun:
        node = self._node
        found = steps.find(slot)
        node.run.replays |= found is not None
        if isinstance(found, StepRecord):
            run = from_record(self._step, found.value)
            is_one_of_many = self._label or node.node.fallbacks or run.state is NodeState.FAILED
            if not is_one_of_many:  # a failed call may be one, if another tool replaced it
                node.run.report(run, replayed=True)
            return run
        if isinstance(found, UnfinishedStep) and not self._is_repeatable:
            return self._as_interrupted(found.started_at)
        key = f"{node.run.run_id}:{self._step}:{node.position or 0}{self._label}"
        work = partial(self._run_to_record, f"{key}:{again}" if again else key)
        do = partial(steps.do, slot, work, marked=self._is_marked, takes=takes)
        return await self._run(do)

    async def _run(self, do: Callable[[], Awaitable[Any]]) -> NodeRun:
        node, run = self._node, self._node.run
        async with node.graph.capacity(node.deadline, self._step):
            task = run.register_call()
            started_at = run.now()
            run.report(NodeRun(id=self._step, state=NodeState.IN_PROGRESS))
            try:
                return from_record(self._step, await do())
            except asyncio.CancelledError:
                if task is None or not run.cancelled:
                    raise
                task.uncancel()
                if self._is_marked:
                    return self._as_interrupted(started_at)
                return as_cancelled(
                    self._step,
                    "the run was cancelled",
                    started_at=started_at,
                    duration_ms=round((run.now() - started_at) * 1000, 3),
                )
            finally:
                run.unregister_call(task)

    def _as_interrupted(self, started_at: float) -> NodeRun:
        unknown = NodeState.UNKNOWN
        return NodeRun(id=self._step, state=unknown, reason=_INTERRUPTED, started_at=started_at)

    async def _run_to_record(self, key: str) -> Any:
        """What is recorded of the work: a failure is an outcome like any other."""
        try:
            await self._node.run.refresh_rights()
            return to_record(await self._work(key))
        except PegboardError as error:
            return to_record(as_failed(self._step, error))

    async def _ask_person(self, run: NodeRun, address: str) -> tuple[Signal, NodeRun | None]:
        """Wait for a person's answer; the step's outcome, or None to run it again."""
        context = self._node.run
        is_unknown = run.state is NodeState.UNKNOWN
        kind: PendingKind = "unknown" if is_unknown else "approval"
        error = run.error or {}
        lacks_account = error.get("code") == CredentialMissing.code
        pending = PendingStep(
            id=address,
            step=self._step,
            kind=kind,
            message=error["message"] if lacks_account else run.reason,  # with the link
            until=context.expires_at,
            choices=_WHAT_HAPPENED if is_unknown else _MAY_IT,
            approval_id=error.get("approval_id", ""),
        )
        signal = await self._node.wait(pending, topic=f"answer:{address}")
        if signal is None:  # the run's time is up
            raise ToolTimeout(f"No answer for '{self._step}' came in time.")
        given = signal.message
        message = cast("dict[str, Any]", given) if isinstance(given, dict) else {"answer": given}
        match message.get("answer"):
            case "happened":
                return signal, NodeRun(
                    id=self._step,
                    state=NodeState.COMPLETED,
                    output=message.get("output"),
                    started_at=run.started_at,
                )
            case "deny":
                refusal = AccessDenied(run.tool or self._step, "a person refused it")
                return signal, as_failed(self._step, refusal)
            case "cancel":
                context.cancel()
                return signal, run
            case _:
                return signal, None


def _final(run: NodeRun) -> NodeRun:
    """A call that waited for an approval when its graph stopped was never made."""
    if run.state is NodeState.WAITING:
        return structs.replace(run, state=NodeState.CANCELLED, reason="the graph ended before")
    return run
