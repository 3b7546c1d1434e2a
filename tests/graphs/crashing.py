"""A process that dies at a chosen await: from then on nothing of it runs, not even a `finally`."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from tests.execution.made import _Selector
from tests.graphs.made import Bench, World

from pegboard.core.graph import Graph, NodeState
from pegboard.core.run import PendingStep, RunResult
from pegboard.durability import MemoryJournal
from pegboard.execution.steps.deadline import DeadlineTimer
from pegboard.testing import FakeClock

_DEAD: list[Any] = []  # what a dead process had is kept, so that nothing of it is ever cleaned up


async def _yields() -> None:
    await asyncio.sleep(0)


def slow_journal() -> MemoryJournal:
    """A journal that makes its writers wait, before and after each write."""
    return MemoryJournal(pause=_yields)


class MortalLoop(asyncio.SelectorEventLoop):
    """An event loop that dies before its nth callback; every step of a task is one."""

    def __init__(self, clock: FakeClock, *, dies_at: int) -> None:
        super().__init__(_Selector(clock))
        self.clock = clock
        self.steps = 0
        self.is_dead = False
        self._dies_at = dies_at

    def dies_after(self, steps: int) -> None:
        self._dies_at = self.steps + steps + 1

    def time(self) -> float:
        return self.clock.monotonic()

    def call_soon(self, callback: Any, *args: Any, context: Any = None) -> Any:
        return super().call_soon(self._counted, callback, args, context=context)

    def _counted(self, callback: Any, args: tuple[Any, ...]) -> None:
        if self.is_dead:
            return
        self.steps += 1
        if self.steps == self._dies_at:
            self.is_dead = True
            self.stop()
            return
        callback(*args)


class Life:
    """One life of a process: what it did before it died, or to its end.

    Attributes:
        steps: How many there were.
        result: Of the run; None when it died before.
    """

    def __init__(
        self,
        live: Callable[[Bench], Coroutine[Any, Any, RunResult]],
        *,
        clock: FakeClock,
        world: World,
        journal: MemoryJournal,
        dies_at: int = 0,
    ) -> None:
        self.result: RunResult | None = None
        loop = MortalLoop(clock, dies_at=dies_at)
        loop._pegboard_deadline_timer = DeadlineTimer(loop, monotonic=clock.monotonic)  # type: ignore[attr-defined]  # as the kernel keeps it

        async def main() -> None:
            bench = Bench(clock, world, journal=journal)
            self.result = await live(bench)
            await bench.durability.close()

        task = loop.create_task(main())
        task.add_done_callback(lambda _: loop.stop())
        loop.run_forever()
        self.steps = loop.steps
        self.has_died = loop.is_dead
        if loop.is_dead:
            _DEAD.extend(asyncio.all_tasks(loop))
            world.running = 0
        else:
            task.result()
        loop.close()


async def driven(bench: Bench, graph: Graph, *, run_id: str = "r") -> RunResult:
    """Run it, or go on with it, and answer everything that it asks as the world says."""
    await bench.runner.start(graph, run_id=run_id)
    await bench.runner.recover()
    while True:
        result = await bench.runner.result(run_id)
        if result.state.is_final:
            return result
        if result.state is NodeState.PAUSED:
            await bench.runner.resume(run_id)
            continue
        for pending in result.pending:
            await _answer(bench, run_id, pending)


async def _answer(bench: Bench, run_id: str, pending: PendingStep) -> None:
    match pending.kind:
        case "unknown":
            done = [dict(arguments) for _, arguments, _ in bench.world.ended]
            mine = [arguments for arguments in done if arguments.get("step") == pending.step]
            answer = {"answer": "happened", "output": mine[0]} if mine else "did_not_happen"
            await bench.runner.answer(run_id, pending.id, answer)
        case "person":
            await bench.runner.answer(run_id, pending.id, {"ok": True})
        case "event":
            await bench.runner.send(run_id, pending.event, {"n": 1}, id=f"event of {pending.id}")
        case "time" | "approval":
            await asyncio.sleep(0.5)
