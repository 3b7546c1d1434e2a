"""`run_async`: `asyncio.run` for commands, which Ctrl-C always ends."""

import asyncio
import signal
import socket
from collections.abc import Coroutine, Generator
from contextlib import contextmanager
from threading import current_thread, main_thread
from typing import Any, TypeVar

T = TypeVar("T")


def run_async(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on a loop of its own, and return what it returns.

    `asyncio.run` alone can miss a signal: one that arrives just as the loop goes to sleep, or in
    another thread, is handled only when something else wakes the loop.
    """
    with asyncio.Runner() as runner, _woken_by_signals(runner.get_loop()):
        return runner.run(main)


@contextmanager
def _woken_by_signals(loop: asyncio.AbstractEventLoop) -> Generator[None]:
    """Let each signal that Python handles wake the loop."""
    if current_thread() is not main_thread():
        yield
        return
    woken, wakes = socket.socketpair()
    with woken, wakes:
        woken.setblocking(False)
        wakes.setblocking(False)
        loop.add_reader(woken, woken.recv, 4096)
        before = signal.set_wakeup_fd(wakes.fileno(), warn_on_full_buffer=False)
        try:
            yield
        finally:
            signal.set_wakeup_fd(before)
            loop.remove_reader(woken)
