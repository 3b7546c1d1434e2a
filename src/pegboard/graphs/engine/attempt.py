"""Plays one run once: from its start, through what is recorded, as far as it goes."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from msgspec import structs

from pegboard.concurrency.cooperative import in_thread
from pegboard.core.context import ToolContext
from pegboard.core.event import RunFinished, RunRested, RunStarted
from pegboard.core.graph import Graph, NodeState, is_large
from pegboard.core.ports.durability import RunStart, RunSteps
from pegboard.core.result import error_to_dict
from pegboard.core.run import NodeRun, PendingStep, RunResult
from pegboard.errors import ToolTimeout
from pegboard.graphs.engine.failover import SubstituteFinder
from pegboard.graphs.engine.graph_execution import GraphExecution
from pegboard.graphs.engine.interrupts import StoreFailed, Suspended
from pegboard.graphs.engine.run_context import RunContext
from pegboard.graphs.engine.store_failures import StoreErrorSteps
from pegboard.graphs.kinds.protocol import NodeKind
from pegboard.graphs.tool_host import ToolHost

_LIMIT = "~limit"
"""Under which a run's own time limit stands among what it waits for."""


class RunAttempt:
    """One play.

    Args:
        graph: What to run.
        start: What the run began with.
        board: Whose tools.
        kinds: Node kinds by name.
        ctx: For whom calls are made.
        heal: Says what stands in for tools of which none is there; None for nothing.
    """

    def __init__(
        self,
        graph: Graph,
        start: RunStart,
        *,
        board: ToolHost,
        kinds: Mapping[str, NodeKind],
        ctx: ToolContext[Any],
        heal: SubstituteFinder | None = None,
    ) -> None:
        self._graph = graph
        self._start = start
        self._emitter = board.kit.emitter
        self._session = session = RunContext(
            run_id=start.run_id,
            board=board,
            kinds=kinds,
            ctx=structs.replace(ctx, run_id=start.run_id, parent_id=start.parent_id, call_id=""),
            env=start.env,
            heal=heal,
        )
        if graph.timeout is not None:
            session.until = start.created_at + graph.timeout
        self._deadline = ctx.deadline
        if session.until is not None:
            ends = session.monotonic() + session.until - session.now()
            self._deadline = ends if ctx.deadline is None else min(ends, ctx.deadline)

    async def play(self, steps: RunSteps) -> RunResult:
        """Play until the run has ended or parks; how it is then.

        Raises:
            PegboardError: The run could not be recorded, or its params do not fit.
        """
        session, start = self._session, self._start
        steps = StoreErrorSteps(steps)
        make = partial(
            GraphExecution,
            session,
            self._graph,
            start.params,
            steps=steps,
            deadline=self._deadline,
            since=start.created_at,
        )
        root = await in_thread(make, is_large=is_large(self._graph))
        session.root = root
        parked: list[RunResult] = []

        async def park() -> bool:
            parked.append(self._parked(root))  # as it is while all still wait
            return await steps.suspend(parked[-1])

        session.park = park
        self._tell_started()
        try:
            session.hear((await steps.next({})).signals)
            session.revisits = session.cancelled
            await root.play()
        except Suspended:
            self._tell_rested(parked[-1])
            return parked[-1]
        except StoreFailed as failure:
            error = failure.__cause__ or failure
            raise error from error.__cause__
        return self._ended(root)

    def _parked(self, root: GraphExecution) -> RunResult:
        session = self._session
        pending = session.pending
        if session.paused and session.until is not None:
            pending += (PendingStep(id=_LIMIT, step="", kind="time", until=session.until),)
        state = NodeState.PAUSED if session.paused else NodeState.WAITING
        return self._result(state, root.seen(), pending=pending)

    def _ended(self, root: GraphExecution) -> RunResult:
        run = root.as_run("")
        state, error = run.state, run.error
        if state is NodeState.UNKNOWN:
            state = NodeState.CANCELLED
        if state is NodeState.COMPLETED and (late := self._late(run.parts)) is not None:
            state, error = NodeState.FAILED, late
        result = self._result(
            state, run.parts, output=run.output if error is None else None, error=error
        )
        self._tell_finished(result)
        return result

    def _late(self, runs: tuple[NodeRun, ...]) -> Mapping[str, Any] | None:
        """The error of a run whose time was up, although its graph goes on after failures."""
        until = self._session.until
        if until is None or self._session.now() < until:
            return None
        for run in runs:
            if run.error is not None and run.error["code"] == ToolTimeout.code:
                seconds = self._graph.timeout
                return error_to_dict(ToolTimeout(f"The run did not end within {seconds:.3g} s."))
        return None

    def _result(self, state: NodeState, nodes: tuple[NodeRun, ...], **more: Any) -> RunResult:
        start = self._start
        return RunResult(
            run_id=start.run_id,
            graph=self._graph.id or self._graph.name,
            state=state,
            nodes=nodes,
            started_at=start.created_at,
            duration_ms=round((self._session.now() - start.created_at) * 1000, 3),
            **more,
        )

    def _tell_started(self) -> None:
        start = self._start
        if self._emitter.is_heard:
            self._emitter.emit(
                RunStarted(
                    run_id=start.run_id,
                    graph=self._graph.id or self._graph.name,
                    principal=start.principal.id,
                    tenant=start.principal.tenant,
                    started_at=start.created_at,
                    parent_id=start.parent_id,
                )
            )

    def _tell_rested(self, result: RunResult) -> None:
        if self._emitter.is_heard:
            self._emitter.emit(
                RunRested(
                    run_id=result.run_id,
                    graph=result.graph,
                    state=result.state.value,
                    at=self._session.now(),
                )
            )

    def _tell_finished(self, result: RunResult) -> None:
        if self._emitter.is_heard:
            self._emitter.emit(
                RunFinished(
                    run_id=result.run_id,
                    graph=result.graph,
                    state=result.state.value,
                    started_at=result.started_at,
                    duration_ms=result.duration_ms,
                    nodes=sum(run.state is NodeState.COMPLETED for run in result.nodes),
                    error_code="" if result.error is None else result.error["code"],
                )
            )
