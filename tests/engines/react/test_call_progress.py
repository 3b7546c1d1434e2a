"""What a call says while it runs, and how much of it becomes events."""

from typing import Any

from tests.engines.made import ask, reported
from tests.graphs.made import Bench, at_the_bench

from pegboard import ToolContext, tool
from pegboard.core.context import CallRetry, Progress
from pegboard.core.tool import Retry
from pegboard.engines.react.call_progress import CallProgress
from pegboard.errors import Unavailable
from pegboard.testing import FakeClock, ScriptedModel, Turn


def progress(done: float, **more: Any) -> Progress:
    return Progress(call_id="c", tool="t", done=done, **more)


def a_retry(attempt: int) -> CallRetry:
    return CallRetry(
        call_id="c", tool="t", attempt=attempt, max_attempts=3, delay=1.23456, error_code="down"
    )


def test_between_two_reports_there_is_a_pause_that_grows() -> None:
    clock, events = FakeClock(), list[Any]()
    call = CallProgress(events.append, clock.monotonic)
    for second in range(36_000):
        call.on_progress(progress(second))
        clock.advance(0.125)

    done = [event["done"] for event in events]
    assert done[:4] == [0, 4, 8, 12]
    assert 200 < len(done) < 400


def test_tries_are_all_reported_until_the_call_has_ended() -> None:
    events = list[Any]()
    call = CallProgress(events.append, FakeClock().monotonic)
    call.on_retry(a_retry(2))
    call.on_retry(a_retry(3))
    call.on_progress(progress(1, total=4, message="x" * 500))
    call.close()
    call.on_retry(a_retry(4))
    call.on_progress(progress(2))

    tried = {"max_attempts": 3, "delay": 1.235, "error_code": "down"}
    assert events == [
        {"attempt": 2, **tried},
        {"attempt": 3, **tried},
        {"done": 1, "total": 4, "text": "x" * 200},
    ]


def test_who_listened_before_goes_on_listening() -> None:
    events, before = list[Any](), list[Any]()
    ctx: ToolContext[Any] = ToolContext(on_progress=before.append, on_retry=before.append)
    followed = CallProgress(events.append, FakeClock().monotonic).follow(ctx)
    assert followed.on_progress is not None
    assert followed.on_retry is not None
    followed.on_progress(progress(1))
    followed.on_retry(a_retry(2))

    assert before == [progress(1), a_retry(2)]
    assert [event.get("attempt", event.get("done")) for event in events] == [1, 2]


def test_tries_and_progress_of_a_call_are_events_of_its_run() -> None:
    failures = ["down"]

    @tool(effect="read", retry=Retry(max_retries=1, backoff=0))
    async def fetch(ctx: ToolContext[Any]) -> str:
        """Fetch a page."""
        if failures:
            raise Unavailable(failures.pop(), retry_after=2.0)
        await ctx.progress(1, total=2, message="half")
        return "page"

    async def work(bench: Bench) -> Any:
        bench.registry.add(fetch)
        model = ScriptedModel(Turn(calls=(("fetch", {}),)), Turn(text="Read."))
        await ask(bench, model)
        return reported(bench, "tool_progress"), reported(bench, "tool_finished")

    told, finished = at_the_bench(work)

    (_, ended), place = finished[0], {"turn": 1, "call": finished[0][1]["call"], "tool": "fetch"}
    assert [data for _, data in told] == [
        {**place, "attempt": 2, "max_attempts": 2, "delay": 2.0, "error_code": "unavailable"},
        {**place, "done": 1, "total": 2, "text": "half"},
    ]
    assert ended["state"] == "completed"
