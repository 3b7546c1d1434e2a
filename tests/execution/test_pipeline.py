"""The one way to call a tool: resolved once, bounded in time, and the same for every caller."""

import asyncio
import time
from collections.abc import Mapping
from typing import Any

import pytest
from tests.execution.made import (
    ADA,
    BOB,
    Heard,
    PlainTool,
    a_kit,
    a_spec,
    in_virtual_time,
)

from pegboard.access import Policy
from pegboard.core.context import ToolContext
from pegboard.core.principal import Principal
from pegboard.core.result import ToolResult
from pegboard.core.tool import Effect, Limits, Retry, Tool
from pegboard.errors import (
    AccessDenied,
    RateLimited,
    SourceUnavailable,
    ToolNotFound,
    ToolTimeout,
    Unavailable,
)
from pegboard.execution import CallDefaults, CallEnvironment, Pipeline
from pegboard.testing import FakeClock


class Board:
    """Tools by name and a pipeline over them."""

    def __init__(self, *tools: Tool, kit: CallEnvironment | None = None) -> None:
        self.tools: dict[str, Tool] = {tool.spec.name: tool for tool in tools}
        self.heard = Heard()
        self.pipeline = Pipeline(self.tools.get, self.near, kit or a_kit(self.heard))

    def near(self, name: str, _principal: Principal) -> list[str]:
        return [known for known in self.tools if known[0] == name[0]]

    async def call(self, name: str, arguments: Any = None, **ctx: Any) -> ToolResult:
        return await self.pipeline.call(name, arguments, ToolContext(**ctx) if ctx else None)


def a_tool(name: str = "find", answer: Any = "found", **spec: Any) -> Tool:
    async def run(_arguments: Mapping[str, Any], ctx: ToolContext[Any]) -> Any:
        return answer if isinstance(answer, str) else await answer(ctx)

    return PlainTool(a_spec(name, **spec), run)


async def test_a_tool_is_found_run_and_recorded() -> None:
    board = Board(a_tool())

    result = await board.call("find", {"q": 1}, principal=ADA, run_id="r")

    assert result.unwrap() == "found"
    assert board.heard.record.tool == "find"
    assert board.heard.record.principal == ADA
    assert board.heard.record.call_id == result.meta.call_id


async def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    board = Board(a_tool())

    result = await board.call("fnd")

    assert isinstance(result.error, ToolNotFound)
    assert result.text == "Tool 'fnd' not found. Did you mean 'find'?"
    assert board.heard.record.status == "invalid"


@pytest.mark.parametrize("reason", ["", "its source is closed"], ids=["unknown", "absent"])
async def test_a_long_name_that_no_tool_has_is_cut_everywhere(reason: str) -> None:
    heard = Heard()
    board = Board(a_tool(), kit=a_kit(heard, why_missing=lambda name: reason))

    result = await board.call("x" * 1_000_000)

    assert len(result.text) < 300
    assert heard.record.tool == f"{'x' * 100}…"


async def test_a_tool_whose_source_is_down_is_said_to_be_so() -> None:
    board = Board(kit=a_kit(why_missing=lambda name: "its source is closed"))

    result = await board.call("shop__find")

    assert isinstance(result.error, SourceUnavailable)
    assert result.error.message.startswith("'shop__find' is unavailable: its source is closed")


async def test_a_tool_that_is_called_by_its_id_is_recorded_by_its_name() -> None:
    seen: list[str] = []

    async def answer(ctx: ToolContext[Any]) -> str:
        seen.append(ctx.tool)
        return "found"

    board = Board(a_tool(answer=answer))
    board.tools["find_v1"] = board.tools["find"]

    await board.call("find_v1")
    await board.call("find_v1")

    assert seen == ["find", "find"]
    assert [record.tool for record in board.heard.records] == ["find", "find"]


async def test_a_path_is_compiled_once_and_anew_when_it_is_forgotten() -> None:
    board = Board(a_tool())
    await board.call("find")
    board.tools["find"] = a_tool(answer="other")
    before = (await board.call("find")).text
    board.pipeline.forget("find")
    after = (await board.call("find")).text
    board.tools["find"] = a_tool(answer="third")
    board.pipeline.forget_all()

    assert (before, after, (await board.call("find")).text) == ("found", "other", "third")


async def test_forgetting_a_tool_leaves_the_paths_of_others_alone() -> None:
    board = Board(a_tool())
    board.tools["find_v1"] = board.tools["find"]
    for name in ("find", "find_v1"):
        await board.call(name)
    board.tools["find"] = board.tools["find_v1"] = a_tool(answer="other")
    board.pipeline.forget("another")
    kept = [(await board.call(name)).text for name in ("find", "find_v1")]
    board.pipeline.forget("find")

    assert kept == ["found", "found"]
    assert [(await board.call(name)).text for name in ("find", "find_v1")] == ["other", "other"]


async def test_a_tool_that_is_replaced_while_its_path_is_compiled_is_not_kept() -> None:
    old, new = a_tool(answer="old"), a_tool(answer="new")
    given = iter([old])
    board = Board()
    board.pipeline = Pipeline(lambda _: next(given, new), board.near, a_kit())

    answers = [(await board.call("find")).text for _ in range(2)]

    assert answers == ["old", "new"]


async def test_a_tool_that_cannot_be_compiled_is_a_recorded_failure() -> None:
    board = Board(a_tool(input_schema={"type": "nonsense"}))

    for _ in range(2):
        result = await board.call("find")
        assert isinstance(result.error, SourceUnavailable)

    assert [record.status for record in board.heard.records] == ["unavailable"] * 2


async def test_a_spec_that_cannot_be_read_is_a_recorded_failure() -> None:
    class Broken:
        run = None

        @property
        def spec(self) -> Any:
            raise RuntimeError("hunter2")

    broken: Any = Broken()
    board = Board()
    board.tools["find"] = broken

    result = await board.call("find")

    assert "hunter2" not in result.text
    assert "hunter2" in board.heard.record.error_detail


async def test_calls_with_and_without_a_key_have_paths_of_their_own() -> None:
    runs: list[int] = []

    async def answer(_ctx: ToolContext[Any]) -> int:
        runs.append(1)
        return len(runs)

    board = Board(a_tool(answer=answer))

    first = [await board.call("find", {}, idempotency_key="k") for _ in range(3)]
    await board.call("find", {})
    await board.call("find", {}, idempotency_key="")

    assert [result.unwrap() for result in first] == [1, 1, 1]
    assert [result.meta.replayed for result in first] == [False, True, True]
    assert len(runs) == 3


async def test_a_batch_with_a_key_gives_its_first_outcomes_again() -> None:
    runs: list[str] = []

    def counts(name: str) -> Tool:
        async def answer(_ctx: ToolContext[Any]) -> str:
            runs.append(name)
            return name

        return a_tool(name, answer, effect=Effect.WRITE)

    board = Board(counts("a"), counts("b"))
    ctx: ToolContext[Any] = ToolContext(idempotency_key="k")
    batch: list[tuple[str, Any]] = [("a", {"n": 1}), ("b", None), ("a", {"n": 2})]

    first = await board.pipeline.call_many(batch, ctx)
    second = await board.pipeline.call_many(batch, ctx)

    assert [result.unwrap() for result in first + second] == ["a", "b", "a"] * 2
    assert [result.meta.replayed for result in second] == [True] * 3
    assert len(runs) == 3


async def test_a_batch_runs_an_exclusive_tool_alone() -> None:
    running: list[str] = []
    together: list[int] = []

    def watched(name: str, *, exclusive: bool = False) -> Tool:
        async def answer(_ctx: ToolContext[Any]) -> None:
            running.append(name)
            await asyncio.sleep(0.002)
            together.append(len(running))
            running.remove(name)

        return a_tool(name, answer, exclusive=exclusive)

    board = Board(watched("a"), watched("b"), watched("x", exclusive=True))
    batch: list[tuple[str, Any]] = [(name, None) for name in ["a", "b", "x", "a", "unknown"]]

    results = await board.pipeline.call_many(batch)

    assert together[2] == 1
    assert [result.is_error for result in results] == [False] * 4 + [True]


async def test_a_batch_is_bounded_by_the_boards_setting() -> None:
    running, most = 0, 0

    async def answer(_ctx: ToolContext[Any]) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.001)
        running -= 1

    board = Board(a_tool(answer=answer), kit=a_kit(settings=CallDefaults(batch_concurrency=3)))
    await board.pipeline.call_many([("find", None)] * 12)

    assert most == 3


async def test_a_call_without_a_deadline_has_the_boards(clock: FakeClock) -> None:
    deadlines: list[float | None] = []

    async def answer(ctx: ToolContext[Any]) -> None:
        deadlines.append(ctx.deadline)

    for setting in (100.0, 0.0):
        kit = a_kit(clock=clock, settings=CallDefaults(call_timeout=setting, attempt_timeout=0))
        await Board(a_tool(answer=answer), kit=kit).call("find")

    assert deadlines == [clock.monotonic() + 100, None]


async def hangs(_ctx: ToolContext[Any]) -> None:
    await asyncio.sleep(60)


async def test_a_call_ends_at_its_deadline() -> None:
    board = Board(a_tool(answer=hangs))

    result = await board.call("find", None, deadline=time.monotonic() + 0.01)

    assert isinstance(result.error, ToolTimeout)
    assert board.heard.record.status == "unavailable"


def test_attempts_waits_and_retries_together_end_at_the_deadline() -> None:
    async def work(clock: FakeClock) -> tuple[ToolResult, float, int]:
        async def fails_late(_ctx: ToolContext[Any]) -> None:
            await asyncio.sleep(2)
            raise Unavailable("down")

        spec: dict[str, Any] = {"retry": Retry(max_retries=50, backoff=1, max_backoff=1)}
        board = Board(a_tool(answer=fails_late, **spec), kit=a_kit(clock=clock))
        begin = clock.monotonic()
        result = await board.call("find", None, deadline=begin + 20)
        return result, clock.monotonic() - begin, result.meta.attempts

    result, took, attempts = in_virtual_time(work)

    assert isinstance(result.error, Unavailable)
    assert took <= 20.05
    assert 6 <= attempts <= 10


def test_waiting_for_a_turn_ends_at_the_deadline() -> None:
    async def work(clock: FakeClock) -> tuple[list[ToolResult], float]:
        board = Board(
            a_tool(answer=hangs, limits=Limits(concurrency=1), timeout=0),
            kit=a_kit(clock=clock, settings=CallDefaults(max_wait=1000)),
        )
        ctx: ToolContext[Any] = ToolContext(deadline=clock.monotonic() + 5)
        begin = clock.monotonic()
        return await board.pipeline.call_many([("find", None)] * 3, ctx), clock.monotonic() - begin

    results, took = in_virtual_time(work)

    assert [type(result.error) for result in results] == [ToolTimeout, RateLimited, RateLimited]
    assert took <= 5.05


def test_waiting_for_somebody_elses_answer_ends_at_the_deadline() -> None:
    async def work(clock: FakeClock) -> tuple[ToolResult, float]:
        board = Board(
            a_tool(answer=hangs, cacheable=True, cache_per_principal=False, timeout=0),
            kit=a_kit(clock=clock),
        )
        flyer = asyncio.create_task(board.call("find", None, principal=BOB))
        await asyncio.sleep(0)
        begin = clock.monotonic()
        result = await board.call("find", None, principal=ADA, deadline=begin + 5)
        took = clock.monotonic() - begin
        flyer.cancel()
        await asyncio.wait([flyer])
        return result, took

    result, took = in_virtual_time(work)

    assert isinstance(result.error, ToolTimeout)
    assert took <= 5.05


async def test_a_call_within_a_call_is_a_call_of_the_same_caller() -> None:
    async def outer(ctx: ToolContext[Any]) -> Any:
        return (await ctx.call("inner", {"n": 1})).unwrap()

    async def inner(ctx: ToolContext[Any]) -> Any:
        return [ctx.principal.id, ctx.run_id, ctx.deps, ctx.idempotency_key]

    board = Board(a_tool("outer", outer), a_tool("inner", inner))

    result = await board.call(
        "outer", None, principal=ADA, run_id="r", deps="deps", idempotency_key="k"
    )

    first, second = board.heard.records
    assert result.unwrap() == ["ada", "r", "deps", None]
    assert (first.tool, first.parent_id) == ("inner", second.call_id)
    assert (second.tool, second.parent_id, second.idempotency_key) == ("outer", "", "k")


async def test_a_call_within_a_call_has_no_more_rights() -> None:
    async def outer(ctx: ToolContext[Any]) -> Any:
        return (await ctx.call("inner")).text

    kit = a_kit(policy=Policy(deny=("inner",)))
    board = Board(a_tool("outer", outer), a_tool("inner"), kit=kit)

    assert "Access to 'inner' denied" in (await board.call("outer")).unwrap()


async def test_a_call_within_a_call_never_outlives_its_parents_attempt() -> None:
    left: list[Any] = []
    inner_done: list[ToolResult] = []

    async def outer(ctx: ToolContext[Any]) -> None:
        left.append(asyncio.create_task(escape(ctx)))
        await asyncio.sleep(60)

    async def escape(ctx: ToolContext[Any]) -> None:
        inner_done.append(await ctx.call("inner"))

    board = Board(a_tool("outer", outer, timeout=0.01), a_tool("inner", hangs))

    result = await board.call("outer")
    await asyncio.wait(left)

    assert isinstance(result.error, ToolTimeout)
    assert [type(done.error) for done in inner_done] == [ToolTimeout]


async def test_a_parent_that_hands_its_childs_failure_on_has_the_same_failure() -> None:
    async def outer(ctx: ToolContext[Any]) -> Any:
        return (await ctx.call("inner")).unwrap()

    kit = a_kit(policy=Policy(deny=("inner",)))
    result = await Board(a_tool("outer", outer), a_tool("inner"), kit=kit).call("outer")

    assert isinstance(result.error, AccessDenied)


def test_the_cost_of_a_call_does_not_depend_on_how_many_tools_there_are() -> None:
    import gc
    import sys

    def calls_made(count: int) -> int:
        board = Board(*[a_tool(f"t{number}") for number in range(count)])
        counted = 0

        def profile(_frame: Any, event: str, _argument: Any) -> None:
            nonlocal counted
            counted += event in {"call", "c_call"}

        async def work() -> None:
            await board.call("t1")
            gc.disable()  # a collection would call its callbacks within the count
            sys.setprofile(profile)
            try:
                await board.call("t1")
            finally:
                sys.setprofile(None)
                gc.enable()

        asyncio.run(work())
        return counted

    assert calls_made(3) == calls_made(3000)


async def test_calls_leave_nothing_behind() -> None:
    async def answer(_ctx: ToolContext[Any]) -> None:
        await asyncio.sleep(0)

    spec: dict[str, Any] = {"cacheable": True, "cache_ttl": 60, "limits": Limits(concurrency=9)}
    kit = a_kit(policy=Policy(limits={"*": Limits(rate=1e9)}), running_counts={})
    board = Board(a_tool(answer=answer, **spec), a_tool("other", hangs, timeout=0.001), kit=kit)
    for number in range(300):
        await board.call("find", {"n": number % 10}, principal=Principal(id=str(number % 7)))
        await board.call(f"unknown{number}")
    for _ in range(5):
        await board.call("other")

    assert len(kit.policy._standing) == 2
    assert len(kit.cache._items) == 70
    assert (kit.cache._flights, kit.running_counts) == ({}, {})
    assert len(kit.limiters._items) == 2
    assert len(board.pipeline._plain) == 2
    assert asyncio.all_tasks() == {asyncio.current_task()}


@pytest.mark.parametrize("ctx", [ADA, {"principal": ADA}], ids=["principal", "mapping"])
async def test_what_is_no_context_is_refused_with_what_to_write(ctx: Any) -> None:
    pipeline = Board().pipeline
    wanted = rf"ctx is a ToolContext, not a {type(ctx).__name__}: write ToolContext\(principal="

    with pytest.raises(TypeError, match=wanted):
        await pipeline.call("any", {}, ctx)
    with pytest.raises(TypeError, match=wanted):
        await pipeline.call_many([("any", {})], ctx)
    with pytest.raises(TypeError, match=wanted):
        await pipeline.refuse_unknown("any", {}, ctx, ())
