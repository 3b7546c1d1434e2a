"""Runs the `pegboard` command in processes, each with a time limit."""

import asyncio
import json
import os
import shlex
import signal
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from output import show

SECONDS = 60
"""Time limit of a command; exceeding it ends the demo."""
_WIDTH = 96


async def pegboard(
    *arguments: str, ends_with: int = 0, progress: bool = False, until: str = ""
) -> str:
    """Run a command to its end and show it.

    Args:
        arguments: The words after `pegboard`.
        ends_with: The expected exit code.
        progress: Show stderr too, before the output.
        until: Show the output up to this text; empty for all of it.

    Returns:
        The text written to stdout.

    Raises:
        RuntimeError: It ended with another exit code.
    """
    _show_command(arguments)
    async with _start(*arguments) as process:
        out, err = await process.communicate()
    if process.returncode != ends_with:
        raise _failure(process, out + err)
    answer = out.decode()
    show((err.decode() if progress else "") + (answer.partition(until)[0] if until else answer))
    return answer


async def query(*arguments: str) -> Any:
    """The JSON output of a command, without showing it."""
    async with _start(*arguments, "--json") as process:
        out, err = await process.communicate()
    if process.returncode != 0:
        raise _failure(process, err)
    return json.loads(out)


def _failure(process: asyncio.subprocess.Process, output: bytes) -> RuntimeError:
    """An error with the output and the log of a command."""
    log = Path(os.environ.get("PEGBOARD_LOG", ""))  # noqa: TID251 - as a shell hands it on
    logged = log.read_text("utf-8") if log.is_file() else ""
    return RuntimeError(f"it ended with {process.returncode}:\n{output.decode()}\n{logged}")


async def kill_at(line: str, *arguments: str) -> None:
    """Run a command, and `kill -9` it when it prints this line on stderr.

    Raises:
        RuntimeError: It ended without the line.
    """
    _show_command(arguments)
    lines: list[str] = []
    async with _start(*arguments) as process:
        assert process.stderr is not None  # it is a pipe
        async for written in process.stderr:
            lines.append(written.decode().strip())
            if lines[-1] == line:
                process.send_signal(signal.SIGKILL)
                await process.wait()
                show("\n".join(lines))
                print(f"\n  $ kill -9 {process.pid}", flush=True)
                return
    raise RuntimeError("\n".join([f"'{line}' was not printed:", *lines]))


def _show_command(arguments: tuple[str, ...]) -> None:
    """Print a command, over several lines if it is long; options stay with their values."""
    words: list[str] = []
    for word in map(shlex.quote, arguments):
        if words and words[-1] in {"-c", "-p"}:
            words[-1] += f" {word}"
        else:
            words.append(word)
    lines = ["  $ pegboard"]
    for word in words:
        if len(lines[-1]) + len(word) > _WIDTH:
            lines[-1] += " \\"
            lines.append("       ")
        lines[-1] += f" {word}"
    print("\n" + "\n".join(lines), flush=True)


@asynccontextmanager
async def _start(*arguments: str) -> AsyncGenerator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "pegboard", *arguments),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "NO_COLOR": "1"},  # noqa: TID251 - as a shell hands it on
    )
    try:
        async with asyncio.timeout(SECONDS):
            yield process
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
