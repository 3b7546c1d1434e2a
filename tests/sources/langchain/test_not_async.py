"""Classes that write an `_arun` only to say that they have none."""

import threading

from langchain_core.tools import BaseTool

from pegboard.core.result import ToolResult
from pegboard.errors import ToolFailed
from pegboard.registry import ToolRegistry


class SyncAlone(BaseTool):
    name: str = "where"
    description: str = "x"

    def _run(self, text: str) -> str:
        return f"{threading.current_thread().name} {text}"

    async def _arun(self, text: str) -> str:
        raise NotImplementedError("it does not support async")


class HalfDone(SyncAlone):
    async def _arun(self, text: str) -> str:
        await self._begun()
        return text

    async def _begun(self) -> None:
        raise NotImplementedError("a part of it is missing")


async def called(candidate: BaseTool) -> ToolResult:
    return await ToolRegistry([candidate]).call("where", {"text": "x"})


async def test_a_class_that_says_that_it_is_not_async_runs_in_the_pool() -> None:
    assert (await called(SyncAlone())).unwrap() == "pegboard-tool x"


async def test_what_began_is_not_run_a_second_time_in_the_pool() -> None:
    assert isinstance((await called(HalfDone())).error, ToolFailed)
