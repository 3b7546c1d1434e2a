"""Who ends a server when this process cannot."""

import asyncio
import os
import signal

import pytest

from pegboard.sources.mcp.process.watchdog import guarded

pytestmark = [pytest.mark.slow, pytest.mark.timeout(30)]


async def _server() -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec("sleep", "60", start_new_session=True)


async def test_a_pipe_that_breaks_ends_the_group_and_whoever_has_the_mark() -> None:
    server = await _server()
    marked = await asyncio.create_subprocess_exec(
        "sleep",
        "60",
        start_new_session=True,
        env={"PATH": os.defpath, "CHILD_OF_PEGBOARD": "a.0123456789abcdef"},
    )
    guard = await guarded(server.pid, "0123456789abcdef")
    assert guard.stdin is not None
    guard.stdin.close()

    assert await server.wait() == -signal.SIGKILL
    assert await marked.wait() == -signal.SIGKILL
    await guard.wait()


async def test_a_guard_that_is_let_go_leaves_the_server() -> None:
    server = await _server()
    guard = await guarded(server.pid, "0123456789abcdef")
    await guard.communicate(b"done\n")

    assert server.returncode is None
    server.kill()
    await server.wait()
