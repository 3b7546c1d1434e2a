"""The stdio transport: a server as a child process that speaks MCP on its stdin and stdout."""

import asyncio
import contextlib
import logging
import signal
from collections import deque
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from pegboard.concurrency.child_process import ChildProcess, ProcessSpec
from pegboard.errors import MCPConnectionError
from pegboard.sources.mcp.transport.malformed_messages import MalformedMessage
from pegboard.sources.mcp.transport.message_rate import (
    MAX_MESSAGE_BYTES,
    MessageRate,
    default_rate,
)

_LOG = logging.getLogger("pegboard.mcp")
_GRACE_SECONDS = 2.0
_SILENT_GRACE_SECONDS = 0.25
_LAST_WORDS_SECONDS = 0.5
_MAX_LOGGED_LINES = 1000
_LAST_LINES = 8
_MAX_LINE = 300
_CHUNK = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerCommand:
    """A server to start.

    Attributes:
        name: The server in messages.
        environment: All of the child's variables.
        hide: Removes secrets from what the child writes to stderr.
    """

    name: str
    program: str
    arguments: Sequence[str] = ()
    environment: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    directory: Path
    hide: Callable[[str], str]

    def start_error(self, error: OSError | ValueError) -> MCPConnectionError:
        """Why the system cannot start it, and what to check."""
        if isinstance(error, FileNotFoundError):
            advice = f"there is no program '{self.program}'; install it, or give its full path"
            first, *rest = self.program.split()
            if rest and not self.arguments:
                words = ", ".join(rest)
                advice = f"'{self.program}' is no program; write command: {first}, args: [{words}]"
        elif isinstance(error, PermissionError):
            advice = f"'{self.program}' may not be executed; check its permissions"
        else:
            reason = getattr(error, "strerror", "") or type(error).__name__
            advice = f"'{self.program}' cannot be started ({reason}); check 'command' and 'args'"
        return MCPConnectionError(f"{self.name}: {advice}.", permanent=True, nothing_done=True)


class ServerProcess:
    """A running server. `start` makes one.

    Args:
        command: What was started.
        process: The child.
        rate: How many messages it may send.
    """

    def __init__(self, command: ServerCommand, process: ChildProcess, *, rate: MessageRate) -> None:
        self._command = command
        self._process = process
        self._rate = rate
        self._last_lines: deque[str] = deque(maxlen=_LAST_LINES)
        self._logged = 0
        self._noise = ""
        self._offence = ""
        self._has_ended = self._is_stopped = self._has_spoken = False
        self.pid = process.pid

    @classmethod
    async def start(cls, command: ServerCommand, *, rate: MessageRate | None = None) -> Self:
        """Start a server; it ends with this process, also when this process is killed.

        Args:
            command: What to start.
            rate: How many messages it may send; None for the default.

        Raises:
            MCPConnectionError: It cannot be started; says what to check.
        """
        if not command.directory.is_dir():
            raise MCPConnectionError(
                f"{command.name}: its folder {command.directory} does not exist; check 'cwd'.",
                permanent=True,
                nothing_done=True,
            )
        spec = ProcessSpec(
            arguments=(command.program, *command.arguments),
            environment=command.environment,
            directory=command.directory,
            has_mark=True,
            has_watchdog=True,
        )
        try:
            process = await ChildProcess.start(spec)
        except (OSError, ValueError) as error:
            raise command.start_error(error) from error
        return cls(command, process, rate=rate or default_rate())

    async def log_stderr(self) -> None:
        """Log what it writes to stderr, up to a limit."""
        async for line in read_lines(self._process.stderr, is_cut=True):
            text = self._command.hide(line.decode(errors="replace").rstrip())[:_MAX_LINE]
            if text:
                self._last_lines.append(text)
            self._logged += 1
            if self._logged <= _MAX_LOGGED_LINES:
                _LOG.info("%s says: %s", self._command.name, text)
            elif self._logged == _MAX_LOGGED_LINES + 1:
                _LOG.warning("%s writes more to stderr than is logged", self._command.name)

    async def receive(self, deliver: Callable[[Any], Any]) -> None:
        """Deliver each message, until the server exits or breaks a limit."""
        reading = asyncio.create_task(self._read(deliver))
        exiting = asyncio.create_task(self._process.wait())
        try:
            await asyncio.wait((reading, exiting), return_when=asyncio.FIRST_COMPLETED)
            # its last messages are on their way; a process of its own may hold the pipe for ever
            await asyncio.wait((reading,), timeout=_LAST_WORDS_SECONDS)
        finally:
            for task in (reading, exiting):
                task.cancel()
            await asyncio.wait((reading, exiting))
        self._has_ended = True
        if not reading.cancelled():
            reading.result()

    async def _read(self, deliver: Callable[[Any], Any]) -> None:
        size = f"a message of more than {MAX_MESSAGE_BYTES // 2**20} MB"
        stdout = self._process.stdout
        async for line in read_lines(stdout, on_excess=lambda: self._set_offence(size, "in pages")):
            if self._rate.exceeds():
                self._set_offence(str(self._rate), "when it is asked")
                return
            try:
                message = jsonrpc_message_adapter.validate_json(line, by_name=False)
            except ValueError:
                self._note_noise(line)
                if line.lstrip()[:1] in (b"{", b"["):
                    await deliver(MalformedMessage(line))
                continue
            self._has_spoken = True
            await deliver(SessionMessage(message))

    async def send(self, message: SessionMessage) -> None:
        """Write one message; returns when the server's pipe has room for more."""
        data = message.message.model_dump_json(by_alias=True, exclude_unset=True)
        self._process.stdin.write(data.encode() + b"\n")
        await self._process.stdin.drain()

    @property
    def offence(self) -> str:
        """The limit that it broke, for which it has to be ended; empty for none."""
        return self._offence

    def reason(self) -> str:
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
        return f"{reason}{self.last_words()}"

    def last_words(self) -> str:
        """Its output that is not MCP."""
        odd, last = self._noise, " | ".join(self._last_lines)
        noise = f"; its stdout has something that is not MCP: {odd}" if odd else ""
        return f"{noise}; its last words: {last}" if last else noise

    async def stop(self) -> None:
        """End it as MCP says: close its stdin, wait, then terminate, then kill all that is left."""
        self._is_stopped = self._process.returncode is None and not self._has_ended
        try:
            await self._process.refresh_tree()
            self._process.stdin.close()
            # a server that never answered has nothing to save that anybody asked for
            grace = _GRACE_SECONDS if self._has_spoken else _SILENT_GRACE_SECONDS
            if not (self._offence or await self._process.wait(grace)):
                self._process.signal(signal.SIGTERM)
                await self._process.wait(grace)
        finally:
            await self._process.end()

    def kill(self) -> None:
        """Kill it now, with everything it started."""
        self._process.kill()

    async def close(self) -> None:
        """Release its pipes and its watchdog; the last call."""
        await self._process.close()

    async def wait_for_exit(self) -> None:
        """Wait a moment for its exit code, which comes after the end of its output."""
        await self._process.wait(0.5)

    def _set_offence(self, what: str, how: str) -> None:
        self._offence = f"it sent {what}, so it was ended; it should answer {how}, or with less"

    def _note_noise(self, line: bytes) -> None:
        text = self._command.hide(line.decode(errors="replace").strip())[:_MAX_LINE]
        if text and not self._noise:
            self._noise = text
            _LOG.warning(
                "%s writes something that is not MCP to stdout: %s",
                self._command.name,
                text,
            )


@asynccontextmanager
async def stdio_transport(
    command: ServerCommand,
    on_start: Callable[[ServerProcess], None],
    on_end: Callable[[], None],
    *,
    rate: MessageRate,
) -> AsyncGenerator[Any]:
    """The streams of a server for the MCP library; at the end the server is gone.

    Args:
        command: What to start.
        on_start: Called with the process as soon as there is one.
        on_end: Called when the server closes its output by itself.
        rate: How many messages it may send.

    Raises:
        MCPConnectionError: It cannot be started.
    """
    server = await ServerProcess.start(command, rate=rate)
    to_us, incoming = anyio.create_memory_object_stream[SessionMessage | MalformedMessage](0)
    outgoing, from_us = anyio.create_memory_object_stream[SessionMessage](0)

    async def read() -> None:
        async with to_us:
            with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                await server.receive(to_us.send)
        on_end()

    async def write() -> None:
        async with from_us:
            with contextlib.suppress(ConnectionError):
                async for message in from_us:
                    await server.send(message)

    tasks: list[asyncio.Task[None]] = []
    try:
        on_start(server)
        tasks.extend(asyncio.create_task(work) for work in (read(), write(), server.log_stderr()))
        yield incoming, outgoing
    finally:
        try:
            await server.stop()
        finally:
            server.kill()
            for task in tasks:
                task.cancel()
            if tasks:
                await asyncio.wait(tasks)
            for stream in (to_us, incoming, outgoing, from_us):
                stream.close()
            await server.close()


async def read_lines(
    stream: asyncio.StreamReader,
    *,
    is_cut: bool = False,
    on_excess: Callable[[], None] | None = None,
    max_bytes: int = MAX_MESSAGE_BYTES,
) -> AsyncGenerator[bytes]:
    """Yield the lines of a stream.

    Args:
        stream: What is read.
        is_cut: Whether only the first part is kept of a line that is longer than a chunk.
        on_excess: Called for a line of more than `max_bytes`, which is the end; None for lines of
            any length.
        max_bytes: The largest line.
    """
    pieces: list[bytes] = []
    size = 0
    while chunk := await stream.read(_CHUNK):
        *whole, rest = chunk.split(b"\n")
        for line in whole:
            yield b"".join(pieces) + line
            pieces.clear()
            size = 0
        size += len(rest)
        if not is_cut or size < _CHUNK:
            pieces.append(rest)
        if on_excess is not None and size > max_bytes:
            on_excess()
            return
    if any(pieces):
        yield b"".join(pieces)
