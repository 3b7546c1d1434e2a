"""The `pegboard` command in processes of its own, as somebody types it; none outlives its time."""

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

from telling import show

SECONDS = 60
"""No command takes longer; one that does is ended, and the demo with it."""
_WIDTH = 96


async def pegboard(*arguments: str, ends_with: int = 0, told: bool = False, until: str = "") -> str:
    """Run a command to its end, and show it.

    Args:
        arguments: What is typed after `pegboard`.
        ends_with: The exit code that is right here.
        told: Show what it tells on stderr as well, before its answer.
        until: Show its answer up to here; empty for all of it.

    Returns:
        What it wrote to stdout.

    Raises:
        RuntimeError: It ended otherwise.
    """
    _show_typed(arguments)
    async with _started(*arguments) as process:
        out, err = await process.communicate()
    if process.returncode != ends_with:
        raise _ended(process, out + err)
    answer = out.decode()
    show((err.decode() if told else "") + (answer.partition(until)[0] if until else answer))
    return answer


async def asked(*arguments: str) -> Any:
    """What a command answers as JSON, without showing it."""
    async with _started(*arguments, "--json") as process:
        out, err = await process.communicate()
    if process.returncode != 0:
        raise _ended(process, err)
    return json.loads(out)


def _ended(process: asyncio.subprocess.Process, told: bytes) -> RuntimeError:
    """What it told, and what it logged: a command that ends wrongly here has to be explained."""
    log = Path(os.environ.get("PEGBOARD_LOG", ""))  # noqa: TID251 - as a shell hands it on
    logged = log.read_text("utf-8") if log.is_file() else ""
    return RuntimeError(f"it ended with {process.returncode}:\n{told.decode()}\n{logged}")


async def killed_at(line: str, *arguments: str) -> None:
    """Run a command, and kill it without a warning as soon as it says this on stderr.

    Raises:
        RuntimeError: It ended without having said so.
    """
    _show_typed(arguments)
    told: list[str] = []
    async with _started(*arguments) as process:
        assert process.stderr is not None  # it is a pipe
        async for said in process.stderr:
            told.append(said.decode().strip())
            if told[-1] == line:
                process.send_signal(signal.SIGKILL)
                await process.wait()
                show("\n".join(told))
                print(f"\n  $ kill -9 {process.pid}", flush=True)
                return
    raise RuntimeError("\n".join([f"it never said '{line}':", *told]))


def _show_typed(arguments: tuple[str, ...]) -> None:
    """A command as it is typed, over several lines where it is long; options keep their values."""
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
async def _started(*arguments: str) -> AsyncGenerator[asyncio.subprocess.Process]:
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
