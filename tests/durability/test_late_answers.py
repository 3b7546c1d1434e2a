"""A store that answers late: what has happened to a lease by the time that its answer is here."""

import asyncio
from typing import Any

from tests.durability.made import Process, graph, node, until, waiting

from pegboard.core.graph import NodeState
from pegboard.core.ports.durability import Signal
from pegboard.core.ports.run_store import RUN_TAKEN_OVER, RunStore

OWNER: dict[str, Any] = {"owner": "us"}


class SlowStore:
    """A store that answers one call late.

    Attributes:
        gate: The call waits for it.
        is_done: Set once the call waits.
    """

    def __init__(self, store: RunStore) -> None:
        self._store = store
        self._held = ""
        self._calls_left = 0
        self._is_held_before = False
        self.gate = asyncio.Event()
        self.is_done = asyncio.Event()

    def hold(self, name: str, *, nth: int = 1, before: bool = False) -> None:
        """Hold the next call of a method, or the nth, after it has taken effect or before."""
        self._held, self._calls_left, self._is_held_before = name, nth, before

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._store, name)
        if name == self._held:
            self._calls_left -= 1
        if name != self._held or self._calls_left:
            return method

        async def call(*args: Any, **options: Any) -> Any:
            answer = None if self._is_held_before else await method(*args, **options)
            self.is_done.set()
            await self.gate.wait()
            return await method(*args, **options) if self._is_held_before else answer

        return call


async def test_a_lease_that_was_released_before_its_answer_came_is_acquired_again(
    store: RunStore,
) -> None:
    slow: Any = SlowStore(store)
    process = Process(slow, **OWNER)
    await process.runner.start(graph(waiting("w", question="?")), run_id="r")
    await process.runner.result("r")

    slow.hold("lease", nth=2)
    both = asyncio.gather(*(process.durability._take_up("r") for _ in range(2)))
    await slow.is_done.wait()
    await until(lambda: not process.durability._workers)
    slow.gate.set()
    await both
    result = await process.runner.result("r")
    kinds = [event.kind for event in await store.events("r")]
    await process.durability.close()

    assert RUN_TAKEN_OVER not in kinds
    assert result.state is NodeState.WAITING


async def test_a_lease_that_was_taken_before_its_answer_came_is_acquired_again(
    store: RunStore,
) -> None:
    slow: Any = SlowStore(store)
    process = Process(slow, **OWNER)
    process.durability._takes_others = True
    await process.runner.start(graph(waiting("w", question="?")), run_id="r")
    await process.runner.result("r")
    await store.signal("r", Signal(id="1", topic="unknown"))

    slow.hold("take")
    late = asyncio.create_task(process.durability._take_due_runs())
    await slow.is_done.wait()
    await process.durability.recover()
    await until(lambda: not process.durability._workers)
    slow.gate.set()
    await late
    result = await process.runner.result("r")
    await process.durability.close()

    assert result.state is NodeState.WAITING


async def test_a_run_that_is_suspended_while_its_lease_is_renewed_keeps_its_state(
    store: RunStore,
) -> None:
    slow: Any = SlowStore(store)
    process = Process(slow, **OWNER)
    held = node("a", "write", input={"step": "a", "held": True})
    await process.runner.start(graph(held, waiting("w", "a", question="?")), run_id="r")
    await process.held.wait()

    slow.hold("renew", before=True)
    renewal = asyncio.create_task(process.durability._renew())
    await slow.is_done.wait()
    process.gate.set()
    await until(lambda: not process.durability._workers)
    slow.gate.set()
    await renewal
    kept = await store.get("r")
    await process.durability.close()

    assert kept is not None
    assert (kept.state, kept.lease_owner) == (NodeState.WAITING, "")
