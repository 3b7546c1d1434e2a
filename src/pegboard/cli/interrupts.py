"""Ctrl-C while an answer is in progress: the first one stops the answer, the second one leaves."""

import asyncio
import signal
from collections.abc import Awaitable, Callable, Coroutine
from types import TracebackType
from typing import Any, Self, TypeVar

from pegboard.cli.output.tables import note
from pegboard.errors import PegboardError

T = TypeVar("T")


class AnswerInterrupts:
    """Handles Ctrl-C in its block, which may only be used in the main thread.

    ```python
    async with AnswerInterrupts(stop) as interrupts:
        await follow_the_answer()
    if interrupts.has_left:
        ...
    ```

    Args:
        stop: Stops the answer, after which the block is expected to end by itself.

    Attributes:
        is_pressed: Whether Ctrl-C was pressed.
        has_left: Whether it was pressed again, which cancelled the block.
    """

    def __init__(self, stop: Callable[[], Awaitable[None]]) -> None:
        self.is_pressed = self.has_left = False
        self._stop = stop
        self._task: asyncio.Task[Any] | None = None
        self._stopping: asyncio.Task[None] | None = None
        self._prompting: asyncio.Task[Any] | None = None
        self._before: tuple[Any, int] | None = None

    async def __aenter__(self) -> Self:
        """Handle Ctrl-C from here on."""
        self._task = asyncio.current_task()
        self._before = signal.getsignal(signal.SIGINT), signal.set_wakeup_fd(-1)
        asyncio.get_running_loop().add_signal_handler(signal.SIGINT, self._press)
        return self

    async def __aexit__(
        self,
        _: type[BaseException] | None,
        error: BaseException | None,
        _trace: TracebackType | None,
    ) -> bool:
        """Handle it as before; the cancellation by the second Ctrl-C ends here."""
        try:
            if self._stopping is not None and error is None:
                await self._stopping
        except asyncio.CancelledError as left:
            error = left
            if not self.has_left:
                raise
        finally:
            if self._stopping is not None:
                self._stopping.cancel()
            asyncio.get_running_loop().remove_signal_handler(signal.SIGINT)
            if self._before is not None:
                signal.signal(signal.SIGINT, self._before[0])
                signal.set_wakeup_fd(self._before[1])
        if self.has_left and self._task is not None and isinstance(error, asyncio.CancelledError):
            return self._task.uncancel() == 0
        return False

    async def ask(self, prompt: Coroutine[Any, Any, T]) -> T | None:
        """The answer to a prompt; None where Ctrl-C was pressed before there is one."""
        if self.is_pressed:
            prompt.close()
            return None
        prompting = self._prompting = asyncio.create_task(prompt)
        try:
            await asyncio.wait([prompting])
        finally:
            prompting.cancel()
            self._prompting = None
        return None if prompting.cancelled() else prompting.result()

    def _press(self) -> None:
        if not self.is_pressed:
            self.is_pressed = True
            note("\nStopping the answer. Press Ctrl-C again to leave at once.")
            if self._prompting is not None:
                self._prompting.cancel()
            self._stopping = asyncio.create_task(self._stop_or_note())
        elif self._task is not None and not self.has_left:
            self.has_left = True
            self._task.cancel()

    async def _stop_or_note(self) -> None:
        try:
            await self._stop()
        except PegboardError as error:
            note(f"The answer could not be stopped: {error}")


async def ask_or_leave(prompt: Coroutine[Any, Any, T]) -> T | None:
    """The answer to a prompt outside any answer; None where Ctrl-C was pressed before there is one.

    It may only be used in the main thread.
    """
    prompting = asyncio.create_task(prompt)
    before = signal.getsignal(signal.SIGINT), signal.set_wakeup_fd(-1)
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, prompting.cancel)
    try:
        await asyncio.wait([prompting])
    finally:
        prompting.cancel()
        loop.remove_signal_handler(signal.SIGINT)
        signal.signal(signal.SIGINT, before[0])
        signal.set_wakeup_fd(before[1])
    return None if prompting.cancelled() else prompting.result()
