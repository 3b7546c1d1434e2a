"""A node, or an item or a round of one, while it is being done: what its kind works with."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from msgspec import structs

from pegboard.core.graph import Graph, Node, NodeState
from pegboard.core.ports.durability import Interrupted, Recorded, RunSteps, Signal, Slot
from pegboard.core.run import NodeRun, Pending, PendingKind
from pegboard.errors import AccessDenied, InvalidRequest, PegboardError, ToolTimeout
from pegboard.graphs.outcomes import cancelled, failed, from_record, to_record
from pegboard.graphs.references import resolved, resolved_input

if TYPE_CHECKING:
    from pegboard.graphs.scope import Scope

Work = Callable[[str], Awaitable[NodeRun]]
"""Does something, once, under the idempotency key that it is given; never raises for a failure."""

_CUT_OFF = "It was cut off while it ran, and nobody knows whether it took effect."
_WHAT_HAPPENED = ("happened", "did_not_happen", "cancel")
_MAY_IT = ("approve", "deny")
_MOST_TRIES = 1_000


class Doing:
    """What a node kind is given to do its work.

    Attributes:
        step: Its path in the run.
        slot: Its place among the run's steps.
        data: What its paths and conditions see.
        position: Which item and round: empty, `3`, `3.0`.
        deadline: On the monotonic clock; None for no limit.
    """

    def __init__(
        self,
        scope: "Scope",
        node: Node,
        *,
        step: str,
        slot: Slot,
        steps: RunSteps,
        data: Mapping[str, Any],
        position: str = "",
        deadline: float | None = None,
    ) -> None:
        self.scope = scope
        self.session = scope.session
        self.node = node
        self.step = step
        self.slot = slot
        self.data = data
        self.position = position
        self.deadline = deadline
        self._steps = steps
        self._inner: RunSteps | None = None
        self._verdict: Slot | None = None

    @property
    def inner(self) -> RunSteps:
        """The steps that this one consists of."""
        if self._inner is None:
            self._inner = self._steps.inside(self.slot)
        return self._inner

    def part(self, mark: str, name: str, **known: Any) -> "Doing":
        """A part of it, with further data.

        Args:
            mark: What stands behind the node's path in the part's own.
            name: The part's place among its steps.
            known: `item`, `index`, `output`.
        """
        return Doing(
            self.scope,
            self.node,
            step=f"{self.step}{mark}",
            slot=self.inner.reserve(name),
            steps=self.inner,
            data={**self.data, **known},
            position=f"{self.position}.{known['index']}".lstrip("."),
            deadline=self.deadline,
        )

    def value(self, value: Any) -> Any:
        """A value with its paths resolved.

        Raises:
            InvalidRequest: A path leads to nothing.
        """
        return resolved(value, self.data, ids=self.scope.ids)

    def arguments(self, given: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The node's input, or another one, with its paths resolved.

        Raises:
            InvalidRequest: A path leads to nothing.
        """
        wanted = self.node.input if given is None else given
        return resolved_input(wanted, self.data, ids=self.scope.ids)

    async def perform(
        self,
        work: Work,
        *,
        label: str = "",
        repeatable: bool = True,
    ) -> NodeRun:
        """Do something once, in whatever number of plays, and record how it ended.

        What needs an approval waits for it. What was cut off in an earlier play is done again when
        it may be repeated, and else a person is asked what happened.

        Args:
            work: Does it.
            label: What tells it from other work of the same node; empty for the first.
            repeatable: Whether doing it twice is as good as once.
        """
        slot = self.inner.reserve(label) if label else self.slot
        steps = self.inner if label else self._steps
        takes, again = "", 0
        for tries in range(1, _MOST_TRIES):
            found = steps.found(slot)
            if isinstance(found, Recorded):
                run = from_record(self.step, found.value)
                if run.state is not NodeState.FAILED or not self.node.fallbacks:
                    self.session.tell(run, replayed=True)  # else another tool may have answered
            elif isinstance(found, Interrupted) and not repeatable:
                run = NodeRun(id=self.step, state=NodeState.UNKNOWN, reason=_CUT_OFF)
            else:
                key = f"{self.session.run_id}:{self.step}:{self.position or 0}{label}"
                do = partial(
                    steps.do,
                    slot,
                    partial(self._recorded, work, f"{key}:{again}" if again else key),
                    marked=not repeatable,
                    takes=takes,
                )
                run = await self._once(do, repeatable=repeatable)
            if run.state not in {NodeState.UNKNOWN, NodeState.WAITING} or self.scope.stopped:
                return _final(run)
            slot, steps = self.inner.reserve(f"{label}~{tries}"), self.inner
            again += run.state is NodeState.UNKNOWN
            if steps.found(slot) is None:
                signal, settled = await self._asked(run, slot.step)
                takes = signal.id
                if settled is not None:
                    return await self._noted(steps, slot, settled, takes)
        raise InvalidRequest(f"'{self.step}' was tried {_MOST_TRIES} times.")

    async def wait(
        self,
        pending: Pending,
        *,
        topic: str = "",
    ) -> Signal | None:
        """Wait for a signal, or until it is time: then None."""
        kind = NodeState.UNKNOWN if pending.kind == "unknown" else NodeState.WAITING
        self.session.tell(NodeRun(id=self.step, state=kind, reason=pending.message))
        return await self.session.wait(self.scope, pending, topic=topic, until=pending.until)

    async def note(self, name: str, make: Callable[[], Any]) -> Any:
        """A value that is made once, and the same in every play: a time, a choice."""
        slot = self.inner.reserve(name)
        found = self.inner.found(slot)
        if isinstance(found, Recorded):
            return found.value
        return await self.inner.do(slot, _giving(make))

    async def ended(self, run: NodeRun, *, takes: str = "") -> NodeRun:
        """Record how it ended, so that further plays find it recorded.

        Args:
            run: How.
            takes: The id of the signal that ended it.
        """
        return await self._noted(self._steps, self.slot, run, takes)

    def noted_failure(self) -> NodeRun | None:
        """The failure that `note_failure` noted in an earlier play."""
        self._verdict = self.inner.reserve("!")
        found = self.inner.found(self._verdict)
        return from_record(self.step, found.value) if isinstance(found, Recorded) else None

    async def note_failure(self, run: NodeRun) -> NodeRun:
        """Note that it failed by something that another play may not meet."""
        if self._verdict is not None:
            await self.inner.do(self._verdict, _giving(lambda: to_record(run)))
        return run

    @property
    def recorded(self) -> NodeRun | None:
        """How it ended in an earlier play; None when it did not."""
        found = self._steps.found(self.slot)
        if not isinstance(found, Recorded):
            return None
        run = from_record(self.step, found.value)
        self.session.tell(run, replayed=True)
        return run

    async def play(self, graph: Graph, params: Mapping[str, Any]) -> NodeRun:
        """Run a graph within this node.

        Raises:
            InvalidRequest: The params are not those that the graph takes.
        """
        from pegboard.graphs.scope import Scope

        inner = Scope(
            self.session,
            graph,
            params,
            steps=self.inner,
            path=f"{self.step}/",
            deadline=self.deadline,
            outer=self.scope,
        )
        await inner.play()
        return inner.as_run(self.step)

    async def _once(self, do: Callable[[], Awaitable[Any]], *, repeatable: bool) -> NodeRun:
        session, scope = self.session, self.scope
        async with scope.turn(self.deadline, self.step):
            task = session.calling()
            session.tell(NodeRun(id=self.step, state=NodeState.IN_PROGRESS))
            try:
                return from_record(self.step, await do())
            except asyncio.CancelledError:
                if task is None or not session.cancelled:
                    raise
                task.uncancel()
                if repeatable:
                    return cancelled(self.step, "the run was cancelled")
                return NodeRun(id=self.step, state=NodeState.UNKNOWN, reason=_CUT_OFF)
            finally:
                session.called(task)

    async def _recorded(self, work: Work, key: str) -> Any:
        """What is recorded of some work: a failure is an outcome like any other."""
        try:
            return to_record(await work(key))
        except PegboardError as error:
            return to_record(failed(self.step, error))

    async def _asked(self, run: NodeRun, address: str) -> tuple[Signal, NodeRun | None]:
        """Ask a person; their answer, and how the step ended by it unless it is tried again."""
        is_unknown = run.state is NodeState.UNKNOWN
        kind: PendingKind = "unknown" if is_unknown else "approval"
        choices = _WHAT_HAPPENED if is_unknown else _MAY_IT
        pending = Pending(
            id=address,
            step=self.step,
            kind=kind,
            message=run.reason,
            until=self.session.until,
            choices=choices,
            approval_id=(run.error or {}).get("approval_id", ""),
        )
        signal = await self.wait(pending, topic=f"answer:{address}")
        if signal is None:  # the run's time is up
            raise ToolTimeout(f"Nobody answered for '{self.step}'.")
        given = signal.message
        message = cast("dict[str, Any]", given) if isinstance(given, dict) else {"answer": given}
        match message.get("answer"):
            case "happened":
                return signal, NodeRun(
                    id=self.step, state=NodeState.COMPLETED, output=message.get("output")
                )
            case "deny":
                refusal = AccessDenied(run.tool or self.step, "a person refused it")
                return signal, failed(self.step, refusal)
            case "cancel":
                self.session.cancel()
                return signal, run
            case _:
                return signal, None

    async def _noted(self, steps: RunSteps, slot: Slot, run: NodeRun, takes: str) -> NodeRun:
        await steps.do(slot, _giving(lambda: to_record(run)), takes=takes)
        return run


def _giving(make: Callable[[], Any]) -> Callable[[], Awaitable[Any]]:
    async def give() -> Any:
        return make()

    return give


def _final(run: NodeRun) -> NodeRun:
    """A call that waited for an approval when its graph ended was never made."""
    if run.state is NodeState.WAITING:
        return structs.replace(run, state=NodeState.CANCELLED, reason="the graph ended before")
    return run
