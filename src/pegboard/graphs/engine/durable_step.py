"""Doing something once, in whatever number of plays, and asking a person where nobody knows."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, cast

from msgspec import structs

from pegboard.core.graph import NodeState
from pegboard.core.ports.durability import RunSteps, Signal, StepRecord, StepRef, UnfinishedStep
from pegboard.core.run import NodeRun, PendingKind, PendingStep
from pegboard.errors import AccessDenied, InvalidRequest, PegboardError, ToolTimeout
from pegboard.graphs.engine.node_execution import NodeExecution
from pegboard.graphs.engine.node_results import cancelled, failed, from_record, to_record

Work = Callable[[str], Awaitable[NodeRun]]
"""Does something, once, under the idempotency key that it is given; never raises for a failure."""

_CUT_OFF = "It was cut off while it ran, and nobody knows whether it took effect."
_WHAT_HAPPENED = ("happened", "did_not_happen", "cancel")
_MAY_IT = ("approve", "deny")
_MOST_TRIES = 1_000


async def perform(
    doing: NodeExecution,
    work: Work,
    *,
    label: str = "",
    repeatable: bool = True,
    acts: bool = True,
) -> NodeRun:
    """Do something once, in whatever number of plays, and record how it ended.

    What needs an approval waits for it. What was cut off in an earlier play is done again when
    it may be repeated, and else a person is asked what happened.

    Args:
        doing: The node that it is a part of.
        work: Does it.
        label: What tells it from other work of the same node; empty for the first.
        repeatable: Whether doing it twice is as good as once.
        acts: Whether it can have an effect: what can is noted before it starts, unless it is
            repeatable.
    """
    performance = _DurableStep(doing, work, label, repeatable=repeatable, acts=acts)
    return await performance.to_its_end()


class _DurableStep:
    """Some work of a node, in one play."""

    def __init__(
        self, doing: NodeExecution, work: Work, label: str, *, repeatable: bool, acts: bool
    ) -> None:
        self._doing = doing
        self._work = work
        self._label = label
        self._is_repeatable = repeatable
        self._is_marked = acts and not repeatable
        self._step = doing.step

    async def to_its_end(self) -> NodeRun:
        """Do it, or find out how it ended."""
        doing, label = self._doing, self._label
        slot = doing.inner.reserve(label) if label else doing.slot
        steps = doing.inner if label else doing.steps
        takes, again = "", 0
        for tries in range(1, _MOST_TRIES):
            run = await self._found_or_done(steps, slot, takes, again)
            if run.state not in {NodeState.UNKNOWN, NodeState.WAITING} or doing.scope.stopped:
                return _final(run)
            slot, steps = doing.inner.reserve(f"{label}~{tries}"), doing.inner
            again += run.state is NodeState.UNKNOWN
            if steps.find(slot) is None:
                signal, settled = await self._asked(run, slot.step)
                takes = signal.id
                if settled is not None:
                    return await doing.noted(steps, slot, settled, takes)
        raise InvalidRequest(f"'{self._step}' was tried {_MOST_TRIES} times.")

    async def _found_or_done(
        self, steps: RunSteps, slot: StepRef, takes: str, again: int
    ) -> NodeRun:
        doing = self._doing
        found = steps.find(slot)
        doing.session.revisits |= found is not None
        if isinstance(found, StepRecord):
            run = from_record(self._step, found.value)
            is_one_of_many = self._label or doing.node.fallbacks or run.state is NodeState.FAILED
            if not is_one_of_many:  # one that failed may be, if another tool stood in for it
                doing.session.tell(run, replayed=True)
            return run
        if isinstance(found, UnfinishedStep) and not self._is_repeatable:
            return self._cut_off(found.started_at)
        key = f"{doing.session.run_id}:{self._step}:{doing.position or 0}{self._label}"
        record = partial(self._recorded, f"{key}:{again}" if again else key)
        do = partial(steps.do, slot, record, marked=self._is_marked, takes=takes)
        return await self._once(do)

    async def _once(self, do: Callable[[], Awaitable[Any]]) -> NodeRun:
        doing, session = self._doing, self._doing.session
        async with doing.scope.turn(doing.deadline, self._step):
            task = session.calling()
            began = session.now()
            session.tell(NodeRun(id=self._step, state=NodeState.IN_PROGRESS))
            try:
                return from_record(self._step, await do())
            except asyncio.CancelledError:
                if task is None or not session.cancelled:
                    raise
                task.uncancel()
                if self._is_marked:
                    return self._cut_off(began)
                took = round((session.now() - began) * 1000, 3)
                reason = "the run was cancelled"
                return cancelled(self._step, reason, started_at=began, duration_ms=took)
            finally:
                session.called(task)

    def _cut_off(self, began: float) -> NodeRun:
        unknown = NodeState.UNKNOWN
        return NodeRun(id=self._step, state=unknown, reason=_CUT_OFF, started_at=began)

    async def _recorded(self, key: str) -> Any:
        """What is recorded of some work: a failure is an outcome like any other."""
        try:
            return to_record(await self._work(key))
        except PegboardError as error:
            return to_record(failed(self._step, error))

    async def _asked(self, run: NodeRun, address: str) -> tuple[Signal, NodeRun | None]:
        """Ask a person; their answer, and how the step ended by it unless it is tried again."""
        session = self._doing.session
        is_unknown = run.state is NodeState.UNKNOWN
        kind: PendingKind = "unknown" if is_unknown else "approval"
        choices = _WHAT_HAPPENED if is_unknown else _MAY_IT
        pending = PendingStep(
            id=address,
            step=self._step,
            kind=kind,
            message=run.reason,
            until=session.until,
            choices=choices,
            approval_id=(run.error or {}).get("approval_id", ""),
        )
        signal = await self._doing.wait(pending, topic=f"answer:{address}")
        if signal is None:  # the run's time is up
            raise ToolTimeout(f"Nobody answered for '{self._step}'.")
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
                return signal, failed(self._step, refusal)
            case "cancel":
                session.cancel()
                return signal, run
            case _:
                return signal, None


def _final(run: NodeRun) -> NodeRun:
    """A call that waited for an approval when its graph ended was never made."""
    if run.state is NodeState.WAITING:
        return structs.replace(run, state=NodeState.CANCELLED, reason="the graph ended before")
    return run
