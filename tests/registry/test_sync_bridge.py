"""The sync surface: from anywhere, with the same pipeline, and never stuck."""

import asyncio
import contextvars
import subprocess
import sys
import threading
from typing import Any

import pytest
from tests.registry.made import a_tool, add

from pegboard import SchemaTool, ToolRegistry, tool
from pegboard.errors import SyncUse
from pegboard.registry.sync_bridge import LoopThread

FORKING = """
import os
from pegboard import ToolRegistry, tool

@tool(effect="read")
def add(a: int) -> int:
    return a + 1

registry = ToolRegistry([add])
print(registry.call_sync("add", {"a": 1}).unwrap(), flush=True)
child = os.fork()
if child == 0:
    print(registry.call_sync("add", {"a": 2}).unwrap(), flush=True)
    os._exit(0)
print("child", os.waitpid(child, 0)[1], registry.call_sync("add", {"a": 3}).unwrap())
"""


@pytest.fixture
def loop() -> LoopThread:
    return LoopThread()


def test_the_same_loop_serves_every_call(loop: LoopThread) -> None:
    async def current() -> Any:
        return asyncio.get_running_loop(), threading.current_thread().name

    first, second = loop.run(current()), loop.run(current())

    assert first == second
    assert first[1] == "pegboard-sync"


def test_what_is_raised_is_raised_where_it_was_asked_for(loop: LoopThread) -> None:
    async def fails() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        loop.run(fails())


@pytest.mark.parametrize("place", ["one", "batch"])
def test_a_tool_that_cancels_its_own_task_is_a_failed_call(place: str) -> None:
    async def run(_arguments: Any, _ctx: Any) -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(1)

    registry = ToolRegistry([SchemaTool(spec=a_tool("quits").spec, run=run)])
    calls = {
        "one": lambda: registry.call_sync("quits"),
        "batch": lambda: registry.call_many_sync([("quits", None)])[0],
    }

    assert calls[place]().text == "The tool cancelled its own call."


async def test_it_works_inside_a_running_loop_as_in_a_notebook() -> None:
    assert ToolRegistry([add]).call_sync("add", {"a": 2}).unwrap() == 3


def test_it_works_from_many_threads_at_once() -> None:
    registry, answers = ToolRegistry([add]), list[int]()

    def work(number: int) -> None:
        for _ in range(20):
            answers.append(registry.call_sync("add", {"a": number, "b": 0}).unwrap())

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(answers) == sorted(list(range(8)) * 20)


def test_context_variables_of_the_caller_are_kept() -> None:
    request = contextvars.ContextVar("request", default="none")

    @tool(effect="read")
    def in_a_thread() -> str:
        return request.get()

    @tool(effect="read", inline=True)
    def inline() -> str:
        return request.get()

    registry = ToolRegistry([in_a_thread, inline])
    request.set("mine")

    results = registry.call_many_sync([("in_a_thread", None), ("inline", None)])

    assert [result.unwrap() for result in results] == ["mine", "mine"]


def test_a_sync_tool_in_a_thread_may_call_another() -> None:
    @tool
    def outer() -> int:
        return registry.call_sync("add", {"a": 1}).unwrap()

    registry = ToolRegistry([outer, add])

    assert registry.call_sync("outer").unwrap() == 2


def test_an_inline_tool_that_would_wait_for_itself_is_told_so() -> None:
    @tool(inline=True)
    def outer() -> int:
        return registry.call_sync("add", {"a": 1}).unwrap()

    registry = ToolRegistry([outer, add])

    with pytest.raises(SyncUse, match="inline tool cannot call on the sync surface"):
        registry.call_sync("outer").unwrap()


def test_a_loop_that_was_forgotten_is_started_anew(loop: LoopThread) -> None:
    async def current() -> Any:
        return asyncio.get_running_loop()

    first = loop.run(current())
    loop.forget()

    assert loop.run(current()) is not first


@pytest.mark.slow
@pytest.mark.timeout(60)
def test_a_forked_process_starts_a_loop_of_its_own() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", FORKING],
        capture_output=True,
        text=True,
        check=True,
        timeout=50,
    )

    assert done.stdout.split() == ["2", "3", "child", "0", "4"]
    assert done.stderr == ""
