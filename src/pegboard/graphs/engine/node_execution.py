"""A node, or an item or a round of one, while it is being done: what its kind works with."""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from pegboard.concurrency.cooperative import in_thread
from pegboard.core.graph import Graph, Node, NodeState, is_large
from pegboard.core.ports.durability import RunSteps, Signal, StepRecord, StepRef
from pegboard.core.run import NodeRun, PendingStep
from pegboard.graphs.engine.node_results import from_record, to_record
from pegboard.graphs.expressions.references import resolved, resolved_input
from pegboard.graphs.expressions.templates import as_text

if TYPE_CHECKING:
    from pegboard.graphs.engine.graph_execution import GraphExecution


class NodeExecution:
    """What a node kind is given to do its work.

    Attributes:
        step: Its path in the run.
        slot: Its place among the run's steps.
        data: What its paths and conditions see.
        steps: Those that it is one of.
        position: Which item and round: empty, `3`, `3.0`.
        deadline: On the monotonic clock; None for no limit.
        since: Unix seconds of when nothing held it up any more, the same in every play; None where
            no play can know that of an earlier one.
    """

    def __init__(  # noqa: PLR0913 - what a node kind may know of where it is
        self,
        scope: "GraphExecution",
        node: Node,
        *,
        step: str,
        slot: StepRef,
        steps: RunSteps,
        data: Mapping[str, Any],
        position: str = "",
        deadline: float | None = None,
        since: float | None = None,
    ) -> None:
        self.scope = scope
        self.session = scope.session
        self.node = node
        self.step = step
        self.slot = slot
        self.data = data
        self.position = position
        self.deadline = deadline
        self.since = since
        self.steps = steps
        self._inner: RunSteps | None = None
        self._verdict: StepRef | None = None

    @property
    def inner(self) -> RunSteps:
        """The steps that this one consists of."""
        if self._inner is None:
            self._inner = self.steps.inside(self.slot)
        return self._inner

    def part(self, mark: str, name: str, *, since: float | None, **known: Any) -> "NodeExecution":
        """A part of it, with further data.

        Args:
            mark: What stands behind the node's path in the part's own.
            name: The part's place among its steps.
            since: As of the part.
            known: `item`, `index`, `output`.
        """
        return NodeExecution(
            self.scope,
            self.node,
            step=f"{self.step}{mark}",
            slot=self.inner.reserve(name),
            steps=self.inner,
            data={**self.data, **known},
            position=f"{self.position}.{known['index']}".lstrip("."),
            deadline=self.deadline,
            since=since,
        )

    def value(self, value: Any) -> Any:
        """A value with its paths resolved.

        Raises:
            InvalidRequest: A path leads to nothing.
        """
        return resolved(value, self.data, ids=self.scope.ids)

    def text(self, text: str) -> str:
        """A text with its paths resolved.

        Raises:
            InvalidRequest: A path leads to nothing.
        """
        return as_text(self.value(text))

    def arguments(self, given: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The node's input, or another one, with its paths resolved.

        Raises:
            InvalidRequest: A path leads to nothing.
        """
        wanted = self.node.input if given is None else given
        return resolved_input(wanted, self.data, ids=self.scope.ids)

    async def wait(
        self,
        pending: PendingStep,
        *,
        topic: str = "",
    ) -> Signal | None:
        """Wait for a signal, or until it is time: then None."""
        kind = NodeState.UNKNOWN if pending.kind == "unknown" else NodeState.WAITING
        self.session.tell(NodeRun(id=self.step, state=kind, reason=pending.message))
        return await self.session.wait(self.scope, pending, topic=topic, until=pending.until)

    async def note(self, name: str, make: Callable[[], Any]) -> Any:
        """A value that is made once, and the same in every play: a time, a choice.

        Raises:
            Stopped: The graph has ended, and it was not made before.
        """
        slot = self.inner.reserve(name)
        found = self.inner.find(slot)
        if isinstance(found, StepRecord):
            return found.value
        self.scope.check()
        return await self.inner.do(slot, _giving(make))

    async def ended(self, run: NodeRun, *, takes: str = "") -> NodeRun:
        """Record how it ended, so that further plays find it recorded.

        Args:
            run: How.
            takes: The id of the signal that ended it.
        """
        return await self.noted(self.steps, self.slot, run, takes)

    def noted_failure(self) -> NodeRun | None:
        """The failure that `note_failure` noted in an earlier play."""
        self._verdict = self.inner.reserve("!")
        found = self.inner.find(self._verdict)
        return from_record(self.step, found.value) if isinstance(found, StepRecord) else None

    async def note_failure(self, run: NodeRun) -> NodeRun:
        """Note that it failed by something that another play may not meet."""
        if self._verdict is not None:
            await self.inner.do(self._verdict, _giving(lambda: to_record(run)))
        return run

    @property
    def recorded(self) -> NodeRun | None:
        """How it ended in an earlier play; None when it did not."""
        found = self.steps.find(self.slot)
        if not isinstance(found, StepRecord):
            return None
        run = from_record(self.step, found.value)
        self.session.revisits = True
        self.session.tell(run, replayed=True)
        return run

    async def play(self, graph: Graph, params: Mapping[str, Any]) -> NodeRun:
        """Run a graph within this node.

        Raises:
            InvalidRequest: The params are not those that the graph takes.
        """
        from pegboard.graphs.engine.graph_execution import GraphExecution

        make = partial(
            GraphExecution,
            self.session,
            graph,
            params,
            steps=self.inner,
            path=f"{self.step}/",
            deadline=self.deadline,
            since=self.since,
            outer=self.scope,
        )
        inner = await in_thread(make, is_large=is_large(graph))
        await inner.play()
        return inner.as_run(self.step)

    async def noted(self, steps: RunSteps, slot: StepRef, run: NodeRun, takes: str) -> NodeRun:
        """Record how some work of it ended, by a signal or by itself."""
        await steps.do(slot, _giving(lambda: to_record(run)), takes=takes)
        return run


def _giving(make: Callable[[], Any]) -> Callable[[], Awaitable[Any]]:
    async def give() -> Any:
        return make()

    return give
