"""Commands run on a loop that every signal wakes."""

import asyncio
import os
import signal
import threading
from collections.abc import Generator

import pytest

from pegboard.cli.run_async import run_async


@pytest.fixture
def signals_elsewhere() -> Generator[None]:
    """The system hands SIGINT to another thread: nothing interrupts the sleep of this one."""
    ended = threading.Event()

    def take_signals() -> None:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        ended.wait()

    other = threading.Thread(target=take_signals)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    other.start()
    yield
    signal.pthread_sigmask(signal.SIG_SETMASK, before)
    ended.set()
    other.join()


def test_it_returns_what_the_coroutine_returns() -> None:
    async def answer() -> int:
        await asyncio.sleep(0)
        return 42

    assert run_async(answer()) == 42


def test_an_interrupt_ends_it_while_its_loop_sleeps(signals_elsewhere: None) -> None:
    was_cancelled = False

    async def wait() -> None:
        nonlocal was_cancelled
        asyncio.get_running_loop().call_later(0.05, os.kill, os.getpid(), signal.SIGINT)
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            was_cancelled = True
            raise

    with pytest.raises(KeyboardInterrupt):
        run_async(wait())

    assert was_cancelled


def test_afterwards_signals_wake_what_they_woke_before() -> None:
    async def nothing() -> None: ...

    before = signal.set_wakeup_fd(-1)
    signal.set_wakeup_fd(before)
    run_async(nothing())

    assert signal.set_wakeup_fd(before) == before


def test_another_thread_has_no_signals_to_wait_for() -> None:
    found: list[int] = []

    async def answer() -> int:
        return 42

    thread = threading.Thread(target=lambda: found.append(run_async(answer())))
    thread.start()
    thread.join()

    assert found == [42]
