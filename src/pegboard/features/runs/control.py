"""What people want of runs that go on: pause them, let them go on, cancel them."""

import asyncio
from contextlib import suppress

from pegboard.core.graph import NodeState
from pegboard.core.ports.durability import CONTROL
from pegboard.core.ports.run_store import RunStore, StoredRun
from pegboard.core.principal import Principal
from pegboard.features.runs.audit_events import control_event
from pegboard.graphs import GraphRunner
from pegboard.registry import ToolRegistry

RUNNING_STATES = frozenset({NodeState.PENDING, NodeState.READY, NodeState.IN_PROGRESS})
_SOON = 1.0
"""Seconds within which a run that only waited is played again up to where it waits; a large one
needs them, and whoever steers it waits no longer."""
_AT_ONCE = 0.1
_FIRST_LOOK = 0.002
_LAST_LOOK = 0.1


class RunControl:
    """Passes on what people want of runs, and returns when that shows where it can be seen soon.

    Each wish has a run played again from its start, which makes it look as if it went on; whoever
    has paused a run is told that it is paused. A wish that has been granted already does nothing.

    Args:
        registry: Who is told, and what time it is.
        store: Where runs are kept.
        runner: Plays them.
    """

    def __init__(self, registry: ToolRegistry, store: RunStore, runner: GraphRunner) -> None:
        self._registry = registry
        self._store = store
        self._runner = runner

    async def pause(self, run: StoredRun, *, principal: Principal) -> None:
        """Start nothing new in a run; what is being done goes on to its end, however long."""
        run_id = run.start.run_id
        if run.finished_at is not None:
            return
        if run.state is not NodeState.PAUSED or await self._last_request(run_id) != "pause":
            await self._runner.pause(run_id)
            self._announce(run, "paused", principal)
        # one that has rested before may do nothing; of one that has not, nobody knows yet
        await self._wait_until_suspended(run_id, within=_AT_ONCE if run.result is None else _SOON)

    async def resume(self, run: StoredRun, *, principal: Principal) -> None:
        """Let a run go on, also one whose process died."""
        run_id, now = run.start.run_id, self._registry.kit.now()
        if run.finished_at is not None:
            return
        is_asleep = run.state is NodeState.WAITING and (run.wake_at is None or run.wake_at > now)
        if is_asleep and await self._last_request(run_id) != "pause":
            return
        await self._runner.resume(run_id)
        self._announce(run, "resumed", principal)
        if run.result is not None and any(item.step for item in run.result.pending):
            await self._wait_until_suspended(run_id)  # it waits for that still

    async def cancel(self, run: StoredRun, *, principal: Principal) -> None:
        """Start nothing new in a run, and cancel what is being done."""
        if run.finished_at is not None:
            return
        await self._runner.cancel(run.start.run_id)
        self._announce(run, "cancelled", principal)

    async def wait_until_ended(self, run_id: str) -> None:
        """Return once a run that was cancelled has ended, or when what it does takes too long."""
        await self._wait_until_suspended(run_id, is_ended=True)

    async def _last_request(self, run_id: str) -> str:
        """What was wanted last of a run; empty for nothing."""
        known = await self._store.signals(run_id)
        wishes = [item.signal.message for item in known if item.signal.topic == CONTROL]
        return str(wishes[-1]) if wishes else ""

    async def _wait_until_suspended(
        self, run_id: str, *, is_ended: bool = False, within: float = _SOON
    ) -> None:
        """Return once a run rests or has ended, or when that takes too long."""
        pause = _FIRST_LOOK
        with suppress(TimeoutError):
            async with asyncio.timeout(within):
                while (run := await self._store.get(run_id)) is not None:
                    is_there = run.finished_at is not None if is_ended else _is_suspended(run)
                    if is_there:
                        return
                    await asyncio.sleep(pause)
                    pause = min(2 * pause, _LAST_LOOK)

    def _announce(self, run: StoredRun, action: str, principal: Principal) -> None:
        kit = self._registry.kit
        kit.emitter.emit(control_event(run, action, principal=principal, at=kit.now()))


def _is_suspended(run: StoredRun) -> bool:
    return run.state not in RUNNING_STATES
