"""One graph of a run while it is played: the run's own, or one within a node."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from heapq import heappop, heappush
from typing import Any

from pegboard.concurrency.cooperative import turn_after
from pegboard.core.graph import Edge, Graph, Node, NodeState
from pegboard.core.ports.durability import RunSteps, StepRef
from pegboard.core.result import error_to_dict
from pegboard.core.run import NodeRun
from pegboard.errors import InvalidRequest, PegboardError, ToolTimeout
from pegboard.graphs.checks.params import checked
from pegboard.graphs.engine.interrupts import Stopped, StoreFailed
from pegboard.graphs.engine.node_execution import NodeExecution
from pegboard.graphs.engine.node_results import as_data, cancelled, ended_at, failed, whole
from pegboard.graphs.engine.node_runner import run_node
from pegboard.graphs.engine.run_context import RunContext
from pegboard.graphs.engine.task_group import RunTaskGroup
from pegboard.graphs.expressions.conditions import holds
from pegboard.graphs.expressions.references import resolved


class GraphExecution:
    """Plays a graph: each node as soon as what comes before has ended.

    Attributes:
        ids: Of the nodes, by position.
        runs: How each node ended, those that have.
        failure: The error that ended it.
    """

    def __init__(
        self,
        session: RunContext,
        graph: Graph,
        params: Mapping[str, Any],
        *,
        steps: RunSteps,
        path: str = "",
        deadline: float | None = None,
        since: float | None = None,
        outer: "GraphExecution | None" = None,
    ) -> None:
        self.session = session
        self.graph = graph
        self.path = path
        self.ids = tuple(node.id for node in graph)
        self.runs: dict[str, NodeRun] = {}
        self.failure: Mapping[str, Any] | None = None
        self.deadline = _sooner(deadline, _after(session.monotonic(), graph.timeout))
        self._steps = steps
        self._since = since
        self._over: dict[str, float | None] = {}
        self._outer = outer
        self._stopped = ""
        self._places: tuple[asyncio.Semaphore, ...] = (asyncio.Semaphore(graph.concurrency),)
        if outer is not None:
            self._places += outer._places  # noqa: SLF001 - an inner graph has a place in each around it
        known: dict[str, dict[str, Any]] = {}
        self.data: dict[str, Any] = {
            "params": checked(graph, params),
            "steps": known,
            "env": session.env,
        }
        self._known = known
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

    @property
    def stopped(self) -> str:
        """Why nothing new starts any more, here or in a graph around it; empty while it does."""
        return self._stopped or ("" if self._outer is None else self._outer.stopped)

    def check(self) -> None:
        """Raise `Stopped` when nothing new may start."""
        if reason := self.stopped:
            raise Stopped(reason)

    def stop(self, reason: str) -> None:
        """Start nothing new; what runs goes on to its end."""
        self._stopped = self._stopped or reason
        self.session.let_go()

    def break_off(self) -> None:
        """End this play, since the run cannot be recorded: no node ends by that."""
        self.session.broken_off = True
        self.stop("the run cannot be recorded")

    async def play(self) -> None:
        """Run to the end.

        Raises:
            StoreFailed: The run could not be recorded; what ran has ended.
            Parked: The run only waits.
        """
        is_outermost = self._outer is None
        async with RunTaskGroup[NodeRun](self.session, self._steps, hears=is_outermost) as crew:
            await self._start(crew)
            try:
                while crew:
                    for number, run in enumerate(await crew.next(), start=1):
                        self._end(run)
                        await turn_after(number)
                    await self._start(crew)
            except StoreFailed:
                self.break_off()
                await crew.drained()
                raise
        for number, node in enumerate(self.graph, start=1):
            if node.id not in self.runs:
                self._end(cancelled(self._path(node), self.stopped))
                await turn_after(number)

    def as_run(self, step: str) -> NodeRun:
        """How it ended, as one node."""
        parts = [self.runs[node.id] for node in self.graph]
        states = {part.state for part in parts}
        is_ended = self.session.cancelled or (self._outer is not None and self._outer.stopped)
        if is_ended and states & {NodeState.UNKNOWN, NodeState.CANCELLED}:
            is_known = NodeState.UNKNOWN not in states
            state = NodeState.CANCELLED if is_known else NodeState.UNKNOWN
            return whole(step, parts, state=state, reason=self.stopped)
        if self.failure is None:
            try:
                return whole(step, parts, state=NodeState.COMPLETED, output=self._output())
            except InvalidRequest as error:
                self.failure = error_to_dict(InvalidRequest(f"output: {error}"))
        return whole(step, parts, state=NodeState.FAILED, error=self.failure)

    @asynccontextmanager
    async def turn(self, deadline: float | None, step: str) -> AsyncGenerator[None]:
        """Have a place among what runs; none of them while the run is paused.

        Raises:
            Stopped: Nothing new starts any more.
            ToolTimeout: Its time was up before it began.
        """
        held: list[asyncio.Semaphore] = []
        try:
            await self.session.resumed(self)
            while not held:
                for place in self._places:
                    await place.acquire()
                    held.append(place)
                if self.session.is_held_up:
                    _release(held)
                    await self.session.resumed(self)
            self.check()
            if deadline is not None and self.session.monotonic() >= deadline:
                raise ToolTimeout(
                    f"'{step}' was not started: its time was up before.", nothing_done=True
                )
            yield
        finally:
            _release(held)

    async def _start(self, crew: RunTaskGroup[NodeRun]) -> None:
        """Start what is ready, and skip what need not run, in the order of the graph."""
        number = 0
        while self._ready and (not self.stopped or self.session.revisits):
            number += 1
            await turn_after(number)
            node = self.graph.nodes[heappop(self._ready)]
            step = self._path(node)
            try:
                reason = self._why_not(node)
            except PegboardError as error:
                self._end(failed(step, error))
                continue
            if reason and self.stopped:
                continue  # it is told with all that did not start
            if reason:
                self._end(NodeRun(id=step, state=NodeState.SKIPPED, reason=reason))
                continue
            self.session.tell(NodeRun(id=step, state=NodeState.READY))
            crew.spawn(node.id, run_node(self._doing(node, step, self._steps.reserve(node.id))))

    def _doing(self, node: Node, step: str, slot: StepRef) -> NodeExecution:
        deadline = _sooner(self.deadline, _after(self.session.monotonic(), node.timeout))
        return NodeExecution(
            self,
            node,
            step=step,
            slot=slot,
            steps=self._steps,
            data=self.data,
            deadline=deadline,
            since=self._since_of(node),
        )

    def _since_of(self, node: Node) -> float | None:
        """When the last of what comes before a node had ended; None where nobody knows."""
        since = self._since
        for edge in node.edges:
            over = self._over.get(edge.node)
            if over is None:
                return None
            since = over if since is None else max(since, over)
        return since

    def _why_not(self, node: Node) -> str:
        """Why a node whose predecessors have all ended is skipped; empty when it runs."""
        if node.edges:
            answers = [self._why_edge_fails(edge) for edge in node.edges]
            reasons = [answer for answer in answers if answer]
            if reasons and (node.join == "all" or len(reasons) == len(answers)):
                return reasons[0]
        if not holds(node.when, self.data):
            return f"its condition is false: {node.when}"
        return ""

    def _why_edge_fails(self, edge: Edge) -> str:
        run = self.runs[edge.node]
        before = self._nodes[edge.node]
        state = run.state
        goes_on = before.on_failure == "continue"
        if state is NodeState.FAILED and edge.outcome == "completed" and goes_on:
            state = NodeState.COMPLETED
        wanted = (
            {NodeState.COMPLETED, NodeState.FAILED}
            if edge.outcome == "any"
            else {NodeState(edge.outcome)}
        )
        if state not in wanted:
            return f"'{edge.node}' is {run.state.value}"
        if not holds(edge.when, self.data):
            return f"the condition of its edge from '{edge.node}' is false: {edge.when}"
        return ""

    def _end(self, run: NodeRun) -> None:
        node_id = run.id.removeprefix(self.path)
        self.runs[node_id] = run
        self._known[node_id] = as_data(run)
        self._over[node_id] = ended_at(run, self._since_of(self._nodes[node_id]))
        self.session.tell(run)
        if run.state is NodeState.FAILED and self._ends_the_graph(node_id):
            if self.failure is None:
                self.failure = {**(run.error or {}), "node": run.id}
            self.stop(f"'{node_id}' failed")
        for node in self._followers[node_id]:
            self._left[node.id] -= 1
            if not self._left[node.id]:
                heappush(self._ready, self._order[node.id])

    def _ends_the_graph(self, node_id: str) -> bool:
        """Whether nobody deals with the failure of this node."""
        if self._nodes[node_id].on_failure != "fail":
            return False
        edges = (edge for node in self._followers[node_id] for edge in node.edges)
        return not any(edge.node == node_id and edge.outcome != "completed" for edge in edges)

    def _output(self) -> Any:
        if self.graph.output is not None:
            return resolved(self.graph.output, self.data, ids=self.ids)
        return {
            node.id: self.runs[node.id].output
            for node in self.graph
            if not self._followers[node.id] and self.runs[node.id].state is NodeState.COMPLETED
        }

    def _path(self, node: Node) -> str:
        return f"{self.path}{node.id}"

    def seen(self) -> tuple[NodeRun, ...]:
        """How the nodes are now, in the order of the graph."""
        states = self.session.states
        return tuple(
            self.runs.get(node.id)
            or NodeRun(id=self._path(node), state=states.get(self._path(node), NodeState.PENDING))
            for node in self.graph
        )


def _release(held: list[asyncio.Semaphore]) -> None:
    while held:
        held.pop().release()


def _after(now: float, seconds: float | None) -> float | None:
    return None if seconds is None else now + seconds


def _sooner(*times: float | None) -> float | None:
    return min((time for time in times if time is not None), default=None)
