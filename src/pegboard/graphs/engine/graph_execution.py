"""A graph while it is executed: the run's own, or one within a node.

Each node runs as soon as its predecessors have ended: once, for each item of a list, or in rounds.
"""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from heapq import heappop, heappush
from typing import Any, cast

from pegboard.concurrency.cooperative import in_thread, yield_every_slice
from pegboard.core.graph import Edge, ForEach, Graph, Node, NodeState, Repeat, is_large
from pegboard.core.ports.durability import RunSteps, StepRef
from pegboard.core.result import error_to_dict
from pegboard.core.run import NodeRun
from pegboard.errors import (
    InvalidRequest,
    PegboardError,
    ToolArgumentError,
    ToolFailed,
    ToolTimeout,
)
from pegboard.execution.errors_for_readers import report_step_error
from pegboard.graphs.engine.node_execution import NodeExecution
from pegboard.graphs.engine.node_results import as_cancelled, as_failed, combine, end_time, to_data
from pegboard.graphs.engine.run_context import RunContext, RunTaskGroup
from pegboard.graphs.engine.stop_signal import Stopped, StopSignal, StoreFailed
from pegboard.graphs.expressions.conditions import holds
from pegboard.graphs.expressions.references import ABSENT, resolve
from pegboard.graphs.node_kind import NodeKind

MAX_ITEMS = 100_000
_ENDED = (NodeState.CANCELLED, NodeState.UNKNOWN)


def validate_params(graph: Graph, params: Mapping[str, Any]) -> dict[str, Any]:
    """The params of a run, with defaults; a declared one that is missing is marked as absent.

    Raises:
        InvalidRequest: They do not match the graph's schema; one line per problem.
    """
    if not graph.params:
        return dict(params)
    from pegboard.tools.schema_arguments import SchemaArguments, close_schema

    name = graph.name or graph.id or "graph"
    try:
        valid = SchemaArguments(name, close_schema(graph.params))(params)
    except ToolArgumentError as error:
        lines = "\n".join(f"- params.{problem}" for problem in error.problems)
        raise InvalidRequest(f"'{name}' takes other params:\n{lines}") from error
    properties = cast("Mapping[str, Any]", graph.params.get("properties") or {})
    for key, node in properties.items():
        if key not in valid:
            valid[key] = (
                node["default"] if isinstance(node, Mapping) and "default" in node else ABSENT
            )
    return valid


class GraphExecution:
    """Executes a graph.

    Args:
        run: The run.
        graph: What to execute.
        params: What its `params` schema asks for.
        steps: The steps of its nodes.
        path: What the paths of its nodes begin with.
        deadline: On the monotonic clock; None for no limit.
        ready_at: Unix seconds at which it could start; None if unknown.
        outer: The graph around this one; None for the run's own graph.

    Attributes:
        ids: Of the nodes, by position.
        kinds: Node kinds by name; by default those of the graph around it.
        stop_signal: Whether nodes may start.
        node_runs: How each node ended, of those that have.
        failure: The error that ended the graph.

    Raises:
        InvalidRequest: The params do not match the graph's schema.
    """

    def __init__(
        self,
        run: RunContext,
        graph: Graph,
        params: Mapping[str, Any],
        *,
        steps: RunSteps,
        path: str = "",
        deadline: float | None = None,
        ready_at: float | None = None,
        outer: "GraphExecution | None" = None,
    ) -> None:
        self.run = run
        self.kinds = (run if outer is None else outer).kinds
        self.graph = graph
        self.path = path
        self.ids: Sequence[str] = tuple(node.id for node in graph)
        self.node_runs: dict[str, NodeRun] = {}
        self.failure: Mapping[str, Any] | None = None
        self.deadline = _sooner(deadline, _after(run.monotonic(), graph.timeout))
        self.stop_signal = run.stop_signal if outer is None else StopSignal(outer.stop_signal)
        self._steps = steps
        self._ready_at = ready_at
        self._ended_at: dict[str, float | None] = {}
        self._outer = outer
        self._semaphores: tuple[asyncio.Semaphore, ...] = (asyncio.Semaphore(graph.concurrency),)
        if outer is not None:
            self._semaphores += outer._semaphores  # noqa: SLF001 - a node counts in each graph around it
        self._known: dict[str, dict[str, Any]] = {}
        self.data: dict[str, Any] = {
            "params": validate_params(graph, params),
            "steps": self._known,
            "env": run.env,
        }
        self._nodes = {node.id: node for node in graph}
        self._order = {node.id: place for place, node in enumerate(graph)}
        self._left: dict[str, int] = {}
        self._followers: dict[str, list[Node]] = {node.id: [] for node in graph}
        for node in graph:
            befores = node.depends_on
            self._left[node.id] = len(befores)
            for before in befores:
                self._followers[before].append(node)
        self._ready = [place for place, node in enumerate(graph) if not node.edges]

    async def execute(self) -> None:
        """Run all nodes, and return when all have ended.

        Raises:
            StoreFailed: The run could not be recorded; what ran has ended.
            Suspended: The run only waits.
        """
        is_outermost = self._outer is None
        async with RunTaskGroup[NodeRun](self.run, self._steps, receives=is_outermost) as tasks:
            await self._start_ready(tasks)
            try:
                while tasks:
                    for number, node_run in enumerate(await tasks.next(), start=1):
                        self._end(node_run)
                        await yield_every_slice(number)
                    await self._start_ready(tasks)
            except StoreFailed:
                self.run.abort(self.stop_signal)
                await tasks.drain()
                raise
        for number, node in enumerate(self.graph, start=1):
            if node.id not in self.node_runs:
                self._end(as_cancelled(self._path(node), self.stop_signal.reason))
                await yield_every_slice(number)

    def as_node_run(self, step: str) -> NodeRun:
        """How the graph ended, as one node."""
        parts = [self.node_runs[node.id] for node in self.graph]
        states = {part.state for part in parts}
        is_outer_stopped = self._outer is not None and bool(self._outer.stop_signal.reason)
        if (self.run.cancelled or is_outer_stopped) and states & set(_ENDED):
            is_known = NodeState.UNKNOWN not in states
            state = NodeState.CANCELLED if is_known else NodeState.UNKNOWN
            return combine(step, parts, state=state, reason=self.stop_signal.reason)
        if self.failure is None:
            try:
                return combine(step, parts, state=NodeState.COMPLETED, output=self._output())
            except InvalidRequest as error:
                self.failure = error_to_dict(InvalidRequest(f"output: {error}"))
        return combine(step, parts, state=NodeState.FAILED, error=self.failure)

    def current_runs(self) -> tuple[NodeRun, ...]:
        """How the nodes are now, in the order of the graph."""
        states = self.run.states
        return tuple(
            self.node_runs.get(node.id)
            or NodeRun(id=self._path(node), state=states.get(self._path(node), NodeState.PENDING))
            for node in self.graph
        )

    @asynccontextmanager
    async def capacity(self, deadline: float | None, step: str) -> AsyncGenerator[None]:
        """Have a place among the nodes that run at the same time; never while the run is paused.

        Raises:
            Stopped: Nothing new starts any more.
            ToolTimeout: The deadline passed before a place was free.
        """
        held: list[asyncio.Semaphore] = []
        try:
            await self.run.wait_for_resume(self.stop_signal)
            while not held:
                for semaphore in self._semaphores:
                    await semaphore.acquire()
                    held.append(semaphore)
                if self.run.is_held:
                    _release(held)
                    await self.run.wait_for_resume(self.stop_signal)
            self.stop_signal.check()
            if deadline is not None and self.run.monotonic() >= deadline:
                raise ToolTimeout(
                    f"'{step}' was not started: its time was up before.", nothing_done=True
                )
            yield
        finally:
            _release(held)

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
        """Run a graph as one of this graph's nodes.

        Raises:
            InvalidRequest: The params do not match the graph's schema.
        """
        make = partial(
            GraphExecution,
            self.run,
            graph,
            params,
            steps=steps,
            path=f"{step}/",
            deadline=deadline,
            ready_at=ready_at,
            outer=self,
        )
        inner = await in_thread(make, is_large=is_large(graph))
        if kinds is not None:
            inner.kinds = kinds
        await inner.execute()
        return inner.as_node_run(step)

    async def _start_ready(self, tasks: RunTaskGroup[NodeRun]) -> None:
        """Start the nodes that are ready, and skip those that need not run, in graph order."""
        number = 0
        while self._ready and (not self.stop_signal.reason or self.run.replays):
            number += 1
            await yield_every_slice(number)
            node = self.graph.nodes[heappop(self._ready)]
            step = self._path(node)
            try:
                reason = self._skip_reason(node)
            except PegboardError as error:
                self._end(as_failed(step, error))
                continue
            if reason and self.stop_signal.reason:
                continue  # it is reported with all that did not start
            if reason:
                self._end(NodeRun(id=step, state=NodeState.SKIPPED, reason=reason))
                continue
            self.run.report(NodeRun(id=step, state=NodeState.READY))
            slot = self._steps.reserve(node.id)
            tasks.spawn(node.id, run_node(self._node_execution(node, step, slot)))

    def _node_execution(self, node: Node, step: str, slot: StepRef) -> NodeExecution:
        deadline = _sooner(self.deadline, _after(self.run.monotonic(), node.timeout))
        return NodeExecution(
            self,
            node,
            step=step,
            slot=slot,
            steps=self._steps,
            data=self.data,
            deadline=deadline,
            ready_at=self._ready_at_of(node),
        )

    def _ready_at_of(self, node: Node) -> float | None:
        """When the last predecessor of a node ended; None if unknown."""
        ready_at = self._ready_at
        for edge in node.edges:
            ended_at = self._ended_at.get(edge.node)
            if ended_at is None:
                return None
            ready_at = ended_at if ready_at is None else max(ready_at, ended_at)
        return ready_at

    def _skip_reason(self, node: Node) -> str:
        """Why a node whose predecessors have all ended is skipped; empty when it runs."""
        if node.edges:
            answers = [self._edge_failure(edge) for edge in node.edges]
            reasons = [answer for answer in answers if answer]
            if reasons and (node.join == "all" or len(reasons) == len(answers)):
                return reasons[0]
        if not holds(node.when, self.data):
            return f"its condition is false: {node.when}"
        return ""

    def _edge_failure(self, edge: Edge) -> str:
        """Why an edge does not hold; empty when it does."""
        before = self._nodes[edge.node]
        state = self.node_runs[edge.node].state
        goes_on = before.on_failure == "continue"
        if state is NodeState.FAILED and edge.outcome == "completed" and goes_on:
            state = NodeState.COMPLETED
        wanted = (
            {NodeState.COMPLETED, NodeState.FAILED}
            if edge.outcome == "any"
            else {NodeState(edge.outcome)}
        )
        if state not in wanted:
            return f"'{edge.node}' is {self.node_runs[edge.node].state.value}"
        if not holds(edge.when, self.data):
            return f"the condition of its edge from '{edge.node}' is false: {edge.when}"
        return ""

    def _end(self, node_run: NodeRun) -> None:
        node_id = node_run.id.removeprefix(self.path)
        self.node_runs[node_id] = node_run
        self._known[node_id] = to_data(node_run)
        self._ended_at[node_id] = end_time(node_run, self._ready_at_of(self._nodes[node_id]))
        self.run.report(node_run)
        if node_run.state is NodeState.FAILED and self._ends_the_graph(node_id):
            if self.failure is None:
                self.failure = {**(node_run.error or {}), "node": node_run.id}
            self.run.stop(self.stop_signal, f"'{node_id}' failed")
        for node in self._followers[node_id]:
            self._left[node.id] -= 1
            if not self._left[node.id]:
                heappush(self._ready, self._order[node.id])

    def _ends_the_graph(self, node_id: str) -> bool:
        """Whether no edge and no `on_failure` handles the failure of this node."""
        if self._nodes[node_id].on_failure != "fail":
            return False
        edges = (edge for node in self._followers[node_id] for edge in node.edges)
        return not any(edge.node == node_id and edge.outcome != "completed" for edge in edges)

    def _output(self) -> Any:
        if self.graph.output is not None:
            return resolve(self.graph.output, self.data, ids=self.ids)
        return {
            node.id: self.node_runs[node.id].output
            for node in self.graph
            if not self._followers[node.id] and self.node_runs[node.id].state is NodeState.COMPLETED
        }

    def _path(self, node: Node) -> str:
        return f"{self.path}{node.id}"


def _release(held: list[asyncio.Semaphore]) -> None:
    while held:
        held.pop().release()


def _after(now: float, seconds: float | None) -> float | None:
    return None if seconds is None else now + seconds


def _sooner(*times: float | None) -> float | None:
    return min((time for time in times if time is not None), default=None)


async def run_node(node: NodeExecution) -> NodeRun:
    """Run a node to its end: once, for each item, or in rounds. A failure is an end too."""
    # a timeout is recorded: a later attempt, which has time, must not take another path
    is_limited = node.deadline is not None
    if is_limited and (known := node.find_late_failure()) is not None:
        return known
    try:
        return await _run_by_shape(node)
    except ToolTimeout as error:
        run = as_failed(node.step, error)
        return await node.record_late_failure(run) if is_limited else run
    except PegboardError as error:
        return as_failed(node.step, error)
    except Stopped as stop:
        return as_cancelled(node.step, str(stop))


async def _run_by_shape(node: NodeExecution) -> NodeRun:
    if node.node.for_each is not None:
        return await _run_items(node, node.node.for_each)
    if node.node.repeat is not None:
        return await _run_rounds(node, node.node.repeat)
    return await _run_kind(node)


async def _run_items(node: NodeExecution, each: ForEach) -> NodeRun:
    items = _as_list(node.value(each.items))
    at_once = len(items) if node.node.kind == "value" else each.concurrency
    parts = [
        node.part(
            f"[{i}]", f"[{i}]", ready_at=node.ready_at if i < at_once else None, item=item, index=i
        )
        for i, item in enumerate(items)
    ]
    runs: dict[str, NodeRun] = {}
    go_on = True
    async with RunTaskGroup[NodeRun](node.run, node.inner) as tasks:
        try:
            waiting = iter(parts)
            while go_on or tasks:
                while go_on and len(tasks) < each.concurrency:
                    part = next(waiting, None)
                    if part is None:
                        break
                    tasks.spawn(part.step, _run_item(part))
                if not tasks:
                    break
                for run in await tasks.next():
                    runs[run.id] = run
                    node.run.report(run)
                    stops = run.state is NodeState.FAILED and each.on_failure == "fail"
                    go_on = go_on and not stops and run.state not in _ENDED
        except StoreFailed:
            node.run.abort(node.graph.stop_signal)
            await tasks.drain()
            raise
    ended = [runs[part.step] for part in parts if part.step in runs]
    return _combine_items(node.step, ended, each)


async def _run_item(part: NodeExecution) -> NodeRun:
    try:
        repeat = part.node.repeat
        return await (_run_kind(part) if repeat is None else _run_rounds(part, repeat))
    except PegboardError as error:
        return as_failed(part.step, error)
    except Stopped as stop:
        return as_cancelled(part.step, str(stop))


def _combine_items(step: str, runs: Sequence[NodeRun], each: ForEach) -> NodeRun:
    for state in _ENDED:
        if ended := [run for run in runs if run.state is state]:
            return combine(step, runs, state=state, reason=ended[0].reason)
    failures = [run for run in runs if run.state is NodeState.FAILED]
    if failures and each.on_failure == "fail":
        return combine(step, runs, state=NodeState.FAILED, error=failures[0].error)
    return combine(step, runs, state=NodeState.COMPLETED, output=[run.output for run in runs])


async def _run_rounds(node: NodeExecution, repeat: Repeat) -> NodeRun:
    runs: list[NodeRun] = []
    output: Any = None
    ready_at = node.ready_at
    for number in range(repeat.most):
        mark = f"#{number}"
        part = node.part(mark, mark, ready_at=ready_at, index=number, output=output)
        run = await _run_kind(part)
        runs.append(run)
        node.run.report(run)
        if run.state is not NodeState.COMPLETED:
            return combine(node.step, runs, state=run.state, error=run.error, reason=run.reason)
        output, ready_at = run.output, end_time(run, ready_at)
        if holds(repeat.until, {**part.data, "output": output}):
            return combine(node.step, runs, state=NodeState.COMPLETED, output=output)
    error = ToolFailed(f"'{repeat.until}' did not hold within {repeat.most} rounds.")
    return combine(node.step, runs, state=NodeState.FAILED, error=error_to_dict(error))


async def _run_kind(node: NodeExecution) -> NodeRun:
    kind = node.graph.kinds.get(node.node.kind)
    if kind is None:
        raise InvalidRequest(f"There is no node kind '{node.node.kind}'.")
    try:
        return await kind.run(node)
    except (PegboardError, asyncio.CancelledError):
        raise
    except Exception as error:
        shown = report_step_error(node.step, error, node.run.board.environment.redact)
        node.run.note_error(node.step, shown)
        raise shown from error


def _as_list(items: Any) -> list[Any]:
    if not isinstance(items, (list, tuple)):
        raise InvalidRequest("for_each.items is not a list.")
    found = list(cast("Sequence[Any]", items))
    if len(found) > MAX_ITEMS:
        raise InvalidRequest(f"for_each takes at most {MAX_ITEMS} items, and got {len(found)}.")
    return found
