"""The tool itself: whatever it raises becomes one of our errors, without its text."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest
from tests.execution.made import a_call, a_kit, a_spec, a_target

from pegboard.core.context import Progress, ToolContext
from pegboard.errors import PegboardError, ToolFailed, ToolOutputError, Unavailable
from pegboard.execution.call_state import CallState
from pegboard.execution.compiled_tool import CompiledTool
from pegboard.execution.order import _end
from pegboard.execution.steps.run import check_output, run
from pegboard.tools import as_tool


def running(tool: Any) -> Any:
    target = a_target(run=tool)
    return run(target, a_kit(), _end)


def raising(error: BaseException) -> Any:
    async def tool(_arguments: Mapping[str, Any], _ctx: ToolContext[Any]) -> Any:
        raise error

    return running(tool)


class Panic(BaseException):
    """As extensions written in Rust raise it."""


async def test_a_tool_gets_its_arguments_and_the_calls_context() -> None:
    async def tool(arguments: Mapping[str, Any], ctx: ToolContext[Any]) -> Any:
        return dict(arguments), ctx.call_id, ctx.tool

    call = a_call(arguments={"n": 1})

    assert await running(tool)(call) == ({"n": 1}, "c1", "find")
    assert call.attempts == 1


async def test_a_tool_that_does_not_look_at_its_context_is_not_given_a_new_one() -> None:
    def add(a: int) -> int:
        return a

    call = a_call(arguments={"a": 1})
    target = CompiledTool(as_tool(add), keyed=False)

    assert await run(target, a_kit(), _end)(call) == 1


async def test_what_a_tool_tells_of_its_progress_is_redacted() -> None:
    async def tool(_arguments: Mapping[str, Any], ctx: ToolContext[Any]) -> None:
        await ctx.progress(1, total=2, message="with hunter2")

    told = list[Progress]()
    kit = a_kit(redact=lambda text: text.replace("hunter2", "[redacted]"))
    call = a_call()
    call.ctx = ToolContext(on_progress=told.append)

    await run(a_target(run=tool), kit, _end)(call)

    expected = Progress(call_id="c1", tool="find", done=1, total=2, message="with [redacted]")
    assert told == [expected]


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ValueError("hunter2"), ToolFailed),
        (ConnectionResetError("hunter2"), Unavailable),
        (TimeoutError("hunter2"), Unavailable),
        (SystemExit("hunter2"), ToolFailed),
        (Panic("hunter2"), ToolFailed),
        (ExceptionGroup("hunter2", [ValueError("hunter2")]), ToolFailed),
        (RecursionError("hunter2"), ToolFailed),
        (MemoryError("hunter2"), ToolFailed),
    ],
    ids=lambda value: type(value).__name__,
)
async def test_what_a_tool_raises_is_translated_and_kept_as_the_cause(
    error: BaseException, kind: type[PegboardError]
) -> None:
    with pytest.raises(kind) as caught:
        await raising(error)(a_call())

    assert "hunter2" not in str(caught.value)
    assert caught.value.__cause__ is error


async def test_an_error_of_ours_passes_as_it_is() -> None:
    error = ToolFailed("Order 17 is shipped.")

    with pytest.raises(ToolFailed) as caught:
        await raising(error)(a_call())

    assert caught.value is error


@pytest.mark.parametrize("error", [KeyboardInterrupt(), GeneratorExit()], ids=repr)
async def test_what_ends_the_process_or_the_coroutine_is_not_the_tools(
    error: BaseException,
) -> None:
    with pytest.raises(type(error)):
        await raising(error)(a_call())


async def test_a_cancellation_from_within_is_the_tools_failure() -> None:
    with pytest.raises(ToolFailed, match="interrupted from within"):
        await raising(asyncio.CancelledError())(a_call())


async def test_a_cancellation_from_outside_passes() -> None:
    async def hangs(_arguments: Mapping[str, Any], _ctx: ToolContext[Any]) -> None:
        await asyncio.sleep(60)

    task = asyncio.ensure_future(running(hangs)(a_call()))
    await asyncio.sleep(0.001)
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task


async def test_a_request_to_cancel_from_before_the_call_is_not_taken_for_a_new_one() -> None:
    outcomes: list[str] = []

    async def cleans_up() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            call: CallState = a_call(cancelling=1)
            with pytest.raises(ToolFailed) as caught:
                await raising(asyncio.CancelledError())(call)
            outcomes.append(str(caught.value))

    task = asyncio.create_task(cleans_up())
    await asyncio.sleep(0.001)
    task.cancel()
    await asyncio.wait([task])

    assert outcomes == ["'find' was interrupted from within."]


async def checked(value: Any, **spec: Any) -> Any:
    async def following(_call: CallState) -> Any:
        return value

    return await check_output(a_target(a_spec(**spec)), a_kit(), following)(a_call())


async def test_a_bare_value_becomes_a_result() -> None:
    result = await checked({"n": 1})

    assert (result.content, result.structured) == ('{"n":1}', {"n": 1})


async def test_a_broken_promise_is_the_tools_fault_and_hides_the_value() -> None:
    with pytest.raises(ToolOutputError) as caught:
        await checked("hunter2", output_schema={"type": "integer"})

    assert str(caught.value) == "'find' returned something that its own schema does not allow."
    assert "hunter2" in str(caught.value.__cause__)
