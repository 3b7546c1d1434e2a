"""One run of Monty: the code runs in a thread, its function calls on the event loop."""

import asyncio
import functools
import inspect
import json
import os
import signal
import time
from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from pegboard.core.ports.sandbox import CodeJob, CodeOutcome
from pegboard.errors import PegboardError, Unavailable
from pegboard.sandbox.json_values import json_value

_SLEEPS = ("time.sleep", "asyncio.sleep")
_PLACE = 'File "<python-input-0>", '
MAX_SUSPENSIONS = 1000
_MAX_ERROR = 4000
_MAX_ARGUMENT_BYTES = 4_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class _End:
    """How the code ended."""

    value: Any = None
    error: str = ""
    stopped: str = ""


class MontySession:
    """A worker of its own for one job.

    Args:
        threads: Where to wait for a free worker, and where to wait for its turns.
    """

    def __init__(self, job: CodeJob, pool: Any, *, threads: tuple[Executor, Executor]) -> None:
        self._job = job
        self._pool = pool
        self._checkouts, self._turns = threads
        self._printed: list[str] = []
        self._kept_bytes = self._printed_bytes = 0
        self._placeholders = {name: _placeholder(name) for name in job.functions}

    async def outcome(self, began: float) -> CodeOutcome:
        """Run the job to its end; its worker is gone when this returns or raises."""
        end = _End(stopped="timeout")
        left = began + self._job.limits.timeout - time.monotonic()
        scope = asyncio.timeout(left)
        try:
            async with scope:
                end = await self._run_in_worker()
        except TimeoutError:
            if not scope.expired():
                raise
        return CodeOutcome(
            value=end.value,
            printed="".join(self._printed),
            printed_bytes=self._printed_bytes,
            error=end.error,
            stopped=end.stopped,
            duration=time.monotonic() - began,
        )

    async def _run_in_worker(self) -> _End:
        limits = self._job.limits
        session = self._pool.checkout(
            limits={
                "max_memory": limits.memory_bytes,
                "max_feed_duration_secs": limits.cpu_seconds or limits.timeout,
                "max_suspensions": MAX_SUSPENSIONS,
            },
            os_policy={"sleep": "call_host"},
        )
        from pydantic_monty import MontyError

        loop = asyncio.get_running_loop()
        leave = functools.partial(session.__exit__, None, None, None)
        entering = loop.run_in_executor(self._checkouts, session.__enter__)
        try:
            await asyncio.shield(entering)
        except asyncio.CancelledError:
            entering.add_done_callback(lambda done: done.exception() or leave())
            raise
        except (MontyError, OSError, RuntimeError) as error:
            raise Unavailable("No interpreter could be started.", nothing_done=True) from error
        kill = _killer(session.worker_pid)
        try:
            return await self._run_code(session)
        finally:
            kill()
            await asyncio.shield(loop.run_in_executor(self._turns, leave))

    async def _run_code(self, session: Any) -> _End:
        from pydantic_monty import MontyCrashedError, MontyError

        step = functools.partial(
            session.feed_start,
            self._job.code,
            inputs=dict(self._job.inputs),
            print_callback=self._print,
        )
        loop = asyncio.get_running_loop()
        try:
            while True:
                turn = await loop.run_in_executor(self._turns, self._turn, step)
                if isinstance(turn, _End):
                    return turn
                step = await self._answer(turn)
        except MontyCrashedError:
            return _End(error="MemoryError: the interpreter ran out of memory, or failed")
        except MontyError as error:
            return _error_end(error)

    def _turn(self, step: Callable[[], Any]) -> Any:
        """Run the code until it calls something or ends; in a thread."""
        from pydantic_monty import MontyComplete

        snapshot = step()
        if not isinstance(snapshot, MontyComplete):
            return snapshot
        most = self._job.limits.output_bytes
        try:
            value, problem = json_value(snapshot.output, most=most)
        except ValueError as error:  # a whole number of too many digits
            value, problem = None, f"result: {error}"
        if not problem and len(json.dumps(value)) > most:
            value, problem = None, f"result: more than {most} bytes of JSON"
        return _End(value=value, error=f"ValueError: {problem}" if problem else "")

    async def _answer(self, snapshot: Any) -> Callable[[], Any]:
        """Answer a call of the code; returns the step that continues with the answer."""
        from pydantic_monty import NameLookupSnapshot

        if isinstance(snapshot, NameLookupSnapshot):
            placeholder = self._placeholders.get(snapshot.variable_name)
            if placeholder is None:
                return snapshot.resume
            return functools.partial(snapshot.resume, value=placeholder)
        if not snapshot.is_os_function:
            answer = await self._call_function(
                snapshot.function_name, snapshot.args, snapshot.kwargs
            )
            return functools.partial(snapshot.resume, answer)
        if snapshot.function_name not in _SLEEPS:
            return snapshot.resume_not_handled
        await asyncio.sleep(min(max(0.0, snapshot.args[0]), self._job.limits.timeout))
        return functools.partial(snapshot.resume, {"return_value": None})

    async def _call_function(
        self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> dict[str, Any]:
        function = self._job.functions.get(name)
        if function is None:
            return {"exc_type": "NameError", "message": f"name '{name}' is not defined"}
        convert = functools.partial(
            json_value, [list(args), kwargs], most=_MAX_ARGUMENT_BYTES, name="arguments"
        )
        given, problem = await asyncio.get_running_loop().run_in_executor(self._turns, convert)
        if problem:
            return {"exc_type": "TypeError", "message": f"{name}(): {problem}"}
        args, kwargs = given
        try:
            inspect.signature(function).bind(*args, **kwargs)
        except TypeError as error:
            return {"exc_type": "TypeError", "message": f"{name}(): {error}"}
        try:
            return {"return_value": await function(*args, **kwargs)}
        except PegboardError as error:
            return {"exc_type": "RuntimeError", "message": str(error)}

    def _print(self, _stream: str, text: str) -> None:
        self._printed_bytes += len(text.encode("utf-8", "replace"))
        room = self._job.limits.output_bytes - self._kept_bytes
        if room > 0:
            self._printed.append(text[:room])
            self._kept_bytes += len(text)


def _error_end(error: Any) -> _End:
    """The exception with its line, for the author of the code."""
    inner = str(error.exception())
    if "memory limit" in inner:
        return _End(stopped="memory")
    if inner.startswith("feed time limit exceeded"):
        return _End(stopped="cpu")
    text = error.display() if hasattr(error, "display") else f"TypeError: {error}"
    text = text.replace(_PLACE, "").removeprefix("Traceback (most recent call last):\n")
    return _End(error=text if len(text) <= _MAX_ERROR else f"...{text[-_MAX_ERROR:]}")


def _placeholder(name: str) -> Callable[..., None]:
    """The value of a function's name in the code; Monty reports calls by that name."""

    def placeholder() -> None: ...

    placeholder.__name__ = name
    return placeholder


def _killer(pid: int) -> Callable[[], None]:
    """A function that kills this process, and no later one with the same id."""
    if not hasattr(os, "pidfd_open"):
        return functools.partial(_kill_by_number, pid)
    descriptor = os.pidfd_open(pid)

    def kill() -> None:
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(descriptor, signal.SIGKILL)
        os.close(descriptor)

    return kill


def _kill_by_number(pid: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
