"""Child processes that leave nothing behind.

A child leads a process group of its own, which is killed as a whole: when the child is over, when
its time is up, and when its caller is cancelled, also while the child starts. A child with a mark
is killed with the processes that have left its group; a child with a watchdog dies when this
process does.
"""

import asyncio
import contextlib
import os
import signal
from asyncio.subprocess import DEVNULL, PIPE, SubprocessStreamProtocol
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Self, cast

from pegboard.concurrency.process_tree import VARIABLE, ProcessTree, append_mark, new_mark
from pegboard.concurrency.start_or_undo import start_or_undo

_CHUNK = 64 * 1024
_CHECK_SECONDS = 0.25
_SETTLE_SECONDS = 30.0
"""How long a child may take to end itself, on a machine that stalls for a while as well."""

_WATCHDOG = """
read -r _ && exit
kill -s KILL -- "-$1"
test -n "$2" || exit
for round in 1 2; do
    for variables in /proc/[0-9]*/environ; do
        if grep -qs "$2" "$variables"; then
            process=${variables#/proc/}
            kill -s KILL "${process%/environ}"
        fi
    done
done
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessSpec:
    """A program to start, and what ends it.

    Attributes:
        arguments: The program and its arguments.
        environment: All variables of the child.
        directory: Where it starts; None means the directory of this process.
        pass_fds: Descriptors that it inherits.
        lifeline: The writing end of a pipe whose other end the child watches: it ends itself and
            everything it started when this is closed. The child owns it from the start on.
        has_mark: Whether its environment carries a mark, by which a process that has left the
            group is found and killed.
        has_watchdog: Whether a `sh` beside it kills the group, and what has the mark, when this
            process dies.
    """

    arguments: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    directory: Path | None = None
    pass_fds: tuple[int, ...] = ()
    lifeline: int | None = None
    has_mark: bool = False
    has_watchdog: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessResult:
    """How a process ended.

    Attributes:
        returncode: As of `subprocess`: negative for a signal.
        stopped: Why it was killed: `timeout`, `output`, or what the check said; empty when it
            ended by itself.
        stdout_bytes: How much it wrote, before the cut.
    """

    returncode: int
    stopped: str
    stdout: bytes
    stderr: bytes
    stdout_bytes: int
    stderr_bytes: int
    duration: float

    @property
    def exit_code(self) -> int:
        """As a shell reports it: `128 + signal` for a signal."""
        return self.returncode if self.returncode >= 0 else 128 - self.returncode


class _Protocol(SubprocessStreamProtocol):
    """Reports the exit of the child at once; `Process.wait` waits for its pipes too."""

    def __init__(self) -> None:
        super().__init__(limit=_CHUNK, loop=asyncio.get_running_loop())
        self.has_exited = asyncio.Event()

    def process_exited(self) -> None:
        super().process_exited()
        self.has_exited.set()


class ChildProcess:
    """A running child process, with pipes to its standard streams. `start` makes one.

    ```python
    child = await ChildProcess.start(ProcessSpec(arguments=("cat",)))
    try:
        child.stdin.write(b"hello")
        child.stdin.close()
        assert await child.stdout.read() == b"hello"
    finally:
        await child.end()
        await child.close()
    ```
    """

    def __init__(
        self,
        transport: asyncio.SubprocessTransport,
        protocol: _Protocol,
        *,
        mark: str,
        lifeline: int | None,
    ) -> None:
        self._transport = transport
        self._protocol = protocol
        self._lifeline = lifeline
        self._watchdog: ChildProcess | None = None
        self.pid = transport.get_pid()
        self._tree = ProcessTree(self.pid, mark)
        self._is_swept = not mark
        self.stdin = cast("asyncio.StreamWriter", protocol.stdin)
        self.stdout = cast("asyncio.StreamReader", protocol.stdout)
        self.stderr = cast("asyncio.StreamReader", protocol.stderr)

    @classmethod
    async def start(cls, spec: ProcessSpec, *, output: int = PIPE) -> Self:
        """Start a program; a caller that is cancelled meanwhile leaves nothing of it.

        Args:
            spec: What to start.
            output: Where stdout and stderr go.

        Raises:
            OSError: The system cannot start it.
            ValueError: An argument or a variable has a zero byte.
        """
        return await start_or_undo(cls._start(spec, output), undo=cls._discard)

    @classmethod
    async def _start(cls, spec: ProcessSpec, output: int) -> Self:
        mark = new_mark() if spec.has_mark else ""
        marked = {VARIABLE: append_mark(mark)} if mark else {}
        try:
            transport, protocol = await asyncio.get_running_loop().subprocess_exec(
                _Protocol,
                *spec.arguments,
                stdin=PIPE,
                stdout=output,
                stderr=output,
                env={**spec.environment, **marked},
                cwd=spec.directory,
                pass_fds=spec.pass_fds,
                start_new_session=True,
            )
        except BaseException:
            if spec.lifeline is not None:
                os.close(spec.lifeline)
            raise
        child = cls(transport, protocol, mark=mark, lifeline=spec.lifeline)
        if spec.has_watchdog:
            try:
                child._watchdog = await ChildProcess._start(_watchdog(child.pid, mark), DEVNULL)
            except BaseException:
                await child._discard()
                raise
        return child

    @property
    def returncode(self) -> int | None:
        """As of `subprocess`; None while it runs."""
        return self._transport.get_returncode()

    async def wait(self, timeout: float | None = None) -> bool:  # noqa: ASYNC109 - whether it exits is the answer
        """Whether it exits within so many seconds; its pipes may still be open then."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(timeout):
                await self._protocol.has_exited.wait()
        return self._protocol.has_exited.is_set()

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to its whole group."""
        if self.returncode is not None and self._tree.is_replaced():
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)

    async def refresh_tree(self) -> None:
        """Remember what it has started by now: when it has exited, only the mark is left."""
        if not self._is_swept:
            await _in_thread_or_inline(self._tree.refresh)

    def kill(self) -> None:
        """Kill its group, and what has left the group; for one with a lifeline see `end`."""
        self.signal(signal.SIGKILL)
        if not self._is_swept:
            self._tree.kill()

    async def end(self) -> None:
        """Kill everything that is left of it, and wait for its exit."""
        if self._lifeline is not None:
            os.close(self._lifeline)
            self._lifeline = None
            if await self.wait(_SETTLE_SECONDS):
                return
        try:
            self.signal(signal.SIGKILL)
            if not self._is_swept:
                await _in_thread_or_inline(self._tree.kill)
                self._is_swept = True
        finally:
            self.kill()
        await self.wait(_SETTLE_SECONDS)

    async def close(self) -> None:
        """Dismiss the watchdog and close the pipes."""
        watchdog, self._watchdog = self._watchdog, None
        try:
            if watchdog is not None:
                with contextlib.suppress(OSError):
                    watchdog.stdin.write(b"done\n")
                    watchdog.stdin.close()
                await watchdog.wait()
                await watchdog.close()
        finally:
            # a process that has left the group may hold the other end of a pipe for ever
            self._transport.close()

    async def _discard(self) -> None:
        await self.end()
        await self.close()


async def run_process(
    spec: ProcessSpec,
    *,
    stdin: bytes = b"",
    timeout: float,  # noqa: ASYNC109 - a process that is out of time has a result
    output_bytes: int,
    max_output_bytes: int | None = None,
    stderr: Literal["head", "tail"] = "head",
    check: Callable[[int], Awaitable[str]] | None = None,
    drain_seconds: float = 1.0,
) -> ProcessResult:
    """Run a program to its end; its process group is gone when this returns or raises.

    Args:
        spec: What to run.
        stdin: What it can read.
        timeout: Seconds for all of it, the start included.
        output_bytes: How much of stdout and of stderr each is kept; the rest is counted.
        max_output_bytes: It is killed when stdout or stderr has more; None for no limit.
        stderr: Which end of it is kept.
        check: Awaited with its process id every 0.25 s; what it says, if anything, is why the
            process is killed.
        drain_seconds: How long the output may stay open after the end, held by a process that has
            left the group.

    Raises:
        OSError: The system cannot start it.
        ValueError: An argument or a variable has a zero byte.
    """
    loop = asyncio.get_running_loop()
    started = loop.time()
    child = await ChildProcess.start(spec)
    is_excessive = asyncio.Event()
    out = _Output(output_bytes, "head", max_output_bytes, is_excessive)
    err = _Output(output_bytes, stderr, max_output_bytes, is_excessive)
    tasks = [
        asyncio.create_task(out.drain(child.stdout)),
        asyncio.create_task(err.drain(child.stderr)),
        asyncio.create_task(_feed(child.stdin, stdin)),
    ]
    try:
        stopped = await _watch(child, started + timeout, is_excessive, check)
    finally:
        try:
            await child.end()
            await asyncio.wait(tasks, timeout=drain_seconds)
        finally:
            for task in tasks:
                task.cancel()
            await child.close()
            await asyncio.wait(tasks)
    return ProcessResult(
        returncode=child.returncode or 0,
        stopped=stopped,
        stdout=bytes(out.kept),
        stderr=bytes(err.kept),
        stdout_bytes=out.size,
        stderr_bytes=err.size,
        duration=loop.time() - started,
    )


class _Output:
    """One end of what a stream gave, and how much there was."""

    def __init__(
        self, kept_bytes: int, end: str, max_bytes: int | None, is_excessive: asyncio.Event
    ) -> None:
        self.kept = bytearray()
        self.size = 0
        self._kept_bytes = kept_bytes
        self._end = end
        self._max_bytes = max_bytes
        self._is_excessive = is_excessive

    async def drain(self, stream: asyncio.StreamReader) -> None:
        while chunk := await stream.read(_CHUNK):
            self.size += len(chunk)
            if self._end == "head":
                self.kept += chunk[: self._kept_bytes - len(self.kept)]
            else:
                self.kept += chunk
                del self.kept[: max(0, len(self.kept) - self._kept_bytes)]
            if self._max_bytes is not None and self.size > self._max_bytes:
                self._is_excessive.set()
                return


async def _watch(
    child: ChildProcess,
    deadline: float,
    is_excessive: asyncio.Event,
    check: Callable[[int], Awaitable[str]] | None,
) -> str:
    """Wait until it exits or has to be killed; returns why it has to be."""
    loop = asyncio.get_running_loop()
    exiting = asyncio.create_task(child.wait())
    exceeding = asyncio.create_task(is_excessive.wait())
    try:
        while not exiting.done():
            left = deadline - loop.time()
            if left <= 0:
                return "timeout"
            await asyncio.wait(
                (exiting, exceeding),
                timeout=left if check is None else min(left, _CHECK_SECONDS),
                return_when=asyncio.FIRST_COMPLETED,
            )
            if exceeding.done():
                return "output"
            if check is not None and not exiting.done() and (reason := await check(child.pid)):
                return reason
    finally:
        exiting.cancel()
        exceeding.cancel()
    return ""


async def _feed(stream: asyncio.StreamWriter, data: bytes) -> None:
    with contextlib.suppress(ConnectionError):  # it does not read, or has ended
        stream.write(data)
        await stream.drain()
    stream.close()


async def _in_thread_or_inline(work: Callable[[], None]) -> None:
    """In a thread: there may be thousands of processes to read."""
    try:
        await asyncio.to_thread(work)
    except RuntimeError:  # the interpreter shuts down and starts no threads
        work()


def _watchdog(group: int, mark: str) -> ProcessSpec:
    """A `sh` that kills a group when its stdin breaks, unless it reads a line first."""
    return ProcessSpec(
        arguments=("/bin/sh", "-c", _WATCHDOG, "pegboard-watchdog", str(group), mark),
        environment={"PATH": os.defpath},
    )
