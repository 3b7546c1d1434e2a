"""One attempt at a run: it is executed from its start, replaying what is recorded.

A run whose attempts keep failing with an error that is no outcome of a node ends as failed.
"""

import logging
from collections.abc import Mapping
from functools import partial
from typing import Any

from msgspec import structs

from pegboard.concurrency.cooperative import in_thread
from pegboard.core.context import ToolContext
from pegboard.core.elicitation import QuestionRules
from pegboard.core.event import RunFinished, RunRested, RunStarted
from pegboard.core.graph import Graph, NodeState, is_large
from pegboard.core.ports.durability import RunStart, RunSteps
from pegboard.core.result import error_to_dict
from pegboard.core.run import NodeRun, PendingStep, RunResult
from pegboard.errors import PegboardError, ToolFailed, ToolTimeout
from pegboard.execution.errors_for_readers import describe_run_error, make_run_error_id
from pegboard.graphs.engine.graph_execution import GraphExecution
from pegboard.graphs.engine.run_context import NameNow, RunContext, SendSignal
from pegboard.graphs.engine.steps import StoreErrorSteps
from pegboard.graphs.engine.stop_signal import StoreFailed, Suspended
from pegboard.graphs.failover import SubstituteFinder
from pegboard.graphs.node_kind import NodeKind
from pegboard.graphs.tool_host import ToolHost

_LOG = logging.getLogger("pegboard.graphs")
_LIMIT = "~limit"
"""The id of a run's own time limit among what it waits for."""
_MAX_KNOWN = 1_000


class RunAttempt:
    """One attempt at a run.

    Args:
        graph: What to run.
        start: What the run began with.
        board: The tools that there are.
        kinds: Node kinds by name.
        ctx: For whom calls are made.
        heal: Finds a substitute for unavailable tools; None for none.
        name_now: Names the caller with the rights of now; None keeps those of `ctx`.
        question_rules: Whether tools may ask a person; None leaves it to `ctx`.
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
        name_now: NameNow | None = None,
        question_rules: QuestionRules | None = None,
    ) -> None:
        self._graph = graph
        self._start = start
        self._emitter = board.environment.emitter
        self._run = run = RunContext(
            run_id=start.run_id,
            board=board,
            kinds=kinds,
            ctx=structs.replace(
                ctx,
                run_id=start.run_id,
                root_id=start.root_id or start.run_id,
                parent_id=start.parent_id,
                call_id="",
            ),
            env=start.env,
            heal=heal,
            name_now=name_now,
            question_rules=question_rules,
        )
        if graph.timeout is not None:
            run.expires_at = start.created_at + graph.timeout
        self._deadline = ctx.deadline
        if run.expires_at is not None:
            ends = run.monotonic() + run.expires_at - run.now()
            self._deadline = ends if ctx.deadline is None else min(ends, ctx.deadline)

    async def execute(self, steps: RunSteps, *, send: SendSignal | None = None) -> RunResult:
        """Execute the run until it has ended or is suspended; how it is then.

        Args:
            steps: Its steps.
            send: Stores a signal of the run, and delivers it; None where nobody sends any.

        Raises:
            PegboardError: The run could not be recorded, or its params do not match.
        """
        run, start = self._run, self._start
        steps, run.send = StoreErrorSteps(steps), send
        make = partial(
            GraphExecution,
            run,
            self._graph,
            start.params,
            steps=steps,
            deadline=self._deadline,
            ready_at=start.created_at,
        )
        graph = await in_thread(make, is_large=is_large(self._graph))
        suspended: list[RunResult] = []

        async def suspend() -> bool:
            suspended.append(self._as_suspended(graph))  # while all of it still waits
            return await steps.suspend(suspended[-1])

        run.suspend = suspend
        self._emit_started()
        try:
            run.deliver((await steps.next({})).signals)
            run.replays = run.cancelled
            await graph.execute()
        except Suspended:
            self._emit_suspended(suspended[-1])
            return suspended[-1]
        except StoreFailed as failure:
            error = failure.__cause__ or failure
            raise error from error.__cause__
        result = self._as_ended(graph)
        self._emit_finished(result)
        return result

    def _as_suspended(self, graph: GraphExecution) -> RunResult:
        run = self._run
        pending = run.pending
        if run.paused and run.expires_at is not None:
            pending += (PendingStep(id=_LIMIT, step="", kind="time", until=run.expires_at),)
        state = NodeState.PAUSED if run.paused else NodeState.WAITING
        return self._result(state, graph.current_runs(), pending=pending)

    def _as_ended(self, graph: GraphExecution) -> RunResult:
        run = graph.as_node_run("")
        state, error = run.state, run.error
        if state is NodeState.UNKNOWN:
            state = NodeState.CANCELLED
        if state is NodeState.COMPLETED and (late := self._timeout_error(run.parts)) is not None:
            state, error = NodeState.FAILED, late
        output = run.output if error is None else None
        return self._result(state, run.parts, output=output, error=error)

    def _timeout_error(self, runs: tuple[NodeRun, ...]) -> Mapping[str, Any] | None:
        """The error of a run whose time was up, although its graph continues after failures."""
        expires_at = self._run.expires_at
        if expires_at is None or self._run.now() < expires_at:
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
            duration_ms=round((self._run.now() - start.created_at) * 1000, 3),
            **more,
        )

    def _emit_started(self) -> None:
        start = self._start
        if self._emitter.has_listeners:
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

    def _emit_suspended(self, result: RunResult) -> None:
        if self._emitter.has_listeners:
            self._emitter.emit(
                RunRested(
                    run_id=result.run_id,
                    graph=result.graph,
                    state=result.state.value,
                    at=self._run.now(),
                )
            )

    def _emit_finished(self, result: RunResult) -> None:
        if self._emitter.has_listeners:
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


class AttemptLimit:
    """Counts the attempts at a run that failed in a row, and ends the run after the last one.

    Args:
        board: Its clock and listeners are used.
        most: Attempts that may fail in a row, in this process.
    """

    def __init__(self, board: ToolHost, *, most: int = 5) -> None:
        self._board = board
        self._most = most
        self._failed: dict[str, int] = {}

    def reset(self, run_id: str) -> None:
        """Forget a run's failed attempts: one has succeeded."""
        self._failed.pop(run_id, None)

    def count_failure(
        self, start: RunStart, error: Exception, *, last: RunResult | None
    ) -> RunResult:
        """Count a failed attempt; the result of the run if it was the last one.

        Args:
            start: What the run began with.
            error: The error in which the attempt ended.
            last: How the run was when it was last suspended.

        Raises:
            Exception: The error itself, while further attempts are allowed.
        """
        count = self._failed.pop(start.run_id, 0) + 1
        if count < self._most:
            self._failed[start.run_id] = count
            if len(self._failed) > _MAX_KNOWN:
                del self._failed[next(iter(self._failed))]
            raise error
        return self.end(start, self._report(start.run_id, error), last=last)

    def end(
        self,
        start: RunStart,
        error: PegboardError,
        *,
        last: RunResult | None,
        state: NodeState = NodeState.FAILED,
    ) -> RunResult:
        """The result of a run that ends with an error; `last` as above."""
        name = str(start.graph.get("id") or start.graph.get("name") or "")
        last = last or RunResult(run_id=start.run_id, state=NodeState.IN_PROGRESS, graph=name)
        took = round((self._board.environment.now() - start.created_at) * 1000, 3)
        result = structs.replace(
            last,
            state=state,
            error=error_to_dict(error),
            output=None,
            pending=(),
            started_at=start.created_at,
            duration_ms=took,
        )
        if self._board.environment.emitter.has_listeners:
            self._board.environment.emitter.emit(
                RunFinished(
                    run_id=start.run_id,
                    graph=result.graph,
                    state=result.state.value,
                    started_at=start.created_at,
                    duration_ms=took,
                    error_code=error.code,
                )
            )
        return result

    def _report(self, run_id: str, error: Exception) -> PegboardError:
        """Log an error, and return the part of it that may be shown."""
        if isinstance(error, PegboardError):
            _LOG.error("graphs: run %s failed after its last attempt: %s", run_id, error)
            return error
        environment = self._board.environment
        shown = ToolFailed(
            "The run could not be executed: an unexpected error.", error_id=make_run_error_id()
        )
        shown.__cause__ = error
        _LOG.error(
            "graphs: run %s failed after its last attempt: error id %s",
            run_id,
            shown.error_id,
            exc_info=error,
        )
        if environment.emitter.has_listeners:
            environment.emitter.emit(
                describe_run_error(
                    shown, run_id=run_id, at=environment.now(), redact=environment.redact
                )
            )
        return shown
