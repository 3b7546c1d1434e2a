"""How many sessions there are, and what happens between attempts to open one."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.sources.mcp.opening import (
    ANN,
    BOB,
    by_action,
    call_of,
    children,
    opened,
    until,
    words_of,
)
from tests.sources.mcp.rogue import half, rogue, said

from pegboard.core.principal import Principal
from pegboard.errors import MCPConnectionError, Overloaded, SourceUnavailable
from pegboard.sources.mcp.server import session_key
from pegboard.sources.mcp.session.pool import OPERATOR, SessionPool

pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]  # servers take seconds to start


async def test_the_longest_unused_session_makes_room_for_another() -> None:
    async with opened({**rogue(tools_call=[said("$PID")]), "max_sessions": 2}) as source:
        tools = await by_action(source)
        processes = [
            int((await tools["plain"].run({}, call_of(Principal(id=name)))).text) for name in "abc"
        ]
        await until(lambda: len(_servers()) == 2)
        left = {item.pid for item in _servers()}

    assert len(set(processes)) == 3
    assert left & set(processes[1:])
    assert processes[0] not in left


def _servers() -> list[Any]:
    return [item for item in children() if "rogue.py" in words_of(item)]


async def test_when_all_are_in_use_the_next_caller_is_told_to_come_back() -> None:
    async with opened({**rogue(tools_call=[half()]), "max_sessions": 1}) as source:
        tools = await by_action(source)
        began = asyncio.Event()
        ctx = call_of(ANN, on_progress=lambda _: began.set())
        busy = asyncio.ensure_future(tools["plain"].run({}, ctx))
        await began.wait()
        with pytest.raises(Overloaded, match="1 sessions, and all are in use"):
            await tools["plain"].run({}, call_of(BOB))
        busy.cancel()
        await asyncio.wait([busy])


async def test_after_a_failure_calls_are_refused_at_once_until_it_is_tried_again(
    tmp_path: Path,
) -> None:
    program = tmp_path / "server"
    starts = tmp_path / "starts"
    program.write_text(f"#!/bin/sh\necho x >> {starts}\necho no key >&2\nexit 3\n")
    program.chmod(0o755)
    async with opened({"command": str(program)}) as source:
        with pytest.raises(MCPConnectionError):
            await source.tools()
        with pytest.raises(MCPConnectionError, match="no key") as caught:
            await source._upstream.call_tool(
                "a", {}, call_of()
            )  # a source that lists nothing has no tool to call
        with pytest.raises(MCPConnectionError):
            await source.tools()  # whoever lists says when to try

    assert caught.value.retry_after is not None
    assert caught.value.nothing_done
    assert starts.read_text().count("x") == 2


async def test_callers_who_come_together_open_one_session() -> None:
    async with opened(rogue(tools_call=[said("$PID")])) as source:
        tools = await by_action(source)
        tasks = [asyncio.ensure_future(tools["plain"].run({}, call_of(ANN))) for _ in range(5)]
        await asyncio.wait(tasks)

    assert len({int(task.result().text) for task in tasks}) == 1


async def test_a_closed_source_opens_nothing_more() -> None:
    async with opened(rogue()) as source:
        await source.tools()
        await source.close()
        with pytest.raises(SourceUnavailable, match="is closed"):
            await source.tools()


def test_keys_keep_callers_apart_by_tenant_and_kind() -> None:
    keys = {
        session_key(Principal(id="ann")),
        session_key(Principal(id="ann", tenant="t")),
        session_key(Principal(id="ann", kind="key")),
    }

    assert len(keys) == 3
    assert OPERATOR not in keys
    assert SessionPool
