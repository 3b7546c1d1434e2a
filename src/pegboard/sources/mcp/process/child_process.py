"""A server as a child process that speaks on its stdin and stdout, until it is ended.

The child leads a process group of its own, and whatever it starts carries a mark among its
variables. A `sh` beside it waits on a pipe from this process and kills both when the pipe breaks:
so nothing stays behind, whichever way this process ends.
"""

import asyncio
import contextlib
import logging
import os
import signal
from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Any

from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from pegboard.concurrency.start_or_undo import start_or_undo
from pegboard.errors import MCPConnectionError
from pegboard.sources.mcp.process.command import Command, not_started
from pegboard.sources.mcp.process.process_tree import (
    VARIABLE,
    ProcessTree,
    ended,
    fresh_mark,
    in_thread_or_inline,
    mark_nested,
)
from pegboard.sources.mcp.process.stdout_lines import MOST_BYTES, lines
from pegboard.sources.mcp.process.watchdog import guarded
from pegboard.sources.mcp.transport.malformed_messages import MalformedMessage
from pegboard.sources.mcp.transport.message_rate import MessageRate, usual_pace

_LOG = logging.getLogger("pegboard.mcp")
_GRACE_SECONDS = 2.0
_SILENT_GRACE_SECONDS = 0.25
_POLL_SECONDS = 0.01
_LAST_WORDS_SECONDS = 0.5
_MOST_LOGGED = 1000
_KEPT_LINES = 8
_LONGEST_LINE = 300


class Child:
    """A running server."""

    def __init__(
        self,
        command: Command,
        process: asyncio.subprocess.Process,
        family: ProcessTree,
        *,
        pace: MessageRate,
    ) -> None:
        if process.stdin is None or process.stdout is None or process.stderr is None:
            raise ValueError("a server is started with three pipes")
        self._command = command
        self._process = process
        self._family = family
        self._pace = pace
        self._stdin, self._stdout, self._stderr = process.stdin, process.stdout, process.stderr
        self._guard: asyncio.subprocess.Process | None = None
        self._said: deque[str] = deque(maxlen=_KEPT_LINES)
        self._logged = 0
        self._garbage = ""
        self._offence = ""
        self._has_ended = self._is_stopped = self._is_swept = False
        self._has_spoken = False
        self.pid = process.pid

    @classmethod
    async def started(cls, command: Command, *, pace: MessageRate | None = None) -> "Child":
        """Start it.

        Args:
            command: What to start.
            pace: How fast it may talk; as usual unless it is given.

        Raises:
            MCPConnectionError: It cannot be started; says what to check.
        """
        if not command.directory.is_dir():
            raise MCPConnectionError(
                f"{command.name}: its folder {command.directory} does not exist; check 'cwd'.",
                permanent=True,
                nothing_done=True,
            )
        mark = fresh_mark()
        try:
            process = await start_or_undo(_process_of(command, mark), undo=partial(_undone, mark))
        except (OSError, ValueError) as error:
            raise not_started(command, error) from error
        child = cls(command, process, ProcessTree(process.pid, mark), pace=pace or usual_pace())
        try:
            child._guard = await guarded(process.pid, mark)
        except BaseException:
            child.kill()
            _close_pipes(process)
            raise
        return child

    async def listen(self) -> None:
        """Write what it says on stderr to the log, up to a point."""
        async for line in lines(self._stderr, cut=True):
            text = self._command.hide(line.decode(errors="replace").rstrip())[:_LONGEST_LINE]
            if text:
                self._said.append(text)
            self._logged += 1
            if self._logged <= _MOST_LOGGED:
                _LOG.info("%s says: %s", self._command.name, text)
            elif self._logged == _MOST_LOGGED + 1:
                _LOG.warning("%s says more on stderr than is logged", self._command.name)

    async def receive(self, deliver: Callable[[Any], Any]) -> None:
        """Hand on each message until the child ends, or sends one without end."""
        reading = asyncio.create_task(self._read(deliver))
        ending = asyncio.create_task(ended(self.pid))
        try:
            await asyncio.wait((reading, ending), return_when=asyncio.FIRST_COMPLETED)
            # what it said last is on its way; a process of its own may hold the pipe for ever
            await asyncio.wait((reading,), timeout=_LAST_WORDS_SECONDS)
        finally:
            for task in (reading, ending):
                task.cancel()
            await asyncio.wait((reading, ending))
        self._has_ended = True
        if not reading.cancelled():
            reading.result()

    async def _read(self, deliver: Callable[[Any], Any]) -> None:
        size = f"a message of more than {MOST_BYTES // 2**20} MB"
        async for line in lines(self._stdout, on_excess=lambda: self._offend(size, "in pages")):
            if self._pace.exceeded():
                self._offend(str(self._pace), "when it is asked")
                return
            try:
                message = jsonrpc_message_adapter.validate_json(line, by_name=False)
            except ValueError:
                self._tell_garbage(line)
                if line.lstrip()[:1] in (b"{", b"["):
                    await deliver(MalformedMessage(line))
                continue
            self._has_spoken = True
            await deliver(SessionMessage(message))

    async def send(self, message: SessionMessage) -> None:
        """Write one message; returns when the child's pipe has room for more."""
        data = message.message.model_dump_json(by_alias=True, exclude_unset=True)
        self._stdin.write(data.encode() + b"\n")
        await self._stdin.drain()

    @property
    def offence(self) -> str:
        """What it did for which it has to be ended; empty for nothing."""
        return self._offence

    def why(self) -> str:
        """How it ended, with its last words."""
        code = self._process.returncode
        if self._offence:
            reason = self._offence
        elif self._is_stopped:
            reason = "it was ended"
        elif code is None:
            reason = "it closed its output"
        elif code < 0:
            reason = f"it was ended by signal {signal.Signals(-code).name}"
        else:
            reason = f"it ended with exit code {code}"
        return f"{reason}{self.words()}"

    def words(self) -> str:
        """What it said that was no MCP."""
        odd, last = self._garbage, " | ".join(self._said)
        told = f"; on stdout it wrote what is no MCP message: {odd}" if odd else ""
        return f"{told}; its last words: {last}" if last else told

    async def stop(self) -> None:
        """End it as MCP says: close its stdin, wait, then terminate, then kill all that is left."""
        self._is_stopped = self._process.returncode is None and not self._has_ended
        try:
            await in_thread_or_inline(self._family.look)
            self._stdin.close()
            # whoever never said a word of MCP has nothing to write down that anybody asked for
            grace = _GRACE_SECONDS if self._has_spoken else _SILENT_GRACE_SECONDS
            if not (self._offence or await self._gone(grace)):
                self._signal(signal.SIGTERM)
                await self._gone(grace)
            self._signal(signal.SIGKILL)
            await in_thread_or_inline(self._family.kill)
            self._is_swept = True
        finally:
            self.kill()
        await self._gone()

    def kill(self) -> None:
        """Kill its group now, and whatever has left that."""
        self._signal(signal.SIGKILL)
        if not self._is_swept:
            self._family.kill()

    async def leave(self) -> None:
        """Let the guard go, and give back the pipes."""
        guard = self._guard
        if guard is not None and guard.stdin is not None:
            with contextlib.suppress(OSError):
                guard.stdin.write(b"done\n")
                guard.stdin.close()
            await guard.wait()
            _close_pipes(guard)
        _close_pipes(self._process)

    async def ended(self) -> None:
        """Wait a moment for its exit code, which comes after the end of its output."""
        await self._gone(0.5)

    async def _gone(self, seconds: float = _GRACE_SECONDS) -> bool:
        # not `wait()`: that waits for the pipes too, which a grandchild may hold open
        until = asyncio.get_running_loop().time() + seconds
        while self._process.returncode is None:
            if asyncio.get_running_loop().time() >= until:
                return False
            await asyncio.sleep(_POLL_SECONDS)
        return True

    def _signal(self, number: signal.Signals) -> None:
        if self._process.returncode is not None and self._family.is_replaced():
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)

    def _offend(self, what: str, how: str) -> None:
        self._offence = f"it sent {what}, so it was ended; it should answer {how}, or with less"

    def _tell_garbage(self, line: bytes) -> None:
        text = self._command.hide(line.decode(errors="replace").strip())[:_LONGEST_LINE]
        if not text:
            return
        if not self._garbage:
            self._garbage = text
            _LOG.warning(
                "%s writes to stdout what is no MCP message; the first line: %s",
                self._command.name,
                text,
            )


async def _process_of(command: Command, mark: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        command.program,
        *command.arguments,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**command.environment, VARIABLE: mark_nested(mark)},
        cwd=command.directory,
        start_new_session=True,
    )


async def _undone(mark: str, process: asyncio.subprocess.Process) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    ProcessTree(process.pid, mark).kill()
    _close_pipes(process)


def _close_pipes(process: asyncio.subprocess.Process) -> None:
    # a grandchild that holds a pipe keeps asyncio's transport open; nothing public closes it
    transport = getattr(process, "_transport", None)
    if transport is not None:
        transport.close()
