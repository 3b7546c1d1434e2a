"""The pool: bounded, never blocked by what hangs, never in the way of the process's end."""

import asyncio
import contextlib
import contextvars
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from pegboard.concurrency.thread_pool import POOL, ThreadPool
from pegboard.errors import Overloaded

NAME: contextvars.ContextVar[str] = contextvars.ContextVar("NAME", default="nobody")


@pytest.fixture
def gate() -> Iterator[threading.Event]:
    """What hangs, hangs on this; opened at the end, so that no thread is left behind."""
    event = threading.Event()
    yield event
    event.set()


async def _until(condition: Callable[[], bool]) -> None:
    while not condition():  # noqa: ASYNC110 - threads set no asyncio event
        await asyncio.sleep(0.005)


async def _given_up(pool: ThreadPool, call: Callable[[], Any]) -> None:
    """Start a call, wait until it runs, and cancel it."""
    running = threading.Event()

    def work() -> None:
        running.set()
        call()

    task = asyncio.create_task(pool.run(work, owner=""))
    await _until(running.is_set)
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task


async def test_a_call_gives_its_value() -> None:
    assert await ThreadPool().run(lambda: 5, owner="") == 5


async def test_a_call_runs_in_a_daemon_thread_of_the_pool() -> None:
    thread = await ThreadPool().run(threading.current_thread, owner="")

    assert (thread.name, thread.daemon) == ("pegboard-tool", True)


async def test_idle_threads_are_used_again() -> None:
    pool = ThreadPool(size=4)

    threads = {await pool.run(threading.get_ident, owner="") for _ in range(10)}

    assert len(threads) == 1


async def test_context_variables_are_kept_and_changes_stay_inside() -> None:
    def change() -> str:
        before = NAME.get()
        NAME.set("somebody else")
        return before

    NAME.set("me")

    assert await ThreadPool().run(change, owner="") == "me"
    assert NAME.get() == "me"


async def test_no_more_calls_run_at_once_than_the_pool_is_large(gate: threading.Event) -> None:
    pool, lock, now, most = ThreadPool(size=3), threading.Lock(), [0], [0]

    def work() -> None:
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        gate.wait()
        with lock:
            now[0] -= 1

    tasks = [asyncio.create_task(pool.run(work, owner="")) for _ in range(10)]
    await _until(lambda: now[0] == 3)
    await asyncio.sleep(0.05)
    gate.set()
    await asyncio.wait(tasks)

    assert most == [3]


async def test_a_call_that_was_given_up_is_replaced(gate: threading.Event) -> None:
    pool = ThreadPool(size=1)

    await _given_up(pool, gate.wait)

    assert pool.abandoned == 1
    assert await pool.run(lambda: "still here", owner="") == "still here"


async def test_a_call_that_waits_for_a_hanging_one_starts_when_that_is_given_up(
    gate: threading.Event,
) -> None:
    pool = ThreadPool(size=1)
    hanging = asyncio.create_task(pool.run(gate.wait, owner=""))
    waiting = asyncio.create_task(pool.run(lambda: "started", owner=""))
    await _until(lambda: pool._idle == 0)

    hanging.cancel()

    assert await waiting == "started"


async def test_beyond_the_cap_calls_are_refused_until_threads_come_back(
    gate: threading.Event,
) -> None:
    pool = ThreadPool(size=1, most_abandoned=2)
    for _ in range(2):
        await _given_up(pool, gate.wait)

    with pytest.raises(Overloaded, match="2 threads hang in calls that were given up") as caught:
        await pool.run(lambda: 1, owner="")
    assert caught.value.retry_after == 1.0

    gate.set()
    await _until(lambda: pool.abandoned == 0)
    assert await pool.run(lambda: "again", owner="") == "again"


async def test_after_hanging_calls_the_pool_is_as_large_as_before(gate: threading.Event) -> None:
    pool = ThreadPool(size=2)
    for _ in range(5):
        await _given_up(pool, gate.wait)
    await pool.run(lambda: None, owner="")

    gate.set()
    await _until(lambda: pool.abandoned == 0)

    assert pool._threads <= 2
    assert await pool.run(lambda: "fine", owner="") == "fine"


async def test_a_call_that_is_given_up_before_it_began_never_runs(gate: threading.Event) -> None:
    pool, ran = ThreadPool(size=1), list[int]()
    hanging = asyncio.create_task(pool.run(gate.wait, owner=""))
    await _until(lambda: pool._idle == 0 and pool._threads == 1)
    waiting = asyncio.create_task(pool.run(lambda: ran.append(1), owner=""))
    await asyncio.sleep(0)

    waiting.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await waiting
    gate.set()
    await hanging

    assert await pool.run(lambda: "next", owner="") == "next"
    assert ran == []
    assert pool.abandoned == 0


@pytest.mark.parametrize("error", [ValueError("no"), KeyError("no"), OSError("no")], ids=repr)
async def test_an_exception_is_delivered_as_it_is(error: Exception) -> None:
    def fail() -> None:
        raise error

    with pytest.raises(type(error)) as caught:
        await ThreadPool().run(fail, owner="")

    assert caught.value is error


@pytest.mark.parametrize(
    "error",
    [
        StopIteration(),
        SystemExit(3),
        KeyboardInterrupt(),
        GeneratorExit(),
        asyncio.CancelledError(),
    ],
    ids=repr,
)
async def test_what_would_end_more_than_the_call_is_delivered_as_a_failure(
    error: BaseException,
) -> None:
    pool = ThreadPool(size=1)

    def fail() -> None:
        raise error

    with pytest.raises(RuntimeError, match=f"the tool raised {type(error).__name__}") as caught:
        await pool.run(fail, owner="")

    assert caught.value.__cause__ is error
    assert await pool.run(lambda: "the thread is alive", owner="") == "the thread is alive"


def test_several_loops_use_one_pool_at_once() -> None:
    pool, results = ThreadPool(size=2), list[int]()

    async def many(base: int) -> list[int]:
        tasks = [asyncio.create_task(pool.run(lambda n=n: base + n, owner="")) for n in range(20)]
        return [await task for task in tasks]

    threads = [
        threading.Thread(target=lambda base=base: results.extend(asyncio.run(many(base))))
        for base in (0, 100, 200)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(results) == [base + n for base in (0, 100, 200) for n in range(20)]


def test_a_result_for_a_loop_that_is_gone_is_dropped(gate: threading.Event) -> None:
    pool = ThreadPool(size=1)

    async def leave() -> None:
        asyncio.get_running_loop().create_task(pool.run(gate.wait, owner=""))
        await _until(lambda: pool._idle == 0 and pool._threads == 1)

    loop = asyncio.new_event_loop()
    loop.run_until_complete(leave())
    task = next(iter(asyncio.all_tasks(loop)))
    loop.close()
    gate.set()

    assert asyncio.run(pool.run(lambda: "on another loop", owner="")) == "on another loop"
    task._log_destroy_pending = False  # type: ignore[attr-defined]  # it is meant to be left behind
    task.get_coro().close()


@pytest.mark.slow
async def test_a_finished_call_is_not_kept_alive() -> None:
    import gc
    import weakref

    class Big: ...

    pool = ThreadPool(size=1)
    big = Big()
    seen = weakref.ref(big)

    await pool.run(lambda kept=big: None, owner="")
    del big
    await pool.run(lambda: None, owner="")
    gc.collect()

    assert seen() is None


async def test_a_machine_without_threads_is_overloaded_and_recovers() -> None:
    pool = ThreadPool(size=2)
    before = threading.stack_size(1 << 46)  # more than there is to give
    try:
        with pytest.raises(Overloaded, match="starts no more threads"):
            await pool.run(lambda: 1, owner="")
    finally:
        threading.stack_size(before)

    assert await pool.run(lambda: "now", owner="") == "now"


async def test_a_call_waits_for_the_threads_there_are_when_no_more_start(
    gate: threading.Event,
) -> None:
    pool = ThreadPool(size=2)
    hanging = asyncio.create_task(pool.run(gate.wait, owner=""))
    await _until(lambda: pool._threads == 1 and pool._idle == 0)
    before = threading.stack_size(1 << 46)
    try:
        waiting = asyncio.create_task(pool.run(lambda: "in the end", owner=""))
        await asyncio.sleep(0)
        hanging.cancel()
        await asyncio.sleep(0)
    finally:
        threading.stack_size(before)
    gate.set()

    assert await waiting == "in the end"


@pytest.mark.slow
@pytest.mark.timeout(60)
def test_the_process_ends_while_a_call_hangs() -> None:
    code = (
        "import asyncio, time\n"
        "from pegboard.concurrency.thread_pool import POOL\n"
        "async def main():\n"
        "    try:\n"
        "        await asyncio.wait_for(POOL.run(lambda: time.sleep(600), owner=''), 0.1)\n"
        "    except TimeoutError:\n"
        "        print('given up')\n"
        "asyncio.run(main())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=50
    )

    assert (done.stdout.strip(), done.stderr) == ("given up", "")


@pytest.mark.slow
@pytest.mark.timeout(60)
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_process_starts_with_threads_of_its_own() -> None:
    code = (
        "import asyncio, os, sys\n"
        "from pegboard.concurrency.thread_pool import POOL\n"
        "assert asyncio.run(POOL.run(lambda: 1, owner='')) == 1\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    seven = POOL.run(lambda: 7, owner='')\n"
        "    os._exit(0 if asyncio.run(asyncio.wait_for(seven, 40)) == 7 else 1)\n"
        "sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )

    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=50).returncode == 0


def test_the_shared_pool_is_bounded_by_the_machine() -> None:
    assert 1 <= POOL.size <= 32
