"""A run that kills its process each time is paused, and nobody else is."""

import logging

import pytest
from tests.durability.made import Process, graph, node

from pegboard.core.graph import NodeState
from pegboard.core.ports.durability import CONTROL
from pegboard.core.ports.run_store import RunStore, StoredStep
from pegboard.durability.scheduling import CrashCounter

HELD = graph(node("a", "write", input={"held": True}))


async def killed(store: RunStore, *, owner: str = "us", deaths: int = 3) -> None:
    """A process that takes up what there is, and dies of it."""
    process = Process(store, owner=owner, max_crashes=deaths)
    await process.durability.follow()
    await process.crash()


async def test_a_run_of_which_processes_die_is_paused_and_goes_on_when_it_is_resumed(
    store: RunStore, caplog: pytest.LogCaptureFixture
) -> None:
    first = Process(store, owner="us", max_crashes=3)
    repeatable = graph(node("a", input={"held": True, "step": "a"}))
    await first.runner.start(repeatable, run_id="r")
    await first.began.wait()
    await first.crash()
    await killed(store)
    await killed(store)
    async with (last := Process(store, owner="us", max_crashes=3)).durability:
        with caplog.at_level(logging.ERROR, logger="pegboard.durability"):
            await last.durability.follow()
            paused = await last.runner.result("r")
        last.gate.set()
        await last.runner.resume("r")
        done = await last.runner.result("r")

    assert paused.state is NodeState.PAUSED
    assert "3 processes in a row crashed" in caplog.text
    assert (done.state, last.did) == (NodeState.COMPLETED, ["a"])


async def test_a_run_that_gets_on_is_not_paused(store: RunStore) -> None:
    first = Process(store, owner="us", max_crashes=2)
    await first.runner.start(HELD, run_id="r")
    await first.began.wait()
    await first.crash()
    for number in range(4):
        done = StoredStep(path=f"a/{number}", started_at=1.0, finished_at=2.0, value=1)
        await store.record("r", done, "us")
        await killed(store, deaths=2)
    signals = await store.signals("r")

    assert [item for item in signals if item.signal.topic == CONTROL] == []


async def test_a_process_that_closes_has_not_died(store: RunStore) -> None:
    first = Process(store, owner="us", max_crashes=1)
    await first.runner.start(HELD, run_id="r")
    await first.began.wait()
    await first.durability.close()
    run = await store.get("r")
    leased = await store.lease("r", "us")

    assert run is not None
    assert leased is not None
    assert not leased.was_left
    assert await store.signals("r") == []


async def test_who_takes_a_run_from_one_that_is_lost_counts_it_once(store: RunStore) -> None:
    first = Process(store, owner="us", max_crashes=9)
    await first.runner.start(HELD, run_id="r")
    await first.began.wait()
    await first.crash()
    crashes = CrashCounter(store, "us", most=9, now=lambda: 0.0)
    run = await store.lease("r", "us")
    assert run is not None

    await crashes.check(run)
    await crashes.check(run)
    once = {step.path: step.value for step in await store.steps("r")}["~deaths"]
    crashes.leave("r")
    await crashes.check(run)
    twice = {step.path: step.value for step in await store.steps("r")}["~deaths"]

    assert (run.was_left, once, twice) == (
        True,
        {"deaths": 1, "done": 0},
        {"deaths": 2, "done": 0},
    )
