"""Control of runs: pause, resume and cancel."""

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
"""Seconds to wait for a run that only waited to be replayed; the longest that a caller waits."""
_AT_ONCE = 0.1
_FIRST_LOOK = 0.002
_LAST_LOOK = 0.1


class RunControl:
    """Sends control requests to runs, and waits briefly until they show in the stored state.

    A request makes the run replay from its start, during which it looks as if it were running; a
    caller that has paused a run expects to see it paused. A request that already holds does
    nothing.

    Args:
        registry: Its call environment emits events and gives the time.
        store: Stores runs and their signals.
        runner: Executes the runs.
    """

    def __init__(self, registry: ToolRegistry, store: RunStore, runner: GraphRunner) -> None:
        self._registry = registry
        self._store = store
        self._runner = runner

    async def pause(self, run: StoredRun, *, principal: Principal) -> None:
        """Start no new steps of a run; running steps finish, however long they take."""
        run_id = run.start.run_id
        if run.finished_at is not None:
            return
        if run.state is not NodeState.PAUSED or await self._last_request(run_id) != "pause":
            await self._runner.pause(run_id)
            self._announce(run, "paused", principal)
        # a run that was suspended before may have nothing to do; of another that is unknown
        await self._wait_until_suspended(run_id, within=_AT_ONCE if run.result is None else _SOON)

    async def resume(self, run: StoredRun, *, principal: Principal) -> None:
        """Resume a run, also one whose process died."""
        run_id, now = run.start.run_id, self._registry.environment.now()
        if run.finished_at is not None:
            return
        is_asleep = run.state is NodeState.WAITING and (run.wake_at is None or run.wake_at > now)
        if is_asleep and await self._last_request(run_id) != "pause":
            return
        await self._runner.resume(run_id)
        self._announce(run, "resumed", principal)
        if run.result is not None and any(item.step for item in run.result.pending):
            await self._wait_until_suspended(run_id)  # it still waits for the same

    async def cancel(self, run: StoredRun, *, principal: Principal) -> None:
        """Cancel a run and its running steps."""
        if run.finished_at is not None:
            return
        await self._runner.cancel(run.start.run_id)
        self._announce(run, "cancelled", principal)

    async def wait_until_ended(self, run_id: str) -> None:
        """Wait until a cancelled run has ended, or a short time has passed."""
        await self._wait_until_suspended(run_id, is_ended=True)

    async def _last_request(self, run_id: str) -> str:
        """The last control request of a run; empty for none."""
        known = await self._store.signals(run_id)
        requests = [item.signal.message for item in known if item.signal.topic == CONTROL]
        return str(requests[-1]) if requests else ""

    async def _wait_until_suspended(
        self, run_id: str, *, is_ended: bool = False, within: float = _SOON
    ) -> None:
        """Wait until a run is suspended or has ended, or the time is over."""
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
        kit = self._registry.environment
        kit.emitter.emit(control_event(run, action, principal=principal, at=kit.now()))


def _is_suspended(run: StoredRun) -> bool:
    return run.state not in RUNNING_STATES
